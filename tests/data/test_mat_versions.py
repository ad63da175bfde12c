"""The variables of MATLAB files come back as SciPy reads them, and what is no matrix as None."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from scipy.io import loadmat, savemat

from paragone.data.readers.mat import mat_variables

TYPES = [
    np.float64,
    np.float32,
    np.int8,
    np.uint8,
    np.int16,
    np.uint16,
    np.int32,
    np.uint32,
    np.int64,
    np.uint64,
]


def equal(ours: Any, theirs: Any) -> bool:
    if sparse.issparse(theirs):
        same = (ours.toarray(), theirs.toarray())
        return sparse.issparse(ours) and np.array_equal(*same, equal_nan=True)
    if theirs.dtype == object:
        return ours.shape == theirs.shape and all(map(equal, ours.ravel(), theirs.ravel()))
    same_type = ours.dtype == theirs.dtype.newbyteorder("=")
    return (
        same_type
        and ours.shape == theirs.shape
        and np.array_equal(ours, theirs, equal_nan=ours.dtype.kind in "fc")
    )


def matrices(types: list[type]) -> st.SearchStrategy[Any]:
    shapes = arrays.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=6)
    return st.sampled_from(types).flatmap(lambda kind: arrays.arrays(kind, shapes))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True), matrices(TYPES), min_size=1, max_size=3),
       st.booleans())  # fmt: skip
def test_matrices_of_any_type_come_back(tmp_path_factory, content, compressed):
    path = tmp_path_factory.mktemp("m") / "a.mat"
    savemat(path, content, do_compression=compressed)
    ours, theirs = mat_variables(path), loadmat(path)
    for name in content:
        assert equal(ours[name], theirs[name])


@settings(max_examples=40, deadline=None)
@given(matrices([np.float64, np.float32, np.int32, np.int16, np.uint16, np.uint8]))
def test_matrices_of_version_4_come_back(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("m") / "a.mat"
    savemat(path, {"a": content, "b": np.eye(2)}, format="4")
    ours, theirs = mat_variables(path), loadmat(path)
    assert equal(ours["a"], theirs["a"])
    assert equal(ours["b"], theirs["b"])


@pytest.mark.parametrize("version", ["4", "5"])
@pytest.mark.parametrize("compressed", [False, True])
def test_sparse_matrices_come_back(tmp_path, version, compressed):
    rng = np.random.default_rng(0)
    dense = rng.random((7, 5)) * (rng.random((7, 5)) < 0.3)
    content = {"s": sparse.csc_matrix(dense), "empty": sparse.csc_matrix((3, 2))}
    options = {"format": version} if version == "4" else {"do_compression": compressed}
    savemat(tmp_path / "a.mat", content, **options)
    ours, theirs = mat_variables(tmp_path / "a.mat"), loadmat(tmp_path / "a.mat")
    assert equal(ours["s"], theirs["s"])
    assert ours["empty"].shape == (3, 2)


def test_cells_come_back_and_what_is_no_matrix_is_told_by_name(tmp_path):
    cell = np.empty((1, 3), dtype=object)
    cell[0, 0], cell[0, 1], cell[0, 2] = (
        np.eye(2),
        np.array([[1, 2]], dtype=np.int8),
        np.zeros((0, 0)),
    )
    inner = np.empty((1, 1), dtype=object)
    inner[0, 0] = cell
    content = {
        "c": cell,
        "nested": inner,
        "text": "abc",
        "s": {"a": 1},
        "flag": np.array([[True, False]]),
        "z": 1 + 2j,
    }
    for compressed in (False, True):
        savemat(tmp_path / "a.mat", content, do_compression=compressed)
        ours, theirs = mat_variables(tmp_path / "a.mat"), loadmat(tmp_path / "a.mat")
        assert set(ours) == set(content)
        for name in ("c", "nested", "flag", "z"):
            assert equal(ours[name], theirs[name]), name
        assert ours["text"] is None
        assert ours["s"] is None


def test_files_of_the_other_byte_order_come_back(tmp_path):
    """A file of version 5 as a big-endian machine writes it, by hand."""
    values = np.arange(6.0).reshape(2, 3)
    words = lambda *numbers: np.array(numbers, dtype=">u4").tobytes()  # noqa: E731
    body = (
        words(6, 8, 6, 0) + words(5, 8, 2, 3) + np.array([1, 1], dtype=">u2").tobytes() + b"X\0\0\0"
    )
    body += words(9, 48) + values.astype(">f8").tobytes(order="F")
    path = tmp_path / "a.mat"
    path.write_bytes(
        b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI" + words(14, len(body)) + body
    )
    assert equal(mat_variables(path)["X"], loadmat(path)["X"])
    assert np.array_equal(mat_variables(path)["X"], values)


def test_a_file_in_memory_and_on_disk_is_the_same(tmp_path):
    buffer = io.BytesIO()
    savemat(buffer, {"X": np.eye(3)})
    (tmp_path / "a.mat").write_bytes(buffer.getvalue())
    assert equal(mat_variables(tmp_path / "a.mat")["X"], np.eye(3))


@pytest.mark.known_answer
def test_every_file_of_the_data_folder_is_read_as_by_scipy(data_folder):
    files = sorted(data_folder.rglob("*.mat"))
    assert files
    for path in files:
        ours = mat_variables(path)
        theirs = {name: value for name, value in loadmat(path).items() if not name.startswith("__")}
        assert set(ours) == set(theirs)
        assert all(equal(ours[name], theirs[name]) for name in theirs), path
