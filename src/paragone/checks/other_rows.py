"""PG142 and PG143: what a cell says of a row, or learns, that depends on the other held-out rows.

Half of the held-out rows are replaced, in their places: what was learnt must not change, nor what
is said of the rows that stayed. The same cell then gets half of its held-out rows in another order:
what is said of each must stay too, but for rounding, which may depend on how many rows are worked
on at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.checks.bench import Rerun, differing_arrays
from paragone.checks.changed_data import with_far_rows
from paragone.checks.finding import Ledger
from paragone.checks.registry import check
from paragone.checks.trial import Trial
from paragone.checks.words import share
from paragone.lab.protocol import RowAnswers
from paragone.validation import IntArray

OTHER_ROWS = "held-out rows replaced, left out and reordered"
RELATIVE = 1e-6
"""A number that moved by less than this share of its size moved by rounding."""
ROUNDED_ROWS = 0.1
"""Of rows in another order, this share may change: rounding decides ties, and it depends on how rows are blocked."""


@check(
    "PG142",
    "warning",
    "predictions of a row that depend on the other held-out rows",
    "predict rows one by one; acknowledge a transductive method, and say so beside its scores",
    of="method",
)
@check(
    "PG143",
    "error",
    "a fit that changes with the values of held-out rows",
    "find where the method reads rows that it was not handed",
    of="method",
)
def check_other_rows(trial: Trial, ledger: Ledger) -> bool:
    """Run a cell with half of its held-out rows replaced, then with half alone; say whether it could be judged."""
    if not trial.stable:
        return False
    if trial.has("PG110"):
        return trial.miss(OTHER_ROWS, "fewer rows have fewer labels, which change its results")
    test = trial.split.test
    answers = trial.bench.answers(trial.cell, trial.plain)
    if answers is None or len(test) < 2:
        return trial.miss(OTHER_ROWS, "no predictions of two held-out rows to compare")
    order = np.random.default_rng([trial.seed, 2]).permutation(len(test))
    fewer, replaced = order[: len(test) // 2], order[len(test) // 2 :]
    changed = trial.run(dataset=with_far_rows(trial.dataset, trial.split, test[replaced]))
    if not (_judged(trial, changed) and _replaced(trial, answers, changed, np.sort(fewer))):
        return False
    if not answers.of_rows():
        return True
    alone = trial.run(test=test[fewer])
    return _judged(trial, alone) and _reordered(trial, answers, alone, fewer)


def _judged(trial: Trial, run: Rerun) -> bool:
    return run.done or trial.miss(OTHER_ROWS, f"with other held-out rows: {run.why_not}")


def _replaced(trial: Trial, answers: RowAnswers, run: Rerun, kept: IntArray) -> bool:
    """Judge the run in which rows were replaced; say whether the cell is the same every time."""
    changed = trial.bench.answers(trial.cell, run)
    assert changed is not None
    learnt = differing_arrays(answers.learnt, changed.learnt)
    moved = moved_rows(answers, changed, kept, kept)
    if not learnt and not moved.any():
        return True
    if not trial.is_stable():
        return False
    if learnt:
        what = f"it learns different {', '.join(learnt)}"
        trial.find("PG143", f"with other values in half of the held-out rows {what}")
    else:
        _blame(trial, moved, "half of the held-out rows hold other values")
    return True


def _reordered(trial: Trial, answers: RowAnswers, run: Rerun, fewer: IntArray) -> bool:
    """Judge the run on some of the rows in another order; say whether that could be done."""
    changed = trial.bench.answers(trial.cell, run, len(fewer))
    assert changed is not None
    moved = moved_rows(answers, changed, fewer, np.arange(len(fewer)))
    if moved.sum() <= max(1.0, ROUNDED_ROWS * len(fewer)):
        return True
    if not trial.is_stable():
        return False
    # A method that draws a number per row draws others for rows that come in another order.
    if not trial.differing(trial.plain, trial.run(draw=1)):
        _blame(trial, moved, "they come in another order and without the other half")
    return True


def _blame(trial: Trial, moved: NDArray[np.bool_], when: str) -> None:
    n_moved = int(moved.sum())
    what = share(n_moved, len(moved), "held-out rows")
    message = f"what it says of {what} changes when {when}"
    trial.find("PG142", message, count=n_moved, total=len(moved))


def moved_rows(
    one: RowAnswers, other: RowAnswers, rows: IntArray, same: IntArray
) -> NDArray[np.bool_]:
    """Mark the rows of which two runs say something different: another class or list, or a number beyond rounding.

    Parameters
    ----------
    one, other : RowAnswers
        What the runs say.
    rows, same : ndarray of int
        Where the same rows stand in the first and in the second.

    Examples
    --------
    >>> both = np.arange(2)
    >>> moved_rows(RowAnswers(np.array([1.0, 2.0])), RowAnswers(np.array([1.0 + 1e-12, 2.1])), both, both).tolist()
    [False, True]
    >>> moved_rows(RowAnswers(np.array(["a", "b"])), RowAnswers(np.array(["a", "c"])), both, both).tolist()
    [False, True]
    """
    moved = np.zeros(len(rows), dtype=bool)
    first, second = one.of_rows(), other.of_rows()
    for name, array in first.items():
        before, after = array[rows], second[name][same]
        if before.shape != after.shape:
            return np.ones(len(rows), dtype=bool)
        unequal = _beyond_rounding(before, after) if before.dtype.kind == "f" else before != after
        moved |= np.asarray(unequal).reshape(len(rows), -1).any(axis=1)
    return moved


def _beyond_rounding(before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.bool_]:
    # Against the size of the column: a value that happens to lie near 0 has no size of its own.
    size = np.nanmax(np.abs(np.where(np.isfinite(before), before, 0.0)), axis=0, initial=0.0)
    return np.asarray(~np.isclose(before, after, rtol=0.0, atol=RELATIVE * size, equal_nan=True))
