from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from paragone import intervals as median_module
from paragone.errors import InputError
from paragone.intervals import bootstrap_means, median_interval, paired_bootstrap, percentile_interval


@pytest.mark.parametrize(("kind", "scipy_kind"), [("percentile", "percentile"), ("bca", "BCa")])
@pytest.mark.parametrize("n", [25, 40])
def test_intervals_of_the_mean_are_those_of_scipy_within_monte_carlo_error(kind, scipy_kind, n):
    values = np.random.default_rng(n).gamma(2.0, size=n)
    ours = paired_bootstrap(values, kind=kind, n_resamples=40_000, seed=1)
    assert ours == pytest.approx(of_scipy(values, np.mean, scipy_kind), abs=0.02 * values.std())


@pytest.mark.parametrize("n", [25, 40])
def test_intervals_of_the_median_are_those_of_scipy_within_monte_carlo_error(n):
    values = np.random.default_rng(n).gamma(2.0, size=n)
    # The discrete median moves in whole gaps between observations; the mean is smooth.
    slack = np.quantile(np.diff(np.sort(values)), 0.9)
    assert median_interval(values) == pytest.approx(of_scipy(values, np.median, "percentile"), abs=slack)


def of_scipy(values, statistic, method):
    found = stats.bootstrap((values,), statistic, n_resamples=40_000, method=method, rng=np.random.default_rng(2))
    return [found.confidence_interval.low, found.confidence_interval.high]


def test_columns_share_the_draws_and_equal_their_own_intervals():
    table = np.random.default_rng(0).normal(size=(12, 3))
    together = paired_bootstrap(table, n_resamples=500, seed=4)
    alone = [paired_bootstrap(table[:, c], n_resamples=500, seed=4) for c in range(3)]
    assert together == pytest.approx(np.stack(alone, axis=1), abs=1e-15)


@settings(max_examples=25)
@given(st.lists(st.integers(-30, 30), min_size=2, max_size=25))
def test_percentile_interval_of_swapped_methods_is_mirrored(values):
    difference = np.array(values) / 10
    low, high = paired_bootstrap(difference, kind="percentile", n_resamples=400)
    mirrored = paired_bootstrap(-difference, kind="percentile", n_resamples=400)
    assert mirrored == pytest.approx([-high, -low], abs=1e-12)


def test_pairs_that_all_differ_alike_leave_no_width():
    assert paired_bootstrap([0.25] * 9).tolist() == [0.25, 0.25]
    assert median_interval([0.25] * 9).tolist() == [0.25, 0.25]
    assert paired_bootstrap([0.25], kind="percentile").tolist() == [0.25, 0.25]


@pytest.mark.parametrize("n", [1, 2, 5, 6, 15, 30, 101, 200, 500])
def test_exact_median_interval_is_the_limit_of_resampling(n):
    values = np.random.default_rng(n).normal(size=n)
    draws = values[np.random.default_rng(1).integers(0, n, size=(60_000, n))]
    medians = np.sort(np.median(draws, axis=1))
    low, high = median_interval(values)
    for end, tail in ((low, 0.025), (high, 0.975)):
        below, reached = np.mean(medians < end - 1e-12), np.mean(medians <= end + 1e-12)
        assert below - 0.003 <= tail <= reached + 0.003


@pytest.mark.parametrize("n", [4, 7, 10])
def test_exact_median_interval_equals_full_enumeration_of_resamples(n):
    from itertools import combinations_with_replacement
    from math import factorial

    values = np.sort(np.random.default_rng(n).normal(size=n))
    medians, weights = [], []
    for chosen in combinations_with_replacement(range(n), n):
        counts = np.bincount(chosen, minlength=n)
        medians.append(np.median(values[list(chosen)]))
        weights.append(factorial(n) / np.prod([factorial(c) for c in counts]))
    order = np.argsort(medians, kind="stable")
    reached = np.cumsum(np.array(weights)[order]) / n**n
    expected = [np.array(medians)[order][np.searchsorted(reached, tail)] for tail in (0.025, 0.975)]
    assert median_interval(values) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [2, 9, 40, 42, 500, 3000])
def test_the_places_of_the_middle_have_a_chance_of_one_in_all(n):
    first, second, weight = median_module._pairs_of_places(n)
    assert (first <= second).all()
    assert weight.sum() == pytest.approx(1.0, abs=1e-10)


def test_intervals_of_many_columns_are_those_of_each_alone(monkeypatch):
    table = np.random.default_rng(5).normal(size=(60, 7))
    whole = median_interval(table)
    monkeypatch.setattr(median_module, "MEDIANS_AT_ONCE", 1)
    np.testing.assert_array_equal(median_interval(table), whole)
    np.testing.assert_array_equal(np.stack([median_interval(column) for column in table.T], axis=1), whole)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="finite"):
        paired_bootstrap([np.nan, 1.0])
    with pytest.raises(InputError, match="interval"):
        paired_bootstrap([1.0, 2.0], kind="x")
    with pytest.raises(InputError, match="level"):
        paired_bootstrap([1.0, 2.0], level=95)
    with pytest.raises(InputError, match="finite"):
        median_interval([])


def test_one_unit_has_no_interval():
    assert np.isnan(percentile_interval(np.ones((100, 2)), 0.95, 1)).all()


@pytest.mark.parametrize("units", [2, 4, 10])
def test_d16_few_clusters_have_an_interval_that_covers(units):
    generator = np.random.default_rng(units)
    values = generator.normal(size=(units, 2000))
    low, high = percentile_interval(bootstrap_means(values, n_resamples=2000), 0.95, units)
    assert np.mean((low <= 0) & (high >= 0)) == pytest.approx(0.95, abs=0.025)
