"""Folds and test rows of a cross-validation, one problem per target, and what to tell the user of them."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from paragone.data import Dataset, Split, SplitPlan, describe_splits, make_splits
from paragone.errors import InputError, unknown_name
from paragone.lab.protocol import Arrangement
from paragone.protocols.crossval.ledger import coverage, repeats_of
from paragone.validation import IntArray

NO_ROWS: IntArray = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class FoldSplit(Split):
    """A fold of a cross-validation: fit rows in ``train``; in ``test`` the validation rows, then the test rows.

    Parameters
    ----------
    n_val : int
        How many rows of ``test`` are validation rows.
    """

    n_val: int = 0

    @property
    @override
    def held_out(self) -> dict[str, IntArray]:
        """The validation rows, which a fold is scored on; the test rows where it has none."""
        role, rows = ("validation", self.test[: self.n_val]) if self.n_val else ("test", self.test)
        return {role: rows} if len(rows) else {}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the rows in all three roles."""
        digest = hashlib.sha256(b"fold")
        for rows in (self.train, self.test[: self.n_val], self.test[self.n_val :]):
            array = np.ascontiguousarray(rows, dtype="<i8")
            digest.update(len(array).to_bytes(8, "little"))
            digest.update(array.data)
        return digest.hexdigest()


class ProblemArrangement(Arrangement):
    """A problem with its folds. The store keeps the whole target: chains are scored on all of their folds together."""

    @override
    def kept_data(self) -> dict[str, NDArray[Any]]:
        y = self.dataset.y
        kept = {"y": np.asarray(y.tolist()) if y.dtype == object else y}
        if self.dataset.task == "classification":
            kept["classes"] = np.unique(kept["y"])
        return kept if self.dataset.groups is None else {**kept, "groups": self.dataset.groups}

    @override
    def kept_split(self, split: Split) -> dict[str, NDArray[Any]]:
        return {"n_val": np.array(split.n_val if isinstance(split, FoldSplit) else 0)}

    @classmethod
    @override
    def split_of(
        cls, fold: int, train: IntArray, test: IntArray, kept: Mapping[str, NDArray[Any]]
    ) -> Split:
        n_val = kept["n_val"]
        if n_val.shape != () or n_val.dtype.kind not in "iu" or not 0 <= int(n_val) <= len(test):
            raise ValueError("n_val is not a number of rows")
        return FoldSplit(fold, train, test, int(n_val))

    @classmethod
    @override
    def datasets_of(
        cls, dataset: Dataset, options: Mapping[str, Any], seed: int
    ) -> Iterator[tuple[Dataset, str]]:
        check_task(dataset)
        # Of the ways to name test rows only a column changes the data; which rows they are is in
        # the store.
        test = options.get("test")
        marked = test if isinstance(test, str) and options.get("stored") is None else None
        whole, _ = mark_test_rows(dataset, marked, seed)
        for problem in problems_of(whole, joint=options.get("targets") == "joint"):
            yield problem, dataset.name


def check_task(dataset: Dataset) -> None:
    """Refuse a dataset that has no number or class to predict."""
    if dataset.task == "multilabel":
        raise InputError(
            f"dataset {dataset.name!r} is multi-label; crossval needs a regression or"
            " classification"
        )


@dataclass(frozen=True, eq=False)
class StoredFolds:
    """Folds and test rows that were decided elsewhere, as row numbers of the dataset.

    Examples
    --------
    >>> stored = StoredFolds.of([([0, 1], [2]), ([1, 2], [0])], test=[3])
    >>> len(stored.folds), stored.folds[0][1]
    (2, array([2]))
    """

    folds: tuple[tuple[IntArray, IntArray], ...]
    test: IntArray

    @classmethod
    def of(cls, folds: Sequence[tuple[Any, Any]], test: Any = ()) -> StoredFolds:
        """Check pairs of train and validation rows; a fold may have no validation rows.

        Examples
        --------
        >>> StoredFolds.of([([0, 1], [2]), ([1, 2], [0])], test=[3]).test
        array([3])
        """
        pairs = tuple((_rows(train, "train"), _rows(val, "val")) for train, val in folds)
        tested = _rows(test, "test")
        if not pairs:
            raise InputError("stored folds: there is no fold")
        for number, (train, val) in enumerate(pairs):
            if not len(train):
                raise InputError(f"stored folds: fold {number} has no train rows")
            for one, other, names in (
                (train, val, "train and val"),
                (train, tested, "train and test"),
                (val, tested, "val and test"),
            ):
                if np.intersect1d(one, other).size:
                    raise InputError(f"stored folds: fold {number} has rows in {names}")
        return cls(pairs, tested)

    @classmethod
    def read(cls, path: Path) -> StoredFolds:
        """Read a CSV file with the columns ``sample, fold, role``; the role is train, val or test.

        Test rows are the same for all folds; their fold may be left empty.
        """
        try:
            with path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"stored folds {path} cannot be read: {error}") from error
        missing = {"sample", "fold", "role"} - set(rows[0] if rows else ())
        if missing:
            raise InputError(f"stored folds {path}: the column {sorted(missing)[0]!r} is missing")
        folds: dict[int, dict[str, list[int]]] = {}
        test: dict[int, None] = {}
        for number, row in enumerate(rows, start=2):
            try:
                sample, role = int(row["sample"] or ""), (row["role"] or "").strip()
                if not 0 <= sample < 2**31:
                    raise InputError(f"sample {row['sample']!r} is no row number")
                if role == "test":
                    test[sample] = None
                    continue
                if role not in ("train", "val"):
                    raise unknown_name("role", role, ("train", "val", "test"))
                folds.setdefault(int(row["fold"] or ""), {"train": [], "val": []})[role].append(
                    sample
                )
            except ValueError as error:
                raise InputError(f"stored folds {path}, line {number}: {error}") from error
        return cls.of([(folds[f]["train"], folds[f]["val"]) for f in sorted(folds)], list(test))


def _rows(given: Any, what: str) -> IntArray:
    rows = np.asarray(given if len(given) else [], dtype=np.int64)
    if len(np.unique(rows)) < len(rows):
        raise InputError(f"stored folds: a row stands twice among the {what} rows of a fold")
    return np.sort(rows)


def take_test_column(dataset: Dataset, name: str) -> tuple[Dataset, NDArray[np.bool_]]:
    """Take a column that marks the test rows out of the features.

    Parameters
    ----------
    dataset : Dataset
        With a feature of that name that holds 1 for test and 0 for train, or a nominal one of
        ``train`` and ``test``.
    name : str
        The column.

    Returns
    -------
    Dataset, ndarray of bool
        The dataset without it, and True for test rows.
    """
    names = list(dataset.feature_names)
    coded = f"{name}=test"
    used = [n for n in names if n == name or n in (coded, f"{name}=train")]
    marked = coded if coded in names else name
    if marked not in names:
        raise unknown_name(f"test column of dataset {dataset.name!r}", name, names)
    column = dataset.X[:, [names.index(marked)]]
    values = np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()
    if not np.isin(values, (0.0, 1.0)).all():
        raise InputError(
            f"dataset {dataset.name!r}: the test column {name!r} must hold 1 (test) or 0 (train)"
        )
    kept = [place for place, n in enumerate(names) if n not in used]
    if not kept:
        raise InputError(
            f"dataset {dataset.name!r}: no feature is left beside the test column {name!r}"
        )
    rest = replace(
        dataset, X=dataset.X[:, kept], feature_names=tuple(names[place] for place in kept)
    )
    return rest, values == 1.0


def subset(dataset: Dataset, rows: IntArray) -> Dataset:
    """Return some rows of a dataset, as a dataset without parts of its own."""
    groups = None if dataset.groups is None else dataset.groups[rows]
    inner = replace(
        dataset,
        X=dataset.X[rows],
        y=dataset.y[rows],
        groups=groups,
        train_part=None,
        stored_splits=None,
    )
    return replace(inner, notes=())


def hold_out(dataset: Dataset, share: float, seed: int) -> NDArray[np.bool_]:
    """Draw test rows: by class for classes, whole groups where there are groups.

    Examples
    --------
    >>> from paragone.data import load
    >>> int(hold_out(load("iris"), 0.2, 0).sum())
    30
    """
    (split,) = make_splits(dataset, SplitPlan(kind="holdout", folds=1, test_size=share), seed)
    mask = np.zeros(dataset.n_samples, dtype=bool)
    mask[split.test] = True
    return mask


def make_folds(
    dataset: Dataset, rows: IntArray, plan: SplitPlan, repeats: int, seed: int
) -> list[tuple[IntArray, IntArray]]:
    """Split some rows of a dataset into folds; repeat r is drawn with ``seed + r``.

    Parameters
    ----------
    dataset : Dataset
        The whole of it.
    rows : ndarray of int64
        The rows to split.
    plan : SplitPlan
        How.
    repeats : int
        How often.
    seed : int
        Not negative.

    Returns
    -------
    list of (ndarray, ndarray)
        Fit and validation rows of every fold, as row numbers of the dataset.
    """
    if plan.kind == "official":
        raise InputError(
            'split: the official test part is no validation set; say test = "official" in'
            " [protocol]"
        )
    inner = subset(dataset, rows)
    splits = [
        split for repeat in range(repeats) for split in make_splits(inner, plan, seed + repeat)
    ]
    if repeats > 1 and len({split.fingerprint for split in splits}) < len(splits):
        raise InputError(
            f"split: {plan.kind!r} gives the same folds in every repeat; leave repeats out"
        )
    if inner.groups is not None:
        for split in splits:
            both = np.intersect1d(inner.groups[split.train], inner.groups[split.test])
            if both.size:
                raise InputError(
                    f"dataset {dataset.name!r}: fold {split.fold} of {plan.kind!r} tears group"
                    f" {both[0]!s} apart; use a splitter for groups"
                )
    return [(rows[split.train], rows[split.test]) for split in splits]


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
            raise InputError(
                f"dataset {dataset.name!r} does not come in a train and a test part; say test = 0.2"
            )
        return dataset, ~dataset.train_part
    if isinstance(test, float):
        return dataset, hold_out(dataset, test, seed)
    rows = np.asarray(test, dtype=np.int64)
    strange = rows[(rows < 0) | (rows >= dataset.n_samples)]
    if strange.size:
        raise InputError(
            f"dataset {dataset.name!r}: test row {strange[0]} does not exist, it has"
            f" {dataset.n_samples}"
        )
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
        replace(
            dataset,
            name=f"{dataset.name}:{name}",
            y=dataset.y[:, place],
            target_names=(name,),
            notes=(),
        )
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
        The folds, with the refit split last as a later stage, and notes that count what was left
        out.
    """
    y = problem.y if problem.task == "regression" else np.zeros(problem.n_samples)
    known = np.asarray(~np.isnan(y.reshape(len(y), -1)).any(axis=1))
    train, tested = np.flatnonzero(known & ~test), np.flatnonzero(known & test)
    if not len(train):
        raise InputError(
            f"dataset {problem.name!r}: no train rows are left beside {len(tested)} test rows"
        )
    folds = _folds(problem, train, known, plan, seed, repeats, stored)
    splits: list[Split] = [
        FoldSplit(number, fit, np.concatenate([val, tested]), len(val))
        for number, (fit, val) in enumerate(folds)
    ]
    notes = []
    if not known.all():
        notes.append(
            f"{int((~known).sum())} of {len(known)} rows have no target value and are left out"
        )
    notes += warnings_of(problem, train, tested, folds)
    how = "stored folds" if stored is not None else describe_splits(problem, plan)
    n_repeats = 1 + max(repeats_of([val for _, val in folds]), default=0)
    times = f", repeated {n_repeats} times" if n_repeats > 1 else ""
    notes.append(
        f"{how}{times}; {coverage(train, [val for _, val in folds])}; {len(tested)} test rows"
    )
    refit = FoldSplit(len(folds), train, tested)
    said = tuple(f"{problem.name}: {note}" for note in notes)
    return ProblemArrangement(problem, (*splits, refit), later=1, notes=said)


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
            raise InputError(
                f"dataset {problem.name!r}: stored row {highest} does not exist, it has {size}"
            )
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
        said.append(
            f"{len(empty)} fold(s) have no validation rows ({empty}); the others alone give the"
            " weights"
        )
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
        said.append(
            f"{int(unseen.sum())} test row(s) are of classes that train never has:"
            f" {', '.join(which)}"
        )
    n_classes = len(np.unique(y[train]))
    short = sum(len(np.unique(y[fit])) < n_classes for fit, _ in folds)
    return [*said, f"{short} fold(s) are fitted without one of the classes"] if short else said


def _group_warnings(
    groups: NDArray[Any],
    train: IntArray,
    test: IntArray,
    folds: Sequence[tuple[IntArray, IntArray]],
) -> list[str]:
    said = []
    both = np.intersect1d(groups[train], groups[test])
    if both.size:
        said.append(f"{both.size} group(s) stand in train and in test")
    torn = sum(np.intersect1d(groups[fit], groups[val]).size > 0 for fit, val in folds)
    return [*said, f"{torn} fold(s) fit and validate rows of the same group"] if torn else said
