"""Results of TabArena and TabZilla, two benchmarks of methods for tables."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from paragone.errors import InputError, unknown_name
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.source import Source
from paragone.intake.tabular import heading, is_number_column, numbers, read_rows, without_twins
from paragone.metrics import read_name
from paragone.stats.intake import spell_all

ARENA = "results of TabArena"
ZILLA = "results of TabZilla"
WITH_UNIT = (
    "rmse",
    "mae",
    "mse",
    "root_mean_squared_error",
    "mean_absolute_error",
    "mean_squared_error",
)
_FOLD = re.compile(r"^(?P<dataset>.+)__fold_(?P<fold>\d+)$")


def _is_arena(source: Source) -> bool:
    names = set(heading(source))
    return names.issuperset(("dataset", "fold", "metric_error")) and bool(
        names & {"framework", "method"}
    )


def _read_arena(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, ARENA)
    if asked.metric not in (None, "metric_error"):
        raise unknown_name("metric", str(asked.metric), ["metric_error"])
    named = "framework" if "framework" in heading(source) else "method"
    rows = read_rows(source, ("dataset", "fold", named))
    table = rows.frame
    found = pd.DataFrame({"method": spell_all(table[named])})
    for name in ("dataset", "fold"):
        found[name] = spell_all(table[name])
    found["metric_error"] = numbers(table, "metric_error", source.where)
    found, twins = without_twins(
        found, ["method", "dataset", "fold"], ["metric_error"], source.where
    )
    mixed = {}
    kinds = []
    if "metric" in table.columns:
        told = pd.DataFrame(
            {"dataset": spell_all(table["dataset"]), "metric": spell_all(table["metric"])}
        )
        several = told.drop_duplicates()["dataset"].duplicated()
        if several.any():
            one = told.drop_duplicates()["dataset"][several].iloc[0]
            raise InputError(f"{source.where}: the errors of dataset {one!r} are of two metrics")
        kinds = sorted(set(told["metric"]))
        if len(kinds) > 1 or set(kinds) & set(WITH_UNIT):
            mixed["metric_error"] = (
                "the error by"
                f" {' on some datasets and by '.join(kinds)}{' on others' * (len(kinds) > 1)}"
            )
    designs = dict.fromkeys(pd.unique(found["dataset"]))
    note = (
        "TabArena counts repeats and folds in one index, so the column fold does not tell how the"
        " rows were split; its own tasks have 3 folds per repeat (--set test_train_ratio=0.5)."
    )
    dropped = {**rows.dropped, "rows that stand twice": twins}
    return Records(
        found, "fold", {"metric_error": False}, source,
        dropped=dropped, notes=(*rows.notes, note), designs=designs, failures=True, mixed=mixed,
    )  # fmt: skip


def _is_zilla(source: Source) -> bool:
    return set(heading(source)).issuperset(("dataset_fold_id", "alg_name", "trial_number"))


def _read_zilla(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, ZILLA)
    rows = read_rows(source, ("dataset_fold_id", "alg_name", "trial_number"))
    table = rows.frame
    both = [
        name.removesuffix("__test")
        for name in table.columns
        if name.endswith("__test") and is_number_column(table, name)
    ]
    both = [
        name
        for name in both
        if f"{name}__val" in table.columns and read_name(name).higher_is_better is not None
    ]
    if not both:
        raise InputError(
            f"{source.where}: no metric has columns METRIC__test and METRIC__val to pick a trial by"
        )
    wanted = None if asked.metric is None else asked.metric.removesuffix("__test")
    if wanted is not None and wanted not in both:
        raise unknown_name("metric", wanted, both)
    if wanted is None and len(both) > 1:
        raise InputError(
            f"{source.where} holds {len(both)} metrics; choose one of {', '.join(both)} with"
            " --metric NAME"
        )
    metric = wanted or both[0]
    found = _of_folds(table, source)
    found["val"] = numbers(table, f"{metric}__val", source.where)
    name = asked.metric or metric
    found[name] = numbers(table, f"{metric}__test", source.where)
    keys = ["method", "dataset", "fold"]
    found, twins = without_twins(found, [*keys, "trial"], ["val", name], source.where)
    n_trials = len(found)
    higher = bool(read_name(metric).higher_is_better)
    # Trials without a value on validation rows failed; a fold where all did is a failure of the
    # method.
    order = found["val"].fillna(-np.inf if higher else np.inf)
    found = found.assign(order=-order if higher else order)
    best = found.sort_values([*keys, "order", "trial_place"], kind="stable").drop_duplicates(keys)
    best = best.assign(**{name: best[name].where(best["val"].notna())})
    kept = best[[*keys, name]].sort_index().reset_index(drop=True)
    note = (
        f"Of {n_trials} trials the one with the best {metric} on validation rows stands for a"
        " method on a fold, the first of equals; test rows choose nothing."
    )
    dropped = {**rows.dropped, "rows that stand twice": twins}
    return Records(
        kept,
        "fold",
        {name: higher},
        source,
        dropped=dropped,
        notes=(*rows.notes, note),
        failures=True,
    )


def _of_folds(table: pd.DataFrame, source: Source) -> pd.DataFrame:
    ids = spell_all(table["dataset_fold_id"])
    parts = {one: _FOLD.match(one) for one in pd.unique(ids)}
    for one, match in parts.items():
        if match is None:
            raise InputError(f"{source.where}: the dataset_fold_id {one!r} is not NAME__fold_K")
    return pd.DataFrame(
        {
            "method": spell_all(table["alg_name"]),
            "dataset": [parts[one]["dataset"] for one in ids],  # type: ignore[index]
            "fold": [parts[one]["fold"] for one in ids],  # type: ignore[index]
            "trial": spell_all(table["trial_number"]),
            "trial_place": np.arange(len(table)),
        }
    )


result_readers.add(
    ResultReader(
        "tabarena",
        ARENA,
        _read_arena,
        _is_arena,
        traps=(
            (
                "metric_error is lower-better, and of another metric on other datasets: only who is"
                " better counts then."
            ),
            (
                "fold counts repeats and folds in one index: within a dataset nothing is tested"
                " before the design is said."
            ),
        ),
    )
)
result_readers.add(
    ResultReader(
        "tabzilla",
        ZILLA,
        _read_zilla,
        _is_zilla,
        traps=(
            (
                "Every trial of a search is a row: the trial is picked on validation rows, never on"
                " test rows."
            ),
        ),
    )
)
