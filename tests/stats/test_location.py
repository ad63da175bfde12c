"""The Hodges-Lehmann interval against a test of every cell by full enumeration, and its laws."""

from __future__ import annotations

from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from paragone.errors import InputError
from paragone.stats import location
from paragone.stats.location import hodges_lehmann, shifted_p
from paragone.stats.signed_rank import wilcoxon_signed_rank

LEVELS = st.sampled_from([0.8, 0.9, 0.95, 0.99])


def enumerated_tails(beyond):
    """Return the chances to lose no more, and to win no more, over all patterns of signs."""
    ranks = stats.rankdata(np.abs(beyond))
    sums = np.array([np.dot(ranks, pattern) for pattern in product([0, 1], repeat=ranks.size)])
    return tuple(np.mean(sums <= ranks[side].sum() + 1e-9) for side in (beyond < 0, beyond > 0))


def scanned_interval(values, level):
    """Test one shift of every cell between neighbouring Walsh averages, and say where the rejected ones end."""
    averages = np.unique([(a + b) / 2 for a, b in product(values, values)])
    edges = [averages[0] - 1, *averages, averages[-1] + 1]
    tails = np.array([enumerated_tails(values - (a + b) / 2) for a, b in pairwise(edges)])
    too_little_lost, too_little_won = (tails <= (1 - level) / 2).T
    low = averages[too_little_lost.argmin() - 1] if too_little_lost[0] else -np.inf
    high = averages[-too_little_won[::-1].argmin()] if too_little_won[-1] else np.inf
    return low, high


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-6, 8), min_size=1, max_size=8), LEVELS)
def test_interval_is_that_of_testing_every_cell_by_enumeration(values, level):
    # Powers of two keep every sum exact, in the oracle too.
    values = np.array(values) / 8
    found, (low, high) = hodges_lehmann(values, level=level), scanned_interval(values, level)
    if wilcoxon_signed_rank(values).p > 1 - level:
        low, high = min(low, 0.0), max(high, 0.0)
    assert (found.low, found.high) == (low, high)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-300, 500), min_size=6, max_size=30, unique=True))
def test_untied_limits_are_the_walsh_averages_at_scipys_quantiles(values):
    values = np.array(values) / 64
    averages = np.sort([(a + b) / 2 for i, a in enumerate(values) for b in values[i:]])
    # SciPy has no quantile of the statistic, so that its p of every sum is asked for.
    place = 0
    while _scipy_tail(values.size, place) <= 0.025:
        place += 1
    found = hodges_lehmann(values)
    inside = wilcoxon_signed_rank(values).p > 0.05
    low, high = averages[place - 1], averages[-place]
    assert (found.low, found.high) == ((min(low, 0), max(high, 0)) if inside else (low, high))
    assert found.estimate == pytest.approx(np.median(averages), rel=1e-12)


def _scipy_tail(n, total):
    """Return SciPy's chance that the ranks 1 to n sum to at most ``total``: the largest ranks that fit are lost."""
    signs, left = np.ones(n), total
    for rank in range(min(n, total), 0, -1):
        if rank <= left:
            signs[rank - 1], left = -1, left - rank
    return stats.wilcoxon(signs * np.arange(1, n + 1), method="exact", alternative="greater").pvalue


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(-6, 8), min_size=1, max_size=40),
    st.integers(-14, 18),
    st.sampled_from([0.025, 0.05, 0.1]),
)
def test_one_sided_test_of_a_shift_rejects_just_what_the_interval_leaves_out(values, null, alpha):
    values, null = np.array(values) / 4 + 50, null / 8 + 50
    # Far from zero the limits are those of the shifts alone.
    found = hodges_lehmann(values, level=1 - 2 * alpha)
    assert (shifted_p(values, null, "greater") <= alpha) == (found.low > null)
    assert (shifted_p(values, null, "less") <= alpha) == (found.high < null)


@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=60),
    LEVELS,
    st.sampled_from(["wilcox", "pratt", "split"]),
)
def test_zero_is_inside_wherever_the_test_does_not_reject_it(values, level, zeros):
    values = np.array(values) / 7
    found = hodges_lehmann(values, level=level, zeros=zeros)
    assert found.low <= found.high
    if wilcoxon_signed_rank(values, zeros=zeros).p > 1 - level:
        assert found.low <= 0 <= found.high


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=40), st.sampled_from([0.5, 4.0, 1024.0]))
def test_flipping_signs_and_scaling_do_to_the_interval_what_they_do_to_the_differences(
    values, factor
):
    values = np.array(values) / 8
    found, flipped, scaled = (hodges_lehmann(one) for one in (values, -values, factor * values))
    assert (flipped.estimate, flipped.low, flipped.high) == (
        -found.estimate,
        -found.high,
        -found.low,
    )
    assert (scaled.estimate, scaled.low, scaled.high) == tuple(
        factor * one for one in (found.estimate, found.low, found.high)
    )


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=40))
def test_a_higher_level_has_a_wider_interval(values):
    found = [hodges_lehmann(values, level=level) for level in (0.5, 0.9, 0.99)]
    assert all(
        inner.low >= outer.low and inner.high <= outer.high for inner, outer in pairwise(found)
    )


@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_many_averages_are_found_in_part_as_they_are_all_at_once(monkeypatch, decimals):
    values = np.random.default_rng(decimals).normal(0.2, 1, 700).round(decimals)
    held = hodges_lehmann(values, exact_up_to=100)
    monkeypatch.setattr(location, "AT_ONCE", 3000)
    assert hodges_lehmann(values, exact_up_to=100) == held
    averages = np.sort((values[:, None] + values)[np.triu_indices(700)] / 2)
    assert held.estimate == pytest.approx(np.median(averages), abs=1e-12)


@pytest.mark.parametrize("decimals", [1, 6])
def test_at_the_switch_the_approximate_limits_are_near(decimals):
    values = np.random.default_rng(4).normal(0.05, 1, 500).round(decimals)
    exact, near = hodges_lehmann(values), hodges_lehmann(values, exact_up_to=499)
    assert (near.low, near.high) == pytest.approx((exact.low, exact.high), abs=0.002)


@pytest.mark.parametrize("n", [6, 9, 15])
def test_it_covers_the_centre_of_tied_differences(n):
    generator = np.random.default_rng(n)
    sample = generator.integers(-3, 4, size=(500, n)) + 10.0
    covered = np.mean(
        [interval.low <= 10 <= interval.high for interval in map(hodges_lehmann, sample)]
    )
    assert covered >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 500)


def test_too_few_differences_exclude_nothing():
    five, six = hodges_lehmann([1.0, 2, 3, 4, 5]), hodges_lehmann([1.0, 2, 3, 4, 5, 6])
    assert (five.estimate, five.low, five.high) == (3.0, -np.inf, np.inf)
    assert (six.low, six.high) == (1.0, 6.0)


def test_unusable_questions_are_refused():
    with pytest.raises(InputError, match="level of an interval"):
        hodges_lehmann([1.0, 2.0], level=1.0)
    with pytest.raises(InputError, match="finite differences"):
        hodges_lehmann([np.inf, 2.0])
    with pytest.raises(InputError, match="did you mean 'less'"):
        shifted_p([1.0, 2.0], 0.1, "les")
    with pytest.raises(InputError, match="finite number"):
        shifted_p([1.0, 2.0], np.nan, "less")


def loss_tails(values):
    """Return the Walsh averages, and the one-sided p of the cell before each over all patterns of signs."""
    points = np.unique([(a + b) / 2 for a in values for b in values])
    lost = np.array(list(product([0, 1], repeat=len(values))))
    shifts = np.append(points[0] - 1, (points[1:] + points[:-1]) / 2)
    ranks = np.array([stats.rankdata(np.abs(values - shift)) for shift in shifts])
    observed = (ranks * (values < shifts[:, None])).sum(axis=1)
    return points, (ranks @ lost.T <= observed[:, None] + 1e-9).mean(axis=1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_p_never_falls_with_the_shift_and_limits_are_the_ends_of_what_is_not_rejected(n):
    # Every pattern of ties and zeros; the gaps differ, so that no two Walsh averages coincide but
    # those that must.
    for values in combinations_with_replacement(np.array([-13.0, -4.0, 0.0, 1.0, 7.0, 26.0]), n):
        values = np.array(values)
        (points, greater), (mirrored, less) = loss_tails(values), loss_tails(-values)
        assert (np.diff(greater) >= 0).all()
        for level in (0.5, 0.9, 0.95):
            tail = (1 - level) / 2
            # The whole set of shifts that neither side rejects, cell by cell, without any order
            # among them assumed.
            low, high = points[greater <= tail], -mirrored[less <= tail]
            low, high = low.max(initial=-np.inf), high.min(initial=np.inf)
            for zeros in ("wilcox", "pratt"):
                found = hodges_lehmann(values, level=level, zeros=zeros)
                p = wilcoxon_signed_rank(values, zeros=zeros).p
                wanted = (min(low, 0.0), max(high, 0.0)) if p > 1 - level else (low, high)
                assert (found.low, found.high) == wanted
