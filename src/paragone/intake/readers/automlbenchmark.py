"""Results of the AutoML benchmark, old and new: failures are outcomes, and each task has its direction."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from paragone.errors import InputError, unknown_name
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Condition, Records
from paragone.intake.source import Source
from paragone.intake.tabular import heading, is_number_column, numbers, read_rows, without_twins
from paragone.metrics import read_name
from paragone.stats.intake import spell_all

TITLE = "results of the AutoML benchmark"
NEEDED = ("task", "framework", "fold", "result")
TELLING = ("mode", "utc", "info", "constraint", "models", "models_count", "training_duration")
NO_METRICS = (
    *NEEDED, *TELLING, "id", "type", "metric", "version", "params", "tag", "app_version", "duration",
    "predict_duration", "seed",
)  # fmt: skip
WITH_UNIT = ("rmse", "mae", "mse", "neg_rmse", "neg_mae", "neg_mse")
"""Metrics in the unit of a task's target, which is another one on every task."""
RESULTS = ("auc", "acc", "r2", "logloss", "rmse", "mae")
"""What the result of a file without a column ``metric`` may be."""
SAME = 1e-4
"""Results are written with six digits."""


def _recognises(source: Source) -> bool:
    names = set(heading(source))
    return names.issuperset(NEEDED) and len(names & set(TELLING)) > 1


def _read(source: Source, asked: Asked) -> list[Records]:
    asked.refuse_columns(source, TITLE)
    rows = read_rows(source, ("task", "framework", "fold"))
    table = rows.frame
    metric = asked.metric or "result"
    others = [
        name for name in table.columns if name not in NO_METRICS and is_number_column(table, name)
    ]
    if metric != "result" and metric not in others:
        raise unknown_name("metric", metric, ["result", *others])
    found = pd.DataFrame({name: spell_all(table[name]) for name in ("task", "framework", "fold")})
    for name in ("constraint", "version", "app_version"):
        found[name] = spell_all(table[name]) if name in table.columns else ""
    found["result"] = numbers(table, "result", source.where)
    notes = list(rows.notes)
    mixed: dict[str, str] = {}
    dropped = dict(rows.dropped)
    if metric == "result":
        kinds = _kinds(table, found, source)
        turned = _turn_upwards(found, kinds, source)
        said = _what_result_is(kinds, turned)
        if len(set(kinds.values())) > 1 or set(kinds.values()) & set(WITH_UNIT):
            mixed["result"] = said
        else:
            notes.append(f"The result of the AutoML benchmark is {said}.")
        if others:
            notes.append(f"Other metrics of the file: {', '.join(others)}.")
    else:
        found[metric] = numbers(table, metric, source.where)
        found, count = _where_it_applies(found, metric)
        dropped[f"rows of tasks that have no {metric}"] = count
    found, twins = _once(found, metric, source)
    dropped["rows that stand twice"] = twins
    direction = True if metric == "result" else read_name(metric).higher_is_better
    parts: list[Records] = []
    for (framework, constraint, version), part in _runs(found):
        kept = part[["task", "fold", metric]].rename(columns={"task": "dataset"})
        kept.insert(0, "method", framework)
        parts.append(
            Records(
                kept.reset_index(drop=True),
                "fold",
                {metric: direction},
                source,
                conditions=tuple(_conditions(part)),
                settings={
                    key: text
                    for key, text in (("constraint", constraint), ("version", version))
                    if text
                },
                dropped={} if parts else dropped,
                notes=tuple(notes),
                failures=True,
                mixed=mixed,
            )
        )
    return parts


def _kinds(table: pd.DataFrame, found: pd.DataFrame, source: Source) -> dict[str, str]:
    """Return what the result is on each task: as the column ``metric`` says, or the old column that it equals."""
    kinds: dict[str, str] = {}
    if "metric" in table.columns:
        told = spell_all(table["metric"])
        for task, names in told.groupby(found["task"], sort=False):
            known = sorted({name for name in names if name})
            if len(known) > 1:
                raise InputError(
                    f"{source.where}: the result of task {task!r} is {known[0]} here and {known[1]}"
                    " there"
                )
            if known:
                kinds[str(task)] = known[0]
        return kinds
    columns = {
        name: numbers(table, name, source.where) for name in RESULTS if name in table.columns
    }
    for task, places in found.groupby("task", sort=False).indices.items():
        result = found["result"].to_numpy()[places]
        there = np.isfinite(result)
        if not there.any():
            continue
        same = [
            name
            for name, values in columns.items()
            if np.allclose(values[places][there], result[there], rtol=SAME, atol=1e-12)
        ]
        if len({read_name(name).higher_is_better for name in same}) != 1:
            raise InputError(
                f"{source.where}: the result of task {task!r} equals"
                f" {' and '.join(same) or 'no column of a metric'}, so which way is better is not"
                " told: choose a metric's column with --metric"
            )
        kinds[str(task)] = same[0]
    return kinds


def _turn_upwards(found: pd.DataFrame, kinds: dict[str, str], source: Source) -> bool:
    """Let a higher result be better on every task, and say whether some were turned round for it."""
    result = found["result"].to_numpy(dtype=np.float64, copy=True)
    turned = False
    for task, places in found.groupby("task", sort=False).indices.items():
        kind = kinds.get(str(task), "auc")
        mine = result[places]
        positive, negative = bool((mine > 0).any()), bool((mine < 0).any())
        if kind.startswith("neg_") and positive:
            raise InputError(
                f"{source.where}: the {kind} of task {task!r} is above zero, which cannot be"
            )
        if read_name(kind).higher_is_better is False:
            # A loss below zero was turned round by the benchmark already, whatever it calls it.
            if positive and negative:
                raise InputError(
                    f"{source.where}: the {kind} of task {task!r} is above zero here and below"
                    " there"
                )
            result[places] = -mine if positive else mine
            turned |= positive
            kinds[str(task)] = f"neg_{kind}"
        elif read_name(kind).higher_is_better is None:
            raise InputError(
                f"{source.where}: which way of {kind!r}, the metric of task {task!r}, is better is"
                " not known: choose a metric's column with --metric"
            )
    found["result"] = result
    return turned


def _what_result_is(kinds: dict[str, str], turned: bool) -> str:
    names = sorted(set(kinds.values()))
    if not names:
        return "empty: every run failed"
    text = " on some tasks and ".join(names) + (" on others" if len(names) > 1 else "")
    return (
        f"{text}, higher is"
        f" better{' (this file has losses as they are: they were turned round)' * turned}"
    )


def _where_it_applies(found: pd.DataFrame, metric: str) -> tuple[pd.DataFrame, int]:
    """Leave out tasks on which a run succeeded without this metric: the metric is not for them."""
    succeeded = found["result"].notna() & found[metric].isna()
    others = set(found.loc[succeeded, "task"])
    away = found["task"].isin(others).to_numpy()
    if away.all():
        raise InputError(f"no task has {metric} of all runs that succeeded")
    return found[~away].reset_index(drop=True), int(away.sum())


def _once(found: pd.DataFrame, metric: str, source: Source) -> tuple[pd.DataFrame, int]:
    keys = ["framework", "constraint", "version", "task", "fold"]
    return without_twins(found, keys, [metric], source.where)


def _runs(found: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Go through the frameworks under each constraint; by version too where one task has several."""
    for (framework, constraint), part in found.groupby(["framework", "constraint"], sort=False):
        versions = [name for name in pd.unique(part["version"]) if name]
        if not part.duplicated(["task", "fold"]).any():
            # A run that failed early often does not know its version.
            yield (str(framework), str(constraint), " and ".join(versions)), part
            continue
        for version, rows in part.groupby("version", sort=False):
            yield (str(framework), str(constraint), str(version)), rows


def _conditions(part: pd.DataFrame) -> Iterator[Condition]:
    for column, name in (
        ("constraint", "time constraint"),
        ("app_version", "version of the benchmark"),
    ):
        told = part[part[column] != ""].drop_duplicates(["task"])
        for task, value in zip(told["task"], told[column], strict=True):
            yield Condition(str(task), name, str(value))


result_readers.add(
    ResultReader(
        "automlbenchmark",
        TITLE,
        _read,
        _recognises,
        traps=(
            (
                "An empty result is a failed run: an outcome, lost to any score. A run that is not"
                " in the file is a gap."
            ),
            (
                "Files of 2019 hold AUC on binary and plain log-loss on multi-class tasks under one"
                " heading: each task is read in its own direction, and only who is better on a task"
                " counts."
            ),
            "One framework under two time constraints or versions is two methods.",
        ),
    )
)
