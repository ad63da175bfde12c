"""Ranker: what every feature ranker shares, in scikit-learn's interface."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from paragone.errors import GuardWarning, InputError
from paragone.validation import FloatArray, IntArray, check_features, check_indicator


@dataclass(frozen=True)
class Scored:
    """What a ranker found: a score per feature, and how it got there.

    ``diagnostics`` holds only what JSON can hold (numbers, strings, lists): iterations run,
    objective trace, whether the guard acted.

    Examples
    --------
    >>> Scored(np.array([0.2, 0.9]), {"iterations": 3}).diagnostics
    {'iterations': 3}
    """

    scores: FloatArray
    diagnostics: dict[str, Any] = field(default_factory=dict)


class Ranker(BaseEstimator):
    """Base of the feature rankers: checks the input, ranks the scores, keeps the diagnostics.

    A subclass sets its parameters in ``__init__`` as scikit-learn asks and implements ``_score``.
    Fitted attributes: ``scores_`` (one per feature, larger is better), ``ranking_`` (0-based, best
    first, ties to the lower index), ``diagnostics_`` (a dict), ``n_features_in_``.

    ``deterministic`` declares that nothing is drawn at random, so that permuting the features
    permutes the scores and nothing else.

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


BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class KeptFeatures:
    """Which of the ``total`` features a method sees, so that a seed gives each feature the same start."""

    columns: IntArray
    total: int

    @property
    def all(self) -> bool:
        """Whether no feature was set aside."""
        return self.columns.size == self.total

    def rows(self, start: FloatArray) -> FloatArray:
        """Pick the rows of the kept features out of an array with one row for every feature."""
        return start if self.all else start[self.columns]


@dataclass(frozen=True)
class RankerOutcome:
    """What the formulas gave: scores of the kept features and the course of the iteration.

    ``objective`` holds the objective of the iterates in turn where the method computes it anyhow.
    ``stopped_early`` says that the guard kept an earlier iterate, because a later one was not
    finite or ran away. ``demoted`` counts features that the method's own guard put behind the
    others. ``extra`` holds what only this method has to say.
    """

    scores: FloatArray
    iterations: int
    objective: list[float] = field(default_factory=list)
    stopped_early: bool = False
    demoted: int = 0
    extra: dict[str, int] = field(default_factory=dict)


class GuardedRanker(Ranker):
    """A ranker with the parameter ``guard``; a subclass implements ``_outcome``."""

    guard: bool

    def _score(self, X: FloatArray, Y: FloatArray) -> Scored:
        constant = constant_columns(X)
        aside = constant if self.guard else np.zeros_like(constant)
        kept = KeptFeatures(np.flatnonzero(~aside), X.shape[1])
        if kept.columns.size == 0:
            outcome = RankerOutcome(np.empty(0), 0)
        else:
            with np.errstate(all="ignore"):
                outcome = self._outcome(X if kept.all else X.take(kept.columns, axis=1), Y, kept)
        strange = int((~np.isfinite(outcome.scores)).sum())
        if self.guard and strange:
            raise InputError(
                f"{type(self).__name__} gave {strange} scores that are not finite in spite of its"
                " guard: scale the features to [0, 1] and look at its parameters"
            )
        for deed in _deeds(int(aside.sum()), outcome):
            warnings.warn(f"the guard {deed}", GuardWarning, stacklevel=3)
        diagnostics = {
            "iterations": outcome.iterations,
            "objective": [value if isfinite(value) else None for value in outcome.objective],
            "constants": int(constant.sum()),
            "guard_acted": bool(aside.any() or outcome.stopped_early or outcome.demoted),
            "stopped_early": outcome.stopped_early,
            "demoted": outcome.demoted,
            "non_finite_scores": strange,
            **outcome.extra,
        }
        return Scored(_with_constants(outcome.scores, kept), diagnostics)

    def _refuse_negative(self, X: FloatArray) -> None:
        """Say that multiplicative updates lose their meaning on negative features; unguarded they run all the same."""
        if self.guard and X.min() < 0:
            raise InputError(
                f"{type(self).__name__} needs features that are not negative, the least is"
                f" {X.min():.6g}: scale them to [0, 1] first"
            )

    @abstractmethod
    def _outcome(self, X: FloatArray, Y: FloatArray, kept: KeptFeatures) -> RankerOutcome:
        """Run the method on the kept columns; floating-point warnings are off here."""


def _deeds(aside: int, outcome: RankerOutcome) -> list[str]:
    """Say what the guard did, in the words of a warning."""
    deeds = []
    if outcome.stopped_early:
        steps = _counted(outcome.iterations, "step")
        deeds.append(
            f"stopped the iteration after {steps}: it diverged, an earlier iterate is kept"
        )
    if outcome.demoted:
        deeds.append(
            f"put {_counted(outcome.demoted, 'feature')} behind the others: constant but for a"
            " single row"
        )
    if aside:
        deeds.append(f"set {_counted(aside, 'constant feature')} aside, at the end of the ranking")
    return deeds


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" + "s" * (count != 1)


def constant_columns(X: FloatArray) -> BoolArray:
    """Say which columns hold one single value.

    Examples
    --------
    >>> import numpy as np
    >>> constant_columns(np.array([[0.0, 1.0], [0.0, 2.0]]))
    array([ True, False])
    """
    constant: BoolArray = X.min(axis=0) == X.max(axis=0)
    return constant


def _with_constants(scores: FloatArray, kept: KeptFeatures) -> FloatArray:
    """Give the features set aside the score 0, or the next number below the lowest where that is not above 0.

    So the scores alone give the guarded ranking.
    """
    if kept.all:
        return scores
    lowest = scores.min(initial=np.inf)
    full = np.full(kept.total, 0.0 if lowest > 0 else np.nextafter(lowest, -np.inf))
    full[kept.columns] = scores
    return full
