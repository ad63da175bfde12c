"""MTEB: a file per task in ORG__MODEL/REVISION, with a score for each split and subset."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd

from paragone.errors import InputError
from paragone.intake.evaluation import conditions, inner, inner_object, is_number
from paragone.intake.folders import few, files_in, read_each, said_unread
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Condition, Records
from paragone.intake.source import Source
from paragone.reading import read_object_if_any

TITLE = "results of MTEB"
META = "model_meta.json"
MAIN = "main_score"
REVISION = "revision of the data"
HEX = re.compile(r"[0-9a-f]{12,40}|no_revision_available|external|\d+(?:\.\d+)*")


def _is_task(source: Source) -> bool:
    if source.suffix != ".json":
        return False
    if isinstance(source.first, dict):
        keys = source.first.keys()
        return {"task_name", "scores"} <= keys and bool(keys & {"dataset_revision", "mteb_version"})
    # Of a long file the start is looked at, and the name of the task may be its last key.
    return all(key in source.head for key in (b'"scores"', b'"dataset_revision"', b'"hf_subset"'))


def _recognises(source: Source) -> bool:
    return any(map(_is_task, files_in(source.path) if source.is_folder else [source]))


def _read(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, TITLE)
    around = files_in(source.path) if source.is_folder else [source]
    files = [one for one in around if _is_task(one)]
    folder = source.path if source.is_folder else source.path.parent
    others = [one.path.name for one in around if one not in files and one.path.name != META]
    metric = asked.metric or MAIN
    rows: dict[str, float] = {}
    told: list[Condition] = []
    without = 0
    read, unread = read_each(files, lambda one: (one, one.json()))
    for one, found in read:
        scores = _scores(found, metric, one)
        without += not scores
        for name, value in scores.items():
            if name in rows:
                raise InputError(
                    f"{one.where}: {name} stands in two files of {folder.name}: keep one"
                )
            rows[name] = value
            told += conditions(
                name,
                {
                    REVISION: str(inner(found, "dataset_revision")),
                    "version of mteb": str(inner(found, "mteb_version")),
                },
                stops=(REVISION,),
            )
    if not rows:
        raise InputError(f"{source.where}: no task has a {metric}")
    frame = pd.DataFrame({"dataset": list(rows), metric: list(rows.values())})
    notes = [f"Not read in {folder.name}: {few(others)}."] if others else []
    return Records(
        frame.assign(method=_method(source, folder)),
        "dataset",
        {metric: True if metric == MAIN else None},
        source,
        conditions=tuple(told),
        dropped={f"tasks without a {metric}": without},
        notes=(*notes, *said_unread(unread)),
    )


def _scores(told: Any, metric: str, source: Source) -> dict[str, float]:
    """Return the score of each subset of a task: on the test split where there is one."""
    splits = inner_object(told, "scores")
    chosen = ["test"] if "test" in splits else list(splits)
    found: dict[str, float] = {}
    for split in chosen:
        if not isinstance(splits[split], list):
            raise InputError(f"{source.where}: the scores of the split {split} are not a list")
        for entry in splits[split]:
            subset = str(inner(entry, "hf_subset") or "default")
            parts = [subset] if subset != "default" else []
            parts += [split] if len(chosen) > 1 else []
            name = str(inner(told, "task_name")) + f" ({', '.join(parts)})" * bool(parts)
            if name in found:
                raise InputError(f"{source.where}: the subset {subset} of {split} stands twice")
            value = inner(entry, metric)
            if is_number(value):
                found[name] = float(value)
    return found


def _method(source: Source, folder: Path) -> str:
    """Return the model: as it is called in its description, or by the folder above that of its revision."""
    if source.name:
        return source.name
    name = read_object_if_any(folder / META).get("name")
    if name:
        return str(name)
    place = folder.resolve()
    named = place.parent.name if HEX.fullmatch(place.name) else place.name
    return named.replace("__", "/")


result_readers.add(
    ResultReader(
        "mteb",
        TITLE,
        _read,
        _recognises,
        traps=(
            "The unit is the task, or each of its subsets; only the test split counts.",
            "Tasks with another revision of the data are left out and named.",
            "main_score is read; --metric names another one of the files, such as ndcg_at_10.",
        ),
    )
)
