"""Four words, one rule: better, worse, equivalent, undecided, and intervals from which each can be read.

*Better* and *worse* need an adjusted p of at most alpha. *Equivalent* needs a margin that was
stated: two one-sided tests show that the difference lies above minus the margin and below the
margin (Schuirmann 1987, *Journal of Pharmacokinetics and Biopharmaceutics* 15:657-680), the larger
p of the two adjusted by Holm over the family. A significant difference is never overruled by an
equivalence. Everything else is *undecided*.

An interval is taken at the level that is left to one of the family, so that all hold together. A
step-down procedure may show what this interval leaves open; the interval then ends at zero, or at
the margin (Strassburger and Bretz 2008, *Statistics in Medicine* 27:4914-4927), so that the words
can be read off it: wholly on one side of zero, wholly within the margin, or neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from paragone.errors import unknown_name
from paragone.intervals import Interval
from paragone.stats.corrections import holm
from paragone.stats.location import shifted_p
from paragone.stats.registries import Test, TestResult
from paragone.ties import FloatArray, settle_differences

Word: TypeAlias = Literal["better", "worse", "equivalent", "undecided"]
Scope: TypeAlias = Literal["this data", "new datasets"]

_TURNED: dict[Word, Word] = {"better": "worse", "worse": "better"}


def turned_word(word: Word) -> Word:
    """Return what the rival is, compared with the method.

    Examples
    --------
    >>> turned_word("better"), turned_word("equivalent")
    ('worse', 'equivalent')
    """
    return _TURNED.get(word, word)


@dataclass(frozen=True)
class Verdict:
    """What is said of a method against a rival in one scope.

    Attributes
    ----------
    method, rival : str
        The two.
    word : {"better", "worse", "equivalent", "undecided"}
        What the method is, compared with the rival.
    difference : Interval
        Positive where the method is better, in the unit of the metric or as a log-ratio; its limits
        are compatible with the word, and hold for all pairs of the family together.
    p, p_raw : float
        Adjusted over the family, which is the p that is printed everywhere, and before that; NaN
        where nothing can be tested.
    scope : {"this data", "new datasets"}
        What the word is about.
    unit : {"row", "fold", "subject", "item", "dataset"}
        What one difference belongs to.
    n : int
        How many of them there are.
    reason : str
        Why nothing can be tested, in a few words; empty where it was.
    within : bool
        Whether the difference was shown to be smaller than the margin.
    p_equal : float
        Adjusted p of the equivalence within the margin; NaN without a margin, or where a score
        failed.
    smallest_margin : float
        Any margin from this on would have been shown, the pair taken for the strictest step of the
        correction; infinite where none can be.

    Examples
    --------
    >>> verdict = Verdict("new", "old", "better", Interval(0.1, 0.02, 0.2), 0.02, 0.01, "this data", "fold", 10)
    >>> verdict.seen_from("old").word, verdict.seen_from("old").difference.high
    ('worse', -0.02)
    """

    method: str
    rival: str
    word: Word
    difference: Interval
    p: float
    p_raw: float
    scope: Scope
    unit: str
    n: int
    reason: str = ""
    within: bool = False
    p_equal: float = math.nan
    smallest_margin: float = math.inf

    def seen_from(self, method: str) -> Self:
        """Return the verdict as it reads from one of its two methods."""
        if method == self.method:
            return self
        if method != self.rival:
            raise unknown_name("method", method, (self.method, self.rival))
        return replace(
            self,
            method=self.rival,
            rival=self.method,
            word=turned_word(self.word),
            difference=self.difference.turned(),
        )


@dataclass(frozen=True)
class PairEvidence:
    """What the test of one pair found, before the other tests of its family are looked at.

    Attributes
    ----------
    p : float
        Two-sided; NaN where the test cannot tell.
    side : float
        Positive where the differences favour the method.
    interval : Interval
        Of the difference, at the level that is left to one of the family; NaN limits where there is
        none.
    mean : float
        The mean difference, which an equivalence must not contradict.
    p_equal : float
        The larger p of the two one-sided tests at the margin; NaN without a margin, or where a
        score failed.
    """

    p: float
    side: float
    interval: Interval
    mean: float
    p_equal: float = math.nan


@dataclass(frozen=True)
class Judgement:
    """What follows for one pair of a family from its evidence.

    Attributes
    ----------
    word : {"better", "worse", "equivalent", "undecided"}
        What the method is, compared with the rival.
    p, p_equal : float
        Adjusted over the family: of the difference, and of the equivalence.
    within : bool
        Whether the difference was shown to be smaller than the margin, whatever the word.
    interval : Interval
        Compatible with the word.
    """

    word: Word
    p: float
    p_equal: float
    within: bool
    interval: Interval


def judge_family(
    found: Sequence[PairEvidence],
    adjust: Callable[[FloatArray], FloatArray],
    *,
    alpha: float,
    margin: float = 0.0,
) -> tuple[Judgement, ...]:
    """Say of every pair of a family which word holds.

    Parameters
    ----------
    found : sequence of PairEvidence
        One per pair. A pair without a p counts in the family and is undecided.
    adjust : callable
        The correction, from raw to adjusted p-values.
    alpha : float
        The level for the whole family.
    margin : float, default=0.0
        Differences up to this size do not matter; 0: none was stated.

    Returns
    -------
    tuple of Judgement
        In the order of the pairs.

    Examples
    --------
    >>> first = PairEvidence(0.01, 1.0, Interval(0.1, -0.01, 0.2), mean=0.1)
    >>> second = PairEvidence(0.4, 1.0, Interval(0.0, -0.1, 0.1), mean=0.0, p_equal=0.01)
    >>> [(one.word, one.interval.low) for one in judge_family([first, second], holm, alpha=0.05, margin=0.2)]
    [('better', 0.0), ('equivalent', -0.1)]
    """
    adjusted = adjusted_where_known([one.p for one in found], adjust)
    equal = adjusted_where_known([one.p_equal for one in found], holm)
    return tuple(
        _judged(one, float(p), float(p_equal), alpha, margin)
        for one, p, p_equal in zip(found, adjusted, equal, strict=True)
    )


def adjusted_where_known(
    p: Sequence[float], adjust: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Adjust a family of p-values in which one that is missing (NaN) counts as 1 and stays missing.

    Examples
    --------
    >>> adjusted_where_known([0.01, float("nan")], holm).tolist()
    [0.02, nan]
    """
    given = np.asarray(p, dtype=np.float64)
    there = ~np.isnan(given)
    if not there.any():
        return given
    adjusted: FloatArray = np.where(there, adjust(np.where(there, given, 1.0)), np.nan)
    return adjusted


def _judged(one: PairEvidence, p: float, p_equal: float, alpha: float, margin: float) -> Judgement:
    word: Word = "undecided"
    if p <= alpha and one.side != 0:
        word = "better" if one.side > 0 else "worse"
    # Ranks may call many ties and a few large wins small: the mean itself must lie within the
    # margin too.
    within = p_equal <= alpha and abs(one.mean) <= margin
    if within and word == "undecided":
        word = "equivalent"
    interval = one.interval
    if p_equal <= alpha and not within:
        interval = Interval(
            interval.estimate, min(interval.low, one.mean), max(interval.high, one.mean)
        )
    return Judgement(word, p, p_equal, within, compatible_interval(interval, word, within, margin))


def compatible_interval(interval: Interval, word: Word, within: bool, margin: float) -> Interval:
    """Return the interval as the word has it: cut at zero or the margin, or widened up to zero.

    Examples
    --------
    >>> compatible_interval(Interval(0.1, -0.01, 0.2), "better", False, 0.0)
    Interval(estimate=0.1, low=0.0, high=0.2)
    >>> compatible_interval(Interval(0.01, -0.03, 0.04), "equivalent", True, 0.02)
    Interval(estimate=0.01, low=-0.02, high=0.02)
    """
    low, high = interval.low, interval.high
    if math.isnan(low) or math.isnan(high):
        return interval
    if within:
        low, high = max(low, -margin), min(high, margin)
    if word == "better":
        low, high = max(low, 0.0), max(high, 0.0)
    elif word == "worse":
        low, high = min(low, 0.0), min(high, 0.0)
    else:
        # A correction that claims less than Bonferroni's leaves open what the interval would show.
        low, high = min(low, 0.0), max(high, 0.0)
    return Interval(interval.estimate, low, high)


def p_of_equivalence(
    differences: FloatArray, margin: float, test: Test, options: Mapping[str, Any]
) -> float:
    """Return the larger p of two one-sided tests: the difference lies above minus the margin, and below the margin.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        Settled differences, positive where the method is better.
    margin : float
        Positive.
    test : Test
        A two-sided test whose p is twice that of the smaller side.
    options : mapping
        What the test may ask for.

    Returns
    -------
    float
        NaN where the test cannot tell.

    Examples
    --------
    >>> from paragone.stats.registries import tests
    >>> from paragone.stats.family import ComparisonSettings
    >>> flat = np.array([0.001, -0.002, 0.003, -0.001, 0.002, 0.0])
    >>> p_of_equivalence(flat, 0.01, tests.get("wilcoxon"), ComparisonSettings().options)
    0.015625
    """
    if test.by_rank:
        limit = options["exact_up_to"]
        return max(
            shifted_p(differences, -margin, "greater", exact_up_to=limit),
            shifted_p(differences, margin, "less", exact_up_to=limit),
        )
    edge = np.full_like(differences, margin)
    above = test.run(settle_differences(-edge, differences), options)
    below = test.run(settle_differences(edge, differences), options)
    return float(np.maximum(one_sided_p(above, 1), one_sided_p(below, -1)))


def one_sided_p(result: TestResult, side: int) -> float:
    """Return the p of one side of a two-sided test.

    Examples
    --------
    >>> one_sided_p(TestResult(p=0.04, side=1.0), 1), one_sided_p(TestResult(p=0.04, side=1.0), -1)
    (0.02, 0.98)
    """
    return result.p / 2 if side * result.side > 0 else 1 - result.p / 2


def smallest_margin(interval: Interval, mean: float) -> float:
    """Return the smallest margin that holds an interval and the mean; infinite where the interval has no limits.

    Examples
    --------
    >>> smallest_margin(Interval(0.01, -0.02, 0.04), 0.01), smallest_margin(Interval(0.01), 0.01)
    (0.04, inf)
    """
    if math.isnan(interval.low) or math.isnan(interval.high):
        return math.inf
    return max(-interval.low, interval.high, abs(mean))
