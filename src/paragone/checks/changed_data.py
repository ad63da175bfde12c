"""Changed data: datasets with labels exchanged or renamed, or with rows replaced, on which cells are run again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.checks.bench import equal_arrays
from paragone.data import Dataset, Split
from paragone.data.frames import is_table
from paragone.validation import FloatArray, IntArray

TRIES = 20
"""How often labels are drawn anew where an exchange happens to change nothing."""


def with_scrambled_labels(dataset: Dataset, rows: IntArray, seed: int) -> Dataset | None:
    """Exchange the targets of some rows among themselves; None where that changes nothing.

    Examples
    --------
    >>> data = Dataset("d", np.eye(4), np.array([0, 1, 2, 3]), "classification")
    >>> changed = with_scrambled_labels(data, np.array([1, 2, 3]), 0)
    >>> changed.y[0], sorted(changed.y.tolist()), (changed.y != data.y).any()
    (np.int64(0), [0, 1, 2, 3], np.True_)
    """
    random = np.random.default_rng(seed)
    for _ in range(TRIES):
        y = dataset.y[exchanged(dataset.n_samples, [rows], random)]
        if _differ(y, dataset.y):
            return replace(dataset, y=y)
    return None


def exchanged(n_rows: int, parts: Iterable[IntArray], random: np.random.Generator) -> IntArray:
    """Return row numbers with those of every part in random order.

    Examples
    --------
    >>> exchanged(4, [np.array([0, 1])], np.random.default_rng(0))[2:].tolist()
    [2, 3]
    """
    order = np.arange(n_rows)
    for rows in parts:
        order[rows] = random.permutation(rows)
    return order


def _differ(a: Any, b: Any) -> bool:
    if sparse.issparse(a):
        return bool((a != b).nnz)
    return not equal_arrays(np.asarray(a), np.asarray(b))


def roles(dataset: Dataset, split: Split) -> list[IntArray]:
    """Return the rows of a split part by part: train, validation where there is one, and all others."""
    fitted = [split.train] if split.validation is None else [split.train, split.validation]
    return [*fitted, np.setdiff1d(np.arange(dataset.n_samples), np.concatenate(fitted))]


def with_far_rows(dataset: Dataset, split: Split, rows: IntArray) -> Dataset:
    """Put the train row that lies farthest from the others into the place of some rows; only features change.

    Means, ranges and neighbours among the held-out rows then change as much as they can by values
    that rows have.

    Examples
    --------
    >>> data = Dataset("d", np.array([[0.0], [9.0], [1.0], [2.0]]), np.zeros(4), "regression")
    >>> with_far_rows(data, Split(0, np.array([0, 1]), np.array([2, 3])), np.array([3])).X.ravel().tolist()
    [0.0, 9.0, 1.0, 9.0]
    """
    order = np.arange(dataset.n_samples)
    order[rows] = split.train[_farthest(dataset.numbers[split.train])]
    X = dataset.X
    return replace(dataset, X=X.take(order).reset_index(drop=True) if is_table(X) else X[order])


def _farthest(X: Any) -> int:
    """Number the row with the greatest sum of standardised squares; of equal ones the last, seldom the usual row."""
    if sparse.issparse(X):
        sizes = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    else:
        values = np.nan_to_num(np.asarray(X, dtype=np.float64))
        spread = values.std(axis=0)
        sizes = (((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)) ** 2).sum(
            axis=1
        )
    return int(len(sizes) - 1 - np.argmax(sizes[::-1]))


@dataclass(frozen=True, eq=False)
class TargetNames:
    """The names that targets can exchange: classes, labels or items; for numbers, which end of their range is up.

    Parameters
    ----------
    task : str
        What the target is.
    classes : ndarray
        The classes, sorted; for numbers the least and greatest value of every target.
    count : int
        How many names there are: 2, up and down, for numbers and for a single label.

    Examples
    --------
    >>> names = TargetNames.of(Dataset("d", np.eye(3), np.array(["a", "b", "b"]), "classification"))
    >>> names.renamed(np.array(["a", "b", "b"]), np.array([1, 0])).tolist()
    ['b', 'a', 'a']
    >>> numbers = TargetNames.of(Dataset("d", np.eye(3), np.array([0.0, 1.0, 5.0]), "regression"))
    >>> numbers.renamed(np.array([0.0, 1.0, 5.0]), np.array([1, 0])).tolist()
    [5.0, 4.0, 0.0]
    """

    task: str
    classes: NDArray[Any]
    count: int

    @classmethod
    def of(cls, dataset: Dataset) -> TargetNames:
        """Find the names of a dataset's target."""
        y = dataset.y
        if dataset.task == "regression":
            return cls(dataset.task, np.stack([np.nanmin(y, axis=0), np.nanmax(y, axis=0)]), 2)
        if dataset.task == "classification":
            classes = np.unique(np.asarray(y.tolist()) if y.dtype == object else y)
            return cls(dataset.task, classes, len(classes))
        return cls(dataset.task, np.empty(0), max(2, dataset.n_targets))

    def renamed(self, y: Any, order: IntArray) -> Any:
        """Return targets in which name number c is name number ``order[c]``."""
        if self.task == "classification":
            plain = np.asarray(y.tolist()) if y.dtype == object else y
            return self.classes[order[np.searchsorted(self.classes, plain)]]
        if self.task == "regression":
            return self.classes.sum(axis=0) - y if order[0] else y
        if sparse.issparse(y):
            # A copy: sorting the new columns moves the places with them.
            found = sparse.csr_array(
                (y.data.copy(), order[y.indices], y.indptr.copy()), shape=y.shape
            )
            found.sort_indices()
            return found
        if y.shape[1] == 1:
            return 1 - y if order[0] else y
        found = np.empty_like(y)
        found[:, order] = y
        return found

    def draw(self, random: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw two namings of which no name is the same: an order, and the same order moved on along a circle."""
        circle = random.permutation(self.count)
        first = random.permutation(self.count)
        place = np.argsort(circle)
        second = circle[(place[first] + random.integers(1, self.count)) % self.count]
        return first, second

    def truth(self, y: Any) -> Any:
        """Return targets as columns of numbers: 0/1 per class, label or item."""
        if self.task == "classification":
            plain = np.asarray(y.tolist()) if y.dtype == object else y
            return (plain[:, None] == self.classes).astype(np.float64)
        if sparse.issparse(y):
            return sparse.csr_array((np.ones(len(y.data)), y.indices, y.indptr), shape=y.shape)
        return np.asarray(y, dtype=np.float64).reshape(y.shape[0], -1)


def agreement(given: Any, truth: Any) -> float:
    """Add up the covariances of columns with the columns of the truth, times the number of rows.

    What is the same in all rows, such as a class that is named more often than another, adds
    nothing.

    Examples
    --------
    >>> truth = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> agreement(truth, truth), agreement(np.ones((4, 2)), truth), agreement(truth[::-1], truth)
    (2.0, 0.0, -2.0)
    """
    if sparse.issparse(given):
        by_column = np.asarray(given.sum(axis=0)).ravel() @ np.asarray(truth.sum(axis=0)).ravel()
        return float(given.multiply(truth).sum() - by_column / truth.shape[0])
    centred: FloatArray = truth - truth.mean(axis=0)
    return float((given * centred).sum())
