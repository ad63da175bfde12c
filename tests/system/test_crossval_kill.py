"""Killing a cross-validation during selection and during refit: the same final table, byte for byte."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paragone import Results

MODELS = '''
import os
import time

from sklearn.linear_model import Ridge


class Naps(Ridge):
    """Takes a little while, so that a run can be interrupted; how long is no part of its identity."""

    def fit(self, X, y):
        time.sleep(float(os.environ.get("LAB_NAP", "0")))
        return super().fit(X, y)
'''
LAB = """
name = "cv"
seed = 5
[data]
sets = ["diabetes"]
[split]
folds = 3
[protocol]
kind = "crossval"
test = 0.2
select = [{ ranking = "rmsecv", top_k = 2 }, { ranking = "mean_val", top_k = 2 }]
[methods.Ridge]
use = "napping:Naps"
grid = { alpha = [0.1, 1.0, 10.0, 100.0] }
steps = [["raw", "autoscale"]]
"""
N_FOLD_CELLS, N_CELLS = 24, 28


def start(folder: Path, store: Path, nap: float) -> subprocess.Popen[str]:
    (folder / "napping.py").write_text(MODELS)
    (folder / "cv.toml").write_text(LAB)
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "paragone",
            "run",
            str(folder / "cv.toml"),
            "--store",
            str(store),
            "--workers",
            "1",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "LAB_NAP": str(nap)},
    )


def count_cells(store: Path) -> int:
    if not store.exists():
        return 0
    connection = sqlite3.connect(store, timeout=10)
    try:
        return int(connection.execute("SELECT count(*) FROM cells").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def tables(store: Path) -> str:
    with Results.open(store) as results:
        return "".join(
            frame.to_csv(index=False)
            for frame in (
                results.reader().final_scores(),
                results.reader().top_chains(),
                results.reader().fold_scores(),
                results.reader().ledger(),
            )
        )


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("whole")
    run = start(folder, folder / "a.sqlite", nap=0)
    out, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    assert f"{N_CELLS} done" in out
    return tables(folder / "a.sqlite")


@pytest.mark.parametrize(
    "at",
    [
        pytest.param(N_FOLD_CELLS, id="selection"),
        pytest.param(N_FOLD_CELLS + 1, id="refit", marks=pytest.mark.slow),
        pytest.param(N_FOLD_CELLS + 3, id="last", marks=pytest.mark.slow),
    ],
)
def test_killed_in_the_second_stage_and_resumed_the_final_table_is_the_same(
    tmp_path, uninterrupted, at
):
    store = tmp_path / "a.sqlite"
    run = start(tmp_path, store, nap=0.1)
    deadline = time.monotonic() + 90
    while count_cells(store) < at:
        assert run.poll() is None, run.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.002)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate(timeout=60)
    assert count_cells(store) < N_CELLS
    run = start(tmp_path, store, nap=0)
    _, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    assert count_cells(store) == N_CELLS
    assert tables(store) == uninterrupted
