"""Write tables as LaTeX with booktabs rules."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import groupby

from paragone.tables.model import Cell, Table
from paragone.tables.stack import stack

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

_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
_GREEK_LETTERS = "αβγδεζηθικλμνξπρστφχψω"
_SPECIAL |= {letter: rf"\(\{name}\)" for letter, name in zip(_GREEK_LETTERS, _GREEK.split(" "), strict=True)}

# What a plain pdflatex prints without any package, as tried out one by one.
_PLAIN = set(
    "ªµºÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿĀāĂăĆćĈĉĊċČčĎďđĒēĔĕĖėĚěĜĝĞğĠġĢģĤĥĨĩĪīĬĭ"
    "İıĲĳĴĵĶķĹĺĻļĽľŁłŃńŅņŇňŌōŎŏŐőŒœŔŕŖŗŘřŚśŜŝŞşŠšŢţŤťŨũŪūŬŭŮůŰűŴŵŶŷŸŹźŻżŽžƒǄǅǆǇǈǉǊǋǌǍǎǏǐǑǒǓǔǢǣǦǧǨǩǰǴǵȘșȚțȲȳȷ¡¢£¤¥¦§¨©¬®¯°±²³´¶·¸¹¼½¾¿×÷"
    "‐‑‒‘’“”†‡•‰€←↑↓"
)

_UNSEEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Me", "Mn")

_LEADING_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


def escape_latex(text: str) -> str:
    r"""Return text that any LaTeX prints.

    What plain pdflatex has no letter for is named in brackets there, and printed as it stands by XeLaTeX and LuaLaTeX.

    Examples
    --------
    >>> print(escape_latex("50% of A_1 & B #2"))
    50\% of A\_1 \& B \#2
    >>> print(escape_latex("Müller \N{TEST TUBE}"))
    Müller \ifx\Umathchar\undefined{[}test tube]\else 🧪\fi{}
    """
    parts = []
    for is_plain, letters in groupby(unicodedata.normalize("NFC", text), _is_plain):
        run = "".join(letters)
        parts.append("".join(_SPECIAL.get(letter, letter) for letter in run) if is_plain else _in_two_ways(run))
    return "".join(parts)


def _is_plain(letter: str) -> bool:
    return " " <= letter <= "~" or letter in _SPECIAL or letter in _PLAIN


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
    name = unicodedata.name(letter, "").lower() if unicodedata.category(letter).startswith("S") else ""
    return name or f"U+{ord(letter):04X}"


def to_latex(table: Table, *, columns_a_block: int | None = None, environment: str = "table", fit: bool = False) -> str:
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
    >>> print(to_latex(Table.of(["method", "score"], [["A_1", Cell("0.9", bold=True)]], caption="Scores.")))
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
        lines.append(" & ".join(_cell(cell) for cell in row) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _cell(cell: Cell) -> str:
    text = _LEADING_MINUS.sub(r"\\(-\\)", escape_latex(cell.text))
    if text.startswith("["):
        # After the end of a row LaTeX would take a bracket for the height of a gap.
        text = "{[}" + text[1:]
    if cell.bold:
        text = rf"\textbf{{{text}}}"
    if cell.underline:
        text = rf"\underline{{{text}}}"
    return text + (rf"\textsuperscript{{{escape_latex(cell.superscript)}}}" if cell.superscript else "")
