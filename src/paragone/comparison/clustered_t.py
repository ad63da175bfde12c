"""The mean of differences that come in clusters, such as samples that ask the same question.

The standard error is the cluster-robust one of a mean (Liang and Zeger 1986, *Biometrika* 73:13-22) with the factor
``G / (G - 1)`` for ``G`` clusters, and the t distribution has ``G - 1`` degrees of freedom. Where every cluster holds
one difference this is the paired t-test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.comparison.corrected_t import TTest, check_differences, tested_mean
from paragone.errors import InputError
from paragone.ties import slack_of


def clustered_t(differences: ArrayLike, clusters: ArrayLike | None = None, *, level: float = 0.95) -> TTest:
    """Test whether the mean difference is zero, where the differences of one cluster may hang together.

    Parameters
    ----------
    differences : array-like of shape (n,)
        Paired differences.
    clusters : array-like of shape (n,), optional
        The cluster of each; every difference is its own where not given.
    level : float, default=0.95
        Level of the confidence interval.

    Returns
    -------
    TTest
        Two-sided test and interval; ``df`` is the number of clusters less one.

    Examples
    --------
    >>> alone = clustered_t([0.1, 0.3, 0.2, 0.0])
    >>> pairs = clustered_t([0.1, 0.3, 0.2, 0.0], ["a", "b", "b", "a"])
    >>> alone.df, pairs.df, pairs.standard_error > alone.standard_error
    (3, 1, True)
    """
    values = check_differences(differences, least=2)
    codes = np.arange(values.size) if clusters is None else _codes(clusters, values.size)
    n_clusters = int(codes.max()) + 1
    if n_clusters < 2:
        raise InputError("all differences are of one cluster: two or more are needed for a test")
    mean = float(values.mean())
    # Equal differences have no spread; neither their own rounding nor the mean's must pose as one.
    even = np.ptp(values) <= slack_of(np.abs(values).max())
    centred = np.zeros_like(values) if even else values - mean
    sums = np.bincount(codes, weights=centred)
    variance = n_clusters / (n_clusters - 1) * float(sums @ sums) / values.size**2
    return tested_mean(mean, float(np.sqrt(variance)), n_clusters - 1, level)


def _codes(clusters: ArrayLike, n: int) -> np.ndarray:
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise InputError(f"one cluster a difference is needed: {labels.shape} given for {n}")
    return np.unique(labels, return_inverse=True)[1]
