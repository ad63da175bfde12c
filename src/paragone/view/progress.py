"""How a run goes: cells by status, rate, time left, the slowest, the failed."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from paragone.engine.estimates import Estimates, Rest
from paragone.engine.quantities import spoken_duration
from paragone.results import Results
from paragone.results.warned import warned_groups, warning_lines

if TYPE_CHECKING:
    import pandas as pd

RECENT = 200
WINDOW_SECONDS = 600.0
SHOWN = 10
FAILURES = 30


def rate_of(finished: list[datetime], now: datetime) -> float | None:
    """Return the cells that end per second, from the times at which they ended, newest first.

    Only the last ten minutes count. The time since the newest cell counts too, so that a run that hangs slows down
    before the reader's eyes.

    Examples
    --------
    >>> from datetime import datetime, timedelta, UTC
    >>> now = datetime(2030, 1, 1, tzinfo=UTC)
    >>> rate_of([now - timedelta(seconds=s) for s in (0, 10, 20)], now)
    0.1
    >>> rate_of([now], now) is None
    True
    """
    recent = [moment for moment in finished if (now - moment).total_seconds() <= WINDOW_SECONDS]
    span = (now - recent[-1]).total_seconds() if len(recent) > 1 else 0.0
    return (len(recent) - 1) / span if span > 0 else None


def seconds_left(results: Results, experiment: str, later: int) -> float | None:
    """Return what the rest of an experiment may take, as the run in the terminal says it.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        Which experiment.
    later : int
        Cells of later stages that are not planned yet.
    """
    described = results.datasets(experiment)
    estimates = Estimates({name: float(d["n_samples"] * d["n_features"]) for name, d in described.items()})
    times = results.times(experiment)
    for dataset, method, _, _, seconds, count in times:
        if count:
            estimates.learn_at(method, dataset, seconds, count)
    rest = Rest(n_unknown=later)
    for dataset, method, cells, ended, _, _ in times:
        rest += Rest.of(estimates.expect_at(method, dataset), cells - ended)
    runs = results.runs()
    return rest.seconds_left(estimates.mean, int(runs.loc[runs["lives"], "workers"].sum()))


def progress_of(results: Results, experiment: str, now: datetime | None = None) -> dict[str, Any]:
    """Return how an experiment goes, as plain values.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        Which experiment.
    now : datetime, optional
        The present, where it is not the clock's.

    Returns
    -------
    dict
        ``counts, total, ended, running, rate, seconds_left, left, slowest, failed, warned, version``; ``seconds`` of a
        cell are wall time, ``cpu_seconds`` processor time, None where that is not known.
    """
    counts = results.counts(experiment)
    total = sum(counts.values())
    ended = sum(counts.get(status, 0) for status in ("done", "failed", "timeout"))
    latest = results.ended(experiment, limit=RECENT)
    moments = [datetime.fromisoformat(text) for text in latest["finished_at"]]
    runs = results.runs()
    alive = bool(len(runs)) and bool(runs["lives"].any())
    later = results.described(experiment).get("later_cells")
    total += later if isinstance(later, int) else 0
    going = alive and ended < total
    rate = rate_of(moments, now or datetime.now(UTC)) if going else None
    left = seconds_left(results, experiment, total - sum(counts.values())) if going else None
    return {
        "experiment": experiment,
        "counts": counts,
        "total": total,
        "ended": ended,
        "alive": alive,
        "rate": rate,
        "seconds_left": left,
        "left": None if left is None else spoken_duration(left),
        "slowest": _cells(results.ended(experiment, order="slowest", limit=SHOWN)),
        "failed": _cells(results.ended(experiment, failed=True, limit=FAILURES)),
        "warned": list(warning_lines(warned_groups(results, experiment))),
        "version": results.version(experiment),
    }


def _cells(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            "dataset": str(row.dataset),
            "fold": int(row.fold),
            "method": str(row.method),
            "repeat": int(row.repeat),
            "status": str(row.status),
            "seconds": float(row.seconds),
            "cpu_seconds": None if math.isnan(row.cpu_seconds) else float(row.cpu_seconds),
            "error": str(row.error),
            "traceback": str(row.traceback),
        }
        for row in frame.itertuples()
    ]
