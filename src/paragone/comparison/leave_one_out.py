"""The signed-rank test without each pair in turn, to see whether one dataset carries the verdict."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from paragone.comparison.wilcoxon import EXACT_UP_TO, Zeros, exact_p
from paragone.ties import FloatArray, average_ranks

BoolArray: TypeAlias = NDArray[np.bool_]


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
    magnitude, counted = np.abs(difference[kept]), used[kept]
    positive = difference[kept] > 0
    w_plus, _ = _sums_without_each(magnitude, positive)
    total, squares = _sums_without_each(magnitude, counted)
    p_kept = _normal_p(w_plus, total, squares)
    for row in np.flatnonzero(counted.sum() - counted <= exact_up_to).tolist():
        p_kept[row] = exact_p(_ranks_without(magnitude, row)[np.delete(counted, row)], float(w_plus[row]))
    # A pair that was not ranked anyway changes nothing when it is left out.
    whole = average_ranks(magnitude) * counted
    p, side = np.full(difference.size, _whole_p(whole, positive, exact_up_to)), np.empty(difference.size)
    side[:] = np.sign(2 * whole[positive].sum() - whole.sum())
    p[kept], side[kept] = p_kept, np.sign(2 * w_plus - total)
    return p, side


def _whole_p(ranks: FloatArray, positive: BoolArray, exact_up_to: int) -> float:
    w_plus, used = ranks[positive].sum(), ranks[ranks > 0]
    if used.size <= exact_up_to:
        return exact_p(used, float(w_plus))
    return float(_normal_p(w_plus[None], ranks.sum()[None], np.square(ranks).sum()[None])[0])


def _ranks_without(magnitude: FloatArray, left_out: int) -> FloatArray:
    """Return the ranks of the others when one is left out."""
    return average_ranks(np.delete(magnitude, left_out))


def _sums_without_each(magnitude: FloatArray, counted: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return, for every pair that is left out, the sum of the ranks that count, and of their squares.

    Without it, a larger magnitude loses a whole rank and an equal one half a rank, so running sums over the sorted
    magnitudes say it all. Ranks are halves: every sum here is exact, in whatever order.
    """
    ranks = average_ranks(magnitude)
    order = np.argsort(magnitude, kind="stable")
    first, last = (np.searchsorted(magnitude[order], magnitude, side=side) for side in ("left", "right"))

    def above_and_tied(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        running = np.concatenate([[0.0], np.cumsum(weights[order])])
        return running[-1] - running[last], running[last] - running[first]

    above, tied = above_and_tied(counted.astype(np.float64))
    above_ranks, tied_ranks = above_and_tied(counted * ranks)
    own = ranks - 0.5
    sums = (counted * ranks).sum() - above - tied / 2 - counted * own
    squares = (counted * ranks**2).sum() - 2 * above_ranks - tied_ranks + above + tied / 4 - counted * own**2
    return sums, squares


def _normal_p(w_plus: FloatArray, total: FloatArray, squares: FloatArray) -> FloatArray:
    variance = squares / 4
    z = np.divide(w_plus - total / 2, np.sqrt(variance), out=np.zeros_like(total), where=variance > 0)
    p: FloatArray = 2 * ndtr(-np.abs(z))
    return p
