"""PG301 for curves: every stored score against the one that follows from the stored predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paragone.auditing.finding import SHOWN, Ledger
from paragone.auditing.recomputed_curve import (
    OF_LABELS,
    OF_ORDER,
    StoredCurve,
    curve_scores,
    declared_shares,
    features_at,
)
from paragone.cells import Score
from paragone.results import Results
from paragone.store.cell_records import CellRecord, CellRecords

if TYPE_CHECKING:
    import pandas as pd

CHECK = "scores recomputed from predictions"
TOLERANCE = 1e-12


def verify_curve(records: CellRecords, results: Results, experiment: str, ledger: Ledger) -> pd.DataFrame:
    """Recompute every score of a curve experiment.

    Returns
    -------
    DataFrame
        The scores, recomputed: columns ``dataset, fold, method, repeat, metric, grid, at, value``; those without kept
        predictions as they are stored.
    """
    import pandas as pd

    protocol = results.described(experiment)["protocol"]
    sizes = {name: int(found["n_features"]) for name, found in results.datasets(experiment).items()}
    shares = declared_shares(protocol)
    truths: dict[str, NDArray[Any]] = {}
    checked, without = 0, 0
    rows: list[tuple[Any, ...]] = []
    wrong: dict[str, list[str]] = {}
    for cell in records.cells:
        stored = records.scores(cell)
        payload = records.predictions(cell)
        if payload is None:
            without += len(stored)
            rows += [(*cell.place, score.metric, score.grid, score.at, score.value) for score in stored]
            continue
        key = f"{cell.data_part}/{cell.split_part}"
        if key not in truths:
            truths[key] = records.kept_of_split(cell)["y"]
        values = curve_scores(StoredCurve(payload), truths[key], _known(protocol), protocol.get("zero_division", 0))
        points = [(score, features_at(score.grid, score.at or 0.0, sizes[cell.dataset], shares)) for score in stored]
        found = wrong_scores(cell, points, values)
        rows += [(*cell.place, s.metric, s.grid, s.at, values.get((k, s.metric), np.nan)) for s, k in points]
        checked += len(stored)
        if found:
            wrong.setdefault(cell.method, []).extend(found)
    ledger.look(CHECK, checked, "scores", f"of {len(records.cells)} cells")
    ledger.miss(CHECK, without, "scores", "their predictions were not kept (keep_predictions = false)")
    report_wrong(wrong, checked, ledger)
    columns = ["dataset", "fold", "method", "repeat", "metric", "grid", "at", "value"]
    return pd.DataFrame(rows, columns=columns)


def _known(protocol: dict[str, Any]) -> list[str]:
    return [name for name in protocol["metrics"] if name in OF_LABELS or name in OF_ORDER]


def wrong_scores(cell: CellRecord, points: list[tuple[Score, int]], values: dict[tuple[int, str], float]) -> list[str]:
    """Return a line a stored score that does not follow from the predictions, or that is missing."""
    lines = []
    for score, k in points:
        value = values.get((k, score.metric))
        point = f"{score.metric} at {score.grid} = {score.at:g}"
        if value is None:
            lines.append(f"{cell}: {point}: there is no prediction for it")
        elif not same(score.value, value):
            lines.append(f"{cell}: {point} is {score.value!r}, the predictions give {value!r}")
    return [*lines, *(f"{cell}: {line}" for line in _without_score(points, values))]


def _without_score(points: list[tuple[Score, int]], values: dict[tuple[int, str], float]) -> list[str]:
    """Name the points that were predicted, or that another metric has a score at, and that have none."""
    seen = {(score.metric, score.grid, score.at) for score, _ in points}
    places = list(dict.fromkeys((score.grid, score.at) for score, _ in points))
    metrics = list(dict.fromkeys(name for _, name in values))
    lines = [
        f"{metric} at {grid} = {at:g} has no score, other metrics have"
        for metric in metrics
        for grid, at in places
        if (metric, grid, at) not in seen
    ]
    predicted = {k for k, _ in values} - {k for _, k in points}
    return [*lines, *(f"{k} features were predicted with, and there is no score" for k in sorted(predicted))]


def same(a: float, b: float, tolerance: float = TOLERANCE) -> bool:
    """Say whether two numbers are equal up to the order of additions; NaN equals NaN.

    Examples
    --------
    >>> same(0.1 + 0.2, 0.3), same(0.3, 0.3000001), same(float("nan"), float("nan"))
    (True, False, True)
    """
    if np.isnan(a) or np.isnan(b):
        return bool(np.isnan(a) and np.isnan(b))
    if np.isinf(a) or np.isinf(b):
        return a == b
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def report_wrong(wrong: dict[str, list[str]], checked: int, ledger: Ledger) -> None:
    """Write down one finding a method."""
    for method, lines in wrong.items():
        ledger.find(
            "PG301",
            f"{len(lines)} of its scores do not follow from its predictions",
            method=method,
            count=len(lines),
            total=checked,
            examples=lines[:SHOWN],
        )
