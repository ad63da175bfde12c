"""The interval of a proof: Student's with one unseen sample, at a level for all claims and looks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import ttest_1samp

from paragone.errors import InputError
from paragone.generate.proof import Looks

V1_3 = np.array([0.45, 0.30, 0.01, 0.44, 0.03, 0.48, 0.30, 0.47, 0.11, 0.04])
"""The leads of XGBoost over gradient boosting on paragone-v1-3: a coin, not a margin."""


@given(st.lists(st.floats(-0.5, 0.5), min_size=12, max_size=12), st.integers(1, 50))
def test_the_limits_are_those_of_students_test_with_one_sample_more(values, n_claims):
    leads, looks = np.array(values), Looks((6, 12, 24), n_claims=n_claims)
    level = 0.05 / n_claims * (0.5**2 - 0.25**2) / 2

    def p_below(limit):
        return ttest_1samp([*(leads - limit), -0.5], 0, alternative="greater").pvalue - level

    found = looks.interval(leads)
    mean = float(leads.mean())
    assert (found.estimate - found.low) == pytest.approx(found.high - found.estimate) or abs(
        found.low
    ) == 1
    if p_below(-1.0) < 0:
        assert found.low == pytest.approx(brentq(p_below, -1.0, mean), abs=1e-6)
    else:
        assert found.low == -1.0


def test_without_the_unseen_sample_it_is_students_interval():
    leads = np.random.default_rng(0).normal(0.2, 0.05, size=10)
    found = Looks((10,), unseen=0.0).interval(leads)
    usual = ttest_1samp(leads, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((usual.low, usual.high))


def test_levels_of_all_looks_and_claims_add_up_to_alpha():
    looks = Looks((6, 12, 24), alpha=0.1, n_claims=7)
    assert sum(looks.levels) * 7 == pytest.approx(0.1)
    assert list(looks.levels) == sorted(looks.levels)


def test_hope_is_given_up_only_where_the_last_look_could_not_reach_the_margin():
    looks = Looks((6, 12, 24), n_claims=10)
    assert looks.is_hopeless(np.full(6, 0.1) + np.linspace(-0.01, 0.01, 6), 0.05)
    assert not looks.is_hopeless(np.full(6, 0.3) + np.linspace(-0.01, 0.01, 6), 0.05)
    steady = np.full(24, 0.3) + np.linspace(-0.01, 0.01, 24)
    foreseen = looks.foreseen(steady)
    assert foreseen == pytest.approx(looks.interval(steady).low, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"at": (6, 6)}, "rising numbers"),
        ({"at": ()}, "rising numbers"),
        ({"at": (1, 4)}, "at least 2"),
        ({"alpha": 0}, "alpha must lie"),
        ({"n_claims": 0}, "at least one claim"),
        ({"unseen": -1.0}, "must not be negative"),
    ],
)
def test_looks_that_mean_nothing_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        Looks(**options)


def test_a_number_of_samples_that_is_no_look_is_refused():
    with pytest.raises(InputError, match="5 samples are not a look: looks are at 6, 12"):
        Looks((6, 12)).interval(np.zeros(5))


# The level: leads whose mean is the margin, so that every claim is false.


def coin(chance, depth, spread=0.01):
    """Leads that are good with this chance and lower by the depth else."""

    def drawn(rng, shape):
        good = rng.random(shape) < chance
        return np.where(good, 1 - chance, -chance) * depth + spread * rng.normal(size=shape)

    return drawn


def shipped_coin(rng, shape):
    return rng.choice(V1_3, size=shape) - V1_3.mean() + 0.01 * rng.normal(size=shape)


def skewed(rng, shape):
    """Usually a little above the mean, rarely far below it: the worst side to be skewed to."""
    return -0.05 * (np.exp(rng.normal(size=shape)) - np.exp(0.5))


SHAPES = {
    "normal": lambda rng, shape: 0.05 * rng.normal(size=shape),
    "skewed": skewed,
    "as on paragone-v1-3": shipped_coin,
    "even coin": coin(0.5, 0.3),
    "coin of .7": coin(0.7, 0.3),
    "coin of .8": coin(0.8, 0.3),
    "coin of .9": coin(0.9, 0.3),
}


def false_claims(looks, drawn, n_runs, seed=0):
    """Return the share of runs in which a false claim is shown at some look."""
    leads = drawn(np.random.default_rng(seed), (n_runs, looks.at[-1]))
    shown = np.zeros(n_runs, dtype=bool)
    for n in looks.at:
        means = leads[:, :n].mean(axis=1)
        squares = ((leads[:, :n] - means[:, None]) ** 2).sum(axis=1)
        shown |= means - looks.half_width(n, squares) >= 0
    return float(shown.mean())


@pytest.mark.parametrize("shape", SHAPES)
def test_false_claims_are_rarer_than_the_level_whatever_the_leads(shape):
    looks = Looks((6, 12, 24), n_claims=10)
    n_runs = 20_000
    # The level is .005: 100 of these runs; three errors more are allowed.
    assert false_claims(looks, SHAPES[shape], n_runs) <= 0.005 + 3 * np.sqrt(0.005 / n_runs)


def test_students_interval_would_be_wrong_a_hundred_times_too_often():
    student = Looks((6, 12, 24), n_claims=10, unseen=0.0)
    assert false_claims(student, SHAPES["coin of .8"], 5000) > 20 * 0.005
    assert false_claims(student, shipped_coin, 5000) > 0.005


@pytest.mark.slow
@pytest.mark.parametrize("n_claims", [1, 20, 150])
@pytest.mark.parametrize("at", [(6, 12, 24), (12, 24, 48)])
def test_the_level_holds_for_families_of_all_sizes(at, n_claims):
    looks, n_runs = Looks(at, n_claims=n_claims), 400_000
    level = 0.05 / n_claims
    for name, drawn in SHAPES.items():
        share = false_claims(looks, drawn, n_runs)
        assert share <= level + 3 * np.sqrt(level / n_runs), (name, share / level)
    # The worst that AUROC allows: from .55 above to chance, seldom. No number of samples below a
    # hundred excludes it at the level of a large family; it stays within a few times the level,
    # where Student's is off by a thousand.
    for chance in (0.7, 0.8, 0.9, 0.95):
        share = false_claims(looks, coin(chance, 0.55), n_runs)
        assert share <= 5 * level, (chance, share / level)
