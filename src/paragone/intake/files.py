"""Which files results were read from: names, sizes and hashes, so that anybody can tell whether theirs are these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from paragone.errors import InputError
from paragone.hashing import sha256_of
from paragone.intake.source import Source


@dataclass(frozen=True)
class WhatWasRead:
    """Where the scores of a comparison come from.

    Parameters
    ----------
    files : DataFrame
        Every file: columns ``file``, ``bytes`` and ``sha256``.
    table : DataFrame, optional
        What was found in them: a row per format and method.
    notes : tuple of str
        What was left out and what must be known.

    Examples
    --------
    >>> files = pd.DataFrame({"file": ["scores.csv"], "bytes": [120], "sha256": ["0a1b"]})
    >>> WhatWasRead(files, notes=("one row had no score",)).notes
    ('one row had no score',)
    """

    files: pd.DataFrame
    table: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()


def file_facts(sources: Iterable[Source]) -> pd.DataFrame:
    r"""Return every file behind some sources: its name, its size and its SHA-256.

    Names begin with what the user named; no folder above it is told, unless two files had the same
    name then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_bytes(b"subject,accuracy\n1,0.5\n")
    ...     file_facts([Source(Path(folder) / "a.csv")])[["file", "bytes"]].values.tolist()
    [['a.csv', 23]]
    """
    places: dict[Path, tuple[str, ...]] = {}
    for source in sources:
        for path in _files(source.path):
            inside = path.relative_to(source.path).parts
            places.setdefault(path.resolve(), (*source.parts, *inside))
    paths = list(places)
    try:
        rows = [(path.stat().st_size, sha256_of(path)) for path in paths]
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be read ({error.strerror})") from error
    found = pd.DataFrame(rows, columns=["bytes", "sha256"])
    found.insert(0, "file", pd.Series(_told_apart(paths, list(places.values())), dtype=object))
    return found


def _files(path: Path) -> list[Path]:
    """Return a file, or the files in a folder and below, but for hidden ones; none for an object in memory."""
    if not path.is_dir():
        return [path] if path.exists() else []
    found = (one for one in sorted(path.rglob("*")) if one.is_file())
    return [
        one
        for one in found
        if not any(part.startswith(".") for part in one.relative_to(path).parts)
    ]


def _told_apart(paths: Sequence[Path], parts: Sequence[tuple[str, ...]]) -> list[str]:
    """Return names of files; those that are the same take in folders above, until they are not."""
    names = ["/".join(one) for one in parts]
    for more in range(1, max((len(path.parts) for path in paths), default=0)):
        twice = {name for name in names if names.count(name) > 1}
        if not twice:
            break
        names = [
            "/".join(path.parts[-(len(own) + more) :]) if name in twice else name
            for name, path, own in zip(names, paths, parts, strict=True)
        ]
    return names
