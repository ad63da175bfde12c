"""The engine: everything about pairs of methods on common units, whether datasets, subjects, samples or folds.

What fits a unit is written down once, in `paragone.stats.family`: the test and the posterior. The
words come from `paragone.stats.verdicts`.

A failed score is a loss to any score, and two failures are a tie. Tests that go by ranks see a
failure as the largest loss of all; means, intervals and margins are of the units that both methods
have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import compress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from paragone.intervals import Interval
from paragone.stats.bayes import (
    Posterior,
    bayesian_correlated_t,
    signed_rank_posteriors,
)
from paragone.stats.effects import vargha_delaney_a12
from paragone.stats.family import PROCEDURES, ComparisonSettings, Procedure
from paragone.stats.labels import label_codes, rows_by_code
from paragone.stats.location import shift_intervals
from paragone.stats.registries import Test, TestResult, Unit, tests
from paragone.stats.signed_rank import Wilcoxon, pairs_needed, rank_sums
from paragone.stats.verdicts import (
    PairEvidence,
    Verdict,
    judge_family,
    p_of_equivalence,
    smallest_margin,
)
from paragone.ties import TOLERANCE, FloatArray, settle_differences, settled_mean, slack_of

WORTH_COMPILING = 1_000_000
"""Units times pairs from which compiled loops are worth loading."""

MOST_NEEDED = 10_000
"""An effect that would need more units than this is not one to speak of."""

POWER = 0.8
"""The power that a next study is planned for."""


@dataclass(frozen=True, kw_only=True)
class Pair(Verdict):
    """A verdict with all the evidence of its test; every difference is signed so that positive favours the method.

    Attributes
    ----------
    test : TestResult
        The test in full.
    n_used, n_common : int
        On how many units the two differ, and on how many both have a score.
    failed : tuple of (int, int)
        On how many units the method and the rival failed.
    mean_method, mean_rival : float
        Mean scores on the units that both have, in units of the metric.
    mean_difference, median_difference : float
        Of the units that both have.
    wins, ties, losses : int
        On how many units the method is ahead, level, behind.
    won, tied, lost : tuple of str
        Which they are, where units have names.
    cliffs_delta, a12, rank_biserial : float
        Effect sizes; the first two ignore the pairing.
    smallest_p : float
        The smallest adjusted p this pair could reach with as many units, the other tests as they
        are.
    posterior : Posterior or None
        Bayesian probabilities.
    beside : TestResult or None
        A test that is shown for reference.
    flipped_by : tuple of str
        Units whose removal changes the test's decision.
    needed : int or None
        Units in all for 80 % power at the observed effect; None where there is no effect to speak
        of, or where the test does not tell.
    needed_for_margin : int or None
        Units in all for 80 % power to show the equivalence; None where the observed difference is
        no smaller than the margin, or without one.

    Examples
    --------
    >>> from paragone import pairwise
    >>> pair = pairwise([0.5, 0.6, 0.4], [0.6, 0.7, 0.5], higher_is_better=True).pairs[0]
    >>> pair = pair.seen_from("B")
    >>> pair.method, pair.rival, round(pair.mean_difference, 3), pair.seen_from("A").won
    ('B', 'A', 0.1, ())
    """

    test: TestResult
    n_used: int
    n_common: int
    failed: tuple[int, int]
    mean_method: float
    mean_rival: float
    mean_difference: float
    median_difference: float
    wins: int
    ties: int
    losses: int
    won: tuple[str, ...]
    tied: tuple[str, ...]
    lost: tuple[str, ...]
    cliffs_delta: float
    a12: float
    rank_biserial: float
    smallest_p: float = 0.0
    posterior: Posterior | None = None
    beside: TestResult | None = None
    flipped_by: tuple[str, ...] = ()
    needed: int | None = None
    needed_for_margin: int | None = None

    def seen_from(self, method: str) -> Self:
        """Return the pair as it looks from one of its two methods."""
        turned = super().seen_from(method)
        if turned is self:
            return self
        posterior, beside = self.posterior, self.beside
        return replace(
            turned,
            test=self.test.turned(),
            beside=None if beside is None else beside.turned(),
            failed=self.failed[::-1],
            mean_method=self.mean_rival,
            mean_rival=self.mean_method,
            mean_difference=-self.mean_difference,
            median_difference=-self.median_difference,
            wins=self.losses,
            losses=self.wins,
            won=self.lost,
            lost=self.won,
            cliffs_delta=-self.cliffs_delta,
            a12=1 - self.a12,
            rank_biserial=-self.rank_biserial,
            posterior=None if posterior is None else posterior.turned(),
        )


def with_verdict(pair: Pair, told: Verdict) -> Pair:
    """Return a pair with what is said of it from elsewhere, where more is known than its own units.

    Examples
    --------
    >>> from paragone import pairwise
    >>> pair = pairwise([0.5, 0.6, 0.4], [0.6, 0.7, 0.6], higher_is_better=True).pairs[0]
    >>> known = Verdict("B", "A", "better", Interval(0.1, 0.05, 0.2), 0.01, 0.01, "this data", "row", 90)
    >>> with_verdict(pair, known).word, with_verdict(pair, known).p
    ('better', 0.01)
    """
    seen = told.seen_from(pair.method)
    names = [
        one.name for one in fields(Verdict) if one.name not in ("method", "rival", "unit", "n")
    ]
    return replace(pair, **{name: getattr(seen, name) for name in names})


@dataclass(frozen=True)
class UnitScores:
    """Scores of methods on common units: what the engine takes.

    Attributes
    ----------
    methods, names : tuple of str
        Columns and rows; rows need no names.
    values : ndarray of shape (n_units, n_methods)
        The scores; NaN where a method failed.
    higher_is_better : bool
        The metric's direction.
    clusters : ndarray or None
        Which units hang together.
    strata : ndarray or None
        Which units belong to one task of several.
    weights : {"equal", "size"}
        Whether every stratum counts the same, or every unit.
    n_train : float or None
        Units in a training set, for a test on out-of-fold losses.
    """

    methods: tuple[str, ...]
    names: tuple[str, ...]
    values: FloatArray
    higher_is_better: bool
    clusters: NDArray[Any] | None = None
    strata: NDArray[Any] | None = None
    weights: str = "equal"
    n_train: float | None = None

    def differences(
        self, pairs: Sequence[tuple[int, int]], settings: ComparisonSettings
    ) -> FloatArray:
        """Return the settled differences of pairs, one column per pair, positive where the first is better.

        Infinite where one of the two failed, zero where both did.
        """
        first, second = np.array(pairs).T
        oriented = self.values if self.higher_is_better else -self.values
        mine, theirs = oriented[:, first], oriented[:, second]
        failed, rival_failed = np.isnan(mine), np.isnan(theirs)
        gone = failed | rival_failed
        if gone.any():
            mine, theirs = np.where(gone, 0.0, mine), np.where(gone, 0.0, theirs)
        settled = settle_differences(theirs, mine, settings.tolerance, size=settings.size)
        return np.where(failed == rival_failed, settled, np.where(failed, -np.inf, np.inf))

    def mean(self, method: int, there: NDArray[np.bool_]) -> float:
        """Return the mean score of a method on some units, with strata that count the same the mean of their means."""
        values = self.values[there, method]
        if self.strata is None or self.weights == "size":
            return float(values.mean()) if values.size else math.nan
        return float(
            np.mean(
                [values[inside].mean() for inside in rows_by_code(label_codes(self.strata[there]))]
            )
        )


def double_fails(
    values: FloatArray, threshold: float, *, higher_is_better: bool, size: float = 0.0
) -> NDArray[np.bool_]:
    """Return on which units no method is better than the threshold.

    Parameters
    ----------
    values : ndarray of shape (n_units, n_methods)
        The scores.
    threshold : float
        Chance level; 0.0 is a level like any other.
    higher_is_better : bool
        The metric's direction.
    size : float, default=0.0
        The size of what the scores were made from.

    Examples
    --------
    >>> double_fails(np.array([[0.0, -0.1], [0.2, 0.0]]), 0.0, higher_is_better=True).tolist()
    [True, False]
    """
    sign = 1 if higher_is_better else -1
    # A score that equals the threshold but for rounding is no better than it.
    limit = sign * threshold + slack_of(abs(threshold), size)
    fails: NDArray[np.bool_] = (sign * values).max(axis=1) <= limit
    return fails


def measure_pairs(
    scored: UnitScores,
    pairs: Sequence[tuple[int, int]],
    *,
    unit: Unit,
    test: Test,
    settings: ComparisonSettings,
    bayes: bool = True,
    n_family: int | None = None,
    difference: FloatArray | None = None,
) -> tuple[Pair, ...]:
    """Work out everything about pairs that does not depend on the other pairs; p is not adjusted yet.

    Parameters
    ----------
    scored : UnitScores
        The scores.
    pairs : sequence of (int, int)
        Positions of method and rival.
    unit : {"dataset", "subject", "sample", "fold"}
        What a row of the scores is.
    test : Test
        How differences are tested.
    settings : ComparisonSettings
        The options.
    bayes : bool, default=True
        Whether the posterior is worked out, where the unit has one.
    n_family : int, optional
        How many tests the family has, for intervals that hold together; by default as many as
        pairs.
    difference : ndarray, optional
        The settled differences, where they are known already.

    Returns
    -------
    tuple of Pair
        In the order of the pairs; `judged` gives them their words.

    Examples
    --------
    >>> scored = UnitScores(("A", "B"), ("s", "t", "u"), np.array([[0.1, 0.2], [0.2, 0.1], [0.3, 0.5]]), True)
    >>> test, settings = tests.get("wilcoxon"), ComparisonSettings()
    >>> pair, = measure_pairs(scored, [(1, 0)], unit="subject", test=test, settings=settings)
    >>> pair.won, pair.lost, pair.p_raw
    (('s', 'u'), ('t',), 0.75)
    """
    if not pairs:
        return ()
    if difference is None:
        difference = scored.differences(pairs, settings)
    procedure = PROCEDURES[unit]
    share = settings.alpha / (n_family or len(pairs))
    known = {name: getattr(scored, name) for name in ("clusters", "strata", "weights", "n_train")}
    options = settings.options | known | {"level": 1 - share}
    posteriors: list[Posterior | None] = [None] * len(pairs)
    if bayes and procedure.posterior == "signed-rank":
        ranked = np.stack(
            [ranked_failures(column, settings.margin) for column in difference.T], axis=1
        )
        n_samples, seed = settings.n_samples, settings.seed
        posteriors = [
            *signed_rank_posteriors(ranked, settings.margin, n_samples=n_samples, seed=seed)
        ]
    overlaps = _overlaps(scored, pairs, settings) if procedure.effects else [math.nan] * len(pairs)
    # A column of a wide table lies scattered in memory; all of them laid out are read many times
    # below.
    columns = np.ascontiguousarray(difference.T)
    return tuple(
        _measured(
            scored,
            pair,
            column,
            unit,
            test,
            settings,
            options,
            share,
            bayes,
            posterior,
            overlap,
        )
        for pair, column, posterior, overlap in zip(
            pairs, columns, posteriors, overlaps, strict=True
        )
    )


def _measured(
    scored: UnitScores,
    pair: tuple[int, int],
    column: FloatArray,
    unit: Unit,
    test: Test,
    settings: ComparisonSettings,
    options: dict[str, Any],
    share: float,
    bayes: bool,
    posterior: Posterior | None,
    overlap: float,
) -> Pair:
    procedure = PROCEDURES[unit]
    mine, theirs = scored.values[:, pair[0]], scored.values[:, pair[1]]
    failed = int(np.isnan(mine).sum()), int(np.isnan(theirs).sum())
    there = ~(np.isnan(mine) | np.isnan(theirs))
    common = column if not any(failed) else column[there]
    if any(failed) and scored.clusters is not None:
        options = options | {"clusters": scored.clusters[there]}
    tested = _for_test(column, there, test, settings.margin)
    result = test.run(tested, options)
    mean = float(settled_mean(common)) if common.size else math.nan
    if scored.strata is not None and result.interval is not None:
        mean = result.interval.estimate
    margin = settings.margin if not any(failed) and settings.margin > 0 else None
    difference, for_margins = _intervals(common, test, options, mean, (1 - share, 1 - 2 * share))
    beside = tests.get(procedure.beside) if procedure.beside else None
    return Pair(
        method=scored.methods[pair[0]],
        rival=scored.methods[pair[1]],
        word="undecided",
        difference=difference,
        p=result.p,
        p_raw=result.p,
        scope="new datasets" if unit == "dataset" else "this data",
        unit=unit,
        smallest_p=result.smallest_p,
        test=result,
        beside=(
            beside.run(common, options)
            if beside is not None and common.size >= beside.least
            else None
        ),
        n=column.size,
        n_used=int(np.count_nonzero(column)),
        n_common=common.size,
        failed=failed,
        mean_method=scored.mean(pair[0], there),
        mean_rival=scored.mean(pair[1], there),
        mean_difference=mean,
        median_difference=float(np.median(common)) if common.size else math.nan,
        wins=int(np.count_nonzero(column > 0)),
        ties=int(np.count_nonzero(column == 0)),
        losses=int(np.count_nonzero(column < 0)),
        won=_names(scored.names, column > 0),
        tied=_names(scored.names, column == 0),
        lost=_names(scored.names, column < 0),
        p_equal=math.nan if margin is None else p_of_equivalence(column, margin, test, options),
        smallest_margin=math.inf if any(failed) else smallest_margin(for_margins, mean),
        posterior=posterior or _posterior(common, result, procedure, settings) if bayes else None,
        needed=_needed(tested, test, share, procedure),
        needed_for_margin=(
            None if margin is None else _needed_for_margin(common, mean, margin, share)
        ),
        a12=overlap,
        cliffs_delta=2 * overlap - 1,
        rank_biserial=_rank_biserial(column, result, settings) if procedure.effects else math.nan,
    )


def judged(
    pairs: Sequence[Pair],
    adjust: Callable[[FloatArray], FloatArray],
    settings: ComparisonSettings,
    *,
    raw: FloatArray | None = None,
    side: FloatArray | None = None,
) -> tuple[Pair, ...]:
    """Return the pairs of a family with their adjusted p, word and compatible interval.

    Parameters
    ----------
    pairs : sequence of Pair
        As they were measured.
    adjust : callable
        The correction, from raw to adjusted p-values.
    settings : ComparisonSettings
        The options.
    raw, side : ndarray, optional
        The p-values and sides, where they are not those of the pairs' own tests.

    Returns
    -------
    tuple of Pair
        In the same order.
    """
    evidence = [
        PairEvidence(
            p=pair.test.p if raw is None else float(raw[place]),
            side=pair.test.side if side is None else float(side[place]),
            interval=pair.difference,
            mean=pair.mean_difference,
            p_equal=pair.p_equal,
        )
        for place, pair in enumerate(pairs)
    ]
    verdicts = judge_family(evidence, adjust, alpha=settings.alpha, margin=settings.margin)
    return tuple(
        replace(
            pair,
            word=verdict.word,
            p=verdict.p,
            p_raw=one.p,
            p_equal=verdict.p_equal,
            within=verdict.within,
            # Without its failures a pair is another question than with them: its interval is left
            # as it is.
            difference=pair.difference if any(pair.failed) else verdict.interval,
        )
        for pair, one, verdict in zip(pairs, evidence, verdicts, strict=True)
    )


def _for_test(
    column: FloatArray, there: NDArray[np.bool_], test: Test, margin: float
) -> FloatArray:
    """Return the differences that a test takes: with failures as the largest losses, or without them."""
    if not (test.by_rank or test.by_sign):
        return column[there]
    return ranked_failures(column, margin) if np.isinf(column).any() else column


def ranked_failures(column: FloatArray, margin: float = 0.0) -> FloatArray:
    """Return differences with failures larger than every other, and beyond the margin even beside the largest of them.

    Only their rank and their sign mean anything: never take a mean of these.

    Examples
    --------
    >>> ranked_failures(np.array([0.5, -np.inf, 0.0])).tolist()
    [0.5, -2.5, 0.0]
    """
    largest = float(np.max(np.abs(column), where=np.isfinite(column), initial=0.0))
    beyond = 3 * (largest + margin) + 1
    return np.where(np.isinf(column), np.sign(column) * beyond, column)


def _names(names: tuple[str, ...], where: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(compress(names, where.tolist()))


def _intervals(
    common: FloatArray,
    test: Test,
    options: Mapping[str, Any],
    mean: float,
    levels: tuple[float, ...],
) -> list[Interval]:
    """Return the difference that the test is about between the limits that the same test gives, where it gives them."""
    if test.by_rank and common.size:
        shifts = shift_intervals(
            common, levels, zeros=options["zeros"], exact_up_to=options["exact_up_to"]
        )
        return [
            one if np.isfinite([one.low, one.high]).all() else Interval(one.estimate)
            for one in shifts
        ]
    results = [
        test.run(common, {**options, "level": level})
        for level in levels
        if common.size >= test.least
    ]
    if not results:
        return [Interval(mean)] * len(levels)
    return [
        Interval(mean) if one.interval is None or math.isnan(one.p) else one.interval
        for one in results
    ]


def _posterior(
    common: FloatArray, result: TestResult, procedure: Procedure, settings: ComparisonSettings
) -> Posterior | None:
    if procedure.posterior == "none" or math.isnan(result.p) or not common.any():
        return None
    return bayesian_correlated_t(
        common,
        margin=settings.margin,
        test_train_ratio=settings.test_train_ratio,
        repeats=settings.repeats,
    )


def _overlaps(
    scored: UnitScores, pairs: Sequence[tuple[int, int]], settings: ComparisonSettings
) -> Sequence[float]:
    """Return Vargha and Delaney's A of every pair, which goes by the order of scores: a failure lies below all."""
    oriented = scored.values if scored.higher_is_better else -scored.values
    if oriented.shape[0] * len(pairs) >= WORTH_COMPILING and np.isfinite(oriented).all():
        from paragone.stats.pair_kernels import doubled_wins

        first, second = np.array(pairs).T
        least = min(settings.tolerance, TOLERANCE)
        columns = np.asfortranarray(np.sort(oriented, axis=0))
        wins = doubled_wins(
            columns, first, second, float(settings.size), float(settings.tolerance), least
        )
        return [count / 2 / len(oriented) ** 2 for count in wins.tolist()]
    return [_overlap(oriented[:, list(pair)], settings) for pair in pairs]


def _overlap(both: FloatArray, settings: ComparisonSettings) -> float:
    if np.isnan(both).any():
        known = both[~np.isnan(both)]
        both = (
            np.where(np.isnan(both), known.min() - np.ptp(known) - 1, both)
            if known.size
            else np.zeros_like(both)
        )
    return vargha_delaney_a12(
        both[:, 1], both[:, 0], tolerance=settings.tolerance, size=settings.size
    )


def _rank_biserial(
    difference: FloatArray, result: TestResult, settings: ComparisonSettings
) -> float:
    if isinstance(result, Wilcoxon):
        # The signed-rank test has ranked the differences already.
        plus, minus = result.w_plus, result.w_minus
    else:
        plus, minus = rank_sums(ranked_failures(difference), settings.zeros)
    return (plus - minus) / (plus + minus) if plus + minus else 0.0


def _needed(tested: FloatArray, test: Test, share: float, procedure: Procedure) -> int | None:
    """Return how many units would be needed at the level that is left to one of the pairs, where the test tells."""
    if test.power is None or not procedure.effects or tested.size < 2:
        return None
    return test.power(tested, alpha=share, most=MOST_NEEDED)


def _needed_for_margin(common: FloatArray, mean: float, margin: float, share: float) -> int | None:
    """Return how many units like these would show the equivalence, by the normal approximation of two t-tests."""
    if common.size < 2 or abs(mean) >= margin:
        return None
    # Both sides must be shown where the difference is next to nothing: each may then miss half as
    # often.
    missed = (1 - POWER) / 2 if abs(mean) < margin / 2 else 1 - POWER
    deviates = float(ndtri(1 - share) - ndtri(missed))
    units = (deviates * float(common.std(ddof=1)) / (margin - abs(mean))) ** 2
    return (
        None if units > MOST_NEEDED else max(math.ceil(units), pairs_needed(share, two_sided=False))
    )
