"""PG303 to PG306: published tables against what the stored predictions give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from paragone.auditing.expected_crossval import crossval_expectations
from paragone.auditing.expected_curve import comparison_expectations, curve_expectations
from paragone.auditing.expected_topk import topk_expectations
from paragone.auditing.finding import SHOWN, Ledger
from paragone.auditing.matching import Difference, Match, best_match, compared_with
from paragone.auditing.reading import read_tables
from paragone.auditing.remade import (
    RemadeReport,
    aligned,
    differences_of_twins,
    recognised_split,
    shape,
    with_names_of,
)
from paragone.auditing.table_model import ExpectedTable, PublishedCell, PublishedTable, numbers_in, plain, renamed
from paragone.errors import InputError, unknown_name
from paragone.results import Results

if TYPE_CHECKING:
    import pandas as pd

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
