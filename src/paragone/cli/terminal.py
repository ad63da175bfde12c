"""What may reach a terminal: text without control sequences, and JSON alone where JSON was asked for.

Names, errors and notes come from data: a store or a file of somebody else's may hold sequences that change the window's
title, write to the clipboard, hide text behind a link or move the cursor over what was printed before. Everything that
the command line prints goes through `printable`.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from typing_extensions import override

_SEQUENCES = re.compile(
    # Strings for the terminal itself (OSC, DCS, SOS, PM, APC), up to their end, or to the end of the line without one.
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    # Control sequences (CSI): colours, the cursor, erasing.
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    # Every other escape.
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROLS = re.compile(
    # C0 but for the tab and the line feed, DEL, C1; what reorders the text around it (bidirectional embeddings,
    # overrides and isolates, whose end a name may leave out). The marks U+200E and U+200F, which Arabic and Hebrew
    # need, are kept.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
STANDARD_OUTPUT = 1
_SURROGATES = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Return a text without what a terminal would take for a command.

    Parameters
    ----------
    text : str
        Any text; lines and tabs are kept.

    Returns
    -------
    str
        Without escape sequences, control characters and overrides of the direction of writing. Bytes of a file name
        that are not text, which no terminal can show, become a replacement character.

    Examples
    --------
    >>> printable("A\x1b]0;a new title\x07 is \x1b[31mbetter\x1b[0m"), printable("caf\u00e9\t1\nB\udcff")
    ('A is better', 'café\t1\nB�')
    """
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", _SEQUENCES.sub("", text)))


class SafeConsole(Console):
    """A console whose own colours are kept and whose text holds no sequence of anybody else's."""

    @override
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


_json_stream: TextIO | None = None
"""Standard output while it is kept for JSON."""


@contextmanager
def only_json(wanted: bool) -> Iterator[None]:
    """Keep standard output for JSON: what methods, libraries and their processes print goes to standard error.

    Parameters
    ----------
    wanted : bool
        Whether JSON was asked for; nothing changes otherwise.
    """
    global _json_stream
    if not wanted:
        yield
        return
    _json_stream = _own_stream()
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _json_stream.flush()
        _json_stream = None


def _own_stream() -> TextIO:
    """Return a stream to standard output; its number leads to standard error from now on, for children too."""
    stream = sys.stdout
    try:
        if stream.fileno() != STANDARD_OUTPUT:
            return stream
        errors = sys.stderr.fileno()
    except (AttributeError, io.UnsupportedOperation, ValueError):
        # Not a file: somebody runs the command inside a program of theirs and takes what it prints.
        return stream
    stream.flush()
    kept = os.dup(STANDARD_OUTPUT)
    # For good: what a method left to be printed at the end of the process comes after everything else.
    os.dup2(errors, STANDARD_OUTPUT)
    return os.fdopen(kept, "w", encoding="utf-8")


def write_json(value: Any) -> None:
    r"""Print a value as JSON that every program reads: NaN, which JSON does not know, is null, and all is ASCII.

    Examples
    --------
    >>> write_json({"score": float("nan"), "name": "\x9b31m"})
    {
     "score": null,
     "name": "\u009b31m"
    }
    """
    stream = sys.stdout if _json_stream is None else _json_stream
    stream.write(json.dumps(_plain(value), indent=1, default=str, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
