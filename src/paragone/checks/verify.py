"""PG301 and PG302: stored scores against stored predictions, and stored truth against the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paragone.checks.finding import SHOWN, Ledger
from paragone.checks.recomputed import (
    IN_LIST_ORDER,
    OF_LABELS,
    OF_ORDER,
    ChainFigures,
    Recomputation,
    StoredCurve,
    curve_scores,
    declared_shares,
    features_at,
    is_known,
    sample_values,
)
from paragone.checks.subject import ELSEWHERE
from paragone.lab.cells import Score
from paragone.lab.planning import PART_LENGTH
from paragone.lab.store.records import CellRecord, CellRecords
from paragone.metrics.topk.metrics import F1_OF_MEANS
from paragone.protocols import Protocol
from paragone.protocols.base import Arrangement
from paragone.protocols.crossval.problem import Problem
from paragone.protocols.crossval.scores import ChainScores
from paragone.results import Results
from paragone.results.chains import CrossvalRun
from paragone.results.topk_runs import TopKCell, TopKRun
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

RECOMPUTED = "scores recomputed from predictions"
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
    ledger.look(RECOMPUTED, checked, "scores", f"of {len(records.cells)} cells")
    ledger.miss(RECOMPUTED, without, "scores", "their predictions were not kept (keep_predictions = false)")
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


CROSSVAL_TOLERANCE = 1e-9
WHOLE = (
    "cv_score",
    "mean_fold_cv",
    "ens_test",
    "w_ens_test",
    "ens_train",
    "w_ens_train",
    "test_score",
    "train_score",
)
BY_FOLD = ("fold_train", "fold_val", "fold_test", "weights")


def verify_crossval(run: CrossvalRun, ledger: Ledger) -> None:
    """Derive every score of a cross-validation twice and compare."""
    checked = 0
    wrong: dict[str, list[str]] = {}
    for problem in run.problems:
        scoring = run.settings.scoring(problem.truth.task)
        again = Recomputation(problem.truth.task, scoring.metric, run.settings)
        for variant, scores in problem.scores(scoring).items():
            figures = again.figures(problem.chains[variant])
            found, count = differing(scores, figures)
            checked += count
            if found:
                lines = [f"{variant} on {_name(problem, run)}: {line}" for line in found]
                wrong.setdefault(variant, []).extend(lines)
    ledger.look(RECOMPUTED, checked, "scores", f"of {sum(len(p.chains) for p in run.problems)} chains")
    report_wrong(wrong, checked, ledger)


def differing(scores: ChainScores, figures: ChainFigures) -> tuple[list[str], int]:
    """Return a line a score that differs, and how many were compared."""
    pairs = [(name, getattr(scores, name), getattr(figures, name)) for name in WHOLE]
    for name in BY_FOLD:
        both = zip(getattr(scores, name), getattr(figures, name), strict=True)
        pairs += [(f"{name}, fold {number}", float(a), b) for number, (a, b) in enumerate(both)]
    lines = [
        f"{name} is {float(a)!r}, the predictions give {b!r}"
        for name, a, b in pairs
        if not same(float(a), b, CROSSVAL_TOLERANCE)
    ]
    return lines, len(pairs)


def _name(problem: Problem, run: CrossvalRun) -> str:
    return f"{problem.dataset}:{problem.target}" if len(run.of_dataset(problem.dataset)) > 1 else problem.dataset


TOPK_TOLERANCE = 1e-9


def verify_topk(run: TopKRun, records: CellRecords, ledger: Ledger) -> None:
    """Recompute every stored value of a topk experiment."""
    own = run.settings["ties"] in IN_LIST_ORDER
    by_place = {record.cell_id: record for record in records.cells}
    wrong: dict[str, list[str]] = {}
    checked = n_samples = 0
    unknown = [name for name in run.settings["functions"] if name]
    for cell in run.cells:
        values = recomputed(run, cell)
        evaluated, stored = run.samples(cell)
        where = str(by_place[cell.cell_id])
        lines = []
        for metric, kept in stored.items():
            if metric in values:
                n_samples += int(evaluated.sum()) * kept.shape[1]
                lines += _sample_lines(where, metric, run, evaluated, kept, values[metric])
        for score in records.scores(by_place[cell.cell_id]):
            mean = _mean(values, score.metric, run.ks.index(int(score.at or 0)), evaluated)
            if mean is not None:
                checked += 1
                if not same(score.value, mean, TOPK_TOLERANCE):
                    lines.append(f"{where}: {score.metric}@{score.at:g} is {score.value!r}, the lists give {mean!r}")
        if lines:
            wrong.setdefault(cell.method, []).extend(lines)
    how = "" if own else f"ties = {run.settings['ties']!r}: by the program's own evaluation of the lists"
    ledger.look(RECOMPUTED, checked, "scores", how)
    ledger.look("values a sample recomputed from lists", n_samples, "values", how)
    ledger.miss(RECOMPUTED, len(unknown), "metrics", f"functions of the user ({', '.join(unknown)}) are not at hand")
    report_wrong(wrong, checked + n_samples, ledger)


def recomputed(run: TopKRun, cell: TopKCell) -> dict[str, FloatArray]:
    """Return the value of every sample by metric, from the definitions wherever lists count as they were kept."""
    names = [name for name in run.settings["metrics"] if name != F1_OF_MEANS]
    helpers = [name for name in ("precision", "recall") if F1_OF_MEANS in run.settings["metrics"] and name not in names]
    wanted = [name for name in [*names, *helpers] if is_known(name)]
    rows = run.rows(cell)
    if run.settings["ties"] in IN_LIST_ORDER:
        values = sample_values(run.lists(cell)["items"], rows.test, run.ks, wanted)
    else:
        values = {name: found for name, found in run.result(cell).per_sample.items() if name in wanted}
    if run.settings["empty"] == "zero":
        values = {name: np.nan_to_num(found) for name, found in values.items()}
    return values


def _mean(values: dict[str, FloatArray], metric: str, column: int, evaluated: np.ndarray) -> float | None:
    if metric == F1_OF_MEANS:
        precision, recall = (float(values[n][evaluated][:, column].mean()) for n in ("precision", "recall"))
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return float(values[metric][evaluated][:, column].mean()) if metric in values else None


def _sample_lines(
    where: str, metric: str, run: TopKRun, evaluated: np.ndarray, kept: FloatArray, again: FloatArray
) -> list[str]:
    away = np.abs(kept[evaluated] - again[evaluated])
    bad = np.argwhere(~(away <= TOPK_TOLERANCE))
    if not len(bad):
        return []
    row, column = bad[0]
    sample = int(np.flatnonzero(evaluated)[row])
    return [
        f"{where}: {metric} of {len(bad)} samples and cut-offs, first at K = {run.ks[column]} of test sample {sample}: "
        f"{kept[evaluated][row, column]!r}, the list gives {again[evaluated][row, column]!r}"
    ]


TRUTHS = "truth in the store against the data"


def check_truths(
    records: CellRecords, arrangements: Mapping[str, Arrangement], protocol: Protocol, ledger: Ledger
) -> None:
    """Compare the targets that scores are computed with, split by split, with those of the data."""
    checked = 0
    elsewhere: set[str] = set()
    wrong: dict[str, list[str]] = {}
    seen: set[tuple[str, str]] = set()
    for cell in records.cells:
        key = (cell.data_part, cell.split_part)
        if key in seen:
            continue
        seen.add(key)
        arrangement = arrangements.get(cell.dataset)
        if arrangement is None or arrangement.dataset.fingerprint[:PART_LENGTH] != cell.data_part:
            elsewhere.add(cell.dataset)
            continue
        split = next(split for split in arrangement.splits if split.fold == cell.fold)
        checked += 1
        kept = {**records.kept_of_data(cell), **records.kept_of_split(cell)}
        mine = {**protocol.kept_data(arrangement.dataset), **protocol.kept_split(arrangement.dataset, split)}
        train, test = records.rows(cell)
        for name in _differing(
            {**kept, "train": train, "test": test}, {**mine, "train": split.train, "test": split.test}
        ):
            wrong.setdefault(cell.dataset, []).append(f"fold {cell.fold}: {name}")
    ledger.look(TRUTHS, checked, "splits")
    ledger.miss(TRUTHS, len(elsewhere), "datasets", ELSEWHERE)
    for dataset, lines in wrong.items():
        ledger.find(
            "PG302",
            f"what the store keeps of {len(lines)} splits or datasets is not what the data say",
            dataset=dataset,
            count=len(lines),
            total=checked,
            examples=lines,
        )


def _differing(kept: Mapping[str, NDArray[Any]], mine: Mapping[str, NDArray[Any]]) -> list[str]:
    return [
        name
        for name in sorted(set(kept) | set(mine))
        if name not in kept or name not in mine or not _equal(np.asarray(kept[name]), np.asarray(mine[name]))
    ]


def _equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
