"""Tables as values, and the writers that turn them into text, Markdown, LaTeX, HTML and CSV."""

from __future__ import annotations

from paragone.tables.model import (
    Column,
    Table,
    TableCell,
    decimals_for,
    format_interval,
    format_mean_std,
    format_number,
    format_p,
    format_signed,
    mark_best,
    number_cell,
    p_is,
    stack,
    to_text,
)
from paragone.tables.writers import (
    escape_latex,
    escape_markdown,
    frame_as_csv,
    frame_to_csv,
    frame_to_file,
    no_formula,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
)

__all__ = [
    "Column",
    "Table",
    "TableCell",
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
    "frame_to_file",
    "mark_best",
    "no_formula",
    "number_cell",
    "p_is",
    "stack",
    "to_csv",
    "to_html",
    "to_latex",
    "to_markdown",
    "to_text",
]
