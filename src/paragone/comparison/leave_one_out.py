"""The signed-rank test without each pair in turn, to see whether one dataset carries the verdict."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata

from paragone.comparison.settle import FloatArray
from paragone.comparison.wilcoxon import EXACT_UP_TO, Zeros, exact_p


def leave_one_out_p(
    difference: FloatArray, zeros: Zeros = "wilcox", exact_up_to: int = EXACT_UP_TO
) -> tuple[FloatArray, FloatArray]:
    """Return the two-sided p without each pair, and the side it then favours.

    Parameters
    ----------
    difference : ndarray of shape (n,)
        Settled differences, two or more.
    zeros : {"wilcox", "pratt", "split"}, default="wilcox"
        Treatment of zeros.
    exact_up_to : int, default=50
        Exact up to so many non-zero differences.

    Returns
    -------
    p : ndarray of shape (n,)
        The p-value when that pair is left out.
    side : ndarray of shape (n,)
        Sign of ``W+ - W-`` when that pair is left out.

    Examples
    --------
    >>> import numpy as np
    >>> p, side = leave_one_out_p(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0]))
    >>> p.tolist()[0], p.tolist()[-1]
    (0.4375, 0.03125)
    """
    used = difference != 0
    kept = np.ones(difference.size, dtype=bool) if zeros != "wilcox" else used
    if not used.any():
        return np.ones(difference.size), np.zeros(difference.size)
    ranks = _ranks_without_each(np.abs(difference[kept]))
    ranks[:, ~used[kept]] = 0.0
    positive = difference[kept] > 0
    w_plus, total = ranks[:, positive].sum(axis=1), ranks.sum(axis=1)
    p_kept = _p_values(ranks, w_plus, total, exact_up_to)
    # A pair that was not ranked anyway changes nothing when it is left out.
    whole = rankdata(np.abs(difference[kept])) * used[kept]
    p_whole = _p_values(whole[None], whole[None, positive].sum(axis=1), whole[None].sum(axis=1), exact_up_to)
    p, side = np.full(difference.size, p_whole[0]), np.empty(difference.size)
    side[:] = np.sign(2 * whole[positive].sum() - whole.sum())
    p[kept], side[kept] = p_kept, np.sign(2 * w_plus - total)
    return p, side


def _ranks_without_each(magnitude: FloatArray) -> FloatArray:
    """Return in row i the ranks of all magnitudes when the i-th is left out (its own rank: 0)."""
    gone, other = magnitude[:, None], magnitude[None, :]
    ranks: FloatArray = rankdata(magnitude)[None, :] - (gone < other) - 0.5 * (gone == other)
    np.fill_diagonal(ranks, 0.0)
    return ranks


def _p_values(ranks: FloatArray, w_plus: FloatArray, total: FloatArray, exact_up_to: int) -> FloatArray:
    n_used = (ranks > 0).sum(axis=1)
    variance = np.square(ranks).sum(axis=1) / 4
    z = np.divide(w_plus - total / 2, np.sqrt(variance), out=np.zeros_like(total), where=variance > 0)
    p: FloatArray = 2 * ndtr(-np.abs(z))
    for row in np.flatnonzero(n_used <= exact_up_to):
        p[row] = exact_p(ranks[row][ranks[row] > 0], float(w_plus[row]))
    return p
