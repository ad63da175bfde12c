"""The terminal: a console that prints what comes from data without obeying it.

Names, errors and notes come from data: a store or a file of somebody else's may hold sequences that
change the window's title, write to the clipboard, hide text behind a link or move the cursor over
what was printed before. Everything that is printed goes through `printable`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from textwrap import wrap

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from typing_extensions import override

PLAIN_WIDTH = 160

_SEQUENCES = re.compile(
    # Strings for the terminal itself (OSC, DCS, SOS, PM, APC), up to their end, or to the end of
    # the line without one.
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    # Control sequences (CSI): colours, the cursor, erasing.
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    # Every other escape.
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROLS = re.compile(
    # C0 but for the tab and the line feed, DEL, C1; what reorders the text around it (bidirectional
    # embeddings, overrides and isolates, whose end a name may leave out). The marks U+200E and
    # U+200F, which Arabic and Hebrew need, are kept.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
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
        Without escape sequences, control characters and overrides of the direction of writing.
        Bytes of a file name that are not text, which no terminal can show, become a replacement
        character.

    Examples
    --------
    >>> printable("A\x1b]0;a new title\x07 is \x1b[31mbetter\x1b[0m"), printable("caf\u00e9\t1\nB\udcff")
    ('A is better', 'café\t1\nB�')
    """
    # All that is taken out is not printable to Python either, so that most texts need one look
    # only.
    return (
        text
        if text.isprintable()
        else _SURROGATES.sub("\ufffd", _CONTROLS.sub("", _SEQUENCES.sub("", text)))
    )


class SafeConsole(Console):
    """A console whose own colours are kept and whose text holds no sequence of anybody else's."""

    @override
    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


def console(*, stderr: bool = False) -> SafeConsole:
    """Return a console: coloured and fitted on a terminal, plain and wide in a pipe."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else PLAIN_WIDTH
    return SafeConsole(stderr=stderr, highlight=False, width=width)


def say(text: str, *, stderr: bool = False) -> None:
    """Print a sentence as it stands: never marked up, never broken where a program might look for it."""
    console(stderr=stderr).print(printable(text), markup=False, soft_wrap=True)


def say_in_words(text: str, *, stderr: bool = False) -> None:
    """Print a sentence; on a terminal broken between words only, with a margin from the second line on.

    A word that is longer than a line, such as a path, stays whole, so that it can be copied.
    """
    screen = console(stderr=stderr)
    if not screen.is_terminal:
        say(text, stderr=stderr)
        return
    for line in printable(text).splitlines() or [""]:
        margin = " " * (len(line) - len(line.lstrip()) + 2)
        shown = wrap(
            line,
            screen.width,
            subsequent_indent=margin,
            break_long_words=False,
            break_on_hyphens=False,
        )
        screen.print("\n".join(shown), markup=False, soft_wrap=True)


def say_at_once(text: str) -> None:
    """Say what a command begins with, before anything that takes time: for people only, so nothing of it in a log."""
    if sys.stderr.isatty():
        console(stderr=True).print(printable(text), markup=False, soft_wrap=True, style="dim")
