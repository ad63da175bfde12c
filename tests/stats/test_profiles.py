"""Profiles of many runs: naive loops, SciPy's trimmed mean, coverage of the intervals, Bouthillier's test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from paragone.errors import InputError
from paragone.stats.profiles import (
    interquartile_mean,
    optimality_gap,
    performance_profile,
    probability_of_improvement,
    run_profiles,
)


def some_runs(seed=0, sizes=(5, 7, 3), n_methods=3):
    rng = np.random.default_rng(seed)
    return [rng.normal(0.7, 0.1, (n, n_methods)).round(2) for n in sizes]


def test_the_interquartile_mean_is_that_of_scipy():
    for seed, sizes in enumerate(((5, 7, 3), (4,), (10, 10), (2, 1))):
        runs = some_runs(seed, sizes)
        assert interquartile_mean(runs) == pytest.approx(
            stats.trim_mean(np.concatenate(runs), 0.25, axis=0)
        )


def test_gap_profile_and_improvement_are_those_of_naive_loops():
    runs = some_runs(1)
    gap = [
        np.mean([np.mean([max(0.75 - x, 0) for x in part[:, m]]) for part in runs])
        for m in range(3)
    ]
    assert optimality_gap(runs, 0.75) == pytest.approx(gap)
    thresholds = np.array([0.5, 0.7, 0.71, 0.9])
    shares = [
        [np.mean([sum(x > t for x in part[:, m]) / len(part) for part in runs]) for m in range(3)]
        for t in thresholds
    ]
    assert performance_profile(runs, thresholds) == pytest.approx(np.array(shares))
    naive = np.mean(
        [np.mean([[(a > b) + (a == b) / 2 for a in p[:, 0]] for b in p[:, 1]]) for p in runs]
    )
    assert probability_of_improvement(runs, 0, 1) == pytest.approx(naive)
    u = [stats.mannwhitneyu(p[:, 0], p[:, 1]).statistic / len(p) ** 2 for p in runs]
    assert probability_of_improvement(runs, 0, 1) == pytest.approx(np.mean(u))


def test_direction_changes_signs_only():
    runs = some_runs(2, (8, 9, 10))
    higher = run_profiles(runs, "ABC", reference="A", target=0.8)
    lower = run_profiles(
        [-part for part in runs], "ABC", higher_is_better=False, reference="A", target=-0.8
    )
    for one, other in zip(higher.methods, lower.methods, strict=True):
        assert other.interquartile_mean.estimate == pytest.approx(-one.interquartile_mean.estimate)
        assert other.interquartile_mean.low == pytest.approx(-one.interquartile_mean.high)
        assert other.optimality_gap == one.optimality_gap
    assert [one.chance for one in higher.improvements] == [one.chance for one in lower.improvements]


def coverage(n_runs, sizes, draw, truth, seed):
    """Return how often the interval of the interquartile mean holds what endless runs would have."""
    rng = np.random.default_rng(seed)
    inside = 0
    for run in range(n_runs):
        found = run_profiles([draw(rng, (n, 2)) for n in sizes], "AB", n_resamples=300, seed=run)
        one = found.methods[0].interquartile_mean
        inside += one.low <= truth <= one.high
    return inside / n_runs


@pytest.mark.parametrize("sizes", [(5, 5, 5, 5), (16,), (10,) * 10])
@pytest.mark.parametrize("heavy", [False, True])
def test_the_interval_of_the_interquartile_mean_covers(sizes, heavy):
    def draw(rng, size):
        return rng.standard_t(3, size) if heavy else rng.normal(size=size)

    n_runs = 200
    assert coverage(n_runs, sizes, draw, 0.0, 4) >= 0.93 - 2 * np.sqrt(0.05 * 0.95 / n_runs)


@pytest.mark.parametrize(
    ("runs", "independent"),
    [(some_runs(3, (3, 3, 3)), True), (some_runs(3, (20, 20)), False)],
    ids=["few", "folds"],
)
def test_few_runs_and_folds_have_no_interval(runs, independent):
    found = run_profiles(runs, "ABC", independent=independent)
    assert all(np.isnan(one.interquartile_mean.low) for one in found.methods)
    assert {one.finding for one in found.improvements} == {"not tested"}


def test_equal_methods_are_found_significant_at_most_at_the_level():
    rng = np.random.default_rng(5)
    n_runs, wrong = 400, 0
    for _ in range(n_runs):
        found = run_profiles(
            [rng.normal(size=(10, 3)) for _ in range(3)], "ABC", reference="A", n_resamples=100
        )
        wrong += any(one.finding != "not significant" for one in found.improvements)
    assert wrong / n_runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_runs)


def test_bouthilliers_three_answers():
    rng = np.random.default_rng(6)
    runs = [rng.normal([1.0, 0.0, 0.55, 1.0], [1, 1, 1, 1], (200, 4)) for _ in range(5)]
    found = {one.rival: one for one in run_profiles(runs, "ABCD", reference="A").improvements}
    assert found["B"].finding == "significant and meaningful"
    assert found["C"].finding == "significant, not meaningful"
    assert found["D"].finding == "not significant"
    # Two normal scores one apart: the first wins with the chance of sqrt(1/2) standard deviations.
    assert found["B"].paired.low < stats.norm.cdf(np.sqrt(0.5)) < found["B"].paired.high
    assert found["B"].chance.low < stats.norm.cdf(np.sqrt(0.5)) < found["B"].chance.high


@pytest.mark.parametrize(
    ("runs", "methods", "more"),
    [
        ([], "AB", {}),
        ([np.ones((3, 3))], "AB", {}),
        ([np.array([[1.0, np.nan]])], "AB", {}),
        ([np.ones((3, 2))], "AB", {"reference": "C"}),
    ],
)
def test_what_is_no_table_of_runs_is_refused(runs, methods, more):
    with pytest.raises(InputError):
        run_profiles(runs, methods, **more)
