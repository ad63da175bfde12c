"""Intervals of means over rows or clusters of rows, and of the median of paired differences.

Efron (1987) *JASA* 82:171-185 for the BCa bootstrap. The unit that is drawn is the row (a dataset, a subject, a sample)
or a whole cluster of rows, so that what belongs together stays together. All columns share the same draws.

The bootstrap distribution of the median is known exactly: the median of a resample is an order statistic (or the mean
of two), so the chance that it is any given one of the observed values follows from the binomial alone (Maritz and
Jarrett 1978, *JASA* 73:194-196).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammaln, ndtr, ndtri, stdtrit

from paragone.errors import InputError, unknown_name
from paragone.ties import FloatArray

IntervalKind = Literal["bca", "percentile"]

FEW_UNITS = 15
"""Units below which the percentiles of a bootstrap, which are those of a normal at best, are far too narrow."""

CHUNK_VALUES = 4_000_000
"""Drawn values held at once (32 MB)."""


@dataclass(frozen=True)
class Interval:
    """An estimate between its confidence limits, which are NaN where nothing is known of its spread.

    Examples
    --------
    >>> Interval(0.2, 0.1, 0.4).turned()
    Interval(estimate=-0.2, low=-0.4, high=-0.1)
    """

    estimate: float
    low: float = math.nan
    high: float = math.nan

    def turned(self) -> Interval:
        """Return the interval of the negated estimate."""
        return Interval(-self.estimate, -self.high, -self.low)


def bootstrap_means(
    values: FloatArray, *, clusters: NDArray[Any] | None = None, n_resamples: int = 1000, seed: int = 0
) -> FloatArray:
    """Draw rows (or whole clusters) with replacement and return the mean of every column each time.

    Parameters
    ----------
    values : ndarray of shape (n, columns)
        Such as one column per metric and cut-off, or per rival.
    clusters : ndarray of int, optional
        The cluster of each row; a cluster is drawn whole, and the mean is over the rows drawn.
    n_resamples : int, default=1000
        How many times to draw.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    ndarray of shape (n_resamples, columns)
        The means.

    Examples
    --------
    >>> bootstrap_means(np.ones((5, 1)), n_resamples=2).tolist()
    [[1.0], [1.0]]
    """
    sums, sizes = (values, np.ones(len(values))) if clusters is None else _cluster_sums(values, clusters)
    generator, units = np.random.default_rng(seed), len(sizes)
    step = max(1, CHUNK_VALUES // units)
    means = []
    for start in range(0, n_resamples, step):
        draws = generator.integers(0, units, size=(min(step, n_resamples - start), units))
        # How often every unit was drawn, a row per resample: then all means are one product.
        places = draws + units * np.arange(len(draws))[:, None]
        counts = np.bincount(places.ravel(), minlength=draws.size).reshape(draws.shape).astype(np.float64)
        means.append(counts @ sums / (counts @ sizes)[:, None])
    return np.concatenate(means)


def _cluster_sums(values: FloatArray, clusters: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    counts = np.bincount(clusters)
    columns = [np.bincount(clusters, weights=column)[counts > 0] for column in values.T]
    return np.stack(columns, axis=1), np.asarray(counts[counts > 0], dtype=np.float64)


def percentile_interval(draws: FloatArray, level: float, units: int) -> FloatArray:
    """Return the ends of the interval of each column of bootstrap means, in two rows.

    Parameters
    ----------
    draws : ndarray of shape (n_resamples, columns)
        Means, or figures made of means, of every resample.
    level : float
        Confidence level.
    units : int
        How many rows or clusters were drawn from. Fewer than 15 have the interval of Student's t by the spread of the
        draws, one unit has none (NaN).

    Returns
    -------
    ndarray of shape (2, columns)
        Lower and upper ends.

    Examples
    --------
    >>> draws = np.linspace(0, 1, 101)[:, None]
    >>> [percentile_interval(draws, 0.9, units).ravel().round(2).tolist() for units in (20, 1)]
    [[0.05, 0.95], [nan, nan]]
    """
    _check_level(level)
    if units >= FEW_UNITS:
        return _quantiles(draws, _tails(level, draws.shape[1]))
    if units < 2:
        return np.full((2, draws.shape[1]), np.nan)
    # Drawn from n units, a mean varies by (n - 1) / n of what it varies by from sample to sample.
    half = float(stdtrit(units - 1, (1 + level) / 2)) * draws.std(axis=0) * math.sqrt(units / (units - 1))
    centre = draws.mean(axis=0)
    return np.stack([centre - half, centre + half])


def paired_bootstrap(
    differences: ArrayLike,
    *,
    kind: IntervalKind = "bca",
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> FloatArray:
    """Return a bootstrap confidence interval of the mean difference.

    Parameters
    ----------
    differences : array-like of shape (n,) or (n, columns)
        Paired differences; several columns (rivals) share the draws of pairs.
    kind : {"bca", "percentile"}, default="bca"
        Bias-corrected and accelerated, or plain percentiles.
    level : float, default=0.95
        Confidence level.
    n_resamples : int, default=10000
        Number of resamples.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    ndarray of shape (2,) or (2, columns)
        Lower and upper ends. A single pair, or pairs that all differ alike, give an interval of no width.

    Examples
    --------
    >>> paired_bootstrap([0.02, 0.01, 0.03, 0.00, 0.04, 0.02], seed=1).round(3).tolist()
    [0.01, 0.03]
    """
    values = np.asarray(differences, dtype=np.float64)
    table = values[:, None] if values.ndim == 1 else values
    if table.ndim != 2 or len(table) == 0 or not np.isfinite(table).all():
        raise InputError("a bootstrap takes one or more finite differences")
    if kind not in get_args(IntervalKind):
        raise unknown_name("interval", kind, get_args(IntervalKind))
    _check_level(level)
    replicates = bootstrap_means(table, n_resamples=n_resamples, seed=seed)
    tail = _tails(level, table.shape[1])
    ends = _quantiles(replicates, _bca_tails(table, replicates, tail) if kind == "bca" else tail)
    return ends[:, 0] if values.ndim == 1 else ends


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"the level of an interval lies between 0 and 1, not {level}")


def _tails(level: float, columns: int) -> FloatArray:
    return np.repeat([[(1 - level) / 2], [(1 + level) / 2]], columns, axis=1)


def _bca_tails(table: FloatArray, replicates: FloatArray, tail: FloatArray) -> FloatArray:
    """Move the percentiles by the bias and the acceleration (Efron 1987, equations 2.3 and 6.6)."""
    point = table.mean(axis=0)
    # Replicates equal to the estimate but for the order of summation are ties: half of them lie below.
    slack = 1e-12 * np.maximum(np.abs(table).max(axis=0), np.finfo(float).tiny)
    below = (replicates < point - slack).mean(axis=0)
    tied = (np.abs(replicates - point) <= slack).mean(axis=0)
    share = np.clip(below + tied / 2, 0.5 / len(replicates), 1 - 0.5 / len(replicates))
    bias = ndtri(share)
    shifted = bias + ndtri(tail)
    moved: FloatArray = ndtr(bias + shifted / (1 - _acceleration(table) * shifted))
    return moved


def _acceleration(table: FloatArray) -> FloatArray:
    """Return the jackknife acceleration, a sixth of the skewness of the influence values."""
    if len(table) < 3:
        return np.zeros(table.shape[1])
    influence = table - table.mean(axis=0)
    squares = np.square(influence).sum(axis=0)
    cubes = (influence**3).sum(axis=0)
    skewness: FloatArray = np.divide(cubes, squares**1.5, out=np.zeros_like(cubes), where=squares > 0)
    return skewness / 6


def _quantiles(replicates: FloatArray, tail: FloatArray) -> FloatArray:
    """Return quantiles with a probability of its own for every column (linear interpolation)."""
    ordered = np.sort(replicates, axis=0)
    position = tail * (len(ordered) - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, len(ordered) - 1)
    low = np.take_along_axis(ordered, below, axis=0)
    high = np.take_along_axis(ordered, above, axis=0)
    ends: FloatArray = low + (position - below) * (high - low)
    return ends


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
    weight[first == second] = np.maximum(lone, 0.0)[first[first == second]]
    likely = weight > 1e-15
    return first[likely], second[likely], weight[likely]


def _near_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of places, the lower first, between which no draw may fall but for a chance of 1e-17."""
    # The middle of a resample stands within ten roots of the number from the middle place, but for a chance of 1e-80.
    reach = math.ceil(10 * math.sqrt(n)) + WIDEST_GAP
    near = np.arange(max(0, n // 2 - reach), min(n, n // 2 + reach))
    first = np.repeat(near, WIDEST_GAP + 1)
    second = first + np.tile(np.arange(WIDEST_GAP + 1), near.size)
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
    reached = betainc(order, n - order + 1, np.arange(1, n + 1) / n)
    return np.diff(reached, prepend=0.0)
