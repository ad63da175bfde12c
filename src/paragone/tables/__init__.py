"""Tables as values, and the writers that turn them into text, Markdown, LaTeX, HTML and CSV."""

from paragone.tables.csv_file import frame_as_csv, frame_to_csv, no_formula, to_csv
from paragone.tables.html import to_html
from paragone.tables.latex import escape_latex, to_latex
from paragone.tables.markdown import escape_markdown, to_markdown
from paragone.tables.marks import mark_best
from paragone.tables.model import Cell, Column, Table
from paragone.tables.numbers import (
    decimals_for,
    format_interval,
    format_mean_std,
    format_number,
    format_p,
    format_signed,
    p_is,
)
from paragone.tables.stack import stack
from paragone.tables.text import to_text

__all__ = [
    "Cell",
    "Column",
    "Table",
    "decimals_for",
    "escape_latex",
    "escape_markdown",
    "format_interval",
    "format_mean_std",
    "format_number",
    "format_p",
    "format_signed",
    "frame_as_csv",
    "frame_to_csv",
    "mark_best",
    "no_formula",
    "p_is",
    "stack",
    "to_csv",
    "to_html",
    "to_latex",
    "to_markdown",
    "to_text",
]
