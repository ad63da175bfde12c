"""Ties at their best and worst: the largest and smallest value any order of the tied items can give."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from paragone.metrics.topk.assignment import cheapest_assignment
from paragone.metrics.topk.conventions import NDCG_HITS, RMRR
from paragone.metrics.topk.groups import groups_of_row
from paragone.metrics.topk.walk import emit


@numba.njit(cache=True, nogil=True)
def bound_rows(lists: Any, truths: Any, ks: Any, codes: Any, weights: Any, out: Any, rows: Any, best: bool) -> None:
    """Write the extreme value of each metric at each cut-off, taken for itself, for the samples ``rows``.

    Relevant-first (or last) is the extreme order of all metrics but two: rmrr rewards a certain place, which
    makes an assignment problem of each group, and the ``hits`` ideal grows with what is retrieved.
    """
    indptr = truths[0]
    n_places = lists[0].shape[1]
    places = np.empty(n_places, np.int64), np.empty(n_places, np.int64), np.empty(n_places, np.int64)
    hit_at = np.zeros(n_places, np.bool_)
    sums = np.zeros(4)
    ideal = np.zeros(3)
    for row in rows:
        n = indptr[row + 1] - indptr[row]
        if n == 0:
            continue
        groups, member, length = groups_of_row(lists, truths, row, places)
        _place_hits(groups, length, best, hit_at)
        for cut in range(len(ks)):
            k = ks[cut]
            hits = _sum_hits(hit_at, min(k, length), weights[0], sums)
            ideal[0] = weights[1][min(n, k)]
            ideal[1] = weights[1][k]
            for metric in range(len(codes)):
                if codes[metric] == RMRR:
                    out[metric, row, cut] = _extreme_rmrr(groups, member, k, best) / n
                elif codes[metric] == NDCG_HITS:
                    out[metric, row, cut] = _extreme_ndcg_hits(groups, hit_at, k, length, weights, best)
                else:
                    out[metric, row, cut] = emit(codes[metric], k, n, length, hits, sums, ideal)


@numba.njit(cache=True, nogil=True)
def _place_hits(groups: Any, length: int, best: bool, hit_at: Any) -> None:
    starts, sizes, relevant = groups
    hit_at[:] = False
    for group in range(len(starts)):
        offset = 0 if best else sizes[group] - relevant[group]
        for rank in range(starts[group] + offset, starts[group] + offset + relevant[group]):
            if rank < length:
                hit_at[rank] = True


@numba.njit(cache=True, nogil=True)
def _sum_hits(hit_at: Any, stop: int, discount: Any, sums: Any) -> int:
    sums[:] = 0.0
    hits = 0
    for rank in range(stop):
        if hit_at[rank]:
            hits += 1
            sums[0] += discount[rank]
            sums[1] += hits / (rank + 1)
            if hits == 1:
                sums[2] = 1.0 / (rank + 1)
    return hits


@numba.njit(cache=True, nogil=True)
def _extreme_rmrr(groups: Any, member: Any, k: int, best: bool) -> float:
    starts, sizes, relevant = groups
    sign = -1.0 if best else 1.0
    total = 0.0
    for group in range(len(starts)):
        if starts[group] >= k:
            break
        if relevant[group] == 0:
            continue
        inside = min(sizes[group], k - starts[group])
        outside = min(relevant[group], sizes[group] - inside)
        # A place outside the cut earns nothing: columns of zeros, as many as could be used.
        cost = np.zeros((relevant[group], inside + outside))
        line = 0
        for entry in range(len(member)):
            if member[entry] == group:
                for offset in range(inside):
                    cost[line, offset] = sign / (abs(starts[group] + offset - entry) + 1)
                line += 1
        total += sign * cheapest_assignment(cost)
    return total


@numba.njit(cache=True, nogil=True)
def _extreme_ndcg_hits(groups: Any, hit_at: Any, k: int, length: int, weights: Any, best: bool) -> float:
    starts, sizes, relevant = groups
    discount, gains = weights
    if len(starts) == 0:
        return 0.0
    last = len(starts) - 1
    above = 0
    gain = 0.0
    for group in range(last):
        above += relevant[group]
    for rank in range(min(starts[last], k)):
        if hit_at[rank]:
            gain += discount[rank]
    places = length - starts[last]
    value = -1.0
    for drawn in range(max(0, relevant[last] - (sizes[last] - places)), min(relevant[last], places) + 1):
        here = gain
        first = starts[last] if best else length - drawn
        for rank in range(first, min(first + drawn, k)):
            here += discount[rank]
        ratio = here / gains[min(above + drawn, k)] if above + drawn > 0 else 0.0
        if value < 0.0 or (best and ratio > value) or (not best and ratio < value):
            value = ratio
    return value
