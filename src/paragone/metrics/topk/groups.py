"""The groups of equal scores of one list: where each begins, how large it is, how much of it is relevant."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


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

    ``starts`` and ``sizes`` describe each group in the order of the whole row (the last may reach beyond
    the list), ``relevant`` counts its relevant items, ``member`` is the group of each truth entry or -1.
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
