"""PG303 to PG306: published tables against a report of the store made anew."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from paragone.checks.expected import (
    comparison_expectations,
    crossval_expectations,
    curve_expectations,
    topk_expectations,
)
from paragone.checks.finding import SHOWN, Ledger
from paragone.checks.tables import (
    READERS,
    ExpectedCell,
    ExpectedTable,
    PublishedCell,
    PublishedTable,
    is_numeric,
    numbers_in,
    plain,
    read_tables,
    renamed,
)
from paragone.errors import InputError, unknown_name
from paragone.reporting import report
from paragone.results import Results

if TYPE_CHECKING:
    import pandas as pd

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
        return by_place, _remade_size(table)
    alignment = aligned(table, twin)
    by_name = len(alignment.columns) + len(alignment.rows) * len(alignment.columns)
    return max(by_place, by_name), max(_remade_size(table), _remade_size(twin))


def _remade_size(table: PublishedTable) -> int:
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


CHECK = "published numbers"
MADE_ANEW = "published tables beside a report made anew"
LISTED = 20


class Expectations:
    """What the tables of an experiment should say, worked out when a published table asks for it.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        The experiment's name.
    recomputed : DataFrame, optional
        The scores of a curve experiment, recomputed from predictions.
    reference : str, optional
        The reference of statistics.
    names : mapping of str to str, optional
        Names that tables show instead of identifiers.
    """

    def __init__(
        self,
        results: Results,
        experiment: str,
        recomputed: pd.DataFrame | None = None,
        reference: str | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        methods = list(results.described(experiment)["methods"])
        if reference is not None and reference not in methods:
            raise unknown_name("reference", reference, methods)
        self._results = results
        self._experiment = experiment
        self._recomputed = recomputed
        self._reference = reference
        self._names = names or {}
        self._of_twins: dict[tuple[str, int], ExpectedTable | None] = {}

    @cached_property
    def of_report(self) -> list[ExpectedTable]:
        """The tables of a report."""
        results, experiment = self._results, self._experiment
        found: list[ExpectedTable] = []
        if experiment in results.crossval_experiments():
            found = crossval_expectations(results.crossval(experiment))
        elif experiment in results.topk_experiments():
            run = results.topk(experiment)
            found = topk_expectations(run, results, self._reference) if run.cells else []
        elif self._recomputed is not None and len(self._recomputed):
            found = curve_expectations(self._recomputed, results, experiment, self._reference)
        return renamed(found, self._names)

    @cached_property
    def of_comparison(self) -> list[ExpectedTable]:
        """The tables of a comparison of the methods of a curve experiment."""
        if self._recomputed is None or self._recomputed.empty:
            return []
        found = comparison_expectations(self._recomputed, self._results, self._experiment, self._reference)
        return renamed(found, self._names)

    def match(self, table: PublishedTable) -> Match | None:
        """Return the table beside what it should say; those of comparisons are asked where a report's do not fit."""
        match = best_match(table, self.of_report)
        if match is not None and not match.unknown:
            return match
        others = best_match(table, self.of_comparison)
        found = [one for one in (match, others) if one is not None]
        return min(found, key=lambda one: (len(one.unknown), one.wrong), default=None)

    @cached_property
    def remade(self) -> RemadeReport:
        """The report of the store made anew."""
        return RemadeReport(self._results, self._experiment, self._reference, self._names)

    def of_twin(self, twin: PublishedTable) -> ExpectedTable | None:
        """Return what is recomputed for a table of the report made anew; None where nothing is.

        A sheet of the page may have the headings of another table: it must be known by its caption or label, or agree
        throughout.
        """
        key = (twin.file, twin.number)
        if key not in self._of_twins:
            match = self.match(twin)
            if match is not None and (match.unknown or (match.differences and not _is_known(twin, match.expected))):
                match = None
            self._of_twins[key] = match.expected if match is not None else None
        return self._of_twins[key]


def _is_known(twin: PublishedTable, one: ExpectedTable) -> bool:
    file = Path(twin.file)
    is_sheet = file.name == "tables.tex" or file.parent.name == "tables"
    same_caption = bool(one.caption) and plain(one.caption) == twin.caption
    return not is_sheet or same_caption or (bool(one.label) and one.label == twin.label)


def check_published(files: Sequence[Path], expected: Expectations, ledger: Ledger) -> None:
    """Compare every table of the files number by number."""
    read = {file: read_tables(file) for file in files}
    split_columns = recognised_split(table for tables in read.values() for table in tables)
    compared = beside = 0
    for file, tables in read.items():
        if not tables:
            ledger.find("PG305", "no table was found in it", file=str(file))
        twins = _twins(file, tables, split_columns, expected, ledger)
        for table, twin, before in zip(tables, twins, (None, *twins), strict=False):
            if twin is not None and shape(table) == shape(twin):
                around = before is None or (before.caption, before.label) != (twin.caption, twin.label)
                compared += _compare_with_twin(table, twin, expected, ledger, around=around)
                beside += 1
            else:
                compared += _compare_alone(table, twin, expected, ledger)
    n_tables = sum(len(tables) for tables in read.values())
    ledger.look(CHECK, compared, "numbers", f"{n_tables} tables of {len(files)} files")
    ledger.look(MADE_ANEW, beside, "tables", f"of {n_tables}")


def _twins(
    file: Path, tables: Sequence[PublishedTable], split_columns: int | None, expected: Expectations, ledger: Ledger
) -> tuple[PublishedTable | None, ...]:
    try:
        twins = expected.remade.twins(file, tables, split_columns)
    except InputError as error:
        ledger.miss(MADE_ANEW, len(tables), "tables", f"a report cannot be made: {error}")
        return (None,) * len(tables)
    if twins.wanted not in (None, len(tables)):
        told = f"it holds {len(tables)} tables, a report of this store has {twins.wanted} there"
        ledger.find("PG305", told, file=str(file))
    return twins.tables


def _compare_with_twin(
    table: PublishedTable, twin: PublishedTable, expected: Expectations, ledger: Ledger, *, around: bool
) -> int:
    """Compare a table with the one made anew and with what is recomputed; return how many numbers it holds."""
    wanted = expected.of_twin(twin)
    match = compared_with(with_names_of(table, twin, wanted.keys), wanted) if wanted is not None else None
    recomputed = [one for one in match.differences if around or one.place[0] >= 0] if match is not None else []
    found = together(recomputed, list(differences_of_twins(table, twin, around=around)))
    numbers = sum(len(numbers_in(cell.text)) for row in table.rows for cell in row)
    title = wanted.title if wanted is not None else twin.caption.partition(":")[0] or Path(table.file).stem
    _report(table, title, found, numbers, ledger)
    return numbers


def together(recomputed: Sequence[Difference], remade: Sequence[Difference]) -> list[Difference]:
    """Join what two comparisons of one table found, each cell once: what was recomputed goes first."""
    numbers = {one.place for one in remade if one.kind == "number"}
    kept = [one for one in recomputed if not (one.kind == "text" and one.place in numbers)]
    taken = {(one.place, one.kind == "mark") for one in kept}
    return [*kept, *(one for one in remade if (one.place, one.kind == "mark") not in taken)]


def _compare_alone(table: PublishedTable, twin: PublishedTable | None, expected: Expectations, ledger: Ledger) -> int:
    """Compare a table with what is recomputed alone; return how many numbers were compared."""
    match = expected.match(table)
    if twin is not None:
        _report_shape(table, twin, ledger)
    elif match is None:
        ledger.find(
            "PG305",
            f"table {table.number} fits no table of the experiment by its headings and row names, so none of its "
            "numbers was checked",
            file=table.file,
            count=1,
            total=1,
            examples=[f"headings: {', '.join(table.columns)}"],
        )
    if match is None:
        return 0
    _report(table, match.expected.title, match.differences, match.compared, ledger)
    if match.unknown:
        ledger.find(
            "PG305",
            f"table {table.number} ({match.expected.title}): {len(match.unknown)} of its rows or columns are unknown, "
            "so they were not checked",
            file=table.file,
            count=len(match.unknown),
            total=len(table.rows) + len(table.columns),
            examples=match.unknown[:SHOWN],
        )
    return match.compared


def _report_shape(table: PublishedTable, twin: PublishedTable, ledger: Ledger) -> None:
    """Say which rows and columns a table lost or gained."""
    alignment = aligned(table, twin)
    found = [f"{name} is missing" for name in alignment.lost]
    there = {_row_name(row) for row in twin.rows}
    for name in alignment.gained:
        stands_twice = name.startswith("row ") and name in there
        found.append(f"{name} {'stands there once more' if stands_twice else 'is none of the report'}")
    told = f"table {table.number} has {_size(table)}, in a report of this store it has {_size(twin)}"
    ledger.find(
        "PG306",
        f"{told}: {', '.join(found[:SHOWN]) or 'its rows stand in another order'}",
        file=table.file,
        count=max(1, len(found)),
        total=len(twin.rows) + len(twin.columns),
        examples=found,
    )


def _row_name(row: Sequence[PublishedCell]) -> str:
    return f"row {row[0].text!r}" if row else ""


def _size(table: PublishedTable) -> str:
    headings, *cells = shape(table)
    uneven = [number for number, count in enumerate(cells, start=1) if count != headings]
    return f"{len(cells)} rows and {headings} columns" + (f" (row {uneven[0]} is uneven)" if uneven else "")


def _report(
    table: PublishedTable, title: str, differences: Sequence[Difference], compared: int, ledger: Ledger
) -> None:
    numbers = [one for one in differences if one.kind == "number"]
    names = [one for one in differences if one.kind == "name"]
    others = [one for one in differences if one.kind not in ("number", "name")]
    where = f"table {table.number} ({title})"
    if names:
        ledger.find(
            "PG306",
            f"{where}: {len(names)} rows or columns stand under another name",
            file=table.file,
            count=len(names),
            total=len(table.rows) + len(table.columns),
            examples=[_words(one) for one in names],
        )
    for one in numbers[:LISTED]:
        ledger.find("PG303", f"{where}: {_words(one)}", file=table.file, count=1, total=compared)
    if len(numbers) > LISTED:
        more = len(numbers) - LISTED
        ledger.find("PG303", f"{where}: {more} more numbers differ", file=table.file, count=more, total=compared)
    if others:
        ledger.find(
            "PG304",
            f"{where}: {len(others)} marks or texts differ",
            file=table.file,
            count=len(others),
            total=sum(len(row) for row in table.rows),
            examples=[_words(one) for one in others],
        )


def _words(one: Difference) -> str:
    place = f"row {one.row!r}, column {one.column!r}" if one.column else one.row
    if one.kind == "mark":
        return f"{place}: {one.published!r} should be {one.expected}"
    return f"{place}: published {one.published}, recomputed {one.expected}"
