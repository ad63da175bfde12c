"""The engine of Slurm, against programs that stand for it; tests/system/test_slurm.py has the real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from experiment_files import write_lab
from fake_slurm import install
from paragone.errors import InputError
from paragone.lab.engine import SlurmExecutor
from paragone.lab.engine.queue_folder import QueueFolder
from paragone.lab.engine.slurm import SlurmJobs
from paragone.lab.experiment import Experiment
from paragone.testing import check_executor
from paragone.testing.executors import content_of

METHODS = {
    "Naps": 'use = "lab_methods:Naps"',
    "Random": 'use = "random"',
    "Global": 'use = "lab_methods:UsesGlobalRandomness"',
    "Raises": 'use = "lab_methods:Raises"',
}
N_CELLS = 12


@pytest.fixture
def slurm(tmp_path, monkeypatch) -> Path:
    programs = install(tmp_path)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr("paragone.lab.engine.slurm.SQUEUE_SECONDS", 1.0)
    return programs


class Heard:
    """An observer that keeps what is said."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def began(self, tally) -> None:
        return None

    def finished(self, cell, outcome, tally) -> None:
        return None

    def said(self, sentence, tally) -> None:
        self.sentences.append(sentence)


def test_jobs_give_the_bytes_of_this_machine_and_leave_no_folder(tmp_path, slurm):
    file = write_lab(tmp_path, METHODS)
    Experiment.from_toml(file).run(tmp_path / "here.sqlite", workers=2).close()
    heard = Heard()
    with SlurmExecutor(tmp_path / "queue", 2) as executor:
        Experiment.from_toml(file).run(
            tmp_path / "there.sqlite", executor=executor, observer=heard
        ).close()
    assert content_of(tmp_path / "there.sqlite") == content_of(tmp_path / "here.sqlite")
    assert len(content_of(tmp_path / "there.sqlite")["statuses"]) == N_CELLS
    assert not (tmp_path / "queue").exists()
    assert len(heard.sentences) == 1
    assert heard.sentences[0].startswith("submitted 2 jobs to Slurm: 1_[0-1]")


def test_there_are_no_more_jobs_than_cells(tmp_path, slurm):
    queue = QueueFolder(tmp_path / "queue")
    queue.make()
    jobs = SlurmJobs(queue, "lab", 50, python="/bin/true")
    assert jobs.look(2, 0, (), ()) == []
    # More orders came since the last look: the array waits until they are all there.
    assert jobs.look(3, 0, (), ()) == []
    (sentence,) = jobs.look(3, 0, (), ())
    assert sentence.startswith("submitted 3 jobs to Slurm: 1_[0-2]")


def test_sbatch_that_refuses_is_quoted(tmp_path, slurm):
    file = write_lab(tmp_path, METHODS)
    with (
        SlurmExecutor(tmp_path / "queue", 2, "--partition=nowhere") as executor,
        pytest.raises(
            InputError,
            match=r"^sbatch refused the jobs: sbatch: error: invalid partition specified: nowhere$",
        ),
    ):
        Experiment.from_toml(file).run(tmp_path / "a.sqlite", executor=executor)
    assert not (tmp_path / "queue").exists()


def test_a_cluster_that_never_answered_ends_the_run_in_one_sentence(tmp_path, slurm):
    (slurm / "squeue").write_text("#!/bin/sh\necho 'squeue: error: no controller' >&2\nexit 1\n")
    file = write_lab(tmp_path, METHODS)
    said = (
        r"^Slurm does not answer, so no jobs were submitted: squeue says squeue: error: no"
        r" controller$"
    )
    with SlurmExecutor(tmp_path / "queue", 2) as executor, pytest.raises(InputError, match=said):
        Experiment.from_toml(file).run(tmp_path / "a.sqlite", executor=executor)
    assert not list(slurm.glob("job-*.json"))
    assert not (tmp_path / "queue").exists()


def test_jobs_that_fail_at_their_start_end_the_run_with_the_words_of_their_log(tmp_path, slurm):
    file = write_lab(tmp_path, METHODS)
    with (
        SlurmExecutor(tmp_path / "queue", 2, python="/no/such/python") as executor,
        pytest.raises(
            InputError,
            match=r"end before they take a cell: job 1_\d ended as FAILED on here; .*not found",
        ),
    ):
        Experiment.from_toml(file).run(tmp_path / "a.sqlite", executor=executor)
    kept = sorted(
        path.relative_to(tmp_path / "queue").as_posix()
        for path in (tmp_path / "queue").rglob("*.*")
    )
    assert kept == ["logs/1_0.log", "logs/1_1.log"]


def test_without_slurm_and_with_options_of_our_own_one_sentence_says_so(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="leave out --array"):
        SlurmExecutor(tmp_path / "queue", 2, "--array=1-3")
    with pytest.raises(InputError, match="leave out -o"):
        SlurmExecutor(tmp_path / "queue", 2, "-o log")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        InputError, match="there is no sbatch on this machine: run this on a login node"
    ):
        SlurmExecutor(tmp_path / "queue", 2)


def run(file: Path, *options: str, nap: float = 0.0) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "paragone",
        "run",
        str(file),
        "--store",
        str(file.parent / "a.sqlite"),
        *options,
    ]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "LAB_NAP": str(nap)},
    )


def wait_for(happened, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 100
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.system
def test_a_coordinator_that_is_stopped_leaves_its_jobs_and_the_next_one_takes_what_they_did(
    tmp_path, slurm
):
    file = write_lab(tmp_path, METHODS)
    Experiment.from_toml(file).run(tmp_path / "here.sqlite", workers=2).close()
    queue = tmp_path / "a.sqlite-slurm"
    first = run(file, "--engine", "slurm", "--workers", "1", nap=0.5)
    wait_for(lambda: any((queue / "outcomes").glob("*")), first)
    first.send_signal(signal.SIGTERM)
    out, err = first.communicate(timeout=60)
    assert first.returncode == 130, out + err
    assert "stopped by SIGTERM: every finished cell is kept" in err
    assert "jobs 1 go on in Slurm; `scancel 1` ends them" in err
    # Without a coordinator the job works off what is in the folder, and leaves.
    deadline = time.monotonic() + 100
    while any((queue / "workers").iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert not any((queue / "orders").iterdir())

    second = run(file, "--engine", "slurm", "--workers", "1")
    out, err = second.communicate(timeout=100)
    assert second.returncode == 1, out + err
    assert "outcomes of jobs that went on without a coordinator are taken over" in err
    # Nothing was left to do, so that no job was submitted.
    assert "submitted" not in err
    assert content_of(tmp_path / "a.sqlite") == content_of(tmp_path / "here.sqlite")
    assert not queue.exists()


@pytest.mark.system
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_run_on_this_machine_stops_cleanly_at_a_schedulers_signal(tmp_path, number):
    file = write_lab(tmp_path, METHODS)
    process = run(file, "--workers", "1", nap=60)
    wait_for(lambda: (tmp_path / "a.sqlite").exists(), process)
    time.sleep(1)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, out + err
    assert f"stopped by {number.name}: every finished cell is kept" in err
    assert "Traceback" not in err
    again = run(file, "--workers", "2")
    out, err = again.communicate(timeout=100)
    assert again.returncode == 1, out + err
    assert "9 done, 3 failed" in out


def test_jobs_of_slurm_keep_the_contract(tmp_path, slurm):
    with SlurmExecutor(tmp_path / "queue", 2) as executor:
        assert len(check_executor(executor)) == 8
