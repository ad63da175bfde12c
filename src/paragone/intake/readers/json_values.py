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


def _told(source: Source) -> Any:
    if source.suffix == ".json":
        return source.first if source.first is not None else source.json()
    flat = plain_yaml(source.content().decode("utf-8", errors="replace"))
    return _nested({tuple(name.split(".")): _number(text) for name, text in flat.items()})


def _nested(flat: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for (*above, name), value in flat.items():
        inside = found
        for one in above:
            inside = inside.setdefault(one, {})
        inside[name] = value
    return found


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _recognises(source: Source) -> bool:
    if source.is_folder or source.suffix not in (".json", ".yaml", ".yml"):
        return False
    if source.suffix == ".json" and source.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
        return False
    if source.path.stat().st_size > MOST:
        return False
    try:
        leaves = list(_leaves(_told(source)))
    except InputError:
        return False
    return any(_metric_at(path) is not None for path, _ in leaves) or _is_grid(leaves)


def _leaves(told: Any, above: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Go through the numbers by their names from the outside inwards; a dotted name of YAML is several."""
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
    inner: dict[str, set[str]] = {}
    for path, _ in leaves:
        if len(path) != 2:
            return False
        inner.setdefault(path[0], set()).add(path[1])
    kinds = list(inner.values())
    return len(kinds) > 1 and len(kinds[0]) > 1 and all(one == kinds[0] for one in kinds)


def _read(source: Source, asked: Asked) -> list[Records]:
    leaves = list(_leaves(_told(source)))
    wanted = asked.metric or asked.value
    rows: dict[tuple[str, ...], dict[str, float]] = {}
    below: dict[str, None] = {}
    if any(_metric_at(path) is not None or wanted in path for path, _ in leaves):
        values = _of_one_part(leaves, wanted)
        depth = min((len(keys) for keys, _ in values), default=0)
        for (keys, metric), value in values.items():
            if len(keys) == depth:
                rows.setdefault(keys, {})[metric] = value
            else:
                below[keys[-1]] = None
    else:
        for keys, value in leaves:
            rows[keys] = {wanted or "value": value}
    if not rows:
        names = few(dict.fromkeys(path[-1] for path, _ in leaves))
        raise InputError(
            f"{source.where}: none of its numbers is a metric by its name ({names}): say"
            f" {argument('metric', 'NAME')}"
        )
    levels = pd.DataFrame(
        list(rows), columns=[f"level{n + 1}" for n in range(len(next(iter(rows))))]
    )
    roles = _roles(levels, source, asked)
    frame = levels[list(roles)].rename(columns=roles).join(pd.DataFrame(list(rows.values())))
    if "method" not in frame:
        frame.insert(0, "method", source.called)
    notes = [f"Parts of {source.path.name} are not read: {few(below)}."] if below else []
    if {"method", "dataset"} <= set(roles.values()) and not asked.named("method"):
        one, two = (
            {role: name for name, role in roles.items()}[role] for role in ("method", "dataset")
        )
        turned = argument("method", two), argument("dataset", one)
        notes.append(
            f"{few(levels[one].unique())} in {source.path.name} are read as methods,"
            f" {few(levels[two].unique())} as datasets; {' '.join(turned)} turns that."
        )
    own = replace(asked, method=None, dataset=None, unit=None, columns={})
    found = table_records(frame, source, own)
    return [replace(one, notes=(*one.notes, *notes)) for one in found]


def _of_one_part(
    leaves: list[Leaf], wanted: str | None
) -> dict[tuple[tuple[str, ...], str], float]:
    """Return the value of every metric by the names around it; of several parts of the data that which tells most."""
    found: dict[tuple[tuple[str, ...], str], tuple[int, float]] = {}
    for path, value in leaves:
        at = path.index(wanted) if wanted in path else _metric_at(path)
        others = [name.lower() for place, name in enumerate(path) if place != at]
        if at is None or set(others) & {*SPREADS, *OF_TRAINING}:
            continue
        parts = [PARTS.index(name) for name in others if name in PARTS]
        left = (*PARTS, *NO_KEYS, *WRAPPERS)
        keys = tuple(
            name for place, name in enumerate(path) if place != at and name.lower() not in left
        )
        place = min(parts, default=len(PARTS))
        if (keys, path[at]) not in found or place < found[keys, path[at]][0]:
            found[keys, path[at]] = place, value
    return {key: value for key, (_, value) in found.items()}


def _roles(levels: pd.DataFrame, source: Source, asked: Asked) -> dict[str, str]:
    """Return what the levels of names are: as the user says, numbered ones by their word, then methods and datasets."""
    told = {name: role for role in ("method", "dataset", "ignore") for name in asked.named(role)}
    told |= {name: role for name, role in asked.columns.items() if name in levels}
    roles = {name: role for name, role in told.items() if name in levels}
    for name in levels:
        numbers = levels[name].map(FOLD.match)
        if name not in roles and len(levels) > 1 and numbers.notna().all():
            word = (numbers.iloc[0][1] or asked.unit or "").lower()
            roles[name] = WORDS.get(word) or _asked_about(levels[name], source)
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


def _asked_about(numbers: pd.Series, source: Source) -> str:
    raise InputError(
        f"{source.where}: {few(numbers)} may count folds or seeds: say {argument('unit', 'fold')} or"
        f" {argument('unit', 'seed')}"
    )


result_readers.add(
    ResultReader(
        "json-values",
        TITLE,
        _read,
        _recognises,
        traps=(
            "Of training, validation and test values of one metric those of the test part are read.",
            (
                "Methods stand outside of datasets, which is said; --method level2 --dataset level1"
                " turns that."
            ),
            "Values of classes below those of the whole are not read, and named.",
        ),
        order=95,
    )
)
