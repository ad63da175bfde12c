"""The engine: everything about pairs of methods on common units, whether datasets, subjects, samples or folds.

What fits a unit is written down once, in `paragone.stats.family`: the test, the interval, the posterior.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.intervals import Interval, median_interval, paired_bootstrap
from paragone.stats.bayes import (
    Posterior,
    bayesian_correlated_t,
    dirichlet_process_weights,
    posterior_from_weights,
)
from paragone.stats.effects import vargha_delaney_a12
from paragone.stats.family import (
    PROCEDURES,
    ComparisonSettings,
    Family,
    Procedure,
    better_ranked_first,
    wants_bayes,
)
from paragone.stats.registries import Test, TestResult, Unit, tests
from paragone.stats.signed_rank import Wilcoxon, rank_sums
from paragone.ties import FloatArray, settle_differences, settled_mean

MOST_NEEDED = 10_000
"""An effect that would need more units than this is not one to speak of."""

EQUAL_FROM = 0.95
"""Posterior probability of lying within the ROPE from which two methods count as practically equal."""

OPPOSITE = {"better": "worse", "worse": "better"}


@dataclass(frozen=True)
class Pair:
    """One method against one rival; every difference is signed so that positive favours the method.

    Attributes
    ----------
    method, rival : str
        The two names.
    verdict : {"better", "worse", "practically equal", "undecided"}
        What the method is, compared with the rival.
    p, p_adjusted : float
        Raw p-value and that after the correction.
    test : TestResult
        The test in full.
    n, n_used : int
        How many differences there are, and how many of them are not zero.
    mean_method, mean_rival : float
        Mean scores, in units of the metric.
    mean, median : Interval
        Mean and median difference with their intervals.
    won, tied, lost : tuple of str
        Units where the method is ahead, level, behind.
    cliffs_delta, a12, rank_biserial : float
        Effect sizes; the first two ignore the pairing.
    smallest_p_adjusted : float
        The smallest adjusted p this pair could reach with as many units, the other tests as they are.
    posterior : Posterior or None
        Bayesian probabilities.
    beside : TestResult or None
        A test that is shown for reference.
    flipped_by : tuple of str
        Units whose removal changes the test's decision.
    needed : int or None
        Units in all for 80 % power at the observed effect; None where there is no effect to speak of, or where the test
        does not tell.

    Examples
    --------
    >>> from paragone import pairwise
    >>> pair = pairwise([0.5, 0.6, 0.4], [0.6, 0.7, 0.5], higher_is_better=True).everything
    >>> pair.method, pair.rival, round(pair.mean_difference, 3), pair.seen_from("A").won
    ('B', 'A', 0.1, ())
    """

    method: str
    rival: str
    verdict: str
    p: float
    p_adjusted: float
    test: TestResult
    n: int
    n_used: int
    mean_method: float
    mean_rival: float
    mean: Interval
    median: Interval
    won: tuple[str, ...]
    tied: tuple[str, ...]
    lost: tuple[str, ...]
    cliffs_delta: float
    a12: float
    rank_biserial: float
    smallest_p_adjusted: float = 0.0
    posterior: Posterior | None = None
    beside: TestResult | None = None
    flipped_by: tuple[str, ...] = ()
    needed: int | None = None

    @property
    def mean_difference(self) -> float:
        """The mean difference."""
        return self.mean.estimate

    @property
    def median_difference(self) -> float:
        """The median difference."""
        return self.median.estimate

    def seen_from(self, method: str) -> Pair:
        """Return the pair as it looks from one of its two methods."""
        if self.method == method:
            return self
        posterior, beside = self.posterior, self.beside
        return replace(
            self,
            method=self.rival,
            rival=self.method,
            verdict=OPPOSITE.get(self.verdict, self.verdict),
            test=self.test.turned(),
            beside=None if beside is None else beside.turned(),
            mean_method=self.mean_rival,
            mean_rival=self.mean_method,
            mean=self.mean.turned(),
            median=self.median.turned(),
            won=self.lost,
            lost=self.won,
            cliffs_delta=-self.cliffs_delta,
            a12=1 - self.a12,
            rank_biserial=-self.rank_biserial,
            posterior=None
            if posterior is None
            else Posterior(posterior.worse, posterior.equal, posterior.better, posterior.rope),
        )


def judge(p_adjusted: float, side: float, p_equal: float | None, rope: float, alpha: float) -> str:
    """Return better, worse, practically equal or undecided.

    A stated ROPE comes first: a difference that is surely too small to matter is an equality, whatever
    its p. Without a ROPE nothing can be shown to be equal.

    Examples
    --------
    >>> judge(0.01, 1.0, 0.2, 0.01, 0.05), judge(0.3, 1.0, 0.97, 0.01, 0.05), judge(0.3, 1.0, None, 0, 0.05)
    ('better', 'practically equal', 'undecided')
    """
    if rope > 0 and p_equal is not None and p_equal >= EQUAL_FROM:
        return "practically equal"
    if p_adjusted <= alpha and side != 0:
        return "better" if side > 0 else "worse"
    return "undecided"


@dataclass(frozen=True)
class UnitScores:
    """Scores of methods on common units: what the engine takes.

    Attributes
    ----------
    methods, names : tuple of str
        Columns and rows; rows need no names.
    values : ndarray of shape (n_units, n_methods)
        The scores.
    higher_is_better : bool
        The metric's direction.
    clusters : ndarray or None
        Which units hang together.
    n_train : float or None
        Units in a training set, for a test on out-of-fold losses.
    """

    methods: tuple[str, ...]
    names: tuple[str, ...]
    values: FloatArray
    higher_is_better: bool
    clusters: NDArray[Any] | None = None
    n_train: float | None = None

    def differences(self, pairs: Sequence[tuple[int, int]], settings: ComparisonSettings) -> FloatArray:
        """Return the settled differences of pairs, one column per pair, positive where the first is better."""
        first, second = np.array(pairs).T
        oriented = self.values if self.higher_is_better else -self.values
        return settle_differences(oriented[:, second], oriented[:, first], settings.tolerance, size=settings.size)


def measure_pairs(
    scored: UnitScores,
    pairs: Sequence[tuple[int, int]],
    *,
    unit: Unit,
    test: Test,
    settings: ComparisonSettings,
    bayes: bool = True,
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
    difference : ndarray, optional
        The settled differences, where they are known already.

    Returns
    -------
    tuple of Pair
        In the order of the pairs.

    Examples
    --------
    >>> scored = UnitScores(("A", "B"), ("s", "t", "u"), np.array([[0.1, 0.2], [0.2, 0.1], [0.3, 0.5]]), True)
    >>> test, settings = tests.get("wilcoxon"), ComparisonSettings()
    >>> pair, = measure_pairs(scored, [(1, 0)], unit="subject", test=test, settings=settings)
    >>> pair.won, pair.lost, pair.p
    (('s', 'u'), ('t',), 0.75)
    """
    if not pairs:
        return ()
    if difference is None:
        difference = scored.differences(pairs, settings)
    procedure = PROCEDURES[unit]
    options = settings.options | {"clusters": scored.clusters, "n_train": scored.n_train}
    results = [test.run(column, options) for column in difference.T]
    means = _means(difference, results, procedure, settings)
    medians = _medians(difference, procedure, settings)
    posteriors = _posteriors(difference, procedure, settings) if bayes else [None] * len(pairs)
    beside = tests.get(procedure.beside) if procedure.beside else None
    found = []
    for i, (first, second) in enumerate(pairs):
        column, result, posterior = difference[:, i], results[i], posteriors[i]
        equal = None if posterior is None else posterior.equal
        pair = Pair(
            method=scored.methods[first],
            rival=scored.methods[second],
            verdict=judge(result.p, result.side, equal, settings.rope, settings.alpha),
            p=result.p,
            p_adjusted=result.p,
            smallest_p_adjusted=result.smallest_p,
            test=result,
            beside=beside.run(column, options) if beside is not None and column.size >= beside.least else None,
            n=column.size,
            n_used=int(np.count_nonzero(column)),
            mean_method=float(scored.values[:, first].mean()),
            mean_rival=float(scored.values[:, second].mean()),
            mean=means[i],
            median=medians[i],
            won=_names(scored.names, column > 0),
            tied=_names(scored.names, column == 0),
            lost=_names(scored.names, column < 0),
            posterior=posterior,
            needed=_needed(column, test, len(pairs), procedure, settings),
            **_effects(scored, first, second, column, result, procedure, settings),
        )
        found.append(pair)
    return tuple(found)


def decided(pair: Pair, p_adjusted: float, side: float, settings: ComparisonSettings, **more: Any) -> Pair:
    """Return the pair with its adjusted p, the verdict that follows, and what more came to be known."""
    equal = None if pair.posterior is None else pair.posterior.equal
    verdict = judge(p_adjusted, side, equal, settings.rope, settings.alpha)
    return replace(pair, p_adjusted=float(p_adjusted), verdict=verdict, **more)


def _names(names: tuple[str, ...], where: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(names[place] for place in np.flatnonzero(where)) if names else ()


def _means(
    difference: FloatArray, results: Sequence[TestResult], procedure: Procedure, settings: ComparisonSettings
) -> list[Interval]:
    """Return the mean differences with their intervals; one unit says nothing of its spread."""
    means = settled_mean(difference).tolist()
    if procedure.interval == "test":
        ends = [(np.nan, np.nan) if r.interval is None else (r.interval.low, r.interval.high) for r in results]
    elif len(difference) < 2:
        ends = [(np.nan, np.nan)] * len(means)
    else:
        limits = paired_bootstrap(
            difference, level=settings.level, n_resamples=settings.n_resamples, seed=settings.seed
        )
        ends = limits.T.tolist()
    return [Interval(mean, low, high) for mean, (low, high) in zip(means, ends, strict=True)]


def _medians(difference: FloatArray, procedure: Procedure, settings: ComparisonSettings) -> list[Interval]:
    medians = np.median(difference, axis=0).tolist()
    if procedure.interval == "test" or len(difference) < 2:
        return [Interval(median) for median in medians]
    ends = median_interval(difference, level=settings.level).T.tolist()
    return [Interval(median, low, high) for median, (low, high) in zip(medians, ends, strict=True)]


def _posteriors(
    difference: FloatArray, procedure: Procedure, settings: ComparisonSettings
) -> Sequence[Posterior | None]:
    if procedure.posterior == "signed-rank":
        # All pairs share the draws, as they share the datasets.
        weights = dirichlet_process_weights(len(difference), 0.5, settings.n_samples, settings.seed)
        return [posterior_from_weights(column, weights, settings.rope, keep=False) for column in difference.T]
    if procedure.posterior == "none" or len(difference) < 2:
        return [None] * difference.shape[1]
    ratio = settings.test_train_ratio
    return [bayesian_correlated_t(column, rope=settings.rope, test_train_ratio=ratio) for column in difference.T]


def _effects(
    scored: UnitScores,
    first: int,
    second: int,
    difference: FloatArray,
    result: TestResult,
    procedure: Procedure,
    settings: ComparisonSettings,
) -> dict[str, Any]:
    """Return effect sizes."""
    if not procedure.effects:
        return {"a12": np.nan, "cliffs_delta": np.nan, "rank_biserial": np.nan}
    higher, lower = (first, second) if scored.higher_is_better else (second, first)
    a12 = vargha_delaney_a12(
        scored.values[:, lower], scored.values[:, higher], tolerance=settings.tolerance, size=settings.size
    )
    if isinstance(result, Wilcoxon):
        # The signed-rank test has ranked the differences already.
        plus, minus = result.w_plus, result.w_minus
    else:
        plus, minus = rank_sums(difference, settings.zeros)
    return {
        "a12": a12,
        "cliffs_delta": 2 * a12 - 1,
        "rank_biserial": (plus - minus) / (plus + minus) if plus + minus else 0.0,
    }


def _needed(
    difference: FloatArray, test: Test, n_pairs: int, procedure: Procedure, settings: ComparisonSettings
) -> int | None:
    """Return how many units would be needed at the level that is left to one of the pairs, where the test tells."""
    if test.power is None or not procedure.effects or difference.size < 2:
        return None
    return test.power(difference, alpha=settings.alpha / n_pairs, most=MOST_NEEDED)


def decisions(p_adjusted: FloatArray, side: FloatArray, alpha: float) -> NDArray[np.int64]:
    """Return 1 where a difference favours the first side significantly, -1 the second, 0 undecided.

    Examples
    --------
    >>> decisions(np.array([0.01, 0.2, 0.03]), np.array([1.0, 1.0, -1.0]), 0.05).tolist()
    [1, 0, -1]
    """
    return np.where(p_adjusted <= alpha, np.sign(side), 0).astype(np.int64)


def leave_one_unit_out(
    differences: FloatArray,
    adjust: Callable[[FloatArray], FloatArray],
    test: Test,
    options: Mapping[str, Any],
    alpha: float = 0.05,
) -> NDArray[np.int64]:
    """Decide every comparison again without each unit, correction included.

    Parameters
    ----------
    differences : ndarray of shape (n_units, n_comparisons)
        Settled differences, two rows or more; positive favours the first side.
    adjust : callable
        The correction, from raw to adjusted p-values.
    test : Test
        How differences are tested.
    options : mapping
        What the test may ask for.
    alpha : float, default=0.05
        Level of the decision.

    Returns
    -------
    ndarray of int of shape (n_units, n_comparisons)
        Row i: the decisions (1, 0, -1) without unit i.

    Examples
    --------
    >>> d = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> from paragone.stats.registries import corrections
    >>> holm = corrections.get("holm").adjust
    >>> leave_one_unit_out(d, holm, tests.get("wilcoxon"), ComparisonSettings().options).ravel().tolist()
    [0, 0, 0, 0, 0, 0]
    """
    columns = [test.leave_one_out(column, options) for column in differences.T]
    p = np.stack([column[0] for column in columns], axis=1)
    side = np.stack([column[1] for column in columns], axis=1)
    return decisions(np.stack([adjust(row) for row in p]), side, alpha)


def dataset_pairs(
    scored: UnitScores, family: Family, ranks: FloatArray, test: Test, settings: ComparisonSettings
) -> tuple[Pair, ...]:
    """Work out every pair of a family over datasets: adjusted, and decided again without each dataset.

    Parameters
    ----------
    scored : UnitScores
        Scores of all methods.
    family : Family
        Which pairs, and how they are adjusted.
    ranks : ndarray of shape (n_datasets, n_methods)
        Ranks within each dataset.
    test : Test
        How differences are tested.
    settings : ComparisonSettings
        The choices.

    Returns
    -------
    tuple of Pair
        In the order of the family.
    """
    turned = better_ranked_first(family, ranks.mean(axis=0))
    difference = scored.differences(turned, settings)
    pairs = measure_pairs(
        scored,
        turned,
        unit="dataset",
        test=test,
        settings=settings,
        bayes=wants_bayes(family, settings),
        difference=difference,
    )
    first, second = np.array(turned).T
    if family.on_ranks:
        average = ranks.mean(axis=0)
        raw, adjusted = family.rank_p(average, len(ranks))
        side = average[second] - average[first]
        smallest = np.zeros(len(turned))
        again = _rank_decisions_without_each(family, ranks, turned, settings.alpha)
    else:
        raw = np.array([pair.p for pair in pairs])
        adjusted = family.correction.adjust(raw)
        side = np.array([pair.test.side for pair in pairs])
        smallest = _smallest_adjusted(family, raw, pairs)
        again = _decisions_without_each(difference, family, test, settings)
    changed = again != decisions(adjusted, side, settings.alpha)
    return tuple(
        decided(
            pair,
            float(adjusted[i]),
            float(side[i]),
            settings,
            p=float(raw[i]),
            smallest_p_adjusted=float(smallest[i]),
            flipped_by=_names(scored.names, np.broadcast_to(changed[:, i], len(difference))),
        )
        for i, pair in enumerate(pairs)
    )


def _smallest_adjusted(family: Family, raw: FloatArray, pairs: Sequence[Pair]) -> FloatArray:
    """Return the adjusted p each pair would have if all its datasets agreed, the other tests as they are."""
    best = np.empty(raw.size)
    for i, pair in enumerate(pairs):
        other = raw.copy()
        other[i] = min(raw[i], pair.test.smallest_p)
        best[i] = family.correction.adjust(other)[i]
    return best


def _decisions_without_each(
    difference: FloatArray, family: Family, test: Test, settings: ComparisonSettings
) -> NDArray[np.int64]:
    if len(difference) < 2:
        return np.zeros(difference.shape, dtype=np.int64)
    return leave_one_unit_out(difference, family.correction.adjust, test, settings.options, settings.alpha)


def _rank_decisions_without_each(
    family: Family, ranks: FloatArray, turned: tuple[tuple[int, int], ...], alpha: float
) -> NDArray[np.int64]:
    if len(ranks) < 2:
        return np.zeros((1, len(turned)), dtype=np.int64)
    first, second = np.array(turned).T
    rows = []
    for left_out in range(len(ranks)):
        average = np.delete(ranks, left_out, axis=0).mean(axis=0)
        adjusted = family.rank_p(average, len(ranks) - 1)[1]
        rows.append(decisions(adjusted, average[second] - average[first], alpha))
    return np.stack(rows)
