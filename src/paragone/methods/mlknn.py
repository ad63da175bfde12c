"""ML-kNN: multi-label learning by the nearest neighbours' label counts (Zhang and Zhou 2007)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from paragone.errors import InputError
from paragone.methods.method import methods
from paragone.methods.neighbors import count_histograms, neighbor_label_counts
from paragone.validation import FloatArray, IntArray, LabelArray, check_features, check_indicator

EPSILON = float(np.finfo(np.float64).eps)
LARGEST_COUNT = 255


class MLkNN(ClassifierMixin, BaseEstimator):
    """Multi-label k-nearest-neighbour classifier with a Bayesian decision per label.

    Squared Euclidean distance; rows that are equally far up to rounding are tied, and ties go to
    the lower training index, so that neither the order nor the unit of the features matters; a
    training row is never its own neighbour.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbours; the training data must have more rows.
    smooth : float, default=1.0
        Laplace smoothing of priors and conditionals.

    References
    ----------
    .. code-block:: bibtex

        @article{zhang2007,
          author  = {Zhang, Min-Ling and Zhou, Zhi-Hua},
          title   = {{ML-KNN}: A Lazy Learning Approach to Multi-label Learning},
          journal = {Pattern Recognition},
          volume  = {40},
          number  = {7},
          pages   = {2038--2048},
          year    = {2007}
        }

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0], [1.0]], 4, axis=0)
    >>> Y = np.repeat([[1, 0], [0, 1]], 4, axis=0)
    >>> MLkNN(n_neighbors=3).fit(X, Y).predict([[0.1], [0.9]])
    array([[1, 0],
           [0, 1]], dtype=uint8)
    """

    def __init__(self, n_neighbors: int = 10, smooth: float = 1.0) -> None:
        self.n_neighbors = n_neighbors
        self.smooth = smooth

    def fit(self, X: Any, Y: Any) -> Self:
        """Learn the priors and the conditionals of the neighbour counts."""
        features = check_features(X)
        labels = check_indicator(Y, n_samples=len(features))
        grid = np.array([features.shape[1]])
        check_neighbors(self.n_neighbors, len(features))
        base = np.ascontiguousarray(features.T)
        counts = neighbor_label_counts(features, base, labels, grid, self.n_neighbors, True)
        self.n_features_in_ = features.shape[1]
        self.classes_ = np.arange(labels.shape[1])
        self.posteriors_ = posterior_tables(counts, labels, self.n_neighbors, self.smooth)[0]
        self._base, self._labels = base, labels
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of every label for every row, shape (n_samples, n_labels)."""
        features = check_features(X)
        if features.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {features.shape[1]} features, MLkNN was fitted on {self.n_features_in_}"
            )
        grid = np.array([self.n_features_in_])
        counts = neighbor_label_counts(
            features, self._base, self._labels, grid, self.n_neighbors, False
        )
        return look_up(self.posteriors_, counts[0])

    def predict(self, X: Any) -> LabelArray:
        """Return the labels of every row as 0/1: those with a probability of at least one half."""
        return (self.predict_proba(X) >= 0.5).astype(np.uint8)


def check_neighbors(n_neighbors: int, n_train: int) -> None:
    """Refuse a number of neighbours that the training rows cannot give."""
    if not 1 <= n_neighbors <= LARGEST_COUNT:
        raise InputError(f"ML-kNN: n_neighbors must lie in 1..{LARGEST_COUNT}, it is {n_neighbors}")
    if n_train <= n_neighbors:
        raise InputError(
            f"ML-kNN with {n_neighbors} neighbours needs more than {n_neighbors} training rows, "
            f"there are {n_train}: lower n_neighbors or use larger folds"
        )


def posterior_tables(
    counts: NDArray[np.uint8], labels: LabelArray, n_neighbors: int, smooth: float
) -> FloatArray:
    """Turn the neighbour counts of training rows into P(label | count), one table per grid point.

    Parameters
    ----------
    counts : ndarray of uint8 of shape (n_points, n_train, n_labels)
        Neighbour counts of the training rows.
    labels : ndarray of uint8 of shape (n_train, n_labels)
        Their labels.
    n_neighbors : int
        Number of neighbours.
    smooth : float
        Laplace smoothing.

    Returns
    -------
    ndarray of shape (n_points, n_labels, n_neighbors + 1)
        The probability of a label given that this many neighbours have it.
    """
    prior = (smooth + labels.sum(axis=0)) / (2.0 * smooth + len(labels))
    positive, negative = count_histograms(counts, labels, n_neighbors)
    with_label = prior[:, None] * _conditional(positive, n_neighbors, smooth)
    without_label = (1.0 - prior)[:, None] * _conditional(negative, n_neighbors, smooth)
    total = with_label + without_label
    fallback = np.broadcast_to(prior[:, None], total.shape).copy()
    return np.asarray(
        np.divide(with_label, total, out=fallback, where=total != 0), dtype=np.float64
    )


def _conditional(histogram: IntArray, n_neighbors: int, smooth: float) -> FloatArray:
    total = histogram.sum(axis=-1, keepdims=True)
    return np.asarray(
        (smooth + histogram) / (smooth * (n_neighbors + 1) + total + EPSILON), dtype=np.float64
    )


def look_up(table: FloatArray, counts: NDArray[np.uint8]) -> FloatArray:
    """Read the probability of every label from its table, shape (n_samples, n_labels)."""
    return table[np.arange(table.shape[0]), counts]


methods.add(MLkNN, "mlknn")
