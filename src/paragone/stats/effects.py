"""Effect sizes: how large a difference is, beside how sure."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import InputError
from paragone.stats.signed_rank import wilcoxon_signed_rank
from paragone.ties import TOLERANCE, average_ranks, settle

__all__ = ["cliffs_delta", "rank_biserial", "vargha_delaney_a12"]


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


def vargha_delaney_a12(
    a: ArrayLike, b: ArrayLike, *, tolerance: float = TOLERANCE, size: float = 0.0
) -> float:
    """Return P(b > a) + P(b = a) / 2 over all pairings of a score of ``b`` with one of ``a``.

    The pairing by dataset is not used: this is how much two clouds of scores overlap. See
    :func:`~paragone.stats.effects` for the paired effect size.

    Parameters
    ----------
    a, b : array-like of shape (n_a,) and (n_b,)
        Scores.
    tolerance : float, default=1e-9
        Scores this close (relative) are equal.
    size : float, default=0.0
        The size of what the scores were made from; 1 for a metric without a unit. See
        `paragone.ties`.

    Returns
    -------
    float
        Between 0 and 1; 0.5 is no effect.

    References
    ----------
    Vargha and Delaney (2000) *Journal of Educational and Behavioral Statistics* 25:101-132.

    Examples
    --------
    >>> vargha_delaney_a12([1, 2, 3], [2, 3, 4])
    0.777...
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    pooled = np.concatenate([first, second])
    if min(first.size, second.size) == 0 or not np.isfinite(pooled).all():
        raise InputError("an effect size needs one or more finite scores on both sides")
    ranks = average_ranks(settle(pooled, size=size, tolerance=tolerance))
    above = ranks[first.size :].sum() - second.size * (second.size + 1) / 2
    return float(above / (first.size * second.size))


def cliffs_delta(a: ArrayLike, b: ArrayLike, *, tolerance: float = TOLERANCE) -> float:
    """Return P(b > a) - P(b < a) over all pairings of a score of ``b`` with one of ``a``.

    Parameters
    ----------
    a, b : array-like of shape (n_a,) and (n_b,)
        Scores.
    tolerance : float, default=1e-9
        Scores this close (relative) are equal.

    Returns
    -------
    float
        Between -1 and 1; 0 is no effect.

    References
    ----------
    Cliff (1993) *Psychological Bulletin* 114:494-509.

    Examples
    --------
    >>> cliffs_delta([1, 2, 3], [2, 3, 4])
    0.555...
    """
    return 2 * vargha_delaney_a12(a, b, tolerance=tolerance) - 1
