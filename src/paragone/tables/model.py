"""A table as a value: columns, cells with their marks, caption and notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from paragone.errors import InputError

Align = Literal["left", "right", "center"]


@dataclass(frozen=True)
class Cell:
    """One cell: plain text with the marks a writer may give it.

    Attributes
    ----------
    text : str
        The text, unescaped.
    bold, underline : bool
        Best and second best.
    superscript : str
        Letters after the text, such as those of the methods beaten.
    """

    text: str
    bold: bool = False
    underline: bool = False
    superscript: str = ""


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
    rows : tuple of tuple of Cell
        Body.
    caption, label : str
        Caption in plain text, and the label a document refers to.
    notes : tuple of str
        Lines under the table.
    rules : tuple of int
        Rows before which a thin rule is drawn.

    Examples
    --------
    >>> table = Table.of(["method", "score"], [["A", Cell("0.9", bold=True)], ["B", "0.8"]])
    >>> table.rows[0][1].bold, table.columns[0].align
    (True, 'left')
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    label: str = ""
    notes: tuple[str, ...] = ()
    rules: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise InputError(f"row {number} of a table has {len(row)} cells for {len(self.columns)} columns")

    @classmethod
    def of(
        cls,
        columns: Sequence[str | Column],
        rows: Iterable[Sequence[str | Cell]],
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
        body = tuple(tuple(c if isinstance(c, Cell) else Cell(c) for c in row) for row in rows)
        return cls(headings, body, caption, label, tuple(notes), tuple(rules))

    def with_caption(self, caption: str, label: str = "") -> Table:
        """Return the same table under another caption and label."""
        return replace(self, caption=caption, label=label or self.label)
