"""Reading what others wrote: sizes are checked before memory is taken, and nothing in a file is ever run."""

from __future__ import annotations

import io
import json
import math
import os
import re
import tokenize
import tomllib
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from paragone.errors import InputError

__all__ = [
    "BROKEN_ARCHIVE",
    "LIMIT_VARIABLE",
    "check_size",
    "map_array",
    "parquet_batches",
    "parse_json",
    "parse_toml",
    "read_arrays",
    "read_json",
    "read_object_if_any",
    "read_parquet",
    "read_toml",
    "size_limit",
]


def parse_json(text: str | bytes, where: str) -> Any:
    """Return what a JSON text says.

    Examples
    --------
    >>> parse_json('{"a": [1, 2]}', "tiny.json")
    {'a': [1, 2]}
    >>> parse_json("[" * 100_000, "deep.json")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: deep.json: cannot be read as JSON (it is nested too deeply)
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{where}: cannot be read as JSON ({error})") from error
    except RecursionError as error:
        raise InputError(f"{where}: cannot be read as JSON (it is nested too deeply)") from error


def read_json(path: Path, where: str | None = None) -> Any:
    """Return what a JSON file says."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{where or path}: cannot be read ({error.strerror or error})") from error
    return parse_json(content, where or str(path))


def read_object_if_any(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file says; nothing where there is no such file.

    Examples
    --------
    >>> read_object_if_any(Path("no such folder/meta.json"))
    {}
    """
    if not path.is_file():
        return {}
    content = read_json(path)
    if not isinstance(content, dict):
        raise InputError(f"{path}: a JSON object is needed")
    return content


LIMIT_VARIABLE = "PARAGONE_READ_LIMIT"
DEFAULT_LIMIT = 8 * 2**30
_UNITS = {"": 1, "B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_SIZE = re.compile(r"\s*(\d{1,15})\s*([A-Za-z]*)\s*")


def size_limit() -> int:
    """Return the most bytes one file may become in memory: 8 GiB, or what ``PARAGONE_READ_LIMIT`` says.

    Examples
    --------
    >>> size_limit() > 0
    True
    """
    text = os.environ.get(LIMIT_VARIABLE)
    if text is None:
        return DEFAULT_LIMIT
    match = _SIZE.fullmatch(text)
    if match is None or match[2].upper() not in _UNITS:
        raise InputError(f"{LIMIT_VARIABLE}={text!r}: write a size such as 16GiB or 500MiB")
    return int(match[1]) * _UNITS[match[2].upper()]


def check_size(n_bytes: int, where: str) -> None:
    """Refuse content that says it will take more memory than one file may.

    Examples
    --------
    >>> check_size(10**15, "bomb.npz")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: bomb.npz: its content takes 909.5 TiB in memory, more than the limit
    of 8 GiB; ...
    """
    limit = size_limit()
    if n_bytes > limit:
        raise InputError(
            f"{where}: its content takes {_spoken(n_bytes)} in memory, more than the limit of"
            f" {_spoken(limit)}; set {LIMIT_VARIABLE} higher if you trust the file"
        )


def _spoken(n_bytes: int) -> str:
    size, units = float(n_bytes), ["bytes", "KiB", "MiB", "GiB"]
    for unit in units:
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"


BROKEN_ARCHIVE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    ValueError,
    OSError,
)
_NO_HEADER = (
    ValueError,
    TypeError,
    KeyError,
    SyntaxError,
    RecursionError,
    MemoryError,
    OverflowError,
)
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_MAGIC = b"\x93NUMPY"


def read_arrays(source: Path | bytes, where: str) -> dict[str, NDArray[Any]]:
    """Read every array of an ``.npz`` archive.

    The sizes that the archive states are added up before anything is inflated, and the shape that
    an array states must be that of the bytes it has: neither a zip bomb nor a made-up shape takes
    memory. Pickled objects are refused by their type, unread.

    Parameters
    ----------
    source : Path or bytes
        The file, or its content.
    where : str
        What messages call it.

    Returns
    -------
    dict
        The arrays by name.

    Examples
    --------
    >>> buffer = io.BytesIO()
    >>> np.savez(buffer, a=np.arange(3))
    >>> read_arrays(buffer.getvalue(), "tiny.npz")
    {'a': array([0, 1, 2])}
    """
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    try:
        with zipfile.ZipFile(stream) as archive:
            members = archive.infolist()
            check_size(sum(member.file_size for member in members), where)
            return _members(archive, members, where)
    except InputError:
        raise
    except BROKEN_ARCHIVE as error:
        raise InputError(f"{where}: not a readable .npz file ({error})") from error


def _members(
    archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], where: str
) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    for member in members:
        name = member.filename.removesuffix(".npy")
        if name in found:
            raise InputError(f"{where}: the array {name!r} stands twice")
        with archive.open(member) as stream:
            found[name] = read_array(stream, member.file_size, f"{where}: the array {name!r}")
            # At the end of a member, and not before, its checksum is looked at.
            stream.read(1)
    return found


def read_array(stream: IO[bytes], n_bytes: int, where: str) -> NDArray[Any]:
    """Read one array in NumPy's own format from a stream of so many bytes."""
    shape, fortran, dtype, n_header = _header(stream, where)
    if dtype.hasobject:
        raise InputError(
            f"{where} holds pickled objects, which are never loaded; save plain numeric or text"
            " arrays"
        )
    stated = _stated(shape, dtype, where)
    if stated != n_bytes - n_header:
        raise InputError(f"{where} states {stated} bytes of content and has {n_bytes - n_header}")
    check_size(max(stated, *shape, 0), where)
    if stated == 0:
        return np.zeros(shape, dtype=dtype)
    array = np.frombuffer(_content(stream, stated, where), dtype=dtype)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def map_array(path: Path, where: str) -> NDArray[Any]:
    """Map an ``.npy`` file into memory without reading it, after the same checks as for an archive."""
    try:
        with path.open("rb") as stream:
            shape, fortran, dtype, n_header = _header(stream, where)
        if dtype.hasobject:
            raise InputError(
                f"{where} holds pickled objects, which are never loaded; save plain numbers"
            )
        stated = _stated(shape, dtype, where)
        if stated != path.stat().st_size - n_header:
            raise InputError(
                f"{where} states {stated} bytes of content and has {path.stat().st_size - n_header}"
            )
        if stated == 0:
            # Whoever walks along a side takes a step for each place, whether there is anything or
            # not.
            check_size(max(shape, default=0), where)
            return np.zeros(shape, dtype=dtype)
        return np.memmap(
            path, dtype=dtype, mode="r", offset=n_header, shape=shape, order="F" if fortran else "C"
        )
    except OSError as error:
        raise InputError(f"{where} cannot be read ({error.strerror or error})") from error


def _stated(shape: tuple[int, ...], dtype: np.dtype[Any], where: str) -> int:
    """Return the bytes that an array states; refuse what takes no bytes in the file and takes some in memory."""
    if dtype.itemsize == 0 and 0 not in shape:
        # NumPy makes texts of no letters one letter wide: nothing in the file, and a byte for each
        # of any number.
        raise InputError(
            f"{where} holds values of no bytes ({dtype.str}); save plain numeric or text arrays"
        )
    return math.prod(shape) * dtype.itemsize


PIECE_BYTES = 1 << 20


def _content(stream: IO[bytes], n_bytes: int, where: str) -> bytearray:
    content = bytearray(n_bytes)
    view, filled = memoryview(content), 0
    while filled < n_bytes:
        # In pieces: a member of an archive reads all that it is asked for into memory of its own
        # first, twice.
        count = stream.readinto(view[filled : filled + PIECE_BYTES])  # type: ignore[attr-defined]
        if not count:
            raise InputError(f"{where} is cut off")
        filled += count
    return content


def _header(stream: IO[bytes], where: str) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise InputError(f"{where} is not a NumPy array")
    version = stream.read(2)
    read = _HEADERS.get((version[0], version[1])) if len(version) == 2 else None
    if read is None:
        raise InputError(f"{where} is in a version of NumPy's format that is not read")
    counted = _Counted(stream)
    try:
        shape, fortran, dtype = read(counted)
    except InputError:
        raise
    # The header is a Python literal: whatever is wrong with it, NumPy lets through what its parser
    # raises.
    except (*_NO_HEADER, tokenize.TokenError) as error:
        raise InputError(f"{where} has a broken header") from error
    if any(side < 0 for side in shape) or len(shape) > 32:
        raise InputError(f"{where} has a broken header")
    return shape, fortran, dtype, counted.count + len(_MAGIC) + 2


class _Counted:
    """Counts what is read from a stream."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self.count += len(content)
        return content


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
    check_size(_parquet_stated(about), where)
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
            told = (
                f"the column {column.path!r} holds lists or structures; a table has one value per"
                " cell"
            )
            raise InputError(f"{where}: {told}")
        if column.physical_type == "BYTE_ARRAY":
            found.append(column.path)
    return found


def _parquet_stated(about: Any) -> int:
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
    if (
        types.is_binary(texts.type)
        or types.is_large_binary(texts.type)
        or types.is_unicode(texts.type)
    ):
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


MOST_PARTS = 100
"""The most parts of a dotted key: the time that a parser takes grows with their square."""

LONGEST = 20_000_000
"""The most characters of a document: nobody writes a larger one by hand."""

_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}){{{MOST_PARTS}}}")


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return what a TOML text says.

    Examples
    --------
    >>> parse_toml("a = [1, 2]", "tiny.toml")
    {'a': [1, 2]}
    >>> parse_toml("a = " + "[" * 10_000, "deep.toml")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: deep.toml is not valid TOML: it is nested too deeply
    >>> parse_toml(".".join("a" * 100_000) + " = 1", "dots.toml")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: dots.toml, line 1: a dotted key has more than 100 parts
    """
    # Some editors begin a file with a byte order mark, which TOML does not know.
    text = text.removeprefix("\ufeff")
    if len(text) > LONGEST:
        raise InputError(f"{where} has {len(text)} characters; more than {LONGEST} are not read")
    found = _LONG_KEY.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise InputError(f"{where}, line {line}: a dotted key has more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except ValueError as error:
        # Also for numbers of thousands of digits, which the parser hands to Python unseen.
        raise InputError(f"{where} is not valid TOML: {error}") from error
    except RecursionError as error:
        raise InputError(f"{where} is not valid TOML: it is nested too deeply") from error


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file says."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start})") from error
    return parse_toml(text, str(path))
