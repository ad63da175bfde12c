"""`paragone run` with an engine, an address and a budget."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_files import write_lab


@pytest.fixture
def lab(tmp_path) -> Path:
    return write_lab(tmp_path, {"Still": 'use = "lab_methods:Still"'})


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--address", "tcp://127.0.0.1:9"], "--address is for --engine dask"),
        (
            ["--engine", "dask", "--address", "tcp://127.0.0.1:9"],
            "no Dask scheduler answers at tcp://127.0.0.1:9",
        ),
        (
            ["--budget", "2 hours"],
            "--budget '2 hours' is not a time: write it as 90s, 30m, 2h or 1h30m",
        ),
        (["--budget", "0s"], "--budget '0s': it must be more than nothing"),
    ],
)
def test_what_makes_no_sense_is_one_sentence_and_exit_code_2(
    paragone, lab, tmp_path, monkeypatch, words, sentence
):
    monkeypatch.setattr("paragone.lab.engine.cluster.CONNECT_SECONDS", 1.0)
    ended = paragone("run", lab, "--store", tmp_path / "a.sqlite", *words)
    assert (ended.code, ended.out) == (2, "")
    assert sentence in ended.err
    assert "Traceback" not in ended.err
    assert not (tmp_path / "a.sqlite").exists()


def test_without_distributed_the_extra_is_named(paragone, lab, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    ended = paragone("run", lab, "--store", tmp_path / "a.sqlite", "--engine", "dask")
    assert (ended.code, ended.err.strip()) == (
        2,
        "paragone: --engine dask needs Dask's distributed: pip install 'paragone[dask]'",
    )


def test_a_run_out_of_budget_says_how_many_are_left_and_how_to_go_on(paragone, tmp_path):
    lab = write_lab(tmp_path, {"Hangs": 'use = "lab_methods:Hangs"'})
    ended = paragone("run", lab, "--store", tmp_path / "a.sqlite", "--workers", 1, "--budget", "5s")
    assert ended.code == 3
    assert (
        "the budget of 5 s is over: 0 cells ended in it, 3 are left; every finished cell is kept in"
        in ended.err
    )
    assert "run the same command again to go on" in ended.err
    status = paragone("status", tmp_path / "a.sqlite", "--json")
    assert {cell["status"] for cell in json.loads(status.out)} == {"missing"}


def test_status_counts_the_workers_that_were_lost(paragone, tmp_path, monkeypatch):
    (tmp_path / "markers").mkdir()
    monkeypatch.setenv("LAB_MARKERS", str(tmp_path / "markers"))
    lab = write_lab(tmp_path, {"Once": 'use = "lab_methods:IsKilledOnce"'}, split="folds = 2")
    ended = paragone("run", lab, "--store", tmp_path / "a.sqlite", "--workers", 1)
    assert ended.code == 0
    assert (
        "a worker died at Once on wine-traits, fold 0 (loss 1 of it): it begins again" in ended.err
    )
    shown = paragone("status", tmp_path / "a.sqlite")
    assert "lost: 2 workers died at 2 cells, which then began again" in shown.out


def test_a_cluster_of_this_machine_is_started_and_ended(paragone, lab, tmp_path):
    ended = paragone(
        "run", lab, "--store", tmp_path / "a.sqlite", "--engine", "dask", "--workers", 1
    )
    assert ended.code == 0, ended.err
    assert "3 done" in ended.out
