"""A page and, beside it, everything on it: tables as Markdown, LaTeX and CSV, charts as SVG and PDF, references."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from paragone.reporting.chart_files import Drawing, file_stem
from paragone.reporting.page_model import Page, Sheet
from paragone.reporting.page_render import render_page
from paragone.tables import Table, escape_markdown, to_csv, to_latex, to_markdown

LATEX_HEAD = "% Every table of the page. Needs \\usepackage{booktabs} and \\usepackage{graphicx}.\n"

FLOATS = 12


def draw_page(page: Page, folder: Path, drawing: Drawing) -> None:
    """Have every chart of the page drawn into files named as its save button names them."""
    for figure in page.figures():
        drawing.add(folder / "figures" / file_stem(figure.name), figure.specification)


def write_page(page: Page, folder: Path, split_columns: int | None = None) -> None:
    """Write the page, and beside it its tables and its references.

    Parameters
    ----------
    page : Page
        What is written.
    folder : Path
        Where to; it must exist.
    split_columns : int, optional
        Stack wide LaTeX tables in blocks of so many columns.
    """
    _write(folder / "report.html", render_page(page))
    sheets = page.sheets()
    texts = [f"## {escape_markdown(sheet.title)}\n\n{to_markdown(sheet.table)}\n" for sheet in sheets]
    words = [f"## {escape_markdown(title)}\n\n{_prose(text)}\n" for title, text in page.told.items()]
    _write(folder / "tables.md", "\n".join([*words, *texts]))
    latex = [to_latex(captioned(sheet), columns_a_block=split_columns, fit=True) for sheet in sheets]
    # LaTeX gives up on more than a few dozen floats in a row.
    pages = ["\n\n".join(latex[i : i + FLOATS]) for i in range(0, len(latex), FLOATS)]
    _write(folder / "tables.tex", LATEX_HEAD + "\n\n\\clearpage\n".join(pages) + "\n")
    (folder / "tables").mkdir(exist_ok=True)
    for sheet in sheets:
        _write(folder / "tables" / f"{file_stem(sheet.name)}.csv", to_csv(sheet.table))
    if page.references:
        _write(folder / "references.bib", page.references + "\n")


def captioned(sheet: Sheet) -> Table:
    """Return a sheet's table with a caption and a label of its own, as a paper needs them."""
    table = sheet.table
    return replace(
        table, caption=table.caption or f"{sheet.title}.", label=table.label or f"tab:{file_stem(sheet.name)}"
    )


def _prose(text: str) -> str:
    """Return paragraphs and lists as Markdown that shows them as they stand: names in them come from data."""
    return "\n".join(_prose_line(line.strip()) for line in text.splitlines())


def _prose_line(line: str) -> str:
    return f"- {escape_markdown(line[2:])}" if line.startswith("- ") else escape_markdown(line)


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", newline="\n")
