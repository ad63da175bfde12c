"""The simulations behind docs/validation.md: levels, family-wise errors, coverage."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

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
@pytest.mark.parametrize(
    "group", ["single_tests", "fold_tests", "family_tests", "intervals", "filter_checks"]
)
def test_rates_are_what_they_claim(validation, group):
    assert [check for check in getattr(validation, group)() if not check.holds] == []


@pytest.mark.slow
def test_the_short_level_study_finds_no_word_and_no_interval_far_off(validation):
    """A minute or two of it: few runs per size, so that only what is far off can be seen."""
    assert [check for group in validation.STUDY for check in group(0.04) if check.far_off] == []


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
    assert [
        validation.Check("g", "n", 0.95, rate, 1000, "covers").holds for rate in (0.929, 0.93)
    ] == [False, True]
