"""Intervals of means over rows or clusters of rows.

The unit that is drawn is the row (a dataset, a subject, a sample) or a whole cluster of rows, so
that what belongs together stays together. All columns share the same draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from paragone.errors import InputError
from paragone.ties import FloatArray

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
    values: FloatArray,
    *,
    clusters: NDArray[Any] | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
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
    sums, sizes = (
        (values, np.ones(len(values))) if clusters is None else _cluster_sums(values, clusters)
    )
    generator, units = np.random.default_rng(seed), len(sizes)
    step = max(1, CHUNK_VALUES // units)
    means = []
    for start in range(0, n_resamples, step):
        draws = generator.integers(0, units, size=(min(step, n_resamples - start), units))
        # How often every unit was drawn, a row per resample: then all means are one product.
        places = draws + units * np.arange(len(draws))[:, None]
        counts = (
            np.bincount(places.ravel(), minlength=draws.size)
            .reshape(draws.shape)
            .astype(np.float64)
        )
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
        How many rows or clusters were drawn from. Fewer than 15 have the interval of Student's t by
        the spread of the draws, one unit has none (NaN).

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
    half = (
        float(stdtrit(units - 1, (1 + level) / 2))
        * draws.std(axis=0)
        * math.sqrt(units / (units - 1))
    )
    centre = draws.mean(axis=0)
    return np.stack([centre - half, centre + half])


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"the level of an interval lies between 0 and 1, not {level}")


def _tails(level: float, columns: int) -> FloatArray:
    return np.repeat([[(1 - level) / 2], [(1 + level) / 2]], columns, axis=1)


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
