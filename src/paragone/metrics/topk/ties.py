"""Values of the metrics from lists and truth, with equal scores counted by id, on average, at best or at worst."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np

from paragone.errors import InputError
from paragone.metrics.topk.metrics import (
    ANY_HIT,
    DCG,
    FIRST_HIT,
    HITS,
    IDEAL_HITS,
    IDEAL_K,
    IDEAL_MIN,
    LIST_LENGTH,
    MEAN_SIZE,
    NEARNESS,
    ONE,
    PRECISION_SUM,
    REACHABLE,
    RELEVANT,
    K,
    TopKMetric,
)
from paragone.metrics.topk.ranking import Ranking
from paragone.metrics.topk.truth import GroundTruth
from paragone.validation import FloatArray, IntArray


def discounts(length: int) -> tuple[FloatArray, FloatArray]:
    """Return the discounts 1/log2(rank + 1) and the sums of the first 0, 1, 2 ... of them."""
    single = 1.0 / np.log2(np.arange(length) + 2.0)
    return single, np.concatenate(([0.0], np.cumsum(single)))


N_GAINS, N_NORMS = ANY_HIT + 1, IDEAL_HITS + 1


@numba.njit(cache=True, nogil=True)
def _fill_norms(k: int, n: int, length: int, total: int, ideal: Any, norms: Any) -> None:
    """Write everything that a metric may divide by at a cut-off; ``total`` counts the hits of the whole list."""
    norms[ONE] = 1.0
    norms[K] = k
    norms[LIST_LENGTH] = min(k, length)
    norms[RELEVANT] = n
    norms[REACHABLE] = min(k, n)
    norms[MEAN_SIZE] = (k + n) / 2.0
    norms[IDEAL_MIN] = ideal[min(n, k)]
    norms[IDEAL_K] = ideal[k]
    norms[IDEAL_HITS] = ideal[min(total, k)]


@numba.njit(cache=True, nogil=True)
def _quotient(gain: float, norm: float) -> float:
    return gain / norm if norm > 0.0 else 0.0


@numba.njit(cache=True, nogil=True)
def _add_hit(rank: int, discount: Any, gains: Any) -> None:
    """Count a hit in all gains but the nearness, which knows where the item stands in the truth."""
    gains[HITS] += 1.0
    gains[DCG] += discount[rank]
    gains[PRECISION_SUM] += gains[HITS] / (rank + 1)
    if gains[HITS] == 1.0:
        gains[FIRST_HIT] = 1.0 / (rank + 1)
        gains[ANY_HIT] = 1.0


@numba.njit(cache=True, nogil=True)
def walk_rows(
    items: Any,
    indptr: Any,
    truth: Any,
    ks: Any,
    forms: Any,
    weights: Any,
    n_items: int,
    out: Any,
    rows: Any,
) -> None:
    """Walk down the lists of the samples ``rows`` and write ``out[metric, sample, cut-off]``.

    A sample without truth is left as it is: the caller has decided what it is worth.
    """
    discount, ideal = weights
    places = items.shape[1]
    position = np.full(n_items, -1, np.int32)
    gains = np.zeros(N_GAINS)
    norms = np.zeros(N_NORMS)
    for row in rows:
        start, stop = indptr[row], indptr[row + 1]
        n = stop - start
        if n == 0:
            continue
        for entry in range(start, stop):
            position[truth[entry]] = entry - start
        length = 0
        total = 0
        while length < places and items[row, length] >= 0:
            total += position[items[row, length]] >= 0
            length += 1
        gains[:] = 0.0
        rank = 0
        for cut in range(len(ks)):
            k = ks[cut]
            while rank < min(k, length):
                place = position[items[row, rank]]
                if place >= 0:
                    _add_hit(rank, discount, gains)
                    gains[NEARNESS] += 1.0 / (abs(rank - place) + 1)
                rank += 1
            _fill_norms(k, n, length, total, ideal, norms)
            for metric in range(len(forms)):
                out[metric, row, cut] = _quotient(gains[forms[metric, 0]], norms[forms[metric, 1]])
        for entry in range(start, stop):
            position[truth[entry]] = -1


@numba.njit(cache=True, nogil=True)
def find_groups(
    items: Any,
    scores: Any,
    tied: int,
    truth: Any,
    tied_truth: Any,
    starts: Any,
    sizes: Any,
    relevant: Any,
    member: Any,
) -> int:
    """Fill in the tied groups of one list and return how many there are.

    ``starts`` and ``sizes`` describe each group in the order of the whole row (the last may reach
    beyond the list), ``relevant`` counts its relevant items, ``member`` is the group of each truth
    entry or -1.
    """
    count = 0
    length = 0
    while length < len(items) and items[length] >= 0:
        if length == 0 or scores[length] != scores[length - 1]:
            starts[count] = length
            sizes[count] = 0
            relevant[count] = 0
            count += 1
        sizes[count - 1] += 1
        length += 1
    if count:
        sizes[count - 1] = tied
    for entry in range(len(truth)):
        member[entry] = -1
        if tied_truth[entry]:
            member[entry] = count - 1
            relevant[count - 1] += 1
            continue
        group = 0
        for place in range(length):
            while group + 1 < count and place >= starts[group + 1]:
                group += 1
            if items[place] == truth[entry]:
                member[entry] = group
                relevant[group] += 1
                break
    return count


@numba.njit(cache=True, nogil=True)
def groups_of_row(lists: Any, truths: Any, row: int, places: Any) -> Any:
    """Return the tied groups of a row, the group of each of its truth entries, and the length of its list.

    ``places`` are three arrays to write into, each as long as a list, so that rows share them.
    """
    items, scores, tied = lists
    indptr, truth, tied_truth = truths
    starts, sizes, relevant = places
    start, stop = indptr[row], indptr[row + 1]
    member = np.empty(stop - start, np.int64)
    count = find_groups(
        items[row],
        scores[row],
        tied[row],
        truth[start:stop],
        tied_truth[start:stop],
        starts,
        sizes,
        relevant,
        member,
    )
    length = 0
    while length < items.shape[1] and items[row, length] >= 0:
        length += 1
    return (starts[:count], sizes[:count], relevant[:count]), member, length


@numba.njit(cache=True, nogil=True)
def expected_rows(
    lists: Any, truths: Any, ks: Any, forms: Any, weights: Any, out: Any, rows: Any
) -> None:
    """Write the expectation over random orders of the tied for the samples ``rows``."""
    indptr = truths[0]
    n_places = lists[0].shape[1]
    places = (
        np.empty(n_places, np.int64),
        np.empty(n_places, np.int64),
        np.empty(n_places, np.int64),
    )
    gains = np.zeros(N_GAINS)
    norms = np.zeros(N_NORMS)
    for row in rows:
        n = indptr[row + 1] - indptr[row]
        if n == 0:
            continue
        groups, member, length = groups_of_row(lists, truths, row, places)
        for cut in range(len(ks)):
            k = ks[cut]
            _sum_groups(groups, member, k, weights[0], gains)
            # How many hits the whole list has is random: the one form that asks for it has its own
            # function.
            _fill_norms(k, n, length, 0, weights[1], norms)
            for metric in range(len(forms)):
                if forms[metric, 1] == IDEAL_HITS:
                    out[metric, row, cut] = _expected_ndcg_hits(groups, k, length, weights)
                else:
                    out[metric, row, cut] = _quotient(
                        gains[forms[metric, 0]], norms[forms[metric, 1]]
                    )


@numba.njit(cache=True, nogil=True)
def _sum_groups(groups: Any, member: Any, k: int, discount: Any, gains: Any) -> None:
    """Write the expected gains up to ``k``; that of any hit is its chance."""
    starts, sizes, relevant = groups
    gains[:] = 0.0
    above = 0
    for group in range(len(starts)):
        start, size, found = starts[group], sizes[group], relevant[group]
        if start >= k:
            break
        inside = min(size, k - start)
        if found == 0:
            continue
        share = found / size
        pairs = found * (found - 1) / (size * (size - 1.0)) if size > 1 else 0.0
        gains[HITS] += share * inside
        none_yet = 1.0
        for offset in range(inside):
            rank = start + offset
            gains[DCG] += share * discount[rank]
            # The mean of relevance times hits so far: its own hit, those above, and pairs within
            # the group.
            gains[PRECISION_SUM] += (share * (above + 1) + offset * pairs) / (rank + 1)
            if above == 0:
                first_here = none_yet * found / (size - offset) if size - offset >= found else 0.0
                gains[FIRST_HIT] += first_here / (rank + 1)
                none_yet -= first_here
        if above == 0:
            gains[ANY_HIT] = 1.0 if inside > size - found else 1.0 - max(none_yet, 0.0)
        gains[NEARNESS] += _expected_rmrr(start, inside, size, group, member)
        above += found


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


@numba.njit(cache=True, nogil=True)
def cheapest_assignment(cost: Any) -> float:
    """Return the least total cost of giving every row a column of its own.

    Shortest augmenting paths with potentials (Kuhn 1955, Jonker and Volgenant 1987), O(rows^2 x
    columns). ``cost`` has at least as many columns as rows.

    Examples
    --------
    >>> import numpy as np
    >>> cheapest_assignment(np.array([[1.0, 2.0], [1.0, 5.0]]))
    3.0
    """
    n_rows, n_columns = cost.shape
    row_price = np.zeros(n_rows + 1)
    column_price = np.zeros(n_columns + 1)
    owner = np.zeros(n_columns + 1, np.int64)
    came_from = np.zeros(n_columns + 1, np.int64)
    for row in range(1, n_rows + 1):
        owner[0] = row
        column = 0
        slack = np.full(n_columns + 1, np.inf)
        visited = np.zeros(n_columns + 1, np.bool_)
        while owner[column] != 0:
            visited[column] = True
            current = owner[column]
            step = np.inf
            nearest = 0
            for other in range(1, n_columns + 1):
                if visited[other]:
                    continue
                reduced = cost[current - 1, other - 1] - row_price[current] - column_price[other]
                if reduced < slack[other]:
                    slack[other] = reduced
                    came_from[other] = column
                if slack[other] < step:
                    step = slack[other]
                    nearest = other
            for other in range(n_columns + 1):
                if visited[other]:
                    row_price[owner[other]] += step
                    column_price[other] -= step
                else:
                    slack[other] -= step
            column = nearest
        while column != 0:
            owner[column] = owner[came_from[column]]
            column = came_from[column]
    total = 0.0
    for column in range(1, n_columns + 1):
        if owner[column] != 0:
            total += cost[owner[column] - 1, column - 1]
    return total


@numba.njit(cache=True, nogil=True)
def bound_rows(
    lists: Any, truths: Any, ks: Any, forms: Any, weights: Any, out: Any, rows: Any, best: bool
) -> None:
    """Write the extreme value of each metric at each cut-off, taken for itself, for the samples ``rows``.

    Relevant-first (or last) is the extreme order of all metrics but two: rmrr rewards a certain
    place, which makes an assignment problem of each group, and the ``hits`` ideal grows with what
    is retrieved.
    """
    indptr = truths[0]
    n_places = lists[0].shape[1]
    places = (
        np.empty(n_places, np.int64),
        np.empty(n_places, np.int64),
        np.empty(n_places, np.int64),
    )
    hit_at = np.zeros(n_places, np.bool_)
    gains = np.zeros(N_GAINS)
    norms = np.zeros(N_NORMS)
    for row in rows:
        n = indptr[row + 1] - indptr[row]
        if n == 0:
            continue
        groups, member, length = groups_of_row(lists, truths, row, places)
        _place_hits(groups, length, best, hit_at)
        for cut in range(len(ks)):
            k = ks[cut]
            gains[:] = 0.0
            for rank in range(min(k, length)):
                if hit_at[rank]:
                    _add_hit(rank, weights[0], gains)
            _fill_norms(k, n, length, 0, weights[1], norms)
            for metric in range(len(forms)):
                if forms[metric, 0] == NEARNESS:
                    nearness = _extreme_rmrr(groups, member, k, best)
                    out[metric, row, cut] = _quotient(nearness, norms[forms[metric, 1]])
                elif forms[metric, 1] == IDEAL_HITS:
                    out[metric, row, cut] = _extreme_ndcg_hits(
                        groups, hit_at, k, length, weights, best
                    )
                else:
                    out[metric, row, cut] = _quotient(
                        gains[forms[metric, 0]], norms[forms[metric, 1]]
                    )


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
def _extreme_ndcg_hits(
    groups: Any, hit_at: Any, k: int, length: int, weights: Any, best: bool
) -> float:
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
    for drawn in range(
        max(0, relevant[last] - (sizes[last] - places)), min(relevant[last], places) + 1
    ):
        here = gain
        first = starts[last] if best else length - drawn
        for rank in range(first, min(first + drawn, k)):
            here += discount[rank]
        ratio = here / gains[min(above + drawn, k)] if above + drawn > 0 else 0.0
        if value < 0.0 or (best and ratio > value) or (not best and ratio < value):
            value = ratio
    return value


def measure(
    ranking: Ranking, truth: GroundTruth, ks: IntArray, metrics: Sequence[TopKMetric], ties: str
) -> FloatArray:
    """Return the values as an array of shape (metrics, samples, cut-offs); NaN for a sample without truth."""
    n_samples = truth.n_samples
    out = np.full((len(metrics), n_samples, len(ks)), np.nan)
    forms = np.asarray([metric.form for metric in metrics], dtype=np.int64).reshape(-1, 2)
    weights = discounts(int(ks[-1]))
    rows = np.arange(n_samples, dtype=np.int64)
    walk_rows(
        ranking.items, truth.indptr, truth.items, ks, forms, weights, ranking.n_items, out, rows
    )
    if ties in ("id", "reverse_id"):
        return out
    if ranking.scores is None or ranking.tied is None or ranking.tied_truth is None:
        raise InputError(f"ties={ties!r} needs scores, only lists were given: choose ties='id'")
    tied_rows = np.flatnonzero(ranking.any_tie())
    lists = (ranking.items, ranking.scores, ranking.tied)
    truths = (truth.indptr, truth.items, ranking.tied_truth)
    if ties == "expected":
        expected_rows(lists, truths, ks, forms, weights, out, tied_rows)
    else:
        bound_rows(lists, truths, ks, forms, weights, out, tied_rows, ties == "optimistic")
    return out
