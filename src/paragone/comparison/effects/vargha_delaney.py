"""Vargha and Delaney's A12: the chance that a score of one method exceeds one of the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.comparison.average_ranks import average_ranks
from paragone.comparison.settle import TOLERANCE, merge_close
from paragone.errors import InputError


def vargha_delaney_a12(a: ArrayLike, b: ArrayLike, *, tolerance: float = TOLERANCE) -> float:
    """Return P(b > a) + P(b = a) / 2 over all pairings of a score of ``b`` with one of ``a``.

    The pairing by dataset is not used: this is how much two clouds of scores overlap. See
    :func:`~paragone.comparison.effects.rank_biserial` for the paired effect size.

    Parameters
    ----------
    a, b : array-like of shape (n_a,) and (n_b,)
        Scores.
    tolerance : float, default=1e-9
        Scores this close (relative) are equal.

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
    ranks = average_ranks(merge_close(pooled, tolerance * np.abs(pooled)))
    above = ranks[first.size :].sum() - second.size * (second.size + 1) / 2
    return float(above / (first.size * second.size))
