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
    content_hash,
    inner,
    inner_object,
    item_numbers,
    parse_fields,
)
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Condition, Records, one_dataset
from paragone.intake.source import Source
from paragone.metrics import read_name

TITLE = "logs of inspect_ai"
JSON_LOG = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"')
HEADER, START = "header.json", "_journal/start.json"
SUMMARIES, JOURNAL = "summaries.json", "_journal/summaries/"
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
"""Correct, incorrect, partial and no answer; C is never an option of a question here."""
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
    if source.is_folder:
        return False
    if source.head.startswith(b"PK"):
        return bool({HEADER, START} & set(archive_names(source.path)))
    return (
        JSON_LOG.match(source.head.removeprefix(b"\xef\xbb\xbf")) is not None
        and b'"eval"' in source.head
    )


def _log(source: Source) -> _Log:
    """Return the header and the samples of a log, finished or not."""
    if not source.head.startswith(b"PK"):
        found: _Log = parse_fields(
            source.content().removeprefix(b"\xef\xbb\xbf"), _Log, source.where
        )
        return found
    names = list(dict.fromkeys(archive_names(source.path)))
    header = HEADER if HEADER in names else START
    if header not in names:
        raise InputError(f"{source.where}: holds no {HEADER}, as a log of inspect_ai does")
    log: _Log = parse_fields(read_member(source.path, header), _Log, f"{source.where}: {header}")
    if SUMMARIES in names:
        parts, kind = [SUMMARIES], list[_Sample]
    else:
        parts, kind = (
            sorted((name for name in names if name.startswith(JOURNAL)), key=_number),
            list[_Sample],
        )
    samples: list[_Sample] = []
    for name in parts:
        samples += parse_fields(read_member(source.path, name), kind, f"{source.where}: {name}")
    if not parts:
        for name in names:
            if (
                name.startswith("samples/")
                and name.endswith(".json")
                and name.rpartition("/")[2] != "header.json"
            ):
                samples.append(
                    parse_fields(read_member(source.path, name), _Sample, f"{source.where}: {name}")
                )
    return _Log(log.status if header == HEADER else "started", log.eval, log.results, samples)


def _number(name: str) -> tuple[int, str]:
    found = re.search(r"(\d+)\.json$", name)
    return int(found[1]) if found else 0, name


def _read(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, TITLE)
    log = _log(source)
    about = log.eval if isinstance(log.eval, Mapping) else {}
    samples = log.samples or []
    model, task = about.get("model"), about.get("task")
    if not samples:
        raise InputError(f"{source.where}: its run holds no sample (status {log.status})")
    if not task:
        raise InputError(f"{source.where}: the log does not say of which task it is")
    method = source.name or str(model or source.stem)
    columns: dict[str, Any] = {
        "item": _ids([one.id for one in samples], source),
        "repeat": _epochs(samples, source),
    }
    evidence = content_hash(
        [_text(one.input) for one in samples], [_target(one.target) for one in samples]
    )
    if evidence is not None:
        columns["evidence"] = evidence
    metrics: dict[str, bool | None] = {}
    refused: dict[str, str] = {}
    for name, values in _values(samples).items():
        numbers, graded = _numbers(values)
        if isinstance(numbers, str):
            refused[name] = numbers
            continue
        columns[name] = numbers
        metrics[name] = (
            True
            if graded or _counts_right(log.results, name)
            else read_name(name.split("/")[-1]).higher_is_better
        )
    if not metrics and not refused:
        raise InputError(f"{source.where}: none of its {len(samples)} samples has a score")
    return Records(
        one_dataset(columns, method, str(task)),
        "item",
        metrics,
        source,
        conditions=_conditions(about, str(task)),
        settings=_settings(about),
        refused=refused,
        notes=tuple(_notes(source, log, about, samples, method)),
    )


def _ids(ids: Sequence[Any], source: Source) -> Any:
    kinds = set(map(type, ids))
    if kinds - {int, str}:
        raise InputError(f"{source.where}: a sample has no id")
    return (
        np.array(ids, dtype=np.int64)
        if kinds == {int} and max(map(abs, ids)) < 2**62
        else list(map(str, ids))
    )


def _epochs(samples: Sequence[_Sample], source: Source) -> Any:
    if any(type(one.epoch) is not int or not 0 <= one.epoch < 2**31 for one in samples):
        raise InputError(f"{source.where}: the epoch of a sample is not a whole number")
    return np.array([one.epoch for one in samples], dtype=np.int64)


def _text(value: Any) -> str | None:
    """Return the start of an input as text, of messages their texts, without regard to blanks."""
    if isinstance(value, list):
        contents = [one.get("content") for one in value if isinstance(one, dict)]
        parts = [part for one in contents for part in (one if isinstance(one, list) else [one])]
        texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
        value = " ".join(text for text in texts if isinstance(text, str))
    if not isinstance(value, str) or value.startswith("attachment://"):
        # What is kept elsewhere in the log has a name here that says nothing.
        return None
    return " ".join(value.split())[:MOST_TEXT]


def _target(value: Any) -> str | None:
    if isinstance(value, list):
        return json.dumps(value)
    return None if value is None else " ".join(str(value).split())[:MOST_TEXT]


def _values(samples: Sequence[_Sample]) -> dict[str, list[Any]]:
    """Return the values of each scorer, and of each key where a scorer gives several."""
    found: dict[str, list[Any]] = {}
    for place, sample in enumerate(samples):
        if sample.error:
            continue
        for scorer, score in (sample.scores or {}).items():
            several = score.value if isinstance(score.value, dict) else None
            named = (
                {scorer: score.value}
                if several is None
                else {f"{scorer}/{key}": v for key, v in several.items()}
            )
            for name, value in named.items():
                found.setdefault(name, [None] * len(samples))[place] = value
    return found


def _numbers(values: list[Any]) -> tuple[Any, bool]:
    """Return one number per sample, or why there is none; and whether all were grades, of which C is the best."""
    graded = all(value is None or isinstance(value, str | bool) for value in values)
    read: list[Any] = []
    for value in values:
        if not isinstance(value, str):
            read.append(value)
            continue
        plain = value.strip()
        number = GRADES.get(plain, GRADES.get(plain.lower()) if len(plain) > 1 else None)
        if number is None:
            graded = False
            try:
                number = float(plain)
            except ValueError:
                return f"a sample holds the text {plain[:20]!r}, which is no score", False
        read.append(number)
    return item_numbers(read), graded


def _counts_right(results: Any, name: str) -> bool:
    """Whether the log itself gives an accuracy of this scorer."""
    scores = inner(results, "scores")
    for one in scores if isinstance(scores, list) else ():
        if inner(one, "name") == name and "accuracy" in inner_object(one, "metrics"):
            return True
    return False


def _settings(about: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    for name in ("solver", "solver_args", "task_args", "model_args", "model_generate_config"):
        value = about.get(name)
        found[name] = (
            "none" if value in (None, {}, []) else json.dumps(value, sort_keys=True).strip('"')
        )
    return found


def _conditions(about: Mapping[str, Any], task: str) -> tuple[Condition, ...]:
    said = [
        ("version of the task", about.get("task_version"), True),
        ("dataset", inner(about, "dataset", "name"), False),
        ("limit on the number of items", inner(about, "config", "limit"), False),
        ("number of epochs", inner(about, "config", "epochs") or 1, False),
        ("choice of samples", inner(about, "config", "sample_id"), False),
        ("set of arguments of the task", about.get("task_args") or None, False),
    ]
    return tuple(
        Condition(
            task,
            name,
            "none" if value is None else json.dumps(value, sort_keys=True).strip('"'),
            stops,
        )
        for name, value, stops in said
    )


def _notes(
    source: Source, log: _Log, about: Mapping[str, Any], samples: Sequence[_Sample], method: str
) -> list[str]:
    lines = []
    known = inner(about, "dataset", "sample_ids")
    items = {str(one.id) for one in samples}
    if log.status != "success":
        of = f" of {len(known)}" if isinstance(known, list) else ""
        lines.append(
            f"{source.path.name} did not end well (status {log.status}): {len(items)}{of} items are"
            " there."
        )
    failed = sum(bool(one.error) for one in samples)
    if failed:
        lines.append(f"{failed} samples of {method} ended with an error and have no value.")
    reducer = inner(about, "config", "epochs_reducer")
    others = [one for one in reducer if one != "mean"] if isinstance(reducer, list) else []
    if others and max(one.epoch for one in samples) > 1:
        lines.append(
            f"{method}: inspect_ai reduces epochs by {', '.join(map(str, others))}; here their mean"
            " counts."
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
            (
                "Samples that ended with an error have no value, and runs that did not end well are"
                " said."
            ),
            (
                "Items are paired where input and target agree; other limits, epochs or arguments"
                " of the task are said."
            ),
            "Archives are packed with Zstandard: before Python 3.14 this needs the extra `logs`.",
        ),
    )
)
