"""How a run goes: cells by status, rate, time left, the slowest, the failed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from paragone.results import Results
from paragone.results.warned import warned_groups, warning_lines

if TYPE_CHECKING:
    import pandas as pd

RECENT = 200
WINDOW_SECONDS = 600.0
SHOWN = 10
FAILURES = 30


@dataclass(frozen=True)
class Rate:
    """How fast cells end, from the latest of them, and how long the rest will take at that."""

    a_second: float
    seconds_left: float


def rate_of(finished: list[datetime], now: datetime, n_left: int) -> Rate | None:
    """Estimate the rate from the times at which cells ended, newest first.

    Only the last ten minutes count. The time since the newest cell counts too, so that a run that hangs slows down
    before the reader's eyes.

    Examples
    --------
    >>> from datetime import datetime, timedelta, UTC
    >>> now = datetime(2030, 1, 1, tzinfo=UTC)
    >>> rate_of([now - timedelta(seconds=s) for s in (0, 10, 20)], now, 3)
    Rate(a_second=0.1, seconds_left=30.0)
    >>> rate_of([now], now, 3) is None
    True
    """
    recent = [moment for moment in finished if (now - moment).total_seconds() <= WINDOW_SECONDS]
    if len(recent) < 2:
        return None
    span = (now - recent[-1]).total_seconds()
    if span <= 0:
        return None
    a_second = (len(recent) - 1) / span
    return Rate(a_second, n_left / a_second)


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
        ``counts, total, ended, running, rate, seconds_left, slowest, failed, warned, version``; ``seconds`` of a cell
        are wall time, ``cpu_seconds`` processor time, None where that is not known.
    """
    counts = results.counts(experiment)
    total = sum(counts.values())
    ended = sum(counts.get(status, 0) for status in ("done", "failed", "timeout"))
    latest = results.ended(experiment, limit=RECENT)
    moments = [datetime.fromisoformat(text) for text in latest["finished_at"]]
    runs = results.runs()
    alive = bool(len(runs)) and bool(runs["lives"].any())
    rate = rate_of(moments, now or datetime.now(UTC), total - ended) if alive and ended < total else None
    return {
        "experiment": experiment,
        "counts": counts,
        "total": total,
        "ended": ended,
        "alive": alive,
        "rate": None if rate is None else rate.a_second,
        "seconds_left": None if rate is None or not math.isfinite(rate.seconds_left) else rate.seconds_left,
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
