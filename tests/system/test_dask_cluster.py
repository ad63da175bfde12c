"""A real cluster: what is killed or cut off costs no cell, doubles none and changes no byte."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from dask_processes import Cluster, Namespaces
from test_kill_and_resume import contents, count_cells

from experiment_files import write_lab
from paragone.lab.experiment import Experiment

pytestmark = pytest.mark.slow
N_WORKERS = 3
N_METHODS, FOLDS = 12, 5
N_CELLS = N_METHODS * FOLDS
NAP = "0.8"
PATIENCE = 300


def lab(folder: Path) -> Path:
    methods = {
        f"M{i:02d}": f'use = "lab_methods:Naps"\nparams = {{ shift = {i} }}'
        for i in range(N_METHODS - 2)
    }
    methods |= {"Random": 'use = "random"', "Global": 'use = "lab_methods:UsesGlobalRandomness"'}
    return write_lab(folder, methods, split=f"folds = {FOLDS}")


@pytest.fixture(scope="module")
def at_home(tmp_path_factory) -> list[tuple]:
    """What a run in one process gives."""
    folder = tmp_path_factory.mktemp("home")
    Experiment.from_toml(lab(folder)).run(folder / "a.sqlite", workers=0).close()
    return contents(folder / "a.sqlite")


def coordinate(file: Path, store: Path, address: str, **environment: str) -> subprocess.Popen[str]:
    command = ["run", str(file), "--store", str(store), "--engine", "dask", "--address", address]
    return subprocess.Popen(
        [sys.executable, "-m", "paragone", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **environment},
    )


def wait_for_cells(store: Path, count: int, run: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while count_cells(store) < count:
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline, (
            f"{count_cells(store)} of {count} cells after {PATIENCE} s"
        )
        time.sleep(0.1)


def ended(run: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = run.communicate(timeout=PATIENCE)
    return run.returncode, out + err


def assert_whole(store: Path, expected: list[tuple]) -> None:
    connection = sqlite3.connect(store)
    assert connection.execute("SELECT count(*), count(DISTINCT key) FROM cells").fetchone() == (
        N_CELLS,
        N_CELLS,
    )
    assert connection.execute("SELECT count(*) FROM cells WHERE status <> 'done'").fetchone() == (
        0,
    )
    assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    assert contents(store) == expected


def count_losses(store: Path) -> int:
    connection = sqlite3.connect(store)
    count = connection.execute("SELECT count(*) FROM losses").fetchone()[0]
    connection.close()
    return count


@pytest.fixture
def cluster(tmp_path) -> Iterator[Cluster]:
    made = Cluster(tmp_path, environment={"LAB_NAP": NAP})
    yield made
    made.end()


def test_worker_scheduler_and_coordinator_are_killed_and_every_cell_is_there_once(
    tmp_path, cluster, at_home
):
    file, store = lab(tmp_path), tmp_path / "a.sqlite"
    cluster.start_scheduler()
    for _ in range(N_WORKERS):
        cluster.start_worker()

    run = coordinate(file, store, cluster.address)
    wait_for_cells(store, 10, run)
    cluster.kill(cluster.workers[0])
    wait_for_cells(store, count_cells(store) + 5, run)
    losses = count_losses(store)
    assert losses >= 1

    cluster.kill(cluster.scheduler)
    code, said = ended(run)
    assert code == 2, said
    assert "is gone: every finished cell is kept" in said
    assert "lost the worker tcp://127.0.0.1" in said
    assert "Traceback" not in said
    kept = count_cells(store)
    assert 15 <= kept < N_CELLS

    for worker in cluster.workers:
        cluster.kill(worker)
    cluster.start_scheduler()
    for _ in range(N_WORKERS):
        cluster.start_worker()
    run = coordinate(file, store, cluster.address)
    wait_for_cells(store, kept + 5, run)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate(timeout=60)

    run = coordinate(file, store, cluster.address)
    code, said = ended(run)
    assert code == 0, said
    assert_whole(store, at_home)
    shown = subprocess.run(
        [sys.executable, "-m", "paragone", "status", str(store)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"lost: {count_losses(store)} workers died at" in shown


def test_a_cell_that_takes_its_workers_down_is_given_up_and_the_others_are_done(tmp_path, cluster):
    """The worker is killed from within the cell's own process: the whole machine, as it were."""
    file = write_lab(
        tmp_path,
        {"Good": 'use = "lab_methods:Still"', "Fatal": 'use = "lab_methods:TakesItsParentDown"'},
    )
    cluster.start_scheduler()
    for _ in range(2):
        cluster.start_worker()
    run = coordinate(file, tmp_path / "a.sqlite", cluster.address)
    deadline = time.monotonic() + PATIENCE
    while run.poll() is None and time.monotonic() < deadline:
        # A cluster manager starts workers anew.
        for place, worker in enumerate(cluster.workers):
            if worker.poll() is not None:
                del cluster.workers[place]
                cluster.start_worker()
                break
        time.sleep(0.2)
    code, said = ended(run)
    assert code == 1, said
    with Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=0) as results:
        places = results.places()
    assert places.groupby("method")["status"].agg(set).to_dict() == {
        "Good": {"done"},
        "Fatal": {"failed"},
    }
    whys = set(places[places["method"] == "Fatal"]["why"])
    assert whys == {
        "the worker process died 3 times at this cell, as when the system runs out of memory"
    }


def test_workers_that_come_and_go_are_followed(tmp_path, cluster, at_home):
    file, store = lab(tmp_path), tmp_path / "a.sqlite"
    cluster.start_scheduler()
    run = coordinate(file, store, cluster.address)
    time.sleep(3)
    assert run.poll() is None, "a run without workers waits for some"
    first = cluster.start_worker()
    wait_for_cells(store, 3, run)
    cluster.start_worker()
    cluster.start_worker()
    wait_for_cells(store, 15, run)
    os.kill(first.pid, signal.SIGTERM)
    code, said = ended(run)
    assert code == 0, said
    assert_whole(store, at_home)


@pytest.fixture
def namespaces() -> Iterator[Namespaces]:
    made = Namespaces()
    if shutil.which("ip") is None or shutil.which("unshare") is None:
        pytest.skip("network namespaces left out: ip or unshare is not installed")
    try:
        made.make(N_WORKERS)
    except subprocess.CalledProcessError as error:
        made.end()
        pytest.skip(
            "network namespaces left out: this machine does not allow them"
            f" ({error.stderr.decode().strip()})"
        )
    yield made
    made.end()


def hidden(folders: list[Path]) -> Callable[[str], list[str]]:
    """Return what to put before a command so that it runs in a namespace and finds these folders empty."""

    def before(namespace: str) -> list[str]:
        mounts = " && ".join(f"mount -t tmpfs tmpfs {folder}" for folder in folders)
        script = f'{mounts} && exec "$@"'
        return ["ip", "netns", "exec", namespace, "unshare", "--mount", "sh", "-c", script, "sh"]

    return before


def test_workers_in_namespaces_of_their_own_one_of_them_cut_off(tmp_path, namespaces, at_home):
    """No disk in common either: the workers find the run's temporary folder and the experiment's folder empty."""
    mine, spool = tmp_path / "mine", tmp_path / "spool"
    mine.mkdir()
    spool.mkdir()
    file, store = lab(mine), mine / "a.sqlite"
    # How soon a silent worker is given up is the scheduler's setting; half a minute by default.
    quick = {"LAB_NAP": NAP, "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s"}
    cluster = Cluster(tmp_path, host=namespaces.host, environment=quick)
    before = hidden([mine, spool])
    try:
        cluster.start_scheduler()
        for place, name in enumerate(namespaces.names):
            cluster.start_worker(*before(name), host=namespaces.address(place))
        run = coordinate(file, store, cluster.address, TMPDIR=str(spool))
        wait_for_cells(store, 12, run)
        namespaces.cut(1)
        code, said = ended(run)
    finally:
        cluster.end()
    assert code == 0, said
    assert f"lost the worker tcp://{namespaces.address(1)}" in said
    assert count_losses(store) >= 1
    assert_whole(store, at_home)
