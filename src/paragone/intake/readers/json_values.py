"""JSON and YAML of named numbers: metrics of a run, or of methods and benchmarks, one inside the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from paragone.errors import InputError, argument
from paragone.intake.evaluation import is_number
from paragone.intake.folders import few
from paragone.intake.plain_yaml import plain_yaml
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.source import Source
from paragone.intake.table import table_records
from paragone.metrics import read_name

TITLE = "named numbers in JSON or YAML"
MOST = 2**23
"""Bytes of a file that is looked through to see what it is."""
PARTS = ("test", "testing", "eval", "evaluation", "val", "valid", "validation", "dev")
"""Parts of the data, the more telling one first; of several the first is read."""
OF_TRAINING = ("train", "training")
NO_KEYS = ("mean", "avg", "average", "macro avg")
SPREADS = ("std", "stddev", "stderr", "se", "min", "max", "median", "weighted avg", "support")
WRAPPERS = ("metrics", "results", "scores", "summary", "performance")
WORDS = {
    "fold": "fold",
    "split": "fold",
    "cv": "fold",
    "seed": "seed",
    "repeat": "repeat",
    "run": "seed",
}
FOLD = re.compile(r"(?:(fold|split|cv|seed|repeat|run)[ _-]?)?(\d+)$", re.IGNORECASE)

Leaf = tuple[tuple[str, ...], float]


def _leaves_of(source: Source) -> list[Leaf]:
    """Return the numbers by their names from the outside inwards; a dotted name of YAML is several."""
    if source.suffix == ".json":
        return list(_leaves(source.first if source.first is not None else source.json()))
    flat = plain_yaml(source.content().decode("utf-8", errors="replace"))
    numbers = pd.to_numeric(pd.Series(flat, dtype=object), errors="coerce").dropna()
    return [(tuple(name.split(".")), float(value)) for name, value in numbers.items()]


def _recognises(source: Source) -> bool:
    if source.suffix not in (".json", ".yaml", ".yml") or source.path.stat().st_size > MOST:
        return False
    if source.suffix == ".json" and source.text.lstrip()[:1] != b"{":
        return False
    try:
        leaves = _leaves_of(source)
    except InputError:
        return False
    return any(_metric_at(path) is not None for path, _ in leaves) or _is_grid(leaves)


def _leaves(told: Any, above: tuple[str, ...] = ()) -> Iterator[Leaf]:
    if isinstance(told, Mapping):
        for name, value in told.items():
            yield from _leaves(value, (*above, str(name)))
    elif is_number(told):
        yield above, float(told)


def _metric_at(path: tuple[str, ...]) -> int | None:
    """Return the place of the name of a metric in a path, the innermost one; None for what is none."""
    places = [place for place, name in enumerate(path) if read_name(name).is_score]
    if not places or any(_is_training(name) for name in path):
        return None
    return places[-1]


def _is_training(name: str) -> bool:
    return name.lower() in OF_TRAINING or read_name(name).part == "train"


def _is_grid(leaves: list[Leaf]) -> bool:
    """Whether every outer name has the same inner ones: methods and benchmarks."""
    if any(len(path) != 2 for path, _ in leaves):
        return False
    outer, inner = ({path[place] for path, _ in leaves} for place in (0, 1))
    return min(len(outer), len(inner)) > 1 and len(leaves) == len(outer) * len(inner)


def _read(source: Source, asked: Asked) -> list[Records]:
    leaves = _leaves_of(source)
    wanted = asked.metric or asked.value
    values = _of_one_part(leaves, wanted)
    if not values and _is_grid(leaves):
        values = {(path, wanted or "value"): value for path, value in leaves}
    if not values:
        names = few(dict.fromkeys(path[-1] for path, _ in leaves))
        raise InputError(
            f"{source.where}: none of its numbers is a metric by its name ({names}): say"
            f" {argument('metric', 'NAME')}"
        )
    depth = min(len(keys) for keys, _ in values)
    rows: dict[tuple[str, ...], dict[str, float]] = {}
    below: dict[str, None] = {}
    for (keys, metric), value in values.items():
        if len(keys) == depth:
            rows.setdefault(keys, {})[metric] = value
        else:
            below[keys[-1]] = None
    levels = pd.DataFrame(list(rows), columns=[f"level{n + 1}" for n in range(depth)])
    roles = _roles(levels, source, asked)
    frame = levels[list(roles)].rename(columns=roles).join(pd.DataFrame(list(rows.values())))
    if "method" not in frame:
        frame.insert(0, "method", source.called)
    notes = [f"Parts of {source.path.name} are not read: {few(below)}."] if below else []
    own = {role: name for name, role in roles.items()}
    if {"method", "dataset"} <= own.keys() and not asked.named("method"):
        turned = argument("method", own["dataset"]), argument("dataset", own["method"])
        notes.append(
            f"{few(frame['method'].unique())} in {source.path.name} are read as methods,"
            f" {few(frame['dataset'].unique())} as datasets; {' '.join(turned)} turns that."
        )
    plain = replace(asked, method=None, dataset=None, unit=None, columns={})
    found = table_records(frame, source, plain)
    return [replace(one, notes=(*one.notes, *notes)) for one in found]


def _of_one_part(
    leaves: list[Leaf], wanted: str | None
) -> dict[tuple[tuple[str, ...], str], float]:
    """Return the value of every metric by the names around it; of several parts of the data that which tells most."""
    found: dict[tuple[tuple[str, ...], str], tuple[int, float]] = {}
    for path, value in leaves:
        at = path.index(wanted) if wanted in path else _metric_at(path)
        if at is None:
            continue
        others = [name for place, name in enumerate(path) if place != at]
        small = {name.lower() for name in others}
        if small & {*SPREADS, *OF_TRAINING}:
            continue
        keys = tuple(n for n in others if n.lower() not in (*PARTS, *NO_KEYS, *WRAPPERS))
        place = min((PARTS.index(name) for name in small & {*PARTS}), default=len(PARTS))
        key = keys, path[at]
        found[key] = min(found.get(key, (place, value)), (place, value), key=lambda one: one[0])
    return {key: value for key, (_, value) in found.items()}


def _roles(levels: pd.DataFrame, source: Source, asked: Asked) -> dict[str, str]:
    """Return what the levels of names are: as the user says, numbered ones by their word, then methods and datasets."""
    told = {name: role for role in ("method", "dataset") for name in asked.named(role)}
    told |= asked.columns
    roles = {name: role for name, role in told.items() if name in levels}
    for name in levels:
        numbers = levels[name].map(FOLD.match)
        if name not in roles and len(levels) > 1 and numbers.notna().all():
            roles[name] = WORDS.get((numbers.iloc[0][1] or asked.unit or "").lower(), "")
            if not roles[name]:
                raise InputError(
                    f"{source.where}: {few(levels[name])} may count folds or seeds: say"
                    f" {argument('unit', 'fold')} or {argument('unit', 'seed')}"
                )
    left = [name for name in levels if name not in roles]
    if len(left) > 1:
        left = [name for name in left if levels[name].nunique() > 1] or left[:1]
    free = [role for role in ("method", "dataset") if role not in roles.values()]
    if len(left) == 1 and not source.is_all and "dataset" in free:
        free = ["dataset"]
    if len(left) > len(free):
        examples = "; ".join(f"{name}: {few(levels[name].unique())}" for name in left)
        raise InputError(
            f"{source.where}: its names stand {len(left)} levels deep ({examples}): say which are"
            f" which, {argument('method', left[0])} {argument('dataset', left[1])}, and"
            f" {argument('columns', {left[-1]: 'ignore'})} for one that tells nothing"
        )
    roles |= dict(zip(left, free, strict=False))
    return {name: role for name, role in roles.items() if role != "ignore"}


result_readers.add(
    ResultReader(
        "json-values",
        TITLE,
        _read,
        _recognises,
        traps=(
            "Of training, validation and test values of one metric those of the test part are read.",
            "Methods stand outside of datasets; --method level2 --dataset level1 turns that.",
            "Values of classes below those of the whole are not read, and named.",
        ),
        order=95,
    )
)
