"""Read the tables of a file, whatever it is written in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from paragone.auditing.csv_tables import read_csv
from paragone.auditing.latex_tables import read_latex
from paragone.auditing.table_model import PublishedTable
from paragone.errors import InputError

READERS = {".tex": read_latex, ".csv": read_csv}


def table_files(given: Iterable[str | Path]) -> list[Path]:
    """Return the files that may hold published tables; a folder stands for its ``.tex`` and ``.csv`` files."""
    found: list[Path] = []
    for path in map(Path, given):
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if file.suffix.lower() in READERS)
            if not inside:
                raise InputError(f"{path} holds no .tex and no .csv file")
            found += inside
        elif path.is_file():
            if path.suffix.lower() not in READERS:
                raise InputError(f"{path}: published tables are read from {' and '.join(READERS)} files")
            found.append(path)
        else:
            raise InputError(f"no file or folder at {path}")
    return found


def read_tables(file: Path) -> list[PublishedTable]:
    """Return the tables of a LaTeX or CSV file."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    return READERS[file.suffix.lower()](text, str(file))
