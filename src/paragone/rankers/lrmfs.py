"""LRMFS: multi-label feature selection by label relaxation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paragone.rankers.guarded import GuardedRanker, Kept, Outcome
from paragone.rankers.multiplicative import all_finite, row_norms
from paragone.rankers.reweighted import RidgeSolver, ridge_solver
from paragone.validation import FloatArray

EPS = float(np.finfo(np.float64).eps)


class LRMFS(GuardedRanker):
    """Rank features by robust regression on labels that may move away from the decision boundary.

    As published, the shared subspace Q solves a Sylvester equation whose right-hand side is zero. So Q is
    zero from the second iteration on and both graph terms vanish: ``beta`` and ``gamma`` have no effect and
    are kept only so that published settings can be written down.

    Parameters
    ----------
    alpha : float, default=0.1
        Weight of the shared subspace.
    beta, gamma : float, default=1
        Weights of the feature and the label graph; without effect.
    lambda_ : float, default=1
        Weight of the row sparsity.
    max_iter : int, default=10
        The most iterations.
    tolerance : float, default=0.001
        Stop when the objective changed by no more than this.
    seed : int, default=0
        Seed of the first slack and subspace.
    guard : bool, default=True
        Set constant columns aside and keep the last finite iterate.

    References
    ----------
    Fan et al.: Multi-label feature selection via label relaxation, Applied Soft Computing 175 (2025) 113047.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((40, 4))
    >>> Y = np.column_stack([X[:, 2] > 0.5, X[:, 2] + X[:, 0] > 1.2])
    >>> int(LRMFS().fit(X, Y).ranking_[0])
    2
    """

    def __init__(
        self,
        alpha: float = 0.1,
        beta: float = 1.0,
        gamma: float = 1.0,
        lambda_: float = 1.0,
        max_iter: int = 10,
        tolerance: float = 1e-3,
        seed: int = 0,
        guard: bool = True,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.lambda_ = lambda_
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.seed = seed
        self.guard = guard

    def _outcome(self, X: FloatArray, Y: FloatArray, kept: Kept) -> Outcome:
        slack, subspace = self._draw(Y.shape[0], kept.total, Y.shape[1])
        subspace, side, solver = kept.rows(subspace), 2 * Y - 1, ridge_solver(X)
        P, Z = np.full(X.shape[1], 1 / (self.alpha + self.lambda_)), np.ones(X.shape[0])
        W, trace = np.zeros_like(subspace), list[float]()
        for iteration in range(self.max_iter):
            F = Y + side * slack
            if iteration == 0:
                following = _first_weights(solver, P, F, subspace, self.alpha)
            else:
                following = solver.solve(P, F, Z=Z)
            if not all_finite(following):
                scores = (W if self.guard else following) ** 2
                return Outcome(scores.sum(axis=1), iteration, trace, stopped_early=self.guard)
            W = following
            step = _reweigh(X @ W, F, W)
            trace.append(float(step.loss + self.alpha * np.vdot(W, W) + self.lambda_ * step.norms.sum()))
            if iteration > 0 and abs(trace[-1] - trace[-2]) <= self.tolerance:
                break
            slack = np.maximum(side * (step.fitted - Y), 0.0)
            Z = 0.5 / (step.residuals + EPS)
            P = 2 * (step.norms + EPS) / (2 * self.alpha * (step.norms + EPS) + self.lambda_)
        return Outcome((W**2).sum(axis=1), len(trace), trace)

    def _draw(self, n_samples: int, n_features: int, n_labels: int) -> tuple[FloatArray, FloatArray]:
        """Draw the slack before the subspace, so that a further feature changes neither for the others."""
        generator = np.random.default_rng(self.seed)
        return generator.random((n_samples, n_labels)), generator.random((n_features, n_labels))


class _Step(NamedTuple):
    fitted: FloatArray
    residuals: FloatArray
    norms: FloatArray
    loss: float


def _reweigh(fitted: FloatArray, F: FloatArray, W: FloatArray) -> _Step:
    residuals = row_norms(fitted - F)
    return _Step(fitted, residuals, row_norms(W), float(residuals.sum()))


def _first_weights(solver: RidgeSolver, P: FloatArray, F: FloatArray, Q: FloatArray, alpha: float) -> FloatArray:
    """Solve with C − αQQᵀ, C = XᵀX + (α + λ)I, by two solutions with C and a small system (Woodbury)."""
    plain, through = solver.solve(P, F), solver.solve(P, np.zeros_like(F), R=Q)
    small = np.eye(Q.shape[1]) - alpha * (Q.T @ through)
    corrected: FloatArray = plain + alpha * through @ np.linalg.solve(small, Q.T @ plain)
    return corrected
