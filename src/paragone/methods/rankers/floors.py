"""The floors that every ranker must beat: univariate scores pooled over the labels, variance and a random order."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.methods.method import methods
from paragone.methods.rankers.base import Ranker, Scored, constant_columns
from paragone.validation import FloatArray, IntArray

POOLS = ("mean", "max")
Pool = Literal["mean", "max"]


class LabelwiseRanker(Ranker):
    """Scores every feature against every label and takes the mean or the maximum.

    A label with one class only says nothing about any feature and scores 0, and so does a constant
    feature; the diagnostics count both.
    """

    deterministic: ClassVar[bool] = True
    over: Pool

    def _score(self, X: FloatArray, Y: FloatArray) -> Scored:
        if self.over not in POOLS:
            raise unknown_name("pooling over labels", str(self.over), POOLS)
        positives = Y.sum(axis=0)
        told = (positives > 0) & (positives < Y.shape[0])
        constant = constant_columns(X)
        by_label = np.zeros((Y.shape[1], X.shape[1]))
        if told.any() and not constant.all():
            by_label[np.ix_(told, ~constant)] = self._by_label(
                np.ascontiguousarray(X[:, ~constant]), np.ascontiguousarray(Y[:, told])
            )
        scores = by_label.mean(axis=0) if self.over == "mean" else by_label.max(axis=0)
        diagnostics = {"constants": int(constant.sum()), "labels_of_one_class": int((~told).sum())}
        return Scored(scores, diagnostics)

    @abstractmethod
    def _by_label(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Return scores (labels x features); no column of X is constant, every label has both classes."""


def equal_frequency_bins(X: FloatArray, n_bins: int) -> IntArray:
    """Put every column into at most ``n_bins`` bins of about equal size.

    The cuts of a column are its sorted values number ``round(k n / n_bins)`` for k = 1 .. n_bins
    (counted from one, halves rounded up), each once; the bin of a value is the number of cuts
    strictly below it. A column whose values are mostly zero so becomes presence and absence.

    Examples
    --------
    >>> import numpy as np
    >>> equal_frequency_bins(np.array([[0.0], [0.0], [0.0], [7.0], [9.0]]), 2).ravel()
    array([0, 0, 0, 1, 1])
    """
    n = X.shape[0]
    positions = np.floor(np.arange(1, n_bins + 1) * n / n_bins + 0.5).astype(np.int64)
    positions = np.unique(np.maximum(positions, 1)) - 1
    cuts = np.partition(X, positions, axis=0)[positions]
    bins = np.zeros(X.shape, dtype=np.int64)
    below = np.full(X.shape[1], -np.inf)
    for cut in cuts:
        bins += (cut > below) & (cut < X)
        below = cut
    return bins


def plug_in_terms(n: int) -> FloatArray:
    """Return ``c log2 c`` for the counts c = 0 .. n, with 0 for c = 0.

    Examples
    --------
    >>> plug_in_terms(2)
    array([0., 0., 2.])
    """
    counts = np.arange(n + 1, dtype=np.float64)
    counts[0] = 1.0
    return counts * np.log2(counts)


class Chi2(LabelwiseRanker):
    """Rank features by the chi-squared statistic of scikit-learn's ``chi2``, all labels at once.

    Parameters
    ----------
    over : {"mean", "max"}, default="mean"
        How the labels' statistics become one score.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    >>> Chi2().fit(X, [0, 0, 1, 1]).scores_
    array([2., 0.])
    """

    def __init__(self, over: Pool = "mean") -> None:
        self.over = over

    def _by_label(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        if (X < 0).any():
            raise InputError(
                "chi2 needs features that are not negative: scale them to [0, 1] first"
            )
        share = Y.mean(axis=0)[:, None]
        total = X.sum(axis=0)
        # The squared deviations of both classes are equal, so the two terms share their numerator.
        statistic: FloatArray = (Y.T @ X - share * total) ** 2 / (share * (1 - share) * total)
        return statistic


class FClassif(LabelwiseRanker):
    """Rank features by the F statistic of scikit-learn's ``f_classif``, all labels at once.

    A feature that separates a label perfectly has no variance left within the classes; its
    statistic is kept finite by taking that variance as at least the rounding error of the whole.

    Parameters
    ----------
    over : {"mean", "max"}, default="mean"
        How the labels' statistics become one score.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.2, 0.0], [1.0, 1.0], [0.8, 0.0]])
    >>> FClassif().fit(X, [0, 0, 1, 1]).scores_
    array([32.,  0.])
    """

    def __init__(self, over: Pool = "mean") -> None:
        self.over = over

    def _by_label(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        n = X.shape[0]
        if n < 3:
            return np.zeros((Y.shape[1], X.shape[1]))
        centred = X - X.mean(axis=0)
        total: FloatArray = np.einsum("ij,ij->j", centred, centred)
        positives = Y.sum(axis=0)[:, None]
        between = (Y.T @ centred) ** 2 * (1 / positives + 1 / (n - positives))
        within = np.maximum(total - between, np.finfo(np.float64).eps * total)
        statistic: FloatArray = between / (within / (n - 2))
        return statistic


class MutualInfo(LabelwiseRanker):
    """Rank features by their mutual information with the labels, in bits.

    Each feature is put into bins of equal frequency and the plug-in estimate is taken.
    scikit-learn's nearest-neighbour estimate draws random noise and needs a search for every pair
    of feature and label; this one is deterministic, is exact for features of few values and takes a
    few matrix products.

    Parameters
    ----------
    over : {"mean", "max"}, default="mean"
        How the labels' information becomes one score.
    n_bins : int, default=5
        The most bins a feature is put into.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    >>> MutualInfo().fit(X, [0, 0, 1, 1]).scores_
    array([1., 0.])
    """

    def __init__(self, over: Pool = "mean", n_bins: int = 5) -> None:
        self.over = over
        self.n_bins = n_bins

    def _by_label(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        if self.n_bins < 2:
            raise InputError(f"n_bins of MutualInfo must be at least 2, it is {self.n_bins}")
        n = X.shape[0]
        terms = plug_in_terms(n)
        bins = equal_frequency_bins(X, self.n_bins)
        positives = Y.sum(axis=0).astype(np.int64)[:, None]
        information = np.full((Y.shape[1], X.shape[1]), terms[n])
        information -= terms[positives] + terms[n - positives]
        for number in range(int(bins.max()) + 1):
            inside = (bins == number).astype(np.float64)
            size = inside.sum(axis=0).astype(np.int64)
            both = np.rint(Y.T @ inside).astype(np.int64)
            information += terms[both] + terms[size - both] - terms[size]
        information /= n
        return np.clip(information, 0.0, None, out=information)


class Variance(Ranker):
    """Rank features by their variance on the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> Variance().fit(np.array([[0.0, 0.0, 1.0], [0.0, 3.0, 2.0]]), [0, 1]).ranking_
    array([1, 2, 0])
    """

    deterministic: ClassVar[bool] = True

    def _score(self, X: FloatArray, Y: FloatArray) -> Scored:
        scores = X.var(axis=0)
        constant = constant_columns(X)
        scores[constant] = 0.0
        return Scored(scores, {"constants": int(constant.sum())})


class RandomOrder(Ranker):
    """Order the features at random.

    Parameters
    ----------
    seed : int, default=0
        Seed of the order.

    Examples
    --------
    >>> import numpy as np
    >>> RandomOrder(seed=1).fit(np.eye(4), [0, 1, 0, 1]).ranking_
    array([1, 3, 0, 2])
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def _score(self, X: FloatArray, Y: FloatArray) -> Scored:
        return Scored(np.random.default_rng(self.seed).random((X.shape[1],)))


methods.add(RandomOrder, "random")
methods.add(Variance, "variance")
methods.add(Chi2, "chi2")
methods.add(FClassif, "f-classif")
methods.add(MutualInfo, "mutual-info")
