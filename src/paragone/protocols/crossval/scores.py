"""The scores of a chain: pure functions of its ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paragone.directions import higher_is_better
from paragone.metrics.prediction import check_prediction_metric, prediction_values
from paragone.protocols.crossval.ledger import Chain, Predictions, Role, pooled
from paragone.protocols.crossval.votes import hard_vote, soft_vote
from paragone.protocols.crossval.weights import Weighting, fold_weights
from paragone.validation import FloatArray


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
        """The metric's direction; for a metric without one, such as the bias, the nearer to 0 the better."""
        return bool(higher_is_better(self.metric))

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
    cv_score : float
        Pooled out-of-fold (RMSECV).
    mean_fold_cv : float
        Mean over the folds that have one of the fold's validation score (MF_Val).
    ens_test, w_ens_test : float
        Test score of the plain and of the weighted ensemble of the fold models.
    ens_train, w_ens_train : float
        The same ensembles on the train rows.
    test_score, train_score : float
        Of the model refitted on all of train (RMSEP, RMSEC).
    fold_val, fold_train, fold_test : ndarray
        Of every fold's model.
    weights : ndarray
        Of the folds in the weighted ensemble.
    repeat_cv : ndarray
        The pooled score of every repeat.
    """

    variant: str
    scoring: Scoring
    cv_score: float
    mean_fold_cv: float
    ens_test: float
    w_ens_test: float
    ens_train: float
    w_ens_train: float
    test_score: float
    train_score: float
    fold_val: FloatArray
    fold_train: FloatArray
    fold_test: FloatArray
    weights: FloatArray
    repeat_cv: FloatArray

    @property
    def weightless(self) -> int:
        """How many folds have no validation score and so no weight."""
        return int(np.isnan(self.fold_val).sum())


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
    by_role = {role: _fold_scores(chain, scoring, role) for role in ("train", "val", "test")}
    values = by_role["val"]
    weights = fold_weights(values, higher_is_better=scoring.higher_is_better, weighting=scoring.weighting)
    final = chain.final
    ensembles = {role: _ensemble_scores(chain, scoring, role, weights) for role in ("train", "test")}
    repeats = range(chain.n_repeats)
    return ChainScores(
        chain.variant,
        scoring,
        cv_score=scoring.of(chain.validation(), chain.classes),
        mean_fold_cv=float(np.nanmean(values)) if not np.isnan(values).all() else np.nan,
        ens_test=ensembles["test"][0],
        w_ens_test=ensembles["test"][1],
        ens_train=ensembles["train"][0],
        w_ens_train=ensembles["train"][1],
        test_score=np.nan if final is None else scoring.of(final.test, chain.classes),
        train_score=np.nan if final is None else scoring.of(final.train, chain.classes),
        fold_val=values,
        fold_train=by_role["train"],
        fold_test=by_role["test"],
        weights=weights,
        repeat_cv=np.array([scoring.of(chain.validation(repeat), chain.classes) for repeat in repeats]),
    )


def _fold_scores(chain: Chain, scoring: Scoring, role: Role) -> FloatArray:
    return np.array([scoring.of(fold.role(role), chain.classes) for fold in chain.folds])


def _ensemble_scores(chain: Chain, scoring: Scoring, role: Role, weights: FloatArray) -> tuple[float, float]:
    plain = ensemble(chain, role)
    if not len(plain):
        return np.nan, np.nan
    confidence = scoring.weighting == "compat"
    weighted = ensemble(chain, role, weights, confidence=confidence)
    return scoring.of(plain, chain.classes), scoring.of(weighted, chain.classes)


def ensemble(
    chain: Chain, role: Role, weights: FloatArray | None = None, *, confidence: bool = False
) -> Predictions:
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


def _combined_by_sample(
    members: Sequence[tuple[Predictions, float]], chain: Chain, confidence: bool
) -> Predictions:
    """Combine members that predict different samples: those with the same set of members go together."""
    samples = np.unique(np.concatenate([part.samples for part, _ in members]))
    places = np.full((len(members), len(samples)), -1)
    for number, (part, _) in enumerate(members):
        places[number, np.searchsorted(samples, part.samples)] = np.arange(len(part))
    patterns, which = np.unique(places >= 0, axis=1, return_inverse=True)
    pieces = []
    for pattern in range(patterns.shape[1]):
        columns = np.flatnonzero(which.ravel() == pattern)
        there = np.flatnonzero(patterns[:, pattern])
        rows = [members[number][0].rows(places[number, columns]) for number in there]
        pieces.append(_combined(rows, np.array([members[number][1] for number in there]), chain, confidence))
    together = pooled(pieces)
    return together.rows(np.argsort(together.samples, kind="stable"))


def _combined(
    parts: Sequence[Predictions], weights: FloatArray, chain: Chain, confidence: bool
) -> Predictions:
    shares = weights / weights.sum() if weights.sum() > 0 else np.full(len(parts), 1.0 / len(parts))
    first = parts[0]
    if chain.task == "regression":
        mean = np.einsum("f,fn->n", shares, np.stack([part.y_pred for part in parts]))
        return Predictions(first.samples, first.y_true, mean)
    known = [part.probabilities for part in parts if part.probabilities is not None]
    if chain.classes is not None and len(known) == len(parts):
        probabilities = soft_vote(known, shares, confidence=confidence)
        return Predictions(
            first.samples, first.y_true, chain.classes[probabilities.argmax(axis=1)], probabilities
        )
    return Predictions(first.samples, first.y_true, hard_vote([part.y_pred for part in parts], shares))
