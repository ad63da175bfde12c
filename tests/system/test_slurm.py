"""A real Slurm: whatever is cancelled, killed or out of time, the bytes are those of a local run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from slurm_cluster import SlurmCluster

from faults.lab import Contents, assert_sound, contents, count_cells, lab_of

pytestmark = pytest.mark.slow
N_METHODS, FOLDS = 6, 4
N_CELLS = N_METHODS * FOLDS
PATIENCE = 600
# Two nodes on one machine have no memory and no network of their own.
HERE = ("host=127.0.0.1", "memory=1GB", "job_directives_skip=--mem", "queue=compute")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory) -> Iterator[SlurmCluster]:
    # Where Slurm is missing this is an error, not a test that is left out: `make test-slow`
    # installs it.
    cluster = SlurmCluster(tmp_path_factory.mktemp("slurm"))
    cluster.start()
    yield cluster
    cluster.end()


@pytest.fixture(autouse=True)
def no_jobs_are_left(slurm) -> Iterator[None]:
    yield
    deadline = time.monotonic() + 120
    while slurm.tell("squeue", "--noheader"):
        assert time.monotonic() < deadline, slurm.tell("squeue")
        time.sleep(0.5)


@pytest.fixture(scope="module")
def at_home(tmp_path_factory) -> Contents:
    """What a run on processes of this machine gives."""
    folder = tmp_path_factory.mktemp("home")
    lab_of(folder, N_METHODS, FOLDS)
    subprocess.run(
        [sys.executable, "-m", "paragone", "run", "lab.toml", "--store", "a.sqlite"],
        cwd=folder,
        check=True,
    )
    return contents(folder / "a.sqlite")


class Coordinator:
    """`paragone run --engine slurm` in a folder with the small laboratory."""

    def __init__(self, slurm: SlurmCluster, folder: Path, *job: str, nap: float = 0.0) -> None:
        if not (folder / "lab.toml").exists():
            lab_of(folder, N_METHODS, FOLDS)
        self.store, self.slurm = folder / "a.sqlite", slurm
        options = [word for option in (*HERE, *job) for word in ("--job", option)]
        command = ["run", "lab.toml", "--store", "a.sqlite", "--engine", "slurm", "--jobs", "2"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "paragone", *command, *options],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**slurm.environment, "LAB_NAP": str(nap)},
        )

    def wait_for_cells(self, count: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while count_cells(self.store) < count:
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline, self.slurm.tell("squeue", "--states=all")
            time.sleep(0.1)

    def ended(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=PATIENCE)
        assert "Traceback" not in err, err
        return self.process.returncode, out + err

    def jobs(self) -> list[str]:
        return self.slurm.tell("squeue", "--noheader", "--states=RUNNING", "--format=%i").split()


def assert_as_at_home(run: Coordinator, at_home: Contents) -> str:
    code, said = run.ended()
    assert code == 0, said
    assert_sound(run.store, N_CELLS)
    assert contents(run.store) == at_home
    return said


def test_jobs_give_the_bytes_of_a_local_run_and_end_with_it(slurm, tmp_path, at_home):
    said = assert_as_at_home(Coordinator(slurm, tmp_path), at_home)
    assert "to SLURM; logs in" in said


@pytest.mark.parametrize(
    "command", [("scancel",), ("scontrol", "requeue"), ("scancel", "-s", "KILL")]
)
def test_a_job_that_is_taken_away_costs_nothing_but_time(slurm, tmp_path, at_home, command):
    run = Coordinator(slurm, tmp_path, nap=1)
    run.wait_for_cells(4)
    slurm.tell(*command, run.jobs()[0])
    assert_as_at_home(run, at_home)


def test_a_time_limit_costs_nothing_but_time(slurm, tmp_path, at_home):
    """The limit is Slurm's shortest, a minute."""
    assert_as_at_home(Coordinator(slurm, tmp_path, "walltime=1m", nap=6), at_home)


def test_a_coordinator_that_is_killed_takes_its_jobs_along_and_is_followed(
    slurm, tmp_path, at_home
):
    run = Coordinator(slurm, tmp_path, nap=1)
    run.wait_for_cells(4)
    run.process.kill()
    run.process.communicate()
    assert count_cells(run.store) < N_CELLS
    assert_as_at_home(Coordinator(slurm, tmp_path), at_home)


def test_an_interrupted_run_cancels_its_jobs(slurm, tmp_path):
    run = Coordinator(slurm, tmp_path, nap=1)
    run.wait_for_cells(2)
    os.kill(run.process.pid, signal.SIGTERM)
    assert run.ended()[0] == 130


def test_what_sbatch_refuses_is_said_in_its_own_words(slurm, tmp_path):
    code, said = Coordinator(
        slurm, tmp_path, "account=x", "job_extra_directives=-p nowhere"
    ).ended()
    assert code == 2, said
    assert "paragone: sbatch refused the jobs:" in said
    assert "nowhere" in said


@pytest.mark.parametrize("warning", ["USR1", "TERM"])
def test_a_run_in_one_job_stops_at_a_signal_and_goes_on_when_it_is_requeued(
    slurm, tmp_path, at_home, warning
):
    """`sbatch --wrap "exec paragone run x.toml"`: no coordinator elsewhere, the cells on processes of the node."""
    lab_of(tmp_path, N_METHODS, FOLDS)
    command = f"exec {sys.executable} -m paragone run lab.toml --store a.sqlite --workers 1"
    options = [
        "--parsable",
        "--requeue",
        "--open-mode=append",
        "--output=log",
        f"--chdir={tmp_path}",
    ]
    environment = {**slurm.environment, "LAB_NAP": "1"}
    submitted = subprocess.run(
        ["sbatch", *options, "--wrap", command],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
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
