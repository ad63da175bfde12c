"""Reports of ranx and of pytest-benchmark: one value per method and dataset, or per program and benchmark."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median
from typing import Any

import pandas as pd

from paragone.errors import InputError
from paragone.intake.evaluation import is_number
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Condition, Records
from paragone.intake.source import Source
from paragone.metrics import read_name

RANX = "reports of ranx"
TIMES = "times of pytest-benchmark"


def _is_ranx(source: Source) -> bool:
    found = source.first
    if not isinstance(found, Mapping) or not isinstance(found.get("model_names"), list):
        return False
    return all(isinstance(found.get(str(name)), Mapping) for name in found["model_names"])


def _read_ranx(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, RANX)
    report = source.json()
    names = [str(name) for name in report["model_names"]]
    if len(set(names)) < len(names):
        raise InputError(f"{source.where}: a model stands twice in model_names")
    rows = []
    for name in names:
        scores = report[name].get("scores")
        if not isinstance(scores, Mapping) or not all(
            is_number(value) for value in scores.values()
        ):
            raise InputError(
                f"{source.where}: the scores of {name!r} are not one number per metric"
            )
        rows.append(
            {
                "method": name,
                "dataset": source.stem,
                **{str(key): float(one) for key, one in scores.items()},
            }
        )
    frame = pd.DataFrame(rows)
    metrics = [name for name in frame.columns if name not in ("method", "dataset")]
    note = (
        "A report of ranx holds means over queries only; its runs tell more: compare them with"
        " --truth."
    )
    return Records(
        frame,
        "dataset",
        {name: read_name(name).higher_is_better for name in metrics},
        source,
        notes=(note,),
    )


def _is_times(source: Source) -> bool:
    if source.is_folder or source.suffix != ".json":
        return False
    head = source.head
    return b'"machine_info"' in head and (b'"benchmarks"' in head or b'"commit_info"' in head)


def _read_times(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, TIMES)
    found = source.json()
    entries = found.get("benchmarks") if isinstance(found, Mapping) else None
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{source.where}: it holds no benchmarks")
    rows: dict[tuple[str, str], float] = {}
    for one in entries:
        name, group = str(one.get("fullname") or one.get("name")), one.get("group")
        if source.is_all and group is None:
            raise InputError(
                f"{source.where}: {name} is in no group, so nothing says what it is compared with:"
                " give the times of another program beside it, or group the benchmarks"
            )
        method = str(one.get("name")) if source.is_all else source.name or source.stem
        key = (method, str(group) if source.is_all else name)
        if key in rows:
            raise InputError(f"{source.where}: {name} stands twice")
        rows[key] = _median(one, source)
    frame = pd.DataFrame(
        [(*key, value) for key, value in rows.items()], columns=["method", "dataset", "time"]
    )
    machine = found.get("machine_info") or {}
    cpu = machine.get("cpu") if isinstance(machine.get("cpu"), Mapping) else {}
    told = f"{machine.get('node', '')} {(cpu or {}).get('brand_raw', '')}".strip()
    return Records(
        frame,
        "dataset",
        {"time": False},
        source,
        conditions=tuple(
            Condition(name, "machine", told) for name in pd.unique(frame["dataset"]) if told
        ),
        notes=(
            (
                "The time of a benchmark is the median of its rounds: rounds of one process are not"
                " independent."
            ),
        ),
        mixed={"time": "seconds of another benchmark on every dataset"},
    )


def _median(one: Mapping[str, Any], source: Source) -> float:
    stats = one.get("stats")
    data = stats.get("data") if isinstance(stats, Mapping) else None
    if isinstance(data, list) and data:
        if not all(is_number(value) and math.isfinite(value) and value >= 0 for value in data):
            raise InputError(f"{source.where}: the rounds of {one.get('name')!r} are not all times")
        return float(median(data))
    value = stats.get("median") if isinstance(stats, Mapping) else None
    if not is_number(value):
        raise InputError(f"{source.where}: {one.get('name')!r} has neither rounds nor a median")
    return float(str(value))


result_readers.add(
    ResultReader(
        "ranx",
        RANX,
        _read_ranx,
        _is_ranx,
        traps=(
            (
                "A report holds means over queries: with one report, nothing can be tested; its"
                " runs can be."
            ),
        ),
    )
)
result_readers.add(
    ResultReader(
        "pytest-benchmark",
        TIMES,
        _read_times,
        _is_times,
        traps=(
            (
                "Rounds are not independent: the median of a benchmark stands for it, and"
                " benchmarks are the units."
            ),
            (
                "Other machines are said; benchmarks take different times, so only who is faster on"
                " each counts."
            ),
        ),
    )
)
