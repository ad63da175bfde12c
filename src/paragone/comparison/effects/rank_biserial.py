"""The matched-pairs rank-biserial correlation: the effect size that belongs to the signed-rank test."""

from __future__ import annotations

from numpy.typing import ArrayLike

from paragone.comparison.wilcoxon import wilcoxon_signed_rank
from paragone.ties import TOLERANCE


def rank_biserial(a: ArrayLike, b: ArrayLike, *, tolerance: float = TOLERANCE) -> float:
    """Return the share of the rank sum that favours ``b`` less the share that favours ``a``.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Paired scores.
    tolerance : float, default=1e-9
        Relative tolerance of a tie.

    Returns
    -------
    float
        ``(W+ - W-) / (W+ + W-)``, between -1 and 1; 0 where every pair is tied.

    References
    ----------
    Kerby (2014) *Comprehensive Psychology* 3:1.

    Examples
    --------
    >>> rank_biserial([1, 2, 3], [2, 4, 2.5])
    0.666...
    """
    result = wilcoxon_signed_rank(a, b, tolerance=tolerance)
    total = result.w_plus + result.w_minus
    return (result.w_plus - result.w_minus) / total if total else 0.0
