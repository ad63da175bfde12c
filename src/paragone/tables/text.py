"""Write tables as plain text for a terminal."""

from __future__ import annotations

import unicodedata

from paragone.tables.model import Align, Cell, Table


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
    >>> print(to_text(Table.of(["method", "score"], [["A", Cell("0.9", bold=True)], ["Bee", "0.85"]])))
    method  score
    A        0.9*
    Bee      0.85
    """
    body = [[_cell(cell) for cell in row] for row in table.rows]
    marked = [any(cell.endswith("*") for cell in column) for column in zip(*body, strict=True)]
    body = [[_room(cell, mark) for cell, mark in zip(row, marked, strict=True)] for row in body]
    heading = [column.name for column in table.columns]
    widths = [max(map(_width, column)) for column in zip(heading, *body, strict=True)]
    aligns = [column.align for column in table.columns]
    lines = [
        "  ".join(_pad(*part) for part in zip(row, widths, aligns, strict=True)).rstrip() for row in [heading, *body]
    ]
    return "\n".join([*([table.caption] if table.caption else []), *lines, *table.notes])


def _cell(cell: Cell) -> str:
    text = cell.text + (f" {cell.superscript}" if cell.superscript else "")
    return text + ("*" if cell.bold else "")


def _room(text: str, column_has_marks: bool) -> str:
    """Leave the place of the mark free, so that figures stand under figures."""
    return text if not column_has_marks or text.endswith("*") else text + " "


def _width(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    combining = sum(unicodedata.combining(character) > 0 for character in text)
    return len(text) + wide - combining


def _pad(text: str, width: int, align: Align) -> str:
    room = width - _width(text)
    if align == "left":
        return text + " " * room
    if align == "right":
        return " " * room + text
    return " " * (room // 2) + text + " " * (room - room // 2)
