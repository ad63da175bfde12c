"""Killing, interrupting and doubling runs: no cell is lost, doubled or wrong."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_files import write_lab
from faults.lab import Contents, assert_sound, contents, count_cells, lab_of

N_METHODS = 10
FOLDS = 10
N_CELLS = N_METHODS * FOLDS


def small_lab(folder: Path) -> Path:
    return lab_of(folder, N_METHODS, FOLDS)


def start(file: Path, store: Path, workers: int = 2, nap: float = 0.0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "paragone",
            "run",
            str(file),
            "--store",
            str(store),
            "--workers",
            str(workers),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Where the tests run in the background of a shell, Ctrl-C is ignored, and that is handed
        # down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env={**os.environ, "LAB_NAP": str(nap)},
    )


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> Contents:
    folder = tmp_path_factory.mktemp("uninterrupted")
    run = start(small_lab(folder), folder / "a.sqlite")
    assert run.wait(timeout=240) == 0, run.stderr.read()
    assert_sound(folder / "a.sqlite", N_CELLS)
    return contents(folder / "a.sqlite")


# Two kills are one of each kind: the coordinator alone, and the whole group.
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_instants_and_resumed_every_cell_is_there_once(
    tmp_path, uninterrupted, kills
):
    file, store = small_lab(tmp_path), tmp_path / "a.sqlite"
    instants = random.Random(kills)
    for kill in range(kills):
        before = count_cells(store)
        run = start(file, store, nap=0.04)
        while count_cells(store) == before and before < N_CELLS and run.poll() is None:
            time.sleep(0.005)
        time.sleep(instants.uniform(0.0, 0.25))
        if kill % 2:
            os.killpg(run.pid, signal.SIGKILL)
        elif run.poll() is None:
            os.kill(run.pid, signal.SIGKILL)
        run.communicate(timeout=60)
    assert 0 < count_cells(store) <= N_CELLS
    run = start(file, store)
    assert run.wait(timeout=240) == 0, run.stderr.read()
    assert_sound(store, N_CELLS)
    assert contents(store) == uninterrupted


def test_two_runs_on_one_store_at_once_both_end_well(tmp_path, uninterrupted):
    file, store = small_lab(tmp_path), tmp_path / "a.sqlite"
    runs = [start(file, store, workers=1, nap=0.02) for _ in range(2)]
    for run in runs:
        out, err = run.communicate(timeout=240)
        assert run.returncode == 0, err
        assert "locked" not in err
        assert f"{N_CELLS} done" in out
    assert_sound(store, N_CELLS)
    assert contents(store) == uninterrupted
    connection = sqlite3.connect(store)
    assert connection.execute("SELECT count(*) FROM runs").fetchone() == (2,)
    connection.close()


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path):
    file, store = small_lab(tmp_path), tmp_path / "a.sqlite"
    run = start(file, store, nap=0.05)
    while count_cells(store) < 3:
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "run the same command again to go on" in err
    assert "Traceback" not in err
    kept = count_cells(store)
    assert 3 <= kept < N_CELLS
    connection = sqlite3.connect(store)
    assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    connection.close()


def test_workers_end_when_their_coordinator_is_killed(tmp_path):
    methods = {"Hangs": 'use = "lab_methods:Hangs"'}
    run = start(write_lab(tmp_path, methods), tmp_path / "a.sqlite")
    children: list[str] = []
    deadline = time.monotonic() + 60
    while not children and time.monotonic() < deadline:
        time.sleep(0.2)
        found = subprocess.run(
            ["pgrep", "-s", str(run.pid)], capture_output=True, text=True, check=False
        )
        children = [pid for pid in found.stdout.split() if pid != str(run.pid)]
    assert children
    time.sleep(3)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate(timeout=60)
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        alive = subprocess.run(
            ["pgrep", "-s", str(run.pid)], capture_output=True, text=True, check=False
        )
        if not alive.stdout.split():
            return
        time.sleep(0.2)
    pytest.fail(f"workers outlive their coordinator: {alive.stdout.split()}")
