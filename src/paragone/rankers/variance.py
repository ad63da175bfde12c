"""Variance: the ranking that never looks at the labels."""

from __future__ import annotations

from typing import ClassVar

from paragone.rankers.base import Ranker, Scored
from paragone.rankers.guarded import constant_columns
from paragone.validation import FloatArray


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
