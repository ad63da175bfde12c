"""PG303 to PG305: published tables against what the stored predictions give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from paragone.auditing.csv_tables import read_csv
from paragone.auditing.expected_crossval import crossval_expectations
from paragone.auditing.expected_curve import comparison_expectations, curve_expectations
from paragone.auditing.expected_topk import topk_expectations
from paragone.auditing.finding import SHOWN, Ledger
from paragone.auditing.latex_tables import read_latex
from paragone.auditing.matching import Difference, Match, best_match
from paragone.auditing.table_model import ExpectedTable, PublishedTable, renamed
from paragone.errors import InputError, unknown_name
from paragone.results import Results

if TYPE_CHECKING:
    import pandas as pd

CHECK = "published numbers"
READERS = {".tex": read_latex, ".csv": read_csv}
LISTED = 20


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


def is_page_sheet(file: Path) -> bool:
    """Say whether a file is a sheet that a report's page offers: in the folder ``tables`` beside ``report.html``."""
    return file.parent.name == "tables" and (file.parent.parent / "report.html").is_file()


def is_page_text(file: Path) -> bool:
    """Say whether a file is the LaTeX of all sheets of a page: ``tables.tex`` beside ``report.html``."""
    return file.name == "tables.tex" and (file.parent / "report.html").is_file()


def check_published(files: Sequence[Path], expected: Expectations, ledger: Ledger) -> None:
    """Compare every table of the files number by number."""
    compared = tables = 0
    sheets = [file for file in files if is_page_sheet(file)]
    ledger.miss(CHECK, len(sheets), "sheets of a page", "only the LaTeX and CSV files of a report are compared")
    files = [file for file in files if file not in sheets]
    for file in files:
        found = _read(file)
        if not found:
            ledger.find("PG305", "no table was found in it", file=str(file))
        for table in found:
            match = expected.match(table)
            tables += 1
            if is_page_text(file) and (match is None or match.unknown):
                ledger.miss(CHECK, 1, "sheets of a page", f"table {table.number} of {file} is not of the report's own")
                continue
            if match is None:
                ledger.find(
                    "PG305",
                    f"table {table.number} fits no table of the experiment by its headings and row names, so none of "
                    "its numbers was checked",
                    file=str(file),
                    count=1,
                    total=len(found),
                    examples=[f"headings: {', '.join(table.columns)}"],
                )
                continue
            compared += match.compared
            _report(table, match, ledger)
    ledger.look(CHECK, compared, "numbers", f"{tables} tables of {len(files)} files")


def _read(file: Path) -> list[PublishedTable]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    return READERS[file.suffix.lower()](text, str(file))


def _report(table: PublishedTable, match: Match, ledger: Ledger) -> None:
    numbers = [one for one in match.differences if one.kind == "number"]
    others = [one for one in match.differences if one.kind != "number"]
    where = f"table {table.number} ({match.expected.title})"
    for one in numbers[:LISTED]:
        ledger.find("PG303", f"{where}: {_words(one)}", file=table.file, count=1, total=match.compared)
    if len(numbers) > LISTED:
        more = len(numbers) - LISTED
        ledger.find("PG303", f"{where}: {more} more numbers differ", file=table.file, count=more, total=match.compared)
    if others:
        ledger.find(
            "PG304",
            f"{where}: {len(others)} marks or texts differ",
            file=table.file,
            count=len(others),
            total=sum(len(row) for row in table.rows),
            examples=[_words(one) for one in others],
        )
    if match.unknown:
        ledger.find(
            "PG305",
            f"{where}: {len(match.unknown)} of its rows or columns are unknown, so they were not checked",
            file=table.file,
            count=len(match.unknown),
            total=len(table.rows) + len(table.columns),
            examples=match.unknown[:SHOWN],
        )


def _words(one: Difference) -> str:
    place = f"row {one.row!r}, column {one.column!r}" if one.column else one.row
    if one.kind == "mark":
        return f"{place}: {one.published!r} should be {one.expected}"
    return f"{place}: published {one.published}, recomputed {one.expected}"
