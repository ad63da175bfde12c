"""Tables as values: cells and columns, numbers as text, marks of the best, stacked blocks, plain text."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import InputError
from paragone.ties import best_losses

Align = Literal["left", "right", "center"]


@dataclass(frozen=True)
class TableCell:
    """One cell: plain text with the marks a writer may give it.

    Attributes
    ----------
    text : str
        The text, unescaped.
    bold, underline : bool
        Best and second best.
    superscript : str
        Letters after the text, such as those of the methods beaten.
    number : float or None
        What to sort by; None sorts by the text.
    behind : str
        The key of what is behind the number, on a page; empty where nothing is.
    """

    text: str
    bold: bool = False
    underline: bool = False
    superscript: str = ""
    number: float | None = field(default=None, compare=False)
    behind: str = field(default="", compare=False)


def number_cell(
    value: float,
    text: str,
    *,
    bold: bool = False,
    underline: bool = False,
    superscript: str = "",
    behind: str = "",
) -> TableCell:
    """Return a cell that sorts by its number; one that is not there sorts by its text.

    Examples
    --------
    >>> number_cell(0.25, "0.25").number, number_cell(float("nan"), "-").number
    (0.25, None)
    """
    return TableCell(
        text, bold, underline, superscript, None if value != value else float(value), behind
    )


@dataclass(frozen=True)
class Column:
    """One column: its heading and how its cells are aligned."""

    name: str
    align: Align = "right"


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns.

    Attributes
    ----------
    columns : tuple of Column
        Headings.
    rows : tuple of tuple of TableCell
        Body.
    caption, label : str
        Caption in plain text, and the label a document refers to.
    notes : tuple of str
        Lines under the table.
    rules : tuple of int
        Rows before which a thin rule is drawn.

    Examples
    --------
    >>> table = Table.of(["method", "score"], [["A", TableCell("0.9", bold=True)], ["B", "0.8"]])
    >>> table.rows[0][1].bold, table.columns[0].align
    (True, 'left')
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    caption: str = ""
    label: str = ""
    notes: tuple[str, ...] = ()
    rules: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise InputError(
                    f"row {number} of a table has {len(row)} cells for {len(self.columns)} columns"
                )

    @classmethod
    def of(
        cls,
        columns: Sequence[str | Column],
        rows: Iterable[Sequence[str | TableCell]],
        *,
        caption: str = "",
        label: str = "",
        notes: Iterable[str] = (),
        rules: Iterable[int] = (),
    ) -> Table:
        """Build a table from names and texts; the first column is aligned left, the others right."""
        headings = tuple(
            column if isinstance(column, Column) else Column(column, "right" if place else "left")
            for place, column in enumerate(columns)
        )
        body = tuple(
            tuple(c if isinstance(c, TableCell) else TableCell(c) for c in row) for row in rows
        )
        return cls(headings, body, caption, label, tuple(notes), tuple(rules))


def decimals_for(values: ArrayLike) -> int:
    """Return how many decimals show four figures of scores of this size: four for shares, fewer for large scores.

    Parameters
    ----------
    values : array-like
        The scores; their median size decides. NaN and zero are looked past.

    Returns
    -------
    int
        From 2 to 10; 4 where there is nothing to go by.

    Examples
    --------
    >>> decimals_for([0.71, 0.69]), decimals_for([85.2, 90.1]), decimals_for([3e-6, 4e-6]), decimals_for([0.0])
    (4, 2, 9, 4)
    """
    sizes = np.abs(np.asarray(values, dtype=np.float64)).ravel()
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    if sizes.size == 0:
        return 4
    return min(10, max(2, 3 - math.floor(math.log10(float(np.median(sizes))))))


def format_number(value: float, digits: int = 4) -> str:
    """Print a number with a fixed number of decimals; a dash where there is none.

    Examples
    --------
    >>> format_number(0.5), format_number(float("nan")), format_number(-0.00001)
    ('0.5000', '-', '0.0000')
    """
    if math.isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def format_signed(value: float, digits: int = 4) -> str:
    """Print a difference with its sign.

    Examples
    --------
    >>> format_signed(0.012), format_signed(-0.3), format_signed(0.0)
    ('+0.0120', '-0.3000', '0.0000')
    """
    text = format_number(value, digits)
    return f"+{text}" if value > 0 and float(text) != 0 else text


def format_interval(value: float, low: float, high: float, digits: int = 4) -> str:
    """Print a difference with its interval, or alone where there is none (NaN).

    Examples
    --------
    >>> format_interval(0.012, -0.003, 0.02), format_interval(0.012, float("nan"), float("nan"))
    ('+0.0120 [-0.0030, +0.0200]', '+0.0120')
    """
    alone = format_signed(value, digits)
    if math.isnan(low) or math.isnan(high):
        return alone
    return f"{alone} [{format_signed(low, digits)}, {format_signed(high, digits)}]"


def format_p(p: float) -> str:
    """Print a p-value with three significant figures, or as smaller than 0.0001.

    Examples
    --------
    >>> format_p(0.274414), format_p(0.00732), format_p(1e-7), format_p(1.0)
    ('0.274', '0.00732', '<0.0001', '1')
    """
    if math.isnan(p):
        return "-"
    if p < 1e-4:
        return "<0.0001"
    if p >= 0.9995:
        return "1"
    return f"{p:.{2 - math.floor(math.log10(p))}f}"


def p_is(p: float) -> str:
    """Print a p-value as it stands in a sentence.

    Examples
    --------
    >>> p_is(0.274414), p_is(1e-7)
    ('p = 0.274', 'p < 0.0001')
    """
    text = format_p(p)
    return f"p {text[0]} {text[1:]}" if text.startswith("<") else f"p = {text}"


def format_mean_std(mean: float, std: float, digits: int = 4) -> str:
    """Print a mean with its standard deviation, or alone where there is no spread to print.

    Examples
    --------
    >>> format_mean_std(0.71234, 0.012), format_mean_std(0.7, float("nan"))
    ('0.7123 ± 0.0120', '0.7000')
    """
    text = format_number(mean, digits)
    return text if math.isnan(std) or math.isnan(mean) else f"{text} ± {format_number(std, digits)}"


def mark_best(
    values: Sequence[float],
    texts: Sequence[str],
    *,
    higher_is_better: bool | None,
    superscripts: Sequence[str] | None = None,
    size: float = 0.0,
    behind: Sequence[str] | None = None,
) -> tuple[TableCell, ...]:
    """Return cells with the best value in bold and the second best underlined.

    Parameters
    ----------
    values : sequence of float
        What is compared; NaN is never marked.
    texts : sequence of str
        What is printed.
    higher_is_better : bool or None
        The metric's direction; without one nothing is marked.
    superscripts : sequence of str, optional
        Letters after each text.
    size : float, default=0.0
        The size of what the values were made from; 1 for a metric without a unit. All that are tied
        with the best (or the second best) by the rule of `paragone.ties` are marked with it.
    behind : sequence of str, optional
        Keys of what is behind each value.

    Returns
    -------
    tuple of TableCell
        One cell a value, which it sorts by.

    Examples
    --------
    >>> [c.bold for c in mark_best([0.2, 0.1 + 0.2, 0.3], ["a", "b", "c"], higher_is_better=True)]
    [False, True, True]
    >>> [c.bold for c in mark_best([0.2, 0.3], ["a", "b"], higher_is_better=None)]
    [False, False]
    """
    if len(values) != len(texts):
        raise InputError(f"{len(values)} values cannot be printed as {len(texts)} texts")
    sign = np.nan if higher_is_better is None else -1.0 if higher_is_better else 1.0
    loss = np.asarray(values, dtype=np.float64) * sign
    best = best_losses(loss, size=size)
    second = best_losses(np.where(best, np.nan, loss), size=size)
    nothing = [""] * len(texts)
    cells = zip(
        values, texts, best, second, superscripts or nothing, behind or nothing, strict=True
    )
    return tuple(
        number_cell(value, text, bold=bool(b), underline=bool(s), superscript=letter, behind=key)
        for value, text, b, s, letter, key in cells
    )


def stack(table: Table, n_columns: int, *, n_key_columns: int = 1) -> tuple[Table, ...]:
    """Split a table into blocks of at most ``n_columns`` columns, each with the key columns in front.

    Parameters
    ----------
    table : Table
        The wide table.
    n_columns : int
        Columns a block, the key columns not counted.
    n_key_columns : int, default=1
        Leading columns that every block repeats.

    Returns
    -------
    tuple of Table
        The blocks, from left to right; the notes stay with the last.

    Examples
    --------
    >>> wide = Table.of(["data", "A", "B", "C"], [["iris", "1", "2", "3"]])
    >>> [[c.name for c in block.columns] for block in stack(wide, 2)]
    [['data', 'A', 'B'], ['data', 'C']]
    """
    if n_columns < 1:
        raise InputError(f"a block needs at least one column, not {n_columns}")
    key = list(range(n_key_columns))
    rest = list(range(n_key_columns, len(table.columns)))
    starts = range(0, max(len(rest), 1), n_columns)
    blocks = [_take(table, key + rest[start : start + n_columns]) for start in starts]
    return (*(replace(block, notes=()) for block in blocks[:-1]), blocks[-1])


def _take(table: Table, places: list[int]) -> Table:
    columns = tuple(table.columns[place] for place in places)
    rows = tuple(tuple(row[place] for place in places) for row in table.rows)
    return replace(table, columns=columns, rows=rows)


WIDEST = 100_000
"""More places than any table takes: as text a table is not fitted to a window."""


def to_text(table: Table) -> str:
    """Write aligned columns, two spaces apart; best marked with ``*``.

    Parameters
    ----------
    table : Table
        What is written.

    Returns
    -------
    str
        Lines without trailing blanks.

    Examples
    --------
    >>> print(to_text(Table.of(["method", "score"], [["A", TableCell("0.9", bold=True)], ["Bee", "0.85"]])))
    method  score
    A        0.9*
    Bee      0.85
    """
    columns = text_columns(table)
    if all(one_line((name, *cells)) for name, _, cells in columns):
        texts = [padded((name, *cells), align) for name, align, cells in columns]
        lines = ["  ".join(row).rstrip() for row in zip(*texts, strict=True)]
    else:
        lines = _laid_out(table)
    return "\n".join([*([table.caption] if table.caption else []), *lines, *table.notes])


def one_line(texts: Iterable[str]) -> bool:
    r"""Say whether every text stands on one line and takes one place per character: then aligning it is plain padding.

    Examples
    --------
    >>> one_line(["0.85", "caf\u00e9"]), one_line(["two\nlines"]), one_line(["\u65e5\u672c"])
    (True, False, False)
    """
    # Beyond these letters some take two places or none.
    return all(text.isprintable() and (text.isascii() or max(text) <= "\u024f") for text in texts)


def padded(texts: Sequence[str], align: Align) -> list[str]:
    """Return texts as wide as the widest of them, blanks at the end of a text to the right not counted.

    Examples
    --------
    >>> padded(["score", "0.9*", "0.85 "], "right")
    ['score', ' 0.9*', ' 0.85']
    """
    width = max(map(len, texts))
    if align == "left":
        return [text.ljust(width) for text in texts]
    return [text.rstrip().rjust(width) for text in texts]


def _laid_out(table: Table) -> list[str]:
    """Return the lines of a table with texts of several lines or wide letters; the library for that is slow."""
    from rich.console import Console
    from rich.table import Table as Layout
    from rich.text import Text

    layout = Layout(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, align, *_ in text_columns(table):
        layout.add_column(Text(name), justify=align, no_wrap=True)
    for row in zip(*(cells for *_, cells in text_columns(table)), strict=True):
        layout.add_row(*map(Text, row))
    buffer = io.StringIO()
    Console(file=buffer, width=WIDEST, color_system=None).print(layout)
    return [line.rstrip() for line in buffer.getvalue().splitlines()]


def text_columns(table: Table) -> list[tuple[str, Align, tuple[str, ...]]]:
    """Return the name, the side and the plain texts of every column; the best is marked with ``*``."""
    found = []
    for place, column in enumerate(table.columns):
        cells = [_cell(row[place]) for row in table.rows]
        marked = any(text.endswith("*") for text in cells)
        # The place of the mark is left free, so that figures stand under figures.
        room = tuple(text + " " if marked and not text.endswith("*") else text for text in cells)
        found.append((column.name, column.align, room))
    return found


def _cell(cell: TableCell) -> str:
    text = cell.text + (f" {cell.superscript}" if cell.superscript else "")
    return text + ("*" if cell.bold else "")
