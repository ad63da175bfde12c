"""Readers may look while a run writes, and never hold it up."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from faults.lab import assert_sound, contents, count_cells
from faults.trial import N_CELLS, Bench
from paragone import Results


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("readers"))
    yield bench
    bench.close()


def test_what_readers_see_while_a_run_writes_is_right_and_grows(bench, tmp_path):
    store = tmp_path / "a.sqlite"
    run = bench.start(tmp_path, store)
    while count_cells(store) == 0:
        assert not run.ended, run.errors
        time.sleep(0.005)
    true = {(row[2], row[4], row[5]) for row in bench.reference["scores"]}
    seen = []
    while not run.ended:
        with Results.open(store) as results:
            scores = results.scores()
            assert set(zip(scores["metric"], scores["at"], scores["value"], strict=True)) <= true
            assert results.places()["status"].isin(["done", "running", "missing"]).all()
            seen.append(len(scores))
    assert run.wait() == 0, run.errors
    assert len(seen) > 3
    assert seen == sorted(seen)
    assert seen[0] < seen[-1]
    assert contents(store) == bench.reference


def test_a_reader_that_holds_on_to_its_view_does_not_hold_up_a_run(bench, tmp_path):
    store = tmp_path / "a.sqlite"
    run = bench.start(tmp_path, store)
    while count_cells(store) < 3:
        assert not run.ended, run.errors
        time.sleep(0.005)
    with Results.open(store) as results, results._store.one_moment():
        before = len(results.scores())
        assert run.wait() == 0, run.errors
        assert len(results.scores()) == before
    assert_sound(store, N_CELLS)


def test_status_that_is_stopped_in_the_middle_does_not_hold_up_a_run(bench, tmp_path):
    store = tmp_path / "a.sqlite"
    run = bench.start(tmp_path, store)
    while count_cells(store) < 3:
        assert not run.ended, run.errors
        time.sleep(0.005)
    looks = [bench.server.start(("status", store), tmp_path) for _ in range(3)]
    for delay, look in zip((0.02, 0.1, 0.3), looks, strict=True):
        time.sleep(delay)
        look.signal(signal.SIGSTOP)
    try:
        assert run.wait() == 0, run.errors
    finally:
        for look in looks:
            look.signal(signal.SIGCONT)
    for look in looks:
        assert look.wait() == 0, look.errors
    assert_sound(store, N_CELLS)


def test_status_writes_nothing(bench, tmp_path):
    store = tmp_path / "a.sqlite"
    assert bench.start(tmp_path, store, nap=0.0).wait() == 0
    before, when = store.read_bytes(), os.stat(store).st_mtime_ns
    assert bench.server.start(("status", store), tmp_path).wait() == 0
    assert store.read_bytes() == before
    assert os.stat(store).st_mtime_ns == when
    with sqlite3.connect(store) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (1,)
