"""The scores of a chain: pure functions of its ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paragone.directions import higher_is_better, score_size
from paragone.metrics.prediction import check_prediction_metric, prediction_values
from paragone.protocols.crossval.ledger import Chain, Predictions, Role, pooled
from paragone.protocols.crossval.votes import hard_vote, most_likely, soft_vote
from paragone.protocols.crossval.weights import Weighting, fold_weights
from paragone.ties import TOLERANCE, best_losses, loss_order, settle
from paragone.validation import FloatArray

PER_ERROR = ("rpd", "rpiq")
"""Scores that divide by the error."""


@dataclass(frozen=True)
class Scoring:
    """Which metric, and what goes with it.

    Parameters
    ----------
    task : {"regression", "classification"}
        What is predicted.
    metric : str
        A metric of the task that has a direction.
    ddof : {0, 1}
        For the standard deviations of regression metrics.
    weighting : {"compat", "equal", "softmax"}
        Of the folds in the weighted ensemble.
    """

    task: str
    metric: str
    ddof: int = 0
    weighting: Weighting = "compat"

    def __post_init__(self) -> None:
        check_prediction_metric(self.metric, self.task)

    @property
    def higher_is_better(self) -> bool:
        """The metric's direction; False for a metric without one, whose size is what counts (see `loss`)."""
        return bool(higher_is_better(self.metric))

    def loss(self, values: Any) -> Any:
        """Turn scores into numbers of which the smallest is best; of the bias, the nearest to 0.

        Examples
        --------
        >>> Scoring("regression", "bias").loss(np.array([-2.0, 1.0])).tolist()
        [2.0, 1.0]
        >>> Scoring("regression", "r2").loss(0.9)
        -0.9
        """
        direction = higher_is_better(self.metric)
        return abs(values) if direction is None else -values if direction else values

    def size(self, y_true: NDArray[Any]) -> float:
        """Return the size of what the scores are made from, in their unit: how far rounding may move them.

        That is 1 for a score without a unit and the largest target for an error in its unit. A mean of squares of
        pure rounding is as small as the square of that rounding.

        Examples
        --------
        >>> Scoring("regression", "rmse").size(np.array([-3.0, 2.0])), Scoring("regression", "r2").size(np.ones(2))
        (3.0, 1.0)
        """
        known = score_size(self.metric)
        if known or self.task == "classification":
            return known or 1.0
        largest = float(np.abs(y_true).max(initial=0.0))
        return TOLERANCE * largest**2 if self.metric == "mse" else largest

    def settled(self, values: ArrayLike, size: float) -> FloatArray:
        """Return the losses of scores, those equal that differ by rounding alone: the smallest is best.

        Examples
        --------
        >>> Scoring("regression", "rmse").settled([0.1 + 0.2, 0.3, np.nan], 1.0).tolist()
        [0.3, 0.3, nan]
        """
        losses = self.loss(np.asarray(values, dtype=np.float64))
        if self.metric in PER_ERROR:
            # Above this the error that divides is rounding, and the ratio says how it fell.
            losses = np.maximum(losses, -1 / TOLERANCE)
        return settle(losses, size=size)

    def of(self, predictions: Predictions, classes: Any = None) -> float:
        """Score predictions; NaN where there are none."""
        return prediction_values(
            [self.metric],
            self.task,
            predictions.y_true,
            predictions.y_pred,
            probabilities=predictions.probabilities,
            classes=classes,
            ddof=self.ddof,
        )[self.metric]


@dataclass(frozen=True, eq=False)
class ChainScores:
    """Every score of one chain under one metric; NaN where a score does not exist.

    Parameters
    ----------
    chain : Chain
        The ledger.
    scoring : Scoring
        The metric.
    cv_score : float
        Pooled out-of-fold (RMSECV).
    mean_fold_cv : float
        Mean over the folds that have one of the fold's validation score (MF_Val).
    fold_val : ndarray
        Validation score of every fold.
    """

    chain: Chain
    scoring: Scoring
    cv_score: float
    mean_fold_cv: float
    fold_val: FloatArray

    # What selection does not need is worked out when it is asked for.

    @cached_property
    def size(self) -> float:
        """The size of what the scores are made from; see `Scoring.size`."""
        return max((self.scoring.size(fold.val.y_true) for fold in self.chain.folds), default=0.0)

    @property
    def variant(self) -> str:
        """The variant's name."""
        return self.chain.variant

    @cached_property
    def weights(self) -> FloatArray:
        """Of the folds in the weighted ensemble."""
        scoring = self.scoring
        undirected = higher_is_better(scoring.metric) is None
        values = np.abs(self.fold_val) if undirected else self.fold_val
        return fold_weights(values, higher_is_better=scoring.higher_is_better, weighting=scoring.weighting)

    @cached_property
    def fold_train(self) -> FloatArray:
        """Train score of every fold's model."""
        return _fold_scores(self.chain, self.scoring, "train")

    @cached_property
    def fold_test(self) -> FloatArray:
        """Test score of every fold's model."""
        return _fold_scores(self.chain, self.scoring, "test")

    @cached_property
    def ens_test(self) -> float:
        """Test score of the plain ensemble of the fold models."""
        return self._score(ensemble(self.chain, "test"))

    @cached_property
    def w_ens_test(self) -> float:
        """Test score of the weighted ensemble of the fold models."""
        return self._score(self._weighted("test"))

    @cached_property
    def ens_train(self) -> float:
        """Score of the plain ensemble on the train rows."""
        return self._score(ensemble(self.chain, "train"))

    @cached_property
    def w_ens_train(self) -> float:
        """Score of the weighted ensemble on the train rows."""
        return self._score(self._weighted("train"))

    @property
    def test_score(self) -> float:
        """Test score of the model refitted on all of train (RMSEP)."""
        return np.nan if self.chain.final is None else self._score(self.chain.final.test)

    @property
    def train_score(self) -> float:
        """Train score of the model refitted on all of train (RMSEC)."""
        return np.nan if self.chain.final is None else self._score(self.chain.final.train)

    @cached_property
    def repeat_cv(self) -> FloatArray:
        """The pooled score of every repeat."""
        return np.array([self._score(self.chain.validation(repeat)) for repeat in range(self.chain.n_repeats)])

    def _score(self, predictions: Predictions) -> float:
        return self.scoring.of(predictions, self.chain.classes)

    def _weighted(self, role: Role) -> Predictions:
        return ensemble(self.chain, role, self.weights, confidence=self.scoring.weighting == "compat")


def chain_scores(chain: Chain, scoring: Scoring) -> ChainScores:
    """Derive every score of a chain from its ledger.

    Parameters
    ----------
    chain : Chain
        The predictions of the folds, and of the refit where there is one.
    scoring : Scoring
        The metric.

    Returns
    -------
    ChainScores
        All scores.

    Examples
    --------
    >>> from paragone.protocols.crossval.ledger import FoldLedger
    >>> def part(rows, predicted):
    ...     return Predictions(np.array(rows, dtype=int), np.zeros(len(rows)), np.array(predicted, dtype=float))
    >>> folds = (
    ...     FoldLedger("0", 0, part([1], [0]), part([0], [3]), part([9], [1])),
    ...     FoldLedger("1", 0, part([0], [0]), part([1], [4]), part([9], [3])),
    ... )
    >>> scores = chain_scores(Chain("v", "regression", folds), Scoring("regression", "rmse"))
    >>> round(scores.cv_score, 4), scores.mean_fold_cv, scores.ens_test, scores.test_score
    (3.5355, 3.5, 2.0, nan)
    """
    values = _fold_scores(chain, scoring, "val")
    return ChainScores(
        chain,
        scoring,
        cv_score=scoring.of(chain.validation(), chain.classes),
        mean_fold_cv=float(np.nanmean(values)) if not np.isnan(values).all() else np.nan,
        fold_val=values,
    )


def best_first(scores: Iterable[ChainScores], key: str = "cv_score") -> list[ChainScores]:
    """Return chains by one of their scores, the best first, ties in the order in which they come, NaN last.

    Parameters
    ----------
    scores : iterable of ChainScores
        The chains of one problem under one metric.
    key : str, default="cv_score"
        Which score.

    Returns
    -------
    list of ChainScores
        All of them.
    """
    given = list(scores)
    if not given:
        return []
    losses = given[0].scoring.settled([getattr(one, key) for one in given], given[0].size)
    return [given[place] for place in loss_order(losses)]


def tied_best(scores: Iterable[ChainScores], key: str = "cv_score") -> tuple[str, ...]:
    """Return the variants with the best of a score, all that are tied, in the order in which they come."""
    given = list(scores)
    if not given:
        return ()
    losses = given[0].scoring.settled([getattr(one, key) for one in given], given[0].size)
    return tuple(one.variant for one, best in zip(given, best_losses(losses), strict=True) if best)


def _fold_scores(chain: Chain, scoring: Scoring, role: Role) -> FloatArray:
    return np.array([scoring.of(fold.role(role), chain.classes) for fold in chain.folds])


def ensemble(chain: Chain, role: Role, weights: FloatArray | None = None, *, confidence: bool = False) -> Predictions:
    """Combine the fold models' predictions sample by sample.

    A train sample is predicted by the models that were fitted on it and by those that validated it; all count.

    Parameters
    ----------
    chain : Chain
        The ledger.
    role : {"train", "test"}
        Which samples.
    weights : ndarray, optional
        A weight a fold; equal where not given.
    confidence : bool, default=False
        See `soft_vote`.

    Returns
    -------
    Predictions
        One a sample, in the order of the sample ids.
    """
    parts = [fold.test if role == "test" else pooled([fold.train, fold.val]) for fold in chain.folds]
    shares = np.full(len(parts), 1.0 / len(parts)) if weights is None else weights
    with_rows = [(part, share) for part, share in zip(parts, shares, strict=True) if len(part)]
    if not with_rows:
        return pooled([])
    first = with_rows[0][0].samples
    if all(np.array_equal(part.samples, first) for part, _ in with_rows):
        return _combined([p for p, _ in with_rows], np.array([s for _, s in with_rows]), chain, confidence)
    return _combined_by_sample(with_rows, chain, confidence)


def _combined_by_sample(members: Sequence[tuple[Predictions, float]], chain: Chain, confidence: bool) -> Predictions:
    """Combine members that predict different samples: those with the same set of members go together."""
    samples = np.unique(np.concatenate([part.samples for part, _ in members]))
    places = np.full((len(members), len(samples)), -1)
    for number, (part, _) in enumerate(members):
        places[number, np.searchsorted(samples, part.samples)] = np.arange(len(part))
    patterns, which = np.unique(places >= 0, axis=1, return_inverse=True)
    pieces = []
    for pattern in range(patterns.shape[1]):
        columns = np.flatnonzero(which.ravel() == pattern)
        there = np.flatnonzero(patterns[:, pattern]).tolist()
        rows = [members[number][0].rows(places[number, columns]) for number in there]
        pieces.append(_combined(rows, np.array([members[number][1] for number in there]), chain, confidence))
    together = pooled(pieces)
    return together.rows(np.argsort(together.samples, kind="stable"))


def _combined(parts: Sequence[Predictions], weights: FloatArray, chain: Chain, confidence: bool) -> Predictions:
    shares = weights / weights.sum() if weights.sum() > 0 else np.full(len(parts), 1.0 / len(parts))
    first = parts[0]
    if chain.task == "regression":
        mean = np.einsum("f,fn->n", shares, np.stack([part.y_pred for part in parts]))
        return Predictions(first.samples, first.y_true, mean)
    known = [part.probabilities for part in parts if part.probabilities is not None]
    if chain.classes is not None and len(known) == len(parts):
        probabilities = soft_vote(known, shares, confidence=confidence)
        return Predictions(first.samples, first.y_true, chain.classes[most_likely(probabilities)], probabilities)
    return Predictions(first.samples, first.y_true, hard_vote([part.y_pred for part in parts], shares))
