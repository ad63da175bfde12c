"""The .mat reader: three layouts, orientation by agreement, files of version 7.3."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from paragone.data import load
from paragone.errors import InputError

RNG = np.random.default_rng(5)
X = RNG.random((7, 4))
Y = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0], [0, 0, 0], [1, 1, 1], [0, 1, 1]])


def saved(folder: Path, name: str = "tiny.mat", **variables: Any) -> Path:
    savemat(folder / name, variables)
    return folder / name


def cell(first: Any, second: Any) -> Any:
    both = np.empty((1, 2), dtype=object)
    both[0, 0], both[0, 1] = first, second
    return both


@pytest.mark.parametrize(
    ("given_X", "given_Y"), [(X, Y), (X.T, Y.T), (X, Y.T), (X.T, Y)], ids=["rows", "both", "Y", "X"]
)
def test_samples_become_rows_however_the_matrices_are_turned(
    tmp_path: Path, given_X: Any, given_Y: Any
) -> None:
    dataset = load(saved(tmp_path, X=given_X, Y=given_Y))
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, Y)
    assert bool(dataset.notes) == (given_X is not X or given_Y is not Y)


def test_sizes_that_agree_in_several_ways_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing says whether rows or columns"):
        load(saved(tmp_path, X=np.ones((3, 5)), Y=np.ones((3, 5))))
    with pytest.raises(InputError, match="several ways"):
        load(saved(tmp_path, X=np.ones((5, 5)), Y=np.ones((2, 5))))


def test_sizes_that_never_agree_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no side of one agrees"):
        load(saved(tmp_path, X=np.ones((7, 4)), Y=np.ones((6, 3))))


def test_labels_of_minus_one_are_zero(tmp_path: Path) -> None:
    np.testing.assert_array_equal(load(saved(tmp_path, X=X, Y=2 * Y - 1)).y, Y)


def test_labels_that_are_no_indicator_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="coded 0/1 or -1/\\+1"):
        load(saved(tmp_path, X=X, Y=Y + 1))


def test_sparse_features_stay_sparse(tmp_path: Path) -> None:
    thin = np.where(X > 0.5, X, 0)
    dataset = load(saved(tmp_path, X=sparse.csc_array(thin), Y=sparse.csc_array(Y.astype(float))))
    assert isinstance(dataset.X, sparse.csr_array)
    np.testing.assert_array_equal(dataset.X.toarray(), thin)
    np.testing.assert_array_equal(dataset.y, Y)


def test_yahoo_cells_become_two_parts(tmp_path: Path) -> None:
    code = 2 * Y - 1
    path = saved(tmp_path, train=cell(X[:4].T, code[:4].T), test=cell(X[4:].T, code[4:].T))
    dataset = load(path)
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, Y)
    assert dataset.train_part.tolist() == [True] * 4 + [False] * 3


def test_two_files_with_data_and_target_become_two_parts(tmp_path: Path) -> None:
    folder = tmp_path / "art"
    folder.mkdir()
    saved(folder, "art_train.mat", train_data=X[:5], train_target=2 * Y[:5].T - 1)
    saved(folder, "art_test.mat", test_data=X[5:], test_target=2 * Y[5:].T - 1)
    dataset = load(folder)
    assert dataset.name == "art"
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, Y)
    assert int(dataset.train_part.sum()) == 5


def test_a_single_target_column_needs_a_task(tmp_path: Path) -> None:
    path = saved(tmp_path, X=X, y=np.arange(7)[:, None] % 2)
    with pytest.raises(InputError, match="task="):
        load(path)
    assert load(path, task="classification").y.tolist() == [0, 1, 0, 1, 0, 1, 0]


def test_unknown_variables_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds a, b; expected X and Y"):
        load(saved(tmp_path, a=1, b=2))


def test_a_file_that_is_no_mat_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tiny.mat"
    path.write_bytes(b"not a mat file at all" * 20)
    with pytest.raises(InputError, match=r"tiny\.mat"):
        load(path)


def version_73(path: Path) -> Path:
    """Begin a file as MATLAB begins one of version 7.3; the content does not matter where h5py is missing."""
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(512))
    return path


def test_version_73_without_h5py_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(InputError, match="pip install h5py"):
        load(version_73(tmp_path / "tiny.mat"))


def test_version_73_is_read_like_the_older_versions(tmp_path: Path) -> None:
    import h5py

    path = tmp_path / "tiny.mat"
    thin = sparse.csc_array(np.where(X > 0.5, X, 0))
    with h5py.File(path, "w", userblock_size=512) as file:
        refs = file.create_group("#refs#")
        for part, rows in (("train", slice(0, 4)), ("test", slice(4, 7))):
            block = sparse.csc_array(thin[rows].T)
            group = refs.create_group(f"{part}_x")
            group["data"], group["ir"], group["jc"] = block.data, block.indices, block.indptr
            group.attrs["MATLAB_sparse"] = np.uint64(block.shape[0])
            refs[f"{part}_y"] = Y[rows]  # HDF5 holds MATLAB's (labels x rows) the other way round
            cells = file.create_dataset(part, (2, 1), dtype=h5py.ref_dtype)
            cells[0, 0], cells[1, 0] = group.ref, refs[f"{part}_y"].ref
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    dataset = load(path)
    np.testing.assert_array_equal(dataset.X.toarray(), thin.toarray())
    np.testing.assert_array_equal(dataset.y, Y)
    assert int(dataset.train_part.sum()) == 4
