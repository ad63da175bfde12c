"""Tables as an audit sees them: what was published, and what it should have been."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from paragone.tables import Table

if TYPE_CHECKING:
    import pandas as pd

_DASHES = re.compile(r"[-–—−‒]+")
_NUMBER = re.compile(
    r"(?P<relation>[<>≤≥]\s*)?(?P<sign>[+-]?)"
    r"(?P<digits>(?:\d[\d,]*\d|\d)(?:\.\d+)?|(?<![\d.])\.\d+|(?<![a-zA-Z])inf(?![a-zA-Z]))"
    r"(?P<power>[eE][+-]?\d+)?"
)


def plain(text: str) -> str:
    """Bring a name to the form in which names are compared: one kind of dash, single blanks.

    Examples
    --------
    >>> plain("a \u00a0b – c")
    'a b - c'
    """
    return " ".join(_DASHES.sub("-", text.replace("\u00a0", " ")).split())


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
        return abs(self.value - expected) <= 0.5 * unit * (1 + 1e-9) + relative * abs(expected) + 1e-15


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
    for match in _NUMBER.finditer(_DASHES.sub("-", text)):
        digits = match["digits"].replace(",", "")
        decimals = len(digits.partition(".")[2])
        power = match["power"] or ""
        exponent = int(power[1:]) if power else 0
        value = float(f"{match['sign']}{digits}{power}")
        relation = (match["relation"] or "").strip()
        # From a text, since the power of a float overflows where the digits are no number but part of a name.
        unit = float(f"1e{exponent - decimals}")
        found.append(PublishedNumber(match[0].strip(), value, unit, relation))
    return found


@dataclass(frozen=True)
class PublishedCell:
    """A cell as it was printed, its marks taken off."""

    text: str
    bold: bool = False
    underline: bool = False
    superscript: str = ""


@dataclass(frozen=True)
class PublishedTable:
    """A table of a file: headings, rows, caption, label and notes as plain text."""

    file: str
    number: int
    columns: tuple[str, ...]
    rows: tuple[tuple[PublishedCell, ...], ...]
    caption: str = ""
    label: str = ""
    notes: tuple[str, ...] = ()
    marks: bool = False


@dataclass(frozen=True)
class ExpectedCell:
    """What a cell should say: numbers, unrounded, or a text where there are none; and its marks, where known."""

    numbers: tuple[float, ...] = ()
    text: str = ""
    bold: bool | None = None
    underline: bool | None = None


@dataclass(frozen=True, eq=False)
class ExpectedTable:
    """What a table should say.

    Attributes
    ----------
    title : str
        What messages call it.
    keys : tuple of str
        The columns that name a row.
    columns : tuple of str
        All columns, keys included.
    rows : mapping of tuple of str to mapping of str to ExpectedCell
        Cells by the row's name and the column.
    caption, label : str
        Of the program's own report; to tell tables of equal headings apart.
    notes : tuple of tuple of float
        The numbers of each note.
    """

    title: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Mapping[tuple[str, ...], Mapping[str, ExpectedCell]]
    caption: str = ""
    label: str = ""
    notes: tuple[tuple[float, ...], ...] = field(default=())


def expected_of_frame(frame: pd.DataFrame, keys: Sequence[str], title: str) -> ExpectedTable:
    """Make the expectation for a CSV file of a frame.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"method": ["A"], "value": [0.5], "by": ["rmse"]})
    >>> expected_of_frame(frame, ["method"], "scores").rows[("A",)]["value"].numbers
    (0.5,)
    """
    rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
    for record in frame.to_dict("records"):
        key = tuple(plain(_key_text(record[name])) for name in keys)
        rows[key] = {str(name): _of_value(value) for name, value in record.items() if name not in keys}
    return ExpectedTable(title, tuple(keys), tuple(str(column) for column in frame.columns), rows)


def _key_text(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.12g}"
    return str(value)


def _of_value(value: Any) -> ExpectedCell:
    if isinstance(value, bool):
        return ExpectedCell(text=str(value))
    if isinstance(value, (int, float)) or hasattr(value, "dtype"):
        return ExpectedCell(numbers=(float(value),))
    return ExpectedCell(text="" if value is None else str(value))


def expected_of_table(table: Table, keys: Sequence[str], title: str) -> ExpectedTable:
    """Make the expectation for a table whose cells are known as texts."""
    names = [column.name for column in table.columns]
    places = [names.index(key) for key in keys]
    rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
    for row in table.rows:
        cells = {}
        for name, cell in zip(names, row, strict=True):
            if name not in keys:
                values = tuple(number.value for number in numbers_in(cell.text)) if is_numeric(cell.text) else ()
                cells[name] = ExpectedCell(values, cell.text, cell.bold, cell.underline)
        rows[tuple(plain(row[place].text) for place in places)] = cells
    return ExpectedTable(title, tuple(keys), tuple(names), rows, plain(table.caption), table.label)


def is_numeric(text: str) -> bool:
    """Say whether a text holds numbers and no words.

    Examples
    --------
    >>> is_numeric("0.7 ± 0.1"), is_numeric("3 folds"), is_numeric("-")
    (True, False, False)
    """
    return bool(numbers_in(text)) and not any(letter.isalpha() and letter not in "eE" for letter in text)


def renamed(tables: Iterable[ExpectedTable], names: Mapping[str, str]) -> list[ExpectedTable]:
    """Return the tables as they look with other names displayed for methods and datasets."""
    if not names:
        return list(tables)
    shown = {plain(old): plain(new) for old, new in names.items()}
    found = []
    for table in tables:
        rows = {
            tuple(shown.get(part, part) for part in key): {shown.get(column, column): c for column, c in cells.items()}
            for key, cells in table.rows.items()
        }
        columns = tuple(shown.get(plain(column), column) for column in table.columns)
        found.append(ExpectedTable(table.title, table.keys, columns, rows, table.caption, table.label, table.notes))
    return found
