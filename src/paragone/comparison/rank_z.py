"""Differences of average ranks as normal deviates: the family behind Nemenyi and Bonferroni-Dunn."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import InputError
from paragone.ties import FloatArray


def rank_standard_error(n_methods: int, n_datasets: int) -> float:
    """Return the standard error of a difference of two average ranks, ``sqrt(k(k+1)/6N)``.

    Examples
    --------
    >>> round(rank_standard_error(4, 14), 6)
    0.48795
    """
    if n_methods < 2 or n_datasets < 1:
        raise InputError(f"two methods and one dataset are the least: {n_methods} and {n_datasets} given")
    return float(np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def rank_z(average_ranks: ArrayLike, n_datasets: int) -> FloatArray:
    """Return the matrix of absolute rank differences in standard errors.

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
        Average rank of every method.
    n_datasets : int
        Number of datasets they are averaged over.

    Returns
    -------
    ndarray of shape (n_methods, n_methods)
        Symmetric, zero on the diagonal.

    Examples
    --------
    >>> rank_z([3.0, 1.0], 6).round(4).tolist()
    [[0.0, 4.899], [4.899, 0.0]]
    """
    ranks = np.asarray(average_ranks, dtype=np.float64)
    z: FloatArray = np.abs(ranks[:, None] - ranks[None, :]) / rank_standard_error(ranks.size, n_datasets)
    return z
