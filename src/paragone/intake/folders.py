"""What readers of folders share: the files in one, reading them one by one, and naming the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from paragone.errors import InputError
from paragone.intake.source import Source

SHOWN = 4
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
