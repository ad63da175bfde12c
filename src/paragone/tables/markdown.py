"""Write tables as GitHub Markdown."""

from __future__ import annotations

import re

from paragone.tables.model import Cell, Table

_RULE = {"left": ":--", "right": "--:", "center": ":-:"}
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_|<>[]~#"} | {"\n": " ", "\r": " "})
_LIST = re.compile(r"^(\s*\d{0,9})([-+.)])(?=\s|$)|^(\s*)(=+|-+)(?=\s*$)")
"""What would begin a list, or make a heading of the line above, at the start of a line."""


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
    lines = [escape_markdown(table.caption), ""] if table.caption else []
    lines.append("| " + " | ".join(_inline(column.name) for column in table.columns) + " |")
    lines.append("|" + "|".join(_RULE[column.align] for column in table.columns) + "|")
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows]
    for note in table.notes:
        lines += ["", escape_markdown(note)]
    return "\n".join(lines)


def escape_markdown(text: str) -> str:
    r"""Return a text that Markdown shows as it stands, on one line: no emphasis, link, picture, tag, heading or list.

    Examples
    --------
    >>> print(escape_markdown("![a](http://b) <i>c</i> 2 * 3"))
    !\[a\](http://b) \<i\>c\</i\> 2 \* 3
    >>> print(escape_markdown("- a"), escape_markdown("1. b"), escape_markdown("-0.5 - c"))
    \- a 1\. b -0.5 - c
    """
    return _LIST.sub(lambda found: f"{found[1] or found[3] or ''}\\{found[2] or found[4]}", _inline(text))


def _inline(text: str) -> str:
    """Escape what has a meaning inside a line."""
    return text.translate(_SPECIAL)


def _cell(cell: Cell) -> str:
    text = _inline(cell.text)
    if cell.bold and text:
        text = f"**{text}**"
    if cell.underline and text:
        text = f"<u>{text}</u>"
    return text + (f"<sup>{_inline(cell.superscript)}</sup>" if cell.superscript else "")
