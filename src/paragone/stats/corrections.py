"""Corrections for many tests at once: each turns raw p-values into adjusted ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paragone.errors import InputError
from paragone.stats.registries import Correction, corrections
from paragone.ties import FloatArray

__all__ = [
    "benjamini_hochberg",
    "bergmann_hommel",
    "bonferroni",
    "hochberg",
    "holm",
    "hommel",
    "shaffer",
]


def check_p_values(p_values: ArrayLike) -> FloatArray:
    """Return the p-values as a flat array within [0, 1], or say what is wrong.

    Examples
    --------
    >>> check_p_values([0.5, 1]).tolist()
    [0.5, 1.0]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or p.size == 0 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("a correction takes one or more p-values between 0 and 1 in a flat list")
    return p


def step_down(p: FloatArray, factors: FloatArray) -> FloatArray:
    """Multiply the sorted p-values by ``factors``, take the cumulative maximum, cap at 1.

    Examples
    --------
    >>> import numpy as np
    >>> step_down(np.array([0.04, 0.01]), np.array([2.0, 1.0])).tolist()
    [0.04, 0.02]
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return adjusted


def step_up(p: FloatArray, factors: FloatArray) -> FloatArray:
    """Multiply the sorted p-values by ``factors``, take the minimum from the largest down, cap at 1.

    Examples
    --------
    >>> import numpy as np
    >>> step_up(np.array([0.04, 0.03]), np.array([2.0, 1.0])).tolist()
    [0.04, 0.04]
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    smallest = np.minimum.accumulate((p[order] * factors)[::-1])[::-1]
    adjusted[order] = np.minimum(1.0, smallest)
    return adjusted


def bonferroni(p_values: ArrayLike) -> FloatArray:
    """Adjust by the number of tests; holds under any dependence, and is never better than Holm.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Raw p-values.

    Returns
    -------
    ndarray of shape (m,)
        ``min(1, m p)``.

    References
    ----------
    Dunn (1961) *JASA* 56:52-64.

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.5]).tolist()
    [0.03, 0.12, 1.0]
    """
    p = check_p_values(p_values)
    adjusted: FloatArray = np.minimum(1.0, p.size * p)
    return adjusted


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust step-down: the i-th smallest p times ``m - i + 1``, cumulative maximum, capped at 1.

    Holds under any dependence and is uniformly better than Bonferroni.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Raw p-values.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted p-values in the order given.

    References
    ----------
    Holm (1979) *Scandinavian Journal of Statistics* 6:65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = check_p_values(p_values)
    return step_down(p, np.arange(p.size, 0, -1, dtype=np.float64))


def hochberg(p_values: ArrayLike) -> FloatArray:
    """Adjust step-up with Holm's factors; needs independent or positively dependent tests.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Raw p-values.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted p-values, never above Holm's.

    References
    ----------
    Hochberg (1988) *Biometrika* 75:800-802.

    Examples
    --------
    >>> hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    p = check_p_values(p_values)
    return step_up(p, np.arange(p.size, 0, -1, dtype=np.float64))


def hommel(p_values: ArrayLike) -> FloatArray:
    """Adjust by closed Simes tests; as Hochberg it needs positive dependence, and is never worse.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Raw p-values.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted p-values.

    References
    ----------
    Hommel (1988) *Biometrika* 75:383-386; the algorithm follows Wright (1992) *Biometrics* 48:1005-1013.

    Examples
    --------
    >>> hommel([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    p = check_p_values(p_values)
    m = p.size
    order = np.argsort(p, kind="stable")
    sorted_p = p[order]
    places = np.arange(1, m + 1)
    adjusted = np.full(m, float((m * sorted_p / places).min()))
    for size in range(m - 1, 1, -1):
        simes = float((size * sorted_p[m - size + 1 :] / places[1:size]).min())
        level = np.minimum(simes, size * sorted_p)
        level[m - size + 1 :] = level[m - size]
        adjusted = np.maximum(adjusted, level)
    result = np.empty(m)
    result[order] = np.minimum(1.0, np.maximum(adjusted, sorted_p))
    return result


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Adjust for the expected share of false rejections, which is weaker than family-wise control.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Raw p-values.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted p-values.

    References
    ----------
    Benjamini and Hochberg (1995) *Journal of the Royal Statistical Society* B 57:289-300.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.04, 0.04]
    """
    p = check_p_values(p_values)
    return step_up(p, p.size / np.arange(1, p.size + 1, dtype=np.float64))


def shaffer(p_values: ArrayLike) -> FloatArray:
    """Adjust the p-values of all k(k-1)/2 pairs by how many of them can still be true together.

    If A = B and B = C then A = C, so after some rejections fewer equalities can hold than Holm
    counts.

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
    return step_down(p, _shaffer_multipliers(n_methods_of(p.size)))


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
    possible = numbers_of_true_pairs(n_methods)
    n_pairs = n_methods * (n_methods - 1) // 2
    left = np.arange(n_pairs, 0, -1)
    return tuple(possible[np.searchsorted(possible, left, side="right") - 1].tolist())


@lru_cache(maxsize=8)
def _shaffer_multipliers(n_methods: int) -> FloatArray:
    """Return the factors as floats: every dataset that is left out asks for them again."""
    return np.array(shaffer_factors(n_methods), dtype=np.float64)


def numbers_of_true_pairs(n_methods: int) -> NDArray[np.int64]:
    """Return every number of equal pairs that a partition of the methods into equal groups can have, in order.

    Examples
    --------
    >>> numbers_of_true_pairs(4).tolist()
    [0, 1, 2, 3, 6]
    """
    # Bit s of a number stands for s equal pairs; a group of some size moves all that the rest can
    # have.
    sets = [1]
    for n in range(1, n_methods + 1):
        found = 0
        for size in range(1, n + 1):
            found |= sets[n - size] << (size * (size - 1) // 2)
        sets.append(found)
    return np.array(
        [place for place, bit in enumerate(bin(sets[-1])[:1:-1]) if bit == "1"], dtype=np.int64
    )


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
    """Return one row per exhaustive set, one column per pair of methods.

    Examples
    --------
    >>> exhaustive_sets(4).shape
    (14, 6)
    """
    if n_methods > MOST_METHODS:
        raise InputError(
            f"Bergmann-Hommel takes at most {MOST_METHODS} methods, not {n_methods}: use shaffer,"
            " which rests on the same logic"
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


corrections.add(Correction("holm", "Holm", holm))
corrections.add(Correction("hochberg", "Hochberg", hochberg))
corrections.add(Correction("hommel", "Hommel", hommel))
corrections.add(Correction("bonferroni", "Bonferroni", bonferroni))
corrections.add(
    Correction(
        "benjamini-hochberg",
        "Benjamini-Hochberg",
        benjamini_hochberg,
        aliases=("fdr",),
        controls="false discovery rate",
    )
)
corrections.add(Correction("shaffer", "Shaffer (static)", shaffer, "all pairs", beside="bergmann"))
corrections.add(
    Correction(
        "bergmann",
        "Bergmann-Hommel",
        bergmann_hommel,
        "all pairs",
        most_methods=MOST_METHODS,
        aliases=("bergmann-hommel",),
    )
)
