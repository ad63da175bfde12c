"""A real Slurm: whatever is cancelled, requeued, killed or out of time, the bytes are those of a local run."""

from __future__ import annotations

import os
import re
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
from slurm_cluster import SlurmCluster

from experiment_files import write_lab
from faults.lab import Contents, assert_sound, contents, count_cells, lab_of

pytestmark = pytest.mark.slow
N_METHODS, FOLDS = 6, 4
N_CELLS = N_METHODS * FOLDS
PATIENCE = 600


@pytest.fixture(scope="module")
def slurm(tmp_path_factory) -> Iterator[SlurmCluster]:
    # Where Slurm is missing this is an error, not a test that is left out: `make test-slow` installs it.
    cluster = SlurmCluster(tmp_path_factory.mktemp("slurm"))
    cluster.start()
    yield cluster
    cluster.end()


@pytest.fixture(autouse=True)
def no_jobs_are_left(slurm) -> Iterator[None]:
    yield
    deadline = time.monotonic() + 60
    while slurm.tell("squeue", "--noheader"):
        assert time.monotonic() < deadline, slurm.tell("squeue")
        time.sleep(0.5)


@pytest.fixture(scope="module")
def at_home(tmp_path_factory) -> Contents:
    """What a run on processes of this machine gives."""
    folder = tmp_path_factory.mktemp("home")
    lab_of(folder, N_METHODS, FOLDS)
    run = subprocess.run(
        [sys.executable, "-m", "paragone", "run", "lab.toml", "--store", "a.sqlite", "--workers", "2"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return contents(folder / "a.sqlite")


class Coordinator:
    """`paragone run --engine slurm` in a folder with the small laboratory."""

    def __init__(self, slurm: SlurmCluster, folder: Path, *options: str, nap: float = 0.0, workers: int = 2) -> None:
        if not (folder / "lab.toml").exists():
            lab_of(folder, N_METHODS, FOLDS)
        self.folder, self.slurm = folder, slurm
        self.store, self.queue = folder / "a.sqlite", folder / "a.sqlite-slurm"
        command = ["run", "lab.toml", "--store", "a.sqlite", "--engine", "slurm", "--workers", str(workers), *options]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "paragone", *command],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**slurm.environment, "LAB_NAP": str(nap), "LAB_FITS": str(folder / "fits")},
        )

    def wait_for(self, happened: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not happened():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline, self.slurm.tell("squeue", "--states=all")
            time.sleep(0.1)

    def wait_for_cells(self, count: int) -> None:
        self.wait_for(lambda: count_cells(self.store) >= count)

    def ended(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=PATIENCE)
        assert "Traceback" not in err, err
        return self.process.returncode, out + err

    def jobs(self, state: str = "RUNNING") -> list[str]:
        """Return the jobs in a state, as Slurm names them."""
        return self.slurm.tell("squeue", "--noheader", "--array", f"--states={state}", "--format=%F_%K").split()

    def processes(self) -> list[int]:
        """Return the workers' processes, which their names end with."""
        return [int(path.name.rpartition("-")[2]) for path in (self.queue / "workers").glob("*")]

    def losses(self) -> int:
        connection = sqlite3.connect(self.store)
        count = connection.execute("SELECT count(*) FROM losses").fetchone()[0]
        connection.close()
        return int(count)

    def fits(self) -> int:
        return len((self.folder / "fits").read_text().splitlines())


def assert_as_at_home(run: Coordinator, at_home: Contents) -> str:
    code, said = run.ended()
    assert code == 0, said
    assert_sound(run.store, N_CELLS)
    assert contents(run.store) == at_home
    return said


def test_jobs_give_the_bytes_of_a_local_run_and_leave_by_themselves(slurm, tmp_path, at_home):
    run = Coordinator(slurm, tmp_path)
    said = assert_as_at_home(run, at_home)
    job = re.search(r"submitted 2 jobs to Slurm: (\d+)_\[0-1\]", said)
    assert job is not None, said
    assert not run.queue.exists()
    ended = slurm.tell("squeue", "--noheader", "--array", "--states=all", f"--jobs={job[1]}", "--format=%T")
    assert ended.split() == ["COMPLETED", "COMPLETED"]
    assert run.losses() == 0


def test_a_job_that_is_cancelled_gives_its_cell_back_and_the_other_goes_on(slurm, tmp_path, at_home):
    run = Coordinator(slurm, tmp_path, nap=1)
    run.wait_for(lambda: len(run.processes()) == 2)
    run.wait_for_cells(4)
    cancelled = run.jobs()[0]
    slurm.tell("scancel", cancelled)
    said = assert_as_at_home(run, at_home)
    assert f"cancelled: {cancelled}; 1 jobs go on" in said, said
    assert "submitted 1 job" not in said
    assert run.losses() == 0


def test_where_all_jobs_are_cancelled_the_run_ends_with_a_sentence_and_goes_on_later(slurm, tmp_path, at_home):
    run = Coordinator(slurm, tmp_path, nap=1)
    run.wait_for_cells(4)
    slurm.tell("scancel", run.jobs()[0].partition("_")[0])
    code, said = run.ended()
    assert code == 2, said
    assert "the jobs in Slurm were cancelled" in said
    assert 4 <= count_cells(run.store) < N_CELLS
    assert_as_at_home(Coordinator(slurm, tmp_path), at_home)


def test_a_job_that_is_requeued_gives_its_cell_back_and_nothing_is_lost(slurm, tmp_path, at_home):
    run = Coordinator(slurm, tmp_path, nap=1)
    run.wait_for(lambda: len(run.processes()) == 2)
    run.wait_for_cells(4)
    requeued = run.jobs()[0]
    slurm.tell("scontrol", "requeue", requeued)
    run.wait_for(lambda: requeued in run.jobs("PENDING"))
    assert_as_at_home(run, at_home)
    assert run.losses() == 0


def test_a_time_limit_ends_a_worker_cleanly_and_another_job_goes_on(slurm, tmp_path, at_home):
    """The limit is Slurm's shortest, a minute; the warning comes 20 s before it."""
    run = Coordinator(slurm, tmp_path, "--slurm", "--time=1 --signal=B:USR1@20", nap=6)
    said = assert_as_at_home(run, at_home)
    assert said.count("to Slurm:") >= 2, said
    assert run.losses() == 0
    assert run.fits() == (N_METHODS * FOLDS)


def test_a_worker_that_is_killed_costs_its_cell_a_second_start(slurm, tmp_path, at_home):
    run = Coordinator(slurm, tmp_path, nap=1)
    run.wait_for(lambda: len(run.processes()) == 2)
    run.wait_for_cells(4)
    os.kill(run.processes()[0], signal.SIGKILL)
    said = assert_as_at_home(run, at_home)
    assert run.losses() == 1
    assert "ended as FAILED; its log is" in said
    assert "(loss 1 of it): it begins again" in said
    assert [path.name for path in run.queue.iterdir()] == ["logs"]


def test_a_coordinator_that_is_killed_is_followed_by_one_that_takes_what_the_jobs_did(slurm, tmp_path, at_home):
    run = Coordinator(slurm, tmp_path, nap=1)
    run.wait_for_cells(4)
    run.process.kill()
    run.process.communicate()
    kept = count_cells(run.store)
    time.sleep(5)
    again = Coordinator(slurm, tmp_path, nap=1)
    said = assert_as_at_home(again, at_home)
    assert "outcomes of jobs that went on without a coordinator are taken over" in said
    assert "to Slurm:" not in said, "the jobs of the first go on"
    # Every cell was fitted once: what the jobs did meanwhile counted.
    assert kept < N_CELLS
    assert run.fits() == N_CELLS


def test_more_jobs_than_cells_are_not_submitted(slurm, tmp_path):
    write_lab(tmp_path, {"Random": 'use = "random"'}, split="folds = 2")
    code, said = Coordinator(slurm, tmp_path, workers=8).ended()
    assert code == 0, said
    assert re.search(r"submitted 2 jobs to Slurm: \d+_\[0-1\]", said)
    assert "2 done" in said


def test_what_sbatch_refuses_is_said_in_its_own_words(slurm, tmp_path):
    code, said = Coordinator(slurm, tmp_path, "--slurm", "--partition=nowhere").ended()
    assert code == 2, said
    assert "paragone: sbatch refused the jobs: sbatch: error: invalid partition specified: nowhere" in said


def test_a_job_that_waits_says_why(slurm, tmp_path):
    run = Coordinator(slurm, tmp_path, "--slurm", "--hold")
    heard = ""
    deadline = time.monotonic() + PATIENCE
    while "pending in Slurm" not in heard:
        assert time.monotonic() < deadline, heard
        heard += run.process.stderr.readline()
    assert "waiting: 2 jobs are pending in Slurm and none runs (JobHeldUser: it is held" in heard
    os.killpg(run.process.pid, signal.SIGINT)
    code, said = run.ended()
    assert code == 130, said
    job = re.search(r"jobs (\d+) go on in Slurm; `scancel \1` ends them", said)
    assert job is not None, said
    slurm.tell("scancel", job[1])


def test_jobs_with_the_wrong_python_end_the_run_with_the_words_of_their_log(slurm, tmp_path):
    lab_of(tmp_path, N_METHODS, FOLDS)
    script = (
        "from paragone import Experiment\n"
        "from paragone.lab.engine import SlurmExecutor\n"
        "with SlurmExecutor('queue', 2, python='/opt/gone/bin/python') as executor:\n"
        "    Experiment.from_toml('lab.toml').run('a.sqlite', executor=executor)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=slurm.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    assert "jobs in Slurm end before they take a cell" in last
    assert "/opt/gone/bin/python: not found" in last
    assert [path.name for path in (tmp_path / "queue").iterdir()] == ["logs"]


@pytest.mark.parametrize("warning", ["USR1", "TERM"])
def test_a_run_in_one_job_stops_at_a_signal_and_goes_on_when_it_is_requeued(slurm, tmp_path, at_home, warning):
    """`sbatch --wrap "exec paragone run x.toml"`: no coordinator elsewhere, the cells on processes of the node."""
    lab_of(tmp_path, N_METHODS, FOLDS)
    command = f"exec {sys.executable} -m paragone run lab.toml --store a.sqlite --workers 1"
    options = ["--parsable", "--requeue", "--open-mode=append", "--output=log", f"--chdir={tmp_path}"]
    environment = {**slurm.environment, "LAB_NAP": "1"}
    submitted = subprocess.run(
        ["sbatch", *options, "--wrap", command], env=environment, capture_output=True, text=True, check=True
    )
    job, store = submitted.stdout.strip(), tmp_path / "a.sqlite"
    deadline = time.monotonic() + PATIENCE
    while count_cells(store) < 4:
        assert time.monotonic() < deadline, (tmp_path / "log").read_text()
        time.sleep(0.1)
    slurm.tell("scancel", f"--signal={warning}", "--full" if warning == "TERM" else "--batch", job)
    while slurm.tell("squeue", "--noheader", f"--jobs={job}"):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    log = (tmp_path / "log").read_text()
    assert f"stopped by SIG{warning}: every finished cell is kept" in log
    assert "Traceback" not in log
    assert count_cells(store) < N_CELLS
    # Slurm refuses while it still tidies up after the job.
    while not slurm.tell("squeue", "--noheader", f"--jobs={job}"):
        assert time.monotonic() < deadline, slurm.tell("squeue", "--states=all", "--long")
        slurm.tell("scontrol", "requeue", job)
        time.sleep(1)
    slurm.tell("scontrol", "update", f"JobId={job}", "StartTime=now")
    while count_cells(store) < N_CELLS:
        assert time.monotonic() < deadline, slurm.tell("squeue", "--states=all", "--long")
        time.sleep(0.2)
    while slurm.tell("squeue", "--noheader", f"--jobs={job}"):
        time.sleep(0.2)
    assert_sound(store, N_CELLS)
    assert contents(store) == at_home
