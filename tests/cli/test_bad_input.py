"""Bad input: one clear sentence, exit code 2, nothing written."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from command_ends import refused
from experiment_files import write_lab

METHODS = {"V": 'use = "variance"'}


@pytest.mark.parametrize(
    ("sections", "methods", "sentence"),
    [
        (
            {"data": 'sets = ["wine-trait"]'},
            METHODS,
            "unknown dataset 'wine-trait': did you mean 'wine-traits'?",
        ),
        ({"data": 'sets = ["no/such/folder"]'}, METHODS, "no file or folder at"),
        ({"data": "sets = []"}, METHODS, "line 5: 'data.sets'"),
        (
            {"data": 'sets = ["iris"]'},
            METHODS,
            "'iris' is for classification; the curve protocol needs multi-label",
        ),
        (
            {"data": 'sets = ["wine-traits", "wine-traits"]'},
            METHODS,
            "two datasets are called 'wine-traits'",
        ),
        ({"split": "fold = 3"}, METHODS, "line 8: unknown key 'split.fold': did you mean 'folds'?"),
        ({"split": 'folds = "three"'}, METHODS, "line 8: 'split.folds'"),
        ({"split": 'kind = "kfolds"'}, METHODS, "did you mean 'kfold'?"),
        ({"split": "folds = 500"}, METHODS, "500"),
        ({"split": 'kind = "official"'}, METHODS, "wine-traits"),
        ({"split": 'kind = "sklearn.model_selection:KFolds"'}, METHODS, "did you mean 'KFold'?"),
        ({"protocol": 'kind = "curv"'}, METHODS, "'protocol.kind'"),
        (
            {"protocol": "k = { min = 5, maxx = 9 }"},
            METHODS,
            "unknown key 'protocol.k.maxx': did you mean 'max'?",
        ),
        ({"protocol": "k = { min = 9, max = 5 }"}, METHODS, "k-grid: needs 1 <= min <= max"),
        (
            {"protocol": "p = { min = 0.1, max = 0.5, target = 0.33 }"},
            METHODS,
            "the target 0.33 is not one of its points",
        ),
        (
            {"protocol": 'metrics = ["mirco_f1"]'},
            METHODS,
            "unknown metric 'mirco_f1': did you mean 'micro_f1'?",
        ),
        (
            {"protocol": 'evaluator = "mlkn"'},
            METHODS,
            "unknown evaluator 'mlkn': did you mean 'mlknn'?",
        ),
        (
            {"protocol": 'evaluator = { use = "mlknn", params = { n_neighbors = 500 } }'},
            METHODS,
            "n_neighbors must lie",
        ),
        (
            {"protocol": 'evaluator = { use = "mlknn", params = { n_neighbors = 130 } }'},
            METHODS,
            (
                "dataset 'wine-traits': ML-kNN with 130 neighbours needs more than 130 training"
                " rows, there are"
            ),
        ),
        ({}, {"V": 'use = "varianc"'}, "unknown method 'V' 'varianc': did you mean 'variance'?"),
        ({}, {"V": 'use = "no_such_module:Thing"'}, "cannot import 'no_such_module'"),
        ({}, {"V": 'use = "lab_methods:Stil"'}, "did you mean 'Still'?"),
        ({}, {"V": 'use = "dagfs"\nparams = { alhpa = 1 }'}, "did you mean 'alpha'?"),
        ({}, {"V": 'usee = "dagfs"'}, "line 15: unknown key 'methods.V.usee': did you mean 'use'?"),
        ({}, {}, "the key 'methods' is missing"),
        ({"top": "seed = 1"}, METHODS, "the key 'name' is missing"),
        ({"top": 'name = "x"\nseed = -1'}, METHODS, "line 2: 'seed'"),
        (
            {"top": 'name = "x"\nsede = 1'},
            METHODS,
            "line 2: unknown key 'sede': did you mean 'seed'?",
        ),
        ({"top": "name = "}, METHODS, "is not valid TOML"),
        ({"limits": "seconds = 0"}, METHODS, "'limits.seconds'"),
    ],
)
def test_a_wrong_experiment_file_is_refused(paragone, tmp_path, sections, methods, sentence):
    lab = write_lab(tmp_path, methods, **sections)
    refused(paragone("run", lab, "--store", tmp_path / "a.sqlite"), sentence)
    assert not (tmp_path / "a.sqlite").exists()


def test_a_missing_experiment_file_is_refused(paragone, tmp_path):
    refused(paragone("run", tmp_path / "none.toml"), "no experiment file at")
    refused(paragone("run", tmp_path), "is a folder: give an experiment file")


@pytest.mark.parametrize(
    ("X", "Y", "sentence"),
    [
        (
            np.where(np.eye(30) > 0, np.nan, 0.0),
            np.ones((30, 2)),
            "X has 30 NaN or infinite value(s), the first at row 0",
        ),
        (np.eye(30), np.full((30, 2), 3), "labels coded 0/1 or -1/+1, it holds 3"),
        (np.eye(30), np.repeat([[0, -1]], 30, axis=0), "it holds both 0 and -1"),
        (np.eye(30), np.ones((29, 2)), "29"),
        (np.eye(9), np.ones((9, 2)), "needs more than 10 training rows"),
    ],
)
def test_wrong_data_is_refused(paragone, tmp_path, X, Y, sentence):
    np.savez(tmp_path / "bad.npz", X=X, Y=Y)
    lab = write_lab(tmp_path, METHODS, data='sets = ["bad.npz"]')
    refused(paragone("run", lab, "--store", tmp_path / "a.sqlite"), sentence)
    assert not (tmp_path / "a.sqlite").exists()


def foreign(path: Path) -> str:
    path.write_text("not a database, but long enough to look at" * 10)
    return "is not a Paragone store: it is no SQLite file"


def other_database(path: Path) -> str:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.commit()
    connection.close()
    return "is not a Paragone store: it is some other SQLite database"


def newer(path: Path) -> str:
    from paragone.lab.store import Store

    Store(path, create=True).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()
    return "was written by a newer Paragone (schema 99"


def truncated(path: Path) -> str:
    from paragone.lab.store import Store

    Store(path, create=True).close()
    path.write_bytes(path.read_bytes()[:9000])
    return "is truncated (9000 of"


def header_only(path: Path) -> str:
    from paragone.lab.store import Store

    Store(path, create=True).close()
    path.write_bytes(path.read_bytes()[:60])
    return "is truncated (60 of"


def scrambled(path: Path) -> str:
    from paragone.lab.store import Store

    Store(path, create=True).close()
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(255 for _ in content[4096:])
    content[100:4096] = bytes(255 for _ in content[100:4096])
    path.write_bytes(bytes(content))
    return "cannot be used"


@pytest.mark.parametrize(
    "make", [foreign, other_database, newer, truncated, header_only, scrambled]
)
def test_a_file_that_is_no_store_is_refused_and_left_alone(paragone, tmp_path, make):
    store = tmp_path / "a.sqlite"
    sentence = make(store)
    before = store.read_bytes()
    lab = write_lab(tmp_path, METHODS)
    for command in (["run", lab, "--store", store], ["status", store], ["scores", store]):
        refused(paragone(*command), sentence)
        assert store.read_bytes() == before


def test_a_store_in_a_missing_folder_is_refused(paragone, tmp_path):
    lab = write_lab(tmp_path, METHODS)
    refused(paragone("run", lab, "--store", tmp_path / "no" / "a.sqlite"), "does not exist")
    refused(
        paragone("status", tmp_path / "a.sqlite"),
        "does not exist: give the file that `paragone run` wrote",
    )
    refused(paragone("status", tmp_path), "is a folder: give a file")


def test_scores_to_a_strange_file_are_refused(paragone, tmp_path):
    lab = write_lab(tmp_path, METHODS)
    paragone("run", lab, "--workers", 0)
    store = lab.with_suffix(".sqlite")
    refused(
        paragone("scores", store, "--out", tmp_path / "a.xlsx"),
        "write to a .csv or a .parquet file",
    )
    refused(paragone("scores", store, "--out", tmp_path / "no" / "a.csv"), "does not exist")
    refused(paragone("scores", store, "--metric", "mirco_f1"), "did you mean 'micro_f1'?")


def test_wrong_options_are_refused(paragone, tmp_path):
    assert paragone("run", write_lab(tmp_path, METHODS), "--workers", "-1").code == 2
    assert paragone("rum").code == 2
