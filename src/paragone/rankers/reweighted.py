"""The engine of the reweighted-least-squares family: (XᵀZX + P⁻¹) W = XᵀZF + R with diagonal Z and P.

The row-sparsity term of these methods makes P⁻¹ grow without bound as a row of W vanishes. So P itself
is handed over, never its inverse, and the system is scaled by its root; where there are more features than
samples the solution goes through the n x n matrix instead (Woodbury).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from paragone.rankers.multiplicative import all_finite
from paragone.validation import FloatArray


class Steps(Protocol):
    """A method of the family: it solves for the weights, then reweighs samples, features and targets."""

    def solve(self) -> FloatArray:
        """Return new weights; they are not changed afterwards by anyone."""

    def reweigh(self, W: FloatArray) -> float:
        """Take the new weights in and return the objective at them."""


@dataclass(frozen=True)
class Solution:
    """The weights that were kept, the iterations run and the objective after each."""

    weights: FloatArray
    iterations: int
    objective: list[float]
    stopped_early: bool


def reweighted_least_squares(
    steps: Steps,
    start: FloatArray,
    *,
    max_iter: int,
    tolerance: float,
    guard: bool,
    runaway: float = np.inf,
) -> Solution:
    """Alternate solving and reweighing until the objective stands still.

    Parameters
    ----------
    steps : Steps
        The method.
    start : ndarray of shape (n_features, n_labels)
        What the guard falls back to when not even the first weights are finite.
    max_iter : int
        The most iterations.
    tolerance : float
        Stop when the objective changed by no more than this.
    guard : bool
        Keep the last finite weights; without it weights that are not finite are returned as they are,
        since nothing finite can follow from them.
    runaway : float, default=inf
        Under guard, stop when the objective is more than this many times its least, and keep the weights
        of the least.
    """
    W = least = start
    trace: list[float] = []
    for iteration in range(max_iter):
        following = steps.solve()
        if not all_finite(following):
            return Solution(W if guard else following, iteration, trace, stopped_early=guard)
        W = following
        trace.append(steps.reweigh(W))
        if trace[-1] == min(trace):
            least = W
        if guard and trace[-1] > runaway * min(trace):
            return Solution(least, len(trace), trace, stopped_early=True)
        if iteration > 0 and abs(trace[-1] - trace[-2]) <= tolerance:
            break
    return Solution(W, len(trace), trace, stopped_early=False)


class RidgeSolver(Protocol):
    """Solves (XᵀZX + P⁻¹) W = XᵀZF + R."""

    def solve(
        self, P: FloatArray, F: FloatArray, R: FloatArray | None = None, Z: FloatArray | None = None
    ) -> FloatArray:
        """Return W, of shape (n_features, n_columns).

        Parameters
        ----------
        P : ndarray of shape (n_features,)
            Inverse of the diagonal penalty.
        F : ndarray of shape (n_samples, n_columns)
            Right-hand side on the samples.
        R : ndarray of shape (n_features, n_columns), optional
            Right-hand side on the features; zero if left out.
        Z : ndarray of shape (n_samples,), optional
            Weights of the samples; one if left out.
        """


class TallSolver:
    """Solves through the d x d matrix; for data with at least as many samples as features."""

    def __init__(self, X: FloatArray) -> None:
        self._X = X
        self._gram: FloatArray | None = None

    def solve(
        self, P: FloatArray, F: FloatArray, R: FloatArray | None = None, Z: FloatArray | None = None
    ) -> FloatArray:
        """Return W, of shape (n_features, n_columns)."""
        root = np.sqrt(P)
        if Z is None:
            self._gram = self._X.T @ self._X if self._gram is None else self._gram
            system, right = self._gram.copy(), self._X.T @ F
        else:
            weighted = self._X * np.sqrt(Z)[:, None]
            system, right = weighted.T @ weighted, self._X.T @ (Z[:, None] * F)
        if R is not None:
            right += R
        system *= root
        system *= root[:, None]
        return root[:, None] * _solve_one_plus(system, root[:, None] * right)


class WideSolver:
    """Solves through the n x n matrix; for data with more features than samples."""

    def __init__(self, X: FloatArray) -> None:
        self._X = X
        self._scaled = np.empty_like(X)

    def solve(
        self, P: FloatArray, F: FloatArray, R: FloatArray | None = None, Z: FloatArray | None = None
    ) -> FloatArray:
        """Return W, of shape (n_features, n_columns)."""
        scaled = np.multiply(self._X, np.sqrt(P), out=self._scaled)
        system = scaled @ scaled.T
        rest = F if R is None else F - self._X @ (P[:, None] * R)
        if Z is None:
            inner = _solve_one_plus(system, rest)
        else:
            root = np.sqrt(Z)
            system *= root
            system *= root[:, None]
            inner = root[:, None] * _solve_one_plus(system, root[:, None] * rest)
        right = self._X.T @ inner
        if R is not None:
            right += R
        return P[:, None] * right


def ridge_solver(X: FloatArray) -> RidgeSolver:
    """Choose the solver for the smaller side of ``X``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0, 2.0]])
    >>> ridge_solver(X).solve(np.ones(3), np.array([[6.0]])).ravel()
    array([1., 0., 2.])
    """
    return WideSolver(X) if X.shape[1] > X.shape[0] else TallSolver(X)


def _solve_one_plus(system: FloatArray, right: FloatArray) -> FloatArray:
    """Solve (I + system) W = right; ``system`` is symmetric, not negative, and overwritten.

    Where it is not finite, or no longer positive definite by rounding, so is the solution: the caller
    decides what becomes of it.
    """
    if not np.isfinite(system.sum()):
        return np.full_like(right, np.nan)
    system[np.diag_indices_from(system)] += 1.0
    try:
        factor = cho_factor(system.T, lower=False, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return np.full_like(right, np.nan)
    solution: FloatArray = cho_solve(factor, right, check_finite=False)
    return solution
