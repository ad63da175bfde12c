"""Scouts for numbers: the binned trees of `scouts` with squared error, in place of costly regressors.

They only say which candidates are worth a real fit: nothing that a collection claims comes from
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numba
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from paragone.generate.scouts import BINS, add_tree, bag, bin_edges, grow_tree, to_bins
from paragone.validation import FloatArray


@numba.njit(cache=True, nogil=True)
def boost_numbers(train, target, test, n_trees, depth, rate, penalty, least, rng):  # type: ignore[no-untyped-def]  # numba
    """Return what gradient boosting with squared error gives the test rows; all features are tried."""
    n = train.shape[0]
    made, shown = np.zeros(n), np.zeros(test.shape[0])
    gradient, hessian = np.empty(n), np.ones(n)
    tree, values = np.empty((2 * n, 4), dtype=np.int64), np.empty(2 * n)
    rows = np.arange(n)
    for _ in range(n_trees):
        for i in range(n):
            gradient[i] = made[i] - target[i]
        grow_tree(
            train,
            gradient,
            hessian,
            rows,
            BINS,
            depth,
            least,
            penalty,
            train.shape[1],
            rng,
            tree,
            values,
        )
        add_tree(train, tree, values, rate, made)
        add_tree(test, tree, values, rate, shown)
    return shown


class _NumberScout(RegressorMixin, BaseEstimator):
    """A regressor whose trees are grown when it predicts, on the rows it was fitted with."""

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the binned rows and the target in units of its spread; growing waits for the rows that are asked for."""
        features, target = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        self.edges_ = bin_edges(features, BINS)
        self.bins_ = to_bins(features, self.edges_)
        self.mean_, self.spread_ = float(target.mean()), float(target.std()) or 1.0
        self.target_ = (target - self.mean_) / self.spread_
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return numbers in the unit of the target."""
        found = self._grown(to_bins(np.asarray(X, dtype=np.float64), self.edges_))
        return np.asarray(found * self.spread_ + self.mean_)

    def _grown(self, bins: NDArray[np.uint8]) -> FloatArray:
        raise NotImplementedError


class NumberBoostingScout(_NumberScout):
    """Gradient boosting with squared error on binned features.

    Parameters
    ----------
    n_trees, depth, least : int
        Trees, their height, and the fewest rows of a leaf.
    rate, penalty : float
        The learning rate and the ridge penalty on leaf values.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = 100 * X[:, 0] * X[:, 1]
    >>> bool(NumberBoostingScout().fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.8)
    True
    """

    def __init__(
        self,
        *,
        n_trees: int = 60,
        depth: int = 4,
        rate: float = 0.25,
        penalty: float = 1.0,
        least: int = 3,
    ) -> None:
        self.n_trees = n_trees
        self.depth = depth
        self.rate = rate
        self.penalty = penalty
        self.least = least

    def _grown(self, bins: NDArray[np.uint8]) -> FloatArray:
        options = (
            self.n_trees,
            self.depth,
            self.rate,
            self.penalty,
            self.least,
            np.random.default_rng(0),
        )
        found: FloatArray = boost_numbers(self.bins_, self.target_, bins, *options)
        return found


class NumberForestScout(_NumberScout):
    """A random forest for numbers on binned features.

    Parameters
    ----------
    n_trees, depth, least : int
        Trees, their height, and the fewest rows of a leaf.
    every_feature : bool, default=True
        Whether a split looks at all features, as regression forests do; else at the square root of
        their number.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = 100 * X[:, 0] ** 2
    >>> bool(NumberForestScout().fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.8)
    True
    """

    def __init__(
        self, *, n_trees: int = 25, depth: int = 10, least: int = 3, every_feature: bool = True
    ) -> None:
        self.n_trees = n_trees
        self.depth = depth
        self.least = least
        self.every_feature = every_feature

    def _grown(self, bins: NDArray[np.uint8]) -> FloatArray:
        n_features = self.bins_.shape[1]
        n_tried = n_features if self.every_feature else max(1, int(np.sqrt(n_features)))
        # The leaf of a forest of shares is the mean of what it is given: labels there, numbers
        # here.
        options = (self.n_trees, self.depth, self.least, n_tried, np.random.default_rng(0))
        found: FloatArray = bag(self.bins_, self.target_, bins, *options)
        return found


NUMBER_SCOUTS: Mapping[str, tuple[str, tuple[Mapping[str, Any], ...]]] = {
    "boosting": (
        "paragone.generate.number_scouts:NumberBoostingScout",
        ({"n_trees": 60, "depth": 4}, {"n_trees": 40, "depth": 7, "penalty": 5.0}),
    ),
    "forest": (
        "paragone.generate.number_scouts:NumberForestScout",
        ({"n_trees": 25}, {"n_trees": 25, "every_feature": False}),
    ),
}
"""The scouts of methods that name one, as in `paragone.generate.methods.SCOUTS`, for numbers."""
