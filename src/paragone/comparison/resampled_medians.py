"""Medians of resamples: how often every value was drawn says where the middle is, without sorting each resample."""

from __future__ import annotations

import numba
import numpy as np

from paragone.validation import FloatArray, IntArray


@numba.njit(cache=True, nogil=True)
def medians_of_draws(ordered: FloatArray, order: IntArray, counts: IntArray) -> FloatArray:  # pragma: no cover
    """Return the median of every resample of every column.

    Parameters
    ----------
    ordered : ndarray of shape (columns, n)
        The values of every column in ascending order.
    order : ndarray of shape (columns, n)
        Which row each of them stands in.
    counts : ndarray of shape (resamples, n)
        How often a resample draws each row.

    Returns
    -------
    ndarray of shape (resamples, columns)
        The same numbers as ``np.median`` of the drawn values.
    """
    n_columns, n = ordered.shape
    lower, upper = (n - 1) // 2, n // 2
    medians = np.empty((len(counts), n_columns))
    for resample in range(len(counts)):
        drawn = counts[resample]
        for column in range(n_columns):
            seen, place = drawn[order[column, 0]], 0
            while seen <= lower:
                place += 1
                seen += drawn[order[column, place]]
            low = ordered[column, place]
            while seen <= upper:
                place += 1
                seen += drawn[order[column, place]]
            medians[resample, column] = (low + ordered[column, place]) / 2 if upper > lower else low
    return medians
