"""Ranker: what every feature ranker shares, in scikit-learn's interface."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from paragone.validation import FloatArray, IntArray, check_features, check_indicator


@dataclass(frozen=True)
class Scored:
    """What a ranker found: a score a feature, and how it got there.

    ``diagnostics`` holds only what JSON can hold (numbers, strings, lists): iterations run, objective
    trace, whether the guard acted.
    """

    scores: FloatArray
    diagnostics: dict[str, Any] = field(default_factory=dict)


class Ranker(BaseEstimator):
    """Base of the feature rankers: checks the input, ranks the scores, keeps the diagnostics.

    A subclass sets its parameters in ``__init__`` as scikit-learn asks and implements ``_score``.
    Fitted attributes: ``scores_`` (one a feature, larger is better), ``ranking_`` (0-based, best first,
    ties to the lower index), ``diagnostics_`` (a dict), ``n_features_in_``.

    ``deterministic`` declares that nothing is drawn at random, so that permuting the features permutes
    the scores and nothing else.

    Examples
    --------
    >>> class ByMean(Ranker):
    ...     def _score(self, X, Y):
    ...         return Scored(X.mean(axis=0))
    >>> ByMean().fit([[1.0, 5.0, 2.0], [1.0, 3.0, 2.0]], [[0], [1]]).ranking_
    array([1, 2, 0])
    """

    deterministic: ClassVar[bool] = False

    scores_: FloatArray
    ranking_: IntArray
    diagnostics_: dict[str, Any]
    n_features_in_: int

    def fit(self, X: Any, Y: Any) -> Self:
        """Score and rank the features on training data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training features; sparse input is made dense.
        Y : array-like of shape (n_samples, n_labels)
            Labels coded 0/1 or -1/+1.

        Returns
        -------
        self
            With ``scores_``, ``ranking_`` and ``diagnostics_`` set.
        """
        features = check_features(X)
        labels = check_indicator(Y, n_samples=features.shape[0])
        self.n_features_in_ = features.shape[1]
        scored = self._score(features, labels.astype(np.float64))
        self.scores_ = scored.scores
        self.ranking_ = rank_descending(scored.scores)
        self.diagnostics_ = scored.diagnostics
        return self

    @abstractmethod
    def _score(self, X: FloatArray, Y: FloatArray) -> Scored:
        """Score every feature; ``X`` is finite float64, ``Y`` is 0.0/1.0 float64, neither may be changed."""


def rank_descending(scores: FloatArray) -> IntArray:
    """Return the indices that sort ``scores`` downwards, ties to the lower index, NaN last.

    Examples
    --------
    >>> import numpy as np
    >>> rank_descending(np.array([0.5, 2.0, 0.5]))
    array([1, 0, 2])
    """
    return np.argsort(-scores, kind="stable").astype(np.int64)
