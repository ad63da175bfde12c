"""Shaffer's static procedure: Holm that knows that equalities of pairs imply each other."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike

from paragone.comparison.corrections.steps import check_p_values, step_down
from paragone.errors import InputError
from paragone.ties import FloatArray


def shaffer(p_values: ArrayLike) -> FloatArray:
    """Adjust the p-values of all k(k-1)/2 pairs by how many of them can still be true together.

    If A = B and B = C then A = C, so after some rejections fewer equalities can hold than Holm counts.

    Parameters
    ----------
    p_values : array-like of shape (k(k-1)/2,)
        Raw p-values of all pairs of k methods, in any order.

    Returns
    -------
    ndarray of the same shape
        Adjusted p-values, never above Holm's.

    References
    ----------
    Shaffer (1986) *JASA* 81:826-831; Garcia and Herrera (2008) *JMLR* 9:2677-2694.

    Examples
    --------
    >>> shaffer([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.03]
    """
    p = check_p_values(p_values)
    return step_down(p, np.array(shaffer_factors(n_methods_of(p.size)), dtype=np.float64))


def n_methods_of(n_pairs: int) -> int:
    """Return k with k(k-1)/2 pairs, or say that there is none.

    Examples
    --------
    >>> n_methods_of(6)
    4
    """
    k = (1 + isqrt(1 + 8 * n_pairs)) // 2
    if k * (k - 1) // 2 != n_pairs:
        raise InputError(f"{n_pairs} p-values are not those of all pairs of some number of methods")
    return k


@lru_cache(maxsize=64)
def shaffer_factors(n_methods: int) -> tuple[int, ...]:
    """Return how many equalities can be true at most when the first i - 1 of the pairs are false.

    Examples
    --------
    >>> shaffer_factors(4)
    (6, 3, 3, 3, 2, 1)
    """
    possible = sorted(_numbers_of_true_pairs(n_methods))
    n_pairs = n_methods * (n_methods - 1) // 2
    return tuple(max(s for s in possible if s <= n_pairs - i) for i in range(n_pairs))


@lru_cache(maxsize=64)
def _numbers_of_true_pairs(n_methods: int) -> frozenset[int]:
    """Return every number of equal pairs that a partition of the methods into equal groups can have."""
    if n_methods <= 1:
        return frozenset({0})
    return frozenset(
        size * (size - 1) // 2 + rest
        for size in range(1, n_methods + 1)
        for rest in _numbers_of_true_pairs(n_methods - size)
    )
