"""Ranks with ties: equal values share the mean of their places."""

from __future__ import annotations

import numpy as np

from paragone.comparison.settle import FloatArray


def average_ranks(values: FloatArray) -> FloatArray:
    """Return the rank of every value along the last axis, 1 for the smallest; NaN is no value that can be ranked.

    Two searches in the sorted values: several times quicker than `scipy.stats.rankdata`, and without importing it.

    Examples
    --------
    >>> import numpy as np
    >>> average_ranks(np.array([0.3, 0.1, 0.3, 0.2])).tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    if values.ndim > 1:
        return np.stack([average_ranks(row) for row in values]) if len(values) else np.empty(values.shape)
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    not_above = np.searchsorted(ordered, values, side="right")
    ranks: FloatArray = (below + not_above + 1) / 2
    return ranks
