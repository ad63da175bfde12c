"""Archives: a whole store as a folder of plain text files with checksums, and back again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paragone.data.output import whole_folder
from paragone.errors import InputError
from paragone.hashing import sha256_of
from paragone.lab.store.copying import add_rows, check_references, new_store, reading
from paragone.lab.store.schema import (
    SCHEMA_VERSION,
    TableColumn,
    TableShape,
    missing_before,
    table_shapes,
)
from paragone.reading import check_size, parquet_batches, parse_json, read_json

READABLE = ("experiments", "datasets", "runs")
"""Tables of few rows whose text a person may want to read."""

PARQUET_LIMIT_ROWS = 1024


def file_of(shape: TableShape) -> str:
    """Return where in the archive a table stands.

    Examples
    --------
    >>> from paragone.lab.store.schema import shape_of
    >>> file_of(shape_of("runs")), file_of(shape_of("scores"))
    ('tables/runs.json', 'tables/scores.parquet')
    """
    return f"tables/{shape.name}.{'json' if shape.name in READABLE else 'parquet'}"


def write_table(path: Path, shape: TableShape, batches: Iterable[list[tuple[Any, ...]]]) -> int:
    """Write the rows of a table and return how many; equal rows give equal bytes."""
    if shape.name in READABLE:
        rows = [dict(zip(shape.names, row, strict=True)) for batch in batches for row in batch]
        path.write_text(
            json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n"
        )
        return len(rows)
    arrow, parquet = _pyarrow()
    count = 0
    schema = _arrow_schema(shape)
    # Statistics would make the bytes longer and help nobody; one row group per batch bounds the
    # memory of a reader.
    with parquet.ParquetWriter(
        path, schema, compression="zstd", write_statistics=False, store_schema=False
    ) as writer:
        for batch in batches:
            columns = [
                arrow.array(values, field.type)
                for values, field in zip(zip(*batch, strict=True), schema, strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
            count += len(batch)
    return count


def read_rows(
    path: Path, shape: TableShape, n_rows: int, where: str
) -> Iterator[list[tuple[Any, ...]]]:
    """Return the rows of a table's file, some at a time; refuse another table's columns or number of rows."""
    batches = (
        _json_rows(path, shape, where)
        if shape.name in READABLE
        else _parquet_rows(path, shape, where)
    )
    count = 0
    for batch in batches:
        count += len(batch)
        yield batch
    if count != n_rows:
        raise InputError(f"{where}: it has {count} rows, the manifest says {n_rows}")


def _json_rows(path: Path, shape: TableShape, where: str) -> Iterator[list[tuple[Any, ...]]]:
    check_size(path.stat().st_size, where)
    content = parse_json(path.read_bytes(), where)
    if not isinstance(content, list) or any(
        not isinstance(row, dict) or tuple(row) != shape.names for row in content
    ):
        raise InputError(f"{where}: expected a list of objects with {', '.join(shape.names)}")
    yield [tuple(row.values()) for row in content]


def _parquet_rows(path: Path, shape: TableShape, where: str) -> Iterator[list[tuple[Any, ...]]]:
    arrow, parquet = _pyarrow()
    wrong = (
        arrow.ArrowException,
        OSError,
        ValueError,
        NotImplementedError,
        TypeError,
        KeyError,
        MemoryError,
    )
    try:
        _check_columns(parquet.read_schema(path), shape, where)
        batches = parquet_batches(path, where, rows=PARQUET_LIMIT_ROWS)
    except InputError:
        raise
    except wrong as error:
        raise InputError(f"{where}: not a readable Parquet file ({error})") from error
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                return
            rows = [
                tuple(row)
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
            ]
        except InputError:
            raise
        except wrong as error:
            raise InputError(f"{where}: not a readable Parquet file ({error})") from error
        yield rows


def _check_columns(found: Any, shape: TableShape, where: str) -> None:
    wanted = [(column.name, str(_arrow_type(column))) for column in shape.columns]
    # A reader may call its texts and blobs large or not.
    there = [(field.name, str(field.type).removeprefix("large_")) for field in found]
    if there != [(name, kind.removeprefix("large_")) for name, kind in wanted]:
        raise InputError(
            f"{where}: its columns are not those of {shape.name} ({', '.join(shape.names)})"
        )


def _arrow_schema(shape: TableShape) -> Any:
    arrow, _ = _pyarrow()
    fields = [
        arrow.field(column.name, _arrow_type(column), nullable=not column.required)
        for column in shape.columns
    ]
    return arrow.schema(fields)


def _arrow_type(column: TableColumn) -> Any:
    arrow, _ = _pyarrow()
    types = {
        "INTEGER": arrow.int64,
        "REAL": arrow.float64,
        "TEXT": arrow.string,
        "BLOB": arrow.binary,
    }
    return types[column.type]()


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(
            "an archive holds Parquet files: pip install 'paragone[parquet]'"
        ) from error
    return pyarrow, parquet


MANIFEST = "manifest.json"
FORMAT, FORMAT_VERSION = "paragone-archive", 1
OLDEST_SCHEMA = 2
"""The first release wrote its archives with this schema; what came later is empty in them."""
_HASH = re.compile(r"[0-9a-f]{64}")
_POINTER = b"version https://git-lfs"


@dataclass(frozen=True)
class Archive:
    """What was written or read: the place, and the rows of every table.

    Examples
    --------
    >>> print(Archive(Path("kept"), {"cells": 12, "scores": 1200}))
    12 cells, 1,212 rows in all, in kept
    """

    place: Path
    rows: Mapping[str, int]

    def __str__(self) -> str:
        return (
            f"{self.rows['cells']:,} cells, {sum(self.rows.values()):,} rows in all, in"
            f" {self.place}"
        )


def export_archive(store: str | Path, folder: str | Path) -> Archive:
    """Write a store as a folder: ``manifest.json`` and one file per table under ``tables/``.

    The same store gives the same bytes. Arrays stay the npz bytes they are; nothing is pickled. The
    folder appears whole or not at all, and the store is read as it is at one instant, also while a
    run writes.

    Parameters
    ----------
    store : str or Path
        The store.
    folder : str or Path
        The folder to write; it must not exist, or be empty.

    Returns
    -------
    Archive
        What was written.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.lab.store import Store
    >>> with tempfile.TemporaryDirectory() as place:
    ...     Store(Path(place) / "a.sqlite", create=True).close()
    ...     _ = export_archive(Path(place) / "a.sqlite", Path(place) / "a")
    ...     sorted(path.name for path in (Path(place) / "a").iterdir())
    ['manifest.json', 'tables']
    """
    rows: dict[str, int] = {}
    files: dict[str, dict[str, Any]] = {}
    with reading(store) as source, whole_folder(Path(folder)) as content:
        (content / "tables").mkdir()
        for shape in table_shapes():
            path = content / file_of(shape)
            rows[shape.name] = write_table(path, shape, source.batches(shape))
            entry = {
                "sha256": sha256_of(path),
                "bytes": path.stat().st_size,
                "rows": rows[shape.name],
            }
            files[file_of(shape)] = entry
        manifest = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "schema": SCHEMA_VERSION,
            "files": files,
        }
        (content / MANIFEST).write_text(
            json.dumps(manifest, indent=1) + "\n", encoding="utf-8", newline="\n"
        )
    return Archive(Path(folder), rows)


def is_archive(folder: Path) -> bool:
    """Whether a folder says that it holds an archived store.

    Examples
    --------
    >>> is_archive(Path("no-such-folder"))
    False
    """
    return (folder / MANIFEST).is_file()


def import_archive(folder: str | Path, store: str | Path) -> Archive:
    """Make a store of an archive; every file is checked against the manifest first.

    Refused: a file that is missing, has another hash, or is a link; a manifest that names any file
    but those of the tables, so no path can lead out of the folder; a newer schema. The store
    appears whole or not at all.

    Parameters
    ----------
    folder : str or Path
        What `export_archive` wrote. Files that the manifest does not name are not looked at.
    store : str or Path
        The store to make; it must not exist.

    Returns
    -------
    Archive
        What was read.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.lab.store import Store
    >>> with tempfile.TemporaryDirectory() as place:
    ...     Store(Path(place) / "a.sqlite", create=True).close()
    ...     _ = export_archive(Path(place) / "a.sqlite", Path(place) / "a")
    ...     import_archive(Path(place) / "a", Path(place) / "b.sqlite").rows["cells"]
    0
    """
    folder, store = Path(folder), Path(store)
    files = _checked_manifest(folder)
    rows: dict[str, int] = {}
    with new_store(store) as database:
        database.execute("PRAGMA defer_foreign_keys = ON")
        for shape in table_shapes():
            name = file_of(shape)
            where = str(folder / name)
            if name not in files:
                rows[shape.name] = 0
                continue
            count = files[name]["rows"]
            for batch in read_rows(folder / name, shape, count, where):
                add_rows(database, shape, batch, where)
            rows[shape.name] = count
        check_references(database, str(folder))
    return Archive(store, rows)


def _checked_manifest(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the files of an archive by name, each proven to lie in the folder and to have its hash."""
    where = folder / MANIFEST
    if not where.is_file():
        raise InputError(f"{folder} is no archive of a store: it has no {MANIFEST}")
    _check_plain(where, folder)
    check_size(where.stat().st_size * 8, str(where))
    manifest = read_json(where)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{where}: it does not say that it is a {FORMAT}")
    schemas = range(OLDEST_SCHEMA, SCHEMA_VERSION + 1)
    for key, known in (("version", (FORMAT_VERSION,)), ("schema", schemas)):
        if type(manifest.get(key)) is not int or manifest[key] not in known:
            reads = " or ".join(map(str, known))
            raise InputError(
                f"{where}: {key} {manifest.get(key)!r} is not known here (this Paragone reads"
                f" {reads})"
            )
    files = manifest.get("files")
    if not isinstance(files, dict):
        raise InputError(f"{where}: 'files' must be an object")
    lacking = missing_before(manifest["schema"])
    wanted = [file_of(shape) for shape in table_shapes() if shape.name not in lacking]
    for name in files:
        if name not in wanted:
            raise InputError(
                f"{where}: the file {name!r} is none of an archive; a path may not leave the folder"
            )
    # All entries before any file: a manifest that is wrong somewhere costs no hashing of gigabytes.
    for name in wanted:
        _check_entry(files.get(name), name, where)
    for name in wanted:
        _check_file(folder, name, files[name])
    return files


def _check_entry(entry: Any, name: str, where: Path) -> None:
    whole = isinstance(entry, dict) and set(entry) == {"sha256", "bytes", "rows"}
    if not whole or not isinstance(entry["sha256"], str) or not _HASH.fullmatch(entry["sha256"]):
        raise InputError(f"{where}: the entry of {name!r} must say sha256, bytes and rows")
    if any(type(entry[count]) is not int or entry[count] < 0 for count in ("bytes", "rows")):
        raise InputError(f"{where}: the entry of {name!r} must say sha256, bytes and rows")


def _check_file(folder: Path, name: str, entry: Mapping[str, Any]) -> None:
    path = folder / name
    _check_plain(path, folder)
    if not path.is_file():
        raise InputError(f"{path} is missing: the archive is not complete")
    if path.stat().st_size != entry["bytes"] or sha256_of(path) != entry["sha256"]:
        with path.open("rb") as file:
            pointer = file.read(len(_POINTER)) == _POINTER
        advice = (
            "it is a git-lfs pointer: run `git lfs pull`"
            if pointer
            else "it was changed or cut off"
        )
        raise InputError(f"{path} does not agree with the manifest: {advice}")


def _check_plain(path: Path, folder: Path) -> None:
    """Refuse a link, and a place that lies outside of the folder by one on the way."""
    if path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{path} leads out of {folder}: copy the file instead of linking to it")
