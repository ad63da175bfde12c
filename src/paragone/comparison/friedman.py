"""The Friedman test with its tie correction, and Iman and Davenport's F beside it.

Friedman (1937) *JASA* 32:675-701; Iman and Davenport (1980) *Communications in Statistics* A9:571-595;
Demsar (2006) *JMLR* 7:1-30. The formula printed by Demsar has no tie correction; both are given here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc

from paragone.comparison.ranking import method_ranks
from paragone.ties import TOLERANCE, FloatArray


@dataclass(frozen=True)
class Friedman:
    """Friedman's chi-square and Iman-Davenport's F, with and without tie correction.

    Attributes
    ----------
    average_ranks : tuple of float
        Mean rank of each method, 1 is best.
    chi2, p : float
        Tie-corrected statistic and its p (chi-square with k - 1 degrees of freedom).
    f, p_f : float
        Iman-Davenport's F of the tie-corrected statistic and its p.
    chi2_uncorrected, p_uncorrected, f_uncorrected, p_f_uncorrected : float
        The same without tie correction, as older papers print them.
    df : tuple of int
        Degrees of freedom of F; the first is that of chi-square.
    n_datasets, n_methods : int
        The size of the table.
    """

    average_ranks: tuple[float, ...]
    chi2: float
    p: float
    f: float
    p_f: float
    chi2_uncorrected: float
    p_uncorrected: float
    f_uncorrected: float
    p_f_uncorrected: float
    df: tuple[int, int]
    n_datasets: int
    n_methods: int


def friedman(scores: ArrayLike, *, higher_is_better: bool = True, tolerance: float = TOLERANCE) -> Friedman:
    """Test whether all methods rank alike.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        One score a dataset and method.
    higher_is_better : bool, default=True
        The metric's direction.
    tolerance : float, default=1e-9
        Scores this close (relative) are tied.

    Returns
    -------
    Friedman
        Average ranks and the statistics. Where every dataset ties all methods, chi2 = 0 and p = 1.

    Examples
    --------
    >>> result = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.5, 0.6], [0.9, 0.6, 0.5]])
    >>> result.average_ranks, round(result.chi2, 4), round(result.p, 4)
    ((1.0, 2.25, 2.75), 6.5, 0.0388)
    """
    return friedman_of_ranks(method_ranks(scores, higher_is_better=higher_is_better, tolerance=tolerance))


def friedman_of_ranks(ranks: FloatArray) -> Friedman:
    """Run the Friedman test on ranks that are known already.

    Examples
    --------
    >>> import numpy as np
    >>> friedman_of_ranks(np.array([[1.0, 2.0], [1.0, 2.0]])).chi2
    2.0
    """
    n, k = ranks.shape
    sums = ranks.sum(axis=0)
    spread = float(np.square(sums - n * (k + 1) / 2).sum())
    plain = 12 * spread / (n * k * (k + 1))
    # The variance of the ranks that are there, not of untied ones: that is the tie correction.
    within = float(np.square(ranks - (k + 1) / 2).sum())
    corrected = (k - 1) * spread / within if within > 0 else 0.0
    df = (k - 1, (k - 1) * (n - 1))
    return Friedman(
        tuple((sums / n).tolist()),
        *_chi2_and_f(corrected, n, df),
        *_chi2_and_f(plain, n, df),
        df=df,
        n_datasets=n,
        n_methods=k,
    )


def _chi2_and_f(chi2: float, n: int, df: tuple[int, int]) -> tuple[float, float, float, float]:
    """Return chi2, its p, Iman-Davenport's F and its p."""
    p = float(chdtrc(df[0], max(chi2, 0.0)))
    if df[1] == 0:
        return chi2, p, float("nan"), float("nan")
    left = n * df[0] - chi2
    # Ranks that agree on every dataset leave nothing over: F is infinite and its p is 0.
    f = (n - 1) * chi2 / left if left > 1e-12 * n * df[0] else float("inf")
    return chi2, p, f, float(fdtrc(*df, max(f, 0.0)))
