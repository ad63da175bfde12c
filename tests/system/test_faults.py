"""Faults at random instants: no reported cell is lost, none doubled, no score wrong, and always a clear sentence.

The slow tests try every fault twenty times and leave what came of it in ``build/faults``, from
which ``scripts/reliability-table`` makes the table of ``docs/reliability.md``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from faults.disks import NEEDS_ROOT
from faults.process_faults import (
    ClockSetBack,
    kill_coordinator,
    kill_worker,
    stop_coordinator,
    stop_worker,
    two_coordinators,
)
from faults.store_faults import cut_power, damage, delete_store, fill_disk, read_only_disk
from faults.trial import Bench, Outcome, Trial

TRIALS = 20
FAULTS: dict[str, Callable[[Trial], Outcome]] = {
    "coordinator killed": kill_coordinator,
    "worker killed": kill_worker,
    "coordinator stopped for a while": stop_coordinator,
    "worker stopped for a while": stop_worker,
    "two coordinators": two_coordinators,
    "store deleted": delete_store,
    "file or log damaged": damage,
}
DISK_FAULTS: dict[str, Callable[[Trial], Outcome]] = {
    "disk full": fill_disk,
    "disk read-only": read_only_disk,
    "power cut": cut_power,
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Iterator[Bench]:
    bench = Bench(tmp_path_factory.mktemp("faults"))
    yield bench
    bench.close()


def try_often(name: str, fault: Callable[[Trial], Outcome], bench: Bench, folder: Path) -> None:
    outcomes = [fault(Trial(bench, name, number)) for number in range(TRIALS)]
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps([outcome.as_dict() for outcome in outcomes], indent=1)
    (folder / f"{name.replace(' ', '-')}.json").write_text(text + "\n")


@pytest.fixture
def outcomes(request) -> Path:
    return request.config.rootpath / "build" / "faults"


@pytest.mark.parametrize("name", ["coordinator killed", "store deleted", "file or log damaged"])
def test_a_fault_loses_doubles_and_falsifies_nothing(bench, name):
    FAULTS[name](Trial(bench, f"once: {name}", 0))


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_faults_at_many_instants_lose_double_and_falsify_nothing(bench, outcomes, name):
    try_often(name, FAULTS[name], bench, outcomes)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason=NEEDS_ROOT)
@pytest.mark.parametrize("name", DISK_FAULTS)
def test_faults_of_the_disk_lose_double_and_falsify_nothing(bench, outcomes, name):
    try_often(name, DISK_FAULTS[name], bench, outcomes)


@pytest.mark.slow
@pytest.mark.skipif(
    os.geteuid() != 0, reason="a run on another host needs root: run as root to have it tried"
)
def test_a_clock_that_is_set_back_changes_nothing(bench, outcomes):
    try_often("clock set back", ClockSetBack(bench.folder / "clock"), bench, outcomes)
