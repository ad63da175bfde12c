"""A real Slurm: whatever is cancelled, requeued, killed or out of time, the bytes are those of a local run."""

from __future__ import annotations

import importlib.util
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
from faults.disks import NEEDS_ROOT, fill, memory_disk
from faults.lab import Contents, assert_sound, contents, count_cells, lab_of

pytestmark = pytest.mark.slow
N_METHODS, FOLDS = 6, 4
N_CELLS = N_METHODS * FOLDS
PATIENCE = 600
NO_JOBQUEUE = importlib.util.find_spec("dask_jobqueue") is None
JOBQUEUE = """
import sys
from dask_jobqueue import SLURMCluster
from distributed import Client
from paragone import Experiment

if __name__ == "__main__":
    # As on the page, but for what two nodes on one machine cannot give: memory of their own, and
    # networks.
    cluster = SLURMCluster(
        queue="compute",
        cores=1,
        processes=1,
        memory="1GB",
        walltime="00:10:00",
        worker_extra_args=["--lifetime", "8m"],
        job_directives_skip=["--mem"],
        log_directory="logs",
        scheduler_options={"host": "127.0.0.1", "dashboard": False},
    )
    cluster.scale(jobs=2)
    with cluster, Client(cluster) as client:
        Experiment.from_toml("lab.toml").run("a.sqlite", executor=client.get_executor()).close()
"""


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
        [
            sys.executable,
            "-m",
            "paragone",
            "run",
            "lab.toml",
            "--store",
            "a.sqlite",
            "--workers",
            "2",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return contents(folder / "a.sqlite")


class Coordinator:
    """`paragone run --engine slurm` in a folder with the small laboratory."""

    def __init__(
        self, slurm: SlurmCluster, folder: Path, *options: str, nap: float = 0.0, workers: int = 2
    ) -> None:
        if not (folder / "lab.toml").exists():
            lab_of(folder, N_METHODS, FOLDS)
        self.folder, self.slurm = folder, slurm
        self.store, self.queue = folder / "a.sqlite", folder / "a.sqlite-slurm"
        command = [
            "run",
            "lab.toml",
            "--store",
            "a.sqlite",
            "--engine",
            "slurm",
            "--workers",
            str(workers),
            *options,
        ]
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
        return self.slurm.tell(
            "squeue", "--noheader", "--array", f"--states={state}", "--format=%F_%K"
        ).split()

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
    ended = slurm.tell(
        "squeue", "--noheader", "--array", "--states=all", f"--jobs={job[1]}", "--format=%T"
    )
    assert ended.split() == ["COMPLETED", "COMPLETED"]
    assert run.losses() == 0


def test_a_job_that_is_cancelled_gives_its_cell_back_and_the_other_goes_on(
    slurm, tmp_path, at_home
):
    run = Coordinator(slurm, tmp_path, nap=1)
    run.wait_for(lambda: len(run.processes()) == 2)
    run.wait_for_cells(4)
    cancelled = run.jobs()[0]
    slurm.tell("scancel", cancelled)
    said = assert_as_at_home(run, at_home)
    assert f"cancelled: {cancelled}; 1 jobs go on" in said, said
    assert "submitted 1 job" not in said
    assert run.losses() == 0


def test_where_all_jobs_are_cancelled_the_run_ends_with_a_sentence_and_goes_on_later(
    slurm, tmp_path, at_home
):
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


def test_a_coordinator_that_is_killed_is_followed_by_one_that_takes_what_the_jobs_did(
    slurm, tmp_path, at_home
):
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
    assert (
        "paragone: sbatch refused the jobs: sbatch: error: invalid partition specified: nowhere"
        in said
    )


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


def test_a_controller_that_is_away_for_a_while_costs_nothing(slurm, tmp_path, at_home):
    run = Coordinator(slurm, tmp_path, nap=2)
    run.wait_for_cells(4)
    slurm.stop_controller()
    try:
        heard = ""
        deadline = time.monotonic() + PATIENCE
        while "squeue does not answer" not in heard:
            assert time.monotonic() < deadline, heard
            heard += run.process.stderr.readline()
    finally:
        slurm.start_controller()
    assert_as_at_home(run, at_home)
    assert run.losses() == 0
    assert run.fits() == N_CELLS


def test_a_job_that_starts_late_finds_nothing_to_do_and_leaves(slurm, tmp_path, at_home):
    """Four jobs on two nodes: the last two begin when the first have worked off all that a killed coordinator left."""
    run = Coordinator(slurm, tmp_path, nap=1, workers=4)
    run.wait_for_cells(4)
    run.process.kill()
    run.process.communicate()
    deadline = time.monotonic() + PATIENCE
    while slurm.tell("squeue", "--noheader"):
        assert time.monotonic() < deadline, slurm.tell("squeue")
        time.sleep(0.5)
    logs = sorted((run.queue / "logs").glob("*.log"))
    job = logs[0].name.partition("_")[0]
    ended = slurm.tell(
        "squeue", "--noheader", "--array", "--states=all", f"--jobs={job}", "--format=%T"
    ).split()
    assert ended == ["COMPLETED"] * 4
    assert not any((run.queue / "workers").iterdir())
    again = Coordinator(slurm, tmp_path)
    said = assert_as_at_home(again, at_home)
    assert "to Slurm:" not in said
    assert run.fits() == N_CELLS


@pytest.mark.skipif(os.geteuid() != 0, reason=NEEDS_ROOT)
def test_a_queue_on_a_disk_that_fills_up_ends_in_a_sentence_and_goes_on_when_there_is_room(
    slurm, tmp_path, at_home
):
    with memory_disk(tmp_path / "disk", 4) as disk:
        options = ("--queue", str(disk / "queue"))
        run = Coordinator(slurm, tmp_path, *options, nap=1)
        run.wait_for_cells(4)
        filler = fill(disk)
        code, said = run.ended()
        assert code == 2, said
        assert "No space left on device" in said
        assert "every finished cell is kept" in said
        assert 4 <= count_cells(run.store) < N_CELLS
        filler.unlink()
        assert_as_at_home(Coordinator(slurm, tmp_path, *options), at_home)


@pytest.mark.skipif(
    NO_JOBQUEUE,
    reason="dask-jobqueue is not installed, and no extra brings it: pip install dask-jobqueue",
)
def test_the_recipe_with_dask_jobqueue_gives_the_bytes_of_a_local_run(slurm, tmp_path, at_home):
    lab_of(tmp_path, N_METHODS, FOLDS)
    script = tmp_path / "on_dask.py"
    script.write_text(JOBQUEUE)
    run = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=slurm.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert_sound(tmp_path / "a.sqlite", N_CELLS)
    assert contents(tmp_path / "a.sqlite") == at_home


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
