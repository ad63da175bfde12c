"""Writing stored folds: what is written is what the split and the scaling give, whole or not at all."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse
from scipy.io import loadmat

from paragone.data import Dataset, SplitPlan, export_folds, load, make_splits, scale_split
from paragone.data.readers import folds as writing
from paragone.errors import InputError

PLANS = {
    "kfold": SplitPlan(folds=3),
    "holdout": SplitPlan(kind="holdout", folds=2, test_size=0.3, scale="zscore"),
    "none": SplitPlan(folds=2, scale="none"),
}


def sparse_set() -> Dataset:
    rng = np.random.default_rng(3)
    X = sparse.random_array((60, 8), density=0.2, rng=rng, format="csr")
    return Dataset("thin", X, rng.integers(0, 2, (60, 3)), "multilabel")


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("make", [lambda: load("wine-traits"), sparse_set], ids=["dense", "sparse"])
def test_a_file_holds_the_scaled_split_and_its_rows(tmp_path, plan, make):
    dataset = make()
    folder = export_folds(dataset, tmp_path, PLANS[plan], seed=42)
    assert folder == tmp_path / dataset.name
    for split in make_splits(dataset, PLANS[plan], seed=42):
        content = loadmat(folder / f"fold{split.fold}.mat")
        wanted = scale_split(
            dataset.X[split.train], dataset.X[split.test], PLANS[plan].scale or "minmax"
        )
        for name, matrix in zip(("X_train", "X_test"), wanted, strict=True):
            found = content[name].toarray() if sparse.issparse(content[name]) else content[name]
            np.testing.assert_array_equal(found, matrix)
        np.testing.assert_array_equal(content["Y_train"], dataset.y[split.train])
        np.testing.assert_array_equal(content["Y_test"], dataset.y[split.test])
        np.testing.assert_array_equal(content["train_rows"].ravel() - 1, split.train)
        np.testing.assert_array_equal(content["test_rows"].ravel() - 1, split.test)


def test_sparse_features_stay_sparse_where_the_scaling_shifts_nothing(tmp_path):
    folder = export_folds(sparse_set(), tmp_path, PLANS["kfold"], seed=1)
    assert sparse.issparse(loadmat(folder / "fold0.mat")["X_train"])


@pytest.mark.parametrize("make", [lambda: load("wine-traits"), sparse_set], ids=["dense", "sparse"])
def test_reading_gives_back_what_was_written(tmp_path, make):
    dataset = make()
    plan = SplitPlan(folds=4)
    again = load(f"folds:{export_folds(dataset, tmp_path, plan, seed=9)}")
    assert again.name == dataset.name
    assert again.feature_names == dataset.feature_names
    assert again.target_names == dataset.target_names
    for split, (train, test) in zip(
        make_splits(dataset, plan, 9), again.stored_splits, strict=True
    ):
        X_train, X_test = scale_split(dataset.X[split.train], dataset.X[split.test], "minmax")
        kept = scale_split(again.X[train], again.X[test], "none")
        np.testing.assert_array_equal(kept[0], X_train)
        np.testing.assert_array_equal(kept[1], X_test)
        np.testing.assert_array_equal(again.y[train], dataset.y[split.train])
        np.testing.assert_array_equal(again.y[test], dataset.y[split.test])


def test_the_meta_file_says_how_the_folds_were_made(tmp_path):
    dataset = load("wine-traits")
    folder = export_folds(dataset, tmp_path, PLANS["holdout"], seed=42)
    meta = json.loads((folder / "meta.json").read_text())
    sizes = {"n": dataset.n_samples, "d": dataset.n_features, "L": dataset.n_targets, "folds": 2}
    how = {"seed": 42, "test_size": 0.3, "scaler": "zscore", "split_mode": "holdout"}
    assert {key: meta[key] for key in (*sizes, *how)} == sizes | how
    kfold = export_folds(load("wine-traits"), tmp_path / "k", PLANS["kfold"], seed=42)
    assert json.loads((kfold / "meta.json").read_text())["test_size"] is None


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path):
    def contents(place, seed):
        folder = export_folds(load("wine-traits"), tmp_path / place, PLANS["kfold"], seed)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    assert contents("a", 1) == contents("b", 1) != contents("c", 2)


def test_a_label_without_positives_survives_the_round_trip(tmp_path):
    rng = np.random.default_rng(0)
    Y = np.column_stack([rng.integers(0, 2, (40, 2)), np.zeros(40)])
    folder = export_folds(
        Dataset("d", rng.random((40, 3)), Y, "multilabel"), tmp_path, PLANS["kfold"], 0
    )
    assert json.loads((folder / "meta.json").read_text())["constant_labels"] == [3]
    assert load(folder).n_targets == 3


@pytest.mark.parametrize("name", ["../outside", "/absolute", "..", "a/b", ".hidden"])
def test_no_name_leaves_the_folder(tmp_path, name):
    dataset = Dataset(name, np.random.default_rng(0).random((40, 3)), np.eye(40, 2), "multilabel")
    out = tmp_path / "inner" / "out"
    folder = export_folds(dataset, out, SplitPlan(folds=2), 0)
    assert folder.parent == out
    assert [path.name for path in out.iterdir()] == [folder.name]
    assert load(folder).name == name


def test_a_broken_export_leaves_nothing(tmp_path, monkeypatch):
    real, calls = writing._mat_bytes, []

    def fails_at_the_second(*args):
        calls.append(args)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return real(*args)

    monkeypatch.setattr(writing, "_mat_bytes", fails_at_the_second)
    with pytest.raises(InputError, match="cannot be written \\(No space left on device\\)"):
        export_folds(load("wine-traits"), tmp_path / "new" / "out", PLANS["kfold"], 0)
    assert list(tmp_path.iterdir()) == []


def test_what_stands_there_is_not_overwritten(tmp_path):
    export_folds(load("wine-traits"), tmp_path, PLANS["kfold"], 0)
    with pytest.raises(InputError, match="exists already and is not empty"):
        export_folds(load("wine-traits"), tmp_path, PLANS["kfold"], 0)


def test_only_label_matrices_are_exported(tmp_path):
    with pytest.raises(InputError, match="'iris' is for classification"):
        export_folds(load("iris"), tmp_path, PLANS["kfold"], 0)
    assert list(tmp_path.iterdir()) == []


def test_a_matrix_beyond_the_format_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "_LARGEST", 1000)
    with pytest.raises(InputError, match="holds less than 2 GiB per matrix"):
        export_folds(load("wine-traits"), tmp_path, PLANS["kfold"], 0)
    assert list(tmp_path.iterdir()) == []
