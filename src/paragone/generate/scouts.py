"""Scouts: cheap classifiers that replace costly ones when candidates are first looked at.

Forests and boosting of the libraries take a tenth to half a second per fit. On features cut into a
few bins, a tree needs one pass over its rows per level, and a whole ensemble is grown in a few
hundredths of a second. Scouts only say which candidates are worth a real fit: nothing that a
collection claims comes from them.


Scouts for numbers: the binned trees of `scouts` with squared error, in place of costly regressors.

They only say which candidates are worth a real fit: nothing that a collection claims comes from
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numba
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from paragone.validation import FloatArray

BINS = 64


def bin_edges(X: FloatArray, n_bins: int = BINS) -> FloatArray:
    """Return the inner quantiles of every column, one row per column.

    Examples
    --------
    >>> bin_edges(np.arange(8.0)[:, None], 4)
    array([[1.75, 3.5 , 5.25]])
    """
    return np.ascontiguousarray(np.quantile(X, np.arange(1, n_bins) / n_bins, axis=0).T)


def to_bins(X: FloatArray, edges: FloatArray) -> NDArray[np.uint8]:
    """Return the number of the bin of every entry; an entry on an edge belongs to the bin above.

    Examples
    --------
    >>> to_bins(np.array([[0.0], [3.5], [9.0]]), np.array([[1.75, 3.5, 5.25]]))[:, 0]
    array([0, 2, 3], dtype=uint8)
    """
    columns = [np.searchsorted(edge, X[:, j], side="right") for j, edge in enumerate(edges)]
    return np.ascontiguousarray(np.column_stack(columns).astype(np.uint8))


@numba.njit(cache=True, nogil=True)
def best_cut(bins, gradient, hessian, rows, features, n_bins, least, penalty):  # type: ignore[no-untyped-def]  # numba
    """Return feature, bin and gain of the split that lowers the loss most; feature -1 where none does."""
    total_g, total_h = 0.0, 0.0
    for row in rows:
        total_g += gradient[row]
        total_h += hessian[row]
    best_gain, best_feature, best_bin = 1e-12, -1, 0
    sums = np.empty((n_bins, 3))
    for feature in features:
        sums[:] = 0.0
        for row in rows:
            b = bins[row, feature]
            sums[b, 0] += gradient[row]
            sums[b, 1] += hessian[row]
            sums[b, 2] += 1.0
        g, h, n = 0.0, 0.0, 0.0
        for b in range(n_bins - 1):
            g += sums[b, 0]
            h += sums[b, 1]
            n += sums[b, 2]
            if sums[b, 2] == 0.0 or n < least or len(rows) - n < least:
                continue
            other_g, other_h = total_g - g, total_h - h
            gain = g * g / (h + penalty) + other_g * other_g / (other_h + penalty)
            gain -= total_g * total_g / (total_h + penalty)
            if gain > best_gain:
                best_gain, best_feature, best_bin = gain, feature, b
    return best_feature, best_bin, best_gain


@numba.njit(cache=True, nogil=True)
def grow_tree(  # type: ignore[no-untyped-def]  # numba
    bins, gradient, hessian, rows, n_bins, max_depth, least, penalty, n_tried, rng, tree, values
):
    """Grow one tree on the rows given, into ``tree`` (feature, bin, left, right) and ``values``; return its nodes.

    A leaf has the feature -1 and the value that minimises the second-order loss, -sum(g) / (sum(h)
    + penalty).
    """
    n_features = bins.shape[1]
    order = rows.copy()
    spare = np.empty_like(order)
    stack = np.empty((2 * max_depth + 4, 4), dtype=np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, len(order), 0, 0
    height, n_nodes = 1, 1
    every = np.arange(n_features)
    while height > 0:
        height -= 1
        low, high, depth, node = (
            stack[height, 0],
            stack[height, 1],
            stack[height, 2],
            stack[height, 3],
        )
        inside = order[low:high]
        feature, cut = -1, 0
        if depth < max_depth and high - low >= 2 * least:
            tried = every
            if n_tried < n_features:
                for i in range(n_tried):
                    j = i + rng.integers(0, n_features - i)
                    every[i], every[j] = every[j], every[i]
                tried = every[:n_tried]
            feature, cut, _ = best_cut(
                bins, gradient, hessian, inside, tried, n_bins, least, penalty
            )
        tree[node, 0] = feature
        tree[node, 1] = cut
        if feature < 0:
            g, h = 0.0, 0.0
            for row in inside:
                g += gradient[row]
                h += hessian[row]
            values[node] = -g / (h + penalty) if h + penalty > 0 else 0.0
            continue
        left, right = 0, 0
        for row in inside:
            if bins[row, feature] <= cut:
                order[low + left] = row
                left += 1
            else:
                spare[right] = row
                right += 1
        order[low + left : high] = spare[:right]
        tree[node, 2], tree[node, 3] = n_nodes, n_nodes + 1
        stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = (
            low,
            low + left,
            depth + 1,
            n_nodes,
        )
        height += 1
        stack[height, 0], stack[height, 1], stack[height, 2] = low + left, high, depth + 1
        stack[height, 3] = n_nodes + 1
        height += 1
        n_nodes += 2
    return n_nodes


@numba.njit(cache=True, nogil=True)
def add_tree(bins, tree, values, rate, into):  # type: ignore[no-untyped-def]  # numba
    """Add the tree's value of every row, times a rate."""
    for row in range(bins.shape[0]):
        node = 0
        while tree[node, 0] >= 0:
            node = tree[node, 2] if bins[row, tree[node, 0]] <= tree[node, 1] else tree[node, 3]
        into[row] += rate * values[node]


@numba.njit(cache=True, nogil=True)
def boost(train, labels, test, n_trees, depth, rate, penalty, least, rng):  # type: ignore[no-untyped-def]  # numba
    """Return the log odds that gradient boosting with the logistic loss gives the test rows; all features are tried."""
    n = train.shape[0]
    margin, shown = np.zeros(n), np.zeros(test.shape[0])
    gradient, hessian = np.empty(n), np.empty(n)
    tree, values = np.empty((2 * n, 4), dtype=np.int64), np.empty(2 * n)
    rows = np.arange(n)
    for _ in range(n_trees):
        for i in range(n):
            p = 1.0 / (1.0 + np.exp(-margin[i]))
            gradient[i] = p - labels[i]
            hessian[i] = max(p * (1.0 - p), 1e-16)
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
        add_tree(train, tree, values, rate, margin)
        add_tree(test, tree, values, rate, shown)
    return shown


@numba.njit(cache=True, nogil=True)
def bag(train, labels, test, n_trees, depth, least, n_tried, rng):  # type: ignore[no-untyped-def]  # numba
    """Return the mean share of class 1 in the leaves of a random forest, for the test rows."""
    n = train.shape[0]
    shown = np.zeros(test.shape[0])
    gradient, hessian = -labels.astype(np.float64), np.ones(n)
    tree, values = np.empty((2 * n, 4), dtype=np.int64), np.empty(2 * n)
    for _ in range(n_trees):
        rows = rng.integers(0, n, n)
        grow_tree(
            train, gradient, hessian, rows, BINS, depth, least, 0.0, n_tried, rng, tree, values
        )
        add_tree(test, tree, values, 1.0 / n_trees, shown)
    return shown


class _Scout(ClassifierMixin, BaseEstimator):
    """A classifier whose trees are grown when it predicts, on the rows it was fitted with; labels are 0 and 1."""

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
    """Gradient boosting on binned features, in place of XGBoost, LightGBM and scikit-learn's boosting.

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
        self,
        *,
        n_trees: int = 80,
        depth: int = 4,
        rate: float = 0.2,
        penalty: float = 1.0,
        least: int = 1,
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
        found: FloatArray = boost(self.bins_, self.labels_, bins, *options)
        return found


class ForestScout(_Scout):
    """A random forest on binned features, in place of scikit-learn's.

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
        self,
        *,
        n_trees: int = 50,
        depth: int = 10,
        least: int = 3,
        every_feature: bool = False,
        random_state: int = 0,
    ) -> None:
        self.n_trees = n_trees
        self.depth = depth
        self.least = least
        self.every_feature = every_feature
        self.random_state = random_state

    def _grown(self, bins: NDArray[np.uint8]) -> FloatArray:
        n_features = self.bins_.shape[1]
        n_tried = n_features if self.every_feature else max(1, int(np.sqrt(n_features)))
        options = (
            self.n_trees,
            self.depth,
            self.least,
            n_tried,
            np.random.default_rng(self.random_state),
        )
        found: FloatArray = bag(self.bins_, self.labels_, bins, *options)
        return found - 0.5


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
        "paragone.generate.scouts:NumberBoostingScout",
        ({"n_trees": 60, "depth": 4}, {"n_trees": 40, "depth": 7, "penalty": 5.0}),
    ),
    "forest": (
        "paragone.generate.scouts:NumberForestScout",
        ({"n_trees": 25}, {"n_trees": 25, "every_feature": False}),
    ),
}
"""The scouts of methods that name one, as in `paragone.generate.methods.SCOUTS`, for numbers."""
