"""Partitions: the test rows that nothing touches before the end, and the folds of all the others."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.data import Dataset, Split, SplitPlan, make_splits
from paragone.errors import InputError, unknown_name
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

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the rows in all three roles."""
        digest = hashlib.sha256(b"fold")
        for rows in (self.train, self.test[: self.n_val], self.test[self.n_val :]):
            array = np.ascontiguousarray(rows, dtype="<i8")
            digest.update(len(array).to_bytes(8, "little"))
            digest.update(array.data)
        return digest.hexdigest()


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
                folds.setdefault(int(row["fold"] or ""), {"train": [], "val": []})[role].append(sample)
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
        With a feature of that name that holds 1 for test and 0 for train, or a nominal one of ``train`` and
        ``test``.
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
        raise InputError(f"dataset {dataset.name!r}: the test column {name!r} must hold 1 (test) or 0 (train)")
    kept = [place for place, n in enumerate(names) if n not in used]
    if not kept:
        raise InputError(f"dataset {dataset.name!r}: no feature is left beside the test column {name!r}")
    rest = replace(dataset, X=dataset.X[:, kept], feature_names=tuple(names[place] for place in kept))
    return rest, values == 1.0


def subset(dataset: Dataset, rows: IntArray) -> Dataset:
    """Return some rows of a dataset, as a dataset without parts of its own."""
    groups = None if dataset.groups is None else dataset.groups[rows]
    inner = replace(dataset, X=dataset.X[rows], y=dataset.y[rows], groups=groups, train_part=None, stored_splits=None)
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
        raise InputError('split: the official test part is no validation set; say test = "official" in [protocol]')
    inner = subset(dataset, rows)
    splits = [split for repeat in range(repeats) for split in make_splits(inner, plan, seed + repeat)]
    if repeats > 1 and len({split.fingerprint for split in splits}) < len(splits):
        raise InputError(f"split: {plan.kind!r} gives the same folds in every repeat; leave repeats out")
    if inner.groups is not None:
        for split in splits:
            both = np.intersect1d(inner.groups[split.train], inner.groups[split.test])
            if both.size:
                raise InputError(
                    f"dataset {dataset.name!r}: fold {split.fold} of {plan.kind!r} tears group {both[0]!s} apart; "
                    "use a splitter for groups"
                )
    return [(rows[split.train], rows[split.test]) for split in splits]
