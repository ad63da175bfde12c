"""How the command line prints: tables for people, JSON, CSV and Parquet for programs.

Names, errors and notes come from data: a store or a file of somebody else's may hold sequences that
change the window's title, write to the clipboard, hide text behind a link or move the cursor over
what was printed before. Everything that the command line prints goes through `printable`.
"""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from rich.cells import cell_len
from rich.table import Table as DrawnTable
from rich.text import Text

from paragone.errors import InputError
from paragone.shortening import shortened
from paragone.tables import Table, frame_to_file, one_line, padded, text_columns, to_text
from paragone.terminal import SafeConsole, console, printable, say

if TYPE_CHECKING:
    import pandas as pd

    from paragone.intake import Compared

STANDARD_OUTPUT = 1
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
    # For good: what a method left to be printed at the end of the process comes after everything
    # else.
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


DRAWN_BY_RICH = 2000
"""Cells up to which a table is drawn by Rich."""
BETWEEN = 3
EDGES = 2


@dataclass(frozen=True)
class TextColumn:
    """A column as it is printed: its name, one text per row, and whether it holds numbers, which stand to the right."""

    name: str
    cells: tuple[str, ...]
    numeric: bool

    @cached_property
    def width(self) -> int:
        """How many places the widest text takes."""
        return max(cell_len(text) for text in (self.name, *self.cells))

    @property
    def plain(self) -> bool:
        """Whether every text stands on one line."""
        return all(text.isprintable() for text in (self.name, *self.cells))


def panels(columns: Sequence[TextColumn], width: int) -> list[list[TextColumn]] | None:
    """Cut a table into as few as fit the width; the first columns, whose texts say whose the rest is, stand in each.

    Parameters
    ----------
    columns : sequence of TextColumn
        The whole table.
    width : int
        How many places there are.

    Returns
    -------
    list of list of TextColumn, or None
        None where a text is too long or has several lines, so that it has to be shortened or
        folded.

    Examples
    --------
    >>> table = [TextColumn("dataset", ("iris",), False), *(TextColumn(m, ("0.5000",), True) for m in "ABC")]
    >>> [[column.name for column in panel] for panel in panels(table, 27)]
    [['dataset', 'A', 'B'], ['dataset', 'C']]
    """
    if not columns or not all(column.plain for column in columns):
        return None
    if _width(columns) <= width:
        return [list(columns)]
    keys = list(takewhile(lambda column: not column.numeric, columns))
    others = list(columns[len(keys) :])
    if any(_width([*keys, column]) > width for column in others) or not others:
        return None
    found = [list(keys)]
    for column in others:
        if _width([*found[-1], column]) > width:
            found.append(list(keys))
        found[-1].append(column)
    return found


NARROWEST_NAME = 12
"""Names are not cut shorter than this to make a table fit."""


def fitted(columns: Sequence[TextColumn], width: int) -> list[TextColumn]:
    """Shorten the names of a table as far as it needs to fit, whole or cut into panels; no further than can be read.

    Examples
    --------
    >>> table = [TextColumn("method", ("a-very-long-name-of-a-method",), False), TextColumn("mean", ("0.5",), True)]
    >>> [column.cells for column in fitted(table, 24)]
    [('a-very-…-method',), ('0.5',)]
    """
    names = list(takewhile(lambda column: not column.numeric, columns))
    widest = max((column.width for column in names), default=0)
    for room in range(widest, NARROWEST_NAME - 1, -1):
        # One name is cut alike in every column.
        every = list(dict.fromkeys(text for column in names for text in column.cells))
        cut = dict(zip(every, shortened(every, room), strict=True))
        short = [
            TextColumn(column.name, tuple(cut[text] for text in column.cells), False)
            for column in names
        ]
        found = [*short, *columns[len(names) :]]
        if _width(found) <= width:
            return found
    return list(columns)


def _width(columns: Sequence[TextColumn]) -> int:
    return sum(column.width for column in columns) + BETWEEN * (len(columns) - 1) + EDGES


def write_line(text: str, *, stderr: bool = False) -> None:
    """Print lines for programs to read: tabs stay tabs, and nothing is fitted to a terminal."""
    (sys.stderr if stderr else sys.stdout).write(printable(text) + "\n")


def show_table(table: pd.DataFrame | Table, *, title: str = "", decimals: int = 4) -> None:
    """Print a table, numbers to the right; one that is too wide for the window is cut into several.

    A table of a paper is plain text in a pipe, where programs and documentation look for it.
    """
    screen = console()
    if not isinstance(table, Table):
        columns = [
            _text_column(str(name), table.iloc[:, place], decimals)
            for place, name in enumerate(table.columns)
        ]
        _draw(screen, columns, title)
    elif not screen.is_terminal:
        say("\n".join([title, to_text(table)]) if title else to_text(table))
    else:
        columns = [
            TextColumn(printable(name), tuple(map(printable, cells)), align != "left")
            for name, align, cells in text_columns(table)
        ]
        _draw(screen, columns, "\n".join(filter(None, (title, table.caption))))
        for note in table.notes:
            say(note)


def _draw(screen: SafeConsole, columns: Sequence[TextColumn], title: str) -> None:
    if title:
        screen.print(Text(printable(title), style="table.title"), soft_wrap=True)
    cut = panels(columns, screen.width)
    large = sum(len(column.cells) for column in columns) > DRAWN_BY_RICH
    if (
        cut is not None
        and large
        and all(one_line((column.name, *column.cells)) for column in columns)
    ):
        for panel in cut:
            # Rich takes a second for every few thousand cells.
            screen.file.write(boxed(panel))
        return
    for panel in cut or [list(columns)]:
        screen.print(drawn(panel))


def boxed(columns: Sequence[TextColumn]) -> str:
    """Return a table that fits as `drawn` draws it, line for line but without colours, in a fraction of the time.

    Examples
    --------
    >>> print(boxed([TextColumn("dataset", ("iris",), False), TextColumn("A", ("0.5000",), True)]), end="")
    ┏━━━━━━━━┳━━━━━━━┓
    ┃dataset ┃      A┃
    ┡━━━━━━━━╇━━━━━━━┩
    │iris    │ 0.5000│
    └────────┴───────┘
    """
    texts = [
        padded((column.name, *column.cells), "right" if column.numeric else "left")
        for column in columns
    ]
    head, *rows = zip(*texts, strict=True)
    widths = [
        len(text) + 2 - (place == 0) - (place == len(columns) - 1)
        for place, text in enumerate(head)
    ]

    def rule(left: str, line: str, between: str, right: str) -> str:
        return left + between.join(line * width for width in widths) + right

    lines = [
        rule("┏", "━", "┳", "┓"),
        "┃" + " ┃ ".join(head) + "┃",
        rule("┡", "━", "╇", "┩"),
        *("│" + " │ ".join(row) + "│" for row in rows),
        rule("└", "─", "┴", "┘"),
    ]
    return "\n".join(lines) + "\n"


def _text_column(name: str, values: pd.Series, decimals: int) -> TextColumn:
    cells = tuple(printable(_cell(value, decimals)) for value in values.tolist())
    return TextColumn(printable(name), cells, values.dtype.kind in "fiu")


def _cell(value: Any, decimals: int) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.{decimals}f}"
    return str(value)


def drawn(columns: Sequence[TextColumn]) -> DrawnTable:
    """Return a table as Rich draws it; texts that are too long go over several lines."""
    table = DrawnTable(header_style="bold", pad_edge=False)
    for column in columns:
        # Text stands as it is: a metric's convention, in brackets, would be read as markup.
        table.add_column(
            Text(column.name), justify="right" if column.numeric else "left", overflow="fold"
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, row))
    return table


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    write_json(value)


@dataclass(frozen=True)
class Showing:
    """How a comparison is shown: where its files go, and what is printed of it."""

    out: Path | None = None
    as_json: bool = False
    details: bool = False
    pairs: bool = False
    formats: tuple[str, ...] = ("svg", "pdf")


NEXT = "next: --out DIR (page, tables, charts)   --details (tests, evidence)   --pairs"


def show_compared(found: Compared, asked: Showing) -> None:
    """Print what a comparison found, for people or as JSON, after writing its files where a folder is given.

    Parameters
    ----------
    found : Compared
        What was found; without its sources the result writes its files alone.
    asked : Showing
        How it is shown.
    """
    result = found.result
    files: tuple[Path, ...] = ()
    if asked.out is not None and found.sources is None:
        files = result.save(asked.out)
    elif asked.out is not None and found.sources is not None:
        from paragone.reporting.compared import save_compared

        read = found.sources()
        files = save_compared(result, asked.out, formats=asked.formats, read=read)
    if asked.as_json:
        print_json(result.to_dict())
        return
    _show_lines(result.answer)
    if asked.pairs:
        say("")
        show_table(result.as_table("pairs" if "pairs" in result.tables() else None))
    if asked.details:
        _show_blocks(result.blocks())
    if files:
        write_line(f"\nWrote {len(files)} files to {asked.out}")
        show_page_address(files)
    elif not asked.details and not asked.pairs and result.pairs:
        write_line(f"\n{NEXT}")


def _show_lines(lines: Sequence[str]) -> None:
    """Print lines that are laid out already; the finding, up to the first empty line, in colour on a terminal."""
    screen = console()
    finding = list(takewhile(bool, lines))
    style = FINDING_STYLE if screen.is_terminal else ""
    for line in finding:
        screen.print(Text(printable(line), style=style), soft_wrap=True)
    for line in lines[len(finding) :]:
        screen.print(Text(printable(line)), soft_wrap=True)


def show_answer(text: str) -> None:
    """Print what came out of a run: the finding, which a terminal shows in colour, and what follows it."""
    finding, _, rest = text.partition("\n\n")
    screen = console()
    screen.print(
        Text(printable(finding), style=FINDING_STYLE if screen.is_terminal else ""), soft_wrap=True
    )
    say(f"\n{rest}")


def show_page_address(files: Iterable[Path]) -> None:
    """Say where the page is, among the files that were written, as an address that a terminal opens on a click."""
    page = next((file for file in files if file.name == "report.html"), None)
    if page is not None:
        say(f"the page: {page.resolve().as_uri()}")


FINDING, FINDING_STYLE = "Finding", "bold cyan"
DETAILS = (
    "A12",
    "delta",
    "P(equal)",
    "P(worse)",
    "P(better)",
    "p Bergmann",
    "mean",
    "p",
    "W/T/L",
    "p adjusted",
)
"""Columns of a table of pairs that a narrow window does without, from the least needed on; files have them all."""


def _show_blocks(blocks: Sequence[tuple[str, str | Table]]) -> None:
    """Print texts and tables on a terminal: the finding first, words broken between words, tables no wider than it."""
    screen = console()
    for heading, block in sorted(blocks, key=lambda one: one[0] != FINDING):
        screen.print()
        if heading:
            screen.print(Text(printable(heading), style="bold"))
        if isinstance(block, Table):
            _show_fitted(screen, block)
        else:
            style = FINDING_STYLE if heading == FINDING else ""
            for line in printable(block).splitlines():
                screen.print(Text(line.strip(), style=style))


def _show_fitted(screen: SafeConsole, table: Table) -> None:
    """Print a table; of one that is too wide for the window even with short names, without its details."""
    columns = [
        TextColumn(printable(name), tuple(map(printable, cells)), align != "left")
        for name, align, cells in text_columns(table)
    ]
    gone: list[str] = []
    for name in DETAILS:
        if _width(fitted(columns, screen.width)) <= screen.width:
            break
        gone += [column.name for column in columns if column.name == name]
        columns = [column for column in columns if column.name != name]
    _draw(screen, fitted(columns, screen.width), table.caption)
    wider = [f"Wider windows and --out also show {', '.join(dict.fromkeys(gone))}."] if gone else []
    for note in (*table.notes, *wider):
        screen.print(Text(printable(note), style="dim"))


def write_frame(frame: pd.DataFrame, out: Path) -> None:
    """Write a frame to CSV or Parquet, by the file's ending; the file appears whole or not at all."""
    if out.suffix not in (".csv", ".parquet"):
        raise InputError(f"--out {out}: write to a .csv or a .parquet file")
    if not out.parent.is_dir():
        raise InputError(f"--out {out}: the folder {out.parent} does not exist")
    frame_to_file(frame, out)


RUN_CODE = frozenset({"run", "demo", "duel", "generate", "import", "audit"})
"""Verbs that may run methods, whose own programs must find Python as it is; audit decides by what it is given."""
VARIABLE = "PYTHONSAFEPATH"


@contextmanager
def without_working_folder() -> Iterator[None]:
    """Let no Python that this process starts meanwhile look for modules in the working folder.

    Charts and pages are made in processes of their own, and Python puts the folder in which it is
    started first on their path: a ``threading.py`` beside a store would be run by them.

    Examples
    --------
    >>> with without_working_folder():
    ...     os.environ["PYTHONSAFEPATH"]
    '1'
    """
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
