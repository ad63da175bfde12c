"""The groups of equal scores of one list: where each begins, how large it is, how much of it is relevant."""

from __future__ import annotations

from typing import Any

import numba


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
