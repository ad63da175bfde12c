"""LRMFS: multi-label feature selection by label relaxation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paragone.methods.method import methods
from paragone.methods.rankers.base import GuardedRanker, KeptFeatures, RankerOutcome
from paragone.methods.rankers.iteration import reweighted_least_squares, ridge_solver, row_norms
from paragone.validation import FloatArray

EPS = float(np.finfo(np.float64).eps)


@dataclass(eq=False, repr=False)
class LRMFS(GuardedRanker):
    """Rank features by robust regression on labels that may move away from the decision boundary.

    As published, the shared subspace Q solves a Sylvester equation whose right-hand side is zero.
    So Q is zero from the second iteration on and both graph terms vanish: ``beta`` and ``gamma``
    have no effect and are kept only so that published settings can be written down.

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
    .. code-block:: bibtex

        @article{fan2025,
          author  = {Fan, Yuling and Liu, Peizhong and Liu, Jinghua},
          title   = {Multi-label Feature Selection via Label Relaxation},
          journal = {Applied Soft Computing},
          volume  = {175},
          pages   = {113047},
          year    = {2025},
          doi     = {10.1016/j.asoc.2025.113047}
        }

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((40, 4))
    >>> Y = np.column_stack([X[:, 2] > 0.5, X[:, 2] + X[:, 0] > 1.2])
    >>> int(LRMFS().fit(X, Y).ranking_[0])
    2
    """

    alpha: float = 0.1
    beta: float = 1.0
    gamma: float = 1.0
    lambda_: float = 1.0
    max_iter: int = 10
    tolerance: float = 1e-3
    seed: int = 0
    guard: bool = True

    def _outcome(self, X: FloatArray, Y: FloatArray, kept: KeptFeatures) -> RankerOutcome:
        slack, subspace = self._draw(Y.shape[0], kept.total, Y.shape[1])
        steps = _Steps(X, Y, slack, kept.rows(subspace), self.alpha, self.lambda_)
        run = reweighted_least_squares(
            steps,
            np.zeros((X.shape[1], Y.shape[1])),
            max_iter=self.max_iter,
            tolerance=self.tolerance,
            guard=self.guard,
        )
        return RankerOutcome(
            (run.weights**2).sum(axis=1), run.iterations, run.objective, run.stopped_early
        )

    def _draw(
        self, n_samples: int, n_features: int, n_labels: int
    ) -> tuple[FloatArray, FloatArray]:
        """Draw the slack before the subspace, so that a further feature changes neither for the others."""
        generator = np.random.default_rng(self.seed)
        return generator.random((n_samples, n_labels)), generator.random((n_features, n_labels))


class _Steps:
    """The weights of samples and features between two solutions, and the relaxed labels."""

    def __init__(
        self,
        X: FloatArray,
        Y: FloatArray,
        slack: FloatArray,
        subspace: FloatArray,
        alpha: float,
        lambda_: float,
    ) -> None:
        self.X, self.Y, self.side = X, Y, 2 * Y - 1
        self.alpha, self.lambda_ = alpha, lambda_
        self.solver = ridge_solver(X)
        self.subspace: FloatArray | None = subspace
        self.relaxed = Y + self.side * slack
        self.P, self.Z = np.full(X.shape[1], 1 / (alpha + lambda_)), np.ones(X.shape[0])

    def solve(self) -> FloatArray:
        """Solve with C − αQQᵀ the first time, with C alone ever after."""
        W = self.solver.solve(self.P, self.relaxed, Z=self.Z)
        if self.subspace is not None:
            W, self.subspace = self._with_subspace(W, self.subspace), None
        return W

    def _with_subspace(self, W: FloatArray, Q: FloatArray) -> FloatArray:
        """Turn the solution with C into that with C − αQQᵀ through a small system (Woodbury)."""
        through = self.solver.solve(self.P, np.zeros_like(self.Y), R=Q, Z=self.Z)
        small = np.eye(Q.shape[1]) - self.alpha * (Q.T @ through)
        corrected: FloatArray = W + self.alpha * through @ np.linalg.solve(small, Q.T @ W)
        return corrected

    def reweigh(self, W: FloatArray) -> float:
        """Weigh down what fits badly and what is small; let the labels move where they are overshot."""
        fitted = self.X @ W
        residuals, norms = row_norms(fitted - self.relaxed), row_norms(W)
        self.relaxed = self.Y + self.side * np.maximum(self.side * (fitted - self.Y), 0.0)
        self.Z = 0.5 / (residuals + EPS)
        self.P = 2 * (norms + EPS) / (2 * self.alpha * (norms + EPS) + self.lambda_)
        return float(residuals.sum() + self.alpha * np.vdot(W, W) + self.lambda_ * norms.sum())


methods.add(LRMFS, "lrmfs")
