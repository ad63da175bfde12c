"""The Wilcoxon signed-rank test, exact with ties and zeros, without each pair in turn, and its power.

Wilcoxon (1945) *Biometrics Bulletin* 1:80-83; Pratt (1959) *JASA* 54:655-667 for zeros kept in the
ranking. Given the magnitudes, every pattern of signs is equally likely under the null, ties or not:
`paragone.stats.rank_sums` counts them. Beyond `EXACT_UP_TO` differences a normal approximation with
the variance of the tied ranks and a continuity correction stands in, except where all magnitudes
are the same, which is binomial and stays exact.

Noether (1987) *JASA* 82:645-647 for the power: with ``q = P(D_i + D_j > 0)`` the test at level
alpha reaches the power wanted at about ``N = (z_{alpha/2} + z_{power})^2 / (3 (q - 1/2)^2)`` pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from paragone.errors import InputError, unknown_name
from paragone.stats.rank_sums import MOST, lower_tails, lower_tails_without_each
from paragone.stats.registries import Test, TestResult, tests
from paragone.stats.t_tests import check_differences
from paragone.ties import TOLERANCE, BoolArray, FloatArray, average_ranks, settle_differences


def smallest_p(n_pairs: int, *, two_sided: bool = True) -> float:
    """Return the smallest p a sign or signed-rank test can reach with ``n_pairs`` non-zero differences.

    Under the null all ``2 ** n`` patterns of signs are equally likely, so no p lies below that of
    the one pattern where every pair agrees. With 5 pairs that is 0.0625: nothing can be significant
    at 5 %.

    Parameters
    ----------
    n_pairs : int
        Number of non-zero differences.
    two_sided : bool, default=True
        Whether both directions count.

    Returns
    -------
    float
        ``2 ** (1 - n)`` two-sided, ``2 ** -n`` one-sided, never above 1.

    Examples
    --------
    >>> smallest_p(5), smallest_p(6), smallest_p(0)
    (0.0625, 0.03125, 1.0)
    """
    if n_pairs < 0:
        raise InputError(f"a number of pairs cannot be negative: {n_pairs}")
    return min(1.0, 2.0 ** (int(two_sided) - n_pairs))


def pairs_needed(alpha: float, *, two_sided: bool = True) -> int:
    """Return the fewest pairs with which a p of at most ``alpha`` can be reached.

    Parameters
    ----------
    alpha : float
        The level, between 0 and 1.
    two_sided : bool, default=True
        Whether both directions count.

    Returns
    -------
    int
        The number of non-zero differences.

    Examples
    --------
    >>> pairs_needed(0.05), pairs_needed(0.05 / 7)
    (6, 9)
    """
    if not 0 < alpha <= 1:
        raise InputError(f"alpha must lie between 0 and 1, not {alpha}")
    n_pairs = 0
    while smallest_p(n_pairs, two_sided=two_sided) > alpha:
        n_pairs += 1
    return n_pairs


Zeros = Literal["wilcox", "pratt", "split"]
Alternative = Literal["two-sided", "greater", "less"]

EXACT_UP_TO = 500
"""Up to so many non-zero differences patterns are counted: some 20 ms there, growing with the cube."""


@dataclass(frozen=True, kw_only=True)
class Wilcoxon(TestResult):
    """What the signed-rank test found.

    Attributes
    ----------
    w_plus, w_minus : float
        Rank sums of the positive and of the negative differences.
    n, n_used, n_zeros : int
        Pairs given, non-zero differences, zero differences.
    zeros, alternative : str
        What was chosen.
    """

    w_plus: float
    w_minus: float
    n: int
    n_used: int
    n_zeros: int
    zeros: Zeros
    alternative: Alternative

    def turned(self) -> Wilcoxon:
        """Return the result as it looks from the rival."""
        return replace(super().turned(), w_plus=self.w_minus, w_minus=self.w_plus)

    def words(self, n: int, units: str) -> str:
        """Say in brackets behind a p how it came about."""
        return f"{'exact' if self.exact else 'normal approximation'}, two-sided, n = {n}"


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
        Paired scores; the differences are ``b - a``. With ``b`` left out, ``a`` holds the
        differences.
    zeros : {"wilcox", "pratt", "split"}, default="wilcox"
        Zero differences are dropped before ranking, ranked and then dropped, or ranked and shared
        between both sums. ``pratt`` and ``split`` give the same p.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        One-sided only if it was declared before the data were seen; ``greater``: differences tend
        above 0.
    tolerance : float, default=1e-9
        Relative tolerance below which a difference is zero and two differences are tied.
    exact_up_to : int, default=500
        Above so many non-zero differences the normal approximation stands in: variance corrected
        for ties, and a continuity correction of half a rank. At most 1000.

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
        raise InputError(
            "the signed-rank test takes one or more finite paired differences in a flat list"
        )
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
    exact = n_used <= exact_up_to or bool(np.ptp(ranks) == 0)
    p = exact_p(ranks, w_plus, alternative) if exact else _normal_p(ranks, w_plus, alternative)
    return Wilcoxon(
        p=p,
        side=w_plus - w_minus,
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


def rank_sums(difference: FloatArray, zeros: Zeros = "wilcox") -> tuple[float, float]:
    """Return the rank sums of the positive and of the negative settled differences.

    Examples
    --------
    >>> rank_sums(np.array([1.0, -2.0, 3.0, 0.0])), rank_sums(np.array([1.0, -2.0, 3.0, 0.0]), "split")
    ((4.0, 2.0), (6.5, 3.5))
    """
    kept = difference if zeros != "wilcox" else difference[difference != 0]
    ranks = average_ranks(np.abs(kept))
    shared = float(ranks[kept == 0].sum()) / 2 if zeros == "split" else 0.0
    return float(ranks[kept > 0].sum()) + shared, float(ranks[kept < 0].sum()) + shared


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
    lower = {"two-sided": min(plus, minus), "greater": minus, "less": plus}[alternative]
    tail = float(lower_tails(doubled, np.array([lower]))[0])
    return min(1.0, 2 * tail) if alternative == "two-sided" else tail


def _normal_p(ranks: FloatArray, w_plus: float, alternative: Alternative) -> float:
    total, squares = ranks.sum(), np.square(ranks).sum()
    lower = {"two-sided": min(w_plus, total - w_plus), "greater": total - w_plus, "less": w_plus}[
        alternative
    ]
    tail = float(normal_tail(np.asarray(lower), total, squares))
    return min(1.0, 2 * tail) if alternative == "two-sided" else tail


def normal_tail(lower: FloatArray, total: FloatArray, squares: FloatArray) -> FloatArray:
    """Approximate the chance of a rank sum of at most ``lower`` by the normal with the exact mean and variance.

    Parameters
    ----------
    lower, total, squares : ndarray
        The sum of the positive (or negative) ranks, of all ranks and of their squares, which ties
        are part of.

    Returns
    -------
    ndarray
        With a continuity correction of half a rank; never 0, which no p is.

    Examples
    --------
    >>> normal_tail(np.array(0.0), np.array(21.0), np.array(91.0)).round(4).tolist()
    0.018
    """
    error = np.sqrt(squares / 4)
    z = np.divide(lower + 0.5 - total / 2, error, out=np.zeros_like(error), where=error > 0)
    tail: FloatArray = np.maximum(ndtr(z), np.finfo(np.float64).tiny)
    return tail


def _check_choices(zeros: str, alternative: str, exact_up_to: int) -> None:
    if zeros not in get_args(Zeros):
        raise unknown_name("treatment of zeros", zeros, get_args(Zeros))
    if alternative not in get_args(Alternative):
        raise unknown_name("alternative", alternative, get_args(Alternative))
    if not 0 <= exact_up_to <= MOST:
        raise InputError(
            f"exact_up_to lies between 0 and {MOST} (more patterns cannot be counted), not"
            f" {exact_up_to}"
        )


def leave_one_out_p(
    difference: FloatArray, zeros: Zeros = "wilcox", exact_up_to: int = EXACT_UP_TO
) -> tuple[FloatArray, FloatArray]:
    """Return the two-sided p without each pair, and the side it then favours.

    Parameters
    ----------
    difference : ndarray of shape (n,)
        Settled differences, two or more.
    zeros : {"wilcox", "pratt", "split"}, default="wilcox"
        Treatment of zeros.
    exact_up_to : int, default=500
        Exact up to so many non-zero differences.

    Returns
    -------
    p : ndarray of shape (n,)
        The p-value when that pair is left out.
    side : ndarray of shape (n,)
        Sign of ``W+ - W-`` when that pair is left out.

    Examples
    --------
    >>> import numpy as np
    >>> p, side = leave_one_out_p(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0]))
    >>> p.tolist()[0], p.tolist()[-1]
    (0.4375, 0.03125)
    """
    used = difference != 0
    kept = np.ones(difference.size, dtype=bool) if zeros != "wilcox" else used
    # A pair that was not ranked anyway changes nothing when it is left out.
    whole = signed_rank_of_settled(difference, zeros, exact_up_to=exact_up_to)
    p, side = np.full(difference.size, whole.p), np.full(difference.size, np.sign(whole.side))
    if not used.any():
        return p, side
    magnitude, counted = np.abs(difference[kept]), used[kept]
    tied = _TiedMagnitudes(magnitude)
    w_plus, _ = tied.sums_without_each(difference[kept] > 0)
    total, squares = tied.sums_without_each(counted)
    lower = np.minimum(w_plus, total - w_plus)
    # Zeros that are ranked are the first group, and have no sign.
    ranked_zeros = int(not counted.all())
    sizes, group = tied.sizes[ranked_zeros:], tied.group - ranked_zeros
    # Without a magnitude that stands alone the others may all be the same, which is exact at any
    # size.
    alone = (sizes.size - (counted & (sizes[group] == 1))) == 1
    exact = (counted.sum() - counted <= exact_up_to) | alone
    tail = normal_tail(lower, total, squares)
    if exact.any():
        bound = np.rint(2 * lower[exact]).astype(np.int64)
        tail[exact] = lower_tails_without_each(sizes, int((~counted).sum()), group[exact], bound)
    p[kept], side[kept] = np.minimum(1.0, 2 * tail), np.sign(2 * w_plus - total)
    return p, side


class _TiedMagnitudes:
    """Magnitudes in their order, with their ties; what is summed up over them in several ways is sorted once."""

    def __init__(self, magnitude: FloatArray) -> None:
        self._order = np.argsort(magnitude, kind="stable")
        ordered = magnitude[self._order]
        begins = np.append(True, ordered[1:] != ordered[:-1])
        starts = np.flatnonzero(begins)
        self.sizes = np.diff(np.append(starts, magnitude.size))
        group = np.cumsum(begins) - 1
        self._first = starts[group]
        self._last = self._first + self.sizes[group]
        self._ranks = (self._first + self._last + 1) / 2
        self.group = np.empty_like(group)
        self.group[self._order] = group

    def sums_without_each(self, counted: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return, for every pair that is left out, the sum of the ranks that count, and of their squares.

        Without it, a larger magnitude loses a whole rank and an equal one half a rank, so running
        sums over the sorted magnitudes say it all. Ranks are halves: every sum here is exact, in
        whatever order.
        """
        ranks, first, last = self._ranks, self._first, self._last
        weights = counted[self._order].astype(np.float64)

        def above_and_tied(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
            running = np.concatenate([[0.0], np.cumsum(weights)])
            return running[-1] - running[last], running[last] - running[first]

        above, tied = above_and_tied(weights)
        above_ranks, tied_ranks = above_and_tied(weights * ranks)
        own = ranks - 0.5
        sums = (weights * ranks).sum() - above - tied / 2 - weights * own
        squares = (
            (weights * ranks**2).sum()
            - 2 * above_ranks
            - tied_ranks
            + above
            + tied / 4
            - weights * own**2
        )
        found = np.empty((2, ranks.size))
        found[:, self._order] = sums, squares
        return found[0], found[1]


def walsh_share(differences: ArrayLike) -> float:
    """Return the share of Walsh sums ``d_i + d_j`` (i < j) above zero, zeros counting half.

    Parameters
    ----------
    differences : array-like of shape (n,)
        Paired differences, two or more.

    Returns
    -------
    float
        0.5 where neither side is favoured.

    Examples
    --------
    >>> walsh_share([1.0, 2.0, -1.5])
    0.666...
    """
    given = check_differences(differences, least=2)
    values = np.sort(settle_differences(np.zeros_like(given), given))
    n = values.size
    above = n - np.searchsorted(values, -values, side="right")
    not_below = n - np.searchsorted(values, -values, side="left")
    twice = float((above + not_below).sum() - (values > 0).sum() - (values >= 0).sum())
    return twice / (2 * n * (n - 1))


def pairs_for_power(
    differences: ArrayLike, *, alpha: float = 0.05, power: float = 0.8, most: int = 1_000_000
) -> int | None:
    """Return how many pairs like these a two-sided signed-rank test needs for the power wanted.

    Parameters
    ----------
    differences : array-like of shape (n,)
        The observed differences, taken as the truth. That is optimistic or pessimistic by chance:
        the figure plans a next study and proves nothing about this one.
    alpha : float, default=0.05
        Level of the test.
    power : float, default=0.8
        Power wanted.
    most : int, default=1000000
        Above this the answer is None: the observed effect is as good as none.

    Returns
    -------
    int or None
        Total number of pairs, never fewer than can be significant at all.

    Examples
    --------
    >>> pairs_for_power([0.03, -0.01, 0.02, 0.01, -0.02, 0.04])
    30
    """
    if not (0 < alpha < 1 and 0 < power < 1):
        raise InputError(f"alpha and power lie between 0 and 1, not {alpha} and {power}")
    effect = abs(walsh_share(differences) - 0.5)
    deviates = float(ndtri(1 - alpha / 2) + ndtri(power))
    if effect == 0 or deviates**2 / (3 * effect**2) > most:
        return None
    return max(math.ceil(deviates**2 / (3 * effect**2)), pairs_needed(alpha))


_HOW_ZEROS = {
    "wilcox": "zero differences dropped",
    "pratt": "zero differences ranked, then dropped (Pratt)",
    "split": "zero differences ranked and split",
}


def _remark(options: Mapping[str, Any]) -> str:
    return _HOW_ZEROS[options["zeros"]]


def _chosen(results: Sequence[TestResult], options: Mapping[str, Any]) -> str:
    exact = {result.exact for result in results}
    limit = f"exact where n <= {options['exact_up_to']}"
    how = "exact" if exact == {True} else "normal approximation" if exact == {False} else limit
    return f"{how}, {_remark(options)}"


WILCOXON = tests.add(
    Test(
        "wilcoxon",
        "Wilcoxon signed-rank",
        signed_rank_of_settled,
        needs=("zeros", "exact_up_to"),
        # Folds share training rows: to this test they look like more evidence than they are.
        units=("dataset", "subject", "sample"),
        heading="Wilcoxon",
        label="Wilcoxon",
        remark=_remark,
        chosen=_chosen,
        without_each=leave_one_out_p,
        by_rank=True,
        estimate="difference",
        interval_in_words="the Hodges-Lehmann estimate between the limits of the same test",
        power=pairs_for_power,
    )
)
