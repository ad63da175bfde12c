"""Source: one file or folder that results are read from, streamed and within limits; nothing in it is ever run."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from paragone.errors import InputError
from paragone.reading import check_size, parse_json

BOM = b"\xef\xbb\xbf"
HEAD = 2**16
"""Bytes of a file by which it is recognised."""
PIECE = 2**22
"""Bytes that are read at once."""
LONGEST_LINE = 2**26
"""Bytes of a line at most: one answer of a model with everything that was logged beside it is far shorter."""
CHUNK = 2**20
"""Bytes that are read at a time."""
MOST_BROKEN = 0.01
"""The share of lines that may be broken; with more, the file is not what it was taken for."""


@dataclass(frozen=True)
class Source:
    r"""A file or a folder, as readers see it.

    Parameters
    ----------
    path : Path
        Where it lies.
    given : Path, optional
        What the user named: the path itself, or a folder above it.
    name : str, optional
        What the user calls the method behind it.
    alone : bool, default=True
        Whether it is all that the user named: what it holds are then methods, and not one of
        several.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.jsonl").write_text('{"id": 1, "acc": 1.0, "doc": "long"}\n{"id": 2, "acc": 0.0}\n')
    ...     lines = Source(Path(folder) / "a.jsonl").records(["id", "acc"])
    ...     [(number, acc) for number, acc in lines]
    [(1, 1.0), (2, 0.0)]
    """

    path: Path
    given: Path | None = None
    name: str | None = None
    alone: bool = True
    broken: list[int] = field(default_factory=list, compare=False, repr=False)
    """Numbers of lines that could not be read, once all were."""

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path.is_dir()

    @property
    def where(self) -> str:
        """What messages call it."""
        return str(self.path)

    @property
    def suffix(self) -> str:
        """The ending that tells its format, in small letters, with ``.gz`` looked past."""
        path = self.path.with_suffix("") if self.path.suffix.lower() == ".gz" else self.path
        return path.suffix.lower()

    @property
    def stem(self) -> str:
        """The name without its ending."""
        path = self.path.with_suffix("") if self.path.suffix.lower() == ".gz" else self.path
        return path.stem

    @property
    def called(self) -> str:
        """What a method is called that only the path names: as the user does, or like the folder or file given."""
        if self.name is None and not self.alone and self.given is not None and self.given.is_dir():
            return self.given.resolve().name
        return self.name or self.stem

    @property
    def is_all(self) -> bool:
        """Whether this file is all that there is: what it names are then methods."""
        if not self.alone or self.name is not None or self.given in (None, self.path):
            return self.alone and self.name is None
        inside = [path for path in self.path.parent.iterdir() if not path.name.startswith(".")]
        return self.path.parent == self.given and len(inside) == 1

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The parts of its path from what the user named, which comes first."""
        base = self.given or self.path
        inside = self.path.relative_to(base).parts if self.path.is_relative_to(base) else ()
        return (base.resolve().name, *inside)

    @cached_property
    def head(self) -> bytes:
        """The first bytes of a file, unpacked; nothing of a folder."""
        if self.is_folder:
            return b""
        with self.open() as stream:
            return stream.read(HEAD)

    @property
    def text(self) -> bytes:
        """The head without a mark of the order of bytes."""
        return self.head.removeprefix(b"\xef\xbb\xbf")

    @cached_property
    def first(self) -> Any:
        """The first line of a file as JSON, or the whole of it where it is short; None where it is neither."""
        start = self.head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if start[:1] not in (b"{", b"["):
            return None
        for text in (start.split(b"\n", 1)[0], start):
            try:
                return msgspec.json.decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
        return None

    def open(self) -> IO[bytes]:
        """Open a file for reading, unpacked where it is packed with gzip."""
        try:
            stream = self.path.open("rb")
        except OSError as error:
            raise InputError(f"{self.where}: cannot be read ({error.strerror or error})") from error
        packed = stream.read(2) == b"\x1f\x8b"
        stream.seek(0)
        unpacked = (
            _Unpacked(gzip.GzipFile(fileobj=stream), stream, self.where) if packed else stream
        )
        return cast(IO[bytes], unpacked)

    def content(self) -> bytes:
        """Return all bytes of a file, within the limit."""
        pieces, size = [], 0
        with self.open() as stream:
            # Piece by piece: a read of as much as may be would take that much memory first.
            while piece := stream.read(PIECE):
                size += len(piece)
                check_size(size, self.where)
                pieces.append(piece)
        return b"".join(pieces)

    def json(self) -> Any:
        """Return what a JSON file says."""
        return parse_json(self.content().removeprefix(b"\xef\xbb\xbf"), self.where)

    def lines(self) -> Iterator[bytes]:
        """Go through the lines that are not empty, one at a time; lines end at byte 10 and nowhere else."""
        with self.open() as stream:
            while line := stream.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise InputError(
                        f"{self.where}: a line has more than {LONGEST_LINE // 2**20} MiB"
                    )
                if not line.isspace():
                    yield line

    def blocks(self, fields: Sequence[str]) -> Iterator[list[Any]]:
        """Go through a file with one JSON object per line, many lines at a time.

        Each block is a list of values with the attributes ``field_0``, ``field_1``, ...: the fields
        in the order in which they were asked for, None where one is not there. What else a line
        holds is passed over unread. Lines that are no JSON objects, such as a last one that was cut
        off, are counted in `broken`; where more than one in a hundred is, the file is refused.
        """
        line_type, decoder = _line_decoder(tuple(fields))
        del self.broken[:]
        number = 0
        for chunk in self._chunks():
            lines = None
            try:
                found = decoder.decode_lines(chunk)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                found = None
            # A line that was cut off could go on in the next one: as many objects as lines, or each
            # line by itself.
            if found is None or len(found) != chunk.count(b"\n") + (not chunk.endswith(b"\n")):
                lines = chunk.split(b"\n")[: -1 if chunk.endswith(b"\n") else None]
                found = []
                for place, line in enumerate(lines, start=number + 1):
                    if not line or line.isspace():
                        continue
                    one = _decoded_line(line, decoder, line_type, fields)
                    if one is None:
                        self.broken.append(place)
                    else:
                        found.append(one)
            number += len(found) if lines is None else len(lines)
            if found:
                yield found
        if len(self.broken) > max(1, MOST_BROKEN * number):
            raise InputError(
                f"{self.where}: {len(self.broken)} of {number} lines are no JSON objects"
            )

    def _chunks(self) -> Iterator[bytes]:
        """Go through whole lines, some mebibytes at a time."""
        rest: list[bytes] = []
        size = 0
        with self.open() as stream:
            if (mark := stream.read(3)) != b"\xef\xbb\xbf":
                rest, size = [mark], len(mark)
            while chunk := stream.read(CHUNK):
                end = chunk.rfind(b"\n") + 1
                if not end:
                    size += len(chunk)
                    if size > LONGEST_LINE:
                        raise InputError(
                            f"{self.where}: a line has more than {LONGEST_LINE // 2**20} MiB"
                        )
                    rest.append(chunk)
                    continue
                yield b"".join((*rest, chunk[:end]))
                rest, size = [chunk[end:]], len(chunk) - end
        last = b"".join(rest)
        if last and not last.isspace():
            yield last

    def records(self, fields: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Go through the lines of `blocks` one at a time, as tuples of the fields."""
        for block in self.blocks(fields):
            yield from map(msgspec.structs.astuple, block)

    def said_broken(self) -> dict[str, int]:
        """Return how many lines were left out because they are broken, and why, for `Records`."""
        return {"lines that are cut off or broken": len(self.broken)} if self.broken else {}

    def inside(self, name: str) -> Source:
        """Return a file in this folder."""
        return Source(self.path / name, self.given, self.name, self.alone)


def _line_decoder(
    fields: tuple[str, ...],
) -> tuple[type[msgspec.Struct], msgspec.json.Decoder[Any]]:
    """Return what reads some fields of a JSON object and passes over all others."""
    own = {f"field_{place}": name for place, name in enumerate(fields)}
    line = msgspec.defstruct("Line", [(name, Any, None) for name in own], rename=own)
    return line, msgspec.json.Decoder(line)


def _decoded_line(
    line: bytes,
    decoder: msgspec.json.Decoder[Any],
    line_type: type[msgspec.Struct],
    fields: Sequence[str],
) -> Any:
    """Return what a line says; None where it is no JSON object. Python's own reader knows NaN, which it also writes."""
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return line_type(*(found.get(name) for name in fields)) if isinstance(found, dict) else None


class _Unpacked(io.RawIOBase):
    """A packed file whose defects are refused in a sentence, whenever they are met."""

    def __init__(self, stream: gzip.GzipFile, file: IO[bytes], where: str) -> None:
        self._stream, self._file, self._where = stream, file, where

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._guarded(self._stream.read, size)

    def readline(self, size: int | None = -1) -> bytes:
        return self._guarded(self._stream.readline, -1 if size is None else size)

    def _guarded(self, read: Any, size: int) -> bytes:
        try:
            found: bytes = read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(
                f"{self._where}: its gzip packing is broken or cut off ({error})"
            ) from error
        return found

    def close(self) -> None:
        self._file.close()
        super().close()
