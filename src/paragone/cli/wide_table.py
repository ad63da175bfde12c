"""Tables of numbers on a terminal: quick for thousands of rows, and no number is ever broken over two lines.

A table that is too wide is cut into several with the same first columns, the way a book would print it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rich.cells import cell_len
from rich.text import Text

BETWEEN = 3
EDGES = 2


@dataclass(frozen=True)
class TextColumn:
    """A column as it is printed: its name, one text a row, and whether it holds numbers, which stand to the right."""

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
    """Cut a table into as few as fit the width; columns of text, which say whose the numbers are, stand in each.

    Parameters
    ----------
    columns : sequence of TextColumn
        The whole table.
    width : int
        How many places there are.

    Returns
    -------
    list of list of TextColumn, or None
        None where a text is too long or has several lines, so that it has to be folded.

    Examples
    --------
    >>> table = [TextColumn("dataset", ("iris",), False), *(TextColumn(m, ("0.5000",), True) for m in "ABC")]
    >>> [[column.name for column in panel] for panel in panels(table, 27)]
    [['dataset', 'A', 'B'], ['dataset', 'C']]
    """
    if not columns or not all(column.plain for column in columns):
        return None
    keys = [column for column in columns if not column.numeric]
    numbers = [column for column in columns if column.numeric]
    if _width(columns) <= width:
        return [list(columns)]
    if columns[: len(keys)] != keys or any(_width([*keys, column]) > width for column in numbers or keys):
        return None
    found = [list(keys)]
    for column in numbers:
        if _width([*found[-1], column]) > width:
            found.append(list(keys))
        found[-1].append(column)
    return found


def _width(columns: Sequence[TextColumn]) -> int:
    return sum(column.width for column in columns) + BETWEEN * (len(columns) - 1) + EDGES


def drawn(columns: Sequence[TextColumn]) -> Text:
    """Return a table with its frame; the heads are bold.

    Examples
    --------
    >>> print(drawn([TextColumn("method", ("A", "B"), False), TextColumn("value", ("0.5", "12.0"), True)]))
    ┏━━━━━━━┳━━━━━━┓
    ┃method ┃ value┃
    ┡━━━━━━━╇━━━━━━┩
    │A      │   0.5│
    │B      │  12.0│
    └───────┴──────┘
    """
    widths = [column.width for column in columns]
    padded = [
        [_padded(text, width, column.numeric) for text in (column.name, *column.cells)]
        for column, width in zip(columns, widths, strict=True)
    ]
    head, *rows = zip(*padded, strict=True)
    text = Text(_rule("┏", "━", "┳", "┓", widths) + "\n┃")
    for place, name in enumerate(head):
        text.append(" ┃ " if place else "").append(name, style="bold")
    body = [f"│{' │ '.join(row)}│" for row in rows]
    return text.append("\n".join(["┃", _rule("┡", "━", "╇", "┩", widths), *body, _rule("└", "─", "┴", "┘", widths)]))


def _padded(text: str, width: int, to_the_right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if to_the_right else text + space


def _rule(left: str, line: str, between: str, right: str, widths: Sequence[int]) -> str:
    return left + f"{line}{between}{line}".join(line * width for width in widths) + right
