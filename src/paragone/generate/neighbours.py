"""Nearest neighbours for many label columns at once: the features are fixed, only the labels change.

The distances, the order of the neighbours and their weights depend on the features alone. They are worked out once
and kept as a sparse matrix with a row of weights a query; a product with the labels then gives the class
probabilities of all label columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from paragone.errors import InputError
from paragone.validation import FloatArray, IntArray

Weights: TypeAlias = Literal["uniform", "distance"]


class NeighbourVotes:
    """K nearest neighbours with the neighbours looked up in advance.

    Parameters
    ----------
    neighbours : ndarray of shape (n_queries, max_neighbours)
        Training rows, nearest first; equal distances by row number.
    distances : ndarray of the same shape
        Their distances.
    n_train : int
        The number of training rows.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> votes = NeighbourVotes.between(np.array([[0.4]]), X, max_neighbours=2)
    >>> votes.probabilities(np.array([[1, 0], [0, 0], [0, 1]]), n_neighbors=2)
    array([[0.5, 0. ]])
    """

    def __init__(self, neighbours: IntArray, distances: FloatArray, n_train: int) -> None:
        self._neighbours, self._distances, self._n_train = neighbours, distances, n_train

    @classmethod
    def between(cls, queries: FloatArray, train: FloatArray, max_neighbours: int, *, p: float = 2) -> Self:
        """Look up the neighbours of queries among training rows, by the Minkowski distance of order p."""
        return cls._nearest(_distances(queries, train, p), max_neighbours)

    @classmethod
    def across_folds(cls, X: FloatArray, test_folds: Sequence[IntArray], max_neighbours: int, *, p: float = 2) -> Self:
        """Look up the neighbours of every row among the rows of the other folds.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            All rows.
        test_folds : sequence of ndarray of int
            The rows of each fold; every row is in one.
        max_neighbours : int
            How many neighbours are kept.
        p : float, default=2
            The order of the distance.
        """
        fold_of = np.full(len(X), -1)
        for fold, rows in enumerate(test_folds):
            fold_of[rows] = fold
        if (fold_of < 0).any():
            raise InputError("every row must be in a fold")
        distances = _distances(X, X, p)
        distances[fold_of[:, None] == fold_of] = np.inf
        smallest_train = len(X) - int(np.bincount(fold_of).max())
        if max_neighbours > smallest_train:
            raise InputError(f"{max_neighbours} neighbours asked for, but a fold leaves only {smallest_train} rows")
        return cls._nearest(distances, max_neighbours)

    @classmethod
    def _nearest(cls, distances: FloatArray, max_neighbours: int) -> Self:
        n_train = distances.shape[1]
        if not 1 <= max_neighbours <= n_train:
            raise InputError(f"{max_neighbours} neighbours asked for, but there are {n_train} training rows")
        order = np.argsort(distances, axis=1, kind="stable")[:, :max_neighbours]
        return cls(order, np.take_along_axis(distances, order, axis=1), n_train)

    def probabilities(self, labels: NDArray[Any], n_neighbors: int, weights: Weights = "uniform") -> FloatArray:
        """Return the probability of class 1 for every query and label column.

        Parameters
        ----------
        labels : ndarray of shape (n_train, n_columns)
            0 and 1.
        n_neighbors : int
            At most the number of neighbours looked up.
        weights : {"uniform", "distance"}, default="uniform"
            Whether a neighbour counts once or by its inverse distance. Where neighbours coincide with the query, they
            alone count.

        Returns
        -------
        ndarray of shape (n_queries, n_columns)
            The probabilities.
        """
        if not 1 <= n_neighbors <= self._neighbours.shape[1]:
            raise InputError(f"n_neighbors must be 1 to {self._neighbours.shape[1]}, it is {n_neighbors}")
        votes = self._votes(n_neighbors, weights)
        starts = np.arange(len(votes) + 1) * n_neighbors
        columns = self._neighbours[:, :n_neighbors].ravel()
        matrix = sparse.csr_array((votes.ravel(), columns, starts), shape=(len(votes), self._n_train))
        # Both sums run over the neighbours in one order: where all of them are of class 1 the quotient is exactly 1.
        # Shares summed up would miss it by a last bit now and then, and AUROC would see an order among equals.
        totals = matrix @ np.ones((self._n_train, 1))
        return np.asarray(matrix @ np.ascontiguousarray(labels, dtype=np.float64) / totals)

    def _votes(self, n_neighbors: int, weights: Weights) -> FloatArray:
        distances = self._distances[:, :n_neighbors]
        if weights == "uniform":
            return np.ones(distances.shape)
        if weights != "distance":
            raise InputError(f"weights are 'uniform' or 'distance', not {weights!r}")
        with np.errstate(divide="ignore"):
            inverse = 1.0 / distances
        coincide = np.isinf(inverse)
        inverse[coincide.any(axis=1)] = coincide[coincide.any(axis=1)]
        return inverse


def _distances(queries: FloatArray, train: FloatArray, p: float) -> FloatArray:
    if p == 2:
        return np.asarray(cdist(queries, train, "euclidean"))
    return np.asarray(cdist(queries, train, "minkowski", p=p))
