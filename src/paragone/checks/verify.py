"""PG301 and PG302: stored scores against stored predictions, and stored truth against the data.

Scores are derived again by the metrics of the registry from the predictions that the store keeps, and compared with the
scores that it keeps. That the metrics are right is shown by the tests, which compute each a second way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.checks.finding import SHOWN, Ledger
from paragone.checks.subject import ELSEWHERE
from paragone.lab.cells import Score
from paragone.lab.planning import PART_LENGTH
from paragone.lab.protocol import Arrangement
from paragone.lab.results import Results
from paragone.lab.store.queries import unpack
from paragone.lab.store.records import CellRecord, CellRecords
from paragone.metrics import named_metric
from paragone.protocols import Curve, KGrid, PGrid, Protocol
from paragone.protocols.crossval.run import CrossvalRun
from paragone.protocols.curve.evaluate import CurvePredictions
from paragone.protocols.topk.reader import TopKRun
from paragone.validation import FloatArray

RECOMPUTED = "scores recomputed from predictions"
TRUTHS = "truth in the store against the data"
TOLERANCE = 1e-12
DERIVED = ("cv_score", "mean_fold_cv", "ens_test", "w_ens_test", "test_score", "train_score", "fold_val", "fold_test")


@dataclass
class Verification:
    """What came of comparing stored scores with those that follow from the predictions.

    Attributes
    ----------
    checked : int
        How many were compared.
    wrong : dict of str to list of str
        By method, a line per score that differs or is missing.
    right : list of (int, Score)
        The number of a cell and the score that it should have, for each that differs.
    """

    checked: int = 0
    wrong: dict[str, list[str]] = field(default_factory=dict)
    right: list[tuple[int, Score]] = field(default_factory=list)

    def compare(self, cell: CellRecord, stored: Sequence[Score], derived: Iterable[Score]) -> None:
        """Compare the scores of a cell."""
        self.checked += len(stored)
        values = {(score.metric, score.grid, score.at): score for score in derived}
        for score in stored:
            point = f"{score.metric} at {score.grid} = {score.at:g}"
            again = values.pop((score.metric, score.grid, score.at), None)
            if again is None:
                self.note(cell, f"{point}: there is no prediction for it")
            elif not same(score.value, again.value):
                self.note(cell, f"{point} is {score.value!r}, the predictions give {again.value!r}")
                self.right.append((cell.cell_id, again))
        for metric, grid, at in values:
            self.note(cell, f"{metric} at {grid} = {at:g} was predicted and has no score")

    def note(self, cell: CellRecord, what: str) -> None:
        """Write down what is wrong with a cell."""
        self.wrong.setdefault(cell.method, []).append(f"{cell}: {what}")

    def report(self, ledger: Ledger) -> None:
        """Write down one finding per method."""
        for method, lines in self.wrong.items():
            ledger.find(
                "PG301",
                f"{len(lines)} of its scores do not follow from its predictions",
                method=method,
                count=len(lines),
                total=self.checked,
                examples=lines[:SHOWN],
            )


def _not_at_hand(functions: Sequence[str]) -> str:
    return f"functions of the user ({', '.join(functions)}) are not at hand"


def verify_curve(records: CellRecords, results: Results, experiment: str, ledger: Ledger) -> Verification:
    """Score the stored predictions of every cell of a curve experiment again."""
    protocol = results.described(experiment)["protocol"]
    sizes = {name: int(found["n_features"]) for name, found in results.datasets(experiment).items()}
    at_hand = tuple(name for name in protocol["metrics"] if named_metric(name).is_computable)
    functions = [name for name in protocol["metrics"] if name not in at_hand]
    ledger.miss(RECOMPUTED, len(functions), "metrics", _not_at_hand(functions))
    if not at_hand:
        return Verification()
    curve = Curve(
        None if protocol["k"] is None else KGrid(**protocol["k"]),
        None if protocol["p"] is None else PGrid(**protocol["p"]),
        metrics=at_hand,
        zero_division=protocol.get("zero_division", 0),
    )
    found, without = Verification(), 0
    for cell in records.cells:
        stored = [score for score in records.scores(cell) if score.metric in at_hand]
        payload = records.predictions(cell)
        if payload is None:
            without += len(stored)
            continue
        predictions = CurvePredictions.of_arrays(unpack(payload))
        truth = records.kept_of_split(cell)["y"]
        found.compare(cell, stored, curve.scores_of(predictions, truth, sizes[cell.dataset]))
    ledger.look(RECOMPUTED, found.checked, "scores", f"of {len(records.cells)} cells")
    ledger.miss(RECOMPUTED, without, "scores", "their predictions were not kept (keep_predictions = false)")
    found.report(ledger)
    return found


def verify_crossval(run: CrossvalRun, ledger: Ledger) -> Verification:
    """Derive the scores of a cross-validation once; a store keeps its predictions alone, so that none can differ."""
    found = Verification()
    for problem in run.problems:
        for scores in problem.scores(run.settings.scoring(problem.truth.task)).values():
            found.checked += sum(np.size(getattr(scores, name)) for name in DERIVED)
    n_chains = sum(len(problem.chains) for problem in run.problems)
    ledger.look(
        RECOMPUTED, found.checked, "scores", f"of {n_chains} chains, of which the store keeps predictions alone"
    )
    return found


def verify_topk(run: TopKRun, records: CellRecords, ledger: Ledger) -> Verification:
    """Evaluate the kept lists of every cell again: the stored values per sample, and the stored means."""
    functions = list(run.settings["functions"])
    records_by_id = {record.cell_id: record for record in records.cells}
    found, n_samples = Verification(), 0
    for cell in run.cells:
        record, result = records_by_id[cell.cell_id], run.result(cell)
        evaluated, stored_samples = run.samples(cell)
        for metric, values in stored_samples.items():
            if metric not in functions:
                n_samples += int(evaluated.sum()) * values.shape[1]
                wrong = _wrong_samples(metric, run.ks, evaluated, values, result.per_sample[metric])
                if wrong:
                    found.note(record, wrong)
        derived = [
            Score(name, float(result.means[name][place]), "K", cut)
            for name in result.names
            for place, cut in enumerate(result.ks)
            if name not in functions
        ]
        found.compare(record, [s for s in records.scores(record) if s.metric not in functions], derived)
    ledger.look(RECOMPUTED, found.checked, "scores")
    ledger.look("values per sample recomputed from lists", n_samples, "values")
    ledger.miss(RECOMPUTED, len(functions), "metrics", _not_at_hand(functions))
    found.report(ledger)
    return found


def _wrong_samples(
    metric: str, ks: Sequence[int], evaluated: NDArray[np.bool_], stored: FloatArray, again: FloatArray
) -> str:
    """Say how many values per sample differ, and which is the first; empty where none does."""
    bad = np.argwhere(~(np.abs(stored[evaluated] - again[evaluated]) <= TOLERANCE))
    if not len(bad):
        return ""
    sample, column = int(np.flatnonzero(evaluated)[bad[0][0]]), int(bad[0][1])
    return (
        f"{metric} of {len(bad)} samples and cut-offs, first at K = {ks[column]} of test sample {sample}: "
        f"{stored[sample, column]!r}, the list gives {again[sample, column]!r}"
    )


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
