"""Scouts: cheap classifiers that stand in for costly ones when candidates are looked over for the first time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from paragone.generate.histogram_trees import BINS, bag, bin_edges, boost, to_bins
from paragone.validation import FloatArray


class _Scout(ClassifierMixin, BaseEstimator):
    """A classifier that is grown when it is asked, on the rows it was fitted with; labels are 0 and 1."""

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the binned rows; the growing waits for the rows that are asked for."""
        features = np.asarray(X, dtype=np.float64)
        self.classes_ = np.array([0, 1])
        self.edges_ = bin_edges(features, BINS)
        self.bins_ = to_bins(features, self.edges_)
        self.labels_ = np.asarray(y, dtype=np.float64)
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the class on whose side a row lies."""
        return (self.decision_function(X) > 0).astype(np.int64)

    def decision_function(self, X: Any) -> FloatArray:
        """Return values above 0 for class 1."""
        return self._grown(to_bins(np.asarray(X, dtype=np.float64), self.edges_))

    def _grown(self, bins: NDArray[np.uint8]) -> FloatArray:
        raise NotImplementedError


class BoostingScout(_Scout):
    """Gradient boosting on binned features; stands in for XGBoost, LightGBM and scikit-learn's boosting.

    Parameters
    ----------
    n_trees, depth, least : int
        Trees, their height, and the fewest rows of a leaf.
    rate, penalty : float
        The learning rate and the ridge penalty on leaf values.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> bool((BoostingScout().fit(X, y).predict(X) == y).mean() > 0.95)
    True
    """

    def __init__(
        self, *, n_trees: int = 80, depth: int = 4, rate: float = 0.2, penalty: float = 1.0, least: int = 1
    ) -> None:
        self.n_trees = n_trees
        self.depth = depth
        self.rate = rate
        self.penalty = penalty
        self.least = least

    def _grown(self, bins: NDArray[np.uint8]) -> FloatArray:
        options = (self.n_trees, self.depth, self.rate, self.penalty, self.least, np.random.default_rng(0))
        found: FloatArray = boost(self.bins_, self.labels_, bins, *options)
        return found


class ForestScout(_Scout):
    """A random forest on binned features; stands in for scikit-learn's.

    Parameters
    ----------
    n_trees, depth, least : int
        Trees, their height, and the fewest rows of a leaf.
    every_feature : bool, default=False
        Whether a split looks at all features; else at the square root of their number.
    random_state : int, default=0
        Of the bootstrap and the features tried.
    """

    def __init__(
        self, *, n_trees: int = 50, depth: int = 10, least: int = 3, every_feature: bool = False, random_state: int = 0
    ) -> None:
        self.n_trees = n_trees
        self.depth = depth
        self.least = least
        self.every_feature = every_feature
        self.random_state = random_state

    def _grown(self, bins: NDArray[np.uint8]) -> FloatArray:
        n_features = self.bins_.shape[1]
        n_tried = n_features if self.every_feature else max(1, int(np.sqrt(n_features)))
        options = (self.n_trees, self.depth, self.least, n_tried, np.random.default_rng(self.random_state))
        found: FloatArray = bag(self.bins_, self.labels_, bins, *options)
        return found - 0.5
