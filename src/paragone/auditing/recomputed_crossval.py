"""Recompute every score of a cross-validation from its ledger, sample by sample, in plain steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paragone.auditing.recomputed_prediction import prediction_score
from paragone.directions import higher_is_better
from paragone.protocols.crossval.ledger import Chain, Predictions
from paragone.protocols.crossval.problem import Settings
from paragone.ties import least_loss
from paragone.validation import FloatArray

CLOSE_RELATIVE, CLOSE_ABSOLUTE, SHIFT = 1e-5, 1e-8, 1e-8


@dataclass(frozen=True, eq=False)
class ChainFigures:
    """Every score of a chain, recomputed; NaN where one does not exist."""

    cv_score: float
    mean_fold_cv: float
    ens_test: float
    w_ens_test: float
    ens_train: float
    w_ens_train: float
    test_score: float
    train_score: float
    fold_train: tuple[float, ...]
    fold_val: tuple[float, ...]
    fold_test: tuple[float, ...]
    weights: tuple[float, ...]


class Recomputation:
    """Scores of chains under one metric.

    Parameters
    ----------
    task, metric : str
        What is predicted and how it is scored.
    settings : Settings
        Weighting and ddof.
    """

    def __init__(self, task: str, metric: str, settings: Settings) -> None:
        self.task = task
        self.metric = metric
        self._ddof = settings.ddof
        self._weighting = settings.weighting

    def score(self, part: Predictions, classes: Any) -> float:
        """Score some predictions."""
        return prediction_score(
            self.metric,
            self.task,
            part.y_true,
            part.y_pred,
            probabilities=part.probabilities,
            classes=classes,
            ddof=self._ddof,
        )

    def figures(self, chain: Chain) -> ChainFigures:
        """Recompute every score of a chain."""
        classes = chain.classes
        val = [self.score(fold.val, classes) for fold in chain.folds]
        known = [value for value in val if not np.isnan(value)]
        weights = self._weights(val)
        equal = [1.0 / len(val)] * len(val)
        plain = {role: self._ensemble(chain, role, equal, confident=False) for role in ("test", "train")}
        confident = self._weighting == "compat"
        weighted = {role: self._ensemble(chain, role, weights, confident=confident) for role in ("test", "train")}
        final = chain.final
        return ChainFigures(
            cv_score=self.score(_together([fold.val for fold in chain.folds]), classes),
            mean_fold_cv=sum(known) / len(known) if known else float("nan"),
            ens_test=self.score(plain["test"], classes),
            w_ens_test=self.score(weighted["test"], classes),
            ens_train=self.score(plain["train"], classes),
            w_ens_train=self.score(weighted["train"], classes),
            test_score=float("nan") if final is None else self.score(final.test, classes),
            train_score=float("nan") if final is None else self.score(final.train, classes),
            fold_train=tuple(self.score(fold.train, classes) for fold in chain.folds),
            fold_val=tuple(val),
            fold_test=tuple(self.score(fold.test, classes) for fold in chain.folds),
            weights=tuple(weights),
        )

    def _weights(self, scores: Sequence[float]) -> list[float]:
        """Weigh the folds by their validation scores, as the specification of the ensemble has it."""
        higher = higher_is_better(self.metric)
        values = [abs(score) if higher is None else score for score in scores]
        there = [value for value in values if not np.isnan(value)]
        if not there:
            return [1.0 / len(values)] * len(values)
        raw = dict(zip(there, self._raw_weights(there, bool(higher)), strict=True))
        total = sum(raw[value] for value in there)
        return [0.0 if np.isnan(value) else raw[value] / total for value in values]

    def _raw_weights(self, there: list[float], higher: bool) -> list[float]:
        first = there[0]
        alike = all(abs(value - first) <= CLOSE_ABSOLUTE + CLOSE_RELATIVE * abs(first) for value in there)
        if self._weighting == "equal" or alike:
            return [1.0] * len(there)
        if self._weighting == "softmax":
            mean, deviation = float(np.mean(there)), float(np.std(there))
            units = [(value - mean) / deviation * (1.0 if higher else -1.0) for value in there]
            return [float(np.exp(unit - max(units))) for unit in units]
        least = min(there)
        if higher:
            lifted = [value - least if least < 0 else value for value in there]
            return lifted if any(lifted) else [1.0] * len(there)
        return [1.0 / (value - least + SHIFT if least <= 0 else value) for value in there]

    def _ensemble(self, chain: Chain, role: str, weights: Sequence[float], *, confident: bool) -> Predictions:
        """Combine the fold models sample by sample; a train sample is predicted by every model that has it."""
        votes: dict[int, list[tuple[float, Any, Any, Any]]] = {}
        for fold, weight in zip(chain.folds, weights, strict=True):
            for part in (fold.test,) if role == "test" else (fold.train, fold.val):
                shares: Any = part.probabilities if part.probabilities is not None else [None] * len(part)
                for sample, true, predicted, share in zip(part.samples, part.y_true, part.y_pred, shares, strict=True):
                    votes.setdefault(int(sample), []).append((weight, true, predicted, share))
        samples = sorted(votes)
        if not samples:
            return _together([])
        combined = [self._combined(votes[sample], chain, confident) for sample in samples]
        truth = np.array([votes[sample][0][1] for sample in samples])
        shares_known = [share for _, share in combined if share is not None]
        probabilities = np.stack(shares_known) if shares_known else None
        return Predictions(np.array(samples), truth, np.array([value for value, _ in combined]), probabilities)

    def _combined(
        self, votes: Sequence[tuple[float, Any, Any, Any]], chain: Chain, confident: bool
    ) -> tuple[Any, FloatArray | None]:
        weights = np.array([vote[0] for vote in votes])
        weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(votes), 1.0 / len(votes))
        if chain.task == "regression":
            return float(sum(w * vote[2] for w, vote in zip(weights, votes, strict=True))), None
        if chain.classes is not None and all(vote[3] is not None for vote in votes):
            shares = np.stack([vote[3] for vote in votes])
            if confident:
                weights = weights * shares.max(axis=1)
                weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(votes), 1.0 / len(votes))
            mean = np.asarray(weights @ shares)
            return chain.classes[least_loss(-mean, size=1.0)], mean
        totals: dict[Any, float] = {}
        for weight, vote in zip(weights, votes, strict=True):
            totals[vote[2]] = totals.get(vote[2], 0.0) + weight
        labels = sorted(totals)
        return labels[least_loss([-totals[label] for label in labels], size=1.0)], None


def _together(parts: Sequence[Predictions]) -> Predictions:
    kept = [part for part in parts if len(part)]
    if not kept:
        return Predictions(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))
    shares = [part.probabilities for part in kept]
    known = [share for share in shares if share is not None]
    return Predictions(
        np.concatenate([part.samples for part in kept]),
        np.concatenate([part.y_true for part in kept]),
        np.concatenate([part.y_pred for part in kept]),
        np.concatenate(known) if len(known) == len(kept) else None,
    )
