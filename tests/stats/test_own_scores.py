"""Intervals of single scores: inside what is possible, exact at its ends, and as wide as the rule says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from paragone.metrics import find_metric, metric_slopes, metric_values
from paragone.stats.designs import Design
from paragone.stats.own_scores import own_scores
from paragone.stats.rows import RowLayout, RowMoments, row_moments

FIVE = Design(5, 1, 0.25)
RANGES = [(0.0, 1.0), (-1.0, 1.0), (0.0, np.inf), (-np.inf, 1.0), (-np.inf, np.inf)]


def moments_of(variance, n=100, unseen=0.0, design=FIVE):
    gram = np.diag([variance * (n - design.folds) / n, 0.0])[None]
    return RowMoments(gram, np.array([n]), design.folds, design.repeats, unseen, np.zeros(1))


@given(
    st.sampled_from(RANGES),
    st.lists(st.floats(0.001, 0.999), min_size=5, max_size=5),
    st.floats(1e-8, 10.0),
    st.booleans(),
)
def test_no_interval_leaves_what_is_possible(limits, shares, variance, by_rows):
    # Folds that agree to the last digit have no spread to go by.
    assume(by_rows or np.ptp(shares) > 0)
    low, high = limits
    folds = np.array(shares)[:, None]
    if np.isfinite(low):
        folds = low + folds * (2 if high == 1 and low == -1 else 1)
    moments = moments_of(variance) if by_rows else None
    (found,) = own_scores([folds], [FIVE], [moments], limits)
    assert low <= found.low <= found.estimate + 1e-12
    assert found.estimate - 1e-12 <= found.high <= high


def test_the_width_is_that_of_rows_and_folds_on_the_bent_scale():
    folds = np.array([0.80, 0.84, 0.78, 0.82, 0.79])[:, None]
    variance, seen = 4e-4, float(folds.var(ddof=1) / 5)
    (found,) = own_scores([folds], [FIVE], [moments_of(variance)], (0.0, 1.0))
    total = seen + 1.25 * variance
    freedom = total**2 / (seen**2 / 4 + (1.25 * variance) ** 2 / 95)
    half = max(
        stats.t.ppf(0.975, 95) * (2.25 * variance) ** 0.5,
        stats.t.ppf(0.975, freedom) * total**0.5,
    )
    mean = 0.806
    for sign, end in ((-1, found.low), (1, found.high)):
        logit = np.log(mean / (1 - mean)) + sign * half / (mean * (1 - mean))
        assert end == pytest.approx(1 / (1 + np.exp(-logit)), rel=1e-9)
    (error,) = own_scores([folds], [FIVE], [moments_of(variance)], (0.0, np.inf))
    assert error.low == pytest.approx(mean * np.exp(-half / mean), rel=1e-9)
    (fit,) = own_scores([folds], [FIVE], [moments_of(variance)], (-np.inf, 1.0))
    assert 1 - fit.low == pytest.approx((1 - mean) * np.exp(half / (1 - mean)), rel=1e-9)
    (plain,) = own_scores([folds], [FIVE], [moments_of(variance)], (-np.inf, np.inf))
    assert plain.high - plain.low == pytest.approx(2 * half, rel=1e-9)


def test_all_rows_right_have_an_exact_interval():
    part = Design(1, 1, 0.25)
    one = replace(moments_of(0.0, 150, 2 / 150**2, part), folds=1)
    (found,) = own_scores([np.ones((1, 1))], [part], [one], (0.0, 1.0), is_share=True)
    exact = stats.binomtest(150, 150).proportion_ci(0.95, "exact")
    assert found.low == pytest.approx(exact.low, rel=1e-9)
    assert found.high == 1.0
    (wrong,) = own_scores([np.zeros((1, 1))], [part], [one], (0.0, 1.0), is_share=True)
    assert wrong.high == pytest.approx(1 - exact.low, rel=1e-9)
    # Of a cross-validation, every row counts less.
    (crossed,) = own_scores(
        [np.ones((5, 1))], [FIVE], [moments_of(0.0, 150, 150**-2)], (0.0, 1.0), is_share=True
    )
    assert crossed.low == pytest.approx(0.025 ** (2.25 / 150), rel=1e-9)


def test_what_has_no_spread_has_no_limits():
    one = np.array([[0.5, np.nan]])
    found = own_scores([one], [Design(1, 1, 0.25)], [None], (0.0, 1.0))
    assert found[0].estimate == 0.5
    assert np.isnan([found[0].low, found[0].high, found[1].estimate]).all()


@pytest.mark.parametrize("name", ["accuracy", "roc_auc", "f1_macro", "log_loss"])
def test_one_held_out_part_covers_the_score_on_new_rows(name):
    """A fixed model on fresh rows: 95 % intervals hold its score on very many."""
    rng = np.random.default_rng(31)
    part, metric = Design(1, 1, 0.25), find_metric(name, "classification")

    def drawn(n):
        y = np.arange(n) % 2
        p = 1 / (1 + np.exp(-(2.2 * (y - 0.5) + rng.normal(size=n))))
        given = {"probabilities": np.stack([1 - p, p], axis=1), "classes": np.array([0, 1])}
        return y, (p > 0.5).astype(int), given

    y, predicted, given = drawn(200_000)
    truth = metric_values([metric], "classification", y, predicted, **given)[metric.name]
    missed, runs = 0, 400
    for _ in range(runs):
        y, predicted, given = drawn(120)
        layout = RowLayout((np.arange(120),), part, classes=y)
        slopes = metric_slopes(metric, "classification", y, predicted, **given)[:, None]
        moments = row_moments(layout, [slopes], metric.rows)
        value = metric_values([metric], "classification", y, predicted, **given)[metric.name]
        limits = metric.lowest, metric.highest
        (found,) = own_scores([np.array([[value]])], [part], [moments], limits)
        missed += not found.low <= truth <= found.high
    assert missed / runs <= 0.05 + 2.5 * (0.05 * 0.95 / runs) ** 0.5
