"""Take float noise out of differences, so that ties are ties: the rule of `paragone.ties` for paired scores.

``0.3 - 0.2`` and ``0.2 - 0.1`` differ in the last bit; ranked raw they are not tied, and a rank test then
answers a question about rounding. Every test on differences settles them first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.ties import TOLERANCE, FloatArray, merge_close, slack_of


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
        The size of what the scores were made from, where that is larger than the scores: 1 for a score without a
        unit, the measurements for absolute residuals. See `paragone.ties`.

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
    settled: FloatArray = np.where(np.abs(mean) <= slack_of(np.abs(difference).mean(axis=0)), 0.0, mean)
    return settled
