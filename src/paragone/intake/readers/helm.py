"""HELM: a folder per run of a scenario with a model, with the statistics of each instance."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from paragone.errors import InputError
from paragone.intake.evaluation import conditions, content_hash, inner, item_records, parse_fields
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.source import Source

TITLE = "runs of HELM"
SPEC, INSTANCES, STATS = "run_spec.json", "instances.json", "per_instance_stats.json"
NO_SCORES = re.compile(
    r"num_|finish_reason_|inference_|logprob|training_|prompt_tokens|batch_size|max_prob"
)
"""Begins of names of statistics that say how a run went, not how good it was."""
MODEL = re.compile(r"(?<=[:,])model=([^,]*)")
OF_MODEL = re.compile(r"(?<=[:,])(?:model|model_deployment)=[^,]*,?")


class _StatName(msgspec.Struct):
    name: str
    split: Any = None
    perturbation: Any = None


class _Stat(msgspec.Struct):
    name: _StatName
    count: Any = None
    sum: Any = None
    mean: Any = None

    @property
    def counts(self) -> bool:
        return not self.name.perturbation and not NO_SCORES.match(self.name.name)

    @property
    def value(self) -> float | None:
        """The mean; nothing where it was counted on nothing."""
        if not self.count:
            return None
        return float(self.sum / self.count if self.mean is None else self.mean)


class _Instance(msgspec.Struct):
    """The statistics of one instance in one trial."""

    instance_id: str | int
    train_trial_index: int = 0
    perturbation: Any = None
    stats: list[_Stat] = []


class _Content(msgspec.Struct):
    """What an instance asks, and which answers are right."""

    id: Any = None
    input: Any = None
    references: list[Any] = []
    perturbation: Any = None


def _read(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, TITLE)
    spec = source.inside(SPEC).json() if source.inside(SPEC).path.is_file() else {}
    name = str(inner(spec, "name") or source.path.resolve().name)
    named = MODEL.search(name)
    method = source.name or inner(spec, "adapter_spec", "model") or (named and named[1])
    if not method:
        raise InputError(
            f"{source.where}: neither {SPEC} nor the name of the folder says which model was run"
        )
    stats = source.inside(STATS)
    instances: list[_Instance] = parse_fields(stats.content(), list[_Instance], stats.where)
    plain = [one for one in instances if not one.perturbation]
    splits = {str(stat.name.split) for one in plain for stat in one.stats if stat.counts}
    split = "test" if "test" in splits else min(splits, default="")
    rows = [
        (one, {s.name.name: s for s in one.stats if s.counts and str(s.name.split) == split})
        for one in plain
    ]
    kept = [(one, found) for one, found in rows if found]
    if not kept:
        raise InputError(f"{source.where}: no instance has a statistic of how good an answer was")
    items = [str(one.instance_id) for one, _ in kept]
    evidence = _evidence(source, items)
    metrics = dict.fromkeys(metric for _, found in kept for metric in found)
    adapter = inner(spec, "adapter_spec")
    task = OF_MODEL.sub("", name).rstrip(":,")
    return item_records(
        source,
        str(method),
        task,
        {
            "item": items,
            "repeat": [one.train_trial_index for one, _ in kept],
            "evidence": evidence,
        },
        {
            metric: [found[metric].value if metric in found else None for _, found in kept]
            for metric in metrics
        },
        conditions=conditions(
            task,
            {
                "number of shots": inner(adapter, "max_train_instances"),
                "limit on the number of items": inner(adapter, "max_eval_instances"),
                "way of asking": inner(adapter, "method"),
            },
        ),
        settings={"run": name},
        dropped={
            "copies of instances that were perturbed": len(instances) - len(plain),
            f"instances of other splits than {split}, or without statistics": len(plain)
            - len(kept),
        },
        notes=()
        if evidence is not None
        else (f"{source.path.name} has no {INSTANCES}: ids alone pair its items.",),
    )


def _evidence(source: Source, items: list[str]) -> Any:
    """Return hashes of what each instance asks and what is right, where the run keeps it."""
    file = source.inside(INSTANCES)
    if not file.path.is_file():
        return None
    known: dict[str, str] = {}
    for one in parse_fields(file.content(), list[_Content], file.where):
        if not one.perturbation:
            answers = [
                (inner(each, "output", "text"), inner(each, "tags")) for each in one.references
            ]
            told = [inner(one.input, "text"), answers]
            known[str(one.id)] = json.dumps(told, default=str)
    return content_hash([known.get(item) for item in items])


result_readers.add(
    ResultReader(
        "helm",
        TITLE,
        _read,
        lambda source: source.is_folder and source.inside(STATS).path.is_file(),
        traps=(
            "Perturbed copies share the id of their instance and are left out, counted.",
            "Only the test split is read where there are several.",
            "A statistic that was counted on nothing has no value.",
            "x@5 is the best of five answers: a metric of its own, never mixed with x.",
            "Numbers of tokens, reasons of an end and times are no scores.",
        ),
    )
)
