"""Pairs of methods over datasets: adjusted over their family, and decided again without each dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.intervals import Interval
from paragone.stats.family import ComparisonSettings, Family, better_ranked_first, wants_bayes
from paragone.stats.pairs import Pair, UnitScores, judged, measure_pairs, ranked_failures
from paragone.stats.registries import Test, Unit
from paragone.stats.verdicts import adjusted_where_known
from paragone.ties import FloatArray


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
    >>> from paragone.stats.registries import corrections, tests
    >>> holm = corrections.get("holm").adjust
    >>> leave_one_unit_out(d, holm, tests.get("wilcoxon"), ComparisonSettings().options).ravel().tolist()
    [0, 0, 0, 0, 0, 0]
    """
    columns = [_without_each(column, test, options) for column in differences.T]
    p = np.stack([column[0] for column in columns], axis=1)
    side = np.stack([column[1] for column in columns], axis=1)
    return decisions(np.stack([adjusted_where_known(row, adjust) for row in p]), side, alpha)


def _without_each(
    column: FloatArray, test: Test, options: Mapping[str, Any]
) -> tuple[FloatArray, FloatArray]:
    """Return p and side without each unit, failures among them."""
    there = np.isfinite(column)
    if test.by_rank or test.by_sign or there.all():
        return test.leave_one_out(ranked_failures(column), options)
    # A test that leaves failures out anyway does not miss one.
    whole = test.run(column[there], options)
    p, side = np.full(column.size, whole.p), np.full(column.size, whole.side)
    if there.sum() > 1:
        p[there], side[there] = test.leave_one_out(column[there], options)
    return p, side


def dataset_pairs(
    scored: UnitScores,
    family: Family,
    ranks: FloatArray,
    test: Test,
    settings: ComparisonSettings,
    unit: Unit = "dataset",
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
    unit : {"dataset", "subject"}
        What a row of the scores is.

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
        unit=unit,
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
        # A test of average ranks says nothing of the size of differences: there is neither interval
        # nor equivalence.
        bare = [
            replace(pair, difference=Interval(pair.mean_difference), p_equal=np.nan)
            for pair in pairs
        ]
        found = judged(bare, lambda _: adjusted, settings, raw=raw, side=side)
        smallest = np.zeros(len(turned))
        again = _rank_decisions_without_each(family, ranks, turned, settings.alpha)
    else:
        found = judged(pairs, family.correction.adjust, settings)
        side = np.array([pair.test.side for pair in pairs])
        smallest = _smallest_adjusted(
            family, np.nan_to_num([pair.p_raw for pair in pairs], nan=1.0), pairs
        )
        again = _decisions_without_each(difference, family, test, settings)
    changed = again != decisions(np.array([pair.p for pair in found]), side, settings.alpha)
    return tuple(
        replace(
            pair,
            smallest_p=float(smallest[place]),
            flipped_by=tuple(
                np.array(scored.names, dtype=object)[
                    np.broadcast_to(changed[:, place], len(difference))
                ]
            ),
        )
        for place, pair in enumerate(found)
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
    return leave_one_unit_out(
        difference, family.correction.adjust, test, settings.options, settings.alpha
    )


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
