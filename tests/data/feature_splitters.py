"""Splitters that look at the features and the target, as people write them: by cluster, Kennard-Stone and SPXY."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


class KMeansFolds:
    """Every cluster of the features is a fold."""

    def __init__(self, n_splits=3, random_state=None):
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, X, y=None, groups=None):
        clusters = KMeans(self.n_splits, n_init=4, random_state=self.random_state).fit_predict(X)
        for cluster in range(self.n_splits):
            yield np.flatnonzero(clusters != cluster), np.flatnonzero(clusters == cluster)


def kennard_stone(distances, n_train):
    """Take the two rows furthest apart, then always the row furthest from those that were taken."""
    taken = [int(row) for row in np.unravel_index(distances.argmax(), distances.shape)]
    while len(taken) < n_train:
        nearest = distances[taken].min(axis=0)
        nearest[taken] = -1.0
        taken.append(int(nearest.argmax()))
    return taken


class KennardStone:
    """Train rows spread evenly over the features; written without groups, as most are."""

    def __init__(self, n_train=0.7):
        self.n_train = n_train

    def split(self, X, y=None):
        train = kennard_stone(cdist(dense(X), dense(X)), round(self.n_train * X.shape[0]))
        return [(train, np.setdiff1d(np.arange(X.shape[0]), train))]


class SPXY:
    """Kennard-Stone on the distances of features and of target, each over its largest (Galvao et al. 2005)."""

    def __init__(self, n_train=0.7):
        self.n_train = n_train

    def split(self, X, y, *, groups=None):
        by_X, by_y = (
            cdist(a, a) for a in (dense(X), np.asarray(y, dtype=float).reshape(len(y), -1))
        )
        distances = sum(d / d.max() for d in (by_X, by_y) if d.max() > 0)
        train = kennard_stone(distances, round(self.n_train * X.shape[0]))
        return [(train, np.setdiff1d(np.arange(X.shape[0]), train))]


class Witness:
    """Keeps what it was given."""

    saw: ClassVar[list] = []

    def split(self, X, y=None, groups=None):
        type(self).saw.append((X.copy(), np.array(y), None if groups is None else np.array(groups)))
        half = X.shape[0] // 2
        return [(np.arange(half), np.arange(half, X.shape[0]))]


class Vandal(Witness):
    """Writes into all that it is given."""

    def split(self, X, y=None, groups=None):
        (X.data if sparse.issparse(X) else X)[:] = 7.0
        y[:] = 0
        if groups is not None:
            groups[:] = groups[0]
        return super().split(X, y, groups)


class Failing:
    """Fails as code fails."""

    def split(self, X, y=None, groups=None):
        return [][X.shape[0]]
