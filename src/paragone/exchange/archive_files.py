"""The files of an archived store: one a table, Parquet for rows and arrays, JSON for what people read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.reading import check_size, parquet_batches, parse_json
from paragone.store.shapes import Column, TableShape

READABLE = ("experiments", "datasets", "runs")
"""Tables of few rows whose text a person may want to read."""

PARQUET_LIMIT_ROWS = 1024


def file_of(shape: TableShape) -> str:
    """Return where in the archive a table stands.

    Examples
    --------
    >>> from paragone.store.shapes import shape_of
    >>> file_of(shape_of("runs")), file_of(shape_of("scores"))
    ('tables/runs.json', 'tables/scores.parquet')
    """
    return f"tables/{shape.name}.{'json' if shape.name in READABLE else 'parquet'}"


def write_table(path: Path, shape: TableShape, batches: Iterable[list[tuple[Any, ...]]]) -> int:
    """Write the rows of a table and return how many; equal rows give equal bytes."""
    if shape.name in READABLE:
        rows = [dict(zip(shape.names, row, strict=True)) for batch in batches for row in batch]
        path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
        return len(rows)
    arrow, parquet = _pyarrow()
    count = 0
    schema = _arrow_schema(shape)
    # Statistics would make the bytes longer and help nobody; one row group a batch bounds the memory of a reader.
    with parquet.ParquetWriter(path, schema, compression="zstd", write_statistics=False, store_schema=False) as writer:
        for batch in batches:
            columns = [
                arrow.array(values, field.type) for values, field in zip(zip(*batch, strict=True), schema, strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
            count += len(batch)
    return count


def read_rows(path: Path, shape: TableShape, n_rows: int, where: str) -> Iterator[list[tuple[Any, ...]]]:
    """Return the rows of a table's file, some at a time; refuse another table's columns or number of rows."""
    batches = _json_rows(path, shape, where) if shape.name in READABLE else _parquet_rows(path, shape, where)
    count = 0
    for batch in batches:
        count += len(batch)
        yield batch
    if count != n_rows:
        raise InputError(f"{where}: it has {count} rows, the manifest says {n_rows}")


def _json_rows(path: Path, shape: TableShape, where: str) -> Iterator[list[tuple[Any, ...]]]:
    check_size(path.stat().st_size, where)
    content = parse_json(path.read_bytes(), where)
    if not isinstance(content, list) or any(not isinstance(row, dict) or tuple(row) != shape.names for row in content):
        raise InputError(f"{where}: expected a list of objects with {', '.join(shape.names)}")
    yield [tuple(row.values()) for row in content]


def _parquet_rows(path: Path, shape: TableShape, where: str) -> Iterator[list[tuple[Any, ...]]]:
    arrow, parquet = _pyarrow()
    wrong = (arrow.ArrowException, OSError, ValueError, NotImplementedError, TypeError, KeyError, MemoryError)
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
            rows = [tuple(row) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]
        except InputError:
            raise
        except wrong as error:
            raise InputError(f"{where}: not a readable Parquet file ({error})") from error
        yield rows


def _check_columns(found: Any, shape: TableShape, where: str) -> None:
    wanted = [(column.name, str(_arrow_type(column))) for column in shape.columns]
    # A reader may call its texts and blobs large or not.
    told = [(field.name, str(field.type).removeprefix("large_")) for field in found]
    if told != [(name, kind.removeprefix("large_")) for name, kind in wanted]:
        raise InputError(f"{where}: its columns are not those of {shape.name} ({', '.join(shape.names)})")


def _arrow_schema(shape: TableShape) -> Any:
    arrow, _ = _pyarrow()
    fields = [arrow.field(column.name, _arrow_type(column), nullable=not column.required) for column in shape.columns]
    return arrow.schema(fields)


def _arrow_type(column: Column) -> Any:
    arrow, _ = _pyarrow()
    types = {"INTEGER": arrow.int64, "REAL": arrow.float64, "TEXT": arrow.string, "BLOB": arrow.binary}
    return types[column.type]()


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise InputError("an archive holds Parquet files: pip install 'paragone[parquet]'") from error
    return pyarrow, parquet


def sha256_of(path: Path) -> str:
    """Return the hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
