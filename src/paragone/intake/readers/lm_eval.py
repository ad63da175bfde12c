"""lm-evaluation-harness: files of samples, one line per item, and files of results, which tell about the run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from paragone.errors import InputError, argument
from paragone.intake.evaluation import conditions, inner, inner_object, is_number, written
from paragone.intake.folders import few, files_in, read_each, said_unread
from paragone.intake.harness_samples import REPEATED, UNNAMED, read_samples
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Condition, Records, one_dataset
from paragone.intake.source import Source
from paragone.metrics import read_name

TITLE = "logs of lm-evaluation-harness"
TIME = re.compile(r"(?:^|_)(\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?)$")
SAMPLES = re.compile(rb'\s*(?:\[\s*)?\{\s*"doc_id"\s*:')
RESULTS = re.compile(rb'\s*\{\s*"results"\s*:\s*\{')
NOT_SCORES = ("alias", "sample_len", "sample_count", "name")
VERSION = "version of the task"
MEANS = (None, "mean", "nanmean")
CLOSE = 1e-6
"""How far the mean of the items may be from the score of the results file, relative to 1 or the score."""


def _is_samples(source: Source) -> bool:
    """Whether a file holds samples, by its first line; of a line longer than what is looked at, by its start."""
    if source.suffix not in (".json", ".jsonl") or not SAMPLES.match(source.text):
        return False
    first = source.first
    line = first[0] if isinstance(first, list) and first else first
    keys = {"resps", "filtered_resps", "doc_hash"}
    return line is None or (isinstance(line, dict) and bool(line.keys() & keys))


def _is_results(source: Source) -> bool:
    """Whether a file holds the results of a run, by its first key and what only this program writes beside it."""
    if source.suffix != ".json" or not RESULTS.match(source.text):
        return False
    if isinstance(source.first, dict):
        return bool(source.first.keys() & {"configs", "versions", "n-shot"})
    return b"_stderr" in source.head or b'"alias"' in source.head


def _recognises(source: Source) -> bool:
    files = files_in(source.path) if source.is_folder else [source]
    return any(_is_samples(one) or _is_results(one) for one in files)


@dataclass(frozen=True)
class _Run:
    """What a results file tells about its run; nothing where there is none."""

    time: str = ""
    told: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""

    @property
    def model(self) -> str | None:
        arguments = inner(self.told, "config", "model_args")
        found = inner(arguments, "pretrained")
        if isinstance(arguments, str):
            match = re.search(r"(?:^|,)(?:pretrained|model|engine)=([^,]+)", arguments)
            found = match and match[1]
        name = self.told.get("model_name") or found
        return str(name) if name else None

    @property
    def tasks(self) -> list[str]:
        """The tasks with results of their own; groups are made of them."""
        members = inner_object(self.told, "group_subtasks")
        groups = {name for name in members if members[name]} | set(
            inner_object(self.told, "groups")
        )
        return [name for name in inner_object(self.told, "results") if name not in groups]

    def scores(self, task: str) -> dict[str, float]:
        """The scores of a task by metric and filter; where a fork wrote them by date, the newest."""
        found = inner_object(self.told, "results", task)
        dates = [name for name, value in found.items() if isinstance(value, Mapping)]
        if dates:
            found = found[max(dates)]
        return {
            key: float(value)
            for key, value in found.items()
            if is_number(value) and key not in NOT_SCORES and "_stderr" not in key.split(",")[0]
        }

    def filters(self, task: str) -> dict[str, list[str]]:
        """The filters of each metric of a task, in the order of the results."""
        found: dict[str, list[str]] = {}
        for key in self.scores(task):
            metric, _, name = key.partition(",")
            found.setdefault(metric, []).append(name or UNNAMED)
        return found

    def higher(self, task: str, key: str) -> bool | None:
        metric = key.split(",")[0].removesuffix(REPEATED)
        told = inner(self.told, "higher_is_better", task, metric)
        return told if isinstance(told, bool) else read_name(metric).higher_is_better

    def shots(self, task: str) -> Any:
        found = inner(self.told, "n-shot", task)
        return inner(self.told, "configs", task, "num_fewshot") if found is None else found

    @property
    def settings(self) -> dict[str, str]:
        """What may tell two runs of one model apart."""
        if not self.told:
            return {"time": self.time} if self.time else {}
        config = inner_object(self.told, "config")
        shots = {str(self.shots(task)) for task in self.tasks} - {"None"}
        return {
            "model_args": written(config.get("model_args")),
            "shots": ", ".join(sorted(shots)) or "none",
            "gen_kwargs": written(config.get("gen_kwargs")),
            "chat template": written(self.told.get("chat_template_sha"))[:8],
            "system instruction": written(self.told.get("system_instruction_sha"))[:8],
        }

    def conditions(self, task: str) -> tuple[Condition, ...]:
        config = inner_object(self.told, "config")
        told = {
            VERSION: inner(self.told, "versions", task),
            "number of shots": self.shots(task),
            "setting of generation": written(config.get("gen_kwargs")),
            "limit on the number of items": written(config.get("limit")),
        }
        return conditions(task, told, stops=(VERSION,)) if self.told else ()

    def notes(self, method: str, tasks: Iterable[str]) -> list[str]:
        """What the settings of the whole run mean for the items of some tasks."""
        lines = []
        limit = written(inner(self.told, "config", "limit"))
        if limit != "none":
            lines.append(
                f"{method} was run with limit {limit}: on the first items of a task, not on a"
                " random part."
            )
        for group, members in inner_object(self.told, "group_subtasks").items():
            n_read = len(set(tasks) & set(map(str, members or ())))
            if n_read > 1:
                lines.append(
                    f"{group}: its {n_read} tasks are strata and count the same;"
                    f" {argument('weights', 'size')} weights them by their items, as"
                    " lm-evaluation-harness does."
                )
        return lines


@dataclass(frozen=True)
class _Log:
    """One task of one run, with the file of its samples where there is one."""

    method: str
    task: str
    run: _Run
    time: str
    samples: Source | None = None

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.method, self.task, str(self.run.settings)


def _time(source: Source) -> str:
    found = TIME.search(source.stem)
    return found[1] if found else ""


def _run(source: Source) -> _Run:
    folder, time = source.path.resolve().parent.name, _time(source)
    place = folder if time or source.stem == "results" else source.stem
    return _Run(time, inner_object(source.json()), place)


def _read(source: Source, asked: Asked) -> list[Records]:
    asked.refuse_columns(source, TITLE)
    time = _time(source)
    around = files_in(source.path if source.is_folder else source.path.parent)
    samples = [one for one in around if _is_samples(one)] if source.is_folder else [source]
    results = [one for one in around if _is_results(one)]
    notes: list[str] = []
    if source.is_folder:
        others = [one.path.name for one in around if one not in (*samples, *results)]
        notes += [f"Not read in {source.path.name}: {few(others)}."] if others else []
    elif _is_results(source):
        samples, results = [], [source]
    else:
        results = [one for one in results if not time or _time(one) == time]
    runs, unread = read_each(results, _run)
    notes += said_unread(unread)
    if samples:
        logs = _named(source, [_about(source, one, runs) for one in samples], notes)
        logs = _newest(logs, notes)
        found, unread = read_each(logs, lambda one: _of_samples(source, one, logs))
    else:
        logs = [
            _Log(source.name or run.model or run.place, task, run, run.time)
            for run in sorted(runs, key=lambda one: one.time)
            for task in run.tasks
        ]
        found, unread = list(_of_results(source, _newest(logs, notes))), []
    if not found:
        raise InputError(f"{source.where}: its results hold no score")
    notes += said_unread(unread)
    return [replace(one, notes=(*notes, *one.notes)) for one in found]


def _about(given: Source, file: Source, runs: Sequence[_Run]) -> _Log:
    """Say of a file of samples which run, method and task it is of."""
    time, name = _time(file), TIME.sub("", file.stem)
    same = [run for run in runs if run.time == time] or ([] if time else list(runs))
    known = [one for run in same for one in run.tasks if f"_{name}".endswith(f"_{one}")]
    task = max(known, key=len, default=None)
    if name.startswith("samples_"):
        task = name.removeprefix("samples_")
    with_task = [run for run in same if task in run.tasks] or same
    run = with_task[0] if len(with_task) == 1 else _Run(time)
    alone = task is None and not given.is_folder
    own = file.stem if alone else file.path.resolve().parent.name
    task = task or ("samples" if alone else file.stem)
    return _Log(given.name or run.model or own, task, run, time, replace(file, name=given.name))


def _named(source: Source, logs: list[_Log], notes: list[str]) -> list[_Log]:
    """Name the runs of a folder of which no results file tells the model, where they may be of several models."""
    nameless = [one for one in logs if not one.run.told]
    tasks = {one.task for one in nameless}
    if source.name or not nameless or len(tasks) == len(logs):
        return [one if one.run.told else replace(one, run=_Run()) for one in logs]
    notes.append(
        f"No results file in {source.path.name} tells the model of {len(nameless)} files of"
        " samples: each run, by the time in its name, is a method of its own."
    )
    return [
        one if one.run.told else replace(one, method=f"{one.method} ({one.time or one.task})")
        for one in logs
    ]


def _newest(logs: Iterable[_Log], notes: list[str]) -> list[_Log]:
    """Return the newest of the logs of one method, task and settings."""
    newest: dict[tuple[str, str, str], _Log] = {}
    older: dict[str, int] = {}
    for one in logs:
        other = newest.setdefault(one.identity, one)
        if other is one:
            continue
        if one.time == other.time:
            named = [
                log.samples.path.name if log.samples else log.run.place for log in (one, other)
            ]
            names = " and ".join(named)
            raise InputError(f"{names} are both of {one.method} on {one.task}: keep one")
        older[one.method] = older.get(one.method, 0) + 1
        newest[one.identity] = max(one, other, key=lambda log: log.time)
    notes += [
        f"{method} has several runs of one task: the newest is read, {count} older files are left"
        " out."
        for method, count in older.items()
    ]
    return list(newest.values())


def _of_samples(source: Source, log: _Log, logs: Sequence[_Log]) -> Records:
    run, task, file = log.run, log.task, log.samples or source
    table = read_samples(file, run.filters(task))
    notes = run.notes(log.method, [one.task for one in logs if one.run is run])
    n_items = len(table.frame)
    effective = inner(run.told, "n-samples", task, "effective")
    if isinstance(effective, int) and n_items < effective:
        notes.append(f"{file.path.name}: {n_items} of the {effective} items of its run are there.")
    if "evidence" not in table.frame:
        notes.append(
            f"{file.path.name} holds no hashes of its items, as before version 0.4.3: they are"
            " paired by their numbers alone."
        )
    refused = dict(table.refused)
    for name in table.metrics:
        why = _why_not(run, task, name, table.frame[name], n_items == effective)
        if why is not None:
            refused[name] = why
    metrics = {name: run.higher(task, name) for name in table.metrics if name not in refused}
    frame = table.frame.drop(columns=[name for name in table.metrics if name in refused])
    return Records(
        one_dataset(frame, log.method, task),
        "item",
        metrics,
        source if source.is_folder else file,
        conditions=run.conditions(task),
        settings=run.settings,
        refused=refused,
        dropped=table.dropped,
        notes=tuple(notes),
    )


def _why_not(run: _Run, task: str, name: str, values: pd.Series, complete: bool) -> str | None:
    """Say why a metric is not the mean of its items, which is what is tested; None where it is."""
    metric = name.rpartition(",")[0]
    listed = inner(run.told, "configs", task, "metric_list")
    ways = [inner(one, "aggregation") for one in listed or () if inner(one, "metric") == metric]
    if ways and isinstance(ways[0], str) and ways[0] not in MEANS:
        return f"its score is the {ways[0]} of all items together, not a mean of values of items"
    scores = run.scores(task)
    stated, mean = scores.get(name, scores.get(metric)), float(np.mean(values.to_numpy()))
    if stated is None or not complete or not np.isfinite([stated, mean]).all():
        return None
    if abs(stated - mean) > CLOSE * max(1.0, abs(stated)):
        return (
            f"the results file says {stated:.6g} and the items have the mean {mean:.6g}, so that"
            " the score is not their mean, or lines were changed"
        )
    return None


def _of_results(source: Source, logs: Sequence[_Log]) -> Iterator[Records]:
    """Go through the scores of whole tasks, of which each is one unit."""
    groups: dict[tuple[Any, ...], list[_Log]] = {}
    for log in logs:
        columns = tuple(log.run.scores(log.task))
        if columns:
            groups.setdefault((log.method, str(log.run.settings), columns), []).append(log)
    for (method, _, columns), members in groups.items():
        first = members[0].run
        rows = [{"dataset": log.task, **log.run.scores(log.task)} for log in members]
        notes = first.notes(method, ())
        if len(first.tasks) < len(inner_object(first.told, "results")):
            notes.append("Groups are left out where their tasks are there: they would count twice.")
        yield Records(
            pd.DataFrame(rows).assign(method=method),
            "dataset",
            {name: first.higher(members[0].task, name) for name in columns},
            source,
            conditions=tuple(c for log in members for c in log.run.conditions(log.task)),
            settings=first.settings,
            notes=tuple(notes),
        )


result_readers.add(
    ResultReader(
        "lm-eval",
        TITLE,
        _read,
        _recognises,
        traps=(
            "A metric is METRIC,FILTER: lines of several filters are never mixed.",
            "Lines that were appended twice count once; with other content the file is refused.",
            "Of several runs of a model in one folder the newest is read, by the times in the names.",
            "Items are paired where doc_hash and target_hash agree; other prompts are counted.",
            "Another version of a task stops the comparison; other shots or limits are said.",
            "f1, mcc, bleu, perplexity have no value per item and are refused with the reason.",
            "A score of the results file that is not the mean of the items is refused.",
        ),
    )
)
