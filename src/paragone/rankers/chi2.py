"""Chi2: the chi-squared statistic between non-negative features and each label."""

from __future__ import annotations

from paragone.errors import InputError
from paragone.rankers.over_labels import LabelwiseRanker, Pool
from paragone.validation import FloatArray


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
            raise InputError("chi2 needs features that are not negative: scale them to [0, 1] first")
        share = Y.mean(axis=0)[:, None]
        total = X.sum(axis=0)
        # The squared deviations of both classes are equal, so the two terms share their numerator.
        statistic: FloatArray = (Y.T @ X - share * total) ** 2 / (share * (1 - share) * total)
        return statistic
