"""PG303 to PG306: published tables against tables rebuilt from the store.

Every score of the store is verified against its predictions (PG301) and every report is made of
those scores, so a rebuilt report says what a published one should. A table of a report is compared
with its own cell by cell. A table that somebody put together by hand is looked up by its headings
and row names, among the tables of the report and the plain means of the scores, and compared number
by number, to as many digits as it prints.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from paragone.checks.differences import (
    LEAST_ALIKE,
    Difference,
    Match,
    aligned,
    compared_by_names,
    differences_of_twins,
    shape,
)
from paragone.checks.finding import SHOWN, Ledger
from paragone.checks.registry import check
from paragone.checks.tables import (
    READERS,
    PublishedTable,
    numbers_in,
    read_tables,
)
from paragone.checks.words import agree, counted
from paragone.errors import InputError, unknown_name
from paragone.lab.measures import Wording
from paragone.lab.view import View
from paragone.stats import compare
from paragone.tables import TableCell
from paragone.tables.latex_cells import plain

if TYPE_CHECKING:
    import pandas as pd

CHECK = "published numbers"
MADE_ANEW = "published tables beside a rebuilt report"
LISTED = 20

Files = Mapping[Path, Sequence[PublishedTable]]


@dataclass(frozen=True)
class Twins:
    """The tables of a file beside those that were rebuilt from the store.

    Attributes
    ----------
    tables : tuple of PublishedTable or None
        For each table of the file the one that it should be; None where there is none.
    wanted : int or None
        How many tables the file should hold; None where it is not a file of a report.
    """

    tables: tuple[PublishedTable | None, ...]
    wanted: int | None = None


class Remade:
    """The tables of an experiment, rebuilt: of its report, of its comparisons, and of its plain means.

    Parameters
    ----------
    view : View
        The experiment.
    reference : str, optional
        The reference of statistics.
    names : mapping of str to str, optional
        Names that tables show instead of identifiers.
    metric : str, optional
        The metric that the report shows alone, and by which a cross-validation is scored.
    """

    def __init__(
        self,
        view: View,
        reference: str | None = None,
        names: Mapping[str, str] | None = None,
        metric: str | None = None,
    ) -> None:
        methods = list(view.described["methods"])
        if reference is not None and reference not in methods:
            raise unknown_name("reference", reference, methods)
        self._view = view
        self._reference = reference
        self._names = dict(names or {})
        self._metric = metric
        self.report: Callable[[int | None], Files] = lru_cache(maxsize=4)(self._report)
        self.comparisons: Callable[[bool], Files] = lru_cache(maxsize=2)(self._comparisons)

    def _report(self, split_columns: int | None) -> Files:
        # A run asks for no page: it should not wait for what makes them.
        from paragone.reporting.write import written_report

        with tempfile.TemporaryDirectory() as scratch:
            wording = Wording(self._names, split_columns=split_columns)
            view = self._view.narrowed(
                metric=self._metric, reference=self._reference, wording=wording
            )
            return _tables_of(written_report(view, scratch, charts=False)[0], Path(scratch))

    def _comparisons(self, points: bool) -> Files:
        """Return the files of `paragone compare` by metric and grid, or at each point; none where it refuses."""
        found: dict[Path, Sequence[PublishedTable]] = {}
        for number, (metric, rows) in enumerate(self._measures(points)):
            with tempfile.TemporaryDirectory() as scratch:
                try:
                    compared = compare(rows, metric=metric, reference=self._reference)
                except InputError:
                    continue
                files = _tables_of(compared.save(scratch, formats=()), Path(scratch))
            found |= {Path(str(number)) / name: tables for name, tables in files.items()}
        return found

    @cached_property
    def means(self) -> list[PublishedTable]:
        """The mean and deviation over folds of each method on each dataset, both ways round, unrounded."""
        found = []
        for metric, rows in (*self._measures(False), *self._measures(True)):
            folds = rows.groupby(["dataset", "method", "fold"], sort=False)["value"].mean()
            means = folds.groupby(["dataset", "method"], sort=False).agg(["mean", "std"])
            for key, other in (("dataset", "method"), ("method", "dataset")):
                found.append(_mean_table(means, key, other, metric, self._names))
        return found

    def _measures(self, points: bool) -> Iterator[tuple[str, pd.DataFrame]]:
        """Walk over metrics and grids, or over every point of them."""
        by = ["protocol", "metric", *(["at"] if points else [])]
        for key, rows in self._view.tidy_scores.groupby(by, sort=False, dropna=False):
            yield str(key[1]), rows

    def twins(
        self, file: Path, tables: Sequence[PublishedTable], split_columns: int | None = None
    ) -> Twins:
        """Find the tables that those of a file should be: by the file's name, or else by what they hold."""
        found = twins_among(self.report(split_columns), file, tables)
        for points in (False, True):
            # The bootstrap of a comparison takes a while: at each point only where the file's name
            # is that of one.
            known = {name.name for name in self.comparisons(False)} if points else {file.name}
            if tables and file.name in known and not any(found.tables):
                found = twins_among(self.comparisons(points), file, tables)
        return found

    def match(self, table: PublishedTable) -> Match | None:
        """Return a table put together by hand beside the one that it is most likely about; None where none fits."""
        made = [one for tables in self.report(None).values() for one in tables]
        found = [
            match
            for one in (*made, *self.means)
            if (match := compared_by_names(table, one)) is not None
        ]
        return max(found, key=lambda match: match.likeness(table), default=None)


def _tables_of(written: Iterable[Path], folder: Path) -> Files:
    return {
        file.relative_to(folder): read_tables(file) for file in written if file.suffix in READERS
    }


def _mean_table(
    means: pd.DataFrame, key: str, other: str, metric: str, names: Mapping[str, str]
) -> PublishedTable:
    rows, columns = (
        list(dict.fromkeys(means.index.get_level_values(level))) for level in (key, other)
    )
    shown = {name: plain(names.get(name, name)) for name in (*rows, *columns)}
    texts = {
        place: f"{float(mean)!r}" + (f" ± {float(spread)!r}" if spread == spread else "")
        for place, mean, spread in means.reorder_levels([key, other]).itertuples()
    }
    body = tuple(
        tuple(map(TableCell, (shown[row], *(texts.get((row, column), "") for column in columns))))
        for row in rows
    )
    return PublishedTable("", 0, (key, *(shown[column] for column in columns)), body, metric)


def twins_among(made: Files, file: Path, tables: Sequence[PublishedTable]) -> Twins:
    """Pair the tables of a file with tables that were rebuilt from the store."""
    best = Twins(tuple(_by_content(table, made) for table in tables))
    best_score = (0, 0.0)
    for name, remade in made.items():
        pairs = _paired(tables, remade) if name.name == file.name else ()
        share = _share(
            _alike(table, twin) for table, twin in zip(tables, pairs, strict=False) if twin
        )
        score = (_common_end(name, file), share)
        if share >= LEAST_ALIKE and score > best_score:
            best, best_score = Twins(tuple(pairs), len(remade)), score
    return best


def _by_content(table: PublishedTable, made: Files) -> PublishedTable | None:
    """Return the table with the same headings that is most like a table of a file of any name."""
    same = [
        one
        for name, remade in made.items()
        for one in remade
        if name.suffix == Path(table.file).suffix
        and (
            _known_as(table, one)
            or (one.columns == table.columns and len(one.rows) == len(table.rows))
        )
    ]
    share, best = max(
        ((_share([_alike(table, one)]), place) for place, one in enumerate(same)), default=(0.0, 0)
    )
    return same[best] if share >= LEAST_ALIKE else None


@check(
    "PG303",
    "error",
    "a published number that differs",
    "put the recomputed value into the table",
    of="audit",
)
@check(
    "PG304",
    "warning",
    "a mark or text in a published table that differs",
    "put the mark or text there that belongs there",
    of="audit",
)
@check(
    "PG305",
    "warning",
    "a published table or row that cannot be checked",
    "see that its headings and names are those of the store; give --display-map where names are shown otherwise",
    of="audit",
)
@check(
    "PG306",
    "error",
    "a published table that lost or gained a row or column, or shows numbers under another name",
    "put back what was left out, and every number under its own dataset and method; say why where it is meant",
    of="audit",
)
def check_published(remade: Remade, ledger: Ledger, files: Sequence[Path]) -> None:
    """Compare every table of the files number by number."""
    read = {file: read_tables(file) for file in files}
    split_columns = recognised_split(table for tables in read.values() for table in tables)
    compared = beside_twins = 0
    for file, tables in read.items():
        here = ledger.at(file=str(file))
        if not tables:
            here.find("PG305", "no table was found in it")
        try:
            twins = remade.twins(file, tables, split_columns)
        except InputError as error:
            ledger.miss(MADE_ANEW, len(tables), "tables", f"a report cannot be made: {error}")
            continue
        if twins.wanted not in (None, len(tables)):
            found = counted(len(tables), "tables")
            here.find("PG305", f"it holds {found}, a report of this store has {twins.wanted} there")
        before = None
        for table, twin in zip(tables, twins.tables, strict=True):
            if twin is not None and shape(table) == shape(twin):
                # Stacked blocks have caption, label and notes in common.
                around = before is None or _float_of(before) != _float_of(twin)
                differences = list(differences_of_twins(table, twin, around=around))
                numbers = sum(len(numbers_in(cell.text)) for row in table.rows for cell in row)
                _report(table, twin, differences, numbers, here)
                compared += numbers
                beside_twins += 1
            else:
                compared += _compare_by_names(table, twin, remade, here)
            before = twin
    n_tables = sum(len(tables) for tables in read.values())
    of = f"{counted(n_tables, 'tables')} of {counted(len(files), 'files')}"
    ledger.look(CHECK, compared, "numbers", of)
    ledger.look(MADE_ANEW, beside_twins, "tables", f"of {n_tables}")


def _float_of(table: PublishedTable) -> tuple[str, str]:
    return table.caption, table.label


def _title(table: PublishedTable) -> str:
    return table.caption.partition(":")[0] or Path(table.file).stem


def _compare_by_names(
    table: PublishedTable, twin: PublishedTable | None, remade: Remade, ledger: Ledger
) -> int:
    """Compare a table of another shape, or one put together by hand; return how many numbers were compared."""
    if twin is not None:
        _report_shape(table, twin, ledger)
    match = remade.match(table) if twin is None else compared_by_names(table, twin)
    if match is None:
        if twin is None:
            ledger.find(
                "PG305",
                f"table {table.number} fits no table of the experiment by its headings and row"
                " names, so none of its numbers was checked",
                1,
                1,
                [f"headings: {', '.join(table.columns)}"],
            )
        return 0
    _report(table, match.expected, match.differences, match.compared, ledger)
    if match.unknown:
        are = agree(len(match.unknown), "is", "are")
        ledger.find(
            "PG305",
            f"table {table.number} ({_title(match.expected)}): {len(match.unknown)} of its rows or"
            f" columns {are} unknown and not checked",
            len(match.unknown),
            len(table.rows) + len(table.columns),
            match.unknown,
        )
    return match.compared


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
        stacked = any(_float_of(one)) and _float_of(one) == _float_of(following)
        if stacked and one.file == following.file and one.columns[:1] == following.columns[:1]:
            return len(one.columns) - 1
    return None


def _common_end(name: Path, file: Path) -> int:
    """Count the last parts that two paths have in common."""
    parts = zip(reversed(name.parts), reversed(file.parts), strict=False)
    return next((n for n, (a, b) in enumerate(parts) if a != b), len(name.parts))


def _paired(
    tables: Sequence[PublishedTable], remade: Sequence[PublishedTable]
) -> Sequence[PublishedTable | None]:
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
    named = bool(any(_float_of(table))) and (
        table.label == twin.label or table.caption == twin.caption
    )
    # Stacked blocks have label and caption in common; one that lost a column is still more like its
    # own than any other.
    return named and (table.columns == twin.columns or _share([_alike(table, twin)]) >= LEAST_ALIKE)


def _alike(table: PublishedTable, twin: PublishedTable) -> tuple[int, int]:
    """Count the headings and cells that are equal, and those there are.

    By their places or, where a row or column is gone and everything behind it stands elsewhere, by
    their names.
    """
    pairs = list(zip(table.columns, twin.columns, strict=False))
    for row, wanted in zip(table.rows, twin.rows, strict=False):
        pairs += [(cell.text, other.text) for cell, other in zip(row, wanted, strict=False)]
    by_place = sum(a == b for a, b in pairs)
    count = sum(shape(table))
    if shape(table) == shape(twin):
        return by_place, count
    alignment = aligned(table, twin)
    by_name = len(alignment.columns) * (1 + len(alignment.rows))
    return max(by_place, by_name), max(count, sum(shape(twin)))


def _share(counts: Iterable[tuple[int, int]]) -> float:
    equal, there = (sum(column) for column in zip((0, 0), *counts, strict=True))
    return equal / there if there else 0.0


def _report_shape(table: PublishedTable, twin: PublishedTable, ledger: Ledger) -> None:
    """Say which rows and columns a table lost or gained."""
    alignment = aligned(table, twin)
    found = [f"{name} is missing" for name in alignment.lost]
    there = {f"row {row[0].text!r}" for row in twin.rows if row}
    for name in alignment.gained:
        how = "stands there once more" if name in there else "is none of the report"
        found.append(f"{name} {how}")
    what = ", ".join(found[:SHOWN]) or "its rows stand in another order"
    ledger.find(
        "PG306",
        f"table {table.number} has {_size(table)}, in a report of this store it has {_size(twin)}:"
        f" {what}",
        max(1, len(found)),
        len(twin.rows) + len(twin.columns),
        found,
    )


def _size(table: PublishedTable) -> str:
    headings, *cells = shape(table)
    uneven = [number for number, count in enumerate(cells, start=1) if count != headings]
    size = f"{len(cells)} rows and {headings} columns"
    return f"{size} (row {uneven[0]} is uneven)" if uneven else size


def _report(
    table: PublishedTable,
    wanted: PublishedTable,
    differences: Sequence[Difference],
    compared: int,
    ledger: Ledger,
) -> None:
    by_kind: dict[str, list[str]] = {"number": [], "name": [], "other": []}
    for one in differences:
        by_kind[one.kind if one.kind in by_kind else "other"].append(_words(one))
    numbers, names, others = by_kind.values()
    where = f"table {table.number} ({_title(wanted)})"
    if names:
        rows = counted(len(names), "rows or columns", "row or column")
        message = f"{where}: {rows} {agree(len(names), 'stands', 'stand')} under another name"
        ledger.find("PG306", message, len(names), len(table.rows) + len(table.columns), names)
    for words in numbers[:LISTED]:
        ledger.find("PG303", f"{where}: {words}", 1, compared)
    more = len(numbers) - LISTED
    if more > 0:
        differ = agree(more, "differs", "differ")
        message = f"{where}: {counted(more, 'more numbers')} {differ}"
        ledger.find("PG303", message, more, compared)
    if others:
        marks = counted(len(others), "marks or texts", "mark or text")
        message = f"{where}: {marks} {agree(len(others), 'differs', 'differ')}"
        ledger.find("PG304", message, len(others), sum(map(len, table.rows)), others)


def _words(one: Difference) -> str:
    place = f"row {one.row!r}, column {one.column!r}" if one.column else one.row
    if one.kind == "mark":
        return f"{place}: {one.published!r} should be {one.expected}"
    return f"{place}: published {one.published}, recomputed {one.expected}"
