"""How many pairs a signed-rank test would need.

Noether (1987) *JASA* 82:645-647: with ``q = P(D_i + D_j > 0)`` the test at level alpha reaches the power
wanted at about ``N = (z_{alpha/2} + z_{power})^2 / (3 (q - 1/2)^2)`` pairs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from paragone.comparison.attainable import pairs_needed
from paragone.comparison.corrected_t import check_differences
from paragone.comparison.settle import settle_differences
from paragone.errors import InputError


def walsh_share(differences: ArrayLike) -> float:
    """Return the share of Walsh sums ``d_i + d_j`` (i < j) above zero, zeros counting half.

    Parameters
    ----------
    differences : array-like of shape (n,)
        Paired differences, two or more.

    Returns
    -------
    float
        0.5 where neither side is favoured.

    Examples
    --------
    >>> walsh_share([1.0, 2.0, -1.5])
    0.666...
    """
    given = check_differences(differences, least=2)
    values = np.sort(settle_differences(np.zeros_like(given), given))
    n = values.size
    above = n - np.searchsorted(values, -values, side="right")
    not_below = n - np.searchsorted(values, -values, side="left")
    twice = float((above + not_below).sum() - (values > 0).sum() - (values >= 0).sum())
    return twice / (2 * n * (n - 1))


def pairs_for_power(
    differences: ArrayLike, *, alpha: float = 0.05, power: float = 0.8, most: int = 1_000_000
) -> int | None:
    """Return how many pairs like these a two-sided signed-rank test needs for the power wanted.

    Parameters
    ----------
    differences : array-like of shape (n,)
        The observed differences, taken as the truth. That is optimistic or pessimistic by chance: the
        figure plans a next study and proves nothing about this one.
    alpha : float, default=0.05
        Level of the test.
    power : float, default=0.8
        Power wanted.
    most : int, default=1000000
        Above this the answer is None: the observed effect is as good as none.

    Returns
    -------
    int or None
        Total number of pairs, never fewer than can be significant at all.

    Examples
    --------
    >>> pairs_for_power([0.03, -0.01, 0.02, 0.01, -0.02, 0.04])
    30
    """
    if not (0 < alpha < 1 and 0 < power < 1):
        raise InputError(f"alpha and power lie between 0 and 1, not {alpha} and {power}")
    effect = abs(walsh_share(differences) - 0.5)
    deviates = float(ndtri(1 - alpha / 2) + ndtri(power))
    if effect == 0 or deviates**2 / (3 * effect**2) > most:
        return None
    return max(math.ceil(deviates**2 / (3 * effect**2)), pairs_needed(alpha))
