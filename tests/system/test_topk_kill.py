"""Recommenders with one worker, with two, and killed in the middle of a fit: the same bytes."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from paragone.testing.recommenders import example_prescriptions

MODELS = '''
import os
import time

from paragone.methods.recommenders.smgcn import SMGCN


class Told(SMGCN):
    """Writes down every epoch it trains, and takes its time; neither is part of its identity."""

    def observe(self, **places):
        def note(epoch, last, loss):
            with open(os.environ["LAB_EPOCHS"], "a") as stream:
                stream.write(f"{epoch}\\n")
            time.sleep(float(os.environ.get("LAB_NAP", "0")))

        return super().observe(**places, progress=note)
'''
LAB = """
name = "herbs"
seed = 3
[data]
sets = ["rows"]
[protocol]
kind = "topk"
k = [1, 3]
metrics = ["precision", "recall", "rmrr"]
[methods.SMGCN]
use = "telling:Told"
log = "classic"
seeds = 2
[methods.SMGCN.params]
widths = [4, 6, 8]
batch_size = 32
max_epochs = 12
evaluate_every = 2
patience = 6
ks = [1, 3]
choose_by = "recall@3"
token_pairs_from = 2
item_pairs_from = 2
"""


def write_lab(folder: Path) -> None:
    rows = example_prescriptions(160, 9, 20, seed=8)
    (folder / "rows").mkdir()
    lines = [
        f"{' '.join(map(str, np.flatnonzero(rows.queries[[i]].toarray()[0])))}\t"
        f"{' '.join(map(str, rows.items[rows.indptr[i] : rows.indptr[i + 1]]))}\n"
        for i in range(160)
    ]
    (folder / "rows" / "train.txt").write_text("".join(lines[:120]))
    (folder / "rows" / "test.txt").write_text("".join(lines[120:]))
    (folder / "rows" / "valid_row_indices.txt").write_text(
        "".join(f"{i}\n" for i in range(0, 120, 8))
    )
    (folder / "telling.py").write_text(MODELS)
    (folder / "lab.toml").write_text(LAB)


def start(
    folder: Path, workers: int, nap: float = 0, epochs: str = "epochs.txt"
) -> subprocess.Popen[str]:
    if not (folder / "rows").exists():
        write_lab(folder)
    run = ["run", str(folder / "lab.toml"), "--workers", str(workers), "--accept-leak", "all"]
    command = [sys.executable, "-m", "paragone", *run]
    environment = {**os.environ, "LAB_NAP": str(nap), "LAB_EPOCHS": str(folder / epochs)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, start_new_session=True, env=environment, **pipes)


def finish(run: subprocess.Popen[str]) -> None:
    out, err = run.communicate(timeout=180)
    assert run.returncode == 0, err
    assert "6 done" in out


def content(store: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything that a result consists of, times left out."""
    queries = {
        "fits": "SELECT fit_key, arrays, info FROM fits ORDER BY fit_key",
        "samples": (
            "SELECT key, payload FROM predictions JOIN cells ON cells.id = cell_id ORDER BY key"
        ),
        "scores": (
            "SELECT key, metric, at, value FROM scores JOIN cells ON cells.id = cell_id "
            "JOIN measures ON measures.id = measure_id ORDER BY key, metric, at"
        ),
        "notes": "SELECT key, notes FROM cells ORDER BY key",
        "truths": "SELECT truth_key, payload FROM truths ORDER BY truth_key",
    }
    connection = sqlite3.connect(store)
    try:
        return {name: connection.execute(query).fetchall() for name, query in queries.items()}
    finally:
        connection.close()


def check_logs(folder: Path) -> None:
    """Every epoch stands once in the text of each fit, and each fit once in the result file."""
    logs = folder / "lab.sqlite-logs"
    for seed in range(2):
        text = (logs / f"rows-SMGCN-fold0-seed{seed}.log").read_text()
        assert [int(epoch) for epoch in re.findall(r"^Epoch (\d+) ", text, flags=re.M)] == list(
            range(12)
        )
        assert text.splitlines()[-1].startswith("Best Iter=[")
        assert text.count("Best Iter=") == 1
    assert (logs / "rows-SMGCN.result").read_text().count("\n\tBest Iter=[") == 2
    assert len(list(logs.iterdir())) == 3


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> dict[str, list[tuple[object, ...]]]:
    folder = tmp_path_factory.mktemp("whole")
    finish(start(folder, workers=1))
    assert not (folder / "lab.sqlite-progress").exists()
    check_logs(folder)
    found = content(folder / "lab.sqlite")
    assert {name: len(rows) for name, rows in found.items()} == {
        "fits": 6,
        "samples": 6,
        "scores": 36,
        "notes": 6,
        "truths": 2,
    }
    return found


@pytest.mark.slow
def test_two_workers_give_the_bytes_of_one(tmp_path, uninterrupted):
    finish(start(tmp_path, workers=2))
    check_logs(tmp_path)
    assert content(tmp_path / "lab.sqlite") == uninterrupted


@pytest.mark.slow
def test_a_fit_that_was_killed_goes_on_where_it_was_and_ends_in_the_same_bytes(
    tmp_path, uninterrupted
):
    run = start(tmp_path, workers=1, nap=0.25)
    progress = tmp_path / "lab.sqlite-progress"
    deadline = time.monotonic() + 120
    while not list(progress.glob("*/checkpoint.npz")):
        assert run.poll() is None, run.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate(timeout=60)
    with np.load(next(progress.glob("*/checkpoint.npz"))) as kept:
        assert '"epoch": 2' in str(kept["meta"])
    finish(start(tmp_path, workers=1, epochs="later.txt"))
    assert (tmp_path / "later.txt").read_text().splitlines()[0] == "3"
    assert not progress.exists()
    check_logs(tmp_path)
    assert content(tmp_path / "lab.sqlite") == uninterrupted
