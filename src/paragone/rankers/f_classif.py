"""FClassif: the F statistic of a one-way analysis of variance between each label's two classes."""

from __future__ import annotations

import numpy as np

from paragone.rankers.over_labels import LabelwiseRanker, Pool
from paragone.validation import FloatArray


class FClassif(LabelwiseRanker):
    """Rank features by the F statistic of scikit-learn's ``f_classif``, all labels at once.

    A feature that separates a label perfectly has no variance left within the classes; its statistic is
    kept finite by taking that variance as at least the rounding error of the whole.

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
