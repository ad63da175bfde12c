"""Published tables: the tables of LaTeX and CSV files as cells, their numbers and their marks."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from paragone.errors import InputError
from paragone.tables import TableCell
from paragone.tables.latex_cells import (
    DASHES,
    HEAD_END,
    argument_of,
    group_end,
    latex_rows,
    plain,
    plain_text,
    read_cell,
    tabulars,
)

_NUMBER = re.compile(
    r"(?P<relation>[<>≤≥]\s*)?(?P<sign>[+-]?)"
    r"(?P<digits>(?:\d[\d,]*\d|\d)(?:\.\d+)?|(?<![\d.])\.\d+|(?<![a-zA-Z])inf(?![a-zA-Z]))"
    r"(?P<power>[eE][+-]?\d+)?"
)


@dataclass(frozen=True)
class PublishedNumber:
    """A number as it was printed: its value, its last digit's worth, and a relation such as ``<``."""

    text: str
    value: float
    unit: float
    relation: str = ""

    def agrees(self, expected: float, *, relative: float = 1e-9) -> bool:
        """Say whether it may be a rounding of the expected value.

        Examples
        --------
        >>> number = numbers_in("0.7123")[0]
        >>> number.agrees(0.71234), number.agrees(0.71244)
        (True, False)
        >>> numbers_in("<0.0001")[0].agrees(0.00003), numbers_in("<0.0001")[0].agrees(0.002)
        (True, False)
        """
        if expected != expected:
            return False
        if self.relation:
            return expected <= self.value if self.relation in "<≤" else expected >= self.value
        if expected in (float("inf"), float("-inf")):
            return self.value == expected
        # A whole number below ten stands for itself, not for everything that rounds to it.
        unit = self.unit if self.unit < 1 or abs(expected) >= 10 else 0.1
        return (
            abs(self.value - expected) <= 0.5 * unit * (1 + 1e-9) + relative * abs(expected) + 1e-15
        )


def numbers_in(text: str) -> list[PublishedNumber]:
    """Return the numbers of a printed text, in order.

    Examples
    --------
    >>> [number.text for number in numbers_in("0.7123 ± 0.0120 [-1.5, 3e-4]")]
    ['0.7123', '0.0120', '-1.5', '3e-4']
    >>> [number.value for number in numbers_in("3/0/2")]
    [3.0, 0.0, 2.0]
    >>> [number.value for number in numbers_in("commit 90d058e52157")]
    [90.0, inf]
    """
    found = []
    for match in _NUMBER.finditer(DASHES.sub("-", text)):
        digits = match["digits"].replace(",", "")
        decimals = len(digits.partition(".")[2])
        power = match["power"] or ""
        exponent = int(power[1:]) if power else 0
        value = float(f"{match['sign']}{digits}{power}")
        relation = (match["relation"] or "").strip()
        # From a text, since the power of a float overflows where the digits are no number but part
        # of a name.
        unit = float(f"1e{exponent - decimals}")
        found.append(PublishedNumber(match[0].strip(), value, unit, relation))
    return found


@dataclass(frozen=True)
class PublishedTable:
    """A table of a file: headings, rows, caption, label and notes as plain text."""

    file: str
    number: int
    columns: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    caption: str = ""
    label: str = ""
    notes: tuple[str, ...] = ()
    marks: bool = False


def is_numeric(text: str) -> bool:
    """Say whether a text holds numbers and no words.

    Examples
    --------
    >>> is_numeric("0.7 ± 0.1"), is_numeric("3 folds"), is_numeric("-")
    (True, False, False)
    """
    return bool(numbers_in(text)) and not any(
        letter.isalpha() and letter not in "eE" for letter in text
    )


def read_csv(text: str, file: str) -> list[PublishedTable]:
    r"""Return the one table of a CSV text.

    Examples
    --------
    >>> read_csv("method,score\nA,0.5\n", "t.csv")[0].columns
    ('method', 'score')
    """
    rows = [
        row
        for row in csv.reader(io.StringIO(text.lstrip("\ufeff")))
        if any(cell.strip() for cell in row)
    ]
    if not rows:
        raise InputError(f"{file} is empty: there is no table to compare")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise InputError(
                f"{file}, row {number}: {len(row)} cells under {len(rows[0])} headings"
            )
    body = tuple(tuple(TableCell(plain(cell)) for cell in row) for row in rows[1:])
    return [PublishedTable(file, 1, tuple(plain(name) for name in rows[0]), body)]


_FLOAT = re.compile(r"\\begin\{(table\*?|sidewaystable\*?|longtable)\}.*?\\end\{\1\}", re.DOTALL)
_COMMENT = re.compile(r"(?<!\\)%.*")


def read_latex(text: str, file: str) -> list[PublishedTable]:
    r"""Return every tabular of a LaTeX text.

    Parameters
    ----------
    text : str
        LaTeX.
    file : str
        What findings call it.

    Returns
    -------
    list of PublishedTable
        In the order of the file; stacked blocks of one float are tables of their own with its
        caption.

    Examples
    --------
    >>> source = r"\begin{tabular}{lr} A & B \\ \midrule x\_1 & \textbf{0.5 \(\pm\) 0.1} \\ \end{tabular}"
    >>> table = read_latex(source, "t.tex")[0]
    >>> table.columns, table.rows[0] == (TableCell("x_1"), TableCell("0.5 ± 0.1", bold=True))
    (('A', 'B'), True)
    """
    source = "\n".join(_COMMENT.sub("", line) for line in text.splitlines())
    floats = [(match.start(), match.end(), match[0]) for match in _FLOAT.finditer(source)]
    tables = []
    for number, (position, body) in enumerate(tabulars(source), start=1):
        around = next((content for begin, end, content in floats if begin <= position < end), "")
        heading, rows = _parts(body)
        if not heading:
            continue
        cells = tuple(tuple(read_cell(cell) for cell in row) for row in rows)
        tables.append(
            PublishedTable(
                file,
                number,
                tuple(read_cell(cell).text for cell in heading),
                cells,
                plain(plain_text(argument_of(around, r"\caption"))),
                argument_of(around, r"\label"),
                tuple(plain(plain_text(note)) for note in _notes(around)),
                marks=any(cell.bold or cell.underline for row in cells for cell in row),
            )
        )
    return tables


def _notes(around: str) -> list[str]:
    return [
        around[m.end() : group_end(around, m.start()) - 1]
        for m in re.finditer(r"\{\\footnotesize ", around)
    ]


def _parts(body: str) -> tuple[list[str], list[list[str]]]:
    """Split the body of a tabular into its heading, the last row before the first rule, and its rows."""
    body = re.sub(r"^\s*\\(?:toprule|hline)\b", "", body)
    border = HEAD_END.search(body)
    head, rest = (body[: border.start()], body[border.end() :]) if border else ("", body)
    heading, rows = latex_rows(head), latex_rows(rest)
    if not heading:
        heading, rows = rows[:1], rows[1:]
    return (heading[-1] if heading else []), rows


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
                raise InputError(
                    f"{path}: published tables are read from {' and '.join(READERS)} files"
                )
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
