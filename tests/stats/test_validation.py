"""The simulations behind docs/validation.md: levels, family-wise errors, coverage."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "validate_statistics.py"


@pytest.fixture(scope="module")
def validation():
    for name in ("study_learners", "level_study", "validate_statistics"):
        specification = importlib.util.spec_from_file_location(name, SCRIPT.with_stem(name))
        module = importlib.util.module_from_spec(specification)
        sys.modules[name] = module
        specification.loader.exec_module(module)
    yield module
    for name in ("study_learners", "level_study", "validate_statistics"):
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


BARE = """
import json, sys
class Away:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "numba", "pydantic", "altair", "typer"):
            raise ModuleNotFoundError(name)
if sys.argv[1] == "bare":
    sys.meta_path.insert(0, Away())
    import importlib.util
    found = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *more: None if name == "pandas" else found(name, *more)
sys.path.insert(0, sys.argv[2])
import rows_study
kept = rows_study.drawn_by_job(0, 5.0, 1, "60 rows")
print(json.dumps({name: rows.tolist() for name, rows in kept.items()}))
"""


def test_the_study_of_rows_draws_the_same_without_the_packages_that_tables_need():
    told = [
        subprocess.run(
            [sys.executable, "-c", BARE, kind, str(SCRIPT.parent)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for kind in ("bare", "whole")
    ]
    assert told[0] == told[1]
    kept = json.loads(told[0])
    assert "ridge, 60 rows, 5 folds|rmse" in kept
    assert all(len(rows) == 1 for rows in kept.values())
