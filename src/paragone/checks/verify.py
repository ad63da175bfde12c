"""PG301 and PG302: stored scores against stored predictions, and stored truth against the data.

Scores are derived again by the metrics of the registry from the predictions that the store keeps,
and compared with the scores that it keeps. That the metrics are right is shown by the tests, which
compute each a second way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.checks.finding import Ledger
from paragone.checks.registry import check
from paragone.checks.subject import ELSEWHERE
from paragone.checks.words import agree, counted
from paragone.lab.cells import Score
from paragone.lab.planning import PART_LENGTH
from paragone.lab.protocol import Arrangement
from paragone.lab.store.records import StoredCell, StoredCells
from paragone.lab.view import View

RECOMPUTED = "scores recomputed from predictions"
TRUTHS = "truth in the store against the data"
TOLERANCE = 1e-12


@dataclass
class Verification:
    """What came of comparing stored scores with those that follow from the predictions.

    Attributes
    ----------
    checked : int
        How many were compared.
    wrong : dict of str to list of str
        By method, a line per score that differs or is missing.
    right : list of (str, Score)
        The key of a cell and the score that it should have, for each that differs.
    """

    checked: int = 0
    wrong: dict[str, list[str]] = field(default_factory=dict)
    right: list[tuple[str, Score]] = field(default_factory=list)

    def compare(self, cell: StoredCell, stored: Sequence[Score], derived: Iterable[Score]) -> None:
        """Compare the scores of a cell."""
        self.checked += len(stored)
        values = {(score.metric, score.grid, score.at): score for score in derived}
        for score in stored:
            again = values.pop((score.metric, score.grid, score.at), None)
            if again is None:
                self.note(cell, f"{_point(score)}: there is no prediction for it")
            elif not same(score.value, again.value):
                given = f"{score.value!r}, the predictions give {again.value!r}"
                self.note(cell, f"{_point(score)} is {given}")
                self.right.append((cell.key, again))
        for score in values.values():
            self.note(cell, f"{_point(score)} was predicted and has no score")

    def note(self, cell: StoredCell, what: str) -> None:
        """Write down what is wrong with a cell."""
        self.wrong.setdefault(cell.method, []).append(f"{cell}: {what}")


def _point(score: Score) -> str:
    return score.metric if score.at is None else f"{score.metric} at {score.grid} = {score.at:g}"


@check(
    "PG301",
    "error",
    "a score that does not follow from the stored predictions",
    "do not publish it: restore the store, or run the cell again with --overwrite",
    of="audit",
)
def verify_scores(view: View, ledger: Ledger) -> Verification:
    """Compare every stored score of an experiment with the one that follows from what else the store keeps."""
    found, n_cells, n_values = Verification(), 0, 0
    left: Counter[str] = Counter()
    for one in view.reader.rescored(view):
        if one.why_not:
            left[one.why_not] += len(one.stored)
            continue
        n_cells, n_values = n_cells + 1, n_values + one.n_values
        found.compare(one.cell, one.stored, one.derived)
        for what in one.wrong:
            found.note(one.cell, what)
    ledger.look(RECOMPUTED, found.checked, "scores", f"of {counted(n_cells, 'cells')}")
    ledger.look("values per sample recomputed from lists", n_values, "values")
    for why, count in left.items():
        ledger.miss(RECOMPUTED, count, "scores", why)
    if not n_cells and not left:
        why = "the store keeps predictions alone, so that none can differ"
        ledger.look(RECOMPUTED, len(view.scores), "scores", why)
    for method, lines in found.wrong.items():
        do = agree(len(lines), "does", "do")
        message = f"{len(lines)} of its scores {do} not follow from its predictions"
        ledger.find("PG301", message, len(lines), found.checked, lines, method=method)
    return found


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


@check(
    "PG302",
    "error",
    "truth in the store that is not that of the data",
    "see which of the two was changed; run again on the right data",
    of="audit",
)
def check_truths(
    records: StoredCells, ledger: Ledger, arrangements: Mapping[str, Arrangement]
) -> None:
    """Compare the targets that scores are computed with, split by split, with those of the data."""
    checked = 0
    elsewhere: set[str] = set()
    wrong: dict[str, list[str]] = {}
    first: dict[tuple[str, str], StoredCell] = {}
    for cell in records.cells:
        first.setdefault((cell.parts.data, cell.parts.split), cell)
    for cell in first.values():
        arrangement = arrangements.get(cell.dataset)
        if arrangement is None or arrangement.dataset.fingerprint[:PART_LENGTH] != cell.parts.data:
            elsewhere.add(cell.dataset)
            continue
        split = next(split for split in arrangement.splits if split.fold == cell.fold)
        checked += 1
        train, test = records.rows(cell)
        kept = {**records.data(cell), **records.truth(cell), "train": train, "test": test}
        mine = {**arrangement.kept_data(), **arrangement.kept_split(split)}
        mine |= {"train": split.train, "test": split.test}
        if "groups" not in kept:
            # Earlier versions kept them of cross-validations alone.
            mine.pop("groups", None)
        for name in sorted(set(kept) | set(mine)):
            if not (name in kept and name in mine and _equal(kept[name], mine[name])):
                wrong.setdefault(cell.dataset, []).append(f"fold {cell.fold}: {name}")
    ledger.look(TRUTHS, checked, "splits")
    ledger.miss(TRUTHS, len(elsewhere), "datasets", ELSEWHERE)
    for dataset, lines in wrong.items():
        parts = counted(len(lines), "splits or datasets", "split or dataset")
        message = f"what the store keeps of {parts} is not what the data say"
        ledger.find("PG302", message, len(lines), checked, lines, dataset=dataset)


def _equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
