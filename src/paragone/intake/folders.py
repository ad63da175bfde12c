"""What readers of folders share: the files in one, reading them one by one, and naming the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

from paragone.errors import InputError
from paragone.intake.source import Source

SHOWN = 4
LONG = 50
"""Letters of a name above which it is cut down to what tells it from the others."""
One = TypeVar("One")
Read = TypeVar("Read")


def files_in(folder: Path) -> list[Source]:
    """Return what lies in a folder, in order; hidden files are none of it."""
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror or error})") from error
    return [Source(path, folder) for path in paths]


def read_each(sources: Iterable[One], read: Callable[[One], Read]) -> tuple[list[Read], list[str]]:
    """Read several sources one by one; one that cannot be read costs itself, and is told of.

    Returns
    -------
    found : list
        What was read.
    unread : list of str
        Why the others were not. Where nothing at all can be read, the first reason is raised.

    Examples
    --------
    >>> def read(text):
    ...     if not text:
    ...         raise InputError("b.json: it is empty")
    ...     return len(text)
    >>> read_each(["four", ""], read)
    ([4], ['b.json: it is empty'])
    """
    found: list[Read] = []
    failed: list[InputError] = []
    for one in sources:
        try:
            found.append(read(one))
        except InputError as error:
            failed.append(error)
    if failed and not found:
        raise failed[0]
    return found, [str(error) for error in failed]


def said_unread(unread: Sequence[str]) -> tuple[str, ...]:
    """Return the sentence about sources that could not be read, with the reasons.

    Examples
    --------
    >>> said_unread(["b.json: it is empty"])
    ('1 file could not be read and is left out: b.json: it is empty.',)
    """
    if not unread:
        return ()
    count = "1 file" if len(unread) == 1 else f"{len(unread)} files"
    verb = "is" if len(unread) == 1 else "are"
    return (f"{count} could not be read and {verb} left out: {few(unread, '; ')}.",)


def few(names: Iterable[str], between: str = ", ") -> str:
    """Name some and count the others.

    Examples
    --------
    >>> few("abc"), few("abcdef")
    ('a, b, c', 'a, b, c and 3 more')
    """
    known = list(names)
    if len(known) <= SHOWN:
        return between.join(known)
    return f"{between.join(known[: SHOWN - 1])} and {len(known) - SHOWN + 1} more"


def short_names(names: Sequence[str]) -> list[str]:
    """Return the shortest names that tell the same things apart, where one is long: what all share goes.

    Examples
    --------
    >>> place = "runs/2024/results/a-very-long-name-of-a-study-of-ours"
    >>> short_names([f"{place}/ppo", f"{place}/sac"])
    ['ppo', 'sac']
    >>> short_names(["ppo", "sac"])
    ['ppo', 'sac']
    """
    if max(map(len, names), default=0) <= LONG or len(names) < 2:
        return list(names)
    parts = [re.findall(r"[^/_ ]+|[/_ ]+", name) for name in names]
    start = _shared(parts)
    end = _shared([one[start:][::-1] for one in parts])
    cut = ["".join(one[start : len(one) - end]).strip("/_ ") for one in parts]
    # Eight digits of a hash tell as much as forty.
    cut = [re.sub(r"(?<![0-9a-zA-Z])([0-9a-f]{8})[0-9a-f]{8,}", r"\1", one) for one in cut]
    return cut if all(cut) and len(set(cut)) == len(set(names)) else list(names)


def _shared(parts: Sequence[Sequence[str]]) -> int:
    """Return with how many of the same all begin."""
    return len(list(takewhile(lambda column: len(set(column)) == 1, zip(*parts, strict=False))))
