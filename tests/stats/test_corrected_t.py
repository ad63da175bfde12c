from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from paragone.errors import InputError
from paragone.stats.bayes import bayesian_correlated_t
from paragone.stats.t_tests import corrected_resampled_t, paired_t

DIFFERENCES = st.lists(st.integers(-50, 50), min_size=2, max_size=30).map(
    lambda v: np.array(v) / 100
)


@given(DIFFERENCES.filter(lambda d: np.ptp(d) > 0))
def test_plain_paired_t_is_that_of_scipy(difference):
    expected = stats.ttest_1samp(difference, 0.0)
    interval = expected.confidence_interval(0.95)
    result = paired_t(difference)
    assert (result.t, result.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert (result.low, result.high) == pytest.approx((interval.low, interval.high))


@given(DIFFERENCES.filter(lambda d: np.ptp(d) > 0), st.floats(0.36, 1))
def test_with_large_test_sets_t_is_divided_by_the_factor_of_nadeau_and_bengio(difference, ratio):
    plain, corrected = (
        paired_t(difference),
        corrected_resampled_t(difference, test_train_ratio=ratio),
    )
    assert corrected.t * np.sqrt(1 + difference.size * ratio) == pytest.approx(plain.t)


@given(DIFFERENCES.filter(lambda d: np.ptp(d) > 0), st.floats(0.01, 0.35))
def test_with_small_test_sets_the_luck_of_training_sets_shrinks_with_their_cube_root_only(
    difference, ratio
):
    plain, corrected = (
        paired_t(difference),
        corrected_resampled_t(difference, test_train_ratio=ratio),
    )
    factor = 1 + difference.size * max(ratio, 1 / 19) ** (1 / 3) / 2
    assert corrected.t * np.sqrt(factor) == pytest.approx(plain.t)


def test_repeats_that_agree_add_less_and_never_less_than_the_published_variance():
    rng = np.random.default_rng(0)
    once = rng.normal(size=10)
    agree, differ = np.tile(once, 10), rng.normal(size=100)
    for values, least, most in (
        (agree, 1 / 10 + 1 / 9, 0.23),
        (differ, 0.23, 1 / 10 + 9 ** (-1 / 3) / 2),
    ):
        factor = corrected_resampled_t(values, repeats=10).standard_error ** 2 / values.var(ddof=1)
        assert least <= factor <= most


def test_ratio_of_one_cross_validation_is_the_default():
    difference = np.array([0.01, 0.03, -0.01, 0.02, 0.05, 0.0, 0.01, 0.02, -0.02, 0.03])
    assert corrected_resampled_t(difference) == corrected_resampled_t(
        difference, test_train_ratio=1 / 9
    )


@given(DIFFERENCES)
def test_swapping_the_methods_flips_t_and_keeps_p(difference):
    forth, back = corrected_resampled_t(difference), corrected_resampled_t(-difference)
    np.testing.assert_array_equal((forth.t, forth.p), (-back.t, back.p))


def test_differences_without_spread_have_no_p_unless_they_are_zero():
    assert np.isnan(corrected_resampled_t([0.1] * 5).p)
    assert corrected_resampled_t([0.0] * 5).p == 1.0
    assert np.isnan(corrected_resampled_t([-0.1] * 5).t)


@given(DIFFERENCES.filter(lambda d: np.ptp(d) > 0), st.floats(0.001, 0.2))
def test_correlated_t_integrates_a_shifted_student_density(difference, margin):
    n = difference.size
    shared = max(1 / (n - 1), max(1 / (n - 1), 1 / 19) ** (1 / 3) / 2)
    scale = np.sqrt(difference.var(ddof=1) * (1 / n + shared))
    exact = stats.t(n - 1, difference.mean(), scale)
    posterior = bayesian_correlated_t(difference, margin=margin)
    assert posterior.better == pytest.approx(exact.sf(margin), abs=1e-12)
    assert posterior.worse == pytest.approx(exact.cdf(-margin), abs=1e-12)
    assert posterior.better + posterior.equal + posterior.worse == pytest.approx(1)


def test_correlated_t_without_a_rope_is_half_the_p_value():
    difference = [0.02, 0.01, 0.03, 0.0, 0.04]
    assert bayesian_correlated_t(difference).worse == pytest.approx(
        corrected_resampled_t(difference).p / 2
    )


def test_correlated_t_counts_repeats_as_the_test_does():
    difference = np.random.default_rng(4).normal(0.3, 1, 20)
    expected = corrected_resampled_t(difference, repeats=4).p / 2
    assert bayesian_correlated_t(difference, repeats=4).worse == pytest.approx(expected)


def test_correlated_t_of_equal_differences_is_certain():
    assert bayesian_correlated_t([0.1] * 4).better == 1.0
    assert bayesian_correlated_t([0.1] * 4, margin=0.2).equal == 1.0
    assert bayesian_correlated_t([0.0] * 4).worse == 0.5


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="2 or more"):
        corrected_resampled_t([0.1])
    with pytest.raises(InputError, match="positive"):
        corrected_resampled_t([0.1, 0.2], test_train_ratio=0)
    with pytest.raises(InputError, match="margin"):
        bayesian_correlated_t([0.1, 0.2], margin=-1)
