"""CSV, TSV and Parquet: targets and task are declared, text is coded, nothing is lost silently."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas
import pytest

from paragone.data import load
from paragone.errors import InputError

CSV = "id,size,town,who,price\nu,1,Bari,A,5\nv,2,Asti,B,6\nw,,Bari,A,7\n"


@pytest.fixture
def houses(tmp_path: Path) -> Path:
    path = tmp_path / "houses.csv"
    path.write_text(CSV)
    return path


def test_a_table_gives_features_target_and_groups(houses: Path) -> None:
    dataset = load(houses, target="price", task="regression", groups="who")
    assert dataset.name == "houses"
    assert dataset.feature_names == ("size", "town=Asti", "town=Bari")
    np.testing.assert_array_equal(dataset.X, [[1, 0, 1], [2, 1, 0], [np.nan, 0, 1]])
    assert dataset.y.tolist() == [5.0, 6.0, 7.0]
    assert dataset.groups.tolist() == ["A", "B", "A"]
    assert any("'id'" in note for note in dataset.notes)
    assert "1 missing feature value(s) kept as NaN" in dataset.notes


def test_ordinal_codes_are_positions_in_sorted_order(houses: Path) -> None:
    dataset = load(houses, target="price", task="regression", nominal="ordinal", drop=["who"])
    assert dataset.feature_names == ("size", "town")
    assert dataset.X[:, 1].tolist() == [1.0, 0.0, 1.0]


def test_parquet_and_gzipped_tsv_are_the_same_data_as_csv(houses: Path, tmp_path: Path) -> None:
    frame = pandas.read_csv(houses)
    frame.to_parquet(tmp_path / "houses.parquet")
    (tmp_path / "houses.tsv").write_bytes(gzip.compress(CSV.replace(",", "\t").encode()))
    how = {"target": "price", "task": "regression", "groups": "who"}
    prints = {
        load(tmp_path / f"houses.{end}", **how).fingerprint for end in ("csv", "parquet", "tsv")
    }
    assert len(prints) == 1


def test_the_task_is_never_guessed(houses: Path) -> None:
    with pytest.raises(InputError, match="task="):
        load(houses, target="price")
    with pytest.raises(InputError, match="target="):
        load(houses, task="regression")


def test_several_targets_of_zero_and_one_are_labels_only_when_declared(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,a,b\n1,0,1\n2,1,1\n")
    assert load(path, target=["a", "b"], task="multilabel").y.dtype == np.uint8
    assert load(path, target=["a", "b"], task="regression").y.dtype == np.float64
    with pytest.raises(InputError, match="one target column"):
        load(path, target=["a", "b"], task="classification")


def test_classes_keep_the_values_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,c,n\n1,yes,3\n2,no,7\n")
    assert load(path, target="c", task="classification").y.tolist() == ["yes", "no"]
    numbers = load(path, target="n", task="classification").y
    assert numbers.tolist() == [3, 7]
    assert numbers.dtype.kind == "i"


def test_missing_regression_targets_are_kept_and_counted_and_missing_classes_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y,c\n1,,a\n2,3,\n")
    dataset = load(path, target="y", task="regression", drop="c")
    assert np.isnan(dataset.y).tolist() == [True, False]
    assert any("1 missing target value(s)" in note for note in dataset.notes)
    with pytest.raises(InputError, match="'c' misses 1 value"):
        load(path, target="c", task="classification")
    with pytest.raises(InputError, match="missing values"):
        load(path, target="y", task="multilabel", drop="c")


@pytest.mark.parametrize("option", ["target", "groups", "drop"])
def test_a_wrong_column_name_gets_the_nearest_one(houses: Path, option: str) -> None:
    given = {
        "target": "price",
        "task": "regression",
        option: "sise" if option != "target" else "prise",
    }
    with pytest.raises(InputError, match="did you mean"):
        load(houses, **given)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b""),
        ("t.csv", b'a,b\n"1,2\n'),
        ("t.parquet", b"PAR1nonsense"),
        ("t.csv", b"a,b\n"),
    ],
)
def test_an_unreadable_table_is_refused_with_its_name(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=name.replace(".", r"\.")):
        load(tmp_path / name, target="a", task="regression")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,x,y\n1,2,3\n", "'x' stands twice"),
        ("x,y\n1,2,3\n4,5,6\n", "more fields than its header"),
    ],
)
def test_what_pandas_would_mend_silently_is_refused(
    tmp_path: Path, content: str, message: str
) -> None:
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(InputError, match=message):
        load(tmp_path / "t.csv", target="y", task="regression")


def test_a_nameless_column_that_counts_the_rows_is_left_out_and_a_named_one_pointed_at(
    tmp_path: Path,
) -> None:
    (tmp_path / "t.csv").write_text(",number,x,y\n0,1,5,1\n1,2,7,2\n2,3,6,3\n")
    dataset = load(tmp_path / "t.csv", target="y", task="regression")
    assert dataset.feature_names == ("number", "x")
    assert [note.split(":")[0] for note in dataset.notes] == [
        "column 0 left out",
        "column 'number' counts the rows",
    ]
    assert load(tmp_path / "t.csv", target="y", task="regression", drop_ids=False).n_features == 3


def matrix_folder(folder: Path, **meta: object) -> Path:
    folder.mkdir()
    (folder / "X.csv").write_text("900,902\n1,2\n3,4\n5,6\n")
    (folder / "y.csv").write_text("octane,train,who\n7,True,a\n,False,b\n9,True,b\n")
    (folder / "META.json").write_text(json.dumps(meta))
    return folder


def test_a_folder_with_matrices_follows_its_meta_file(tmp_path: Path) -> None:
    folder = matrix_folder(
        tmp_path / "fuel",
        task="regression",
        targets=["octane", "train"],
        split="column train",
        groups="who",
    )
    dataset = load(folder)
    assert dataset.name == "fuel"
    assert dataset.target_names == ("octane",)
    np.testing.assert_array_equal(dataset.y, [7, np.nan, 9])
    assert dataset.train_part.tolist() == [True, False, True]
    assert dataset.groups.tolist() == ["a", "b", "b"]
    assert dataset.feature_names == ("900", "902")


def test_a_folder_with_matrices_of_unlike_length_is_refused(tmp_path: Path) -> None:
    folder = matrix_folder(tmp_path / "fuel", task="regression", targets=["octane"])
    (folder / "y.csv").write_text("octane\n1\n")
    with pytest.raises(InputError, match=r"X\.csv has 3 rows and y\.csv has 1"):
        load(folder)


def test_a_folder_with_matrices_and_no_task_is_refused(tmp_path: Path) -> None:
    folder = matrix_folder(tmp_path / "fuel", targets=["octane"])
    with pytest.raises(InputError, match="task="):
        load(folder)
    assert load(folder, task="regression").n_targets == 1


@pytest.mark.parametrize("classes", [["b", "a", "c", "a"], [3, 1, 2, 1]])
def test_every_class_of_one_target_is_a_label_where_labels_are_asked_for(
    tmp_path: Path, classes: list[object]
) -> None:
    path = tmp_path / "t.csv"
    pandas.DataFrame({"x": [1.0, 2.0, 3.5, 4.0], "kind": classes}).to_csv(path, index=False)
    dataset = load(path, target="kind", task="multilabel")
    assert dataset.feature_names == ("x",)
    assert dataset.target_names == tuple(f"kind={one}" for one in sorted(set(classes), key=str))
    np.testing.assert_array_equal(
        dataset.y, [[one == label for label in sorted(set(classes), key=str)] for one in classes]
    )
    assert "one label per class of 'kind': 3 labels" in dataset.notes


def test_measured_numbers_are_no_classes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,size\n1,0.5\n2,1.5\n3,2.5\n")
    with pytest.raises(InputError):
        load(path, target="size", task="multilabel")
