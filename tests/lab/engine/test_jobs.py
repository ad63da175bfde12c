"""Jobs of a batch system, against programs that stand for Slurm; tests/system/test_slurm.py has the real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dask
import distributed  # noqa: F401 - its settings are there before ours
import psutil
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from experiment_files import write_lab
from fake_slurm import install, process_groups
from faults.lab import assert_sound, contents, count_cells, lab_of
from paragone.errors import InputError
from paragone.lab.engine import JobExecutor, Silent
from paragone.lab.experiment import Experiment
from paragone.testing import check_executor

HERE = {"host": "127.0.0.1", "memory": "1GB"}
N_METHODS, FOLDS = 4, 3
N_CELLS = N_METHODS * FOLDS
PATIENCE = 120


class Heard(Silent):
    """An observer that keeps what is said."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def said(self, sentence, tally) -> None:
        self.sentences.append(sentence)


@pytest.fixture
def slurm(tmp_path, monkeypatch) -> Path:
    programs = install(tmp_path)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT", "1s")
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1s"}):
        yield programs
    deadline = time.monotonic() + PATIENCE
    while any(living(group) for group in process_groups(programs)):
        assert time.monotonic() < deadline, "a job is left behind"
        time.sleep(0.1)


def living(group: int) -> list[int]:
    """Return the processes of a group that have not ended."""
    found = []
    for process in psutil.process_iter(["pid", "status"]):
        try:
            if os.getpgid(process.pid) == group and process.info["status"] != "zombie":
                found.append(process.pid)
        except ProcessLookupError:
            continue
    return found


@pytest.fixture(scope="module")
def at_home(tmp_path_factory):
    """What a run on processes of this machine gives."""
    folder = tmp_path_factory.mktemp("home")
    Experiment.from_toml(lab_of(folder, N_METHODS, FOLDS)).run(
        folder / "a.sqlite", workers=2
    ).close()
    return contents(folder / "a.sqlite")


class Coordinator:
    """`paragone run --engine slurm` in a folder with the small laboratory."""

    def __init__(self, folder: Path, *options: str, nap: float = 0.0) -> None:
        if not (folder / "lab.toml").exists():
            lab_of(folder, N_METHODS, FOLDS)
        self.store = folder / "a.sqlite"
        here = [word for name, value in HERE.items() for word in ("--job", f"{name}={value}")]
        command = ["run", "lab.toml", "--store", "a.sqlite", "--engine", "slurm", "--jobs", "2"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "paragone", *command, *here, *options],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "LAB_NAP": str(nap)},
        )

    def wait_for_cells(self, count: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while count_cells(self.store) < count:
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def ended(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=PATIENCE)
        assert "Traceback" not in err, err
        return self.process.returncode, out + err


def test_jobs_give_the_bytes_of_this_machine_and_end_with_the_run(tmp_path, slurm, at_home):
    file, heard = lab_of(tmp_path, N_METHODS, FOLDS), Heard()
    with JobExecutor("slurm", 2, **HERE) as executor:
        Experiment.from_toml(file).run(
            tmp_path / "a.sqlite", executor=executor, observer=heard
        ).close()
    assert_sound(tmp_path / "a.sqlite", N_CELLS)
    assert contents(tmp_path / "a.sqlite") == at_home
    assert "submitted" in " ".join(heard.sentences)
    assert len(process_groups(slurm)) == 2


def test_a_job_that_is_killed_and_a_coordinator_that_is_killed_cost_no_cell(
    tmp_path, slurm, at_home
):
    run = Coordinator(tmp_path, nap=1)
    run.wait_for_cells(2)
    os.killpg(process_groups(slurm)[0], signal.SIGKILL)
    run.wait_for_cells(5)
    run.process.kill()
    run.process.communicate()
    assert count_cells(run.store) < N_CELLS
    code, said = Coordinator(tmp_path).ended()
    assert code == 0, said
    assert_sound(run.store, N_CELLS)
    assert contents(run.store) == at_home


def test_a_run_that_is_interrupted_ends_its_jobs(tmp_path, slurm):
    run = Coordinator(tmp_path, nap=1)
    run.wait_for_cells(1)
    run.process.send_signal(signal.SIGTERM)
    code, said = run.ended()
    assert code == 130, said


def test_a_job_is_left_before_its_end_and_another_goes_on(tmp_path, slurm, at_home):
    run = Coordinator(tmp_path, "--job", "walltime=20s", nap=4)
    code, said = run.ended()
    assert code == 0, said
    assert_sound(run.store, N_CELLS)
    assert contents(run.store) == at_home
    assert len(process_groups(slurm)) > 2


def test_cells_that_are_longer_than_a_job_are_not_begun(tmp_path, slurm):
    run = Coordinator(tmp_path, nap=1)
    run.wait_for_cells(N_METHODS + 1)
    run.process.send_signal(signal.SIGTERM)
    assert run.ended()[0] == 130
    before = count_cells(run.store)
    code, said = Coordinator(tmp_path, "--job", "walltime=1s").ended()
    assert code == 2
    assert "a job has 0.9 s for a cell: give jobs more time with --job walltime=TIME" in said
    assert count_cells(run.store) == before


def test_sbatch_that_refuses_is_quoted(tmp_path, slurm):
    file = write_lab(tmp_path, {"Still": 'use = "lab_methods:Still"'})
    refusal = "^sbatch refused the jobs: sbatch: error: invalid partition specified: nowhere;"
    with (
        JobExecutor("slurm", 1, queue="nowhere", **HERE) as executor,
        pytest.raises(InputError, match=refusal),
    ):
        Experiment.from_toml(file).run(tmp_path / "a.sqlite", executor=executor)


def test_jobs_keep_the_contract_of_an_executor(slurm):
    with JobExecutor("slurm", 1, cores=2, **HERE) as executor:
        assert len(check_executor(executor)) > 5


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"wall": "1h"}, "walltime"),
        ({"walltime": "an hour"}, "--job walltime 'an hour' is not a time"),
    ],
)
def test_what_a_job_cannot_be_is_one_sentence(slurm, given, sentence):
    with pytest.raises(InputError, match=sentence):
        JobExecutor("slurm", 1, **given)


def test_a_machine_without_slurm_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no sbatch on this machine"):
        JobExecutor("slurm")


@pytest.mark.parametrize("system", ["pbs", "sge", "lsf"])
def test_the_scripts_of_the_others_have_the_time_and_the_worker(
    system, tmp_path, monkeypatch, slurm
):
    for name in ("qsub", "bsub", "qdel", "bkill"):
        program = slurm / name
        program.write_text("#!/bin/sh\necho 'LSF 10.1.0.0'\n")
        program.chmod(0o755)
    with JobExecutor(system, 1, cores=4, walltime="90m", **HERE) as executor:
        script = executor.job_script()
    assert "01:30" in script
    assert "--nthreads 4" in script
    assert "--lifetime 5280s" in script


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_run_on_this_machine_stops_cleanly_at_a_schedulers_signal(tmp_path, number):
    file = lab_of(tmp_path, N_METHODS, FOLDS)
    command = [sys.executable, "-m", "paragone", "run", str(file), "--store", "a.sqlite"]
    options = {"cwd": tmp_path, "text": True, "stderr": subprocess.PIPE}
    process = subprocess.Popen(
        [*command, "--workers", "1"], env={**os.environ, "LAB_NAP": "60"}, **options
    )
    deadline = time.monotonic() + PATIENCE
    while not (tmp_path / "a.sqlite").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert f"stopped by {number.name}: every finished cell is kept" in err
    assert "Traceback" not in err
    again = subprocess.run(command, check=False, **options)
    assert again.returncode == 0, again.stderr
    assert_sound(tmp_path / "a.sqlite", N_CELLS)
