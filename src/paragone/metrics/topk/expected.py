"""Ties counted exactly: the mean of each metric over all orders of the tied items."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from paragone.metrics.topk.conventions import HIT_RATE, NDCG_HITS
from paragone.metrics.topk.groups import groups_of_row
from paragone.metrics.topk.walk import emit


@numba.njit(cache=True, nogil=True)
def expected_rows(lists: Any, truths: Any, ks: Any, codes: Any, weights: Any, out: Any, rows: Any) -> None:
    """Write the expectation over random orders of the tied for the samples ``rows``."""
    indptr = truths[0]
    n_places = lists[0].shape[1]
    places = np.empty(n_places, np.int64), np.empty(n_places, np.int64), np.empty(n_places, np.int64)
    sums = np.zeros(4)
    ideal = np.zeros(3)
    for row in rows:
        n = indptr[row + 1] - indptr[row]
        if n == 0:
            continue
        groups, member, length = groups_of_row(lists, truths, row, places)
        for cut in range(len(ks)):
            k = ks[cut]
            hits, hit_chance = _sum_groups(groups, member, k, weights[0], sums)
            ideal[0] = weights[1][min(n, k)]
            ideal[1] = weights[1][k]
            for metric in range(len(codes)):
                if codes[metric] == NDCG_HITS:
                    out[metric, row, cut] = _expected_ndcg_hits(groups, k, length, weights)
                elif codes[metric] == HIT_RATE:
                    out[metric, row, cut] = hit_chance
                else:
                    out[metric, row, cut] = emit(codes[metric], k, n, length, hits, sums, ideal)


@numba.njit(cache=True, nogil=True)
def _sum_groups(groups: Any, member: Any, k: int, discount: Any, sums: Any) -> Any:
    """Fill in the expected sums up to ``k``; return the expected hits and the chance of any hit."""
    starts, sizes, relevant = groups
    sums[:] = 0.0
    above = 0
    hits = 0.0
    hit_chance = 0.0
    for group in range(len(starts)):
        start, size, found = starts[group], sizes[group], relevant[group]
        if start >= k:
            break
        inside = min(size, k - start)
        if found == 0:
            continue
        share = found / size
        pairs = found * (found - 1) / (size * (size - 1.0)) if size > 1 else 0.0
        hits += share * inside
        none_yet = 1.0
        for offset in range(inside):
            rank = start + offset
            sums[0] += share * discount[rank]
            # The mean of relevance times hits so far: its own hit, those above, and pairs within the group.
            sums[1] += (share * (above + 1) + offset * pairs) / (rank + 1)
            if above == 0:
                first_here = none_yet * found / (size - offset) if size - offset >= found else 0.0
                sums[2] += first_here / (rank + 1)
                none_yet -= first_here
        if above == 0:
            hit_chance = 1.0 if inside > size - found else 1.0 - max(none_yet, 0.0)
        sums[3] += _expected_rmrr(start, inside, size, group, member)
        above += found
    return hits, hit_chance


@numba.njit(cache=True, nogil=True)
def _expected_rmrr(start: int, inside: int, size: int, group: int, member: Any) -> float:
    total = 0.0
    for entry in range(len(member)):
        if member[entry] == group:
            for rank in range(start, start + inside):
                total += 1.0 / (abs(rank - entry) + 1)
    return total / size


@numba.njit(cache=True, nogil=True)
def _expected_ndcg_hits(groups: Any, k: int, length: int, weights: Any) -> float:
    """Expect DCG over the ideal of the hits retrieved, which are random where a group is cut at the end."""
    starts, sizes, relevant = groups
    discount, gains = weights
    if len(starts) == 0:
        return 0.0
    last = len(starts) - 1
    gain = 0.0
    above = 0
    for group in range(last):
        above += relevant[group]
        for rank in range(starts[group], min(starts[group] + sizes[group], k)):
            gain += discount[rank] * relevant[group] / sizes[group]
    places = length - starts[last]
    open_gain = 0.0
    for rank in range(starts[last], min(length, k)):
        open_gain += discount[rank] / places
    low = max(0, relevant[last] - (sizes[last] - places))
    chances = _hypergeometric(sizes[last], relevant[last], places)
    value = 0.0
    for index in range(len(chances)):
        drawn = low + index
        if above + drawn > 0:
            value += chances[index] * (gain + drawn * open_gain) / gains[min(above + drawn, k)]
    return value


@numba.njit(cache=True, nogil=True)
def _hypergeometric(size: int, relevant: int, drawn: int) -> Any:
    """Return the chances of every possible number of relevant items among ``drawn`` of ``size``."""
    low = max(0, drawn - (size - relevant))
    high = min(relevant, drawn)
    chances = np.zeros(high - low + 1)
    mode = min(max((drawn + 1) * (relevant + 1) // (size + 2), low), high)
    # Outwards from the mode, where every ratio is at most one: nothing can overflow.
    chances[mode - low] = 1.0
    for x in range(mode, high):
        ratio = (relevant - x) * (drawn - x) / ((x + 1.0) * (size - relevant - drawn + x + 1.0))
        chances[x + 1 - low] = chances[x - low] * ratio
    for x in range(mode, low, -1):
        ratio = x * (size - relevant - drawn + x) / ((relevant - x + 1.0) * (drawn - x + 1.0))
        chances[x - 1 - low] = chances[x - low] * ratio
    return chances / chances.sum()
