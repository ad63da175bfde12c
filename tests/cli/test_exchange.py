"""Folds and protocol files on the command line: out, in, and one clear sentence for what is bad."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat, savemat

sys.path.insert(0, str(Path(__file__).parents[1]))
from command_ends import refused
from experiment_files import write_lab

PROTOCOL = 'k = { min = 2, max = 8, step = 2 }\np = {}\nmetrics = ["micro_f1", "one_error"]'
METHODS = {"V": 'use = "variance"', '"a/b"': 'use = "chi2"'}


@pytest.fixture
def exported(paragone, tmp_path, monkeypatch) -> Path:
    """A run in files, and the folds that it was made on, in the current folder."""
    monkeypatch.chdir(tmp_path)
    write_lab(tmp_path, METHODS, protocol=PROTOCOL)
    assert paragone("run", "lab.toml", "--workers", 0).code == 0
    assert paragone("export", "lab.sqlite", "--out", "run").code == 0
    ended = paragone(
        "data", "export-folds", "wine-traits", "--out", "folds", "--folds", 3, "--seed", 7
    )
    assert ended.code == 0
    assert "3 folds of wine-traits written to folds/wine-traits" in ended.out
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def import_args(**changed: str) -> list[str]:
    options = {
        "data": "folds",
        "store": "b.sqlite",
        "k": "2:8:2",
        "p": "0.05:0.5:0.05",
        "metrics": "micro_f1,one_error",
    }
    options |= {"workers": "0", **changed}
    return [
        "import",
        "run",
        *(part for key, value in options.items() for part in (f"--{key}", value)),
    ]


def test_a_round_trip_on_the_command_line_changes_no_byte(exported, paragone):
    ended = paragone(*import_args())
    assert ended.code == 0, ended.err
    assert "6 done" in ended.out
    ended = paragone("export", "b.sqlite", "--out", "again", "--json")
    assert json.loads(ended.out) == {"folder": "again", "written": 6, "left_out": 0}
    assert contents(exported / "again") == contents(exported / "run")


def test_stored_folds_score_as_the_data_they_were_made_of(exported, paragone):
    text = (exported / "lab.toml").read_text().replace('"wine-traits"', '"folds:folds/wine-traits"')
    stored = text.replace("folds = 3", 'kind = "stored"').replace(
        "k = {", "keep_predictions = true\nk = {"
    )
    (exported / "stored.toml").write_text(stored)
    ended = paragone("run", "stored.toml", "--workers", 0)
    assert ended.code == 0, ended.err
    assert "note: wine-traits: 3 stored folds" in ended.err.replace("\n", " ")
    assert paragone("export", "stored.sqlite", "--out", "again").code == 0
    without_times = [
        {k: v for k, v in contents(exported / f).items() if "time" not in k}
        for f in ("run", "again")
    ]
    assert without_times[0] == without_times[1]


def test_the_default_split_uses_the_stored_folds(exported, paragone):
    text = (
        (exported / "lab.toml")
        .read_text()
        .replace('"wine-traits"', '"folds/wine-traits", "breast-cancer-traits"')
    )
    (exported / "mixed.toml").write_text(text.replace("[split]\nfolds = 3", ""))
    ended = paragone("run", "mixed.toml", "--workers", 0, "--dry-run", "--json")
    assert json.loads(ended.out)["cells"] == 2 * (3 + 5)


def test_an_experiment_file_can_leave_labels_out_of_stored_folds(exported, paragone):
    reference = '{ path = "folds:folds/wine-traits", drop = ["dark"], name = "w" }'
    names = json.loads((exported / "folds" / "wine-traits" / "meta.json").read_text())[
        "target_names"
    ]
    text = (
        (exported / "lab.toml")
        .read_text()
        .replace('"wine-traits"', reference.replace("dark", names[0]))
    )
    (exported / "less.toml").write_text(text.replace("folds = 3", 'kind = "stored"'))
    ended = paragone("run", "less.toml", "--workers", 0)
    assert ended.code == 0, ended.err
    assert f"note: w: left out: {names[0]}" in ended.err


def test_holdouts_are_exported_too(paragone, tmp_path):
    args = ("--mode", "holdout", "--test-size", 0.3, "--folds", 2, "--scale", "none", "--name", "w")
    assert paragone("data", "export-folds", "wine-traits", "--out", tmp_path, *args).code == 0
    meta = json.loads((tmp_path / "w" / "meta.json").read_text())
    assert (meta["split_mode"], meta["test_size"], meta["scaler"], meta["seed"]) == (
        "holdout",
        0.3,
        "none",
        42,
    )
    first = loadmat(tmp_path / "w" / "fold0.mat")
    assert len(first["X_test"]) == pytest.approx(0.3 * meta["n"], abs=2)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"k": "10-300"}, "grid '10-300': write it as MIN:MAX:STEP, such as --k 10:300:10"),
        ({"p": "0.1:0.5"}, "write it as MIN:MAX:STEP, such as --p 0.05:0.5:0.05"),
        ({"metrics": "mirco_f1"}, "unknown metric 'mirco_f1': did you mean 'micro_f1'?"),
        ({"evaluator": "logistics"}, "unknown evaluator 'logistics': did you mean 'logistic'?"),
        ({"zero-division": "2"}, "unknown zero_division '2'"),
        ({"data": "wine-traits"}, "say which split the rankings were made on"),
        ({"data": "nowhere/folds"}, "no file or folder at"),
        ({"folds": "4"}, "comes in stored folds"),
        ({"mode": "kfolds"}, "did you mean 'kfold'?"),
    ],
)
def test_a_bad_import_is_refused_and_nothing_is_written(exported, paragone, changed, sentence):
    refused(paragone(*import_args(**changed)), sentence)
    assert not (exported / "b.sqlite").exists()


def test_a_ranking_with_a_hole_is_refused_and_nothing_is_written(exported, paragone):
    file = exported / "run" / "V" / "wine-traits_fold1_ranking.csv"
    lines = [line for line in file.read_text().split() if line != "3"]
    file.write_text("\n".join(lines))
    refused(paragone(*import_args()), "wine-traits_fold1_ranking.csv: no permutation of 1..")
    refused(paragone(*import_args()), "index 3 is missing")
    assert not (exported / "b.sqlite").exists()


def test_a_constant_label_in_fold_files_is_refused_and_nothing_is_written(exported, paragone):
    for path in (exported / "folds" / "wine-traits").glob("fold*.mat"):
        content = {key: value for key, value in loadmat(path).items() if not key.startswith("__")}
        content["Y_train"][:, 1] = content["Y_test"][:, 1] = 0
        savemat(path, content)
    refused(paragone(*import_args()), "is negative in all rows of all folds")
    refused(paragone("data", "describe", "folds:folds/wine-traits"), "label 2 of")
    assert not (exported / "b.sqlite").exists()


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("wine-traits", "--folds", "1"), "folds must be a whole number of at least 2"),
        (("wine-traits", "--seed", "-1"), "must not be negative"),
        (
            ("wine-traits", "--mode", "holdout", "--test-size", "1.5"),
            "test_size must lie between 0 and 1",
        ),
        (("wine-trait",), "did you mean 'wine-traits'?"),
        (("iris",), "'iris' is for classification"),
    ],
)
def test_folds_that_cannot_be_exported_are_refused(paragone, tmp_path, args, sentence):
    refused(paragone("data", "export-folds", *args, "--out", tmp_path / "out"), sentence)
    assert list(tmp_path.iterdir()) == []


def test_an_export_that_cannot_be_is_refused(exported, paragone):
    refused(paragone("export", "lab.sqlite", "--out", "run"), "exists already and is not empty")
    refused(
        paragone("export", "lab.sqlite", "--out", "x", "--experiment", "la"), "did you mean 'lab'?"
    )
    refused(paragone("export", "none.sqlite", "--out", "x"), "does not exist")
    assert not (exported / "x").exists()


def test_rankings_of_a_user_who_never_saw_the_store_are_scored(exported, paragone):
    """The README's case: a MATLAB user brings folds and rankings, and nothing else."""
    rng = np.random.default_rng(1)
    for fold in range(2):
        Y = rng.integers(0, 2, (40, 3)) * 2.0 - 1.0
        X = rng.random((40, 6)) + (Y[:, :1] > 0)
        parts = {"X_train": X[:28], "Y_train": Y[:28].T, "X_test": X[28:], "Y_test": Y[28:].T}
        (exported / "m" / "Mine").mkdir(parents=True, exist_ok=True)
        savemat(exported / "m" / "Mine" / f"fold{fold}.mat", parts)
        (exported / "r" / "Own").mkdir(parents=True, exist_ok=True)
        (exported / "r" / "Own" / f"Mine_fold{fold}_ranking.csv").write_text("6,5,4,3,2,1")
    ended = paragone(
        "import", "r", "--data", "m", "--store", "m.sqlite", "--k", "2:6:2", "--workers", 0
    )
    assert ended.code == 0, ended.err
    assert "the label matrices were transposed" in ended.err.replace("\n", " ")
    assert "2 done" in ended.out
