"""Truth against prediction, counted; and how values of those counts hang on each row.

A row moves nothing but the count of its own cell, so the derivative of any such value by the row's
weight is that by the count: a table as large as the confusion matrix, looked up row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.metrics.contributions import Contributions
from paragone.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Confusion:
    """Counts of truth against prediction over the classes that occur in either.

    Parameters
    ----------
    labels : ndarray
        The classes, sorted.
    counts : ndarray of int64 of shape (n_classes, n_classes)
        Rows are the truth, columns the prediction.
    cells : ndarray of int64 of shape (n,)
        The cell of every row, counted row by row of the table.
    """

    labels: NDArray[Any]
    counts: NDArray[np.int64]
    cells: IntArray = field(repr=False)

    @classmethod
    def of(cls, y_true: Any, y_pred: Any, labels: Any = None) -> Confusion:
        """Count truth against prediction.

        Examples
        --------
        >>> Confusion.of(["a", "b", "b"], ["a", "a", "b"]).counts.tolist()
        [[1, 0], [1, 1]]
        """
        true, predicted = np.asarray(y_true), np.asarray(y_pred)
        if true.shape != predicted.shape or true.ndim != 1:
            raise InputError(
                f"a prediction of shape {predicted.shape} does not go with a truth of {true.shape}"
            )
        known = (
            np.unique(np.concatenate([true, predicted])) if labels is None else np.asarray(labels)
        )
        size = len(known)
        cells = np.searchsorted(known, true) * size + np.searchsorted(known, predicted)
        counts = np.bincount(cells, minlength=size * size).reshape(size, size).astype(np.int64)
        return cls(known, counts, cells)

    @property
    def n(self) -> int:
        """Number of predictions."""
        return int(self.counts.sum())

    @property
    def right(self) -> NDArray[np.int64]:
        """Right predictions a class."""
        return np.asarray(np.diag(self.counts))

    @property
    def true(self) -> NDArray[np.int64]:
        """Occurrences of each class in the truth."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def predicted(self) -> NDArray[np.int64]:
        """Occurrences of each class in the prediction."""
        return np.asarray(self.counts.sum(axis=0))


Table = Callable[[Confusion], FloatArray]


def cell_slopes(table: Table, c: Confusion) -> FloatArray:
    """Return the contributions of rows, given the derivatives of a value by every count."""
    return np.asarray(table(c).ravel()[c.cells])


def by_cell(table: Table, **words: Any) -> Contributions:
    """Declare contributions by the derivatives of a value by every count."""
    return Contributions(partial(cell_slopes, table), **{"unseen": "row", **words})


@dataclass(frozen=True)
class ClassRatio:
    """A value of each class: a multiple of its right predictions over a sum of its counts.

    Parameters
    ----------
    above : int
        How often the right predictions count above.
    true, predicted, right : int
        How often each counts below.

    Examples
    --------
    >>> c = Confusion.of(["a", "b", "b"], ["a", "a", "b"])
    >>> F1.values(c).round(3).tolist()
    [0.667, 0.667]
    """

    above: int
    true: int = 0
    predicted: int = 0
    right: int = 0

    def _below(self, c: Confusion) -> NDArray[Any]:
        return self.true * c.true + self.predicted * c.predicted + self.right * c.right

    def values(self, c: Confusion) -> FloatArray:
        """Return the value of every class; 0 where a class has nothing to divide by, as with F1."""
        below = self._below(c)
        return np.asarray(
            np.divide(self.above * c.right, below, out=np.zeros(len(below)), where=below > 0)
        )

    def weighted(self, c: Confusion) -> float:
        """Return the mean of the classes, each by its share in the truth."""
        return float(self.values(c) @ c.true / c.n)

    def table(self, c: Confusion, weights: FloatArray) -> FloatArray:
        """Return the derivatives of the sum of the classes' values, each times a fixed weight."""
        below, values = self._below(c), self.values(c)
        part = np.divide(weights, below, out=np.zeros(len(below)), where=below > 0)
        slopes = np.add.outer(-part * values * self.true, -part * values * self.predicted)
        slopes[np.diag_indices_from(slopes)] += part * (self.above - values * self.right)
        return np.asarray(slopes)

    def weighted_table(self, c: Confusion) -> FloatArray:
        """Return the derivatives of the weighted mean, whose weights hang on the rows as well."""
        shares = (self.values(c) - self.weighted(c)) / c.n
        return np.asarray(self.table(c, c.true / c.n) + shares[:, None])

    def macro_table(self, c: Confusion) -> FloatArray:
        """Return the derivatives of the mean of the classes."""
        return self.table(c, np.full(len(c.labels), 1 / len(c.labels)))


PRECISION = ClassRatio(1, predicted=1)
RECALL = ClassRatio(1, true=1)
F1 = ClassRatio(2, true=1, predicted=1)
JACCARD = ClassRatio(1, true=1, predicted=1, right=-1)


def balanced_table(c: Confusion) -> FloatArray:
    """Return the derivatives of the mean recall of the classes in the truth."""
    present = c.true > 0
    return RECALL.table(c, present / present.sum())


def accuracy_table(c: Confusion) -> FloatArray:
    """Return the derivatives of the share of right predictions."""
    return np.asarray((np.eye(len(c.labels)) - c.right.sum() / c.n) / c.n)


def error_table(c: Confusion) -> FloatArray:
    """Return the derivatives of the share of wrong predictions."""
    return np.negative(accuracy_table(c))


def kappa_table(c: Confusion) -> FloatArray:
    """Return the derivatives of Cohen's kappa."""
    agreed, expected = c.right.sum() / c.n, float(c.true @ c.predicted) / c.n**2
    chance = np.add.outer(c.predicted, c.true) / c.n**2 - 2 * expected / c.n
    return np.asarray(
        (accuracy_table(c) * (1 - expected) - chance * (1 - agreed)) / (1 - expected) ** 2
    )


def quadratic_kappa_table(c: Confusion) -> FloatArray:
    """Return the derivatives of the quadratic weighted kappa."""
    ranks = np.arange(len(c.labels))
    squares = np.subtract.outer(ranks, ranks) ** 2
    seen = float((squares * c.counts).sum())
    expected = float(c.true @ squares @ c.predicted) / c.n
    chance = np.add.outer(squares @ c.predicted, squares @ c.true) / c.n - expected / c.n
    return np.asarray((seen * chance - expected * squares) / expected**2)


def matthews_table(c: Confusion) -> FloatArray:
    """Return the derivatives of the Matthews correlation; 0 where one of the two is constant."""
    n, size = float(c.n), len(c.labels)
    true, predicted = c.true.astype(np.float64), c.predicted.astype(np.float64)
    of_true, of_predicted = n**2 - true @ true, n**2 - predicted @ predicted
    if of_true * of_predicted == 0:
        return np.zeros((size, size))
    above = c.right.sum() * n - true @ predicted
    slopes = n * np.eye(size) + c.right.sum() - np.add.outer(predicted, true)
    spread = np.add.outer((n - true) / of_true, (n - predicted) / of_predicted)
    return np.asarray((slopes - above * spread) / np.sqrt(of_true * of_predicted))


def specificity_table(c: Confusion) -> FloatArray:
    """Return the derivatives of the specificity; of two classes it is that of the larger."""
    negatives, size = c.n - c.true, len(c.labels)
    there = negatives > 0
    asked = np.arange(size) == 1 if size == 2 and there.all() else there
    part = np.divide(asked / asked.sum(), negatives, out=np.zeros(size), where=there)
    wrong = np.divide(c.predicted - c.right, negatives, out=np.zeros(size), where=there)
    # Every row is a negative of each class but its own.
    slopes = np.subtract.outer((part * wrong).sum() - part * wrong, part)
    slopes[np.diag_indices(size)] += part
    return np.asarray(slopes)
