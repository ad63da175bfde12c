"""The .npz reader and writer: round trips, and no pickle ever."""

from __future__ import annotations

import dataclasses
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from paragone.data import Dataset, load, save_npz
from paragone.errors import InputError
from paragone.reading import read_arrays


def assert_same(a: Dataset, b: Dataset) -> None:
    assert a.fingerprint == b.fingerprint
    for field in ("task", "feature_names", "target_names", "notes"):
        assert getattr(a, field) == getattr(b, field)
    assert sparse.issparse(a.X) == sparse.issparse(b.X)


@pytest.mark.parametrize(
    "name", ["digits-traits", "diabetes-by-age", "digits-by-writer", "iris", "wine-traits"]
)
def test_a_dataset_written_and_read_is_the_same(tmp_path: Path, name: str) -> None:
    dataset = dataclasses.replace(load(name), notes=("a note",))
    assert_same(load(save_npz(dataset, tmp_path / "copy.npz")), dataset)


def test_a_sparse_dataset_with_parts_written_and_read_is_the_same(tmp_path: Path) -> None:
    X = sparse.random_array((9, 5), density=0.3, rng=np.random.default_rng(0), format="csr")
    dataset = Dataset("thin", X, np.eye(9, 2), task="multilabel", train_part=np.arange(9) < 4)
    copy = load(save_npz(dataset, tmp_path / "thin.npz"))
    assert_same(copy, dataset)
    assert copy.train_part.tolist() == dataset.train_part.tolist()


def test_a_capital_y_is_a_label_matrix_and_a_small_one_needs_a_task(tmp_path: Path) -> None:
    path = tmp_path / "tiny.npz"
    np.savez(path, X=np.eye(3), Y=np.eye(3, 2))
    assert load(path).task == "multilabel"
    np.savez(path, X=np.eye(3), y=np.arange(3))
    with pytest.raises(InputError, match="task="):
        load(path)
    assert load(path, task="regression").task == "regression"


def test_pickled_content_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "evil.npz"
    np.savez(path, X=np.eye(2), y=np.array([{"a": 1}, None], dtype=object))
    with pytest.raises(InputError, match="pickled objects, which are never loaded"):
        load(path, task="classification")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 truncated", b"no zip"])
def test_a_broken_file_is_refused_with_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"broken\.npz"):
        load(path)


def test_a_single_array_is_no_dataset(tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    with path.open("wb") as file:
        np.save(file, np.eye(3))
    with pytest.raises(InputError, match="a single array"):
        load(path)


def test_missing_arrays_are_named(tmp_path: Path) -> None:
    path = tmp_path / "half.npz"
    np.savez(path, y=np.eye(3))
    with pytest.raises(InputError, match="X is missing"):
        load(path, task="multilabel")
    np.savez(path, X=np.eye(3))
    with pytest.raises(InputError, match="y or Y is missing"):
        load(path)


def test_an_archive_is_read_with_one_copy_of_it_in_memory(tmp_path):
    """The reader of zip members makes two more of whatever it is asked for at once."""
    path = tmp_path / "a.npz"
    np.savez(path, X=np.zeros((1000, 2000)), y=np.zeros(1000))
    tracemalloc.start()
    try:
        arrays = read_arrays(path, "a.npz")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * arrays["X"].nbytes
