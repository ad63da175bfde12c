"""lm-evaluation-harness: files of samples, one line per item, and files of results, which tell about the run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.errors import InputError, argument
from paragone.intake.evaluation import inner, inner_object
from paragone.intake.harness_samples import UNNAMED, read_samples
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Condition, Records, as_categories, one_dataset
from paragone.intake.source import Source
from paragone.metrics import read_name

TITLE = "logs of lm-evaluation-harness"
SUFFIXES = (".json", ".jsonl")
TIME = re.compile(r"(?:^|_)(\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?)$")
SAMPLES = re.compile(rb'\s*(?:\[\s*)?\{\s*"doc_id"\s*:')
RESULTS = re.compile(rb'\s*\{\s*"results"\s*:\s*\{')
NOT_SCORES = ("alias", "sample_len", "sample_count", "name")
MEANS = ("mean", "nanmean")
CLOSE = 1e-6
"""How far the mean of the items may be from the score of the results file, relative to 1 or the score."""
NO_TASK = "samples"
SHOWN = 3


def _starts(source: Source, how: re.Pattern[bytes]) -> bool:
    return how.match(source.head.removeprefix(b"\xef\xbb\xbf")) is not None


def _is_samples(source: Source) -> bool:
    """Whether a file holds samples, by its first line; of a line longer than what is looked at, by its start."""
    if (
        source.is_folder
        or source.suffix not in SUFFIXES
        or not SAMPLES.match(source.head.removeprefix(b"\xef\xbb\xbf"))
    ):
        return False
    first = source.first
    line = first[0] if isinstance(first, list) and first else first
    return line is None or (
        isinstance(line, dict) and bool(line.keys() & {"resps", "filtered_resps", "doc_hash"})
    )


def _is_results(source: Source) -> bool:
    """Whether a file holds the results of a run, by its first key and what only this program writes beside it."""
    if source.is_folder or source.suffix != ".json" or not _starts(source, RESULTS):
        return False
    first = source.first
    if isinstance(first, dict):
        return bool(first.keys() & {"configs", "versions", "n-shot"})
    return b"_stderr" in source.head or b'"alias"' in source.head


def _recognises(source: Source) -> bool:
    if not source.is_folder:
        return _is_samples(source) or _is_results(source)
    files = [one for one in _files(source.path) if one.suffix in SUFFIXES]
    files.sort(key=lambda one: not one.path.name.startswith(("samples_", "results")))
    return any(_is_samples(one) or _is_results(one) for one in files)


def _files(folder: Path) -> list[Source]:
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror or error})") from error
    return [Source(path, folder) for path in paths]


@dataclass(frozen=True)
class _Run:
    """What a results file tells about its run; nothing where there is none."""

    source: Source | None
    told: Mapping[str, Any]

    @cached_property
    def time(self) -> str:
        return "" if self.source is None else _time(self.source)

    @property
    def model(self) -> str | None:
        name = self.told.get("model_name") or _pretrained(inner(self.told, "config", "model_args"))
        return str(name) if name else None

    @property
    def tasks(self) -> list[str]:
        """The tasks with results of their own; groups are made of them."""
        groups = {
            name for name, tasks in inner_object(self.told, "group_subtasks").items() if tasks
        }
        groups |= set(inner_object(self.told, "groups"))
        return [name for name in inner_object(self.told, "results") if name not in groups]

    def scores(self, task: str) -> dict[str, float]:
        """The scores of a task by metric and filter."""
        found = {}
        for key, value in inner_object(self.told, "results", task).items():
            stem = key.split(",")[0]
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if number and key not in NOT_SCORES and not stem.endswith("_stderr"):
                found[key] = float(value)
        return found

    def filters(self, task: str) -> dict[str, list[str]]:
        """The filters of each metric of a task, in the order of the results."""
        found: dict[str, list[str]] = {}
        for key in self.scores(task):
            metric, _, name = key.partition(",")
            found.setdefault(metric, []).append(name or UNNAMED)
        return found

    def higher(self, task: str, metric: str) -> bool | None:
        told = inner(self.told, "higher_is_better", task, metric)
        return told if isinstance(told, bool) else read_name(metric).higher_is_better

    def aggregation(self, task: str, metric: str) -> str | None:
        listed = inner(self.told, "configs", task, "metric_list")
        for one in listed if isinstance(listed, list) else ():
            if inner(one, "metric") == metric and isinstance(inner(one, "aggregation"), str):
                return str(one["aggregation"])
        return None

    @property
    def limit(self) -> str:
        return _written(inner(self.told, "config", "limit"))

    def shots(self, task: str) -> str | None:
        found = inner(self.told, "n-shot", task)
        found = inner(self.told, "configs", task, "num_fewshot") if found is None else found
        return None if found is None else str(found)

    @cached_property
    def settings(self) -> dict[str, str]:
        """What may tell two runs of one model apart."""
        if self.source is None:
            return {}
        found = {"model_args": _written(inner(self.told, "config", "model_args"))}
        shots = {self.shots(task) for task in self.tasks} - {None}
        found["shots"] = ", ".join(sorted(map(str, shots))) or "none"
        found["gen_kwargs"] = _written(inner(self.told, "config", "gen_kwargs"))
        found["chat template"] = str(self.told.get("chat_template_sha") or "none")[:8]
        found["system instruction"] = str(self.told.get("system_instruction_sha") or "none")[:8]
        return found

    def conditions(self, task: str) -> tuple[Condition, ...]:
        if self.source is None:
            return ()
        version = inner(self.told, "versions", task)
        found = (
            []
            if version is None
            else [Condition(task, "version of the task", str(version), stops=True)]
        )
        shots = self.shots(task)
        if shots is not None:
            found.append(Condition(task, "number of shots", shots))
        found.append(
            Condition(
                task, "setting of generation", _written(inner(self.told, "config", "gen_kwargs"))
            )
        )
        found.append(Condition(task, "limit on the number of items", self.limit))
        return tuple(found)

    def notes(self, method: str, tasks: Iterable[str]) -> list[str]:
        """What the settings of the whole run mean for the items of some tasks."""
        lines = []
        if self.limit != "none":
            lines.append(
                f"{method} was run with limit {self.limit}: on the first items of a task, not on a"
                " random part."
            )
        read = set(tasks)
        for group, members in inner_object(self.told, "group_subtasks").items():
            n_read = len(read & set(map(str, members))) if isinstance(members, list) else 0
            if n_read > 1:
                lines.append(
                    f"{group}: its {n_read} tasks are strata and count the same;"
                    f" {argument('weights', 'size')} weights them by their items, as"
                    " lm-evaluation-harness does."
                )
        return lines


_NO_RUN = _Run(None, {})


def _written(value: Any) -> str:
    if value in (None, "", {}, []):
        return "none"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _pretrained(arguments: Any) -> str | None:
    """Return the model that the arguments of an early version name."""
    if isinstance(arguments, Mapping):
        return str(arguments["pretrained"]) if "pretrained" in arguments else None
    found = re.search(r"(?:^|,)(?:pretrained|model|engine)=([^,]+)", str(arguments or ""))
    return found[1] if found else None


def _time(source: Source) -> str:
    found = TIME.search(source.stem)
    return found[1] if found else ""


def _run(source: Source) -> _Run:
    told = source.json()
    if not isinstance(told, dict):
        raise InputError(f"{source.where}: an object of results is needed")
    return _Run(source, told)


@dataclass(frozen=True)
class _File:
    """A file of samples with what is known of its run."""

    source: Source
    run: _Run
    method: str
    task: str

    @property
    def identity(self) -> tuple[Any, ...]:
        return self.method, tuple(self.run.settings.items()), self.task


def _read(source: Source, asked: Asked) -> list[Records]:
    asked.refuse_columns(source, TITLE)
    folder = source.path if source.is_folder else source.path.parent
    around = _files(folder)
    if source.is_folder:
        samples = [one for one in around if _is_samples(one)]
        runs = [_run(one) for one in around if _is_results(one)]
        others = len(around) - len(samples) - len(runs)
        notes = (
            [f"{others} other files or folders in {source.path.name} were not read."]
            if others
            else []
        )
    elif _is_results(source):
        samples, runs, notes = [], [_run(source)], []
    else:
        time = _time(source)
        beside = [
            one for one in around if one.suffix == ".json" and (not time or _time(one) == time)
        ]
        samples, runs, notes = [source], [_run(one) for one in beside if _is_results(one)], []
    if not samples and not runs:
        raise InputError(
            f"{source.where}: no samples and no results of lm-evaluation-harness are there"
        )
    return (
        _of_samples(source, samples, runs, notes) if samples else _of_results(source, runs, notes)
    )


def _of_samples(
    source: Source, samples: Sequence[Source], runs: Sequence[_Run], notes: list[str]
) -> list[Records]:
    files = [_about(source, one, runs) for one in samples]
    newest: dict[tuple[Any, ...], _File] = {}
    older: dict[str, int] = {}
    for one in files:
        other = newest.get(one.identity)
        if other is not None and _time(one.source) == _time(other.source):
            raise InputError(
                f"{one.source.path.name} and {other.source.path.name} in {one.source.path.parent}"
                f" are both of {one.method} on {one.task}: keep one"
            )
        if other is not None:
            older[one.method] = older.get(one.method, 0) + 1
        if other is None or _time(other.source) < _time(one.source):
            newest[one.identity] = one
    for method, count in older.items():
        notes.append(
            f"{method} has several runs of one task: the newest is read, {count} older files are"
            " left out."
        )
    tasks: dict[str, list[str]] = {}
    for one in newest.values():
        tasks.setdefault(one.method, []).append(one.task)
    found = []
    for one in newest.values():
        about = one.run.notes(one.method, tasks[one.method])
        found.append(_records(source, one, (*notes, *about)))
    return found


def _about(given: Source, file: Source, runs: Sequence[_Run]) -> _File:
    """Say of a file of samples which run, method and task it is of."""
    time = _time(file)
    same = [run for run in runs if run.time == time] or (list(runs) if not time else [])
    name = TIME.sub("", file.stem)
    task = name.removeprefix("samples_") if name.startswith("samples_") else None
    if task is None:
        known = [
            one for run in same for one in run.tasks if name == one or name.endswith(f"_{one}")
        ]
        task = max(known, key=len, default=None)
    with_task = [run for run in same if task in run.tasks] or same
    run = with_task[0] if len(with_task) == 1 else _NO_RUN
    alone = task is None and not given.is_folder
    folder = file.path.resolve().parent.name
    method = given.name or run.model or (file.stem if alone else folder)
    return _File(
        replace(file, name=given.name), run, method, task or (NO_TASK if alone else file.stem)
    )


def _records(source: Source, file: _File, notes: Sequence[str]) -> Records:
    run, task = file.run, file.task
    table = read_samples(file.source, run.filters(task))
    said = list(notes)
    refused = dict(table.refused)
    n_items = len(table.frame)
    effective = inner(run.told, "n-samples", task, "effective")
    if isinstance(effective, int) and n_items < effective:
        said.append(
            f"{file.source.path.name}: {n_items} of the {effective} items of its run are there."
        )
    if "evidence" not in table.frame.columns:
        said.append(
            f"{file.source.path.name} holds no hashes of its items, as before version 0.4.3: they"
            " are paired by their numbers alone."
        )
    metrics: dict[str, bool | None] = {}
    for name in table.metrics:
        metric = name.rpartition(",")[0]
        why = _why_not(run, task, metric, name, table.frame[name], n_items == effective)
        if why is None:
            metrics[name] = run.higher(task, metric.removesuffix(" (mean of repeats)"))
        else:
            refused[name] = why
    frame = table.frame.drop(columns=[name for name in table.metrics if name not in metrics])
    return Records(
        one_dataset(frame, file.method, task),
        "item",
        metrics,
        source if source.is_folder else file.source,
        conditions=run.conditions(task),
        settings=run.settings,
        refused=refused,
        dropped=table.dropped,
        notes=tuple(said),
    )


def _why_not(
    run: _Run, task: str, metric: str, name: str, values: pd.Series, complete: bool
) -> str | None:
    """Say why a metric is not the mean of its items, which is what is tested; None where it is."""
    how = run.aggregation(task, metric)
    if how is not None and how not in MEANS:
        return f"its score is the {how} of all items together, not a mean of values of items"
    stated = run.scores(task).get(name, run.scores(task).get(metric))
    mean = float(np.mean(values.to_numpy()))
    if stated is None or not complete or not np.isfinite([stated, mean]).all():
        return None
    if abs(stated - mean) > CLOSE * max(1.0, abs(stated)):
        return (
            f"the results file says {stated:.6g} and the items have the mean {mean:.6g}, so that"
            " the score is not their mean, or lines were changed"
        )
    return None


def _of_results(source: Source, runs: Sequence[_Run], notes: list[str]) -> list[Records]:
    """Return the scores of whole tasks, of which each is one unit."""
    newest: dict[tuple[Any, ...], _Run] = {}
    methods: dict[tuple[Any, ...], str] = {}
    for run in sorted(runs, key=lambda one: one.time):
        place = run.source.path if run.source is not None else source.path
        folder = (
            place.resolve().parent.name
            if TIME.search(place.stem) or place.stem == "results"
            else place.stem
        )
        method = source.name or run.model or folder
        for task in run.tasks:
            key = (method, tuple(run.settings.items()), task)
            if key in newest:
                notes.append(f"{method} has several runs of {task}: the newest is read.")
            newest[key], methods[key] = run, method
    found = []
    groups: dict[tuple[Any, ...], list[tuple[str, _Run]]] = {}
    for (method, settings, task), run in newest.items():
        columns = tuple(run.scores(task))
        if columns:
            groups.setdefault((method, settings, columns), []).append((task, run))
    for (method, settings, columns), members in groups.items():
        frame = pd.DataFrame({"method": as_categories([method] * len(members))})
        frame["dataset"] = as_categories([task for task, _ in members])
        for name in columns:
            frame[name] = [run.scores(task)[name] for task, run in members]
        left = sum(
            len(run.tasks) < len(inner_object(run.told, "results")) for _, run in members[:1]
        )
        said = (
            ["Groups are left out where their tasks are there: they would count twice."]
            if left
            else []
        )
        found.append(
            Records(
                frame,
                "dataset",
                {name: members[0][1].higher(members[0][0], name.split(",")[0]) for name in columns},
                source,
                conditions=tuple(one for task, run in members for one in run.conditions(task)),
                settings=dict(settings),
                notes=(*notes, *said, *members[0][1].notes(method, ())),
            )
        )
    if not found:
        raise InputError(f"{source.where}: its results hold no score")
    return found


result_readers.add(
    ResultReader(
        "lm-eval",
        TITLE,
        _read,
        _recognises,
        traps=(
            (
                "Several filters write several lines per item: a metric is METRIC,FILTER, and"
                " filters are never mixed."
            ),
            (
                "Lines that were appended twice count once; with different content the file is"
                " refused."
            ),
            (
                "Of several runs in one folder the newest is read, told apart by the times in the"
                " names."
            ),
            (
                "Items are paired where doc_hash and target_hash agree; other prompts are counted"
                " and said."
            ),
            (
                "Another version of a task stops the comparison; other shots, generation settings"
                " or limits are said."
            ),
            (
                "f1, mcc, bleu, perplexity and their like have no value per item and are refused"
                " with the reason."
            ),
            "A score of the results file that is not the mean of the items is refused.",
        ),
    )
)
