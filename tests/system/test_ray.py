"""The executor that the documentation makes of Ray's tasks keeps the contract, and a worker that dies costs no cell."""

from __future__ import annotations

import importlib.util
import os
import secrets
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from faults.lab import Contents, assert_sound, contents, count_cells, lab_of
from paragone.lab.experiment import Experiment
from paragone.testing import check_executor
from paragone.testing.executors import EXECUTOR_CONTRACT

# Looked for and not imported: collecting the tests would take a second longer.
NO_RAY = importlib.util.find_spec("ray") is None
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        NO_RAY, reason="Ray is not installed, and no extra of Paragone's brings it: pip install ray"
    ),
]
PAGE = Path(__file__).parents[2] / "docs" / "howto-cluster.md"
N_METHODS, FOLDS = 6, 3
N_CELLS = N_METHODS * FOLDS
PATIENCE = 120


def block_with(words: str) -> str:
    """Return the one block of the page that has these words."""
    (found,) = [
        part for part in PAGE.read_text(encoding="utf-8").split("```python\n")[1:] if words in part
    ]
    return found.partition("```")[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("ray")


@pytest.fixture(scope="module")
def executor(folder) -> Iterator[Executor]:
    import ray

    (folder / "ray_executor.py").write_text(block_with("class RayExecutor"))
    kept = dict(os.environ)
    # The workers find the module as those of a user do, beside the experiment; the key stays out of
    # the home folder.
    os.environ |= {
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
    }
    os.environ |= {
        "LAB_NAP": "0.5",
        "LAB_FITS": str(folder / "fits"),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    sys.path.insert(0, str(folder))
    ray.init(
        num_cpus=2, include_dashboard=False, object_store_memory=100_000_000, log_to_driver=False
    )
    try:
        yield importlib.import_module("ray_executor").RayExecutor()
    finally:
        ray.shutdown()
        sys.path.remove(str(folder))
        os.environ.clear()
        os.environ.update(kept)


@pytest.fixture(scope="module")
def at_home(tmp_path_factory) -> Contents:
    """What a run in this process gives."""
    home = tmp_path_factory.mktemp("home")
    lab_of(home, N_METHODS, FOLDS)
    Experiment.from_toml(home / "lab.toml").run(home / "a.sqlite", workers=0).close()
    return contents(home / "a.sqlite")


def test_the_executor_of_the_page_keeps_the_contract(executor):
    assert len(check_executor(executor)) == len(EXECUTOR_CONTRACT.laws)


def test_a_worker_that_is_killed_costs_its_cell_a_second_start(executor, at_home, tmp_path):
    lab_of(tmp_path, N_METHODS, FOLDS)
    store = tmp_path / "a.sqlite"
    errors: list[BaseException] = []

    def run() -> None:
        try:
            Experiment.from_toml(tmp_path / "lab.toml").run(store, 2, executor).close()
        except BaseException as error:  # noqa: BLE001  shown by the test, whose thread this is not
            errors.append(error)

    running = threading.Thread(target=run)
    running.start()
    deadline = time.monotonic() + PATIENCE
    while count_cells(store) < 2:
        assert running.is_alive(), errors
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.kill(worker_at_work(), signal.SIGKILL)
    running.join(PATIENCE)
    assert not running.is_alive()
    assert errors == []
    assert_sound(store, N_CELLS)
    assert contents(store) == at_home
    with closing(sqlite3.connect(store)) as database:
        assert database.execute("SELECT count(*) FROM losses").fetchone()[0] == 1


def worker_at_work() -> int:
    """Return a process of Ray's that has a task of the executor: Ray calls such a process by its task."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for place in Path("/proc").glob("[0-9]*"):
            try:
                mine = (place / "cmdline").read_bytes().startswith(b"ray::call") and is_below(
                    int(place.name)
                )
            except OSError:
                continue
            if mine:
                return int(place.name)
        time.sleep(0.05)
    raise AssertionError("no worker of Ray's is at a cell")


def is_below(process: int) -> bool:
    """Whether a process was started by this one, its children included: nobody else's Ray is touched."""
    while process > 1:
        if process == os.getpid():
            return True
        status = Path(f"/proc/{process}/stat").read_text()
        process = int(status.rpartition(")")[2].split()[1])
    return False


def test_the_run_of_the_page_uses_the_cores_of_the_cluster(
    executor, at_home, tmp_path, monkeypatch
):
    lab_of(tmp_path, N_METHODS, FOLDS)
    (tmp_path / "lab.toml").rename(tmp_path / "experiment.toml")
    monkeypatch.chdir(tmp_path)
    code = block_with('ray.init(address="auto")').replace('ray.init(address="auto")', "pass")
    exec(compile(code, str(PAGE), "exec"), {})  # noqa: S102  the code of our own page
    assert contents(tmp_path / "experiment.sqlite") == at_home
