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
    rows = read_rows(source, NEEDED[:3])
    table, metric = rows.frame, asked.metric or "result"
    others = [
        name for name in table.columns if name not in NO_METRICS and is_number_column(table, name)
    ]
    if metric not in ("result", *others):
        raise unknown_name("metric", metric, ["result", *others])
    texts = ("task", "framework", "fold", "constraint", "version", "app_version")
    empty = pd.Series("", table.index)
    found = pd.DataFrame({name: spell_all(table.get(name, empty)) for name in texts})
    found["result"] = numbers(table, "result", source.where)
    notes = list(rows.notes)
    mixed: dict[str, str] = {}
    dropped = dict(rows.dropped)
    if metric == "result":
        kinds = _kinds(table, found, source)
        said = _turn_upwards(found, kinds, source)
        if len(set(kinds.values())) > 1 or set(kinds.values()) & set(WITH_UNIT):
            mixed["result"] = said
        else:
            notes.append(f"The result of the AutoML benchmark is {said}.")
        if others:
            notes.append(f"Other metrics of the file: {', '.join(others)}.")
    else:
        found[metric] = numbers(table, metric, source.where)
        # A task on which a run succeeded without this metric is not for it.
        without = found["task"][found["result"].notna() & found[metric].isna()]
        away = found["task"].isin(set(without))
        if away.all():
            raise InputError(f"no task has {metric} of all runs that succeeded")
        dropped[f"rows of tasks that have no {metric}"] = int(away.sum())
        found = found[~away].reset_index(drop=True)
    keys = ["framework", "constraint", "version", "task", "fold"]
    found, dropped["rows that stand twice"] = without_twins(found, keys, [metric], source.where)
    parts: list[Records] = []
    for (framework, constraint, version), part in _runs(found):
        frame = part[["task", "fold", metric]].rename(columns={"task": "dataset"})
        told = {"constraint": constraint, "version": version}
        parts.append(
            Records(
                frame.assign(method=framework).reset_index(drop=True),
                "fold",
                {metric: True if metric == "result" else None},
                source,
                conditions=tuple(_conditions(part)),
                settings={key: text for key, text in told.items() if text},
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
    told = spell_all(table["metric"]) if "metric" in table else None
    columns = {
        name: numbers(table, name, source.where) for name in RESULTS if name in table.columns
    }
    for task, places in found.groupby("task", sort=False).indices.items():
        where = f"{source.where}: the result of task {task!r}"
        result = found["result"].to_numpy()[places]
        there = np.isfinite(result)
        if told is not None:
            names = sorted(set(told.iloc[places]) - {""})
            if len(names) > 1:
                raise InputError(f"{where} is {names[0]} here and {names[1]} there")
        elif there.any():
            names = [
                name
                for name, values in columns.items()
                if np.allclose(values[places][there], result[there], rtol=SAME, atol=1e-12)
            ]
            if len({read_name(name).higher_is_better for name in names}) != 1:
                raise InputError(
                    f"{where} equals {' and '.join(names) or 'no column of a metric'}, so which way"
                    " is better is not told: choose a metric's column with --metric"
                )
        else:
            continue
        kinds |= {str(task): name for name in names[:1]}
    return kinds


def _turn_upwards(found: pd.DataFrame, kinds: dict[str, str], source: Source) -> str:
    """Let a higher result be better on every task, and say what it is."""
    result = found["result"].to_numpy(dtype=np.float64, copy=True)
    turned = False
    for task, places in found.groupby("task", sort=False).indices.items():
        kind = kinds.get(str(task), "auc")
        where = f"{source.where}: the {kind} of task {task!r}"
        positive, negative = (result[places] > 0).any(), (result[places] < 0).any()
        higher = read_name(kind).higher_is_better
        if kind.startswith("neg_") and positive:
            raise InputError(f"{where} is above zero, which cannot be")
        if higher is None:
            raise InputError(
                f"{where} has no known direction: choose a metric's column with --metric"
            )
        if not higher:
            # A loss below zero was turned round by the benchmark already, whatever it calls it.
            if positive and negative:
                raise InputError(f"{where} is above zero here and below there")
            result[places] *= -1 if positive else 1
            turned |= bool(positive)
            kinds[str(task)] = f"neg_{kind}"
    found["result"] = result
    names = sorted(set(kinds.values()))
    if not names:
        return "empty: every run failed"
    text = " on some tasks and ".join(names) + " on others" * (len(names) > 1)
    return (
        f"{text}, higher is"
        f" better{' (this file has losses as they are: they were turned round)' * turned}"
    )


def _runs(found: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Go through the frameworks under each constraint; by version too where one task has several."""
    for (framework, constraint), part in found.groupby(["framework", "constraint"], sort=False):
        own = str(framework), str(constraint)
        if part.duplicated(["task", "fold"]).any():
            for version, rows in part.groupby("version", sort=False):
                yield (*own, str(version)), rows
        else:
            # A run that failed early often does not know its version.
            yield (*own, " and ".join(filter(None, part["version"].unique()))), part


def _conditions(part: pd.DataFrame) -> Iterator[Condition]:
    names = {"constraint": "time constraint", "app_version": "version of the benchmark"}
    for column, name in names.items():
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
            "An empty result is a failed run: lost to any score. A run not in the file is a gap.",
            "Files of 2019 hold AUC on some tasks and log-loss on others: each is read in its own"
            " direction, and only who is better on a task counts.",
            "One framework under two time constraints or versions is two methods.",
        ),
    )
)
