"""JSON with one row per item or score: a list of objects, or an object a line, as evaluations write them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import pandas as pd

from paragone.errors import InputError
from paragone.intake.evaluation import inner_object, is_number
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.source import Source
from paragone.intake.table import table_records

TITLE = "rows in JSON"
SUFFIXES = (".json", ".jsonl", ".ndjson")
LOOKED_AT = 20
LONGEST = 200
"""Letters that a name has at most; what is longer is a question or an answer."""
LISTS = ("results", "rows", "data", "items", "records", "samples", "examples", "predictions")
QUESTIONS = ("question", "instruction", "prompt", "input", "query")
ITEM = re.compile(
    r"(?:^|[_ .])(?:id|ids|idx|index|item|qid|question|sample|subject)$", re.IGNORECASE
)
LIST = re.compile(rb"\s*\[\s*\{")
LINES = re.compile(rb"\s*\{.*\}\s*\n\s*\{")
HELD = re.compile(rb'\s*\{.*"(?:' + "|".join(LISTS).encode() + rb')"\s*:\s*\[\s*\{', re.DOTALL)


@dataclass(frozen=True)
class RowFields:
    """Fields of a program's rows: what they are, and which value says that an item has none."""

    title: str
    roles: Mapping[str, str]
    needed: tuple[str, ...]
    failed: float | None = None


LAYOUTS = (
    RowFields(
        "annotations of AlpacaEval",
        {"generator_2": "method", "dataset": "dataset", "instruction": "item", "preference": "preference"},
        ("instruction", "generator_2", "preference"),
    ),
    RowFields(
        "judgements of MT-bench",
        {"question_id": "item", "model": "method", "turn": "repeat", "score": "score"},
        ("question_id", "model", "judge", "score"),
        failed=-1.0,
    ),
    RowFields("results of HumanEval", {"task_id": "item", "passed": "passed"}, ("task_id", "passed")),
    RowFields(
        "results of EvalPlus",
        {"task_id": "item", "base_status": "base", "plus_status": "plus"},
        ("task_id", "base_status"),
    ),
)  # fmt: skip
STATUS = {"pass": 1.0, "fail": 0.0, "timeout": 0.0}
"""How a task of EvalPlus ended."""


def _recognises(source: Source) -> bool:
    if source.suffix not in SUFFIXES:
        return False
    lines = LINES.match(source.text) or (source.suffix != ".json" and _is_object(source))
    evalplus = _is_object(source) and b'"base_status"' in source.head
    return bool(lines or LIST.match(source.text) or HELD.match(source.text) or evalplus)


def _is_object(source: Source) -> bool:
    return source.text.lstrip()[:1] == b"{"


def _read(source: Source, asked: Asked) -> list[Records]:
    frame = pd.DataFrame(list(map(_flat, _rows(source))))
    if frame.empty:
        raise InputError(f"{source.where}: it holds no rows")
    layout = next((one for one in LAYOUTS if set(one.needed) <= set(frame.columns)), None)
    if layout is not None:
        found = [_laid_out(frame, layout, source)]
    elif (plain := _plain(frame)).shape[1]:
        found = table_records(plain, source, asked)
    else:
        raise InputError(f"{source.where}: its rows hold no number that may be a score")
    broken = source.said_broken()
    return [replace(one, dropped={**one.dropped, **broken}) for one in found]


def _rows(source: Source) -> Iterable[Mapping[str, Any]]:
    """Go through the rows: of lines, of a list, or of the list that an object holds."""
    if _is_object(source) and (source.suffix != ".json" or LINES.match(source.text)):
        fields = _fields(source)
        return (dict(zip(fields, row, strict=True)) for row in source.records(fields))
    told, beside = source.json(), {}
    if isinstance(told, Mapping):
        beside = {name: told[name] for name in ("model", "model_name") if name in told}
        # EvalPlus holds the answers to every task under its name.
        answers = chain.from_iterable(inner_object(told, "eval").values())
        told = next((told[one] for one in LISTS if isinstance(told.get(one), list)), list(answers))
    if not isinstance(told, list) or not all(isinstance(one, Mapping) for one in told):
        raise InputError(f"{source.where}: a list of objects is needed, one a row")
    return [beside | dict(one) for one in told]


def _fields(source: Source) -> list[str]:
    """Return the fields of the first lines that are no lists; others are passed over unread."""
    fields: dict[str, bool] = {}
    for line in islice(source.lines(), LOOKED_AT):
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for name, value in told.items() if isinstance(told, dict) else ():
            fields[name] = fields.get(name, True) and not isinstance(value, list)
    layout = next((one for one in LAYOUTS if set(one.needed) <= fields.keys()), None)
    own = fields.keys() & {*layout.roles, *layout.needed} if layout else set()
    return [name for name, kept in fields.items() if (name in own if layout else kept)]


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the numbers that stand one level deeper beside its own."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{key}": one for key, one in value.items() if is_number(one)}
        else:
            found[name] = value
    return found


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out lists and long texts; where nothing else names an item, the text of its question does."""
    found = frame[[name for name in frame.columns if frame[name].map(_is_short).all()]]
    questions = [
        name
        for name in frame.columns
        if str(name).lower() in QUESTIONS and frame[name].map(type).eq(str).all()
    ]
    if questions and not any(ITEM.search(str(name)) for name in found):
        found = found.drop(columns=questions, errors="ignore").assign(item=frame[questions[0]])
    return found


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST and "\n" not in value
    return not isinstance(value, list | dict)


def _laid_out(frame: pd.DataFrame, layout: RowFields, source: Source) -> Records:
    roles = {name: role for name, role in layout.roles.items() if name in frame.columns}
    found = pd.DataFrame({"method": source.called, "dataset": "data"}, frame.index)
    found = found.assign(**frame[list(roles)].rename(columns=roles))
    keys = ["method", "dataset", "item"]
    metrics = [name for name in found if name not in (*keys, "repeat")]
    for name in metrics:
        values = found[name].replace(STATUS)
        found[name] = values.where(values != layout.failed).astype(float)
    if "repeat" not in found and found.duplicated(keys).any():
        found["repeat"] = found.groupby(keys, sort=False).cumcount()
    return Records(found, "item", dict.fromkeys(metrics, True), source)


result_readers.add(
    ResultReader(
        "json-rows",
        TITLE,
        _read,
        _recognises,
        traps=(
            "Several answers to one task are repeats of it: their mean stands for the task.",
            "A judgement of MT-bench that could not be read off, -1, is no score; turns are repeats.",
            "Lists and texts of more than 200 letters are passed over.",
        ),
        order=90,
    )
)
