"""Make a dataset ready for cross-validation: test rows, one problem a target, folds, and what to tell the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.data import Dataset, Split, SplitPlan, describe_splits
from paragone.errors import InputError
from paragone.protocols.base import Arrangement
from paragone.protocols.crossval.ledger import coverage, repeats_of
from paragone.protocols.crossval.partition import FoldSplit, StoredFolds, hold_out, make_folds, take_test_column
from paragone.validation import IntArray

OFFICIAL = "official"


def mark_test_rows(dataset: Dataset, test: Any, seed: int) -> tuple[Dataset, NDArray[np.bool_]]:
    """Mark the test rows, and take the column that does so out of the features where that is what was declared.

    Parameters
    ----------
    dataset : Dataset
        The whole of it.
    test : float, str, array-like of int or None
        A share, ``"official"``, the name of a column, or row numbers.
    seed : int
        For a share.

    Returns
    -------
    Dataset, ndarray of bool
        True for test rows; nowhere where there is no test set.

    Examples
    --------
    >>> from paragone.data import load
    >>> mark_test_rows(load("iris"), [3, 5], 0)[1].nonzero()[0]
    array([3, 5])
    """
    mask = np.zeros(dataset.n_samples, dtype=bool)
    if test is None:
        return dataset, mask
    if isinstance(test, str):
        if test != OFFICIAL:
            return take_test_column(dataset, test)
        if dataset.train_part is None:
            raise InputError(f"dataset {dataset.name!r} does not come in a train and a test part; say test = 0.2")
        return dataset, ~dataset.train_part
    if isinstance(test, float):
        return dataset, hold_out(dataset, test, seed)
    rows = np.asarray(test, dtype=np.int64)
    strange = rows[(rows < 0) | (rows >= dataset.n_samples)]
    if strange.size:
        raise InputError(f"dataset {dataset.name!r}: test row {strange[0]} does not exist, it has {dataset.n_samples}")
    mask[rows] = True
    return dataset, mask


def problems_of(dataset: Dataset, *, joint: bool) -> list[Dataset]:
    """Return one dataset a target, named ``dataset:target`` where there are several; one for joint targets.

    Examples
    --------
    >>> data = Dataset("corn", np.eye(3), np.ones((3, 2)), "regression", target_names=("oil", "starch"))
    >>> [problem.name for problem in problems_of(data, joint=False)]
    ['corn:oil', 'corn:starch']
    """
    if dataset.n_targets == 1:
        return [replace(dataset, y=dataset.y if dataset.y.ndim == 1 else dataset.y[:, 0])]
    if joint:
        return [dataset]
    return [
        replace(dataset, name=f"{dataset.name}:{name}", y=dataset.y[:, place], target_names=(name,), notes=())
        for place, name in enumerate(dataset.target_names)
    ]


def arrange_problem(
    problem: Dataset,
    test: NDArray[np.bool_],
    plan: SplitPlan,
    seed: int,
    *,
    repeats: int = 1,
    stored: StoredFolds | None = None,
) -> Arrangement:
    """Split the rows that have a target value: folds of the train rows, then the refit split on all of them.

    Parameters
    ----------
    problem : Dataset
        Of one target, or of several that are predicted together.
    test : ndarray of bool
        The test rows.
    plan : SplitPlan
        How the train rows are split.
    seed : int
        Of the folds.
    repeats : int, default=1
        How often folds are drawn.
    stored : StoredFolds, optional
        Folds decided elsewhere.

    Returns
    -------
    Arrangement
        The folds, with the refit split last as a later stage, and notes that count what was left out.
    """
    y = problem.y if problem.task == "regression" else np.zeros(problem.n_samples)
    known = np.asarray(~np.isnan(y.reshape(len(y), -1)).any(axis=1))
    train, tested = np.flatnonzero(known & ~test), np.flatnonzero(known & test)
    if not len(train):
        raise InputError(f"dataset {problem.name!r}: no train rows are left beside {len(tested)} test rows")
    folds = _folds(problem, train, known, plan, seed, repeats, stored)
    splits: list[Split] = [
        FoldSplit(number, fit, np.concatenate([val, tested]), len(val)) for number, (fit, val) in enumerate(folds)
    ]
    notes = []
    if not known.all():
        notes.append(f"{int((~known).sum())} of {len(known)} rows have no target value and are left out")
    notes += warnings_of(problem, train, tested, folds)
    how = "stored folds" if stored is not None else describe_splits(problem, plan)
    n_repeats = 1 + max(repeats_of([val for _, val in folds]), default=0)
    times = f", repeated {n_repeats} times" if n_repeats > 1 else ""
    notes.append(f"{how}{times}; {coverage(train, [val for _, val in folds])}; {len(tested)} test rows")
    refit = FoldSplit(len(folds), train, tested)
    said = tuple(f"{problem.name}: {note}" for note in notes)
    return Arrangement(problem, (*splits, refit), later=1, notes=said)


def _folds(
    problem: Dataset,
    train: IntArray,
    known: NDArray[np.bool_],
    plan: SplitPlan,
    seed: int,
    repeats: int,
    stored: StoredFolds | None,
) -> list[tuple[IntArray, IntArray]]:
    if stored is not None:
        highest = max(int(rows.max(initial=-1)) for pair in stored.folds for rows in pair)
        if highest >= problem.n_samples:
            size = problem.n_samples
            raise InputError(f"dataset {problem.name!r}: stored row {highest} does not exist, it has {size}")
        return [(fit[known[fit]], val[known[val]]) for fit, val in stored.folds]
    if problem.stored_splits is None or not (plan.kind == "stored" or plan.leaves_splits_open):
        return make_folds(problem, train, plan, repeats, seed)
    of_train = np.isin(np.arange(problem.n_samples), train)
    return [(fit[of_train[fit]], val[of_train[val]]) for fit, val in problem.stored_splits]


def warnings_of(
    problem: Dataset, train: IntArray, test: IntArray, folds: Sequence[tuple[IntArray, IntArray]]
) -> list[str]:
    """Count what the user should know: empty validation sets, unseen classes, groups torn apart, rows left over."""
    said = []
    empty = [number for number, (_, val) in enumerate(folds) if not len(val)]
    if empty:
        said.append(f"{len(empty)} fold(s) have no validation rows ({empty}); the others alone give the weights")
    if problem.task == "classification":
        said += _class_warnings(problem.y, train, test, folds)
    if problem.groups is not None:
        said += _group_warnings(problem.groups, train, test, folds)
    covered = coverage(train, [val for _, val in folds])
    if covered.validated < covered.n_samples:
        said.append(f"{covered.n_samples - covered.validated} train row(s) are never validated")
    return said


def _class_warnings(
    y: NDArray[Any], train: IntArray, test: IntArray, folds: Sequence[tuple[IntArray, IntArray]]
) -> list[str]:
    said = []
    unseen = ~np.isin(y[test], np.unique(y[train]))
    if unseen.any():
        which = sorted({str(label) for label in y[test][unseen]})
        said.append(f"{int(unseen.sum())} test row(s) are of classes that train never has: {', '.join(which)}")
    n_classes = len(np.unique(y[train]))
    short = sum(len(np.unique(y[fit])) < n_classes for fit, _ in folds)
    return [*said, f"{short} fold(s) are fitted without one of the classes"] if short else said


def _group_warnings(
    groups: NDArray[Any], train: IntArray, test: IntArray, folds: Sequence[tuple[IntArray, IntArray]]
) -> list[str]:
    said = []
    both = np.intersect1d(groups[train], groups[test])
    if both.size:
        said.append(f"{both.size} group(s) stand in train and in test")
    torn = sum(np.intersect1d(groups[fit], groups[val]).size > 0 for fit, val in folds)
    return [*said, f"{torn} fold(s) fit and validate rows of the same group"] if torn else said
