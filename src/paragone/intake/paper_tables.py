"""Tables of papers as the frame that a CSV of the same table gives: one chosen, headings joined, marks taken off.

What was done is kept beside the frame and said: marks that were taken off, rows that are headings,
which of several tables was taken. Numbers with a spread, percent signs and gaps stay texts;
`number_texts` reads them as in any file.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from paragone.data.number_texts import written_number
from paragone.data.written_tables import ENCODING_NAMES, encoding_of
from paragone.errors import InputError
from paragone.intake.paper_formats import (
    EMPTY,
    PrintedCell,
    PrintedTable,
    aligned_table,
    excel_tables,
    html_tables,
    latex_tables,
    markdown_tables,
    text_tables,
)
from paragone.reading import check_size, size_limit

FORMATS = {
    ".md": markdown_tables,
    ".markdown": markdown_tables,
    ".tex": latex_tables,
} | dict.fromkeys((".html", ".htm"), html_tables)
EXCEL = (".xlsx", ".xlsm")
PAPER_SUFFIXES = (*FORMATS, *EXCEL)
STANDARD_INPUT, STDIN = "-", "the standard input"
"""What names it on the command line, and in messages."""
_CHOSEN = re.compile(r"(.+)#([^#/\\]+)")
_TRAILING = re.compile(r"(?<=[\d)%])\s*[*†‡§¶#^⋆★✓↑↓▲▼⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈ]+$")
_ARROWS = re.compile(r"\s*[\[(]?[↑↓⬆⬇▲▼][\])]?\s*")


def chosen_part(path: Path) -> tuple[Path, str | None]:
    """Split ``paper.md#2`` into the file and which of its tables; a file that is called so is itself.

    Examples
    --------
    >>> chosen_part(Path("no such.md#2"))[1] is None
    True
    """
    match = _CHOSEN.fullmatch(str(path))
    if path.exists() or match is None or not Path(match[1]).is_file():
        return path, None
    return Path(match[1]), match[2]


def read_paper_table(path: Path, wanted: str | None = None) -> tuple[pd.DataFrame, list[str]]:
    r"""Read a table of a paper as a frame of its cells, and say what was done to it.

    Parameters
    ----------
    path : Path
        A file with one of `PAPER_SUFFIXES`.
    wanted : str, optional
        Which of its tables, counted from 1, or the name of a sheet.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "paper.md"
    ...     _ = file.write_text("| data | A | B |\n|---|---|---|\n| iris | **0.9** | 0.8* |\n")
    ...     frame, notes = read_paper_table(file)
    >>> frame["A"].tolist(), notes
    ([0.9], ['Marks were taken off 2 cells (bold, underlined, raised, stars).'])
    """
    check_size(path.stat().st_size, str(path))
    notes: list[str] = []
    if path.suffix.lower() in EXCEL:
        tables = excel_tables(path)
    else:
        text, notes = decoded(path.read_bytes())
        found = FORMATS[path.suffix.lower()](text)
        tables = {str(number): table for number, table in enumerate(found, start=1)}
    table, said = _one_of(tables, wanted, str(path))
    frame, done = as_frame(table, str(path))
    return frame, [*notes, *said, *done]


def read_standard_input() -> tuple[pd.DataFrame | None, str, list[str]]:
    """Read a table that was pasted or piped in: a frame, or the text where it is a table with separators."""
    limit = size_limit()
    content = sys.stdin.buffer.read(limit + 1)
    check_size(len(content), STDIN)
    text, notes = decoded(content)
    if not text.strip():
        raise InputError(f"{STDIN} is empty: paste or pipe a table into it")
    tables = list(text_tables(text))
    lines = [line for line in text.splitlines() if line.strip()]
    if not tables and not any(_cuts(lines, separator) for separator in "\t;,"):
        tables = aligned_table(text)
        if not tables:
            raise InputError(f"{STDIN} is not a table: its lines have not equally many columns")
    if not tables:
        return None, text, notes
    table, said = _one_of({str(n): one for n, one in enumerate(tables, start=1)}, None, STDIN)
    frame, done = as_frame(table, STDIN)
    return frame, text, [*notes, *said, *done]


def _cuts(lines: Sequence[str], separator: str) -> bool:
    widths = {len(row) for row in csv.reader(lines, delimiter=separator)}
    return len(widths) == 1 and widths != {1}


def decoded(content: bytes) -> tuple[str, list[str]]:
    """Return a text in the encoding that it has, and what is to be said of that."""
    encoding, note = encoding_and_note(content)
    return content.decode(encoding, errors="replace"), note


def encoding_and_note(content: bytes) -> tuple[str, list[str]]:
    """Return the encoding of a text, and what is to be said of it."""
    encoding = encoding_of([content])
    named = ENCODING_NAMES.get(encoding)
    if named is None:
        return encoding, []
    return encoding, [f"The file is not UTF-8 and was read as {named}: look at its names."]


def _one_of(
    tables: dict[str, PrintedTable], wanted: str | None, where: str
) -> tuple[PrintedTable, list[str]]:
    """Return the table that was asked for, or the only one with numbers."""
    if not tables:
        raise InputError(f"{where} holds no table")
    numbered = dict(enumerate(tables, start=1))
    listed = "; ".join(f"{name}: {_told(tables[name])}" for name in list(tables)[:6])
    more = f" and {len(tables) - 6} more" if len(tables) > 6 else ""
    if wanted is not None:
        by_number = numbered.get(int(wanted)) if wanted.isdecimal() else None
        name = wanted if wanted in tables else by_number
        if name is None:
            raise InputError(
                f"{where} has no table {wanted}: there are {len(tables)} ({listed}{more})"
            )
        return tables[name], []
    with_numbers = [name for name, table in tables.items() if _has_numbers(table)]
    if len(with_numbers) == 1 or len(tables) == 1:
        name = with_numbers[0] if with_numbers else next(iter(tables))
        said = (
            [f"Of {len(tables)} tables, {name} was taken, the only one with numbers."]
            if len(tables) > 1
            else []
        )
        return tables[name], said
    raise InputError(
        f"{where} holds {len(tables)} tables ({listed}{more}): choose one, as in {where}#2"
    )


def _told(table: PrintedTable) -> str:
    caption = f"{table.caption[:40]!r}, " if table.caption else ""
    return f"{caption}{len(table.rows)} rows x {max(map(len, table.rows))} columns"


def _is_number(text: str) -> bool:
    found = written_number(_TRAILING.sub("", text))
    return found is not None and found.value == found.value


def _has_numbers(table: PrintedTable) -> bool:
    return any(_is_number(cell.text) for row in table.rows[1:] for cell in row[1:])


def as_frame(table: PrintedTable, where: str) -> tuple[pd.DataFrame, list[str]]:
    """Make a frame of a printed table as a CSV of it would be read, and say what was done."""
    notes: list[str] = []
    width = max(len(row) for row in table.rows)
    rows = [(*row, *[EMPTY] * (width - len(row))) for row in table.rows]
    n_headings = min(_n_headings(rows) if table.n_headings is None else table.n_headings, len(rows))
    wide = max(len(row) for row in table.rows[:n_headings])
    for number, row in enumerate(table.rows[n_headings:], start=1):
        if len(row) > wide and any(cell.text for cell in row[wide:]):
            raise InputError(
                f"{where}: row {number} of the table has {len(row)} cells under {wide} headings"
            )
    body = _without_sections(rows[n_headings:], notes, where)
    kept = [
        place
        for place in range(width)
        if any(row[place].text for row in (*rows[:n_headings], *body))
    ]
    headings = [[row[place] for place in kept] for row in rows[:n_headings]]
    body = [[row[place] for place in kept] for row in body]
    if not body or not kept:
        raise InputError(f"{where} holds no rows of scores")
    n_marked = sum(_is_marked(cell) for row in body for cell in row)
    texts = [[_text(cell, row_place == 0) for row_place, cell in enumerate(row)] for row in body]
    _keep_apart(texts, body)
    if n_marked:
        notes.append(f"Marks were taken off {n_marked} cells (bold, underlined, raised, stars).")
    levels = [[_ARROWS.sub("", _text(cell, True)).strip() for cell in row] for row in headings]
    names = [" / ".join(dict.fromkeys(filter(None, parts))) for parts in zip(*levels, strict=True)]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the column {twice!r} stands twice in {where}: rename one of them")
    return _framed(names, texts), notes


def _n_headings(rows: Sequence[Sequence[PrintedCell]]) -> int:
    """Count the rows above the first with a number beside its name; at least one."""
    found = next(
        (i for i, row in enumerate(rows) if any(_is_number(cell.text) for cell in row[1:])), 1
    )
    return min(max(1, found), 3)


def _without_sections(
    rows: Sequence[Sequence[PrintedCell]], notes: list[str], where: str
) -> list[Sequence[PrintedCell]]:
    """Leave rows out that are a heading inside the table: one text over all columns, or one alone."""
    kept, sections = [], []
    for row in rows:
        texts = [cell.text for cell in row if cell.text]
        if not texts:
            continue
        if (
            len(set(texts)) == 1
            and not _is_number(texts[0])
            and (len(texts) == 1 or row[0].spans)
            and len(row) > 2
        ):
            sections.append(texts[0])
            continue
        spanning = next((cell for cell in row if cell.spans and _is_number(cell.text)), None)
        if spanning is not None:
            raise InputError(
                f"{where}: the number {spanning.text} goes over several columns: whose it is is not"
                " said"
            )
        kept.append(row)
    if sections:
        notes.append(
            "Rows that are headings inside the table were left out:"
            f" {', '.join(dict.fromkeys(sections))}."
        )
    return kept


def _is_marked(cell: PrintedCell) -> bool:
    return (
        cell.marked
        or bool(cell.raised)
        or (_TRAILING.search(cell.text) is not None and _is_number(cell.text))
    )


def _text(cell: PrintedCell, is_name: bool) -> str:
    return _TRAILING.sub("", cell.text) if not is_name and _is_number(cell.text) else cell.text


def _keep_apart(texts: list[list[str]], body: Sequence[Sequence[PrintedCell]]) -> None:
    """Give names back what stands raised behind them, where they are the same without."""
    names = [row[0] for row in texts]
    for row, cells in zip(texts, body, strict=True):
        if names.count(row[0]) > 1 and cells[0].raised:
            row[0] = f"{row[0]}{cells[0].raised}"


def _framed(names: Sequence[str], rows: Sequence[Sequence[str]]) -> pd.DataFrame:
    """Return the frame that a CSV of these cells is read as."""
    written = io.StringIO()
    csv.writer(written).writerows([names, *rows])
    written.seek(0)
    return pd.read_csv(written, keep_default_na=False, na_values=["", "NaN", "nan"])
