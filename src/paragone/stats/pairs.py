"""Everything about every pair of a family, computed for all pairs at once where that is quicker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paragone.stats.bayes import Posterior, dirichlet_process_weights, posterior_from_weights
from paragone.stats.effects import vargha_delaney_a12
from paragone.stats.family import Family, Pair, Settings
from paragone.stats.intervals import median_interval, paired_bootstrap
from paragone.stats.scores import ScoreTable
from paragone.stats.signed_rank import (
    Wilcoxon,
    decisions,
    leave_one_dataset_out,
    pairs_for_power,
    signed_rank_of_settled,
    smallest_p,
)
from paragone.stats.verdict import judge
from paragone.ties import FloatArray, settle_differences, settled_mean

BAYES_UP_TO = 45
"""Without a reference, Bayesian probabilities are computed unasked for up to ten methods' pairs."""

MOST_NEEDED = 10_000
"""An effect that would need more datasets than this is no effect to speak of."""


@dataclass(frozen=True)
class _Tests:
    """Raw and adjusted p of all pairs, the side each favours, and what flips it."""

    wilcoxon: tuple[Wilcoxon, ...]
    raw: FloatArray
    adjusted: FloatArray
    side: FloatArray
    smallest: FloatArray
    flipped_by: tuple[tuple[str, ...], ...]


def better_ranked_first(family: Family, average_ranks: FloatArray) -> tuple[tuple[int, int], ...]:
    """Return the pairs, turned so that the better-ranked method stands first where there is no reference.

    Examples
    --------
    >>> import numpy as np
    >>> from paragone.stats.family import choose_family
    >>> better_ranked_first(choose_family(2, None, None), np.array([2.0, 1.0]))
    ((1, 0),)
    """
    if family.reference is not None:
        return family.pairs
    return tuple((j, i) if average_ranks[j] < average_ranks[i] else (i, j) for i, j in family.pairs)


def all_pairs(table: ScoreTable, family: Family, ranks: FloatArray, settings: Settings) -> tuple[Pair, ...]:
    """Compute every pair of the family.

    Parameters
    ----------
    table : ScoreTable
        The scores.
    family : Family
        Which pairs, and how they are adjusted.
    ranks : ndarray of shape (n_datasets, n_methods)
        Ranks within each dataset.
    settings : Settings
        The choices.

    Returns
    -------
    tuple of Pair
        In the order of the family.
    """
    turned = better_ranked_first(family, ranks.mean(axis=0))
    first, second = np.array(turned).T
    oriented = table.values if table.higher_is_better else -table.values
    difference = settle_differences(oriented[:, second], oriented[:, first], settings.tolerance, size=settings.size)
    tests = _run_tests(table, family, ranks, difference, turned, settings)
    mean_ends, median_ends = _ends(difference, settings)
    posteriors = _posteriors(difference, family, settings)
    return tuple(
        _pair(table, turned[i], i, difference[:, i], tests, (mean_ends[:, i], median_ends[:, i]), posterior, settings)
        for i, posterior in enumerate(posteriors)
    )


def _run_tests(
    table: ScoreTable,
    family: Family,
    ranks: FloatArray,
    difference: FloatArray,
    turned: tuple[tuple[int, int], ...],
    settings: Settings,
) -> _Tests:
    wilcoxon = tuple(
        signed_rank_of_settled(column, settings.zeros, exact_up_to=settings.exact_up_to) for column in difference.T
    )
    first, second = np.array(turned).T
    average = ranks.mean(axis=0)
    if family.on_ranks:
        raw, adjusted = family.rank_p(average, len(ranks))
        side = average[second] - average[first]
        again = _rank_decisions_without_each(family, ranks, turned, settings.alpha)
        smallest = np.zeros(len(turned))
    else:
        raw = np.array([test.p for test in wilcoxon])
        adjusted = family.adjust(raw)
        side = np.array([test.w_plus - test.w_minus for test in wilcoxon])
        again = _decisions_without_each(difference, family, settings)
        smallest = _smallest_adjusted(family, raw, wilcoxon)
    changed = again != decisions(adjusted, side, settings.alpha)
    names = np.array(table.datasets, dtype=object)
    flipped = tuple(tuple(names[column].tolist()) for column in changed.T)
    return _Tests(wilcoxon, raw, adjusted, side, smallest, flipped)


def _smallest_adjusted(family: Family, raw: FloatArray, tests: tuple[Wilcoxon, ...]) -> FloatArray:
    """Return the adjusted p each pair would have if all its datasets agreed, the other tests as they are."""
    best = np.empty(raw.size)
    for i, test in enumerate(tests):
        other = raw.copy()
        other[i] = min(raw[i], smallest_p(test.n_used))
        best[i] = family.adjust(other)[i]
    return best


def _decisions_without_each(difference: FloatArray, family: Family, settings: Settings) -> np.ndarray:
    if len(difference) < 2:
        return np.zeros(difference.shape, dtype=np.int64)
    return leave_one_dataset_out(
        difference, family.adjust, alpha=settings.alpha, zeros=settings.zeros, exact_up_to=settings.exact_up_to
    )


def _rank_decisions_without_each(
    family: Family, ranks: FloatArray, turned: tuple[tuple[int, int], ...], alpha: float
) -> np.ndarray:
    if len(ranks) < 2:
        return np.zeros((1, len(turned)), dtype=np.int64)
    first, second = np.array(turned).T
    rows = []
    for left_out in range(len(ranks)):
        average = np.delete(ranks, left_out, axis=0).mean(axis=0)
        adjusted = family.rank_p(average, len(ranks) - 1)[1]
        rows.append(decisions(adjusted, average[second] - average[first], alpha))
    return np.stack(rows)


def _ends(difference: FloatArray, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the intervals of the means and of the medians; one dataset says nothing of its spread."""
    if len(difference) < 2:
        none = np.full((2, difference.shape[1]), np.nan)
        return none, none
    means = paired_bootstrap(difference, level=settings.level, n_resamples=settings.n_resamples, seed=settings.seed)
    return means, median_interval(difference, level=settings.level)


def wants_bayes(family: Family, settings: Settings) -> bool:
    """Say whether Bayesian probabilities are computed.

    Examples
    --------
    >>> from paragone.stats.family import choose_family
    >>> wants_bayes(choose_family(20, None, None), Settings()), wants_bayes(choose_family(20, 0, None), Settings())
    (False, True)
    """
    if settings.bayes is not None:
        return settings.bayes
    return family.reference is not None or len(family.pairs) <= BAYES_UP_TO


def _posteriors(difference: FloatArray, family: Family, settings: Settings) -> list[Posterior | None]:
    if not wants_bayes(family, settings):
        return [None] * difference.shape[1]
    weights = dirichlet_process_weights(len(difference), 0.5, settings.n_samples, settings.seed)
    return [posterior_from_weights(column, weights, settings.rope, keep=False) for column in difference.T]


def _pair(
    table: ScoreTable,
    names: tuple[int, int],
    i: int,
    difference: FloatArray,
    tests: _Tests,
    ends: tuple[FloatArray, FloatArray],
    posterior: Posterior | None,
    settings: Settings,
) -> Pair:
    """Gather what is known about the i-th pair."""
    where = np.array(table.datasets, dtype=object)
    test = tests.wilcoxon[i]
    higher, lower = names if table.higher_is_better else names[::-1]
    low, high = table.values[:, lower], table.values[:, higher]
    a12 = vargha_delaney_a12(low, high, tolerance=settings.tolerance, size=settings.size)
    equal = None if posterior is None else posterior.equal
    total = test.w_plus + test.w_minus
    alpha = settings.alpha / len(tests.wilcoxon)
    return Pair(
        method=table.methods[names[0]],
        rival=table.methods[names[1]],
        verdict=judge(float(tests.adjusted[i]), float(tests.side[i]), equal, settings.rope, settings.alpha),
        p=float(tests.raw[i]),
        p_adjusted=float(tests.adjusted[i]),
        test=test,
        smallest_p_adjusted=float(tests.smallest[i]),
        mean_difference=float(settled_mean(difference)),
        mean_low=float(ends[0][0]),
        mean_high=float(ends[0][1]),
        median_difference=float(np.median(difference)),
        median_low=float(ends[1][0]),
        median_high=float(ends[1][1]),
        won=tuple(where[difference > 0].tolist()),
        tied=tuple(where[difference == 0].tolist()),
        lost=tuple(where[difference < 0].tolist()),
        cliffs_delta=2 * a12 - 1,
        a12=a12,
        rank_biserial=(test.w_plus - test.w_minus) / total if total else 0.0,
        posterior=posterior,
        flipped_by=tests.flipped_by[i],
        datasets_needed=pairs_for_power(difference, alpha=alpha, most=MOST_NEEDED) if difference.size > 1 else None,
    )
