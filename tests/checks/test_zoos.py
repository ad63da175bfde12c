"""The law of the audit: no error on clean data of any kind, and every plant found at its stated size."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from clean_zoo import CLEAN, clean_material
from planted_leaks import all_plants, findings_of

PLANTS = all_plants()


def test_the_clean_zoo_is_as_large_as_promised():
    assert len(CLEAN) >= 60
    assert sum(kind.discrete for kind in CLEAN.values()) >= 20


@pytest.mark.parametrize("name", list(CLEAN)[::7])
def test_a_seed_gives_the_same_clean_data_and_another_seed_gives_others(name):
    one, same, other = (clean_material(name, seed).dataset.fingerprint for seed in (0, 0, 1))
    assert one == same != other


@pytest.mark.parametrize(
    "name", [name for name, one in PLANTS.items() if not one.slow and one.kind != "missed"]
)
def test_a_plant_is_found_at_its_stated_size(name):
    assert PLANTS[name].found(seed=0)


@pytest.mark.parametrize("name", [name for name, one in PLANTS.items() if one.kind == "missed"])
def test_what_the_page_says_is_missed_is_missed(name):
    assert not PLANTS[name].found(seed=0)


def errors(name: str, seed: int) -> list[str]:
    return [
        finding.message
        for finding in findings_of(clean_material(name, seed))
        if finding.severity == "error"
    ]


@pytest.mark.parametrize("name", CLEAN)
def test_clean_data_give_no_error(name):
    assert errors(name, seed=0) == []
