"""What SRFS and RFSFS share: regression with a label graph and a price on features that say the same.

Both minimise, over W ≥ 0,
``‖XW − Y‖² + α tr(W L Wᵀ) + β penalty(W) + γ(‖WWᵀ‖₁ − ‖W‖²)`` with L the Laplacian of the labels' cosines.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paragone.rankers.gram import Gram, gram_of
from paragone.rankers.guarded import GuardedRanker, Kept, Outcome
from paragone.rankers.label_graph import cosine_similarity
from paragone.rankers.multiplicative import multiplicative_updates, row_norms
from paragone.validation import FloatArray

EPS32 = float(np.finfo(np.float32).eps)

Penalty = Callable[[FloatArray, FloatArray], float]
"""``penalty(W, out)`` writes half the gradient of the sparsity term into ``out`` and returns the term."""


class FusionRanker(GuardedRanker):
    """Base of SRFS and RFSFS; a subclass gives the sparsity term."""

    alpha: float
    beta: float
    gamma: float
    max_iter: int
    seed: int

    def _outcome(self, X: FloatArray, Y: FloatArray, kept: Kept) -> Outcome:
        self._refuse_negative(X)
        start = kept.rows(self._draw(kept.total, Y.shape[1]))
        gram = gram_of(X, n_labels=Y.shape[1], applications=self.max_iter)
        terms = FusionTerms.of(gram, X, Y, self.alpha, self.beta, self.gamma, self._penalty)
        run = multiplicative_updates(start, terms, floor=EPS32, max_iter=self.max_iter, guard=self.guard)
        return Outcome(row_norms(run.weights), run.iterations, run.objective, run.stopped_early)

    def _draw(self, n_features: int, n_labels: int) -> FloatArray:
        return np.random.default_rng(self.seed).random((n_features, n_labels))

    @staticmethod
    @abstractmethod
    def _penalty(W: FloatArray, out: FloatArray) -> float:
        """Write the penalty's share of the denominator into ``out`` and return its value."""


@dataclass(frozen=True)
class FusionTerms:
    """Numerator and denominator of the update, and the objective, at given weights."""

    gram: Gram
    target: FloatArray
    constant: float
    pull: FloatArray
    degrees: FloatArray
    beta: float
    gamma: float
    penalty: Penalty
    spare: FloatArray

    @classmethod
    def of(
        cls,
        gram: Gram,
        X: FloatArray,
        Y: FloatArray,
        alpha: float,
        beta: float,
        gamma: float,
        penalty: Penalty,
    ) -> FusionTerms:
        """Prepare what does not change between updates."""
        similarity = cosine_similarity(Y)
        pull = alpha * similarity + gamma * np.eye(Y.shape[1])
        degrees = alpha * similarity.sum(axis=1)
        target = X.T @ Y
        spare = np.empty_like(target)
        return cls(gram, target, float(np.vdot(Y, Y)), pull, degrees, beta, gamma, penalty, spare)

    def __call__(self, W: FloatArray, numerator: FloatArray, denominator: FloatArray) -> float:
        """Fill numerator and denominator and return the objective."""
        self.gram.apply(W, denominator)
        objective = self.constant + np.vdot(W, denominator) - 2 * np.vdot(W, self.target)
        np.matmul(W, self.pull, out=numerator)
        objective -= np.vdot(W, numerator)
        numerator += self.target
        np.multiply(W, self.degrees, out=self.spare)
        objective += np.vdot(W, self.spare)
        denominator += self.spare
        objective += self.beta * self.penalty(W, self.spare)
        np.multiply(self.spare, self.beta, out=self.spare)
        denominator += self.spare
        totals = W.sum(axis=0)
        objective += self.gamma * np.vdot(totals, totals)
        denominator += self.gamma * totals
        return float(objective)
