"""Cliff's delta: A12 on a scale from -1 to 1."""

from __future__ import annotations

from numpy.typing import ArrayLike

from paragone.comparison.effects.vargha_delaney import vargha_delaney_a12
from paragone.ties import TOLERANCE


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
