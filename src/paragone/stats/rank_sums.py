"""The null distribution of a signed-rank sum, by counting: ties or not, for all differences and without each of them.

Given the magnitudes, every pattern of signs is equally likely under the null, so the chance that
the positive ranks sum to at most ``w`` is the number of subsets of the ranks that do, over ``2 **
n``. Ranks are halves at the least, so they are counted doubled, as whole numbers, by a dynamic
program that adds one rank at a time.

The counts are floats. Only positive numbers are added, so each of the ``n`` steps adds at most one
rounding to a count and nothing cancels: the relative error of a tail is below ``(n + 64) * 2 **
-53``, however small the tail is. Counts stay below ``2 ** n``, which a float holds up to `MOST`
ranks.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import bdtr

from paragone.ties import FloatArray, IntArray

MOST = 1000
"""The most ranks whose subsets a float can count: 2 ** 1000 is 1e301."""


def lower_tails(doubled: IntArray, bound: IntArray) -> FloatArray:
    """Return the shares of sign patterns whose positive (doubled) ranks sum to at most each bound.

    Parameters
    ----------
    doubled : ndarray of int of shape (n,)
        Twice the ranks; at most `MOST` of them unless all are the same.
    bound : ndarray of int
        Twice the rank sums.

    Returns
    -------
    ndarray
        Between 0 and 1, one for each bound.

    Examples
    --------
    >>> lower_tails(np.array([2, 5, 5]), np.array([-1, 0, 5, 12])).tolist()
    [0.0, 0.125, 0.5, 1.0]
    """
    ranks = np.sort(doubled)
    if ranks.size == 0:
        return np.where(bound < 0, 0.0, 1.0)
    if ranks.size > MOST and ranks[0] == ranks[-1]:
        # Ranks that are all the same leave the number of positive ones, which is binomial at any
        # size.
        return np.where(
            bound < 0, 0.0, bdtr(np.clip(bound // ranks[0], 0, ranks.size), ranks.size, 0.5)
        )
    step = int(np.gcd.reduce(ranks))
    whole, place = int(ranks.sum()) // step, bound // step
    # Both tails are alike, so that only the lower half is counted.
    mirrored = 2 * place >= whole
    place = np.where(mirrored, whole - place - 1, place)
    if step == 2 and ranks[-1] == 2 * ranks.size and (np.diff(ranks) == 2).all():
        counted = _untied_tails(ranks.size)
    else:
        counted = np.ldexp(_with(NOTHING, ranks // step, max(int(place.max()), 0) + 1), -ranks.size)
    tails = np.where(place < 0, 0.0, counted[np.maximum(place, 0)])
    return np.where(mirrored, 1.0 - tails, tails)


def last_below(n: int, tail: float) -> int:
    """Return the largest sum of untied ranks 1 to n whose lower tail is at most ``tail``; -1 where none is.

    Examples
    --------
    >>> last_below(6, 0.025), last_below(5, 0.025)
    (0, -1)
    """
    return int(np.searchsorted(_untied_tails(n), tail, side="right")) - 1


@lru_cache(maxsize=8)
def _untied_tails(n: int) -> FloatArray:
    """Return the chances that ranks 1 to n with fair signs sum to at most 0, 1, 2, ..., half of what they can."""
    return np.ldexp(_with(NOTHING, np.arange(1, n + 1), n * (n + 1) // 4 + 1), -n)


NOTHING = np.ones(1)
"""The tail of no ranks at all, which is 1 everywhere; begun with that, the steps add up tails, and no sum is needed."""


def _with(tails: FloatArray, ranks: IntArray, most: int) -> FloatArray:
    """Return tails, as counts, with more ranks among those that are summed.

    Parameters
    ----------
    tails : ndarray
        Of the sums 0, 1, 2, ...; those beyond are all as the last.
    ranks : ndarray of int
        Best in rising order: the sums that are reached stay few for long.
    most : int
        How many sums are looked at.
    """
    n = tails.size
    # Two arrays in turn: in place, NumPy would first copy what it adds.
    now, then = np.empty(most), np.empty(most)
    now[:n] = tails
    for rank in ranks.tolist():
        if rank >= most:
            # No sum that is looked at holds it; only those beyond all sums without it have more.
            now[n:], n = now[n - 1], most
            continue
        size = min(n + rank, most)
        now[n:size] = now[n - 1]
        then[:rank] = now[:rank]
        np.add(now[rank:size], now[: size - rank], out=then[rank:size])
        now, then, n = then, now, size
    return now[:n]


def lower_tails_without_each(
    sizes: IntArray, zeros: int, group: IntArray, bound: IntArray
) -> FloatArray:
    """Return the lower tail for several sums, each without one of the differences.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_groups,)
        How many differences share each magnitude, from the smallest magnitude on.
    zeros : int
        How many more are ranked below them but have no sign.
    group : ndarray of int of shape (n,)
        Which group the left out difference of each sum belongs to; -1 for one of the zeros.
    bound : ndarray of int of shape (n,)
        Twice each sum, at most half of what all ranks that are left sum to.

    Returns
    -------
    ndarray of shape (n,)
        The tails.

    Notes
    -----
    Without a difference the ranks above it fall by one, those tied with it by a half, and those below stay. So the
    ranks that are left are the same for all members of a tie, and for all of a run of untied magnitudes. A halving over
    these blocks counts the subsets of all ranks outside each block once on the way down: about ``log2(blocks)`` times
    the work of one test instead of ``n`` times.

    Examples
    --------
    >>> lower_tails_without_each(np.array([1, 2]), 0, np.array([0, 1]), np.array([0, 2])).tolist()
    [0.25, 0.5]
    """
    doubled = 2 * (zeros + np.cumsum(sizes)) - sizes + 1
    starts = np.flatnonzero(np.append(True, (sizes[1:] > 1) | (sizes[:-1] > 1)))
    blocks = [
        np.repeat(*both)
        for both in zip(*(np.split(one, starts[1:]) for one in (doubled, sizes)), strict=True)
    ]
    block_of = np.searchsorted(starts, group, side="right") - 1
    tails = np.empty(group.size)
    if (group < 0).any():
        tails[group < 0] = lower_tails(np.concatenate(blocks) - 2, bound[group < 0])

    def left_of(block: int) -> IntArray:
        left: IntArray = blocks[block][:-1] - int(sizes[starts[block]] > 1)
        return left

    if len(blocks) <= 2:
        # Most often nothing is tied, and what is left has been counted already, or all is tied, and
        # it is binomial.
        for block in np.unique(block_of[group >= 0]).tolist():
            left = [*blocks[:block], left_of(block), *(above - 2 for above in blocks[block + 1 :])]
            tails[block_of == block] = lower_tails(np.concatenate(left), bound[block_of == block])
        return tails

    def halve(low: int, high: int, outside: FloatArray) -> None:
        """Go on with the tails of all ranks outside the blocks from ``low`` to ``high``."""
        wanted = (block_of >= low) & (block_of < high)
        if not wanted.any():
            return
        if high - low == 1:
            tails[wanted] = np.ldexp(
                _with(outside, left_of(low), most)[bound[wanted]], 1 - int(sizes.sum())
            )
            return
        middle = (low + high) // 2
        halve(low, middle, _with(outside, np.concatenate(blocks[middle:high]) - 2, most))
        halve(middle, high, _with(outside, np.concatenate(blocks[low:middle]), most))

    most = int(bound.max(initial=0)) + 1
    halve(0, len(blocks), NOTHING)
    return tails
