"""Univariate scores, one a label and feature, pooled over the labels: the floor every method must beat."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np

from paragone.errors import unknown_name
from paragone.rankers.base import Ranker, Scored
from paragone.rankers.guarded import constant_columns
from paragone.validation import FloatArray

POOLS = ("mean", "max")
Pool = Literal["mean", "max"]


class LabelwiseRanker(Ranker):
    """Scores every feature against every label and takes the mean or the maximum.

    A label with one class only says nothing about any feature and scores 0, and so does a constant feature;
    the diagnostics count both.
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
