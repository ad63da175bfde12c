"""The half rule: the upper half of a formula's values is class 1, and how much of that is arbitrary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paragone.data.digen.legacy_sort import legacy_argsort
from paragone.errors import InputError
from paragone.validation import FloatArray


@dataclass(frozen=True, eq=False)
class HalfCut:
    """Labels by the half rule.

    Parameters
    ----------
    labels : ndarray of uint8
        1 for the upper half of the values, else 0.
    n_tied : int
        Rows that share the value at the cut; 0 where the cut separates two values.
    noise : float
        The share of rows whose label an unstable sort decided against the larger part of the rows that they tie
        with. No classifier can learn these.
    ceiling : float
        The AUROC of the formula's own values: what the best classifier can reach on these labels.

    Examples
    --------
    >>> cut_in_half(np.array([0.3, 0.1, 0.9, 0.5])).ceiling
    1.0
    """

    labels: NDArray[np.uint8]
    n_tied: int
    noise: float
    ceiling: float


def cut_in_half(values: FloatArray) -> HalfCut:
    """Label the upper half 1; rows that tie at the cut fall as the published sort lets them.

    With an odd number of rows the upper half has one row more.

    Examples
    --------
    >>> cut_in_half(np.array([0.3, 0.1, 0.9, 0.5])).labels
    array([0, 0, 1, 1], dtype=uint8)
    >>> tied = cut_in_half(np.array([0.0, 0.0, 0.0, 1.0]))
    >>> tied.n_tied, tied.noise, tied.ceiling
    (3, 0.25, 0.75)
    """
    values = np.asarray(values, dtype=np.float64)
    half = len(values) // 2
    if half == 0:
        raise InputError("the half rule needs at least two rows")
    order = legacy_argsort(values)
    labels = np.zeros(len(values), dtype=np.uint8)
    labels[order[half:]] = 1
    below, above = values[order[half - 1]], values[order[half]]
    if below != above:
        return HalfCut(labels, 0, 0.0, 1.0)
    tied = values == above
    upper = int(labels[tied].sum())
    lower = int(tied.sum()) - upper
    # Pairs of a tied 1 and a tied 0 count half; all others are in the right order.
    lost = 0.5 * upper * lower / (half * (len(values) - half))
    return HalfCut(labels, upper + lower, min(upper, lower) / len(values), 1.0 - lost)
