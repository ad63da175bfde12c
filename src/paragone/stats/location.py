"""How large a shift is: the Hodges-Lehmann estimate, the interval that belongs to the signed-rank test, shifted nulls.

Hodges and Lehmann (1963) *Annals of Mathematical Statistics* 34:598-611. The Walsh averages are the
means of all pairs of differences, each with itself included; their median is the estimate. A shift
is in the interval where the signed-rank test of the differences less that shift does not reject.
Between two neighbouring Walsh averages neither a sign nor the order of the magnitudes changes, so
the test is the same for all shifts of such a cell, and the limits are Walsh averages. Untied
differences have the same null distribution in every cell, which gives the limits by their places
alone. With ties it belongs to the cell, and the first cell that is not rejected is found by
bisection.

Bisection is right because p never falls from cell to cell. Over a Walsh average of p equal
differences below and q above it, the p grow past the q in rank: a pattern of signs in which A of
the former and B of the latter are lost loses ``qA - pB`` more than before, the observed pattern
(all p, none of the q) ``pq``, which is the most. So every pattern that lost no more than the
observed one still does. Over p differences themselves no rank changes, and the observed pattern
loses more.

On a Walsh average itself a shifted difference is zero or two mirror each other, where conventions
differ. A null on one is tested as the shift just beyond it, where these count against the
alternative, so that limit and test always agree: a shift is rejected by the one-sided test exactly
where it lies outside the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from paragone.errors import InputError, unknown_name
from paragone.intervals import Interval
from paragone.stats.rank_sums import last_below, lower_tails
from paragone.stats.signed_rank import EXACT_UP_TO, Zeros, normal_tail, signed_rank_of_settled
from paragone.stats.t_tests import check_differences
from paragone.ties import (
    BoolArray,
    FloatArray,
    IntArray,
    average_ranks,
    merge_close,
    settle_differences,
    slack_of,
)

AT_ONCE = 50_000
"""Walsh averages that are laid out and sorted to look up places, those of 315 differences; among more of them a
compiled search is quicker by far, and worth loading."""
MOST_AT_ONCE = 600_000
"""Walsh averages that are laid out where all are wanted, which is all of 1000 differences."""


def hodges_lehmann(
    differences: ArrayLike,
    *,
    level: float = 0.95,
    zeros: Zeros = "wilcox",
    exact_up_to: int = EXACT_UP_TO,
) -> Interval:
    """Return the Hodges-Lehmann estimate of a shift, and the interval of the signed-rank test.

    Parameters
    ----------
    differences : array-like of shape (n,)
        Paired differences, one or more.
    level : float, default=0.95
        Confidence level, any between 0 and 1: ``1 - alpha / m`` makes m intervals hold together
        (Bonferroni), and ``1 - 2 * alpha`` is the one that two one-sided tests at alpha look at.
    zeros : {"wilcox", "pratt", "split"}, default="wilcox"
        How the test of no shift at all treats zero differences.
    exact_up_to : int, default=500
        Exact up to so many differences, by the continuity-corrected normal approximation beyond.

    Returns
    -------
    Interval
        A limit is infinite where so few differences exclude nothing on its side: below 6 at 95 %.
        Zero is within the limits wherever the two-sided test does not reject it at ``1 - level``.

    Examples
    --------
    >>> hodges_lehmann([0.1, 0.2, 0.4, 0.8, 1.6, 3.2])
    Interval(estimate=0.85..., low=0.1, high=3.2)
    >>> hodges_lehmann([0.1, 0.2, 0.4]).low
    -inf
    """
    (found,) = shift_intervals(differences, (level,), zeros=zeros, exact_up_to=exact_up_to)
    return found


def shift_intervals(
    differences: ArrayLike,
    levels: Sequence[float],
    *,
    zeros: Zeros = "wilcox",
    exact_up_to: int = EXACT_UP_TO,
) -> tuple[Interval, ...]:
    """Return the interval of `hodges_lehmann` at several levels; what they share is worked out once.

    Examples
    --------
    >>> [interval.low for interval in shift_intervals([0.1, 0.2, 0.4, 0.8, 1.6, 3.2], (0.9, 0.95))]
    [0.2, 0.1]
    """
    for level in levels:
        if not 0 < level < 1:
            raise InputError(f"the level of an interval lies between 0 and 1, not {level}")
    values = _settled(differences)
    walsh = _WalshAverages(values)
    estimate = walsh.median()
    mirrored = walsh.mirrored()
    p_of_none: float | None = None
    found = []
    for level in levels:
        low = _lower_limit(walsh, (1 - level) / 2, exact_up_to)
        high = 0.0 - _lower_limit(mirrored, (1 - level) / 2, exact_up_to)
        if not low <= 0 <= high:
            # Zeros that the test of no shift drops, and mirror images that it ties, may leave it
            # undecided beyond a limit.
            if p_of_none is None:
                p_of_none = signed_rank_of_settled(values, zeros, exact_up_to=exact_up_to).p
            if p_of_none > 1 - level:
                low, high = min(low, 0.0), max(high, 0.0)
        found.append(Interval(estimate, low, high))
    return tuple(found)


def shifted_p(
    differences: ArrayLike,
    null: float,
    alternative: Literal["greater", "less"],
    *,
    exact_up_to: int = EXACT_UP_TO,
) -> float:
    """Return the one-sided signed-rank p of a shift, such as a margin.

    Parameters
    ----------
    differences : array-like of shape (n,)
        Paired differences, one or more.
    null : float
        The shift of the null.
    alternative : {"greater", "less"}
        Whether the differences are shown to lie above the null or below it.
    exact_up_to : int, default=500
        Exact up to so many differences.

    Returns
    -------
    float
        At most alpha exactly where the limit of `hodges_lehmann` at ``level = 1 - 2 * alpha`` lies
        beyond the null.

    Examples
    --------
    Two one-sided tests at a margin of 0.3 (Schuirmann 1987): both must be small.

    >>> differences = [0.1, -0.1, 0.15, -0.05, 0.02, 0.05, -0.12]
    >>> shifted_p(differences, -0.3, "greater"), shifted_p(differences, 0.3, "less")
    (0.0078125, 0.0078125)
    """
    if alternative not in ("greater", "less"):
        raise unknown_name("alternative", alternative, ("greater", "less"))
    if not np.isfinite(null):
        raise InputError(f"the shift of a null is a finite number, not {null}")
    values = _settled(differences)
    beyond = settle_differences(np.full_like(values, null), values)
    if alternative == "less":
        beyond = -beyond
    # Just beyond the null a zero is a loss of the least size, and a loss that mirrors a win is the
    # larger of the two.
    order = np.unique(np.abs(beyond), return_inverse=True)[1]
    ranks = average_ranks(np.asarray(2 * order + (beyond <= 0), dtype=np.float64))
    return _tail(ranks, beyond <= 0, exact_up_to)


def _settled(differences: ArrayLike) -> FloatArray:
    given = check_differences(differences, least=1)
    return settle_differences(np.zeros_like(given), given)


def _tail(ranks: FloatArray, lost: BoolArray, exact_up_to: int) -> float:
    """Return the chance that ranks with fair signs lose no more than these."""
    if ranks.size <= exact_up_to:
        doubled = np.rint(2 * ranks).astype(np.int64)
        return float(lower_tails(doubled, doubled[lost].sum(keepdims=True))[0])
    return float(normal_tail(ranks[lost].sum(), ranks.sum(), np.square(ranks).sum()))


def _lower_limit(walsh: _WalshAverages, tail: float, exact_up_to: int) -> float:
    """Return the end of the shifts, from below, that are rejected because too little is lost."""
    if walsh.untied and walsh.n <= exact_up_to:
        last = last_below(walsh.n, tail)
        return walsh.at(last) if last >= 0 else -np.inf
    n, ties = walsh.n, walsh.times.astype(np.float64)
    # The squares of ranks in which ties share the mean of their places.
    squares = n * (n + 1) * (2 * n + 1) / 6 - float((ties**3 - ties).sum()) / 12

    def sum_rejected(lost: int) -> bool:
        return bool(
            normal_tail(*(np.asarray(float(one)) for one in (lost, walsh.total, squares))) <= tail
        )

    def cell_rejected(cell: int) -> bool:
        """Test the shifts between point ``cell - 1`` and point ``cell``."""
        before = points[cell - 1] if cell else points[0] - 1.0 - abs(points[0])
        beyond = walsh.values - (before + points[cell]) / 2
        return _tail(average_ranks(np.abs(beyond)), beyond < 0, exact_up_to) <= tail

    # The deviate, with the fourth cumulant of a sum of ranks (Cornish and Fisher 1938), says where
    # to begin.
    z = float(ndtri(tail))
    z -= 0.15 * (z**3 - 3 * z) / n if n <= exact_up_to else 0.0
    near = int(walsh.total / 2 - 0.5 + z * np.sqrt(squares / 4))
    if n > exact_up_to:
        last = _last_true(sum_rejected, near, walsh.total - 1)
        return walsh.at(last) if last >= 0 else -np.inf
    points, reached = walsh.points()
    last = _last_true(
        cell_rejected, int(np.searchsorted(reached, near, side="right")), points.size - 1
    )
    return float(points[last]) if last >= 0 else -np.inf


def _last_true(holds: Callable[[int], bool], near: int, last: int) -> int:
    """Return the last of 0, 1, ..., ``last`` for which something holds that holds up to a place only; -1 for none."""
    low, high, step = -1, last + 1, 1
    place = min(max(near, 0), last)
    # Away from the guess in growing steps, then by halves: few questions where the guess is near.
    while low + 1 < high:
        if holds(place):
            low = place
            place = min(low + step, (low + high) // 2) if high <= last else low + step
        else:
            high = place
            place = max(high - step, (low + high) // 2) if low >= 0 else high - step
        step *= 2
        place = min(max(place, low + 1), high - 1)
    return low


class _WalshAverages:
    """The means of all pairs of differences, each with itself included, in order; never all of many at once."""

    def __init__(self, values: FloatArray) -> None:
        self.values = np.sort(values)
        self.n = values.size
        self.total = self.n * (self.n + 1) // 2
        self.distinct, self.times = np.unique(self.values, return_counts=True)
        self.untied = self.distinct.size == self.n
        self._ordered: tuple[FloatArray, IntArray] | None = None

    @property
    def n_distinct(self) -> int:
        """How many averages there are of distinct values."""
        return int(self.distinct.size * (self.distinct.size + 1) // 2)

    def ordered(self) -> tuple[FloatArray, IntArray]:
        """Return all averages of distinct values in order, and how many lie at or below each."""
        if self._ordered is None:
            if self.n_distinct > MOST_AT_ONCE:
                raise RuntimeError("so many differences are not tested cell by cell")
            averages, weights = self._averages()
            order = np.argsort(averages)
            self._ordered = averages[order], np.cumsum(weights[order])
        return self._ordered

    def mirrored(self) -> _WalshAverages:
        """Return those of the negated differences, without working them out again."""
        other = copy(self)
        other.values = np.ascontiguousarray(-self.values[::-1])
        other.distinct, other.times = -self.distinct[::-1], self.times[::-1]
        if self._ordered is not None:
            averages, reached = self._ordered
            other._ordered = -averages[::-1], self.total - np.append(0, reached[:-1])[::-1]
        return other

    def _averages(self) -> tuple[FloatArray, IntArray]:
        """Return the averages of each distinct value with those from it on, and how often each is met."""
        a, b = np.triu_indices(self.distinct.size)
        times = self.times
        weights = np.where(a == b, times[a] * (times[a] + 1) // 2, times[a] * times[b])
        return (self.distinct[a] + self.distinct[b]) / 2, weights

    def at(self, place: int) -> float:
        """Return the average at a place of their order, from 0 on."""
        if self.n_distinct <= AT_ONCE:
            averages, reached = self.ordered()
            return float(averages[np.searchsorted(reached, place, side="right")])
        from paragone.stats.pair_kernels import walsh_averages_at

        return float(walsh_averages_at(self.values, np.array([place]))[0])

    def median(self) -> float:
        """Return the median of all."""
        upper = self.at(self.total // 2)
        return upper if self.total % 2 else (self.at(self.total // 2 - 1) + upper) / 2

    def points(self) -> tuple[FloatArray, IntArray]:
        """Return the averages that differ by more than rounding, and how many lie at or below each."""
        averages, reached = self.ordered()
        merged = merge_close(averages, slack_of(np.abs(self.values).max()))
        last = np.append(np.flatnonzero(np.diff(merged)), merged.size - 1)
        return merged[last], reached[last]
