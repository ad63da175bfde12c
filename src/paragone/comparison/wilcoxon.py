"""The Wilcoxon signed-rank test, exact with ties and zeros.

Wilcoxon (1945) *Biometrics Bulletin* 1:80-83; Pratt (1959) *JASA* 54:655-667 for zeros kept in the ranking.
Given the magnitudes, every pattern of signs is equally likely under the null, ties or not, so the exact
distribution is a count of subsets by their rank sum: a dynamic program over doubled (whole) ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from paragone.comparison.attainable import smallest_p
from paragone.comparison.settle import settle_differences
from paragone.errors import InputError, unknown_name
from paragone.ties import TOLERANCE, FloatArray, average_ranks

Zeros = Literal["wilcox", "pratt", "split"]
Alternative = Literal["two-sided", "greater", "less"]

EXACT_UP_TO = 50
"""Largest number of non-zero differences whose subset counts stay whole numbers in float64, with room."""


@dataclass(frozen=True)
class Wilcoxon:
    """What the signed-rank test found.

    Attributes
    ----------
    p : float
        The p-value.
    w_plus, w_minus : float
        Rank sums of the positive and of the negative differences.
    n, n_used, n_zeros : int
        Pairs given, non-zero differences, zero differences.
    exact : bool
        Whether ``p`` is exact or the normal approximation.
    smallest_p : float
        The smallest p that ``n_used`` non-zero differences can give.
    zeros, alternative : str
        What was chosen.
    """

    p: float
    w_plus: float
    w_minus: float
    n: int
    n_used: int
    n_zeros: int
    exact: bool
    smallest_p: float
    zeros: Zeros
    alternative: Alternative


def wilcoxon_signed_rank(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    zeros: Zeros = "wilcox",
    alternative: Alternative = "two-sided",
    tolerance: float = TOLERANCE,
    exact_up_to: int = EXACT_UP_TO,
) -> Wilcoxon:
    """Test whether paired differences are symmetric about zero.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Paired scores; the differences are ``b - a``. With ``b`` left out, ``a`` holds the differences.
    zeros : {"wilcox", "pratt", "split"}, default="wilcox"
        Zero differences are dropped before ranking, ranked and then dropped, or ranked and shared between
        both sums. ``pratt`` and ``split`` give the same p.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        One-sided only if it was declared before the data were seen; ``greater``: differences tend above 0.
    tolerance : float, default=1e-9
        Relative tolerance below which a difference is zero and two differences are tied.
    exact_up_to : int, default=50
        Above so many non-zero differences the normal approximation (variance corrected for ties, no
        continuity correction) stands in. At most 52.

    Returns
    -------
    Wilcoxon
        The p-value with everything it rests on. All differences zero: p = 1.

    Examples
    --------
    >>> wilcoxon_signed_rank([0.1, 0.2, 0.3, 0.4, 0.5], [0.2, 0.4, 0.4, 0.6, 0.7]).p
    0.0625
    """
    _check_choices(zeros, alternative, exact_up_to)
    if b is None:
        values = np.asarray(a, dtype=np.float64)
        difference = settle_differences(np.zeros_like(values), values, tolerance)
    else:
        difference = settle_differences(a, b, tolerance)
    if difference.ndim != 1 or difference.size == 0 or not np.isfinite(difference).all():
        raise InputError("the signed-rank test takes one or more finite paired differences in a flat list")
    return signed_rank_of_settled(difference, zeros, alternative, exact_up_to)


def signed_rank_of_settled(
    difference: FloatArray,
    zeros: Zeros = "wilcox",
    alternative: Alternative = "two-sided",
    exact_up_to: int = EXACT_UP_TO,
) -> Wilcoxon:
    """Test differences whose noise has been taken out already.

    Examples
    --------
    >>> import numpy as np
    >>> signed_rank_of_settled(np.array([1.0, 2.0, 0.0])).n_used
    2
    """
    used = difference != 0
    kept = difference if zeros != "wilcox" else difference[used]
    rank = average_ranks(np.abs(kept))
    ranks = rank[kept != 0]
    positive = kept[kept != 0] > 0
    shared = float(rank[kept == 0].sum()) / 2 if zeros == "split" else 0.0
    w_plus, w_minus = float(ranks[positive].sum()), float(ranks[~positive].sum())
    n_used = int(used.sum())
    exact = n_used <= exact_up_to
    p = exact_p(ranks, w_plus, alternative) if exact else _normal_p(ranks, w_plus, alternative)
    return Wilcoxon(
        p=p,
        w_plus=w_plus + shared,
        w_minus=w_minus + shared,
        n=difference.size,
        n_used=n_used,
        n_zeros=difference.size - n_used,
        exact=exact,
        smallest_p=smallest_p(n_used, two_sided=alternative == "two-sided"),
        zeros=zeros,
        alternative=alternative,
    )


def exact_p(ranks: FloatArray, w_plus: float, alternative: Alternative = "two-sided") -> float:
    """Return the exact p of a positive rank sum, given the ranks of the non-zero differences.

    Examples
    --------
    >>> import numpy as np
    >>> exact_p(np.array([1.0, 2.5, 2.5]), 6.0)
    0.25
    """
    doubled = np.rint(2 * ranks).astype(np.int64)
    plus = round(2 * w_plus)
    minus = int(doubled.sum()) - plus
    if alternative == "two-sided":
        return min(1.0, 2 * _lower_tail(doubled, min(plus, minus)))
    return _lower_tail(doubled, minus if alternative == "greater" else plus)


def _lower_tail(doubled: np.ndarray, bound: int) -> float:
    """Return the share of sign patterns whose positive (doubled) rank sum is at most ``bound``."""
    count = np.zeros(bound + 1)
    count[0] = 1.0
    for rank in np.sort(doubled).tolist():
        if rank > bound:
            break
        count[rank:] += count[: bound + 1 - rank]
    return float(count.sum()) / 2.0**doubled.size


def _normal_p(ranks: FloatArray, w_plus: float, alternative: Alternative) -> float:
    """Approximate by the normal with the exact mean and variance, ties included."""
    z = (w_plus - ranks.sum() / 2) / np.sqrt(np.square(ranks).sum() / 4)
    if alternative == "two-sided":
        return float(2 * ndtr(-abs(z)))
    return float(ndtr(-z if alternative == "greater" else z))


def _check_choices(zeros: str, alternative: str, exact_up_to: int) -> None:
    if zeros not in get_args(Zeros):
        raise unknown_name("treatment of zeros", zeros, get_args(Zeros))
    if alternative not in get_args(Alternative):
        raise unknown_name("alternative", alternative, get_args(Alternative))
    if not 0 <= exact_up_to <= 52:
        raise InputError(f"exact_up_to must lie between 0 and 52 (counts stay whole), not {exact_up_to}")
