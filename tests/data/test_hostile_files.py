"""Files that ask for more than they have: refused by what they say, before memory is taken."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import resource
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from paragone.data import load
from paragone.data.toplists import read_scores
from paragone.errors import InputError
from paragone.reading import LIMIT_VARIABLE, check_size, read_arrays, size_limit


class Runs:
    """Would run a command when unpickled."""

    def __reduce__(self) -> tuple:
        return os.mkdir, ("was-run",)


def test_an_npz_with_pickled_objects_is_refused_and_nothing_of_it_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "bad.npz", X=np.eye(3), y=np.array([Runs(), 1, 2], dtype=object))
    with pytest.raises(InputError, match="pickled objects, which are never loaded"):
        load("bad.npz", task="classification")
    np.save(tmp_path / "bad.npy", np.array([[Runs()]], dtype=object))
    with pytest.raises(InputError, match="pickled objects"):
        read_scores("bad.npy")
    (tmp_path / "bare.npz").write_bytes(pickle.dumps(Runs()))
    with pytest.raises(InputError, match="not a readable"):
        load("bare.npz")
    assert not (tmp_path / "was-run").exists()


def npy_header(shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    return buffer.getvalue()


def test_a_zip_bomb_is_refused_by_what_it_states(tmp_path, monkeypatch):
    """A member that says honestly that it inflates to a gibibyte."""
    monkeypatch.setenv(LIMIT_VARIABLE, "64MiB")
    with (
        zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("X.npy", "w") as file,
    ):
        file.write(npy_header((2**27,)))
        for _ in range(1024):
            file.write(bytes(2**20))
    assert (tmp_path / "bomb.npz").stat().st_size < 2**21
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(
        InputError, match="1 GiB in memory, more than the limit of 64 MiB; set PARAGONE_READ_LIMIT"
    ):
        load(tmp_path / "bomb.npz")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024


@pytest.mark.parametrize("shape", [(2**40,), (2**20, 2**20), (10**30,), (3,)])
def test_an_array_that_states_more_than_it_has_is_refused(tmp_path, shape):
    with zipfile.ZipFile(tmp_path / "liar.npz", "w") as archive:
        archive.writestr("X.npy", npy_header(shape) + bytes(80))
    with pytest.raises(InputError, match=r"states .* bytes of content and has 80"):
        load(tmp_path / "liar.npz")


def test_a_lying_size_in_the_zip_directory_takes_no_memory(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy_header((2**24,)) + bytes(2**27))
    content = (tmp_path / "a.npz").read_bytes()
    # The directory says 200 bytes; the stream would give 128 MiB.
    place = content.index(b"PK\x01\x02") + 24
    (tmp_path / "a.npz").write_bytes(
        content[:place] + struct.pack("<I", 200) + content[place + 4 :]
    )
    with pytest.raises(InputError):
        load(tmp_path / "a.npz")


def test_a_changed_byte_of_an_array_is_seen(tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, a=np.arange(100.0))
    content = bytearray(buffer.getvalue())
    content[400] ^= 1
    with pytest.raises(InputError, match="CRC"):
        read_arrays(bytes(content), "a.npz")


def compressed_mat(inside: bytes) -> bytes:
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    packed = zlib.compress(inside, 9)
    return head + struct.pack("<II", 15, len(packed)) + packed


def test_a_mat_element_gives_no_more_than_it_states(tmp_path):
    (tmp_path / "liar.mat").write_bytes(compressed_mat(struct.pack("<II", 14, 16) + bytes(2**28)))
    with pytest.raises(InputError, match="not a readable MATLAB file"):
        load(tmp_path / "liar.mat")


def matrix(kind: int, shape: tuple[int, int], *parts: bytes) -> bytes:
    flags = struct.pack("<IIII", 6, 8, kind, 0)
    sides = struct.pack("<IIii", 5, 8, *shape)
    name = struct.pack("<HH4s", 1, 1, b"X")
    body = flags + sides + name + b"".join(parts)
    return struct.pack("<II", 14, len(body)) + body


HEAD = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
SPARSE_OUT_OF_PLACE = (
    struct.pack("<IIii", 5, 8, 7, 10**6),
    struct.pack("<IIiii", 5, 12, 0, 1, 2) + bytes(4),
)


@pytest.mark.parametrize(
    "content",
    [
        matrix(6, (2**30, 2**30), struct.pack("<IId", 9, 8, 1.0)),
        matrix(6, (-1, -1), struct.pack("<IId", 9, 8, 1.0)),
        matrix(5, (3, 2), *SPARSE_OUT_OF_PLACE, struct.pack("<IIdd", 9, 16, 1.0, 2.0)),
    ],
    ids=["huge", "negative", "sparse out of place"],
)
def test_a_mat_file_that_states_what_it_has_not_is_refused(tmp_path, content, monkeypatch):
    monkeypatch.setenv(LIMIT_VARIABLE, "1GiB")
    (tmp_path / "a.mat").write_bytes(HEAD + content)
    with pytest.raises(InputError, match=r"not a readable MATLAB file|more than the limit"):
        load(tmp_path / "a.mat")


def test_an_hdf_file_that_makes_its_content_up_is_refused(tmp_path):
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        file.create_dataset("X", shape=(2**20, 2**20), chunks=(1024, 1024), dtype="f8")
        file["Y"] = np.eye(3)
    with (tmp_path / "a.mat").open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    assert (tmp_path / "a.mat").stat().st_size < 10_000
    with pytest.raises(InputError, match="8 TiB in memory, more than the limit"):
        load(tmp_path / "a.mat")


@pytest.mark.parametrize("name", ["wide.csv", "wide.tsv", "wide.csv.gz"])
def test_a_table_of_100_000_columns_is_refused(tmp_path, name):
    separator = "\t" if "tsv" in name else ","
    lines = "\n".join(
        separator.join(f"c{j}" if not i else "1" for j in range(100_000)) for i in range(3)
    ).encode()
    (tmp_path / name).write_bytes(gzip.compress(lines) if name.endswith("gz") else lines)
    with pytest.raises(
        InputError,
        match=r"100000 columns, a table may have 65536; save wider data as \.npz or \.mat",
    ):
        load(tmp_path / name, target="c0", task="regression")


def test_a_gzip_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv(LIMIT_VARIABLE, "1MiB")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,y\n" + b"1,2\n" * 2**20))
    with pytest.raises(InputError, match="more than the limit of 1 MiB"):
        load(tmp_path / "a.csv.gz", target="y", task="regression")


def test_a_parquet_file_of_few_bytes_and_many_rows_is_refused(tmp_path, monkeypatch):
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(
        pa.table({"a": np.zeros(10**7), "y": np.zeros(10**7)}), tmp_path / "a.parquet"
    )
    assert (tmp_path / "a.parquet").stat().st_size < 10**6
    monkeypatch.setenv(LIMIT_VARIABLE, "64MiB")
    with pytest.raises(InputError, match="more than the limit of 64 MiB"):
        load(tmp_path / "a.parquet", target="y", task="regression")


def test_a_parquet_file_with_text_that_is_none_is_refused(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    texts = pa.array([b"\xf9", b"b"]).cast(pa.binary()).view(pa.string())
    parquet.write_table(pa.table({"a": texts, "y": [0.5, 1.0]}), tmp_path / "a.parquet")
    with pytest.raises(
        InputError, match=r"column 'a' holds text that is not UTF-8|not a readable table"
    ):
        load(tmp_path / "a.parquet", target="y", task="regression")


def test_a_parquet_file_of_numbers_that_nobody_reads_is_refused(tmp_path, monkeypatch):
    import pyarrow as pa
    from pyarrow import parquet

    def refuse(path):
        # What Arrow says of a file whose description of itself was altered.
        raise pa.ArrowNotImplementedError("Integers with more than 64 bits not implemented")

    parquet.write_table(pa.table({"a": [1, 2], "y": [0.5, 1.0]}), tmp_path / "a.parquet")
    monkeypatch.setattr(parquet, "read_metadata", refuse)
    with pytest.raises(InputError, match=r"not a readable table .*more than 64 bits"):
        load(tmp_path / "a.parquet", target="y", task="regression")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be"])
def test_entities_of_label_files_are_refused_in_any_encoding(tmp_path, encoding):
    arff = "@relation r\n@attribute a {0,1}\n@attribute x real\n@data\n1,2\n"
    laughs = '<!DOCTYPE l [<!ENTITY a "ha">]><labels><label name="&a;"/></labels>'
    (tmp_path / "d.arff").write_text(arff)
    (tmp_path / "d.xml").write_bytes(
        f'<?xml version="1.0" encoding="{encoding}"?>{laughs}'.encode(encoding)
    )
    with pytest.raises(InputError, match=r"entity declarations are not read|not well-formed"):
        load(tmp_path / "d.arff")


def test_ids_and_numbers_that_cannot_be_are_refused(tmp_path):
    from paragone.data.prescriptions import read_prescriptions
    from paragone.data.toplists import read_qrels, read_run

    for name, text, read in (
        ("a.txt", "0 4294967296\t1\n", read_prescriptions),
        ("b.txt", f"0 {'9' * 5000}\t1\n", read_prescriptions),
        ("c.txt", "q 0 d inf\n", read_qrels),
        ("d.txt", "q Q0 d 1 nan t\n", read_run),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match="line 1"):
            read(tmp_path / name)


def test_the_limit_is_read_from_the_environment_and_checked(monkeypatch):
    assert size_limit() == 8 * 2**30
    monkeypatch.setenv(LIMIT_VARIABLE, "500 MiB")
    assert size_limit() == 500 * 2**20
    check_size(500 * 2**20, "fits.npz")
    monkeypatch.setenv(LIMIT_VARIABLE, "much")
    with pytest.raises(InputError, match="write a size such as 16GiB"):
        size_limit()


def test_good_files_of_every_version_still_come_in(tmp_path):
    X, Y = np.arange(12.0).reshape(4, 3), np.eye(4, 2)
    for options in ({}, {"do_compression": True}, {"format": "4"}):
        savemat(tmp_path / "a.mat", {"X": X, "Y": Y}, **options)
        assert load(tmp_path / "a.mat").n_features == 3
    assert Path(tmp_path / "a.mat").exists()


@pytest.mark.parametrize("names", [(), ("a", "b", "c")])
def test_columns_that_a_sparse_file_only_claims_cost_nothing(tmp_path, monkeypatch, names):
    # A name per column is what such a file would become: 3 bytes of entries and 200 million
    # columns.
    monkeypatch.setenv(LIMIT_VARIABLE, "2 GiB")
    parts = {
        "X_data": np.ones(3),
        "X_indices": np.zeros(3, int),
        "X_indptr": np.arange(4),
        "X_shape": [3, 200_000_000],
    }
    np.savez(
        tmp_path / "a.npz",
        y=np.array([0, 1, 0]),
        task="classification",
        feature_names=np.array(names),
        **parts,
    )
    tracemalloc.start()
    with pytest.raises(InputError, match="more than the limit"):
        load(tmp_path / "a.npz")
    assert tracemalloc.get_traced_memory()[1] < 50 * 2**20
    tracemalloc.stop()
