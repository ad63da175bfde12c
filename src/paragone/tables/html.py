"""Write tables as plain HTML, for a page or a notebook."""

from __future__ import annotations

from html import escape

from paragone.tables.model import Cell, Table


def to_html(table: Table) -> str:
    """Write a table element; texts are escaped, alignment is inline so that it survives anywhere.

    Parameters
    ----------
    table : Table
        What is written.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> print(to_html(Table.of(["method"], [["A & B"]])))
    <table>
    <thead><tr><th style="text-align:left">method</th></tr></thead>
    <tbody>
    <tr><td style="text-align:left">A &amp; B</td></tr>
    </tbody>
    </table>
    """
    aligns = [f' style="text-align:{column.align}"' for column in table.columns]
    caption = [f"<caption>{escape(table.caption)}</caption>"] if table.caption else []
    heading = "".join(
        f"<th{align}>{escape(column.name)}</th>" for align, column in zip(aligns, table.columns, strict=True)
    )
    body = [
        "<tr>" + "".join(f"<td{a}>{_cell(cell)}</td>" for a, cell in zip(aligns, row, strict=True)) + "</tr>"
        for row in table.rows
    ]
    lines = ["<table>", *caption, f"<thead><tr>{heading}</tr></thead>", "<tbody>", *body, "</tbody>", "</table>"]
    return "\n".join([*lines, *(f"<p>{escape(note)}</p>" for note in table.notes)])


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    if cell.bold:
        text = f"<strong>{text}</strong>"
    if cell.underline:
        text = f"<u>{text}</u>"
    return text + (f"<sup>{escape(cell.superscript)}</sup>" if cell.superscript else "")
