"""Scouts: cheap classifiers and regressors that replace costly ones when candidates are first looked at.

Forests and boosting of the libraries take a tenth to half a second per fit. On features cut into a
few bins, a tree needs one pass over its rows per level, and a whole ensemble is grown in a few
hundredths of a second. Scouts only say which candidates are worth a real fit: nothing that a
collection claims comes from them.
"""

from __future__ import annotations

from typing import Any, Self

import numba
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

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
def best_cut(bins, gradient, hessian, rows, features, least, penalty):  # type: ignore[no-untyped-def]  # numba
    """Return feature, bin and gain of the split that lowers the loss most; feature -1 where none does."""
    total_g, total_h = 0.0, 0.0
    for row in rows:
        total_g += gradient[row]
        total_h += hessian[row]
    best_gain, best_feature, best_bin = 1e-12, -1, 0
    sums = np.empty((BINS, 3))
    for feature in features:
        sums[:] = 0.0
        for row in rows:
            b = bins[row, feature]
            sums[b, 0] += gradient[row]
            sums[b, 1] += hessian[row]
            sums[b, 2] += 1.0
        g, h, n = 0.0, 0.0, 0.0
        for b in range(BINS - 1):
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
def grow_tree(bins, gradient, hessian, rows, limits, rng, tree, values):  # type: ignore[no-untyped-def]  # numba
    """Grow one tree on the rows given, into ``tree`` (feature, bin, left, right) and ``values``; return its nodes.

    A leaf has the feature -1 and the value that minimises the second-order loss, -sum(g) / (sum(h)
    + penalty).
    """
    max_depth, least, penalty, n_tried = limits
    n_features = bins.shape[1]
    order = rows.copy()
    spare = np.empty_like(order)
    stack = np.empty((2 * max_depth + 4, 4), dtype=np.int64)
    stack[0] = 0, len(order), 0, 0
    height, n_nodes = 1, 1
    every = np.arange(n_features)
    while height > 0:
        height -= 1
        low, high, depth, node = stack[height]
        inside = order[low:high]
        feature, cut = -1, 0
        if depth < max_depth and high - low >= 2 * least:
            tried = every
            if n_tried < n_features:
                for i in range(n_tried):
                    j = i + rng.integers(0, n_features - i)
                    every[i], every[j] = every[j], every[i]
                tried = every[:n_tried]
            feature, cut, _ = best_cut(bins, gradient, hessian, inside, tried, least, penalty)
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
        stack[height] = low, low + left, depth + 1, n_nodes
        stack[height + 1] = low + left, high, depth + 1, n_nodes + 1
        height += 2
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
def boost(train, target, test, squared, n_trees, rate, limits, rng):  # type: ignore[no-untyped-def]  # numba
    """Return what gradient boosting gives the test rows: log odds, or numbers where the loss is squared error."""
    n = train.shape[0]
    made, shown = np.zeros(n), np.zeros(test.shape[0])
    gradient, hessian = np.empty(n), np.ones(n)
    tree, values = np.empty((2 * n, 4), dtype=np.int64), np.empty(2 * n)
    rows = np.arange(n)
    for _ in range(n_trees):
        for i in range(n):
            if squared:
                gradient[i] = made[i] - target[i]
            else:
                p = 1.0 / (1.0 + np.exp(-made[i]))
                gradient[i] = p - target[i]
                hessian[i] = max(p * (1.0 - p), 1e-16)
        grow_tree(train, gradient, hessian, rows, limits, rng, tree, values)
        add_tree(train, tree, values, rate, made)
        add_tree(test, tree, values, rate, shown)
    return shown


@numba.njit(cache=True, nogil=True)
def bag(train, target, test, n_trees, limits, rng):  # type: ignore[no-untyped-def]  # numba
    """Return the mean of the target in the leaves of a random forest, for the test rows."""
    n = train.shape[0]
    shown = np.zeros(test.shape[0])
    gradient, hessian = -target, np.ones(n)
    tree, values = np.empty((2 * n, 4), dtype=np.int64), np.empty(2 * n)
    for _ in range(n_trees):
        rows = rng.integers(0, n, n)
        grow_tree(train, gradient, hessian, rows, limits, rng, tree, values)
        add_tree(test, tree, values, 1.0 / n_trees, shown)
    return shown


class _Scout(BaseEstimator):
    """Trees that are grown when they predict, on the rows they were fitted with; labels are 0 and 1."""

    numbers: bool

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the binned rows, and numbers in units of their spread; growing waits for the rows that are asked for."""
        features, target = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        self.classes_ = np.array([0, 1])
        self.mean_, self.spread_ = 0.0, 1.0
        if self.numbers:
            self.mean_, self.spread_ = float(target.mean()), float(target.std()) or 1.0
        self.edges_ = bin_edges(features, BINS)
        self.bins_ = to_bins(features, self.edges_)
        self.target_ = (target - self.mean_) / self.spread_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class on whose side a row lies, or numbers in the unit of the target."""
        found = self.decision_function(X)
        return found * self.spread_ + self.mean_ if self.numbers else (found > 0).astype(np.int64)

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
    numbers : bool, default=False
        Whether the target is a number.

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
        numbers: bool = False,
    ) -> None:
        self.n_trees = n_trees
        self.depth = depth
        self.rate = rate
        self.penalty = penalty
        self.least = least
        self.numbers = numbers

    def _grown(self, bins: NDArray[np.uint8]) -> FloatArray:
        limits = (self.depth, self.least, self.penalty, bins.shape[1])
        rng = np.random.default_rng(0)
        data = self.bins_, self.target_, bins
        found: FloatArray = boost(*data, self.numbers, self.n_trees, self.rate, limits, rng)
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
    numbers : bool, default=False
        Whether the target is a number.
    """

    def __init__(
        self,
        *,
        n_trees: int = 50,
        depth: int = 10,
        least: int = 3,
        every_feature: bool = False,
        random_state: int = 0,
        numbers: bool = False,
    ) -> None:
        self.n_trees = n_trees
        self.depth = depth
        self.least = least
        self.every_feature = every_feature
        self.random_state = random_state
        self.numbers = numbers

    def _grown(self, bins: NDArray[np.uint8]) -> FloatArray:
        n_features = bins.shape[1]
        n_tried = n_features if self.every_feature else max(1, int(np.sqrt(n_features)))
        limits = (self.depth, self.least, 0.0, n_tried)
        rng = np.random.default_rng(self.random_state)
        found: FloatArray = bag(self.bins_, self.target_, bins, self.n_trees, limits, rng)
        # The leaf of a forest is the mean of what it is given: shares of class 1, or numbers.
        return found if self.numbers else found - 0.5
