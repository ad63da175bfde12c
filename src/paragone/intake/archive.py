"""Members of a zip archive, Zstandard included, each within the limit of what one file may take."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

from paragone.errors import InputError
from paragone.reading import BROKEN_ARCHIVE, check_size, size_limit

ZSTANDARD = 93
"""The number of Zstandard among the methods of zip, which `zipfile` knows from Python 3.14 on."""
LOCAL_HEADER = struct.Struct("<4s22sHH")


def archive_names(path: Path) -> list[str]:
    """Return the names of the members of an archive; none where the file is no archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except BROKEN_ARCHIVE:
        return []


def read_member(path: Path, name: str) -> bytes:
    """Return the content of a member of an archive; of several with one name the last, which was written last.

    Parameters
    ----------
    path : Path
        The archive.
    name : str
        The member.

    Raises
    ------
    InputError
        The archive is broken, the member larger than it says or than the limit, or the module for
        it is not there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with zipfile.ZipFile(Path(folder) / "a.eval", "w") as archive:
    ...         archive.writestr("header.json", "{}")
    ...     read_member(Path(folder) / "a.eval", "header.json")
    b'{}'
    """
    where = f"{path}: {name}"
    try:
        with zipfile.ZipFile(path) as archive:
            member = archive.getinfo(name)
            check_size(member.file_size, where)
            try:
                stream = archive.open(member)
            except NotImplementedError:
                if member.compress_type != ZSTANDARD:
                    raise
                return _zstandard(path, member, where)
            with stream:
                return _whole(stream, member, where)
    except InputError:
        raise
    except KeyError as error:
        raise InputError(f"{where}: is not in the archive") from error
    except BROKEN_ARCHIVE as error:
        raise InputError(f"{where}: cannot be unpacked ({error})") from error


def _whole(stream: IO[bytes] | Any, member: zipfile.ZipInfo, where: str) -> bytes:
    """Read a member and a byte more: one that goes on after the size that it states is not read on."""
    content: bytes = stream.read(min(member.file_size, size_limit()) + 1)
    if len(content) != member.file_size:
        raise InputError(f"{where}: states {member.file_size} bytes and has others")
    return content


def _zstandard(path: Path, member: zipfile.ZipInfo, where: str) -> bytes:
    """Unpack a member that `zipfile` of this Python does not."""
    try:
        import zstandard
    except ImportError as error:
        raise InputError(
            f"{path}: is packed with Zstandard, which needs a module: pip install 'paragone[logs]'"
        ) from error
    with path.open("rb") as file:
        file.seek(member.header_offset)
        begin = file.read(LOCAL_HEADER.size)
        if len(begin) < LOCAL_HEADER.size:
            raise InputError(f"{where}: is cut off")
        mark, _, n_name, n_extra = LOCAL_HEADER.unpack(begin)
        if mark != b"PK\x03\x04" or member.flag_bits & 1:
            raise InputError(f"{where}: cannot be unpacked")
        file.seek(member.header_offset + LOCAL_HEADER.size + n_name + n_extra)
        packed = file.read(min(member.compress_size, size_limit()))
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
            content = _whole(stream, member, where)
    except zstandard.ZstdError as error:
        raise InputError(f"{where}: cannot be unpacked ({error})") from error
    if zlib.crc32(content) != member.CRC:
        raise InputError(f"{where}: its checksum is another one: the file was damaged")
    return content
