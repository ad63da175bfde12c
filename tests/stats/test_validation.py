"""The simulations behind docs/validation.md: levels, family-wise errors, coverage."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from paragone.intervals import paired_bootstrap

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "validate_statistics.py"


@pytest.fixture(scope="module")
def validation():
    for name in ("level_study", "validate_statistics"):
        specification = importlib.util.spec_from_file_location(name, SCRIPT.with_stem(name))
        module = importlib.util.module_from_spec(specification)
        sys.modules[name] = module
        specification.loader.exec_module(module)
    yield module
    for name in ("level_study", "validate_statistics"):
        del sys.modules[name]


@pytest.mark.slow
@pytest.mark.parametrize("group", ["single_tests", "fold_tests", "family_tests", "intervals", "filter_checks"])
def test_rates_are_what_they_claim_but_for_the_documented_limits(validation, group):
    failing = [check for check in getattr(validation, group)() if not check.holds]
    unexpected = [check for check in failing if not validation.is_known_limit(check)]
    assert unexpected == []
    expected_limits = len(validation.KNOWN_LIMITS) if group == "fold_tests" else 0
    assert len(failing) == expected_limits


@pytest.mark.slow
def test_the_short_level_study_finds_no_word_and_no_interval_far_off(validation):
    """A minute or two of it: few runs per size, so that only what is far off can be seen."""
    far = [check for group in validation.STUDY for check in group(0.04) if check.far_off]
    assert [check for check in far if not validation.is_known_limit(check)] == []


@pytest.mark.slow
def test_bca_covers_as_often_as_that_of_scipy_on_the_same_data():
    data = np.random.default_rng(7).normal(size=(1_500, 30))
    ours, theirs = [], []
    for run, values in enumerate(data):
        low, high = paired_bootstrap(values, kind="bca", n_resamples=2_000, seed=run)
        ours.append(low <= 0 <= high)
        other = stats.bootstrap(
            (values,), np.mean, n_resamples=2_000, method="BCa", rng=np.random.default_rng(50_000 + run)
        ).confidence_interval
        theirs.append(other.low <= 0 <= other.high)
    only_ours, only_theirs = np.sum(np.array(ours) > theirs), np.sum(np.array(ours) < theirs)
    assert abs(only_ours - only_theirs) <= 3 * np.sqrt(only_ours + only_theirs)


@pytest.mark.slow
def test_filter_widens_the_gap(validation):
    assert validation.widening() > 0


def test_a_check_is_judged_by_its_standard_error(validation):
    check = validation.Check("g", "n", 0.05, 0.06, 10_000, "equal")
    assert check.standard_error == pytest.approx(0.00218, abs=1e-5)
    assert not check.holds
    assert validation.Check("g", "n", 0.05, 0.055, 10_000, "at most").holds
    assert validation.Check("g", "n", 0.05, 0.06, 10_000, "above").holds
    assert not validation.Check("g", "n", 0.05, 0.055, 10_000, "level").holds
    assert [validation.Check("g", "n", 0.95, rate, 1000, "covers").holds for rate in (0.929, 0.93)] == [False, True]
