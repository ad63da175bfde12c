"""Make values that differ by float noise equal, so that ties are ties.

``0.3 - 0.2`` and ``0.2 - 0.1`` differ in the last bit; ranked raw they are not tied, and a rank test then
answers a question about rounding. Everything that ranks here settles first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

TOLERANCE = 1e-9
"""Relative tolerance below which two scores count as the same measurement."""


def merge_close(values: ArrayLike, slack: ArrayLike) -> FloatArray:
    """Give values that lie within their slack of each other one and the same value, column by column.

    Sorted neighbours are joined where their gap is at most the larger of their two slacks; a chain of
    joined neighbours takes the value of its smallest member. Unlike rounding to a grid this cannot tear
    two neighbours apart that straddle a grid line.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, columns)
        The values.
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
    starts_chain = np.ones(array.shape, dtype=bool)
    starts_chain[1:] = np.diff(ordered, axis=0) > np.maximum(allowed[1:], allowed[:-1])
    position = np.arange(array.shape[0]).reshape((-1,) + (1,) * (array.ndim - 1))
    first = np.maximum.accumulate(np.where(starts_chain, position, 0), axis=0)
    merged = np.empty_like(array)
    np.put_along_axis(merged, order, np.take_along_axis(ordered, first, axis=0), axis=0)
    return merged


def settle_differences(a: ArrayLike, b: ArrayLike, tolerance: float = TOLERANCE) -> FloatArray:
    """Return ``b - a`` with float noise taken out: exact zeros, and exact ties of the magnitudes.

    A difference within ``tolerance * max(|a|, |b|)`` of zero is zero. Magnitudes that are closer to each
    other than that are made equal.

    Parameters
    ----------
    a, b : array-like of shape (n,) or (n, columns)
        Paired scores.
    tolerance : float, default=1e-9
        Relative tolerance; 0 leaves the differences as they are.

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
    slack = tolerance * np.maximum(np.abs(first), np.abs(second))
    magnitude = np.abs(difference)
    zero = magnitude <= slack
    # A zero must not be chained to a small true difference, so zeros stand far below everything.
    merged = merge_close(np.where(zero, -1.0, magnitude), np.where(zero, 0.0, slack))
    settled: FloatArray = np.where(zero, 0.0, np.sign(difference) * merged)
    return settled
