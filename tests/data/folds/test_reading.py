"""Reading stored folds: every way the files may come, and one clear sentence for every way they may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import savemat

from paragone.data import (
    Dataset,
    ReadOptions,
    SplitPlan,
    describe_splits,
    load,
    make_splits,
    save_npz,
)
from paragone.data.readers.folds import FoldPart, oriented
from paragone.errors import InputError

N_TRAIN, N_TEST, N_FEATURES, N_LABELS, N_FOLDS = 9, 4, 5, 3, 3


def folds(seed: int = 0) -> list[dict[str, Any]]:
    """The matrices of three small folds, each with values of its own."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(N_FOLDS):
        Y = np.vstack(
            [np.eye(N_LABELS), np.zeros((1, N_LABELS)), rng.integers(0, 2, (N_TRAIN, N_LABELS))]
        )
        Y_train, Y_test = Y[:N_TRAIN], Y[-N_TEST:]
        made.append(
            {
                "X_train": rng.integers(0, 9, (N_TRAIN, N_FEATURES)).astype(float),
                "Y_train": Y_train,
                "X_test": rng.integers(0, 9, (N_TEST, N_FEATURES)).astype(float),
                "Y_test": Y_test,
            }
        )
    return made


def written(folder: Path, contents: list[dict[str, Any]], meta: Any = None) -> Path:
    folder.mkdir(exist_ok=True)
    for number, content in enumerate(contents):
        savemat(folder / f"fold{number}.mat", content)
    if meta is not None:
        (folder / "meta.json").write_text(json.dumps(meta))
    return folder


def parts_of(dataset: Dataset, fold: int) -> dict[str, Any]:
    train, test = dataset.stored_splits[fold]
    X = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X
    return {
        "X_train": X[train],
        "Y_train": dataset.y[train],
        "X_test": X[test],
        "Y_test": dataset.y[test],
    }


def same(dataset: Dataset, contents: list[dict[str, Any]]) -> None:
    assert len(dataset.stored_splits) == len(contents)
    for fold, content in enumerate(contents):
        for name, matrix in parts_of(dataset, fold).items():
            np.testing.assert_array_equal(matrix, content[name])


@pytest.mark.parametrize("reference", ["folds:{}", "{}"])
def test_every_fold_keeps_its_own_rows_in_their_order(tmp_path, reference):
    contents = folds()
    dataset = load(reference.format(written(tmp_path / "Arts", contents)))
    assert dataset.name == "Arts"
    assert dataset.n_samples == N_FOLDS * (N_TRAIN + N_TEST)
    same(dataset, contents)
    for split, (train, test) in zip(
        make_splits(dataset, SplitPlan(kind="stored"), 0), dataset.stored_splits, strict=True
    ):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)


CODINGS = {
    "minus one": lambda m: {**m, "Y_train": 2 * m["Y_train"] - 1, "Y_test": 2 * m["Y_test"] - 1},
    "uint8": lambda m: {name: matrix.astype(np.uint8) for name, matrix in m.items()},
    "logical": lambda m: {**m, "Y_train": m["Y_train"] == 1, "Y_test": m["Y_test"] == 1},
    "single": lambda m: {name: matrix.astype(np.float32) for name, matrix in m.items()},
    "sparse": lambda m: {name: sparse.csc_array(matrix) for name, matrix in m.items()},
    "sparse labels": lambda m: {**m, "Y_train": sparse.csc_array(m["Y_train"] == 1)},
    "labels turned": lambda m: {**m, "Y_train": m["Y_train"].T, "Y_test": m["Y_test"].T},
    "all turned": lambda m: {name: matrix.T for name, matrix in m.items()},
    "lower case": lambda m: {name.lower(): matrix for name, matrix in m.items()},
    "more variables": lambda m: {**m, "comment": "made elsewhere", "idx": np.arange(4)},
}


@pytest.mark.parametrize("coding", CODINGS)
def test_every_coding_gives_the_same_folds(tmp_path, coding):
    contents = folds()
    dataset = load(written(tmp_path / "Arts", [CODINGS[coding](content) for content in contents]))
    same(dataset, contents)
    assert any("transposed" in note for note in dataset.notes) == ("turned" in coding)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_version_73_files_read_like_version_5(tmp_path, as_sparse):
    import h5py

    contents = folds()
    folder = tmp_path / "Arts"
    folder.mkdir()
    for number, content in enumerate(contents):
        # As MATLAB does: a 512-byte preamble, and matrices by column.
        with h5py.File(folder / f"fold{number}.mat", "w", userblock_size=512) as file:
            for name, matrix in content.items():
                if as_sparse:
                    columns = sparse.csc_array(matrix)
                    group = file.create_group(name)
                    group.attrs["MATLAB_sparse"] = np.uint64(columns.shape[0])
                    group["data"], group["ir"] = columns.data, columns.indices.astype(np.uint64)
                    group["jc"] = columns.indptr.astype(np.uint64)
                else:
                    file[name] = np.ascontiguousarray(matrix.T)
        with (folder / f"fold{number}.mat").open("r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    same(load(folder), contents)


@settings(max_examples=60, deadline=None)
@given(
    n_train=st.integers(1, 6),
    n_test=st.integers(1, 6),
    d=st.integers(1, 6),
    L=st.integers(1, 6),
    turn=st.booleans(),
)
def test_turned_labels_are_found_out_unless_both_ways_agree(n_train, n_test, d, L, turn):
    rng = np.random.default_rng(0)
    parts = [
        FoldPart(Path("fold0.mat"), role, rng.random((n, d)), rng.random((n, L)))
        for role, n in (("train", n_train), ("test", n_test))
    ]
    given_parts = [part.turned(False, turn) for part in parts]
    both_agree = n_train == n_test == L
    found, _ = oriented(given_parts)
    for part, wanted in zip(found, given_parts if both_agree else parts, strict=True):
        np.testing.assert_array_equal(part.X, wanted.X)
        np.testing.assert_array_equal(part.Y, wanted.Y)


def lacking(name: str) -> Any:
    return lambda all_: [all_[0], {k: v for k, v in all_[1].items() if k != name}, all_[2]]


def changed(fold: int, **by: Any) -> Any:
    return lambda all_: [
        {**c, **{k: f(c[k]) for k, f in by.items()}} if i == fold else c for i, c in enumerate(all_)
    ]


def constant(value: int) -> Any:
    def to_constant(Y: Any) -> Any:
        Y = Y.copy()
        Y[:, 1] = value
        return Y

    return lambda all_: [
        {**c, "Y_train": to_constant(c["Y_train"]), "Y_test": to_constant(c["Y_test"])}
        for c in all_
    ]


BAD = {
    "no Y_test": (
        lacking("Y_test"),
        "fold1.mat: Y_test missing; the file holds x_test, x_train, y_train",
    ),
    "other features": (
        changed(1, X_train=lambda X: X[:, 1:], X_test=lambda X: X[:, 1:]),
        (
            "fold1.mat: X_train has 4 features, X_train of fold0.mat has 5; all folds must have the"
            " same"
        ),
    ),
    "other features in test": (
        changed(2, X_test=lambda X: X[:, 1:]),
        "fold2.mat: X_test has 4 features",
    ),
    "other labels": (
        changed(1, Y_train=lambda Y: Y[:, 1:], Y_test=lambda Y: Y[:, 1:]),
        "fold1.mat: Y_train has 2 labels, Y_train of fold0.mat has 3",
    ),
    "rows lost": (
        changed(2, Y_test=lambda Y: Y[1:]),
        "fold2.mat: X_test has 4 rows and Y_test has 3",
    ),
    "no label": (constant(0), "label 2 of 3 (y1) is negative in all rows of all folds"),
    "only label": (constant(1), 'drop = ["y1"], or keep it by "constant_labels": [2]'),
    "odd labels": (changed(0, Y_train=lambda Y: Y + 1), "fold0.mat: Y_train"),
    "empty": (
        changed(0, X_test=lambda X: X[:0], Y_test=lambda Y: Y[:0]),
        "fold0.mat: X_test is empty (0 x 5)",
    ),
    "text": (changed(1, X_train=lambda X: "text"), "fold1.mat: X_train is not a matrix of numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_folds_are_refused_with_the_place(tmp_path, case):
    spoil, sentence = BAD[case]
    with pytest.raises(InputError) as refusal:
        load(written(tmp_path / "Arts", spoil(folds())))
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ([0, 2], "fold1.mat is missing"),
        ([1, 2], "fold0.mat is missing; folds are numbered from 0"),
        ([], "no fold files"),
    ],
)
def test_gaps_in_the_numbering_are_refused(tmp_path, numbers, sentence):
    for number in numbers:
        savemat(tmp_path / f"fold{number}.mat", folds()[0])
    with pytest.raises(InputError, match=sentence):
        load(f"folds:{tmp_path}")


def test_two_files_of_one_number_are_refused(tmp_path):
    for name in ("fold0.mat", "fold00.mat"):
        savemat(tmp_path / name, folds()[0])
    with pytest.raises(InputError, match="both are fold 0"):
        load(tmp_path)


def test_a_missing_folder_and_a_folder_of_folders_are_told_apart(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        load("folds:nowhere", base=tmp_path)
    written(tmp_path / "Arts", folds())
    with pytest.raises(InputError, match="the folders Arts have some: name one of them"):
        load(f"folds:{tmp_path}")


@pytest.mark.parametrize(
    ("meta", "sentence"),
    [
        ({"folds": 4}, "meta.json says 4 folds, the files have 3"),
        ({"d": 6}, "meta.json says 6 features, the files have 5"),
        ({"L": 2}, "meta.json says 2 labels, the files have 3"),
        (
            {"target_names": ["a", "b"]},
            "target_names in meta.json must be a list of 3 different names",
        ),
        ([1], "a JSON object is needed"),
    ],
)
def test_a_meta_file_that_disagrees_is_refused(tmp_path, meta, sentence):
    with pytest.raises(InputError, match=sentence):
        load(written(tmp_path / "Arts", folds(), meta))


def test_names_come_from_the_meta_file(tmp_path):
    dataset = load(
        written(tmp_path / "Arts", folds(), {"target_names": ["a", "b", "c"], "by": "someone"})
    )
    assert dataset.target_names == ("a", "b", "c")
    assert dataset.feature_names == ("x0", "x1", "x2", "x3", "x4")


def test_a_constant_label_that_the_meta_file_lists_stays_with_a_note(tmp_path):
    contents = constant(0)(folds())
    dataset = load(written(tmp_path / "Arts", contents, {"constant_labels": [2]}))
    same(dataset, contents)
    assert "1 label is constant in all folds: 2" in dataset.notes


def test_a_constant_label_can_be_left_out(tmp_path):
    contents = constant(0)(folds())
    dataset = load(written(tmp_path / "Arts", contents), drop=["y1", "x4"])
    assert dataset.target_names == ("y0", "y2")
    same(
        dataset,
        [{k: v[:, [0, 2]] if k[0] == "Y" else v[:, :4] for k, v in c.items()} for c in contents],
    )
    with pytest.raises(InputError, match="unknown column to drop"):
        load(tmp_path / "Arts", drop=["y7"])


def test_a_label_constant_in_one_train_part_is_counted_in_a_note(tmp_path):
    contents = folds()
    contents[1]["Y_train"][:, 2] = 0
    dataset = load(written(tmp_path / "Arts", contents))
    assert "1 label is constant in the train part of fold 1: 3" in dataset.notes


def test_a_stored_set_is_split_by_its_folds_and_in_no_other_way(tmp_path):
    dataset = load(written(tmp_path / "Arts", folds()))
    stored = make_splits(dataset, SplitPlan(kind="stored"), seed=1)
    assert make_splits(dataset, SplitPlan(), seed=5) == stored
    assert make_splits(dataset, SplitPlan(scale="zscore"), seed=5) == stored
    assert describe_splits(dataset, SplitPlan()) == "the dataset's own 3 stored folds"
    for plan in (SplitPlan(folds=5), SplitPlan(kind="holdout"), SplitPlan(order=2)):
        with pytest.raises(InputError, match="comes in stored folds"):
            make_splits(dataset, plan, seed=1)
    with pytest.raises(InputError, match="does not come in stored folds"):
        make_splits(load("wine-traits"), SplitPlan(kind="stored"), seed=1)
    with pytest.raises(InputError, match="'stored' takes no folds"):
        SplitPlan(kind="stored", folds=3)


def test_stored_values_are_scaled_only_when_asked(tmp_path):
    dataset = load(written(tmp_path / "Arts", folds()))
    assert SplitPlan().scale_of(dataset) == "none"
    assert SplitPlan(kind="stored").scale_of(dataset) == "none"
    assert SplitPlan(scale="minmax").scale_of(dataset) == "minmax"
    assert SplitPlan().scale_of(load("wine-traits")) == "minmax"


def test_the_folds_are_part_of_the_fingerprint(tmp_path):
    dataset = load(written(tmp_path / "Arts", folds()))
    plain = Dataset("a", dataset.X, dataset.y, "multilabel")
    swapped = Dataset(
        "a", dataset.X, dataset.y, "multilabel", stored_splits=dataset.stored_splits[::-1]
    )
    same_again = Dataset(
        "b", dataset.X, dataset.y, "multilabel", stored_splits=dataset.stored_splits
    )
    assert len({dataset.fingerprint, plain.fingerprint, swapped.fingerprint}) == 3
    assert same_again.fingerprint == dataset.fingerprint
    assert load(save_npz(dataset, tmp_path / "again.npz")).fingerprint == dataset.fingerprint


def test_options_that_name_columns_are_refused(tmp_path):
    folder = written(tmp_path / "Arts", folds())
    with pytest.raises(InputError, match="take name= and drop="):
        load(folder, options=ReadOptions(target=("y",)))
    with pytest.raises(InputError, match="cannot be read for regression"):
        load(folder, task="regression")
    assert load(folder, name="Other").name == "Other"
