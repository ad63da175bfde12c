"""Paired bootstrap intervals of the mean and the median difference.

Efron (1987) *JASA* 82:171-185 for BCa. The unit that is drawn is the pair (dataset or subject), so the
pairing is kept. All columns of differences share the same draws.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from paragone.errors import InputError, unknown_name
from paragone.ties import FloatArray

Statistic = Literal["mean", "median"]
Interval = Literal["bca", "percentile"]

CHUNK_VALUES = 4_000_000
"""Drawn values held at once (32 MB)."""


def paired_bootstrap(
    differences: ArrayLike,
    *,
    statistic: Statistic = "mean",
    kind: Interval = "bca",
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> FloatArray:
    """Return a bootstrap confidence interval of the mean or median difference.

    Parameters
    ----------
    differences : array-like of shape (n,) or (n, columns)
        Paired differences; several columns (rivals) share the draws of pairs.
    statistic : {"mean", "median"}, default="mean"
        What is estimated.
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
    _check(table, statistic, kind, level)
    generator, n = np.random.default_rng(seed), len(table)
    step = max(1, CHUNK_VALUES // n)
    sizes = [min(step, n_resamples - start) for start in range(0, n_resamples, step)]
    replicate = _means if statistic == "mean" else _medians
    replicates = np.concatenate([replicate(table, generator.integers(0, n, size=(size, n))) for size in sizes])
    tail = np.full((2, table.shape[1]), (1 - level) / 2)
    tail[1] = (1 + level) / 2
    if kind == "bca":
        tail = _bca_tails(table, replicates, statistic, tail)
    ends = _quantiles(replicates, tail)
    return ends[:, 0] if values.ndim == 1 else ends


def _means(table: FloatArray, draws: np.ndarray) -> FloatArray:
    """Return the means of all resamples as one product of draw counts and differences."""
    means: FloatArray = _counts(draws).astype(np.float64) @ table / draws.shape[1]
    return means


def _medians(table: FloatArray, draws: np.ndarray) -> FloatArray:
    return np.stack([np.median(column[draws], axis=1) for column in table.T], axis=1)


def _counts(draws: np.ndarray) -> np.ndarray:
    """Return how often every row was drawn, a row a resample."""
    n_resamples, n = draws.shape
    cells = draws + n * np.arange(n_resamples)[:, None]
    return np.bincount(cells.ravel(), minlength=n_resamples * n).reshape(n_resamples, n)


def _bca_tails(table: FloatArray, replicates: FloatArray, statistic: Statistic, tail: FloatArray) -> FloatArray:
    """Move the percentiles by the bias and the acceleration (Efron 1987, equations 2.3 and 6.6)."""
    point = table.mean(axis=0) if statistic == "mean" else np.median(table, axis=0)
    # Replicates equal to the estimate but for the order of summation are ties: half of them lie below.
    slack = 1e-12 * np.maximum(np.abs(table).max(axis=0), np.finfo(float).tiny)
    below = (replicates < point - slack).mean(axis=0)
    tied = (np.abs(replicates - point) <= slack).mean(axis=0)
    share = np.clip(below + tied / 2, 0.5 / len(replicates), 1 - 0.5 / len(replicates))
    bias = ndtri(share)
    acceleration = _acceleration(table, statistic)
    shifted = bias + ndtri(tail)
    moved: FloatArray = ndtr(bias + shifted / (1 - acceleration * shifted))
    return moved


def _acceleration(table: FloatArray, statistic: Statistic) -> FloatArray:
    """Return the jackknife acceleration, a sixth of the skewness of the influence values."""
    if len(table) < 3:
        return np.zeros(table.shape[1])
    if statistic == "mean":
        influence = table - table.mean(axis=0)
    else:
        left_out = _medians_without_each(table)
        influence = left_out.mean(axis=0) - left_out
    squares = np.square(influence).sum(axis=0)
    cubes = (influence**3).sum(axis=0)
    skewness: FloatArray = np.divide(cubes, squares**1.5, out=np.zeros_like(cubes), where=squares > 0)
    return skewness / 6


def _medians_without_each(table: FloatArray) -> FloatArray:
    """Return the median without pair i in row i, by looking where it stood in the order."""
    n = len(table)
    ordered = np.sort(table, axis=0)
    place = np.argsort(np.argsort(table, axis=0, kind="stable"), axis=0)
    lower, upper = (n - 2) // 2, (n - 1) // 2
    low = np.take_along_axis(ordered, lower + (place <= lower), axis=0)
    high = np.take_along_axis(ordered, upper + (place <= upper), axis=0)
    medians: FloatArray = (low + high) / 2
    return medians


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


def _check(table: FloatArray, statistic: str, kind: str, level: float) -> None:
    if table.ndim != 2 or len(table) == 0 or not np.isfinite(table).all():
        raise InputError("a bootstrap takes one or more finite differences")
    if statistic not in get_args(Statistic):
        raise unknown_name("statistic", statistic, get_args(Statistic))
    if kind not in get_args(Interval):
        raise unknown_name("interval", kind, get_args(Interval))
    if not 0 < level < 1:
        raise InputError(f"the level of an interval lies between 0 and 1, not {level}")
