"""Find what a published table should say, and compare them number by number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from paragone.auditing.table_model import (
    ExpectedCell,
    ExpectedTable,
    PublishedCell,
    PublishedTable,
    numbers_in,
    plain,
)

NO_VALUE = ("", "-", "n/a", "nan", "NaN", "None")
LEAST_SHARE = 0.5


@dataclass(frozen=True)
class Difference:
    """A cell that differs: where it stands, what was published and what it should say.

    Attributes
    ----------
    kind : str
        ``number``, ``text``, ``mark``, or ``name``: of the row or column that numbers stand in.
    row, column : str
        Their names.
    published, expected : str
        What it says and what it should say.
    place : tuple of int
        The numbers of its row and column, from 0; a note has row -1 and its number from 1.
    """

    kind: str
    row: str
    column: str
    published: str
    expected: str
    place: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Match:
    """A published table beside its expectation.

    Attributes
    ----------
    expected : ExpectedTable
        What it was compared with.
    compared : int
        Numbers that were compared.
    differences : tuple of Difference
        Of numbers, texts and marks.
    unknown : tuple of str
        Rows and columns that the expectation does not have.
    """

    expected: ExpectedTable
    compared: int
    differences: tuple[Difference, ...]
    unknown: tuple[str, ...]

    @property
    def wrong(self) -> int:
        """How many numbers differ."""
        return sum(difference.kind == "number" for difference in self.differences)


def best_match(table: PublishedTable, expectations: Iterable[ExpectedTable]) -> Match | None:
    """Return the expectation that a published table is most likely about, compared; None where none fits.

    Headings and row names must fit. Of those that do, one with the table's caption or label is taken before others,
    and then the one with which most numbers agree: a table with one wrong digit still agrees best with its own.
    """
    found = [match for one in expectations if (match := compared_with(table, one)) is not None]
    return max(found, key=lambda match: _likeness(table, match), default=None)


def _likeness(table: PublishedTable, match: Match) -> tuple[bool, bool, int, int]:
    one = match.expected
    same_caption = bool(one.caption) and plain(one.caption) == table.caption
    same_label = bool(one.label) and one.label == table.label
    return same_caption, same_label, match.compared - match.wrong, -len(match.unknown)


def compared_with(table: PublishedTable, one: ExpectedTable) -> Match | None:
    """Compare a published table with an expectation; None where headings or row names do not fit."""
    columns = _columns(table, one)
    if columns is None:
        return None
    keys, values, strange = columns
    compared = 0
    differences: list[Difference] = []
    unknown = [f"column {name!r}" for name in strange]
    rows_found = 0
    for number, row in enumerate(table.rows):
        if len(row) != len(table.columns):
            unknown.append(f"row {row[0].text!r}, which has {len(row)} cells under {len(table.columns)} headings")
            continue
        name = tuple(_key(row[place].text) for place in keys)
        cells = _row(one, name)
        if cells is None:
            unknown.append(f"row {' / '.join(name)!r}")
            continue
        rows_found += 1
        for place, column in values.items():
            wanted = cells.get(column)
            if wanted is None:
                continue
            compared += len(wanted.numbers)
            found = _compare(row[place], wanted, " / ".join(name), column, marks=table.marks)
            differences += [replace(one, place=(number, place)) for one in found]
    if not rows_found:
        return None
    for number, (note, wanted_numbers) in enumerate(zip(table.notes, one.notes, strict=False), start=1):
        compared += len(wanted_numbers)
        differences += [replace(one, place=(-1, number)) for one in _compare_note(note, wanted_numbers, number)]
    return Match(one, compared, tuple(differences), tuple(unknown))


def _columns(table: PublishedTable, one: ExpectedTable) -> tuple[list[int], dict[int, str], list[str]] | None:
    """Find the places of the key columns and of the others; None where the headings do not fit."""
    names = [plain(name) for name in table.columns]
    known = {plain(column): column for column in one.columns}
    keys = [names.index(plain(key)) for key in one.keys if plain(key) in names]
    if len(keys) < len(one.keys):
        # Whatever a single key is called in the paper, it stands first.
        if len(one.keys) > 1:
            return None
        keys = [0]
    values = {p: known[n] for p, n in enumerate(names) if p not in keys and n in known}
    strange = [table.columns[p] for p, n in enumerate(names) if p not in keys and n not in known]
    if not values or len(values) < LEAST_SHARE * (len(names) - len(keys)):
        return None
    return keys, values, strange


def _key(text: str) -> str:
    try:
        return f"{float(text):.12g}"
    except ValueError:
        return plain(text)


def _row(one: ExpectedTable, name: tuple[str, ...]) -> Mapping[str, ExpectedCell] | None:
    found = one.rows.get(name)
    if found is None:
        wanted = [tuple(_key(part) for part in key) for key in one.rows]
        found = list(one.rows.values())[wanted.index(name)] if name in wanted else None
    return found


def _compare(cell: PublishedCell, wanted: ExpectedCell, row: str, column: str, *, marks: bool) -> Iterator[Difference]:
    if wanted.numbers:
        yield from _compare_numbers(cell.text, wanted, row, column)
    elif plain(cell.text) != plain(wanted.text) and not (cell.text in NO_VALUE and wanted.text in NO_VALUE):
        yield Difference("text", row, column, cell.text, wanted.text)
    for mark in ("bold", "underline"):
        should = getattr(wanted, mark)
        if marks and should is not None and getattr(cell, mark) != should:
            said = f"{'' if should else 'not '}{'in bold' if mark == 'bold' else 'underlined'}"
            yield Difference("mark", row, column, cell.text, said)


def _compare_numbers(text: str, wanted: ExpectedCell, row: str, column: str) -> Iterator[Difference]:
    there = [value for value in wanted.numbers if value == value]
    shown = ", ".join(f"{value:.6g}" for value in wanted.numbers)
    if text in NO_VALUE:
        if there:
            yield Difference("number", row, column, text or "nothing", shown)
        return
    numbers = numbers_in(text)
    if len(numbers) > len(there) or not numbers:
        yield Difference("number", row, column, text, shown)
        return
    for number, value in zip(numbers, there, strict=False):
        if not number.agrees(value):
            yield Difference("number", row, column, number.text, _shown(value, number.unit))


def _compare_note(note: str, wanted: tuple[float, ...], place: int) -> Iterator[Difference]:
    numbers = numbers_in(_after_name(note))
    there = [value for value in wanted if value == value]
    if len(numbers) != len(there):
        yield Difference("number", f"note {place}", "", note, ", ".join(f"{value:.6g}" for value in wanted))
        return
    for number, value in zip(numbers, there, strict=True):
        if not _close_note(number.value, number.unit, value) and not number.agrees(value):
            yield Difference("number", f"note {place}", "", number.text, _shown(value, number.unit))


def _close_note(published: float, unit: float, value: float) -> bool:
    return abs(published - value) <= 0.5 * unit * (1 + 1e-9)


def _after_name(note: str) -> str:
    """Leave out the name that a note begins with: it may hold digits."""
    return note.partition(": ")[2] or note


def _shown(value: float, unit: float) -> str:
    """Print a recomputed value with two digits more than were published."""
    decimals = 0
    while unit < 0.9 and decimals < 15:
        unit, decimals = unit * 10, decimals + 1
    return f"{value:.{min(decimals + 2, 15)}f}"
