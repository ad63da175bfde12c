"""The compiled loops behind thousands of pairs of methods: places among Walsh averages, and how scores interleave.

Walsh averages are the means of all pairs of values. There are n (n + 1) / 2 of them, and sorting
those of a thousand values takes a thousand times as long as finding one place: in a sorted list a
walk with two fingers counts in n steps how many averages are at most some number, so halving leads
to a place without holding any average but the last few.

Everything here is an order statistic or a count, so it is the same number as any other way would
give.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from paragone.ties import FloatArray, IntArray

FEW = 512
"""Averages that are laid out and sorted in the end: about what two more walks take."""


@njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def count_up_to(values: FloatArray, limit: float) -> int:
    """Return how many averages of sorted values are at most some number."""
    count, last = 0, len(values) - 1
    for first in range(len(values)):
        while last >= first and (values[first] + values[last]) / 2 > limit:
            last -= 1
        if last < first:
            break
        count += last - first + 1
    return count


@njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def walsh_averages_at(values: FloatArray, places: IntArray) -> FloatArray:
    """Return the averages of sorted, finite values that stand at places of their order, from 0 on."""
    found = np.empty(len(places))
    n = len(values)
    for one in range(len(places)):
        place = places[one]
        # The place lies above ``low``, at most at ``high``; so many averages are at most each.
        low, fewer = np.nextafter(values[0], -np.inf), 0
        high, more = values[n - 1], n * (n + 1) // 2
        step = 0
        while more - fewer > FEW:
            # Where a straight line of counts has the place, a little to either side, and every
            # third time the middle.
            share = 0.5
            if step % 3 < 2:
                share = (place - fewer) / (more - fewer) + (-0.02 if step % 3 == 0 else 0.02)
            middle = low + (high - low) * min(max(share, 0.01), 0.99)
            if not low < middle < high:
                middle = low / 2 + high / 2
            if not low < middle < high:
                break
            count = count_up_to(values, middle)
            if count <= place:
                low, fewer = middle, count
            else:
                high, more = middle, count
            step += 1
        if more - fewer > FEW:
            # No number lies between the two: all that are left are the upper one.
            found[one] = high
            continue
        held = np.empty(more - fewer)
        size, last, start = 0, n - 1, n
        for first in range(n):
            while last >= first and (values[first] + values[last]) / 2 > high:
                last -= 1
            if last < first:
                break
            # Where the averages above ``low`` begin only moves down as the first value grows.
            start = max(min(start, last + 1), first)
            while start > first and (values[first] + values[start - 1]) / 2 > low:
                start -= 1
            for other in range(start, last + 1):
                held[size] = (values[first] + values[other]) / 2
                size += 1
        found[one] = np.sort(held[:size])[place - fewer]
    return found


@njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def doubled_wins(
    scores: FloatArray,
    first: IntArray,
    second: IntArray,
    size: float,
    tolerance: float,
    least: float,
) -> IntArray:
    """Return for pairs of columns, each sorted, twice how many pairings the first wins, a tie counting once.

    Scores are tied as `paragone.ties.settle` ties them: where neighbours in the order of both
    columns together differ by no more than the larger of their slacks, and so on along the chain.
    ``least`` is the tolerance of ``size``.
    """
    n = scores.shape[0]
    found = np.empty(len(first), dtype=np.int64)
    for one in range(len(first)):
        mine, theirs = scores[:, first[one]], scores[:, second[one]]
        i = j = below = total = 0
        in_chain_mine = in_chain_theirs = 0
        last = slack_of_last = np.nan
        while i < n or j < n:
            is_mine = j >= n or (i < n and mine[i] <= theirs[j])
            value = mine[i] if is_mine else theirs[j]
            slack = max(tolerance * abs(value), least * size)
            if not (value == last or value - last <= max(slack, slack_of_last)):
                total += in_chain_mine * (2 * below + in_chain_theirs)
                below += in_chain_theirs
                in_chain_mine = in_chain_theirs = 0
            if is_mine:
                in_chain_mine += 1
                i += 1
            else:
                in_chain_theirs += 1
                j += 1
            last, slack_of_last = value, slack
        found[one] = total + in_chain_mine * (2 * below + in_chain_theirs)
    return found
