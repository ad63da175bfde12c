"""Law: the read limit counts what a file becomes in memory, not the bytes that it takes on the disk."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import paragone as pg
from paragone import InputError
from paragone.data import ReadOptions
from paragone.data.readers.table import read_frame
from paragone.intake.frames import read_frame as read_scores
from paragone.reading import map_array, parquet_batches, read_arrays, read_parquet

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

LIMIT = 2**20
OVER = "more than the limit of 1 MiB"


@pytest.fixture(autouse=True)
def one_mebibyte(monkeypatch):
    monkeypatch.setenv("PARAGONE_READ_LIMIT", "1MiB")


def written(path: Path, **columns: object) -> Path:
    parquet.write_table(pa.table(columns), path, compression="zstd")
    assert path.stat().st_size < LIMIT / 20, "the file itself is small"
    return path


BOMBS = {
    "a long text that every row names": {"t": ["x" * 50_000] * 100, "y": [0.0] * 100},
    "long bytes that every row names": {"t": [b"x" * 50_000] * 100},
    "a text declared as a category": {"t": pa.array(["x" * 50_000] * 100).dictionary_encode()},
    "equal numbers": {"x": np.zeros(200_000)},
    "wide values of a fixed length": {"x": pa.array([b"x" * 50_000] * 100, pa.binary(50_000))},
}


@pytest.mark.parametrize(
    "read", [lambda path: read_frame(path), lambda path: read_scores(path)], ids=["data", "scores"]
)
@pytest.mark.parametrize("what", BOMBS)
def test_a_small_parquet_file_that_becomes_a_large_table_is_refused(read, what, tmp_path):
    with pytest.raises(InputError, match=OVER):
        read(written(tmp_path / "bomb.parquet", **BOMBS[what]))


def test_the_memory_is_not_taken_before_the_file_is_refused(tmp_path):
    """Of 2 GB of text nothing may be there: counted by the allocator that texts are written out in."""
    bomb = written(
        tmp_path / "bomb.parquet",
        t=pa.DictionaryArray.from_arrays(np.zeros(40_000, int), ["x" * 50_000]),
    )
    pool = pa.default_memory_pool()
    before = pool.max_memory()
    with pytest.raises(InputError, match=OVER):
        read_frame(bomb)
    assert pool.max_memory() - before < 50 * LIMIT


def test_lists_and_structures_are_refused_unread(tmp_path):
    for column in ([[0] * 100_000] * 20, [{"a": 1}] * 3):
        with pytest.raises(InputError, match="holds lists or structures"):
            read_frame(written(tmp_path / "nested.parquet", c=column))


def test_a_table_within_the_limit_is_what_pandas_reads(tmp_path):
    frame = pd.DataFrame(
        {
            "text": ["a", None, "ccc", "a"],
            "category": pd.Categorical(["u", "v", "u", None]),
            "number": [1.5, np.nan, -0.0, 3.0],
            "whole": [1, 2, 3, 4],
            "flag": [True, False, True, True],
            "day": pd.to_datetime(["2020-01-01", None, "2021-05-05", "2022-01-01"]),
        },
        index=pd.Index([5, 6, 7, 8], name="row"),
    )
    frame.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(
        read_parquet(tmp_path / "t.parquet", "t"), pd.read_parquet(tmp_path / "t.parquet")
    )
    batches = list(parquet_batches(tmp_path / "t.parquet", "t", rows=3))
    assert [len(batch) for batch in batches] == [3, 1]


def array_file(descr: str, shape: tuple[int, ...]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return stream.getvalue()


@pytest.mark.parametrize(
    ("descr", "shape", "words"),
    [
        ("|S0", (100_000, 1_000_000), "values of no bytes"),
        ("<U0", (3,), "values of no bytes"),
        ("|V0", (10**9,), "values of no bytes"),
        ("<f8", (10**15, 0), OVER),
        ("<f8", (0, 10**12), OVER),
    ],
)
def test_arrays_that_take_nothing_in_a_file_and_much_in_memory_are_refused(
    descr, shape, words, tmp_path
):
    content = array_file(descr, shape)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", content)
    with pytest.raises(InputError, match=words):
        read_arrays(tmp_path / "a.npz", "a.npz")
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(InputError, match=words):
        map_array(tmp_path / "a.npy", "a.npy")


def test_empty_arrays_and_texts_are_read_as_ever(tmp_path):
    np.savez(
        tmp_path / "a.npz", none=np.zeros((0, 3)), texts=np.array(["", "b"]), one=np.float64(2)
    )
    found = read_arrays(tmp_path / "a.npz", "a.npz")
    assert found["none"].shape == (0, 3)
    assert found["texts"].tolist() == ["", "b"]
    assert float(found["one"]) == 2.0


@pytest.mark.parametrize("packed", [False, True])
def test_a_table_of_missing_values_counts_eight_bytes_a_value(tmp_path, packed):
    """Half of the limit in separators is four times the limit in numbers."""
    text = ("a," * 99 + "y\n").encode() + (b"," * 99 + b"\n") * (LIMIT // 200)
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    assert len(text) < LIMIT
    with pytest.raises(InputError, match=OVER):
        read_frame(path)


def test_texts_left_out_of_a_sparse_arff_file_count(tmp_path):
    header = "@relation r\n" + "".join(f"@attribute a{i} string\n" for i in range(200)) + "@data\n"
    (tmp_path / "t.arff").write_text(header + "{}\n" * 2000)
    with pytest.raises(InputError, match=OVER):
        pg.load(tmp_path / "t.arff", options=ReadOptions(target=("a0",), task="classification"))


def test_an_archive_does_not_grow_beyond_the_limit_in_the_store(tmp_path, monkeypatch):
    from paragone.lab.archive import export_archive, import_archive, sha256_of
    from paragone.lab.store import Store

    Store(tmp_path / "a.sqlite", create=True).close()
    export_archive(tmp_path / "a.sqlite", tmp_path / "a")
    cells = tmp_path / "a" / "tables" / "cells.parquet"
    schema = parquet.read_schema(cells)
    n = 400
    text = {"status": "failed", "traceback": "x" * 10_000}
    columns = [
        (
            pa.array(
                (
                    range(n)
                    if f.name == "id"
                    else [f"{i}" for i in range(n)]
                    if f.name == "key"
                    else [1.0] * n
                ),
                f.type,
            )
            if f.name in ("id", "key", "seconds")
            else pa.array([text.get(f.name, "[]")] * n, f.type)
        )
        for f in schema
    ]
    parquet.write_table(pa.Table.from_arrays(columns, schema=schema), cells, compression="zstd")
    assert cells.stat().st_size < LIMIT / 20
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text())
    manifest["files"]["tables/cells.parquet"] = {
        "sha256": sha256_of(cells),
        "bytes": cells.stat().st_size,
        "rows": n,
    }
    (tmp_path / "a" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=OVER):
        import_archive(tmp_path / "a", tmp_path / "b.sqlite")
    assert not (tmp_path / "b.sqlite").exists()
    monkeypatch.setenv("PARAGONE_READ_LIMIT", "1GiB")
    assert import_archive(tmp_path / "a", tmp_path / "b.sqlite").rows["cells"] == n
