"""Files that hold one table, as frames of their cells: text with separators, Parquet, and the tables of papers."""

from __future__ import annotations

import csv
import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from paragone.data.number_texts import written_number
from paragone.data.written_tables import READING_NOTES, separator_of
from paragone.errors import InputError
from paragone.intake.paper_tables import (
    PAPER_SUFFIXES,
    STANDARD_INPUT,
    STDIN,
    chosen_part,
    encoding_and_note,
    read_paper_table,
    read_standard_input,
)
from paragone.reading import check_size, read_parquet

_TABLES = (".csv", ".tsv", ".txt")
NOTES = READING_NOTES
"""Where a frame keeps what is to be said of how it was read."""
_MOST_COMMENTS = 200
_HEAD = 2**22
"""Bytes by which the form of a large table is told."""
_ROWS = 250_000


def read_frame(path: str | Path, part: str | None = None) -> pd.DataFrame:
    r"""Read one table of scores.

    Parameters
    ----------
    path : str or Path
        A ``.csv``, ``.tsv``, ``.txt`` or ``.parquet`` file; a table of a paper in Markdown, LaTeX,
        HTML or Excel, ``paper.tex#2`` for its second;
        ``-`` for the standard input.
    part : str, optional
        Which table of the file, where the path does not say it.

    Returns
    -------
    DataFrame
        The file as it stands.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("dataset;A;B\niris;0.9;0.8\n")
    >>> read_frame(file).columns.tolist()
    ['dataset', 'A', 'B']
    """
    if str(path) == STANDARD_INPUT:
        found, text, said = read_standard_input()
        frame = _framed_text(text, STDIN) if found is None else found
        frame.attrs[NOTES] = said
        if frame.empty:
            raise InputError(f"{STDIN} holds no rows of scores")
        return frame
    whole, wanted = (Path(path), part) if part else chosen_part(Path(path))
    file = _single_file(whole)
    try:
        if file.suffix.lower() == ".parquet":
            frame = read_parquet(file, str(file))
        elif file.suffix.lower() in PAPER_SUFFIXES:
            frame, said = read_paper_table(file, wanted)
            frame.attrs[NOTES] = said
        else:
            check_size(file.stat().st_size, str(file))
            frame = parse_table(file.read_bytes(), str(file))
    except InputError:
        raise
    except (
        ValueError,
        OSError,
        ImportError,
        LookupError,
        TypeError,
        MemoryError,
        OverflowError,
    ) as error:
        # The parsers of pandas and pyarrow raise subclasses of these.
        raise InputError(f"{file} cannot be read as a table: {str(error).strip()}") from error
    if frame.empty:
        raise InputError(f"{file} holds no rows of scores")
    return frame


def _single_file(path: Path) -> Path:
    if not path.exists():
        raise InputError(f"there is no file or folder {path}")
    if not path.is_file() or path.suffix.lower() not in (*_TABLES, ".parquet", *PAPER_SUFFIXES):
        raise InputError(
            f"{path} is neither CSV nor Parquet nor a store (.sqlite), nor a table in Markdown,"
            " LaTeX, HTML or Excel"
        )
    return path


def parse_table(content: bytes, where: str) -> pd.DataFrame:
    r"""Read a text table with the encoding and the separator that it has, and keep what was done beside it.

    Examples
    --------
    >>> parse_table(b"dataset;A\niris;0.9\n", "tiny.csv")["A"].tolist()
    [0.9]
    """
    encoding, notes = encoding_and_note(content)
    whole = len(content) <= _HEAD
    start = content if whole else content[: content.rfind(b"\n", 0, _HEAD) + 1]
    head = start.decode(encoding, errors="replace")
    if whole or encoding == "utf-16":
        frame = _framed_text(content.decode(encoding, errors="replace"), where)
    else:
        # The text of a large file in memory takes four times its bytes: its beginning tells how it is read.
        how = _how_to_read(head, where)
        frame = _in_pieces(content, encoding, how)
    frame.attrs[NOTES] = notes
    return frame


def _framed_text(text: str, where: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), **_how_to_read(text, where))


def _how_to_read(text: str, where: str) -> dict[str, Any]:
    """Return what pandas has to be told of a table, by its beginning: separator, headings, lines to pass over."""
    plain, n_comments = _without_comments(text)
    separator = separator_of(plain)
    try:
        reader = csv.reader(io.StringIO(plain, newline=None), delimiter=separator)
        names, n_headings = _joined_headings(list(itertools.islice(reader, 3)))
    except csv.Error as error:
        raise InputError(
            f"{where}: its first line cannot be read as a heading ({error})"
        ) from error
    twice = next((name for name in names if name.strip() and names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the column {twice!r} stands twice in {where}: rename one of them")
    # Names such as NA or None are names; only an empty cell and NaN are missing.
    how: dict[str, Any] = {
        "sep": separator,
        "keep_default_na": False,
        "na_values": ["", "NaN", "nan"],
    }
    if n_headings > 1:
        how |= {"header": None, "names": names}
    return how | {"skiprows": n_comments + (n_headings if n_headings > 1 else 0)}


def _in_pieces(content: bytes, encoding: str, how: dict[str, Any]) -> pd.DataFrame:
    """Read a large table piece by piece, with texts as categories: names repeat in every row."""
    options = {**how, "encoding": encoding, "encoding_errors": "replace"}
    pieces = []
    for piece in pd.read_csv(io.BytesIO(content), chunksize=_ROWS, **options):
        texts = [name for name in piece.columns if piece[name].dtype == object]
        pieces.append(piece.astype(dict.fromkeys(texts, "category")))
    columns: dict[str, Any] = {}
    for name in pieces[0].columns:
        parts = [piece[name] for piece in pieces]
        if all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
            columns[name] = union_categoricals(parts)
        elif any(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
            # Numbers in some pieces and a text in another, as if the table had been read at once.
            columns[name] = np.concatenate([part.astype(object).to_numpy() for part in parts])
        else:
            columns[name] = np.concatenate([part.to_numpy() for part in parts])
    return pd.DataFrame(columns)


def _without_comments(text: str) -> tuple[str, int]:
    """Return a table without the lines before it that programs write for themselves, such as ``#{"t_start": 1}``."""
    rest = text
    for count in range(_MOST_COMMENTS):
        line, _, behind = rest.partition("\n")
        following = behind.partition("\n")[0]
        separator = separator_of(following)
        if not line.startswith("#") or line.count(separator) == following.count(separator):
            return rest, count
        rest = behind
    return text, 0


def _joined_headings(rows: list[list[str]]) -> tuple[list[str], int]:
    """Return the names of the columns, and how many rows they stand in; two levels are joined by a slash."""
    if len(rows) < 2 or not rows[0]:
        return (rows[0] if rows else []), 1
    upper, lower = rows[0], rows[1]
    doubled = any(name.strip() and upper.count(name) > 1 for name in upper[1:])
    if not doubled or len(upper) != len(lower) or _has_number(lower[1:]) or not any(lower[1:]):
        return upper, 1
    names = [
        " / ".join(dict.fromkeys(filter(None, pair))) for pair in zip(upper, lower, strict=True)
    ]
    names[0] = lower[0] or upper[0]
    # pandas writes the names of its index below those of its columns, beside nothing.
    if len(rows) > 2 and rows[2] and rows[2][0] and not any(rows[2][1:]):
        return [rows[2][0], *names[1:]], 3
    return names, 2


def _has_number(cells: list[str]) -> bool:
    read = [written_number(cell) for cell in cells if cell.strip()]
    return any(one is not None and one.value == one.value for one in read)
