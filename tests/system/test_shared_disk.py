"""A store on a disk that hosts share: one writes, others look, and nothing rests on locks or shared memory."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from faults.lab import assert_sound, contents
from faults.shared_disks import CANNOT_MOUNT, LACKING, SILENCE, mounted_twice
from faults.trial import N_CELLS, Bench
from paragone import Results
from paragone.errors import InputError
from paragone.machine import file_system

pytestmark = pytest.mark.skipif(bool(LACKING), reason=CANNOT_MOUNT)
ELSEWHERE = {"LAB_SILENCE": SILENCE, "LAB_HOST": "elsewhere"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("shared"))
    yield bench
    bench.close()


@pytest.fixture
def hosts(tmp_path):
    with mounted_twice(tmp_path) as mounts:
        yield mounts


def await_cells(store: Path, count: int) -> None:
    """Wait until another host sees that so many cells have a result."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with Results.open(store) as results:
                if results.experiments() and (results.places()["status"] == "done").sum() >= count:
                    return
        except InputError as error:
            if "does not exist" not in str(error) and "is empty" not in str(error):
                raise
        time.sleep(0.02)
    pytest.fail("no cell is seen")


def test_another_host_sees_a_run_grow_and_leaves_nothing_beside_it(bench, hosts, tmp_path):
    one, other = hosts
    assert file_system(one).is_shared
    run = bench.start(tmp_path, one / "a.sqlite", nap=0.05)
    true = {(row[2], row[4], row[5]) for row in bench.reference["scores"]}
    seen = []
    await_cells(other / "a.sqlite", 1)
    while not run.ended:
        with Results.open(other / "a.sqlite") as results:
            scores = results.scores()
            assert set(zip(scores["metric"], scores["at"], scores["value"], strict=True)) <= true
            seen.append(len(scores))
    assert run.wait() == 0, run.errors
    assert seen == sorted(seen)
    assert seen[0] < seen[-1]
    assert {path.name for path in other.iterdir()} == {"a.sqlite"}
    assert_sound(tmp_path / "server" / "a.sqlite", N_CELLS)
    assert contents(tmp_path / "server" / "a.sqlite") == bench.reference


def test_a_second_run_on_another_host_is_refused_in_a_sentence_and_the_first_goes_on(
    bench, hosts, tmp_path
):
    one, other = hosts
    first = bench.start(tmp_path, one / "a.sqlite", nap=0.1, LAB_SILENCE=SILENCE)
    await_cells(other / "a.sqlite", 1)
    second = bench.start(tmp_path, other / "a.sqlite", **ELSEWHERE)
    assert second.wait() == 2
    assert "is at work in store" in second.errors
    assert (
        f"on a file system that hosts share (fuse at {other}) one run at a time writes"
        in second.errors
    )
    assert first.wait() == 0, first.errors
    assert contents(tmp_path / "server" / "a.sqlite") == bench.reference
