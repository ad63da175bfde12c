"""Parquet from elsewhere: what a file becomes in memory is counted before it does, not what it takes on the disk.

A few bytes may stand for many: values are run-length encoded, and a text that stands in a dictionary once can be named
by every row. So texts are read as dictionaries first, where each takes its place once, and the size of the column is
worked out from the lengths of the texts and the rows that name them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.reading.sizes import check_size

BATCH_ROWS = 4096
VALUE_BYTES = 8
"""What a number, or the place of a text, takes in memory."""


def parquet_batches(path: Path, where: str, *, rows: int = BATCH_ROWS) -> Iterator[Any]:
    """Read a Parquet file some rows at a time, as record batches whose sizes together keep the limit.

    Parameters
    ----------
    path : Path
        The file.
    where : str
        What messages call it.
    rows : int, default=4096
        Rows of a batch at most.

    Yields
    ------
    pyarrow.RecordBatch
        Of the columns as they are declared.
    """
    from pyarrow import parquet

    plain = parquet.read_schema(path)
    about = parquet.read_metadata(path)
    texts = _texts(about, where)
    check_size(_stated(about), where)
    size = 0
    with parquet.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(batch_size=rows):
            size += sum(_size(column) for column in batch.columns)
            check_size(size, where)
            yield _decoded(batch, plain)


def read_parquet(path: Path, where: str) -> Any:
    """Read a Parquet file as a pandas frame, as `pandas.read_parquet` does, within the limit.

    Examples
    --------
    >>> import tempfile
    >>> import pandas
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_parquet(Path(folder) / "t.parquet")
    ...     read_parquet(Path(folder) / "t.parquet", "t.parquet").shape
    (2, 2)
    """
    import pyarrow
    from pyarrow import parquet

    batches = list(parquet_batches(path, where))
    return pyarrow.Table.from_batches(batches, parquet.read_schema(path)).to_pandas()


def _texts(about: Any, where: str) -> list[str]:
    """Name the columns of texts or bytes; refuse columns that hold lists or structures."""
    found = []
    for place in range(about.num_columns):
        column = about.schema.column(place)
        if column.max_repetition_level or column.path != column.name:
            told = f"the column {column.path!r} holds lists or structures; a table has one value a cell"
            raise InputError(f"{where}: {told}")
        if column.physical_type == "BYTE_ARRAY":
            found.append(column.path)
    return found


def _stated(about: Any) -> int:
    """Return the bytes that the values of all columns take, texts aside."""
    widths = [about.schema.column(place).length or 0 for place in range(about.num_columns)]
    return sum(max(VALUE_BYTES, width) * about.num_rows for width in widths)


def _size(column: Any) -> int:
    """Return the bytes of a column once every row has its own text."""
    import pyarrow.compute as pc
    from pyarrow import types

    if not types.is_dictionary(column.type):
        return int(column.nbytes)
    texts = column.dictionary
    size = len(column) * VALUE_BYTES
    if types.is_binary(texts.type) or types.is_large_binary(texts.type) or types.is_unicode(texts.type):
        size += int(pc.sum(pc.binary_length(texts).cast("int64").take(column.indices)).as_py() or 0)
    return size


def _decoded(batch: Any, plain: Any) -> Any:
    """Return a batch with the types that the file declares: dictionaries that it did not declare are written out."""
    import pyarrow
    from pyarrow import types

    columns = []
    for column, field in zip(batch.columns, plain, strict=True):
        written_out = types.is_dictionary(column.type) and not types.is_dictionary(field.type)
        values = column.dictionary_decode() if written_out else column
        columns.append(values if values.type == field.type else values.cast(field.type))
    return pyarrow.RecordBatch.from_arrays(columns, schema=plain)
