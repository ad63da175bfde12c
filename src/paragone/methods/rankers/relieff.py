"""ReliefF: features that differ between near rows of different labels and agree between equal ones."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from paragone.errors import InputError
from paragone.methods.method import methods
from paragone.methods.rankers.floors import LabelwiseRanker, Pool
from paragone.validation import FloatArray


class ReliefF(LabelwiseRanker):
    """Rank features by ReliefF, one label at a time (binary relevance).

    For every row and label the ``n_neighbors`` nearest rows with the same value of the label (hits)
    and with the other (misses) are found, by city-block distance of the features scaled by their
    range, ties to the lower index. A feature gains its mean difference to the misses and loses that
    to the hits. Where a class has fewer rows, those it has are taken; a row that is the only one of
    its class has no hits and loses nothing.

    Parameters
    ----------
    over : {"mean", "max"}, default="mean"
        How the labels' weights become one score.
    n_neighbors : int, default=10
        Hits and misses taken a row.

    References
    ----------
    .. code-block:: bibtex

        @inproceedings{kononenko1994,
          author    = {Kononenko, Igor},
          title     = {Estimating Attributes: Analysis and Extensions of {RELIEF}},
          booktitle = {Machine Learning: ECML-94},
          pages     = {171--182},
          year      = {1994}
        }

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.1, 0.0], [1.0, 1.0], [0.9, 0.0]])
    >>> ReliefF(n_neighbors=1).fit(X, [0, 0, 1, 1]).ranking_
    array([0, 1])
    """

    def __init__(self, over: Pool = "mean", n_neighbors: int = 10) -> None:
        self.over = over
        self.n_neighbors = n_neighbors

    def _by_label(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        if self.n_neighbors < 1:
            raise InputError(f"n_neighbors of ReliefF must be at least 1, it is {self.n_neighbors}")
        scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
        order = np.argsort(squareform(pdist(scaled, "cityblock")), axis=1, kind="stable")
        weights: FloatArray = _kernel()(scaled, Y.T.astype(np.uint8), order, self.n_neighbors)
        return weights


@cache
def _kernel() -> Any:
    """Compile the loop over rows and labels when it is first needed, so that importing stays quick."""
    from numba import njit

    return njit(cache=True)(relief_weights)


def relief_weights(X: FloatArray, labels: Any, order: Any, n_neighbors: int) -> FloatArray:
    """Return the ReliefF weights (labels x features) from the rows in order of distance to each row.

    ``labels`` has one row per label. This plain function is what Numba compiles.
    """
    n, d = X.shape
    weights = np.zeros((labels.shape[0], d))
    chosen = np.empty((2, n_neighbors), dtype=np.int64)
    for label in range(labels.shape[0]):
        target = labels[label]
        for row in range(n):
            hits, misses = 0, 0
            for near in order[row]:
                if near == row:
                    continue
                if target[near] == target[row]:
                    if hits < n_neighbors:
                        chosen[0, hits] = near
                        hits += 1
                elif misses < n_neighbors:
                    chosen[1, misses] = near
                    misses += 1
                if hits == n_neighbors and misses == n_neighbors:
                    break
            for hit in chosen[0, :hits]:
                for column in range(d):
                    weights[label, column] -= abs(X[row, column] - X[hit, column]) / (n * hits)
            for miss in chosen[1, :misses]:
                for column in range(d):
                    weights[label, column] += abs(X[row, column] - X[miss, column]) / (n * misses)
    return weights


methods.add(ReliefF, "relieff")
