"""`paragone run`, `status` and `scores` as a user meets them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
import pytest

import paragone as package

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_files import write_lab

METHODS = {"Variance": 'use = "variance"', "Random": 'use = "random"'}


@pytest.fixture
def lab(tmp_path):
    return write_lab(tmp_path, METHODS)


def test_version(paragone):
    assert paragone("--version").out == f"paragone {package.__version__}\n"


@pytest.mark.parametrize(
    "verb",
    [["run"], ["status"], ["scores"], ["demo"], ["data"], ["data", "list"], ["data", "describe"]],
)
def test_every_verb_has_help(paragone, verb):
    ended = paragone(*verb, "--help")
    assert ended.code == 0
    if verb != ["data"]:
        assert "Example" in ended.out


def test_run_then_status_then_scores(paragone, lab, tmp_path):
    store = tmp_path / "a.sqlite"
    ended = paragone("run", lab, "--store", store, "--workers", 0)
    assert ended.code == 0
    assert "6 done" in ended.out
    assert "6 of 6 cells" in ended.err
    status = paragone("status", store)
    assert "Variance" in status.out
    assert status.code == 0
    table = paragone("scores", store)
    assert "Micro-F1" in table.out
    as_json = json.loads(paragone("scores", store, "--metric", "hamming_loss", "--json").out)
    assert len(as_json) == 24
    assert set(as_json[0]) == {
        "experiment",
        "protocol",
        "dataset",
        "fold",
        "method",
        "metric",
        "at",
        "value",
    }


def test_the_store_stands_beside_the_experiment_by_default(paragone, lab):
    paragone("run", lab, "--workers", 0)
    assert lab.with_suffix(".sqlite").exists()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_scores_are_written_as_they_are(paragone, lab, tmp_path, ending):
    paragone("run", lab, "--workers", 0)
    out = tmp_path / f"scores.{ending}"
    assert paragone("scores", lab.with_suffix(".sqlite"), "--out", out).code == 0
    read = pd.read_csv(out) if ending == "csv" else pd.read_parquet(out)
    with package.Results.open(lab.with_suffix(".sqlite")) as results:
        pd.testing.assert_frame_equal(read, results.scores(), check_dtype=False)


def test_a_dry_run_touches_nothing(paragone, lab, tmp_path):
    ended = paragone("run", lab, "--store", tmp_path / "a.sqlite", "--dry-run")
    assert "6 cells" in ended.out
    assert "to run: 6" in ended.out
    assert not (tmp_path / "a.sqlite").exists()


def test_a_dry_run_shows_that_another_grid_fits_nothing(paragone, lab, tmp_path):
    paragone("run", lab, "--workers", 0)
    write_lab(tmp_path, METHODS, protocol="k = { min = 1, max = 3, step = 1 }")
    ended = paragone("run", lab, "--dry-run", "--json")
    assert json.loads(ended.out)["to_fit"] == 0
    assert json.loads(ended.out)["stale"] == {"protocol": 6}
    same = paragone("status", lab.with_suffix(".sqlite"), "--dry-run", lab)
    assert "6 reuse a stored fit and 0 are fitted" in same.out


@pytest.mark.parametrize(
    ("words", "count"), [(["--overwrite"], 6), (["--overwrite", "Random"], 3), ([], 0)]
)
def test_overwrite_stands_alone_or_with_a_method(paragone, lab, words, count):
    paragone("run", lab, "--workers", 0)
    ended = paragone("run", lab, "--dry-run", "--json", *words)
    assert json.loads(ended.out)["to_run"] == count
    before_file = paragone("run", "--dry-run", "--json", *words, lab)
    assert json.loads(before_file.out)["to_run"] == count


def test_a_clipped_grid_is_said(paragone, tmp_path):
    lab = write_lab(tmp_path, METHODS, protocol="k = { min = 2, max = 300, step = 2 }")
    ended = paragone("run", lab, "--dry-run")
    assert "note: wine-traits: k-grid 2..300 clipped to 10: there are 11 features" in ended.err


def test_failed_cells_end_in_exit_code_1_and_status_says_why(paragone, tmp_path):
    lab = write_lab(tmp_path, {**METHODS, "Bad": 'use = "lab_methods:Raises"'})
    ended = paragone("run", lab, "--workers", 0)
    assert ended.code == 1
    assert "3 failed" in ended.out
    status = paragone("status", lab.with_suffix(".sqlite"), "--tracebacks")
    assert "failed: 3 of Bad: ArithmeticError: the matrix is singular" in status.out
    assert "lab_methods.py" in status.out


def test_status_shows_stale_and_missing_cells(paragone, lab, tmp_path):
    from paragone.lab.experiment import Experiment
    from paragone.lab.store import Store

    paragone("run", lab, "--workers", 0)
    write_lab(tmp_path, METHODS, protocol="k = { min = 1, max = 3, step = 1 }")
    changed = Experiment.from_toml(lab)
    with Store(lab.with_suffix(".sqlite")) as store:
        store.write_plan(changed.plan(changed.layout))
    status = paragone("status", lab.with_suffix(".sqlite"))
    assert "stale: 3 of Random: protocol changed" in status.out


def test_demo_runs_to_its_table(paragone, tmp_path, monkeypatch):
    from paragone.cli import demo

    monkeypatch.chdir(tmp_path)
    small = demo.DEMO.read_text().replace(
        '"digits-traits", "digits-completion", "breast-cancer-traits", ', ""
    )
    (tmp_path / "small.toml").write_text(small.replace("folds = 5", "folds = 2"))
    monkeypatch.setattr(demo, "DEMO", tmp_path / "small.toml")
    ended = paragone("demo", "--workers", 0)
    assert ended.code == 0
    assert "DAGFS" in ended.out
    assert "paragone-demo/demo.sqlite" in ended.out
