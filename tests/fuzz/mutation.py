"""Hostile inputs made from good ones: bytes flipped, cut, doubled and spliced, numbers and words put in that hurt."""

from __future__ import annotations

import gzip
import io
import random
import re
import zipfile
from collections.abc import Callable, Sequence

NUMBERS = [
    b"",
    b"0",
    b"-1",
    b"1e999",
    b"-1e999",
    b"nan",
    b"inf",
    b"NaN",
    b"1e308",
    b"4294967296",
    b"2147483648",
    b"99999999999999999999",
    b"9" * 5000,
    b"0x1F",
    b"1_000",
    b"1.5",
    b"-0.0",
    b"\xd9\xa1",
    b"1e",
    b"--1",
    b"1,5",
    b"1e-400",
]
WORDS = [
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b"\r\n",
    b"\t",
    b"'",
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"?",
    b",",
    b"%",
    b"@",
    b"@data",
    b"[" * 2000,
    b"{" * 2000,
    b"<!ENTITY a 'b'>",
    b"\xe2\x80\xa8",
    b"\xed\xa0\x80",
    b"../../x",
    b"/etc/passwd",
    b"__class__",
    b"cos\nsystem\n(S'true'\ntR.",
    b"=1+1",
    b"|O",
    b"<f8",
    b"<U999999999",
    b"999999999",
    b"(999999999, 999999999)",
    b"None",
    b"True",
    b"' '",
    b"\x1a",
    b"\x0b",
    b"\x0c",
    b"\x85",
]
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def mutated(seeds: Sequence[bytes], rng: random.Random, words: Sequence[bytes] = ()) -> bytes:
    """Return one of the seeds after one to five changes."""
    data = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        data = rng.choice(CHANGES)(data, rng, (*WORDS, *words), seeds)
    return data


def _flip(data: bytes, rng: random.Random, *_: object) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _scribble(data: bytes, rng: random.Random, *_: object) -> bytes:
    place, length = rng.randrange(len(data) + 1), rng.choice((1, 2, 4, 8, 40))
    fill = rng.choice(
        (
            rng.randbytes(length),
            b"\xff" * length,
            b"\x00" * length,
            b"\x7f" + b"\xff" * (length - 1),
        )
    )
    return data[:place] + fill + data[place + length :]


def _cut(data: bytes, rng: random.Random, *_: object) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _delete(data: bytes, rng: random.Random, *_: object) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[place + rng.choice((1, 2, 8, 64)) :]


def _double(data: bytes, rng: random.Random, *_: object) -> bytes:
    begin = rng.randrange(len(data) + 1)
    block = data[begin : begin + rng.choice((1, 4, 30, 200))]
    return data[:begin] + block * rng.choice((2, 3, 50)) + data[begin:]


def _insert(data: bytes, rng: random.Random, words: Sequence[bytes], _: object) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(words) + data[place:]


def _number(data: bytes, rng: random.Random, *_: object) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    match = rng.choice(found)
    return data[: match.start()] + rng.choice(NUMBERS) + data[match.end() :]


def _splice(data: bytes, rng: random.Random, _: object, seeds: Sequence[bytes]) -> bytes:
    other = rng.choice(seeds)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _swap_lines(data: bytes, rng: random.Random, *_: object) -> bytes:
    lines = data.split(b"\n")
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return b"\n".join(lines)


Change = Callable[[bytes, random.Random, Sequence[bytes], Sequence[bytes]], bytes]
CHANGES: list[Change] = [
    _flip,
    _flip,
    _scribble,
    _scribble,
    _cut,
    _delete,
    _double,
    _insert,
    _insert,
    _number,
    _number,
    _splice,
    _swap_lines,
]


def in_zip(seeds: Sequence[bytes], rng: random.Random, words: Sequence[bytes] = ()) -> bytes:
    """Change the zip as it is, or a member of it, which then gets the checksum that it needs to be looked at."""
    if rng.random() < 0.3:
        return mutated(seeds, rng, words)
    with zipfile.ZipFile(io.BytesIO(rng.choice(seeds))) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    name = rng.choice(sorted(members))
    members[name] = mutated([members[name]], rng, words)
    if rng.random() < 0.1:
        members.pop(rng.choice(sorted(members)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(
        buffer, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    ) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return buffer.getvalue()


def in_gzip(seeds: Sequence[bytes], rng: random.Random, words: Sequence[bytes] = ()) -> bytes:
    """Change a text, and sometimes the compressed text."""
    data = mutated(seeds, rng, words)
    if rng.random() < 0.7:
        return data
    packed = gzip.compress(data, 1)
    return packed if rng.random() < 0.5 else mutated([packed], rng)
