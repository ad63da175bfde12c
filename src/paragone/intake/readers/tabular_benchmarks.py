"""Results of TabArena and TabZilla, two benchmarks of methods for tables."""

from __future__ import annotations

import re

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
TRIALS = ("dataset_fold_id", "alg_name", "trial_number")
_FOLD = re.compile(r"^(?P<dataset>.+)__fold_(?P<fold>\d+)$")


def _is_arena(source: Source) -> bool:
    names = set(heading(source))
    return {"dataset", "fold", "metric_error"} <= names and bool(names & {"framework", "method"})


def _read_arena(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, ARENA)
    if asked.metric not in (None, "metric_error"):
        raise unknown_name("metric", str(asked.metric), ["metric_error"])
    named = "framework" if "framework" in heading(source) else "method"
    rows = read_rows(source, ("dataset", "fold", named))
    table = rows.frame
    columns = {"method": named, "dataset": "dataset", "fold": "fold"}
    found = pd.DataFrame({role: spell_all(table[name]) for role, name in columns.items()})
    errors = numbers(table, "metric_error", source.where)
    kinds = pd.DataFrame({"dataset": found["dataset"], "metric": table.get("metric")}).dropna()
    several = kinds.drop_duplicates()["dataset"].duplicated()
    for dataset in kinds.drop_duplicates()["dataset"][several]:
        raise InputError(f"{source.where}: the errors of dataset {dataset!r} are of two metrics")
    found, twins = without_twins(
        found.assign(metric_error=errors), list(columns), ["metric_error"], source.where
    )
    names = sorted(set(kinds["metric"].astype(str)))
    mixed = {}
    if len(names) > 1 or set(names) & set(WITH_UNIT):
        listed = " on some datasets and by ".join(names) + " on others" * (len(names) > 1)
        mixed["metric_error"] = f"the error by {listed}"
    note = (
        "TabArena counts repeats and folds in one index, so the column fold does not tell how the"
        " rows were split; its own tasks have 3 folds per repeat (--set test_train_ratio=0.5)."
    )
    return Records(
        found,
        "fold",
        {"metric_error": False},
        source,
        dropped={**rows.dropped, "rows that stand twice": twins},
        notes=(*rows.notes, note),
        designs=dict.fromkeys(found["dataset"].unique()),
        failures=True,
        mixed=mixed,
    )


def _read_zilla(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, ZILLA)
    rows = read_rows(source, TRIALS)
    table = rows.frame
    tests = [name for name in table if name.endswith("__test") and is_number_column(table, name)]
    both = [name.removesuffix("__test") for name in tests]
    both = [
        name
        for name in both
        if f"{name}__val" in table and read_name(name).higher_is_better is not None
    ]
    if not both:
        raise InputError(
            f"{source.where}: no metric has columns METRIC__test and METRIC__val to pick a trial by"
        )
    wanted = None if asked.metric is None else asked.metric.removesuffix("__test")
    if wanted is None and len(both) > 1:
        raise InputError(
            f"{source.where} holds {len(both)} metrics; choose one of {', '.join(both)} with"
            " --metric NAME"
        )
    metric = wanted or both[0]
    if metric not in both:
        raise unknown_name("metric", metric, both)
    name = asked.metric or metric
    ids = spell_all(table["dataset_fold_id"])
    parts = ids.str.extract(_FOLD)
    for one in ids[parts["fold"].isna()]:
        raise InputError(f"{source.where}: the dataset_fold_id {one!r} is not NAME__fold_K")
    found = parts.assign(
        method=spell_all(table["alg_name"]),
        trial=spell_all(table["trial_number"]),
        val=numbers(table, f"{metric}__val", source.where),
        **{name: numbers(table, f"{metric}__test", source.where)},
    )
    keys = ["method", "dataset", "fold"]
    found, twins = without_twins(found, [*keys, "trial"], ["val", name], source.where)
    higher = read_name(metric).higher_is_better
    # A fold where no trial has a value on validation rows is a failure of the method.
    best = found.sort_values("val", ascending=not higher, kind="stable").drop_duplicates(keys)
    best[name] = best[name].where(best["val"].notna())
    note = (
        f"Of {len(found)} trials the one with the best {metric} on validation rows stands for a"
        " method on a fold, the first of equals; test rows choose nothing."
    )
    return Records(
        best[[*keys, name]].sort_index().reset_index(drop=True),
        "fold",
        {name: higher},
        source,
        dropped={**rows.dropped, "rows that stand twice": twins},
        notes=(*rows.notes, note),
        failures=True,
    )


result_readers.add(
    ResultReader(
        "tabarena",
        ARENA,
        _read_arena,
        _is_arena,
        traps=(
            "metric_error is of another metric on other datasets: only who is better counts then.",
            "fold counts repeats and folds in one index: nothing is tested within a dataset before"
            " the design is said.",
        ),
    )
)
result_readers.add(
    ResultReader(
        "tabzilla",
        ZILLA,
        _read_zilla,
        lambda source: set(TRIALS) <= set(heading(source)),
        traps=("Every trial of a search is a row: validation rows pick one, never test rows.",),
    )
)
