"""Logs of training: a file with a row per epoch or step is one run of one method, with one row as its result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pandas as pd

from paragone.errors import InputError, argument
from paragone.intake.evaluation import inner
from paragone.intake.folders import few
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.run_files import (
    STEPS,
    Row,
    check_rule,
    is_result,
    metrics_in,
    name_in,
    numbers_of,
    rows_of,
    said_rule,
    value_of,
)
from paragone.intake.source import Source
from paragone.intake.tabular import heading
from paragone.metrics import read_name
from paragone.reading import read_arrays

TITLE = "logs of training"
EVALUATIONS = {"timesteps", "results", "ep_lengths"}
COUNTERS = (*STEPS, "training_iteration", "timesteps", "total_timesteps", "time/total_timesteps")
UNCLEAR = ("iteration", "iter")
"""What may also count repetitions: only beside something of training it counts steps."""
OF_TRAINING = re.compile(r"train|loss|(?:^|[/_ .])(?:val|lr)(?:$|[/_ .])", re.IGNORECASE)
NAMES_OF_RAY = (
    "date",
    "hostname",
    "node_ip",
    "trial_id",
    "experiment_id",
    "experiment_tag",
    "done",
)
WINDOW = 100
"""Episodes at the end of a monitor whose mean is its result, as Stable-Baselines3 reports it."""


def _recognises(source: Source) -> bool:
    if source.is_folder:
        return False
    if source.suffix == ".npz":
        return source.path.name == "evaluations.npz"
    if source.suffix in (".csv", ".tsv"):
        return _is_monitor(source) or _is_log(source)
    if source.suffix not in (".json", ".jsonl"):
        return False
    return b'"log_history"' in source.head or (
        isinstance(source.first, Mapping) and "training_iteration" in source.first
    )


def _is_monitor(source: Source) -> bool:
    lines = source.head.split(b"\n", 2)
    return lines[0][:2] == b"#{" and lines[1:2] == [b"r,l,t"]


def _is_log(source: Source) -> bool:
    """Whether a counter of steps never falls and nothing beside it names methods or datasets."""
    names = heading(source)
    counters = [name for name in names if name.lower() in COUNTERS]
    if not counters or not any(map(is_result, names)):
        return False
    if set(counters) <= set(UNCLEAR) and not any(map(OF_TRAINING.search, names)):
        return False
    text = source.head.decode("utf-8", errors="replace")
    lines = text.splitlines()[1 : None if len(source.head) < 2**16 else -1]
    separator = max(",;\t", key=text.partition("\n")[0].count)
    cells = [line.split(separator) for line in lines if line.strip()]
    rows = [dict(zip(names, row, strict=False)) for row in cells if len(row) == len(names)]
    counts = [float(row[counters[0]]) for row in rows if _is_number(row[counters[0]])]
    texts = {
        name
        for row in rows
        for name, cell in row.items()
        if cell.strip() and not _is_number(cell) and name not in NAMES_OF_RAY
    }
    rising = all(one <= two for one, two in pairwise(counts)) or "epoch" in map(str.lower, counters)
    return len(counts) > 1 and rising and not texts


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read(source: Source, asked: Asked) -> Records:
    check_rule(asked.row)
    rows, note = _rows(source)
    wanted = asked.value or asked.metric
    name = None if wanted is None else name_in(rows, wanted)
    if wanted is not None and name is None:
        raise InputError(
            f"{source.where}: its log has no column {wanted!r}; it has {few(metrics_in(rows))}"
        )
    names = {wanted: name} if wanted and name else {one: one for one in metrics_in(rows)}
    if not names:
        raise InputError(
            f"{source.where}: no column of the log is a metric by its name: say"
            f" {argument('metric', 'COLUMN')}"
        )
    values = {own: value_of(rows, name, asked.row, source.where) for own, name in names.items()}
    frame = pd.DataFrame([{"method": source.called, "dataset": "data", **values}])
    directions = {own: read_name(name).higher_is_better for own, name in names.items()}
    notes = (note,) if note else (said_rule(asked.row),) if len(rows) > 1 else ()
    return Records(frame, "dataset", directions, source, notes=notes)


def _rows(source: Source) -> tuple[list[Row], str]:
    """Return the rows of a log, and what is to be said of them beside the rule."""
    if source.suffix == ".npz":
        arrays = read_arrays(source.path, source.where)
        if not arrays.keys() >= EVALUATIONS:
            raise InputError(f"{source.where}: evaluations need {', '.join(sorted(EVALUATIONS))}")
        means = arrays["results"].mean(axis=tuple(range(1, arrays["results"].ndim)))
        steps = arrays["timesteps"].tolist()
        return [{"step": s, "mean_reward": m} for s, m in zip(steps, means, strict=True)], ""
    if source.suffix in (".csv", ".tsv") and _is_monitor(source):
        rewards = [row["r"] for row in rows_of(source)]
        note = f"The reward of {source.path.name} is the mean of its last {WINDOW} episodes."
        return [{"mean_reward": float(np.mean(rewards[-WINDOW:]))}], note
    if source.suffix in (".json", ".jsonl") and b'"log_history"' in source.head:
        history = inner(source.json(), "log_history")
        if not isinstance(history, list) or not all(isinstance(one, dict) for one in history):
            raise InputError(f"{source.where}: its log_history is no list of objects")
        return [numbers_of(one) for one in history], ""
    return rows_of(source), ""


result_readers.add(
    ResultReader(
        "training-logs",
        TITLE,
        _read,
        _recognises,
        traps=(
            (
                "Epochs are no datasets: a log is one value of one method, so that two logs can be"
                " compared by eye and not be tested."
            ),
            (
                "The last row that holds the metric is the result; --set row=best:COLUMN takes the"
                " best by a column of validation rows."
            ),
            "A monitor of Stable-Baselines3 is worth the mean of its last 100 episodes.",
        ),
        order=80,
    )
)
