"""Logs of training: a file with a row per epoch or step is one run of one method, with one row as its result."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping

import pandas as pd

from paragone.errors import InputError, argument
from paragone.intake.evaluation import inner
from paragone.intake.folders import few
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.run_files import (
    STEPS,
    check_rule,
    is_result,
    metrics_in,
    name_in,
    rows_of,
    said_rule,
    value_of,
)
from paragone.intake.source import Source
from paragone.reading import read_arrays

TITLE = "logs of training"
EVALUATIONS = ("timesteps", "results", "ep_lengths")
COUNTERS = (*STEPS, "training_iteration", "timesteps", "total_timesteps", "time/total_timesteps")
UNCLEAR = {"iteration", "iter"}
"""What may also count repetitions: only beside something of training it counts steps."""
OF_TRAINING = re.compile(r"train|loss|(?:^|[/_ .])(?:val|lr)(?:$|[/_ .])", re.IGNORECASE)
NAMES_OF_RAY = ("date", "hostname", "node_ip", "trial_id", "experiment_id", "experiment_tag", "done")  # fmt: skip
MONITOR = re.compile(rb"#\{.*\r?\nr,l,t\r?\n")
HISTORY = b'"log_history"'
WINDOW = 100
"""Episodes at the end of a monitor whose mean is its result, as Stable-Baselines3 reports it."""


def _recognises(source: Source) -> bool:
    if source.suffix in (".csv", ".tsv"):
        return MONITOR.match(source.head) is not None or _is_log(source)
    if source.suffix in (".json", ".jsonl"):
        counted = isinstance(source.first, Mapping) and "training_iteration" in source.first
        return counted or HISTORY in source.head
    return source.path.name == "evaluations.npz"


def _is_log(source: Source) -> bool:
    """Whether a counter of steps never falls and nothing beside it names methods or datasets."""
    start = source.text[: source.text.rfind(b"\n") + 1]
    separator = max(",;\t", key=start.partition(b"\n")[0].decode("utf-8", "replace").count)
    try:
        rows = pd.read_csv(io.BytesIO(start), sep=separator, on_bad_lines="skip")
    except ValueError:
        return False
    rows.columns = [str(name).strip() for name in rows.columns]
    counters = [name for name in rows if name.lower() in COUNTERS]
    texts = rows.select_dtypes(exclude="number").dropna(axis=1, how="all").columns
    if not counters or len(rows) < 2 or set(texts) - set(NAMES_OF_RAY):
        return False
    if set(counters) <= UNCLEAR and not any(map(OF_TRAINING.search, rows)):
        return False
    rising = rows[counters[0]].dropna().is_monotonic_increasing
    return any(map(is_result, rows)) and (rising or "epoch" in map(str.lower, counters))


def _read(source: Source, asked: Asked) -> Records:
    check_rule(asked.row)
    rows, notes = _rows(source), []
    if MONITOR.match(source.head):
        rows = pd.DataFrame({"mean_reward": [rows["r"].tail(WINDOW).mean()]})
        notes = [f"The reward of {source.path.name} is the mean of its last {WINDOW} episodes."]
    elif len(rows) > 1:
        notes = [said_rule(asked.row)]
    wanted = asked.value or asked.metric
    names = {name: name for name in metrics_in(rows)}
    if wanted is not None:
        name = name_in(rows, wanted)
        if name is None:
            raise InputError(
                f"{source.where}: its log has no column {wanted!r}; it has {few(names)}"
            )
        names = {wanted: name}
    if not names:
        raise InputError(
            f"{source.where}: no column of the log is a metric by its name: say"
            f" {argument('metric', 'COLUMN')}"
        )
    values = {own: value_of(rows, name, asked.row, source.where) for own, name in names.items()}
    frame = pd.DataFrame([{"method": source.called, "dataset": "data", **values}])
    return Records(frame, "dataset", dict.fromkeys(names), source, notes=tuple(notes))


def _rows(source: Source) -> pd.DataFrame:
    if source.suffix == ".npz":
        arrays = read_arrays(source.path, source.where)
        if not arrays.keys() >= set(EVALUATIONS):
            raise InputError(f"{source.where}: evaluations need {', '.join(EVALUATIONS)}")
        results = arrays["results"]
        means = results.reshape(len(results), -1).mean(axis=1)
        return pd.DataFrame({"step": arrays["timesteps"], "mean_reward": means})
    if HISTORY not in source.head:
        return rows_of(source)
    history = inner(source.json(), "log_history")
    if not isinstance(history, list) or not all(isinstance(one, dict) for one in history):
        raise InputError(f"{source.where}: its log_history is no list of objects")
    # Transformers calls the loss of training rows by no more than that.
    return pd.DataFrame(history).select_dtypes("number").rename(columns={"loss": "train_loss"})


result_readers.add(
    ResultReader(
        "training-logs",
        TITLE,
        _read,
        _recognises,
        traps=(
            "Epochs are no datasets: a log is one value of one method, and is not tested.",
            "The last row is the result; --set row=best:COLUMN takes the best validation row.",
            "A monitor of Stable-Baselines3 is worth the mean of its last 100 episodes.",
        ),
        order=80,
    )
)
