"""The argsort that NumPy had until 1.24, rule by rule, because it decided published labels.

Where values tie, an unstable sort orders them as its swaps happen to fall. NumPy's present sorts order ties in another
way, and differently from processor to processor; labels that were cut through a block of ties can only be
had again by the sort of their time: quicksort with the median of three, insertion sort on small ranges.
"""

from __future__ import annotations

import numpy as np

from paragone.validation import FloatArray, IntArray

SMALL_RANGE = 16


def legacy_argsort(values: FloatArray) -> IntArray:
    """Return the order of the values as NumPy's old quicksort gave it; NaN last.

    Examples
    --------
    >>> legacy_argsort(np.array([3.0, 1.0, 2.0]))
    array([1, 2, 0])
    """
    # Ranks stand for values where there are NaNs: all of them share the last rank.
    keys = _sortable(np.asarray(values, dtype=np.float64))
    order = list(range(len(keys)))
    waiting: list[tuple[int, int]] = []
    low, high = 0, len(keys) - 1
    while True:
        while high - low > SMALL_RANGE:
            cut = _partition(keys, order, low, high)
            if cut - low < high - cut:
                waiting.append((cut + 1, high))
                high = cut - 1
            else:
                waiting.append((low, cut - 1))
                low = cut + 1
        _insertion_sort(keys, order, low, high)
        if not waiting:
            return np.array(order, dtype=np.int64)
        low, high = waiting.pop()


def _sortable(values: FloatArray) -> list[float]:
    if np.isnan(values).any():
        values = np.unique(values, return_inverse=True)[1].astype(np.float64)
    return list(map(float, values))


def _partition(keys: list[float], order: list[int], low: int, high: int) -> int:
    middle = low + (high - low) // 2
    for a, b in ((middle, low), (high, middle), (middle, low)):
        if keys[order[a]] < keys[order[b]]:
            order[a], order[b] = order[b], order[a]
    pivot = keys[order[middle]]
    i, j = low, high - 1
    order[middle], order[j] = order[j], order[middle]
    while True:
        i += 1
        while keys[order[i]] < pivot:
            i += 1
        j -= 1
        while pivot < keys[order[j]]:
            j -= 1
        if i >= j:
            break
        order[i], order[j] = order[j], order[i]
    order[i], order[high - 1] = order[high - 1], order[i]
    return i


def _insertion_sort(keys: list[float], order: list[int], low: int, high: int) -> None:
    for i in range(low + 1, high + 1):
        entry = order[i]
        j = i
        while j > low and keys[entry] < keys[order[j - 1]]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = entry
