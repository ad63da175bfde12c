"""Where two tables differ: cell by cell beside one of the same shape, by names where a person put it together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from paragone.checks.tables import PublishedTable, is_numeric, numbers_in
from paragone.tables import TableCell
from paragone.tables.latex_cells import plain

NO_VALUE = ("", "-", "n/a", "nan", "NaN", "None")
LEAST_ALIKE = 0.5
_DIGITS = re.compile(r"\d")


@dataclass(frozen=True)
class Difference:
    """A part of a table that differs: where it stands, what was published and what it should say.

    Attributes
    ----------
    kind : str
        ``number``, ``text``, ``mark``, or ``name``: of the row or column that numbers stand in.
    row, column : str
        Their names.
    published, expected : str
        What it says and what it should say.
    """

    kind: str
    row: str
    column: str
    published: str
    expected: str


@dataclass(frozen=True)
class Match:
    """A table put together by hand beside one that was rebuilt from the store.

    Attributes
    ----------
    expected : PublishedTable
        What it was compared with.
    compared : int
        Numbers that were compared.
    differences : tuple of Difference
        Of numbers, texts and marks.
    unknown : tuple of str
        Rows and columns that the other does not have.
    """

    expected: PublishedTable
    compared: int
    differences: tuple[Difference, ...]
    unknown: tuple[str, ...]

    def likeness(self, table: PublishedTable) -> tuple[bool, bool, int, int]:
        """Return numbers that are highest for what the table is about: with one wrong digit it still agrees best."""
        same_caption = bool(table.caption) and table.caption == self.expected.caption
        same_label = bool(table.label) and table.label == self.expected.label
        wrong = sum(difference.kind == "number" for difference in self.differences)
        return same_caption, same_label, self.compared - wrong, -len(self.unknown)


def compared_by_names(table: PublishedTable, wanted: PublishedTable) -> Match | None:
    r"""Compare cells under the same headings in rows of the same names; None where headings or row names do not fit.

    Examples
    --------
    >>> from paragone.checks.tables import read_csv
    >>> made = read_csv("dataset,A,B\niris,0.7149,0.5\nwine,0.25,0.5\n", "made.csv")[0]
    >>> match = compared_by_names(read_csv("data,A\nwine,0.25\niris,0.72\n", "mine.csv")[0], made)
    >>> match.compared, [(one.row, one.published, one.expected) for one in match.differences]
    (2, [('iris', '0.72', '0.7149')])
    """
    found = [
        match
        for keys in _key_columns(wanted)
        if (match := _compared(table, wanted, keys)) is not None
    ]
    return max(found, key=lambda match: match.likeness(table), default=None)


def _key_columns(wanted: PublishedTable) -> Iterator[tuple[int, ...]]:
    """Name the columns that tell rows apart: as few of the first ones as do, or one of words alone."""
    rows = [
        [_key(cell.text) for cell in row] for row in wanted.rows if len(row) == len(wanted.columns)
    ]
    first = next(
        (
            n
            for n in range(1, len(wanted.columns))
            if len({tuple(row[:n]) for row in rows}) == len(rows)
        ),
        0,
    )
    if first:
        yield tuple(range(first))
    for place in range(1, len(wanted.columns)):
        names = {row[place] for row in rows}
        if len(names) == len(rows) and not any(map(is_numeric, names)):
            yield (place,)


def _key(text: str) -> str:
    try:
        return f"{float(text):.12g}"
    except ValueError:
        return plain(text)


def _compared(
    table: PublishedTable, wanted: PublishedTable, key_columns: tuple[int, ...]
) -> Match | None:
    headings = [wanted.columns[place] for place in key_columns]
    keys = [table.columns.index(name) for name in headings if name in table.columns]
    if len(keys) < len(key_columns):
        # Whatever a single key is called in the paper, it stands first.
        if len(key_columns) > 1:
            return None
        keys = [0]
    known = {name: place for place, name in enumerate(wanted.columns) if place not in key_columns}
    others = {place: name for place, name in enumerate(table.columns) if place not in keys}
    values = {place: known[name] for place, name in others.items() if name in known}
    if not values or len(values) < LEAST_ALIKE * len(others):
        return None
    right = {
        tuple(_key(row[place].text) for place in key_columns): row
        for row in wanted.rows
        if len(row) == len(wanted.columns)
    }
    unknown = [f"column {name!r}" for name in others.values() if name not in known]
    differences: list[Difference] = []
    compared = rows_found = 0
    for row in table.rows:
        if len(row) != len(table.columns):
            size = f"{len(row)} cells under {len(table.columns)} headings"
            unknown.append(f"row {row[0].text!r}, which has {size}")
            continue
        key = tuple(_key(row[place].text) for place in keys)
        name = " / ".join(key)
        if key not in right:
            unknown.append(f"row {name!r}")
            continue
        rows_found += 1
        for place, other in values.items():
            cell = right[key][other]
            compared += len(numbers_in(cell.text)) if is_numeric(cell.text) else 0
            differences += _of_hand_made_cell(row[place], cell, name, table.columns[place])
            if table.marks and wanted.marks:
                differences += _marks(row[place], cell, name, table.columns[place])
    return Match(wanted, compared, tuple(differences), tuple(unknown)) if rows_found else None


def _of_hand_made_cell(
    cell: TableCell, wanted: TableCell, row: str, column: str
) -> Iterator[Difference]:
    """Compare to as many digits as are printed; a deviation behind a mean may be left out."""
    said, expected = cell.text, wanted.text
    numbers, right = numbers_in(said), numbers_in(expected)
    if said in NO_VALUE or expected in NO_VALUE:
        if (said in NO_VALUE) != (expected in NO_VALUE):
            kind = "number" if is_numeric(said) or is_numeric(expected) else "text"
            yield Difference(kind, row, column, said or "nothing", expected or "nothing")
    elif not is_numeric(expected):
        if said != expected:
            yield Difference("text", row, column, said, expected)
    elif not numbers or len(numbers) > len(right):
        yield Difference("number", row, column, said, expected)
    else:
        for number, value in zip(numbers, right, strict=False):
            if not number.agrees(value.value):
                yield Difference("number", row, column, number.text, value.text)


@dataclass(frozen=True)
class Alignment:
    """Two tables laid side by side where one lost or gained something.

    Attributes
    ----------
    columns, rows : tuple of (int, int)
        The places of the columns with one heading, and of the rows that say the same in those.
    lost, gained : tuple of str
        What the second has and the first lacks, and the other way round; rows and columns by their
        names.
    """

    columns: tuple[tuple[int, int], ...]
    rows: tuple[tuple[int, int], ...]
    lost: tuple[str, ...]
    gained: tuple[str, ...]


def aligned(table: PublishedTable, twin: PublishedTable) -> Alignment:
    """Find the rows and columns that two tables have in common, in order, and those that only one of them has.

    Examples
    --------
    >>> one, other = (
    ...     PublishedTable("t.csv", 1, ("data", "A"), tuple((TableCell(name), TableCell("5")) for name in rows))
    ...     for rows in ("xz", "xyz")
    ... )
    >>> aligned(one, other).lost
    ("row 'y'",)
    """
    columns = tuple(_common(table.columns, twin.columns))
    said = [tuple(_text(row, place) for place, _ in columns) for row in table.rows]
    wanted = [tuple(_text(row, place) for _, place in columns) for row in twin.rows]
    rows = tuple(_common(said, wanted))
    lost = _left(twin.columns, [place for _, place in columns])
    gained = _left(table.columns, [place for place, _ in columns])
    lost_rows = _left([_text(row, 0) for row in twin.rows], [place for _, place in rows])
    gained_rows = _left([_text(row, 0) for row in table.rows], [place for place, _ in rows])
    # A row whose numbers were changed as well stands on both sides: what differs in it is told
    # number by number.
    changed = lost_rows & gained_rows
    return Alignment(
        columns,
        rows,
        (*_called("column", lost), *_called("row", lost_rows - changed)),
        (*_called("column", gained), *_called("row", gained_rows - changed)),
    )


def _left(names: Sequence[str], common: Sequence[int]) -> Counter[str]:
    """Count the names that do not stand in the places that two tables have in common."""
    return Counter(name for place, name in enumerate(names) if place not in common)


def _called(what: str, names: Counter[str]) -> list[str]:
    return [f"{what} {name!r}" for name in names.elements()]


def _common(said: Sequence[Hashable], wanted: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    blocks = SequenceMatcher(a=said, b=wanted, autojunk=False).get_matching_blocks()
    return ((block.a + step, block.b + step) for block in blocks for step in range(block.size))


def _text(row: tuple[TableCell, ...], place: int) -> str:
    return row[place].text if place < len(row) else ""


def shape(table: PublishedTable) -> tuple[int, ...]:
    """Return how many headings a table has, and how many cells each of its rows."""
    return len(table.columns), *(len(row) for row in table.rows)


def differences_of_twins(
    table: PublishedTable, twin: PublishedTable, *, around: bool = True
) -> Iterator[Difference]:
    """Name every part in which a table differs from one of the same shape.

    Parameters
    ----------
    table, twin : PublishedTable
        What was published, and what it should be.
    around : bool, default=True
        Whether caption, label and notes are compared too; stacked blocks have them in common.

    Yields
    ------
    Difference
        Of headings, cells and marks, and of what stands around them.

    Examples
    --------
    >>> row = (TableCell("A"), TableCell("0.71"))
    >>> wrong = (TableCell("A"), TableCell("0.74"))
    >>> one, other = (PublishedTable("t.csv", 1, ("method", "score"), (cells,)) for cells in (wrong, row))
    >>> [(d.kind, d.row, d.column, d.published, d.expected) for d in differences_of_twins(one, other)]
    [('number', 'A', 'score', '0.74', '0.71')]
    """
    for place, (said, wanted) in enumerate(zip(table.columns, twin.columns, strict=True)):
        if said != wanted:
            # The first heading says what rows are; every other one says whose numbers stand below
            # it.
            kind = "name" if place else "text"
            yield Difference(kind, f"heading of column {place + 1}", "", said, wanted)
    for row, right, name in zip(table.rows, twin.rows, _row_names(twin), strict=True):
        for place, (cell, twin_cell) in enumerate(zip(row, right, strict=True)):
            yield from _of_cell(cell, twin_cell, name, twin.columns[place], is_first=not place)
    if not around:
        return
    if not _is_with_a_note(table.caption, twin.caption):
        yield Difference(
            _kind(table.caption, twin.caption), "caption", "", table.caption, twin.caption
        )
    if not table.label.startswith(twin.label):
        yield Difference("text", "label", "", table.label, twin.label)
    yield from _of_notes(table.notes, twin.notes)


def _row_names(table: PublishedTable) -> list[str]:
    """Return what rows are called: by their first cells, with their numbers where these are not all different."""
    first = [row[0].text for row in table.rows]
    often = Counter(first)
    return [
        name if often[name] == 1 else f"{name} (row {n})" for n, name in enumerate(first, start=1)
    ]


def _is_with_a_note(said: str, wanted: str) -> bool:
    """Say whether a caption is the wanted one, or that one with a note put in behind one of its sentences."""
    ends = [place + 1 for place, letter in enumerate(wanted) if letter == "."] + [len(wanted)]
    notes = (said.startswith(wanted[:end] + " ") and said.endswith(wanted[end:]) for end in ends)
    return said == wanted or (len(said) > len(wanted) + 1 and any(notes))


def _of_notes(notes: tuple[str, ...], wanted: tuple[str, ...]) -> Iterator[Difference]:
    if len(notes) != len(wanted):
        yield Difference("text", "notes", "", f"{len(notes)} notes", f"{len(wanted)} notes")
        return
    for number, (said, right) in enumerate(zip(notes, wanted, strict=True), start=1):
        if said != right:
            yield Difference(_kind(said, right), f"note {number}", "", said, right)


def _of_cell(
    cell: TableCell, twin: TableCell, row: str, column: str, *, is_first: bool
) -> Iterator[Difference]:
    if cell.text != twin.text:
        if is_first and any(letter.isalpha() for letter in twin.text):
            yield Difference("name", row, column, cell.text or "nothing", twin.text or "nothing")
        else:
            yield from _of_text(cell.text, twin.text, row, column)
    if cell.superscript != twin.superscript:
        raised = f"{twin.text} with {twin.superscript or 'nothing'} raised"
        yield Difference(
            "text", row, column, f"{cell.text} with {cell.superscript or 'nothing'} raised", raised
        )
    yield from _marks(cell, twin, row, column)


def _of_text(said: str, wanted: str, row: str, column: str) -> Iterator[Difference]:
    """Name each number that differs where nothing else does, or else the text as a whole."""
    kind = _kind(said, wanted)
    pairs = list(zip(numbers_in(said), numbers_in(wanted), strict=False))
    if kind == "number" and len(pairs) > 1 and _DIGITS.sub("", said) == _DIGITS.sub("", wanted):
        yield from (Difference(kind, row, column, a.text, b.text) for a, b in pairs if a != b)
    else:
        yield Difference(kind, row, column, said or "nothing", wanted or "nothing")


def _marks(cell: TableCell, wanted: TableCell, row: str, column: str) -> Iterator[Difference]:
    for mark, word in (("bold", "in bold"), ("underline", "underlined")):
        should = getattr(wanted, mark)
        if getattr(cell, mark) != should:
            yield Difference("mark", row, column, cell.text, f"{'' if should else 'not '}{word}")


def _kind(said: str, wanted: str) -> str:
    """Say whether two texts differ in a number, by more than the order of additions explains, or in words."""
    is_number = any(map(is_numeric, (said, wanted))) or _DIGITS.sub("", said) == _DIGITS.sub(
        "", wanted
    )
    numbers, right = numbers_in(said), numbers_in(wanted)
    if not is_number or not (numbers or right):
        return "text"
    if len(numbers) != len(right):
        return "number"
    apart = [
        abs(a.value - b.value) > 1e-12 * abs(b.value)
        for a, b in zip(numbers, right, strict=True)
        if a != b
    ]
    return "number" if any(apart) else "text"
