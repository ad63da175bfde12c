from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from paragone.errors import InputError
from paragone.stats.bayes import WEIGHTS_IN_ALL, bayesian_sign, bayesian_signed_rank


def looped_signed_rank(values, margin, n_samples, seed):
    """A plain loop over draws and Walsh sums, with NumPy's Dirichlet."""
    z = np.concatenate([[0.0], values])
    walsh = z[:, None] + z[None, :]
    generator = np.random.default_rng(seed)
    counts = np.zeros(3)
    for w in generator.dirichlet(np.r_[0.5, np.ones(len(values))], n_samples):
        weight = np.outer(w, w)
        right = weight[walsh > 2 * margin].sum() + weight[walsh == 2 * margin].sum() / 2
        left = weight[walsh < -2 * margin].sum() + weight[walsh == -2 * margin].sum() / 2
        counts[np.argmax([left, 1 - left - right, right])] += 1
    return counts / n_samples


@pytest.mark.parametrize("margin", [0.0, 0.02])
@pytest.mark.parametrize("centre", [0.0, 0.015])
def test_signed_rank_equals_a_plain_loop_within_monte_carlo_error(margin, centre):
    values = np.random.default_rng(8).normal(centre, 0.04, size=14)
    posterior = bayesian_signed_rank(values, margin=margin, n_samples=20_000, seed=3)
    expected = looped_signed_rank(values, margin, 4_000, seed=4)
    found = np.array([posterior.worse, posterior.equal, posterior.better])
    error = np.sqrt(np.maximum(expected * (1 - expected), 1e-4) * (1 / 4_000 + 1 / 20_000))
    assert (np.abs(found - expected) < 4.5 * error).all()


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-20, 20), min_size=1, max_size=20), st.sampled_from([0.0, 0.03]))
def test_swapping_the_methods_swaps_better_and_worse_exactly(values, margin):
    difference = np.array(values) / 100
    forth = bayesian_signed_rank(difference, margin=margin, n_samples=500)
    back = bayesian_signed_rank(-difference, margin=margin, n_samples=500)
    assert (forth.better, forth.worse) == pytest.approx((back.worse, back.better), abs=1e-12)
    assert forth.better + forth.equal + forth.worse == pytest.approx(1)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=20),
    st.sampled_from([0.0, 0.02, 0.03]),
    st.integers(0, 99),
)
def test_running_sums_give_the_shares_of_the_matrix_of_walsh_sums(values, margin, seed):
    difference = np.array(values) / 100
    sample = bayesian_signed_rank(difference, margin=margin, n_samples=100, seed=seed).sample
    generator = np.random.default_rng(seed)
    prior, rest = (
        generator.standard_gamma(0.5, 100),
        generator.standard_exponential((100, difference.size)),
    )
    weights = np.c_[prior, rest] / (prior + rest.sum(axis=1))[:, None]
    z = np.r_[0.0, difference]
    walsh = np.round(z[:, None] + z, 12)
    above = (walsh > 2 * margin) + (walsh == 2 * margin) / 2
    below = (walsh < -2 * margin) + (walsh == -2 * margin) / 2
    for column, matrix in ((0, below), (2, above)):
        assert sample[:, column] == pytest.approx(
            np.einsum("ri,ij,rj->r", weights, matrix, weights), abs=1e-12
        )


def test_many_differences_have_fewer_draws_and_the_error_that_is_stated():
    values = np.random.default_rng(2).normal(size=30_000)
    values += 0.005 - values.mean()
    found = [bayesian_signed_rank(values, n_samples=50_000, seed=seed) for seed in range(8)]
    assert {one.n_draws for one in found} == {WEIGHTS_IN_ALL // 30_000}
    # The chance has a normal limit: the Walsh sums' share above zero less a half, in its standard
    # errors.
    share = np.searchsorted(np.sort(-values), values, side="left") / values.size
    expected = stats.norm.cdf((share.mean() - 0.5) / (2 * share.std() / np.sqrt(values.size)))
    better = np.array([one.better for one in found])
    error = np.sqrt(expected * (1 - expected) / found[0].n_draws)
    assert found[0].standard_error == pytest.approx(error, rel=0.2)
    assert better.mean() == pytest.approx(expected, abs=4 * error / np.sqrt(8) + 0.005)
    assert better.std() < 2 * error


def test_wider_rope_never_makes_equality_less_likely():
    values = np.random.default_rng(1).normal(0.01, 0.03, size=20)
    shares = [
        bayesian_signed_rank(values, margin=margin, n_samples=5_000).equal
        for margin in (0, 0.01, 0.02, 0.05)
    ]
    assert shares == sorted(shares)


def test_same_seed_gives_the_same_bytes():
    first, second = (
        bayesian_signed_rank([0.1, -0.2, 0.3], n_samples=100, seed=7) for _ in range(2)
    )
    assert first.sample.tobytes() == second.sample.tobytes()


def test_all_zero_differences_favour_nobody():
    posterior = bayesian_signed_rank([0.0] * 6, n_samples=1_000)
    assert posterior.better == pytest.approx(posterior.worse) == 0.5
    assert bayesian_signed_rank([0.0] * 6, margin=0.01, n_samples=1_000).equal == 1.0


def test_sign_test_has_the_dirichlet_posterior_of_the_counts():
    values = np.array([0.1] * 7 + [-0.1] * 2 + [0.0])
    posterior = bayesian_sign(values, n_samples=200_000, seed=1)
    assert posterior.sample.mean(axis=0) == pytest.approx(np.array([2, 2, 7]) / 11, abs=0.002)
    draws = np.random.default_rng(9).dirichlet([2, 2, 7], 200_000)
    expected = (draws.argmax(axis=1) == 2).mean()
    assert posterior.better == pytest.approx(expected, abs=0.005)


def test_negative_rope_and_nan_are_refused():
    with pytest.raises(InputError, match="margin"):
        bayesian_signed_rank([0.1], margin=-0.1)
    with pytest.raises(InputError, match="finite"):
        bayesian_sign([np.nan])
