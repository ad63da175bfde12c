"""MutualInfo: plug-in mutual information between binned features and each label."""

from __future__ import annotations

import numpy as np

from paragone.errors import InputError
from paragone.rankers.discretise import equal_frequency_bins, plug_in_terms
from paragone.rankers.over_labels import LabelwiseRanker, Pool
from paragone.validation import FloatArray


class MutualInfo(LabelwiseRanker):
    """Rank features by their mutual information with the labels, in bits.

    Each feature is put into bins of equal frequency and the plug-in estimate is taken. scikit-learn's
    nearest-neighbour estimate draws random noise and needs a search for every pair of feature and label;
    this one is deterministic, is exact for features of few values and takes a few matrix products.

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
