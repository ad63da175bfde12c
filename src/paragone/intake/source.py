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
from typing import IO, Any

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
    part : str, optional
        Which of several tables in the file, as in ``paper.md#2``.

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
    part: str | None = None
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
        """The ending that tells its format, in small letters, with ``.gz`` looked past; none of a folder."""
        return "" if self.is_folder else self._unpacked.suffix.lower()

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return self._unpacked.stem

    @property
    def _unpacked(self) -> Path:
        return self.path.with_suffix("") if self.path.suffix.lower() == ".gz" else self.path

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
        return self.head.removeprefix(BOM)

    @cached_property
    def first(self) -> Any:
        """The first line of a file as JSON, or the whole of it where it is short; None where it is neither."""
        start = self.text.lstrip()
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
        if stream.peek(2)[:2] != b"\x1f\x8b":
            return stream
        stream.close()
        return io.BufferedReader(_Unpacked(gzip.GzipFile(self.path), self.where))

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
        return parse_json(self.content().removeprefix(BOM), self.where)

    def lines(self) -> Iterator[bytes]:
        """Go through the lines that are not empty, one at a time; lines end at byte 10 and nowhere else."""
        with self.open() as stream:
            while line := stream.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise InputError(
                        f"{self.where}: a line has more than {LONGEST_LINE // 2**20} MiB"
                    )
                if not line.isspace():
                    yield line.removeprefix(BOM)

    def records(self, fields: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Go through a file with one JSON object per line.

        Each is a tuple of the fields that were asked for, None where one is not there; what else a
        line holds is passed over unread. Lines that are no JSON objects, such as a last one that
        was cut off, are counted in `broken`; where more than one in a hundred is, the file is
        refused.
        """
        own = {f"field_{place}": name for place, name in enumerate(fields)}
        kind = msgspec.defstruct("Line", [(name, Any, None) for name in own], rename=own)
        decoder = msgspec.json.Decoder(kind)
        del self.broken[:]
        number = 0
        for number, line in enumerate(self.lines(), start=1):
            try:
                yield msgspec.structs.astuple(decoder.decode(line))
                continue
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                found = _of_python(line)
            if isinstance(found, dict):
                yield tuple(found.get(name) for name in fields)
            else:
                self.broken.append(number)
        if len(self.broken) > max(1, MOST_BROKEN * number):
            raise InputError(
                f"{self.where}: {len(self.broken)} of {number} lines are no JSON objects"
            )

    def said_broken(self) -> dict[str, int]:
        """Return how many lines were left out because they are broken, and why, for `Records`."""
        return {"lines that are cut off or broken": len(self.broken)} if self.broken else {}

    def inside(self, name: str) -> Source:
        """Return a file in this folder."""
        return Source(self.path / name, self.given, self.name, self.alone)


def _of_python(line: bytes) -> Any:
    """Return what Python's own reader makes of a line: it knows NaN, which programs in Python also write."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


class _Unpacked(io.RawIOBase):
    """A packed file whose defects are refused in a sentence, whenever they are met."""

    def __init__(self, stream: gzip.GzipFile, where: str) -> None:
        self._stream, self._where = stream, where

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return self._stream.readinto(buffer)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(
                f"{self._where}: its gzip packing is broken or cut off ({error})"
            ) from error

    def close(self) -> None:
        if self._stream.myfileobj is not None:
            self._stream.myfileobj.close()
        super().close()
