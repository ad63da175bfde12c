"""Write tables as GitHub Markdown."""

from __future__ import annotations

from paragone.tables.model import Cell, Table

_RULE = {"left": ":--", "right": "--:", "center": ":-:"}
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_|<>[]~#"} | {"\n": " "})


def to_markdown(table: Table) -> str:
    """Write a pipe table with its caption above and its notes below.

    Parameters
    ----------
    table : Table
        What is written.

    Returns
    -------
    str
        Markdown; best in bold, second underlined with a ``u`` tag.

    Examples
    --------
    >>> print(to_markdown(Table.of(["method", "score"], [["A", Cell("0.9", bold=True, superscript="b")]])))
    | method | score |
    |:--|--:|
    | A | **0.9**<sup>b</sup> |
    """
    lines = [_escape(table.caption), ""] if table.caption else []
    lines.append("| " + " | ".join(_escape(column.name) for column in table.columns) + " |")
    lines.append("|" + "|".join(_RULE[column.align] for column in table.columns) + "|")
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows]
    for note in table.notes:
        lines += ["", _escape(note)]
    return "\n".join(lines)


def _escape(text: str) -> str:
    return text.translate(_SPECIAL)


def _cell(cell: Cell) -> str:
    text = _escape(cell.text)
    if cell.bold and text:
        text = f"**{text}**"
    if cell.underline and text:
        text = f"<u>{text}</u>"
    return text + (f"<sup>{_escape(cell.superscript)}</sup>" if cell.superscript else "")
