"""The report of a store made anew: what every table of a published report should say, cell by cell."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from paragone.auditing.matching import Difference
from paragone.auditing.reading import READERS, read_tables
from paragone.auditing.table_model import PublishedCell, PublishedTable, is_numeric, numbers_in, plain
from paragone.reporting import report
from paragone.results import Results

LEAST_ALIKE = 0.5
_DIGITS = re.compile(r"\d")
HEADING, CAPTION, LABEL = -2, -3, -4
"""Rows by which the parts around the body of a table are told apart; notes are in row -1."""


@dataclass(frozen=True)
class Twins:
    """The tables of a file beside those of the report made anew.

    Attributes
    ----------
    tables : tuple of PublishedTable or None
        For each table of the file the one that it should be; None where there is none.
    wanted : int or None
        How many tables the file should hold; None where it is no file of a report.
    """

    tables: tuple[PublishedTable | None, ...]
    wanted: int | None = None


class RemadeReport:
    """The LaTeX and CSV tables of a report of the store, made when they are first asked for.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        The experiment's name.
    reference : str, optional
        The reference of statistics.
    names : mapping of str to str, optional
        Names that tables show instead of identifiers.
    """

    def __init__(
        self, results: Results, experiment: str, reference: str | None = None, names: Mapping[str, str] | None = None
    ) -> None:
        self._results = results
        self._experiment = experiment
        self._reference = reference
        self._names = dict(names or {})
        self._files = lru_cache(maxsize=4)(self._made)

    def _made(self, split_columns: int | None) -> dict[Path, list[PublishedTable]]:
        with tempfile.TemporaryDirectory() as scratch:
            written = report(
                self._results,
                scratch,
                experiment=self._experiment,
                reference=self._reference,
                display_map=self._names,
                split_columns=split_columns,
                charts=False,
            )
            tables = [file for file in written if file.suffix in READERS]
            return {file.relative_to(scratch): read_tables(file) for file in tables}

    def twins(self, file: Path, tables: Sequence[PublishedTable], split_columns: int | None = None) -> Twins:
        """Find the tables that those of a file should be: by the file's name, or else by what they hold."""
        files = self._files(split_columns)
        best = Twins(tuple(self._by_content(table, split_columns) for table in tables))
        best_score = (0, 0.0)
        for name, remade in files.items():
            pairs = _paired(tables, remade) if name.name == file.name else ()
            share = _share(_alike(table, twin) for table, twin in zip(tables, pairs, strict=False) if twin)
            score = (_common_end(name, file), share)
            if share >= LEAST_ALIKE and score > best_score:
                best, best_score = Twins(tuple(pairs), len(remade)), score
        return best

    def _by_content(self, table: PublishedTable, split_columns: int | None) -> PublishedTable | None:
        """Return the table of the report with the same headings that is most like a table of a file of any name."""
        ending = Path(table.file).suffix
        same = [
            one
            for name, remade in self._files(split_columns).items()
            for one in remade
            if name.suffix == ending
            and (_known_as(table, one) or (one.columns == table.columns and len(one.rows) == len(table.rows)))
        ]
        share, best = max(((_share([_alike(table, one)]), place) for place, one in enumerate(same)), default=(0.0, 0))
        return same[best] if share >= LEAST_ALIKE else None


def recognised_split(tables: Iterable[PublishedTable]) -> int | None:
    """Return how many columns the stacked blocks of wide LaTeX tables have; None where nothing is stacked.

    Examples
    --------
    >>> headings = [("data", "A", "B"), ("data", "C")]
    >>> blocks = [PublishedTable("t.tex", number, names, (), "Scores.") for number, names in enumerate(headings)]
    >>> recognised_split(blocks), recognised_split(blocks[:1])
    (2, None)
    """
    for one, following in pairwise(tables):
        float_of = (one.file, one.caption, one.label)
        stacked = float_of == (following.file, following.caption, following.label) and (one.caption or one.label)
        if stacked and one.columns[:1] == following.columns[:1]:
            return len(one.columns) - 1
    return None


def _common_end(name: Path, file: Path) -> int:
    """Count the last parts that two paths have in common."""
    parts = zip(reversed(name.parts), reversed(file.parts), strict=False)
    return next((n for n, (a, b) in enumerate(parts) if a != b), len(name.parts))


def _paired(tables: Sequence[PublishedTable], remade: Sequence[PublishedTable]) -> Sequence[PublishedTable | None]:
    """Pair tables by their place or, where some were added or left out, by their labels and captions."""
    if len(tables) == len(remade):
        return remade
    left = list(remade)
    found: list[PublishedTable | None] = []
    for table in tables:
        twin = next((one for one in left if _known_as(table, one)), None)
        if twin is not None:
            left.remove(twin)
        found.append(twin)
    return found


def _known_as(table: PublishedTable, twin: PublishedTable) -> bool:
    named = (table.label or table.caption) and (table.label == twin.label or table.caption == twin.caption)
    # Stacked blocks have label and caption in common; one that lost a column is still more like its own than any other.
    return bool(named) and (table.columns == twin.columns or _share([_alike(table, twin)]) >= LEAST_ALIKE)


def _alike(table: PublishedTable, twin: PublishedTable) -> tuple[int, int]:
    """Count the headings and cells that are equal, and those there are.

    By their places or, where a row or column is gone and everything behind it stands elsewhere, by their names.
    """
    pairs = list(zip(table.columns, twin.columns, strict=False))
    for row, wanted in zip(table.rows, twin.rows, strict=False):
        pairs += [(cell.text, other.text) for cell, other in zip(row, wanted, strict=False)]
    by_place = sum(a == b for a, b in pairs)
    if shape(table) == shape(twin):
        return by_place, _size(table)
    alignment = aligned(table, twin)
    by_name = len(alignment.columns) + len(alignment.rows) * len(alignment.columns)
    return max(by_place, by_name), max(_size(table), _size(twin))


def _size(table: PublishedTable) -> int:
    return len(table.columns) + sum(len(row) for row in table.rows)


def _share(counts: Iterable[tuple[int, int]]) -> float:
    counts = list(counts)
    total = sum(there for _, there in counts)
    return sum(equal for equal, _ in counts) / total if total else 0.0


@dataclass(frozen=True)
class Alignment:
    """Two tables laid side by side where one lost or gained something.

    Attributes
    ----------
    columns, rows : tuple of (int, int)
        The places of the columns with one heading, and of the rows that say the same in those.
    lost, gained : tuple of str
        What the second has and the first lacks, and the other way round; rows and columns by their names.
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
    ...     PublishedTable("t.csv", 1, ("data", "A"), tuple((PublishedCell(name), PublishedCell("5")) for name in rows))
    ...     for rows in ("xz", "xyz")
    ... )
    >>> aligned(one, other).lost
    ("row 'y'",)
    """
    columns = tuple(_common(table.columns, twin.columns))
    said = [tuple(_text(row, place) for place, _ in columns) for row in table.rows]
    wanted = [tuple(_text(row, place) for _, place in columns) for row in twin.rows]
    rows = tuple(_common(said, wanted))
    mine, theirs = {place for place, _ in columns}, {place for _, place in columns}
    my_rows, their_rows = {place for place, _ in rows}, {place for _, place in rows}
    lost = [f"column {name!r}" for place, name in enumerate(twin.columns) if place not in theirs]
    gained = [f"column {name!r}" for place, name in enumerate(table.columns) if place not in mine]
    lost_rows = [_text(row, 0) for place, row in enumerate(twin.rows) if place not in their_rows]
    gained_rows = [_text(row, 0) for place, row in enumerate(table.rows) if place not in my_rows]
    # A row whose numbers were changed as well stands on both sides: what differs in it is told number by number.
    changed = Counter(lost_rows) & Counter(gained_rows)
    lost += [f"row {name!r}" for name in (Counter(lost_rows) - changed).elements()]
    gained += [f"row {name!r}" for name in (Counter(gained_rows) - changed).elements()]
    return Alignment(columns, rows, tuple(lost), tuple(gained))


def _common(said: Sequence[Hashable], wanted: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    blocks = SequenceMatcher(a=said, b=wanted, autojunk=False).get_matching_blocks()
    return ((block.a + step, block.b + step) for block in blocks for step in range(block.size))


def _text(row: tuple[PublishedCell, ...], place: int) -> str:
    return row[place].text if place < len(row) else ""


def shape(table: PublishedTable) -> tuple[int, ...]:
    """Return how many headings a table has, and how many cells each of its rows."""
    return len(table.columns), *(len(row) for row in table.rows)


def with_names_of(table: PublishedTable, twin: PublishedTable, keys: Sequence[str]) -> PublishedTable:
    """Return a table with the headings and row names of its twin, so that a wrong name is not taken for wrong numbers.

    Examples
    --------
    >>> one, other = (PublishedTable("t.csv", 1, ("k", "f1"), ((PublishedCell(k), PublishedCell("5")),)) for k in "23")
    >>> [cell.text for cell in with_names_of(one, other, ["k"]).rows[0]]
    ['3', '5']
    """
    known = {plain(key) for key in keys}
    places = {place for place, name in enumerate(twin.columns) if plain(name) in known} or {0}
    rows = tuple(
        tuple(right if place in places else cell for place, (cell, right) in enumerate(zip(row, wanted, strict=True)))
        for row, wanted in zip(table.rows, twin.rows, strict=True)
    )
    return replace(table, columns=twin.columns, rows=rows)


def differences_of_twins(table: PublishedTable, twin: PublishedTable, *, around: bool = True) -> Iterator[Difference]:
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
    >>> row = (PublishedCell("A"), PublishedCell("0.71"))
    >>> wrong = (PublishedCell("A"), PublishedCell("0.74"))
    >>> one, other = (PublishedTable("t.csv", 1, ("method", "score"), (cells,)) for cells in (wrong, row))
    >>> [(d.kind, d.row, d.column, d.published, d.expected) for d in differences_of_twins(one, other)]
    [('number', 'A', 'score', '0.74', '0.71')]
    """
    for place, (said, wanted) in enumerate(zip(table.columns, twin.columns, strict=True)):
        if said != wanted:
            # The first heading says what rows are; every other one says whose numbers stand below it.
            kind = "name" if place else "text"
            yield Difference(kind, f"heading of column {place + 1}", "", said, wanted, (HEADING, place))
    for number, (row, right, name) in enumerate(zip(table.rows, twin.rows, _row_names(twin), strict=True)):
        for place, (cell, twin_cell) in enumerate(zip(row, right, strict=True)):
            yield from _of_cell(cell, twin_cell, name, twin.columns[place], (number, place))
    if not around:
        return
    if not _is_with_a_note(table.caption, twin.caption):
        yield Difference(_kind(table.caption, twin.caption), "caption", "", table.caption, twin.caption, (CAPTION, 0))
    if not table.label.startswith(twin.label):
        yield Difference("text", "label", "", table.label, twin.label, (LABEL, 0))
    yield from _of_notes(table.notes, twin.notes)


def _row_names(table: PublishedTable) -> list[str]:
    """Return what rows are called: by their first cells, with their numbers where these are not all different."""
    first = [row[0].text for row in table.rows]
    often = Counter(first)
    return [name if often[name] == 1 else f"{name} (row {n})" for n, name in enumerate(first, start=1)]


def _is_with_a_note(said: str, wanted: str) -> bool:
    """Say whether a caption is the wanted one, or that one with a note put in behind one of its sentences."""
    ends = [place + 1 for place, letter in enumerate(wanted) if letter == "."] + [len(wanted)]
    notes = (said.startswith(wanted[:end] + " ") and said.endswith(wanted[end:]) for end in ends)
    return said == wanted or (len(said) > len(wanted) + 1 and any(notes))


def _of_notes(notes: tuple[str, ...], wanted: tuple[str, ...]) -> Iterator[Difference]:
    if len(notes) != len(wanted):
        yield Difference("text", "notes", "", f"{len(notes)} notes", f"{len(wanted)} notes", (-1, 0))
        return
    for number, (said, right) in enumerate(zip(notes, wanted, strict=True), start=1):
        if said != right:
            yield Difference(_kind(said, right), f"note {number}", "", said, right, (-1, number))


def _of_cell(
    cell: PublishedCell, twin: PublishedCell, row: str, column: str, place: tuple[int, int]
) -> Iterator[Difference]:
    if cell.text != twin.text:
        is_name = place[1] == 0 and any(letter.isalpha() for letter in twin.text)
        kind = "name" if is_name else _kind(cell.text, twin.text)
        yield Difference(kind, row, column, cell.text or "nothing", twin.text or "nothing", place)
    if cell.superscript != twin.superscript:
        raised = f"{twin.text} with {twin.superscript or 'nothing'} raised"
        yield Difference("text", row, column, f"{cell.text} with {cell.superscript or 'nothing'} raised", raised, place)
    for mark, word in (("bold", "in bold"), ("underline", "underlined")):
        should = getattr(twin, mark)
        if getattr(cell, mark) != should:
            yield Difference("mark", row, column, cell.text, f"{'' if should else 'not '}{word}", place)


def _kind(said: str, wanted: str) -> str:
    """Say whether two texts differ in a number, by more than the order of additions explains, or in words."""
    is_number = any(map(is_numeric, (said, wanted))) or _DIGITS.sub("", said) == _DIGITS.sub("", wanted)
    numbers, right = numbers_in(said), numbers_in(wanted)
    if not is_number or not (numbers or right):
        return "text"
    if len(numbers) != len(right):
        return "number"
    apart = [abs(a.value - b.value) > 1e-12 * abs(b.value) for a, b in zip(numbers, right, strict=True) if a != b]
    return "number" if any(apart) else "text"
