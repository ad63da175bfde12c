"""LSMFS: multi-label feature selection by label relaxation and shared information."""

from __future__ import annotations

from typing import Literal

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.rankers.guarded import GuardedRanker, Kept, Outcome
from paragone.rankers.multiplicative import all_finite, row_norms
from paragone.rankers.reweighted import ridge_solver
from paragone.validation import FloatArray

EPS = float(np.finfo(np.float64).eps)
VANISHED = 1e-150
RUNAWAY = 2.0
FORMS = ("reference", "consistent")


class LSMFS(GuardedRanker):
    """Rank features by regression on relaxed pseudo-labels that share information.

    The program of the authors does not descend on the printed objective: after two or three iterations the
    pseudo-labels grow without bound on most data. The guard takes an objective of more than twice its least
    for such a runaway, stops, and keeps the iterate with the least.

    Parameters
    ----------
    alpha : float, default=1
        Weight of the pseudo-labels' loyalty to the relaxed labels; above 0.
    beta : float, default=1
        Weight of the label graph.
    gamma : float, default=1
        Weight of the row sparsity; above 0.
    lambda_ : float, default=1
        Weight of the low rank. No defaults are published; all four are 1 here.
    form : {"reference", "consistent"}, default="reference"
        The update of the pseudo-labels: that of the authors' program, or the one that follows from the
        printed objective (where ``alpha``, not ``beta``, weighs the relaxed labels).
    max_iter : int, default=20
        The most iterations.
    tolerance : float, default=1e-6
        Stop when the objective changed by no more than this.
    seed : int, default=0
        Seed of the first weights, pseudo-labels and slack.
    guard : bool, default=True
        Set constant columns aside, stop a runaway and keep the last finite iterate.

    References
    ----------
    Fan et al.: Label relaxation and shared information for multi-label feature selection, Information
    Sciences 671 (2024) 120662.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((40, 4))
    >>> Y = np.column_stack([X[:, 2] > 0.5, X[:, 2] + X[:, 0] > 1.2])
    >>> fitted = LSMFS().fit(X, Y)
    >>> sorted(fitted.ranking_.tolist()), fitted.diagnostics_["stopped_early"]
    ([0, 1, 2, 3], True)
    """

    def __init__(
        self,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 1.0,
        lambda_: float = 1.0,
        form: Literal["reference", "consistent"] = "reference",
        max_iter: int = 20,
        tolerance: float = 1e-6,
        seed: int = 0,
        guard: bool = True,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.lambda_ = lambda_
        self.form = form
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.seed = seed
        self.guard = guard

    def _outcome(self, X: FloatArray, Y: FloatArray, kept: Kept) -> Outcome:
        if self.form not in FORMS:
            raise unknown_name("form of LSMFS", str(self.form), FORMS)
        if self.alpha <= 0 or self.gamma <= 0:
            raise InputError("alpha and gamma of LSMFS must be above 0")
        V, slack, W = self._draw(Y.shape[0], kept.total, Y.shape[1])
        W, side, solver = kept.rows(W), 2 * Y - 1, ridge_solver(X)
        P, trace, least = np.full(X.shape[1], 1 / self.gamma), list[float](), W
        U, singular, Pt = np.linalg.svd(W, full_matrices=False)
        for iteration in range(self.max_iter):
            relaxed = Y + side * slack
            following = solver.solve(P, V, R=-self.lambda_ * (U @ Pt))
            if not all_finite(following):
                scores = (W if self.guard else following) ** 2
                return Outcome(scores.sum(axis=1), iteration, trace, stopped_early=self.guard)
            W, norms = following, row_norms(following)
            W[norms < VANISHED] = 0.0
            fitted = X @ W
            V = self._pseudo_labels(fitted, relaxed)
            slack = np.maximum(side * (V - Y), 0.0)
            P = 2 * (norms + EPS) / self.gamma
            U, singular, Pt = np.linalg.svd(W, full_matrices=False)
            trace.append(self._objective(fitted, V, relaxed, norms, singular))
            if trace[-1] == min(trace):
                least = W
            if self.guard and trace[-1] > RUNAWAY * min(trace):
                return Outcome((least**2).sum(axis=1), len(trace), trace, stopped_early=True)
            if iteration > 0 and abs(trace[-1] - trace[-2]) <= self.tolerance:
                break
        return Outcome((W**2).sum(axis=1), len(trace), trace)

    def _draw(self, n_samples: int, n_features: int, n_labels: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Draw what has a row a sample first, so that a further feature changes nothing for the others."""
        generator = np.random.default_rng(self.seed)
        V, slack = generator.random((n_samples, n_labels)), generator.random((n_samples, n_labels))
        return V, slack, generator.random((n_features, n_labels))

    def _pseudo_labels(self, fitted: FloatArray, relaxed: FloatArray) -> FloatArray:
        """Multiply by the inverse of aI + b(LI − J), which is (I + (b/a)J) / (a + bL)."""
        n_labels = fitted.shape[1]
        if self.form == "reference":
            a, b, mixed = self.alpha, 2 * self.beta, fitted + self.beta * relaxed
        else:
            a, b, mixed = 1 + self.alpha, self.beta, fitted + self.alpha * relaxed
        shared: FloatArray = (mixed + (b / a) * mixed.sum(axis=1, keepdims=True)) / (a + b * n_labels)
        return shared

    def _objective(
        self,
        fitted: FloatArray,
        V: FloatArray,
        relaxed: FloatArray,
        norms: FloatArray,
        singular: FloatArray,
    ) -> float:
        """Return the objective; where the paper has the nuclear norm, the program sums the rows' norms."""
        graph = V.shape[1] * np.vdot(V, V) - (V.sum(axis=1) ** 2).sum()
        low_rank = norms.sum() if self.form == "reference" else singular.sum()
        return float(
            ((fitted - V) ** 2).sum()
            + self.alpha * ((V - relaxed) ** 2).sum()
            + self.beta * graph
            + self.gamma * norms.sum()
            + self.lambda_ * low_rank
        )
