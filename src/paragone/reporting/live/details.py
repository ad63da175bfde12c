"""What a cell holds, and how a run goes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.errors import InputError
from paragone.lab.answers import SplitAnswers
from paragone.lab.engine.resources import spoken_duration
from paragone.lab.engine.run import Estimates, Rest
from paragone.lab.method_warnings import warned_groups, warning_lines
from paragone.lab.results import Results
from paragone.lab.view import CellAddress, reader_of

if TYPE_CHECKING:
    import pandas as pd


def fold_details(results: Results, place: CellAddress) -> dict[str, Any]:
    """Return every fold of a method on a dataset, with its status, time and the name to show."""
    mine = results.folds_of(place.experiment, place.dataset, place.method)
    if mine.empty:
        raise InputError(
            f"there is no cell of method {place.method!r} on dataset {place.dataset!r}"
        )
    # The cells of a later stage are called by its name.
    kind = results.described(place.experiment)["protocol"]["kind"]
    rows = [
        {
            "fold": int(row.fold),
            "repeat": int(row.repeat),
            "label": (
                f"fold {row.fold}" + (f", seed {row.repeat}" if row.repeat else "")
                if row.protocol == kind
                else row.protocol
            ),
            "status": row.status,
            "seconds": None if row.seconds != row.seconds else float(row.seconds),
        }
        for row in mine.itertuples()
    ]
    what = reader_of(results, kind).fold_title
    return {"dataset": place.dataset, "method": place.method, "what": what, "folds": rows}


def cell_details(results: Results, place: CellAddress) -> dict[str, Any]:
    """Return what a cell holds, as parts of a title and lines of text each."""
    reader = reader_of(results, results.described(place.experiment)["protocol"]["kind"])
    parts = [*reader.cell_parts(place), *_said(results, place)]
    found = reader.cell_answers(place)
    return {
        **place._asdict(),
        "parts": [{"title": title, "lines": lines} for title, lines in parts],
        "answers": None if found is None else answer_rows(found),
    }


MOST_ANSWERS = 300


def answer_rows(found: SplitAnswers) -> dict[str, Any]:
    """Return what a cell predicted, row by row, the wrong ones first.

    Parameters
    ----------
    found : SplitAnswers
        The predictions of a split.

    Returns
    -------
    dict
        ``rows`` of ``[row, truth, predicted, number, is_wrong]``: the number is the probability of
        what was predicted (None where there is none), or how far a value is off; ``total`` and
        ``wrong`` count all rows.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    >>> labels = np.array(["a", "a", "b"]), np.array(["a", "b", "b"]), True, np.array(["a", "b"])
    >>> answer_rows(SplitAnswers(np.array([4, 7, 9]), *labels, p))["rows"]
    [[7, 'a', 'b', 0.8, True], [4, 'a', 'a', 0.9, False], [9, 'b', 'b', 0.6, False]]
    """
    if found.of_classes:
        wrong = found.truth != found.predicted
        numbers = np.full(len(found.rows), np.nan)
        if found.classes is not None and found.probabilities is not None:
            places = np.minimum(
                np.searchsorted(found.classes, found.predicted), len(found.classes) - 1
            )
            said = found.probabilities[np.arange(len(places)), places]
            numbers = np.where(found.classes[places] == found.predicted, said, np.nan)
        order = np.lexsort((found.rows, -np.nan_to_num(numbers, nan=-1.0), ~wrong))
    else:
        wrong = np.zeros(len(found.rows), dtype=bool)
        numbers = np.asarray(found.predicted, dtype=float) - np.asarray(found.truth, dtype=float)
        order = np.lexsort((found.rows, -np.nan_to_num(np.abs(numbers), nan=np.inf)))
    rows = [
        [
            int(found.rows[place]),
            _plain(found.truth[place]),
            _plain(found.predicted[place]),
            float(f"{numbers[place]:.4g}") if np.isfinite(numbers[place]) else None,
            bool(wrong[place]),
        ]
        for place in order[:MOST_ANSWERS]
    ]
    of_classes = found.of_classes
    return {
        "rows": rows,
        "total": len(found.rows),
        "wrong": int(wrong.sum()),
        "of_classes": of_classes,
    }


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _said(results: Results, place: CellAddress) -> list[tuple[str, list[str]]]:
    """Return what a cell cost, warned of and printed."""
    mine = results.folds_of(place.experiment, place.dataset, place.method)
    mine = mine[(mine["fold"] == place.fold) & (mine["repeat"] == place.repeat)]
    told = results.warnings(place.experiment)
    told = told[(told["dataset"] == place.dataset) & (told["method"] == place.method)]
    told = told[(told["fold"] == place.fold) & (told["repeat"] == place.repeat)]
    costs = [
        line
        for row in mine.itertuples()
        for line in _cost_lines(row.seconds, row.cpu_seconds, row.peak_memory)
    ]
    warned = [f"{row.category}, {row.count} times: {row.message}" for row in told.itertuples()]
    printed = results.output(
        place.dataset, place.fold, place.method, place.experiment, place.repeat
    ).splitlines()
    parts = [
        ("What the cell cost", costs),
        ("What the method warned of", warned),
        ("What the cell printed", printed),
    ]
    return [(title, lines) for title, lines in parts if lines]


def _cost_lines(seconds: float, cpu_seconds: float, peak_memory: float) -> list[str]:
    lines = [] if math.isnan(seconds) else [f"wall time: {seconds:.3g} s"]
    lines += [] if math.isnan(cpu_seconds) else [f"processor time: {cpu_seconds:.3g} s"]
    return lines + (
        [] if math.isnan(peak_memory) else [f"most memory held: {peak_memory / 2**20:.0f} MiB"]
    )


RECENT = 200
WINDOW_SECONDS = 600.0
SHOWN = 10
CAUSES = 12
MOST_SQUARES = 1500
"""Datasets times methods that are still a picture."""


def rate_of(finished: list[datetime], now: datetime) -> float | None:
    """Return the cells that end per second, from the times at which they ended, newest first.

    Only the last ten minutes count. The time since the newest cell counts too, so that a run that
    hangs slows down before the reader's eyes.

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
    estimates = Estimates(
        {name: float(d["n_samples"] * d["n_features"]) for name, d in described.items()}
    )
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
        ``counts, total, ended, alive, at_work, rate, seconds_left, left, matrix, causes, slowest,
        warned, version``; ``seconds`` of a cell are wall time, ``cpu_seconds`` processor time, None
        where that is not known.
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
        "at_work": bool(results.living()),
        "rate": rate,
        "seconds_left": left,
        "left": None if left is None else spoken_duration(left),
        "slowest": _cells(results.ended(experiment, order="slowest", limit=SHOWN)),
        "matrix": matrix_of(results.matrix(experiment)),
        "causes": _causes(results, experiment),
        "warned": list(warning_lines(warned_groups(results, experiment))),
        "version": results.version(experiment),
    }


ENDINGS = ("done", "failed", "timeout")


def matrix_of(counts: Mapping[tuple[str, str], Mapping[str, int]]) -> dict[str, Any]:
    """Return how far every method is on every dataset, or on all of them together where there are too many.

    Parameters
    ----------
    counts : mapping of (dataset, method) to mapping
        Cells by status.

    Returns
    -------
    dict
        ``methods``, ``datasets``, and for each method a row of ``[done, failed, timeout, all]`` per
        dataset.

    Examples
    --------
    >>> found = matrix_of({("iris", "A"): {"done": 2, "failed": 1}, ("iris", "B"): {"missing": 3}})
    >>> found["methods"], found["datasets"], found["rows"]
    (['A', 'B'], ['iris'], [[[2, 1, 0, 3]], [[0, 0, 0, 3]]])
    """
    datasets = list(dict.fromkeys(dataset for dataset, _ in counts))
    methods = list(dict.fromkeys(method for _, method in counts))
    if len(datasets) * len(methods) > MOST_SQUARES:
        whole = f"all {len(datasets)} datasets"
        together: dict[tuple[str, str], dict[str, int]] = {}
        for (_, method), statuses in counts.items():
            place = together.setdefault((whole, method), {})
            for status, count in statuses.items():
                place[status] = place.get(status, 0) + count
        counts, datasets = together, [whole]
    rows = [
        [
            [*(found.get(status, 0) for status in ENDINGS), sum(found.values())]
            for dataset in datasets
            for found in (counts.get((dataset, method), {}),)
        ]
        for method in methods
    ]
    return {"methods": methods, "datasets": datasets, "rows": rows}


def _causes(results: Results, experiment: str) -> dict[str, Any]:
    """Return why cells failed, the commonest cause first, with the traceback of one cell each."""
    found = results.causes(experiment)
    shown = [
        {
            "status": cause.status,
            "error": cause.error,
            "count": cause.count,
            "methods": cause.methods,
            "traceback": results.traceback_of(cause),
        }
        for cause in found[:CAUSES]
    ]
    return {"cells": sum(cause.count for cause in found), "causes": len(found), "shown": shown}


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
