"""Cross-validation of scikit-learn on disk: ``cross_validate`` and ``cv_results_`` as CSV, JSON or a pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from paragone.errors import InputError, argument
from paragone.intake.cross_validated import (
    CrossValidated,
    cross_validated_records,
    is_cross_validation,
    is_search,
    of_cross_validation,
    of_search,
)
from paragone.intake.objects import from_objects
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.roles import find_field
from paragone.intake.source import Source
from paragone.intake.tabular import heading, is_number_column, numbers, read_rows
from paragone.stats.intake import spell_all

TITLE = "results of scikit-learn's cross-validation"
PICKLES = (".pkl", ".pickle", ".joblib")


def _is_pickle(source: Source) -> bool:
    return not source.is_folder and source.suffix in PICKLES


def _recognises(source: Source) -> bool:
    names = set(heading(source))
    timed = {"fit_time", "score_time"} <= names or {"mean_fit_time", "params"} <= names
    if timed and any("test_" in name for name in names):
        return True
    return _is_pickle(source) or (source.suffix == ".json" and _is_known(source.first))


def _is_known(found: Any) -> bool:
    """Say whether JSON is of one cross-validation or search, or maps methods, or datasets and methods, to them."""
    for _ in range(3):
        if is_search(found) or (is_cross_validation(found) and "fit_time" in found):
            return True
        found = next(iter(found.values()), None) if isinstance(found, Mapping) else None
    return False


def _read(source: Source, asked: Asked) -> list[Records]:
    if _is_pickle(source):
        return _of_pickle(source, asked)
    if source.suffix != ".json":
        return _of_table(source, asked)
    asked.refuse_columns(source, TITLE)
    found = source.json()
    if not _is_known(found):
        raise InputError(f"{source.where}: it holds no cross-validation")
    return _of_objects(found, source)


def _of_pickle(source: Source, asked: Asked) -> list[Records]:
    if not asked.run_code:
        raise InputError(
            f"{source.where} is a pickle, and reading one runs what stands in it: say"
            f" {argument('run_code', True)} if you trust it, or save it as CSV"
            " (pandas.DataFrame(scores).to_csv) or JSON"
        )
    import joblib

    try:
        found = joblib.load(source.path)
    except Exception as error:
        # Unpickling runs a stranger's code, which may raise anything.
        raise InputError(
            f"{source.where}: cannot be unpickled ({type(error).__name__}: {error})"
        ) from error
    return _of_objects(found, source)


def _of_objects(found: Any, source: Source) -> list[Records]:
    if is_cross_validation(found):
        found = {source.name or source.stem: found}
    return [replace(one, source=source) for one in from_objects(found).parts]


def _of_table(source: Source, asked: Asked) -> list[Records]:
    rows = read_rows(source, ())
    table = rows.frame
    whole = {name: table[name].tolist() for name in table.columns}
    if is_search(whole):
        before = "" if source.alone else f"{source.name or source.stem}: "
        found = of_search(whole, "data", before)
    else:
        found = _methods(table, source, asked)
    parts = cross_validated_records(found, source)
    return [replace(parts[0], dropped=rows.dropped), *parts[1:]]


def _methods(table: pd.DataFrame, source: Source, asked: Asked) -> list[CrossValidated]:
    """Return the methods of a table with a row per fold, told apart by a column where there is one."""
    tests = [
        name for name in table.columns if name.startswith("test_") and is_number_column(table, name)
    ]
    if not tests:
        raise InputError(f"{source.where}: no column test_* holds numbers")
    columns = [name for name in table.columns if name not in tests]
    labels = pd.DataFrame(index=table.index)
    for role, own in (("method", source.name or source.stem), ("dataset", "data")):
        name = getattr(asked, role) or find_field(columns, role)
        if name is not None and name not in table.columns:
            raise InputError(f"{source.where}: there is no column {name!r}")
        labels[role] = own if name is None else spell_all(table[name])
    _refuse_appended(table, labels, source)
    scores = pd.DataFrame({name: numbers(table, name, source.where) for name in tests})
    return [
        of_cross_validation(scores.loc[rows].to_dict("list"), str(method), str(dataset))
        for (method, dataset), rows in labels.groupby(
            ["method", "dataset"], sort=False
        ).groups.items()
    ]


def _refuse_appended(table: pd.DataFrame, labels: pd.DataFrame, source: Source) -> None:
    """Refuse a table whose numbers of folds start again for one method, or leave one out."""
    first = table.columns[0]
    if first not in ("", "fold", "split") and not first.startswith("Unnamed"):
        return
    folds = pd.to_numeric(table[first], errors="coerce")
    if labels.assign(number=table[first]).duplicated().any():
        raise InputError(
            f"{source.where}: its numbers of folds start again: the file holds two runs, keep one"
        )
    for (method, _), group in folds.groupby([labels["method"], labels["dataset"]], sort=False):
        if group.max() - group.min() + 1 != len(group):
            raise InputError(
                f"{source.where}: a fold of {method!r} is missing between {group.min()} and"
                f" {group.max()}"
            )


result_readers.add(
    ResultReader(
        "scikit-learn",
        TITLE,
        _read,
        _recognises,
        traps=(
            "Repeated cross-validation stands in one row of numbers: with more than 5 scores,"
            " --set repeats= is asked for.",
            "Same splits are told by return_indices=True alone; different splits are refused.",
            "The best candidate of a search is optimistic; successive halving is refused.",
            "A pickle is read only with --run-code: reading one runs what stands in it.",
        ),
    )
)
