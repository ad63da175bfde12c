"""The sign, McNemar and permutation tests against SciPy, enumeration and a score test maximised numerically."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq, minimize_scalar

from paragone.errors import InputError
from paragone.stats import compare, compare_samples, pairwise
from paragone.stats.registries import find_test, tests
from paragone.stats.sign_tests import FLIPS, mcnemar, mcnemar_mid_p, permutation_test, sign_test
from paragone.stats.signed_rank import wilcoxon_signed_rank


def table(won, lost, level):
    return np.r_[np.ones(won), -np.ones(lost), np.zeros(level)]


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 9))
def test_the_sign_test_is_scipys_binomial_test(won, lost, level):
    found = sign_test(table(won, lost, level))
    assert found.p == pytest.approx(
        stats.binomtest(won, won + lost).pvalue if won + lost else 1.0, rel=1e-10
    )
    assert found.turned() == sign_test(-table(won, lost, level))


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_mid_p_counts_half_of_the_observed_table(won, lost):
    n, fewer = won + lost, min(won, lost)
    below, at = stats.binom.cdf(fewer - 1, n, 0.5), stats.binom.pmf(fewer, n, 0.5)
    expected = 1.0 if won == lost else 2 * (below + at / 2)
    assert mcnemar_mid_p(table(won, lost, 1)).p == pytest.approx(expected, rel=1e-9)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 9))
def test_mcnemar_is_the_signed_rank_test_of_right_and_wrong(won, lost, level):
    values = table(won, lost, level + 1)
    assert mcnemar(values).p == pytest.approx(wilcoxon_signed_rank(values).p, rel=1e-10)


@pytest.mark.parametrize(
    ("won", "lost", "n"), [(9, 2, 41), (0, 3, 10), (7, 7, 20), (5, 0, 5), (40, 25, 400), (1, 0, 30)]
)
def test_tangos_limits_are_where_the_score_test_by_numerical_likelihood_is_significant(
    won, lost, n
):
    def score(difference):
        """Maximise the likelihood over the chance that only the rival is right, given the difference."""

        def against(other):
            shares = np.array([other + difference, other, 1 - 2 * other - difference])
            counts = np.array([won, lost, n - won - lost])
            if (shares < -1e-15).any():
                return np.inf
            return -float(np.sum(counts * np.log(np.maximum(shares, 1e-300))))

        low, high = max(0.0, -difference), (1 - difference) / 2
        other = minimize_scalar(
            against, bounds=(low, high), method="bounded", options={"xatol": 1e-13}
        ).x
        return (won - lost - n * difference) / np.sqrt(n * (2 * other + difference - difference**2))

    interval, z = mcnemar(table(won, lost, n - won - lost)).interval, stats.norm.ppf(0.975)
    middle = (won - lost) / n
    if interval.high < 1:
        assert interval.high == pytest.approx(
            brentq(lambda d: score(d) + z, middle + 1e-9, 1 - 1e-9), abs=1e-5
        )
    if interval.low > -1:
        assert interval.low == pytest.approx(
            brentq(lambda d: score(d) - z, -1 + 1e-9, middle - 1e-9), abs=1e-5
        )


@pytest.mark.parametrize("n", [20, 60])
def test_tangos_interval_covers(n):
    generator = np.random.default_rng(n)
    draws = generator.choice([1.0, -1.0, 0.0], p=[0.25, 0.1, 0.65], size=(1500, n))
    covered = np.mean(
        [one.low <= 0.15 <= one.high for one in (mcnemar(row).interval for row in draws)]
    )
    assert covered >= 0.95 - 2.5 * np.sqrt(0.05 * 0.95 / 1500)


def enumerated_flips(values):
    sums = [abs(np.dot(values, signs)) for signs in product([-1, 1], repeat=len(values))]
    return np.mean(np.array(sums) >= abs(values.sum()) - 1e-9)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=10))
def test_few_differences_have_the_p_of_all_patterns_of_signs(values):
    found = permutation_test(np.array(values) / 7)
    assert found.exact
    assert found.p == pytest.approx(enumerated_flips(np.array(values) / 7), rel=1e-12)


def test_counting_half_against_half_agrees_with_scipy_for_eighteen():
    values = np.random.default_rng(4).normal(0.3, 1, 18)
    scipy = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert permutation_test(values).p == pytest.approx(scipy.pvalue, rel=1e-12)


def test_many_differences_are_flipped_at_random_by_the_seed():
    values = np.random.default_rng(5).normal(0.2, 1, 80)
    found = permutation_test(values)
    assert found == permutation_test(values)
    assert not found.exact
    assert found.n_flips == FLIPS
    # The normal limit of the sum of random signs, and the error of so many draws.
    limit = 2 * stats.norm.sf(abs(values.sum()) / np.sqrt(np.square(values).sum()))
    assert found.p == pytest.approx(limit, abs=0.01)
    assert permutation_test(np.full(90, 0.1)).p == 1 / (FLIPS + 1)


@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=24), st.sampled_from(["sign", "permutation"])
)
def test_flipping_all_signs_and_scaling_change_no_p(values, name):
    values, function = np.array(values, dtype=float), tests.get(name).function
    found = function(values)
    for other in (-values, 8 * values):
        assert function(other).p == pytest.approx(found.p, rel=1e-12)
    assert np.sign(function(-values).side) == -np.sign(found.side)


def test_values_that_are_not_right_or_wrong_are_refused():
    with pytest.raises(InputError, match="right and wrong"):
        mcnemar(np.array([0.5, 1.0]))
    with pytest.raises(InputError, match="not right for folds"):
        find_test("sign", "fold")


@pytest.mark.parametrize("name", ["sign", "permutation"])
def test_they_are_asked_for_by_name_over_datasets_and_subjects(name):
    generator = np.random.default_rng(3)
    frame = pd.DataFrame({"A": generator.uniform(size=9), "B": generator.uniform(size=9) + 0.3})
    frame.insert(0, "dataset", [f"d{i}" for i in range(9)])
    over = compare(frame, metric="accuracy", test=name, bayes=False)
    pair = pairwise(frame["A"], frame["B"], metric="accuracy", test=name)
    assert (
        over.pairs[0].p_raw
        == pair.pairs[0].p_raw
        == tests.get(name).function((frame["B"] - frame["A"]).to_numpy()).p
    )


def test_items_that_are_right_or_wrong_are_compared_by_mcnemar():
    generator = np.random.default_rng(8)
    right = {
        name: (generator.random(80) < share).astype(float)
        for name, share in (("A", 0.8), ("B", 0.6))
    }
    frame = (
        pd.DataFrame({"sample": range(80), **right})
        .melt("sample", var_name="method")
        .assign(metric="accuracy")
    )
    row = compare_samples(frame, reference="A", test="mcnemar").rows[0]
    won, lost = ((right["A"] > right["B"]).sum(), (right["A"] < right["B"]).sum())
    assert row.p_raw == pytest.approx(stats.binomtest(won, won + lost).pvalue, rel=1e-12)
    assert row.difference == pytest.approx((won - lost) / 80)
    assert row.low < row.difference < row.high


def test_a_failed_score_is_a_loss_to_the_sign_test():
    frame = pd.DataFrame(
        {"dataset": [f"d{i}" for i in range(8)], "A": [0.8] * 8, "B": [0.7, 0.9] + [np.nan] * 6}
    )
    pair = (
        compare(frame, metric="accuracy", test="sign", missing="worst", bayes=False)
        .pairs[0]
        .seen_from("A")
    )
    assert pair.p_raw == pytest.approx(stats.binomtest(7, 8).pvalue)
    assert (len(pair.won), len(pair.lost)) == (7, 1)
