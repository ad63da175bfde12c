"""Bonferroni-Dunn: average ranks of all methods against one control.

Dunn (1961) *JASA* 56:52-64; Demsar (2006) *JMLR* 7:1-30.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from paragone.comparison.rank_z import rank_standard_error, rank_z
from paragone.ties import FloatArray


def bonferroni_dunn_critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return the rank difference from the control that a method must exceed.

    Parameters
    ----------
    n_methods, n_datasets : int
        The size of the table, the control included.
    alpha : float, default=0.05
        The family-wise level over the k - 1 comparisons.

    Returns
    -------
    float
        The critical difference.

    Examples
    --------
    >>> round(bonferroni_dunn_critical_difference(4, 14), 6)
    1.168143
    """
    z = -float(ndtri(alpha / (2 * (n_methods - 1))))
    return z * rank_standard_error(n_methods, n_datasets)


def bonferroni_dunn(average_ranks: ArrayLike, n_datasets: int, control: int) -> FloatArray:
    """Return the adjusted p of every method against the control.

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
        Average rank of every method.
    n_datasets : int
        Number of datasets.
    control : int
        Position of the control.

    Returns
    -------
    ndarray of shape (n_methods,)
        ``min(1, (k - 1) p)``; 1 at the control itself.

    Examples
    --------
    >>> bonferroni_dunn([1.0, 2.0, 3.0], 10, control=0).round(4).tolist()
    [1.0, 0.0507, 0.0]
    """
    z = rank_z(average_ranks, n_datasets)[control]
    p: FloatArray = np.minimum(1.0, (z.size - 1) * 2 * ndtr(-z))
    p[control] = 1.0
    return p
