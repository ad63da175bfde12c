"""The bootstrap interval of the median without resampling: its bootstrap distribution is known exactly.

The median of a resample is an order statistic (or the mean of two), so the chance that it is any given one
of the observed values follows from the binomial alone (Maritz and Jarrett 1978, *JASA* 73:194-196).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from paragone.errors import InputError
from paragone.ties import FloatArray

WIDEST_GAP = 40
"""How far apart the two middle draws may stand: none of n draws falls on g places with a chance below exp(-g)."""

MEDIANS_AT_ONCE = 2_000_000


def median_interval(differences: ArrayLike, *, level: float = 0.95) -> FloatArray:
    """Return the percentile bootstrap interval of the median, as infinitely many resamples would give it.

    Parameters
    ----------
    differences : array-like of shape (n,) or (n, columns)
        Paired differences.
    level : float, default=0.95
        Confidence level.

    Returns
    -------
    ndarray of shape (2,) or (2, columns)
        Lower and upper ends.

    Examples
    --------
    >>> median_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).tolist()
    [2.0, 6.0]
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim not in (1, 2) or len(values) == 0 or not np.isfinite(values).all():
        raise InputError("an interval of the median takes one or more finite differences")
    ordered = np.sort(values.reshape(len(values), -1), axis=0)
    step = max(1, MEDIANS_AT_ONCE // len(_pairs_of_places(len(ordered))[0]))
    blocks = [_ends(ordered[:, start : start + step], level) for start in range(0, ordered.shape[1], step)]
    ends = np.concatenate(blocks, axis=1) if blocks else np.empty((2, 0))
    return ends[:, 0] if values.ndim == 1 else ends


def _ends(ordered: FloatArray, level: float) -> FloatArray:
    """Return the ends of the intervals of some columns."""
    first, second, weight = _pairs_of_places(len(ordered))
    medians = (ordered[first] + ordered[second]) / 2
    order = np.argsort(medians, axis=0, kind="stable")
    reached = np.cumsum(weight[order], axis=0)
    ends = np.empty((2, ordered.shape[1]))
    for row, tail in enumerate(((1 - level) / 2, (1 + level) / 2)):
        place = np.minimum((reached < tail * reached[-1]).sum(axis=0), len(first) - 1)
        ends[row] = np.take_along_axis(medians, np.take_along_axis(order, place[None], axis=0), axis=0)[0]
    return ends


@lru_cache(maxsize=32)
def _pairs_of_places(n: int) -> tuple[np.ndarray, np.ndarray, FloatArray]:
    """Return which two sorted places the middle of a resample falls on, and how likely."""
    m = n // 2
    upper = _share_of_maximum(n, m + 1) if n % 2 else None
    if upper is not None:
        likely = upper > 1e-15
        place = np.flatnonzero(likely)
        return place, place, upper[likely]
    first, second = _near_pairs(n)
    share = _log_share(n, m)
    apart = np.exp(share[first] + share[::-1][second] + gammaln(n + 1) - 2 * gammaln(m + 1))
    apart[first == second] = 0.0
    lone = _share_of_maximum(n, m)
    lone -= np.bincount(first, weights=apart, minlength=n)
    weight = apart
    weight[first == second] = np.maximum(lone, 0.0)
    likely = weight > 1e-15
    return first[likely], second[likely], weight[likely]


def _near_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of places, the lower first, between which no draw may fall but for a chance of 1e-17."""
    first = np.repeat(np.arange(n), WIDEST_GAP + 1)
    second = first + np.tile(np.arange(WIDEST_GAP + 1), n)
    inside = second < n
    return first[inside], second[inside]


def _log_share(n: int, m: int) -> FloatArray:
    """Return log of ((i+1)/n)^m - (i/n)^m: m draws fall on places 0..i and reach place i."""
    upper = np.arange(1, n + 1) / n
    lower = np.arange(n) / n
    with np.errstate(divide="ignore"):
        result: FloatArray = m * np.log(upper) + np.log1p(-((lower / upper) ** m))
    return result


def _share_of_maximum(n: int, order: int) -> FloatArray:
    """Return the chance that the ``order``-th smallest of n draws stands at each place."""
    from scipy.special import betainc

    reached = betainc(order, n - order + 1, np.arange(1, n + 1) / n)
    return np.diff(reached, prepend=0.0)
