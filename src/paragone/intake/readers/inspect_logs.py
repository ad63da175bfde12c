"""inspect_ai: logs of evaluations, as ``.eval`` archives or ``.json`` files, with a row per sample and epoch."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from paragone.errors import InputError
from paragone.intake.archive import archive_names, read_member
from paragone.intake.evaluation import (
    conditions,
    content_hash,
    inner,
    inner_object,
    item_records,
    parse_fields,
    written,
)
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.source import BOM, Source

TITLE = "logs of inspect_ai"
JSON_LOG = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"')
HEADER, START = "header.json", "_journal/start.json"
SUMMARIES, JOURNAL = "summaries.json", re.compile(r"_journal/summaries/(\d+)\.json")
SAMPLE = re.compile(r"samples/.*(?<!header)\.json")
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
"""Correct, incorrect, partial and no answer; C is never an option of a question here."""
SETTINGS = ("solver", "solver_args", "task_args", "model_args", "model_generate_config")
MOST_TEXT = 1000
"""Characters by which inputs are told apart: summaries cut longer ones off, and change the blanks in them."""


class _Score(msgspec.Struct):
    value: Any = None


class _Sample(msgspec.Struct):
    """The fields of a sample that are read; messages, events and outputs are passed over."""

    id: Any = None
    epoch: Any = 1
    input: Any = None
    target: Any = None
    scores: dict[str, _Score] | None = None
    error: Any = None


class _Log(msgspec.Struct):
    status: Any = None
    eval: Any = None
    results: Any = None
    samples: list[_Sample] | None = None


def _recognises(source: Source) -> bool:
    if source.head.startswith(b"PK"):
        return bool({HEADER, START} & set(archive_names(source.path)))
    return JSON_LOG.match(source.text) is not None and b'"eval"' in source.head


def _log(source: Source) -> _Log:
    """Return the header and the samples of a log, finished or not."""
    if not source.head.startswith(b"PK"):
        whole: _Log = parse_fields(source.content().removeprefix(BOM), _Log, source.where)
        return whole

    def member(name: str, kind: Any) -> Any:
        return parse_fields(read_member(source.path, name), kind, f"{source.where}: {name}")

    names = list(dict.fromkeys(archive_names(source.path)))
    log: _Log = member(HEADER if HEADER in names else START, _Log)
    if HEADER not in names:
        log.status = "started"
    journal = [name for name in names if JOURNAL.fullmatch(name)]
    journal.sort(key=lambda name: int(JOURNAL.sub(r"\1", name)))
    parts = [SUMMARIES] if SUMMARIES in names else journal
    log.samples = [one for name in parts for one in member(name, list[_Sample])]
    if not parts:
        log.samples = [member(name, _Sample) for name in names if SAMPLE.fullmatch(name)]
    return log


def _read(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, TITLE)
    log = _log(source)
    about = log.eval if isinstance(log.eval, Mapping) else {}
    samples, task = log.samples or [], about.get("task")
    if not samples:
        raise InputError(f"{source.where}: its run holds no sample (status {log.status})")
    if not task:
        raise InputError(f"{source.where}: the log does not say of which task it is")
    method = source.name or str(about.get("model") or source.stem)
    inputs = [_text(one.input) for one in samples]
    targets = [_text(one.target, blocks=False) for one in samples]
    values = _values(samples)
    # Grades are of one scale, of which C is the best; or the log itself counts what is right.
    higher = {name for name, of in values.items() if all(map(_is_grade, of))}
    for one in inner(log.results, "scores") or ():
        if "accuracy" in inner_object(one, "metrics"):
            higher.add(str(inner(one, "name")))
    config = inner_object(about, "config")
    return item_records(
        source,
        method,
        str(task),
        {
            "item": _ids([one.id for one in samples], source),
            "repeat": _epochs(samples, source),
            "evidence": content_hash(inputs, targets),
        },
        {name: [_number(one) for one in of] for name, of in values.items()},
        higher=higher,
        conditions=conditions(
            str(task),
            {
                "version of the task": about.get("task_version"),
                "dataset": written(inner(about, "dataset", "name")),
                "limit on the number of items": written(config.get("limit")),
                "number of epochs": config.get("epochs") or 1,
                "choice of samples": written(config.get("sample_id")),
                "set of arguments of the task": written(about.get("task_args")),
            },
            stops=("version of the task",),
        ),
        settings={name: written(about.get(name)) for name in SETTINGS},
        notes=tuple(_notes(source, log, about, samples, method)),
    )


def _ids(ids: Sequence[Any], source: Source) -> Any:
    kinds = set(map(type, ids))
    if kinds - {int, str}:
        raise InputError(f"{source.where}: a sample has no id")
    whole = kinds == {int} and max(map(abs, ids)) < 2**62
    return np.array(ids, dtype=np.int64) if whole else list(map(str, ids))


def _epochs(samples: Sequence[_Sample], source: Source) -> Any:
    if any(type(one.epoch) is not int or not 0 <= one.epoch < 2**31 for one in samples):
        raise InputError(f"{source.where}: the epoch of a sample is not a whole number")
    return np.array([one.epoch for one in samples], dtype=np.int64)


def _text(value: Any, *, blocks: bool = True) -> str | None:
    """Return the start of an input as text, of messages their texts, without regard to blanks."""
    if isinstance(value, list) and not blocks:
        return json.dumps(value)
    if isinstance(value, list):
        contents = [inner(one, "content") for one in value]
        parts = [part for one in contents for part in (one if isinstance(one, list) else [one])]
        texts = [inner(part, "text") if isinstance(part, dict) else part for part in parts]
        value = " ".join(text for text in texts if isinstance(text, str))
    if value is None or (
        blocks and (not isinstance(value, str) or value.startswith("attachment:"))
    ):
        # What is kept elsewhere in the log has a name here that says nothing.
        return None
    return " ".join(str(value).split())[:MOST_TEXT]


def _values(samples: Sequence[_Sample]) -> dict[str, list[Any]]:
    """Return the values of each scorer, and of each key where a scorer gives several."""
    found: dict[str, list[Any]] = {}
    for place, sample in enumerate(samples):
        scores = {} if sample.error else sample.scores or {}
        for scorer, score in scores.items():
            named = {scorer: score.value}
            if isinstance(score.value, dict):
                named = {f"{scorer}/{key}": value for key, value in score.value.items()}
            for name, value in named.items():
                found.setdefault(name, [None] * len(samples))[place] = value
    return found


def _grade(value: Any) -> float | None:
    """Return what a grade counts; letters count as capitals alone."""
    if isinstance(value, bool):
        return float(value)
    text = str(value).strip()
    return GRADES.get(text, GRADES.get(text.lower()) if len(text) > 1 else None)


def _is_grade(value: Any) -> bool:
    return value is None or (isinstance(value, str | bool) and _grade(value) is not None)


def _number(value: Any) -> Any:
    """Return the number that a text stands for; any other text stays, and is refused as no score."""
    if not isinstance(value, str):
        return value
    grade = _grade(value)
    try:
        return float(value) if grade is None else grade
    except ValueError:
        return value


def _notes(
    source: Source, log: _Log, about: Mapping[str, Any], samples: Sequence[_Sample], method: str
) -> list[str]:
    lines = []
    known = inner(about, "dataset", "sample_ids")
    if log.status != "success":
        of = f" of {len(known)}" if isinstance(known, list) else ""
        lines.append(
            f"{source.path.name} did not end well (status {log.status}):"
            f" {len({str(one.id) for one in samples})}{of} items are there."
        )
    failed = sum(bool(one.error) for one in samples)
    if failed:
        lines.append(f"{failed} samples of {method} ended with an error and have no value.")
    reducer = inner(about, "config", "epochs_reducer")
    others = [str(one) for one in reducer if one != "mean"] if isinstance(reducer, list) else []
    if others and max(one.epoch for one in samples) > 1:
        lines.append(
            f"{method}: inspect_ai reduces epochs by {', '.join(others)}; here their mean counts."
        )
    return lines


result_readers.add(
    ResultReader(
        "inspect",
        TITLE,
        _read,
        _recognises,
        traps=(
            "C is correct and not option C; I and N count 0, P counts a half.",
            "Epochs of a sample are averaged first: they are not further samples.",
            "Samples that ended with an error have no value; runs that did not end well are said.",
            "Items are paired where input and target agree; other limits or arguments are said.",
            "Archives are packed with Zstandard: before Python 3.14 this needs the extra `logs`.",
        ),
    )
)
