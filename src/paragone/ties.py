"""The one rule of ties: what differs by rounding alone is equal, wherever something is ranked, marked or chosen.

The same sum in another order, on another processor or with another number of threads ends in other
last bits. A rank, a star, a choice or an order of lines that went by those bits would say something
about the machine and nothing about the methods. So everything that ranks, marks, chooses or sorts
by scores asks here.

**The rule.** Two numbers are equal where they differ by at most `TOLERANCE` (1e-9) times their
size, and so are all that a chain of such neighbours joins. Rounding stays near 1e-16 of the size, a
few orders above after long sums and solvers; a difference that means something is a thousandth, or
at the very least one sample in a million. A billionth lies far from both, so no result rests on its
exact value.

- *Size* is the larger of the two magnitudes. Nothing is added to it for numbers in the units of
  somebody's data, where
  a femtomole may be much: the rule is the same in all units. Numbers that were made from larger
  ones by subtraction (a residual near 0, the R2 of a constant) carry the rounding of those; who
  knows their size says so (``size``: 1 for a score without a unit, the largest measurement for
  residuals), and it counts where it is larger.
- *Chains.* "Within a billionth" alone is not transitive; the chain of sorted neighbours is. It
  depends neither on the
  order in which the numbers come, nor on their direction, nor on their unit, and unlike rounding to
  a grid it never tears apart two neighbours that straddle a grid line.
- *Not a number* is equal to nothing, is never the best, and comes last. Infinities are equal to
  themselves only.
- *Equals stay in the order in which they were declared*, and all that are equal to the best are the
  best.

Everything here goes by losses, of which the smallest is best: negate scores of which the highest
is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

TOLERANCE = 1e-9
"""Relative difference up to which two numbers count as the same measurement."""


def merge_close(values: ArrayLike, slack: ArrayLike) -> FloatArray:
    """Give values that lie within their slack of each other one and the same value, column by column.

    Sorted neighbours are joined where their gap is at most the larger of their two slacks; a chain
    of joined neighbours takes the value of its smallest member.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, columns)
        The values; NaN stays NaN, and infinities are joined with nothing but themselves.
    slack : array-like, broadcastable to ``values``
        How far apart two equal measurements may lie.

    Returns
    -------
    ndarray of float64
        The values, equal where they are close, in their old places.

    Examples
    --------
    >>> merge_close([0.1, 0.30000000000000004, 0.3], 1e-9).tolist()
    [0.1, 0.3, 0.3]
    """
    array = np.asarray(values, dtype=np.float64)
    spread = np.broadcast_to(np.asarray(slack, dtype=np.float64), array.shape)
    order = np.argsort(array, axis=0, kind="stable")
    ordered = np.take_along_axis(array, order, axis=0)
    allowed = np.take_along_axis(spread, order, axis=0)
    upper, lower = ordered[1:], ordered[:-1]
    # The gap of two infinities is not a number, that of two huge values may overflow: neither is
    # close, and is told.
    with np.errstate(invalid="ignore", over="ignore"):
        close = (
            (upper - lower <= np.maximum(allowed[1:], allowed[:-1]))
            & np.isfinite(lower)
            & np.isfinite(upper)
        )
    starts_chain = np.ones(array.shape, dtype=bool)
    starts_chain[1:] = ~(close | (upper == lower))
    position = np.arange(array.shape[0]).reshape((-1,) + (1,) * (array.ndim - 1))
    first = np.maximum.accumulate(np.where(starts_chain, position, 0), axis=0)
    merged = np.empty_like(array)
    np.put_along_axis(merged, order, np.take_along_axis(ordered, first, axis=0), axis=0)
    return merged


def slack_of(
    magnitude: ArrayLike, size: ArrayLike = 0.0, tolerance: float = TOLERANCE
) -> FloatArray:
    """Return how far from a number of that magnitude another may lie and still be the same measurement.

    Parameters
    ----------
    magnitude : array-like
        Of the number itself, or of the larger of two.
    size : array-like, default=0.0
        The size of what the numbers were made from, in their own unit.
    tolerance : float, default=1e-9
        The relative tolerance. A larger one, which somebody chose for scores, says nothing about
        rounding, so what is due to ``size`` never exceeds `TOLERANCE` of it; 0 means that only
        equal numbers are equal.

    Returns
    -------
    ndarray of float64
        The slack.

    Examples
    --------
    >>> slack_of([2.0, 0.0], size=1.0).tolist(), slack_of(2.0, size=1.0, tolerance=0.01).tolist()
    ([2e-09, 1e-09], 0.02)
    """
    relative = tolerance * np.asarray(magnitude, dtype=np.float64)
    slack: FloatArray = np.maximum(
        relative, min(tolerance, TOLERANCE) * np.asarray(size, dtype=np.float64)
    )
    return slack


def settle(values: ArrayLike, *, size: float = 0.0, tolerance: float = TOLERANCE) -> FloatArray:
    """Return values with those made exactly equal that are ties, so that whatever compares them finds ties.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, columns)
        Scores, losses or any numbers that are compared with each other; each column for itself.
    size : float, default=0.0
        The size of what the values were made from, in their own unit, where it is larger than
        theirs.
    tolerance : float, default=1e-9
        The relative tolerance.

    Returns
    -------
    ndarray of float64
        Every value, or the smallest of those that it is tied with.

    Examples
    --------
    >>> settle([0.1 + 0.2, 0.3, 0.4]).tolist()
    [0.3, 0.3, 0.4]
    >>> settle([1e-17, 0.0]).tolist(), settle([1e-17, 0.0], size=1.0).tolist()
    ([1e-17, 0.0], [0.0, 0.0])
    """
    array = np.asarray(values, dtype=np.float64)
    return merge_close(array, slack_of(np.abs(array), size, tolerance))


def average_ranks(values: FloatArray) -> FloatArray:
    """Return the rank of every value along the last axis, 1 for the smallest; NaN is not a value that can be ranked.

    Equal values share the mean of their places; settle first where rounding must not decide. Two
    searches in the sorted values: several times quicker than `scipy.stats.rankdata`, and without
    importing it.

    Examples
    --------
    >>> import numpy as np
    >>> average_ranks(np.array([0.3, 0.1, 0.3, 0.2])).tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    if values.ndim > 1:
        return (
            np.stack([average_ranks(row) for row in values])
            if len(values)
            else np.empty(values.shape)
        )
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    not_above = np.searchsorted(ordered, values, side="right")
    ranks: FloatArray = (below + not_above + 1) / 2
    return ranks


def rank_losses(
    losses: ArrayLike, *, size: float = 0.0, tolerance: float = TOLERANCE
) -> FloatArray:
    """Rank losses: 1 is the smallest, ties share the mean of their places, what is not a number has no rank (NaN).

    Examples
    --------
    >>> rank_losses([0.3, 0.1 + 0.2, float("nan"), 0.1]).tolist()
    [2.5, 2.5, nan, 1.0]
    """
    settled = settle(losses, size=size, tolerance=tolerance)
    ranks = np.full(settled.shape, np.nan)
    known = ~np.isnan(settled)
    ranks[known] = average_ranks(settled[known])
    return ranks


def loss_order(losses: ArrayLike, *, size: float = 0.0, tolerance: float = TOLERANCE) -> IntArray:
    """Return the places of the losses, the smallest first, ties in the order in which they stand, NaN last.

    Examples
    --------
    >>> loss_order([0.1 + 0.2, 0.3, float("nan"), 0.1]).tolist()
    [3, 0, 1, 2]
    """
    settled = settle(losses, size=size, tolerance=tolerance)
    return np.argsort(settled, kind="stable").astype(np.int64)


def least_loss(losses: ArrayLike, *, size: float = 0.0, tolerance: float = TOLERANCE) -> int:
    """Return the place of the smallest loss, the first of those that are tied; the first of all where none is known.

    Examples
    --------
    >>> least_loss([0.4, 0.1 + 0.2, 0.3])
    1
    """
    return int(loss_order(losses, size=size, tolerance=tolerance)[0])


def best_losses(losses: ArrayLike, *, size: float = 0.0, tolerance: float = TOLERANCE) -> BoolArray:
    """Say of every loss whether it is the smallest of its column or tied with it; NaN never is.

    Examples
    --------
    >>> best_losses([0.1 + 0.2, 0.4, 0.3, float("nan")]).tolist()
    [True, False, True, False]
    """
    settled = settle(losses, size=size, tolerance=tolerance)
    best: BoolArray = settled == np.fmin.reduce(settled, axis=0, initial=np.inf)
    return best


def settle_differences(
    a: ArrayLike, b: ArrayLike, tolerance: float = TOLERANCE, *, size: ArrayLike = 0.0
) -> FloatArray:
    """Return ``b - a`` with float noise taken out: exact zeros, and exact ties of the magnitudes.

    A difference within ``tolerance * max(|a|, |b|)`` of zero is zero. Magnitudes that are closer to each
    other than that are made equal.

    Parameters
    ----------
    a, b : array-like of shape (n,) or (n, columns)
        Paired scores.
    tolerance : float, default=1e-9
        Relative tolerance; 0 leaves the differences as they are.
    size : array-like, default=0.0
        The size of what the scores were made from, where that is larger than the scores: 1 for a
        score without a unit, the measurements for absolute residuals. See `paragone.ties`.

    Returns
    -------
    ndarray of float64
        The settled differences; positive where ``b`` is larger.

    Examples
    --------
    >>> bool(0.3 - 0.2 == 0.2 - 0.1)
    False
    >>> d = settle_differences([0.1, 0.2, 0.4], [0.2, 0.3, 0.1])
    >>> bool(d[0] == d[1]), float(d[2])
    (True, -0.3...)
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    difference = second - first
    slack = slack_of(np.maximum(np.abs(first), np.abs(second)), size, tolerance)
    magnitude = np.abs(difference)
    zero = magnitude <= slack
    # A zero must not be chained to a small true difference, so zeros stand far below everything.
    merged = merge_close(np.where(zero, -1.0, magnitude), np.where(zero, 0.0, slack))
    settled: FloatArray = np.where(zero, 0.0, np.sign(difference) * merged)
    return settled


def settled_mean(difference: FloatArray) -> FloatArray:
    """Return the mean of settled differences down the columns, 0 where they cancel but for rounding.

    Examples
    --------
    >>> difference = np.array([0.3, -0.1, -0.2])
    >>> bool(difference.mean() == 0), bool(settled_mean(difference) == 0)
    (False, True)
    """
    mean = np.asarray(difference.mean(axis=0))
    settled: FloatArray = np.where(
        np.abs(mean) <= slack_of(np.abs(difference).mean(axis=0)), 0.0, mean
    )
    return settled
