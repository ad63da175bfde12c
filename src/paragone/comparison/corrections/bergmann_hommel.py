"""Bergmann and Hommel's procedure: every set of pairs that can be equal together is tested."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paragone.comparison.corrections.shaffer import n_methods_of
from paragone.comparison.corrections.steps import check_p_values
from paragone.errors import InputError
from paragone.ties import FloatArray

MOST_METHODS = 9
"""The 21 147 partitions of nine methods take a blink; those of a dozen, four million, do not."""


def bergmann_hommel(p_values: ArrayLike) -> FloatArray:
    """Adjust the p-values of all pairs over every exhaustive set of equalities.

    A set of pairs is exhaustive if exactly these can be equal: a partition of the methods into groups.
    The adjusted p of a pair is the largest ``|I| min(p of I)`` over the exhaustive sets I that hold it,
    followed by the cumulative maximum in the order of the raw p, so that order is kept.

    Parameters
    ----------
    p_values : array-like of shape (k(k-1)/2,)
        Raw p-values of all pairs of at most 9 methods, ordered (0,1), (0,2), ..., (k-2,k-1).

    Returns
    -------
    ndarray of the same shape
        Adjusted p-values.

    References
    ----------
    Bergmann and Hommel (1988) in *Multiple Hypotheses Testing*, Springer, 100-115; Garcia and Herrera (2008)
    *JMLR* 9:2677-2694.

    Examples
    --------
    >>> bergmann_hommel([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.03]
    """
    p = check_p_values(p_values)
    sets = exhaustive_sets(n_methods_of(p.size))
    smallest = np.where(sets, p, np.inf).min(axis=1)
    bound = sets.sum(axis=1) * smallest
    largest = np.where(sets, bound[:, None], 0.0).max(axis=0)
    return _in_order_of_raw(p, np.minimum(1.0, largest))


@lru_cache(maxsize=8)
def exhaustive_sets(n_methods: int) -> NDArray[np.bool_]:
    """Return one row an exhaustive set, one column a pair of methods.

    Examples
    --------
    >>> exhaustive_sets(4).shape
    (14, 6)
    """
    if n_methods > MOST_METHODS:
        raise InputError(
            f"Bergmann-Hommel takes at most {MOST_METHODS} methods, not {n_methods}: use shaffer, which "
            "rests on the same logic"
        )
    groups = np.array(list(_partitions(n_methods)), dtype=np.int8)
    first, second = np.array(list(combinations(range(n_methods), 2))).T
    together = groups[:, first] == groups[:, second]
    kept: NDArray[np.bool_] = together[together.any(axis=1)]
    kept.setflags(write=False)
    return kept


def _partitions(size: int) -> Iterator[tuple[int, ...]]:
    """Yield every partition as the group number of each member, groups numbered as they appear."""
    if size == 0:
        yield ()
        return
    for head in _partitions(size - 1):
        for group in range(max(head, default=-1) + 2):
            yield (*head, group)


def _in_order_of_raw(p: FloatArray, adjusted: FloatArray) -> FloatArray:
    """Take the cumulative maximum along rising raw p; equal raw p get equal adjusted p."""
    levels, place = np.unique(p, return_inverse=True)
    highest = np.zeros(levels.size)
    np.maximum.at(highest, place, adjusted)
    result: FloatArray = np.maximum.accumulate(highest)[place]
    return result
