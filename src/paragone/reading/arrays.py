"""NumPy's .npz archives from elsewhere: every size is checked before memory is taken, and objects are refused."""

from __future__ import annotations

import io
import math
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.reading.sizes import check_size

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    ValueError,
    OSError,
)
_NO_HEADER = (ValueError, TypeError, KeyError, SyntaxError, RecursionError, MemoryError, OverflowError)
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_MAGIC = b"\x93NUMPY"


def read_arrays(source: Path | bytes, where: str) -> dict[str, NDArray[Any]]:
    """Read every array of an ``.npz`` archive.

    The sizes that the archive states are added up before anything is inflated, and the shape that an array states
    must be that of the bytes it has: neither a zip bomb nor a made-up shape takes memory. Pickled objects
    are refused by their type, unread.

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
    except _BROKEN as error:
        raise InputError(f"{where}: not a readable .npz file ({error})") from error


def _members(archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], where: str) -> dict[str, NDArray[Any]]:
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
        raise InputError(f"{where} holds pickled objects, which are never loaded; save plain numeric or text arrays")
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
            raise InputError(f"{where} holds pickled objects, which are never loaded; save plain numbers")
        stated = _stated(shape, dtype, where)
        if stated != path.stat().st_size - n_header:
            raise InputError(f"{where} states {stated} bytes of content and has {path.stat().st_size - n_header}")
        if stated == 0:
            # Whoever walks along a side takes a step for each place, whether there is anything or not.
            check_size(max(shape, default=0), where)
            return np.zeros(shape, dtype=dtype)
        return np.memmap(path, dtype=dtype, mode="r", offset=n_header, shape=shape, order="F" if fortran else "C")
    except OSError as error:
        raise InputError(f"{where} cannot be read ({error.strerror or error})") from error


def _stated(shape: tuple[int, ...], dtype: np.dtype[Any], where: str) -> int:
    """Return the bytes that an array states; refuse what takes no bytes in the file and takes some in memory."""
    if dtype.itemsize == 0 and 0 not in shape:
        # NumPy makes texts of no letters one letter wide: nothing in the file, and a byte for each of any number.
        raise InputError(f"{where} holds values of no bytes ({dtype.str}); save plain numeric or text arrays")
    return math.prod(shape) * dtype.itemsize


def _content(stream: IO[bytes], n_bytes: int, where: str) -> bytearray:
    content = bytearray(n_bytes)
    view, filled = memoryview(content), 0
    while filled < n_bytes:
        count = stream.readinto(view[filled:])  # type: ignore[attr-defined]  # binary streams have it
        if not count:
            raise InputError(f"{where} is cut off")
        filled += count
    return content


def _header(stream: IO[bytes], where: str) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise InputError(f"{where} is no NumPy array")
    version = stream.read(2)
    read = _HEADERS.get((version[0], version[1])) if len(version) == 2 else None
    if read is None:
        raise InputError(f"{where} is in a version of NumPy's format that is not read")
    counted = _Counted(stream)
    try:
        shape, fortran, dtype = read(counted)
    except InputError:
        raise
    # The header is a Python literal: whatever is wrong with it, NumPy lets through what its parser raises.
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
