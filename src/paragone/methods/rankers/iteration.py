"""The loops that published rankers share: multiplicative updates, reweighted least squares, products with X'X."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from paragone.methods.rankers.base import GuardedRanker, KeptFeatures, RankerOutcome
from paragone.methods.rankers.graphs import cosine_similarity
from paragone.validation import FloatArray

Terms = Callable[[FloatArray, FloatArray, FloatArray], float]
"""``terms(W, numerator, denominator)`` fills both arrays and returns the objective at ``W``."""


@dataclass(frozen=True)
class Updates:
    """The last weights, how many updates gave them, and the objective before each update."""

    weights: FloatArray
    iterations: int
    objective: list[float]
    stopped_early: bool


def multiplicative_updates(
    start: FloatArray,
    terms: Terms,
    *,
    floor: float,
    max_iter: int,
    tolerance: float | None = None,
    guard: bool = True,
) -> Updates:
    """Repeat the multiplicative update.

    Parameters
    ----------
    start : ndarray of shape (n_features, n_labels)
        Non-negative weights to start from; left as they are.
    terms : callable
        Fills numerator and denominator of the update in place and returns the objective at its
        ``W``, which is nearly free once those products are there.
    floor : float
        The least denominator.
    max_iter : int
        The number of updates.
    tolerance : float, optional
        Stop when the objective changed by no more than this between two iterates.
    guard : bool, default=True
        Keep the last finite weights and stop when an update leaves the finite numbers.

    Returns
    -------
    Updates
        ``objective[t]`` belongs to the iterate before update ``t + 1``.
    """
    W = start.copy()
    numerator, denominator = np.empty_like(W), np.empty_like(W)
    trace: list[float] = []
    for iteration in range(max_iter):
        trace.append(float(terms(W, numerator, denominator)))
        if tolerance is not None and iteration > 0 and abs(trace[-1] - trace[-2]) <= tolerance:
            return Updates(W, iteration, trace, stopped_early=False)
        np.maximum(denominator, floor, out=denominator)
        np.divide(numerator, denominator, out=numerator)
        np.multiply(W, numerator, out=numerator)
        if guard and not all_finite(numerator):
            return Updates(W, iteration, trace, stopped_early=True)
        W, numerator = numerator, W
    return Updates(W, max_iter, trace, stopped_early=False)


def all_finite(array: FloatArray) -> bool:
    """Say whether every entry is finite; one pass where the sum is finite too.

    Examples
    --------
    >>> import numpy as np
    >>> all_finite(np.array([1e308, 1e308])), all_finite(np.array([1.0, np.nan]))
    (True, False)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = array.sum()
    return bool(np.isfinite(total)) or bool(np.isfinite(array).all())


def row_norms(W: FloatArray) -> FloatArray:
    """Return the Euclidean norm of every row.

    Examples
    --------
    >>> import numpy as np
    >>> row_norms(np.array([[3.0, 4.0]]))
    array([5.])
    """
    squares: FloatArray = np.einsum("jl,jl->j", W, W)
    return np.sqrt(squares)


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
        Keep the last finite weights; without it weights that are not finite are returned as they
        are, since nothing finite can follow from them.
    runaway : float, default=inf
        Under guard, stop when the objective is more than this many times its least, and keep the
        weights of the least.
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

    Where it is not finite, or no longer positive definite by rounding, so is the solution: the
    caller decides what becomes of it.
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


SPARSE_COST = 12


class Gram(Protocol):
    """Applies X'X to a matrix of weights."""

    def apply(self, W: FloatArray, out: FloatArray) -> FloatArray:
        """Write X'X W into ``out`` and return it."""


class FormedGram:
    """X'X formed once: right where X has more rows than columns, or not many fewer."""

    def __init__(self, X: FloatArray) -> None:
        self._gram: FloatArray = X.T @ X

    def apply(self, W: FloatArray, out: FloatArray) -> FloatArray:
        """Write X'X W into ``out`` and return it."""
        return np.matmul(self._gram, W, out=out)


class FactoredGram:
    """X'(XW): nothing with as many entries as features squared is ever formed."""

    def __init__(self, X: FloatArray) -> None:
        self._X = X

    def apply(self, W: FloatArray, out: FloatArray) -> FloatArray:
        """Write X'X W into ``out`` and return it."""
        return np.matmul(self._X.T, self._X @ W, out=out)


class SparseGram:
    """X'(XW) over the entries of X that are not zero."""

    def __init__(self, X: FloatArray) -> None:
        self._X = sparse.csr_array(X)
        self._transposed = sparse.csr_array(X.T)

    def apply(self, W: FloatArray, out: FloatArray) -> FloatArray:
        """Write X'X W into ``out`` and return it."""
        np.copyto(out, self._transposed @ (self._X @ W))
        return out


def gram_of(X: FloatArray, *, n_labels: int, applications: int) -> Gram:
    """Choose the form of X'X that takes the least time.

    Forming it costs ``n d²`` operations (the product is symmetric) and ``2 d² L`` an application,
    against ``4 n d L`` an application in factors: with many applications the break-even is near d =
    2n. An operation on a sparse X takes as long as about twelve on a dense one.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The features.
    n_labels : int
        The number of columns of the weights it will be applied to.
    applications : int
        How often it will be applied.

    Examples
    --------
    >>> import numpy as np
    >>> wide, tall = np.ones((3, 50)), np.ones((50, 3))
    >>> [type(gram_of(X, n_labels=5, applications=40)).__name__ for X in (wide, tall)]
    ['FactoredGram', 'FormedGram']
    """
    n, d = X.shape
    formed = n * d * d + applications * 2 * d * d * n_labels
    factored = applications * 4 * n * d * n_labels
    if SPARSE_COST * factored * (np.count_nonzero(X) / X.size) < min(formed, factored):
        return SparseGram(X)
    return FormedGram(X) if formed <= factored else FactoredGram(X)


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

    def _outcome(self, X: FloatArray, Y: FloatArray, kept: KeptFeatures) -> RankerOutcome:
        self._refuse_negative(X)
        start = kept.rows(self._draw(kept.total, Y.shape[1]))
        gram = gram_of(X, n_labels=Y.shape[1], applications=self.max_iter)
        terms = FusionTerms.of(gram, X, Y, self.alpha, self.beta, self.gamma, self._penalty)
        run = multiplicative_updates(
            start, terms, floor=EPS32, max_iter=self.max_iter, guard=self.guard
        )
        return RankerOutcome(
            row_norms(run.weights), run.iterations, run.objective, run.stopped_early
        )

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
