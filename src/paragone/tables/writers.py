"""Writers of tables: CSV, HTML, LaTeX and Markdown."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paragone.errors import InputError
from paragone.tables.model import Table, TableCell, stack

if TYPE_CHECKING:
    import pandas as pd

_NUMBER = re.compile(r"[-+]?[\d.][-+\d.eE ±\[\],/%]*")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Where a spreadsheet begins to read a formula; the wide signs count in East Asian settings."""


def to_csv(table: Table) -> str:
    """Write the texts of a table as CSV (UTF-8, comma, LF).

    Parameters
    ----------
    table : Table
        What is written; marks, caption and notes are left out.

    Returns
    -------
    str
        CSV with a heading line.

    Examples
    --------
    >>> print(to_csv(Table.of(["method", "score"], [["A, B", "-0.9"], ["=1+1", "0.8"]])), end="")
    method,score
    "A, B",-0.9
    '=1+1,0.8
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([no_formula(column.name) for column in table.columns])
    writer.writerows([[no_formula(cell.text) for cell in row] for row in table.rows])
    return buffer.getvalue()


def frame_to_csv(frame: pd.DataFrame, file: Path) -> None:
    r"""Write a frame for people to open: numbers as they are, names so that no spreadsheet runs them.

    Examples
    --------
    >>> import pandas as pd, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame_to_csv(pd.DataFrame({"method": ["@SUM(A1)"], "value": [-0.5]}), pathlib.Path(folder) / "a.csv")
    ...     (pathlib.Path(folder) / "a.csv").read_text()
    "method,value\n'@SUM(A1),-0.5\n"
    """
    file.write_text(frame_as_csv(frame), encoding="utf-8", newline="")


def frame_to_file(frame: pd.DataFrame, file: Path) -> None:
    """Write a frame to CSV or Parquet, by the file's ending; the file appears whole or not at all.

    Examples
    --------
    >>> import pandas as pd, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame_to_file(pd.DataFrame({"value": [0.5]}), pathlib.Path(folder) / "a.csv")
    ...     [file.name for file in pathlib.Path(folder).iterdir()]
    ['a.csv']
    """
    partial = file.with_name(f".{file.name}.partial")
    try:
        if file.suffix == ".csv":
            frame_to_csv(frame, partial)
        else:
            frame.to_parquet(partial, index=False)
        partial.replace(file)
    except ImportError as error:
        raise InputError(
            "writing Parquet needs pyarrow: pip install 'paragone[parquet]'"
        ) from error
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error}") from error
    finally:
        partial.unlink(missing_ok=True)


def frame_as_csv(frame: pd.DataFrame) -> str:
    r"""Return the text that `frame_to_csv` writes.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_as_csv(pd.DataFrame({"method": ["=1+1", "B"], "value": [0.5, None]}))
    "method,value\n'=1+1,0.5\nB,\n"
    """
    safe = frame.copy()
    for name in frame.columns:
        if not _is_numeric(frame[name]):
            safe[name] = [
                no_formula(value) if isinstance(value, str) else value for value in frame[name]
            ]
    safe.columns = [no_formula(str(name)) for name in frame.columns]
    return str(safe.to_csv(index=False, lineterminator="\n"))


def no_formula(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that would be gets an apostrophe in front.

    Examples
    --------
    >>> no_formula("=1+1"), no_formula("-0.5 ± 0.1"), no_formula("-"), no_formula("-x")
    ("'=1+1", '-0.5 ± 0.1', '-', "'-x")
    """
    if len(text) > 1 and text.startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def _is_numeric(column: Any) -> bool:
    return bool(column.dtype.kind in "iufb")


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
        f"<th{align}>{escape(column.name)}</th>"
        for align, column in zip(aligns, table.columns, strict=True)
    )
    body = [
        "<tr>"
        + "".join(f"<td{a}>{_cell(cell)}</td>" for a, cell in zip(aligns, row, strict=True))
        + "</tr>"
        for row in table.rows
    ]
    lines = [
        "<table>",
        *caption,
        f"<thead><tr>{heading}</tr></thead>",
        "<tbody>",
        *body,
        "</tbody>",
        "</table>",
    ]
    return "\n".join([*lines, *(f"<p>{escape(note)}</p>" for note in table.notes)])


def _cell(cell: TableCell) -> str:
    text = escape(cell.text)
    if cell.bold:
        text = f"<strong>{text}</strong>"
    if cell.underline:
        text = f"<u>{text}</u>"
    return text + (f"<sup>{escape(cell.superscript)}</sup>" if cell.superscript else "")


_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "±": r"\(\pm\)",
    "−": r"\(-\)",
    "×": r"\(\times\)",
    "≤": r"\(\leq\)",
    "≥": r"\(\geq\)",
    "≈": r"\(\approx\)",
    "→": r"\(\to\)",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "\u00a0": "~",
    "\n": " ",
}

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi"
    " chi psi omega"
)
_GREEK_LETTERS = "αβγδεζηθικλμνξπρστφχψω"
_SPECIAL |= {
    letter: rf"\(\{name}\)" for letter, name in zip(_GREEK_LETTERS, _GREEK.split(" "), strict=True)
}

# What a plain pdflatex prints without any package, as tried out one by one.
_PLAIN = set(
    "ªµºÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿĀāĂăĆćĈĉĊċČčĎďđĒēĔĕĖėĚěĜĝĞğĠġĢģĤĥĨĩĪīĬĭ"
    "İıĲĳĴĵĶķĹĺĻļĽľŁłŃńŅņŇňŌōŎŏŐőŒœŔŕŖŗŘřŚśŜŝŞşŠšŢţŤťŨũŪūŬŭŮůŰűŴŵŶŷŸŹźŻżŽžƒǄǅǆǇǈǉǊǋǌǍǎǏǐǑǒǓǔǢǣǦǧǨǩǰǴǵȘșȚțȲȳȷ¡¢£¤¥¦§¨©¬®¯°±²³´¶·¸¹¼½¾¿×÷"
    "‐‑‒‘’“”†‡•‰€←↑↓"
)

_PRINTED = {*map(chr, range(ord(" "), ord("~") + 1)), *_SPECIAL, *_PLAIN}
_ESCAPED = str.maketrans(_SPECIAL)
_UNSEEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Me", "Mn")

_LEADING_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


def escape_latex(text: str) -> str:
    r"""Return text that any LaTeX prints.

    What plain pdflatex has no letter for is named in brackets there, and printed as it stands by
    XeLaTeX and LuaLaTeX.

    Examples
    --------
    >>> print(escape_latex("50% of A_1 & B #2"))
    50\% of A\_1 \& B \#2
    >>> print(escape_latex("Müller \N{TEST TUBE}"))
    Müller \ifx\Umathchar\undefined{[}test tube]\else 🧪\fi{}
    """
    composed = unicodedata.normalize("NFC", text)
    if _PRINTED.issuperset(composed):
        return composed.translate(_ESCAPED)
    runs = (
        (is_plain, "".join(letters))
        for is_plain, letters in groupby(composed, _PRINTED.__contains__)
    )
    return "".join(
        run.translate(_ESCAPED) if is_plain else _in_two_ways(run) for is_plain, run in runs
    )


def _in_two_ways(run: str) -> str:
    """Write letters for engines that have them, and their names for those that have not."""
    seen = "".join(letter for letter in run if unicodedata.category(letter) not in _UNSEEN)
    if not seen.strip():
        # Blanks of other kinds, and what is never seen.
        return " " if seen else ""
    # The bracket in braces: at the start of a row LaTeX would take it for the height of a gap.
    return rf"\ifx\Umathchar\undefined{{[}}{names_of_letters(seen)}]\else {seen}\fi{{}}"


def names_of_letters(letters: str) -> str:
    r"""Name the letters that an engine has not.

    Examples
    --------
    >>> names_of_letters("ſ\N{TEST TUBE}")
    'U+017F, test tube'
    """
    return ", ".join(_name_of(letter) for letter in letters)


def _name_of(letter: str) -> str:
    name = (
        unicodedata.name(letter, "").lower() if unicodedata.category(letter).startswith("S") else ""
    )
    return name or f"U+{ord(letter):04X}"


def to_latex(
    table: Table,
    *,
    columns_a_block: int | None = None,
    environment: str = "table",
    fit: bool = False,
) -> str:
    r"""Write a floating booktabs table; best in bold, second underlined.

    Parameters
    ----------
    table : Table
        What is written. Texts are escaped here, once.
    columns_a_block : int, optional
        Split a wide table into stacked blocks of so many columns.
    environment : str, default="table"
        The float, such as ``table*``.
    fit : bool, default=False
        Whether a table that is wider than the text is shrunk to its width (needs ``graphicx``).

    Returns
    -------
    str
        LaTeX that needs ``\usepackage{booktabs}`` (and ``textcomp`` before 2020).

    Examples
    --------
    >>> print(to_latex(Table.of(["method", "score"], [["A_1", TableCell("0.9", bold=True)]], caption="Scores.")))
    \begin{table}
    \centering
    \caption{Scores.}
    \begin{tabular}{lr}
    \toprule
    method & score \\
    \midrule
    A\_1 & \textbf{0.9} \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    blocks = (table,) if columns_a_block is None else stack(table, columns_a_block)
    lines = [rf"\begin{{{environment}}}", r"\centering"]
    if table.caption:
        lines.append(rf"\caption{{{escape_latex(table.caption)}}}")
    if table.label:
        lines.append(rf"\label{{{table.label}}}")
    tabulars = [_tabular(block) for block in blocks]
    lines += _between([_fitted(text) for text in tabulars] if fit else tabulars, r"\\[1ex]")
    lines += [rf"\par\smallskip{{\footnotesize {escape_latex(note)}}}" for note in table.notes]
    return "\n".join([*lines, rf"\end{{{environment}}}"])


def _fitted(tabular: str) -> str:
    return f"\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n{tabular}}}"


def _between(parts: Iterable[str], separator: str) -> list[str]:
    lines: list[str] = []
    for part in parts:
        if lines:
            lines.append(separator)
        lines.append(part)
    return lines


def _tabular(table: Table) -> str:
    alignment = "".join({"left": "l", "right": "r", "center": "c"}[c.align] for c in table.columns)
    heading = " & ".join(escape_latex(column.name) for column in table.columns)
    lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", heading + r" \\", r"\midrule"]
    for number, row in enumerate(table.rows):
        if number in table.rules:
            lines.append(r"\midrule")
        lines.append(" & ".join(_latex_cell(cell) for cell in row) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _latex_cell(cell: TableCell) -> str:
    text = _LEADING_MINUS.sub(r"\\(-\\)", escape_latex(cell.text))
    if text.startswith("["):
        # After the end of a row LaTeX would take a bracket for the height of a gap.
        text = "{[}" + text[1:]
    if cell.bold:
        text = rf"\textbf{{{text}}}"
    if cell.underline:
        text = rf"\underline{{{text}}}"
    return text + (
        rf"\textsuperscript{{{escape_latex(cell.superscript)}}}" if cell.superscript else ""
    )


_RULE = {"left": ":--", "right": "--:", "center": ":-:"}
_MARKDOWN_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_|<>[]~#"} | {"\n": " ", "\r": " "})
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
    >>> print(to_markdown(Table.of(["method", "score"], [["A", TableCell("0.9", bold=True, superscript="b")]])))
    | method | score |
    |:--|--:|
    | A | **0.9**<sup>b</sup> |
    """
    lines = [escape_markdown(table.caption), ""] if table.caption else []
    lines.append("| " + " | ".join(_inline(column.name) for column in table.columns) + " |")
    lines.append("|" + "|".join(_RULE[column.align] for column in table.columns) + "|")
    lines += ["| " + " | ".join(_markdown_cell(cell) for cell in row) + " |" for row in table.rows]
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
    return _LIST.sub(
        lambda found: f"{found[1] or found[3] or ''}\\{found[2] or found[4]}", _inline(text)
    )


def _inline(text: str) -> str:
    """Escape what has a meaning inside a line."""
    return text.translate(_MARKDOWN_SPECIAL)


def _markdown_cell(cell: TableCell) -> str:
    text = _inline(cell.text)
    if cell.bold and text:
        text = f"**{text}**"
    if cell.underline and text:
        text = f"<u>{text}</u>"
    return text + (f"<sup>{_inline(cell.superscript)}</sup>" if cell.superscript else "")
