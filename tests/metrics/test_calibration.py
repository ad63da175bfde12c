"""Calibration against scikit-learn's curve and SciPy's exact intervals, and the law that intervals hold together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve

from paragone.errors import InputError
from paragone.metrics.calibration import reliability


@pytest.mark.parametrize("n_bins", [4, 10])
def test_bins_are_those_of_scikit_learn(n_bins):
    rng = np.random.default_rng(n_bins)
    said = np.concatenate([rng.beta(0.7, 0.7, 400), [0.0, 1.0, 0.5, 0.1, 0.2, 0.3, 0.7, 0.9]])
    happened = rng.random(len(said)) < said
    bins = reliability(said, happened, n_bins=n_bins)
    wanted, mean = calibration_curve(happened, said, n_bins=n_bins, strategy="uniform")
    np.testing.assert_allclose([one.happened for one in bins], wanted, rtol=1e-12)
    np.testing.assert_allclose([one.said for one in bins], mean, rtol=1e-12)
    assert sum(one.n for one in bins) == len(said)


def test_limits_are_the_exact_ones_at_the_level_of_all_bins_together():
    rng = np.random.default_rng(0)
    said = rng.random(300)
    happened = (rng.random(300) < 0.5 * said) | (said > 0.95)
    bins = reliability(said, happened)
    for one in bins:
        exact = binomtest(round(one.happened * one.n), one.n).proportion_ci(
            1 - 0.05 / len(bins), method="exact"
        )
        assert (one.low, one.high) == pytest.approx((exact.low, exact.high), abs=1e-9)
        assert one.is_off == (not exact.low <= one.said <= exact.high)


def test_true_probabilities_are_hardly_ever_called_off():
    rng = np.random.default_rng(1)
    off = 0
    for _ in range(1000):
        said = rng.beta(1, 1.5, 120)
        off += any(one.is_off for one in reliability(said, rng.random(120) < said))
    assert off <= 60, "95 % of the time no interval of a calibrated method leaves the diagonal"


def test_probabilities_that_say_too_much_are_called_off():
    rng = np.random.default_rng(2)
    truth = rng.random(2000)
    bins = reliability(np.clip(1.6 * (truth - 0.5) + 0.5, 0, 1), rng.random(2000) < truth)
    assert bins[0].is_off
    assert bins[-1].is_off
    assert bins[0].happened > bins[0].said
    assert bins[-1].happened < bins[-1].said


def test_nothing_gives_no_bins_and_bad_input_one_sentence():
    assert reliability([], []) == ()
    with pytest.raises(InputError, match="between 0 and 1"):
        reliability([1.2], [True])
    with pytest.raises(InputError, match="do not go with"):
        reliability([0.2, 0.3], [True])
