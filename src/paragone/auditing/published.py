"""PG303 to PG305: published tables against what the stored predictions give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paragone.auditing.csv_tables import read_csv
from paragone.auditing.expected_crossval import crossval_expectations
from paragone.auditing.expected_curve import curve_expectations
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


def expectations(
    results: Results, experiment: str, recomputed: pd.DataFrame | None, reference: str | None
) -> list[ExpectedTable]:
    """Return what every table of an experiment should say.

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

    Returns
    -------
    list of ExpectedTable
        To match published tables with.
    """
    methods = list(results.described(experiment)["methods"])
    if reference is not None and reference not in methods:
        raise unknown_name("reference", reference, methods)
    if experiment in results.crossval_experiments():
        return crossval_expectations(results.crossval(experiment))
    if experiment in results.topk_experiments():
        run = results.topk(experiment)
        return topk_expectations(run, results, reference) if run.cells else []
    if recomputed is None or recomputed.empty:
        return []
    return curve_expectations(recomputed, results, experiment, reference)


def check_published(
    files: Sequence[Path], expected: Sequence[ExpectedTable], ledger: Ledger, names: Mapping[str, str]
) -> None:
    """Compare every table of the files number by number."""
    wanted = renamed(expected, names)
    compared = tables = 0
    for file in files:
        found = _read(file)
        if not found:
            ledger.find("PG305", "no table was found in it", file=str(file))
        for table in found:
            match = best_match(table, wanted)
            tables += 1
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
