"""Nemenyi's test: all pairs of average ranks against the studentized range.

Nemenyi (1963), *Distribution-free multiple comparisons*; Demsar (2006) *JMLR* 7:1-30.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.comparison.rank_z import rank_standard_error, rank_z
from paragone.ties import FloatArray


def nemenyi_critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return the difference of average ranks that two methods must exceed.

    Parameters
    ----------
    n_methods, n_datasets : int
        The size of the table.
    alpha : float, default=0.05
        The family-wise level.

    Returns
    -------
    float
        ``q_alpha sqrt(k(k+1)/6N)``, q the studentized range over sqrt(2).

    Examples
    --------
    >>> round(nemenyi_critical_difference(4, 14), 6)
    1.253559
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - alpha, n_methods, np.inf)) / np.sqrt(2)
    return float(q * rank_standard_error(n_methods, n_datasets))


def nemenyi(average_ranks: ArrayLike, n_datasets: int) -> FloatArray:
    """Return Nemenyi's adjusted p of every pair of methods.

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
        Average rank of every method.
    n_datasets : int
        Number of datasets.

    Returns
    -------
    ndarray of shape (n_methods, n_methods)
        Symmetric; 1 on the diagonal.

    Examples
    --------
    >>> nemenyi([1.0, 2.0, 3.0], 10).round(4).tolist()
    [[1.0, 0.0653, 0.0], [0.0653, 1.0, 0.0653], [0.0, 0.0653, 1.0]]
    """
    from scipy.stats import studentized_range

    z = rank_z(average_ranks, n_datasets)
    p: FloatArray = np.clip(studentized_range.sf(z * np.sqrt(2), z.shape[0], np.inf), 0.0, 1.0)
    np.fill_diagonal(p, 1.0)
    return p
