"""The selecting kernel: the top places of each row of scores, equal scores to the lower id."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def first_not_finite(scores: Any) -> Any:
    """Return (row, column) of the first NaN or infinite score, or (-1, -1)."""
    for row in range(scores.shape[0]):
        # A finite x has x - x == 0; the sum of all those is 0 exactly, so no branch is needed inside.
        total = 0
        for column in range(scores.shape[1]):
            value = scores[row, column]
            total += (value - value) != 0
        if total:
            for column in range(scores.shape[1]):
                if not np.isfinite(scores[row, column]):
                    return row, column
    return -1, -1


@numba.njit(cache=True, nogil=True)
def _stripes_for(n_items: int, places: int) -> int:
    """How many scores share a lane: few enough that there are at least twice as many lanes as places."""
    return max(1, min(16, n_items // (2 * places)))


@numba.njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _lane_maxima(row: Any, lanes: int, maxima: Any) -> None:
    """Write the maximum of every lane; lane l holds the scores l, l + lanes, l + 2 lanes ..."""
    for lane in range(lanes):
        maxima[lane] = row[lane]
    start = lanes
    while start + lanes <= len(row):
        stripe = row[start : start + lanes]
        for lane in range(lanes):
            maxima[lane] = stripe[lane] if stripe[lane] > maxima[lane] else maxima[lane]
        start += lanes
    for column in range(start, len(row)):
        lane = column - start
        maxima[lane] = row[column] if row[column] > maxima[lane] else maxima[lane]


@numba.njit(cache=True, nogil=True)
def _kth_largest(values: Any, count: int, k: int, best: Any) -> Any:
    """Return the k-th largest of the first ``count`` values, or -inf where there are fewer."""
    if count < k:
        return -np.inf
    for index in range(k):
        place = index
        while place > 0 and best[place - 1] < values[index]:
            best[place] = best[place - 1]
            place -= 1
        best[place] = values[index]
    for index in range(k, count):
        value = values[index]
        if value > best[k - 1]:
            place = k - 1
            while place > 0 and best[place - 1] < value:
                best[place] = best[place - 1]
                place -= 1
            best[place] = value
    return best[k - 1]


@numba.njit(cache=True, nogil=True)
def _fill_row(row: Any, maxima: Any, lanes: int, bound: Any, items: Any, values: Any) -> Any:
    """Insert the scores that reach ``bound``, best first, equal scores by id.

    Returns the places filled, and how many scores equal to that of the last place stayed outside. Once all places
    are filled, ``bound`` is the last score: what is lower is not looked at, and what it pushes out was equal or lower.
    """
    places = len(items)
    filled = 0
    outside = 0
    for lane in range(lanes):
        if maxima[lane] < bound:
            continue
        for column in range(lane, len(row), lanes):
            value = row[column]
            if value < bound or value == -np.inf:
                continue
            if filled < places:
                place = filled
                filled += 1
            elif value == bound and column > items[places - 1]:
                outside += 1
                continue
            else:
                place = places - 1
                outside += 1
            while place > 0 and (
                values[place - 1] < value or (values[place - 1] == value and items[place - 1] > column)
            ):
                values[place] = values[place - 1]
                items[place] = items[place - 1]
                place -= 1
            values[place] = value
            items[place] = column
            if filled == places and values[places - 1] > bound:
                bound = values[places - 1]
                outside = 0
    return filled, outside


@numba.njit(cache=True, nogil=True)
def select_rows(scores: Any, first: int, items: Any, values: Any, tied: Any) -> None:
    """Select the top places of a block of rows.

    ``scores`` is the block, -inf marking what is no candidate; ``first`` is the number of its first row in
    the outputs. ``items`` (ids, -1 where a row has fewer candidates) and ``values`` get one row a sample,
    ``tied`` the number of candidates of the whole row that share the score of its last place.

    The k-th largest lane maximum is a lower bound of the k-th best score, so only lanes that reach it are
    read again; a lane is a strided subset because the maxima of all lanes are then found without branches.
    """
    n_rows, n_items = scores.shape
    places = items.shape[1]
    lanes = -(-n_items // _stripes_for(n_items, places))
    maxima = np.empty(lanes, scores.dtype)
    best = np.empty(places, scores.dtype)
    for index in range(n_rows):
        row = scores[index]
        out_items = items[first + index]
        out_values = values[first + index]
        _lane_maxima(row, lanes, maxima)
        bound = _kth_largest(maxima, lanes, places, best)
        filled, outside = _fill_row(row, maxima, lanes, bound, out_items, out_values)
        for place in range(filled, places):
            out_items[place] = -1
            out_values[place] = -np.inf
        tied[first + index] = outside
        for place in range(filled - 1, -1, -1):
            if out_values[place] != out_values[filled - 1]:
                break
            tied[first + index] += 1


@numba.njit(cache=True, nogil=True)
def mark_tied_truth(scores: Any, first: int, items: Any, values: Any, indptr: Any, truth: Any, out: Any) -> None:
    """Mark each relevant item that has the score of the last place and yet stands outside the list."""
    places = items.shape[1]
    for index in range(scores.shape[0]):
        sample = first + index
        last = places - 1
        while last >= 0 and items[sample, last] < 0:
            last -= 1
        for entry in range(indptr[sample], indptr[sample + 1]):
            out[entry] = False
            if last < 0 or scores[index, truth[entry]] != values[sample, last]:
                continue
            inside = False
            for place in range(last, -1, -1):
                if values[sample, place] != values[sample, last]:
                    break
                inside = inside or items[sample, place] == truth[entry]
            out[entry] = not inside
