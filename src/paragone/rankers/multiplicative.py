"""The engine of the multiplicative-update family: W ← W ∘ numerator / max(denominator, floor)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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
        Fills numerator and denominator of the update in place and returns the objective at its ``W``,
        which is nearly free once those products are there.
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
