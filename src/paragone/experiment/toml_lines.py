"""Where in a TOML text a key stands, so that an error can point at its line."""

from __future__ import annotations

import re
from collections.abc import Sequence

HEADER = re.compile(r"^\s*\[\[?\s*(?P<path>[^\]]+?)\s*\]\]?\s*(#.*)?$")
PART = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*(?:\.|$)""")
ASSIGNMENT = re.compile(r"""^\s*(?P<path>(?:"[^"]*"|'[^']*'|[A-Za-z0-9_.-]|\s)+?)\s*=""")


def line_of(text: str, path: Sequence[str]) -> int | None:
    r"""Return the number of the line where a key stands, or of the nearest table around it.

    Parameters
    ----------
    text : str
        The TOML document.
    path : sequence of str
        The key, table by table, such as ``("split", "folds")``.

    Returns
    -------
    int or None
        Counted from 1; None where not even the outermost table is found.

    Examples
    --------
    >>> text = "name = 'x'\n[split]\nkind = 'kfold'\nfoldz = 5\n"
    >>> line_of(text, ("split", "foldz"))
    4
    >>> line_of(text, ("split", "missing"))
    2
    """
    wanted = tuple(path)
    found = _key_lines(text)
    while wanted:
        if wanted in found:
            return found[wanted]
        wanted = wanted[:-1]
    return None


def _key_lines(text: str) -> dict[tuple[str, ...], int]:
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header = HEADER.match(line)
        assignment = ASSIGNMENT.match(line)
        if header:
            table = _parts(header["path"])
            lines.setdefault(table, number)
        elif assignment:
            path = table + _parts(assignment["path"])
            lines.setdefault(path, number)
            # Keys of an inline table stand on the line of the key that holds it.
            for inner in re.findall(r"""[{,]\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*=""", line):
                lines.setdefault((*path, _plain(inner)), number)
    return lines


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(_plain(part) for part in PART.findall(dotted))


def _plain(part: str) -> str:
    return part[1:-1] if part[:1] in "\"'" else part
