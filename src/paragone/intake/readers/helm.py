"""HELM: a folder per run of a scenario with a model, with the statistics of each instance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from paragone.errors import InputError
from paragone.intake.evaluation import content_hash, inner, parse_fields
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Condition, Records, one_dataset
from paragone.intake.source import Source
from paragone.metrics import read_name

TITLE = "runs of HELM"
SPEC, INSTANCES, STATS = "run_spec.json", "instances.json", "per_instance_stats.json"
IGNORED = (
    "num_",
    "finish_reason_",
    "inference_",
    "logprob",
    "training_",
    "prompt_tokens",
    "batch_size",
    "max_prob",
)
"""Begins of names of statistics that say how a run went, not how good it was."""
MODEL_KEYS = ("model=", "model_deployment=")


class _StatName(msgspec.Struct):
    name: str
    split: Any = None
    perturbation: Any = None


class _Stat(msgspec.Struct):
    name: _StatName
    count: Any = None
    sum: Any = None
    mean: Any = None


class _Instance(msgspec.Struct):
    """The statistics of one instance in one trial."""

    instance_id: Any = None
    train_trial_index: Any = 0
    perturbation: Any = None
    stats: list[_Stat] = []


class _Input(msgspec.Struct):
    text: Any = None


class _Reference(msgspec.Struct):
    output: _Input | None = None
    tags: Any = None


class _Content(msgspec.Struct):
    """What an instance asks."""

    id: Any = None
    input: _Input | None = None
    references: list[_Reference] = []
    perturbation: Any = None
    split: Any = None


def _recognises(source: Source) -> bool:
    return source.is_folder and (source.path / STATS).is_file()


def _parsed(path: Path, kind: Any) -> Any:
    return parse_fields(Source(path).content(), kind, str(path))


def _read(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, TITLE)
    spec = Source(source.path / SPEC).json() if (source.path / SPEC).is_file() else {}
    name = str(inner(spec, "name") or source.path.resolve().name)
    method = source.name or inner(spec, "adapter_spec", "model") or _model(name)
    if not method:
        raise InputError(
            f"{source.where}: neither {SPEC} nor the name of the folder says which model was run"
        )
    task = _task(name)
    instances: list[_Instance] = _parsed(source.path / STATS, list[_Instance])
    plain = [one for one in instances if not one.perturbation]
    dropped = {"copies of instances that were perturbed": len(instances) - len(plain)}
    splits = {str(stat.name.split) for one in plain for stat in one.stats if _counts(stat)}
    split = "test" if "test" in splits else min(splits, default="")
    kept = [
        one
        for one in plain
        if any(_counts(stat) and str(stat.name.split) == split for stat in one.stats)
    ]
    dropped[f"instances of other splits than {split}, or without statistics"] = len(plain) - len(
        kept
    )
    if not kept:
        raise InputError(f"{source.where}: no instance has a statistic of how good an answer was")
    columns: dict[str, Any] = {"item": [str(one.instance_id) for one in kept]}
    columns["repeat"] = np.array([_trial(one, source) for one in kept], dtype=np.int64)
    evidence = _evidence(source, columns["item"])
    if evidence is not None:
        columns["evidence"] = evidence
    values = _values(kept, split)
    columns |= values
    return Records(
        one_dataset(columns, str(method), task),
        "item",
        {metric: read_name(metric).higher_is_better for metric in values},
        source,
        conditions=_conditions(spec, task),
        settings={"run": name},
        dropped=dropped,
        notes=(
            ()
            if evidence is not None
            else (f"{source.path.name} has no {INSTANCES}: ids alone pair its items.",)
        ),
    )


def _model(name: str) -> str | None:
    return next(
        (
            part[len("model=") :]
            for part in name.replace(":", ",").split(",")
            if part.startswith("model=")
        ),
        None,
    )


def _task(name: str) -> str:
    """Return the scenario with its arguments, without the model."""
    scenario, _, arguments = name.partition(":")
    left = [part for part in arguments.split(",") if part and not part.startswith(MODEL_KEYS)]
    return f"{scenario}:{','.join(left)}" if left else scenario


def _counts(stat: _Stat) -> bool:
    return not stat.name.perturbation and not stat.name.name.startswith(IGNORED)


def _trial(one: _Instance, source: Source) -> int:
    if (
        type(one.train_trial_index) is not int
        or one.instance_id is None
        or abs(one.train_trial_index) > 2**31
    ):
        raise InputError(f"{source.where}: an instance in {STATS} has no id or no trial")
    return one.train_trial_index


def _values(instances: Sequence[_Instance], split: str) -> dict[str, np.ndarray]:
    """Return the mean of each statistic of each instance; NaN where it was counted on nothing."""
    found: dict[str, np.ndarray] = {}
    for place, one in enumerate(instances):
        for stat in one.stats:
            if not _counts(stat) or str(stat.name.split) != split:
                continue
            column = found.setdefault(stat.name.name, np.full(len(instances), np.nan))
            if not stat.count:
                continue
            mean = stat.mean if stat.mean is not None else stat.sum / stat.count
            column[place] = float(mean)
    return found


def _evidence(source: Source, items: Sequence[str]) -> Any:
    """Return hashes of what each instance asks and what is right, where the run keeps it."""
    path = source.path / INSTANCES
    if not path.is_file():
        return None
    known: dict[str, str] = {}
    for one in _parsed(path, list[_Content]):
        if one.perturbation:
            continue
        answers = [(_said(reference.output), reference.tags) for reference in one.references]
        known[str(one.id)] = json.dumps([_said(one.input), answers], default=str)
    return content_hash([known.get(item) for item in items])


def _said(part: _Input | None) -> str:
    """Return the text of an input or output; empty where there is none."""
    return "" if part is None or part.text is None else str(part.text)


def _conditions(spec: Mapping[str, Any], task: str) -> tuple[Condition, ...]:
    told = [
        ("number of shots", inner(spec, "adapter_spec", "max_train_instances")),
        ("limit on the number of items", inner(spec, "adapter_spec", "max_eval_instances")),
        ("way of asking", inner(spec, "adapter_spec", "method")),
    ]
    return tuple(Condition(task, name, str(value)) for name, value in told if value is not None)


result_readers.add(
    ResultReader(
        "helm",
        TITLE,
        _read,
        _recognises,
        traps=(
            "Perturbed copies share the id of their instance and are left out, counted.",
            "Only the test split is read where there are several.",
            "A statistic that was counted on nothing has no value.",
            "x@5 is the best of five answers: a metric of its own, never mixed with x.",
            "Numbers of tokens, reasons of an end and times are no scores.",
        ),
    )
)
