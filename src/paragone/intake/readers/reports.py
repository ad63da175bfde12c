"""What programs report of queries and of times: ranx, trec_eval, pytest-benchmark and asv."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import product
from statistics import median
from typing import Any

import pandas as pd

from paragone.errors import InputError
from paragone.intake.evaluation import inner, inner_object, is_number
from paragone.intake.folders import few
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Condition, Records
from paragone.intake.source import Source

RANX = "reports of ranx"
QUERIES = "values per query of trec_eval"
TIMES = "times of pytest-benchmark"
VERSIONS = "times of asv"
MEASURE = re.compile(
    rb"(?:runid|num_\w+|(?:gm_)?map\w*|Rprec\w*|bpref|recip_rank|iprec\w*|P_\d+|recall_\d+|ndcg\w*"
    rb"|set_\w+|success_\d+|relstring|11pt_avg|infAP|utility)[ \t]+\S+[ \t]+\S+\s*\n"
)
SAVED = re.compile(r"(\d{4}_[0-9a-f]{7})[0-9a-f]{33}_.*")
"""What pytest-benchmark calls a file: a number, a commit, a time, and whether there were changes."""
MEASURED = {"time": "time", "timeraw": "time", "mem": "memory", "peakmem": "memory"}
"""What the first word of a benchmark of asv says that it measures."""


def _is_ranx(source: Source) -> bool:
    found = source.first
    names = inner(found, "model_names")
    return isinstance(names, list) and all(isinstance(inner(found, str(n)), dict) for n in names)


def _read_ranx(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, RANX)
    report = source.json()
    names = [str(name) for name in report["model_names"]]
    if len(set(names)) < len(names):
        raise InputError(f"{source.where}: a model stands twice in model_names")
    rows = []
    for name in names:
        scores = inner_object(report, name, "scores")
        if not scores or not all(map(is_number, scores.values())):
            raise InputError(
                f"{source.where}: the scores of {name!r} are not one number per metric"
            )
        rows.append({"method": name, "dataset": source.stem, **scores})
    frame = pd.DataFrame(rows)
    note = "A report of ranx holds means over queries only: compare its runs with --truth."
    return Records(frame, "dataset", dict.fromkeys(frame.columns[2:]), source, notes=(note,))


def _read_queries(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, QUERIES)
    cells = [line.decode("utf-8", "replace").split() for line in source.lines()]
    rows = pd.DataFrame(
        [one for one in cells if len(one) == 3], columns=["metric", "item", "value"]
    )
    rows["value"] = pd.to_numeric(rows["value"], errors="coerce")
    kept = rows[
        ~rows["metric"].str.startswith(("num_", "runid", "relstring")) & (rows["item"] != "all")
    ]
    if kept.empty:
        raise InputError(
            f"{source.where} holds means over queries only: trec_eval -q writes every query"
        )
    twice = kept.duplicated(["metric", "item"])
    if twice.any():
        one = kept[twice].iloc[0]
        raise InputError(f"{source.where}: {one['metric']} of query {one['item']} stands twice")
    wide = kept.pivot(index="item", columns="metric", values="value")
    frame = wide.reset_index().assign(method=source.called, dataset="data")
    dropped = {"lines that are cut off or broken": len(cells) - len(rows)}
    return Records(frame, "item", dict.fromkeys(wide.columns, True), source, dropped=dropped)


def _is_times(source: Source) -> bool:
    head = source.head if source.suffix == ".json" else b""
    return b'"machine_info"' in head and (b'"benchmarks"' in head or b'"commit_info"' in head)


def _read_times(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, TIMES)
    found = source.json()
    entries = inner(found, "benchmarks")
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
        method = SAVED.sub(r"\1", source.name or source.stem)
        key = (str(one.get("name")), str(group)) if source.is_all else (method, name)
        if key in rows:
            raise InputError(f"{source.where}: {name} stands twice")
        rows[key] = _median(one, source)
    frame = pd.DataFrame([(*key, value) for key, value in rows.items()])
    machine = inner_object(found, "machine_info")
    cpu = inner(machine, "cpu", "brand_raw") or ""
    told = f"{machine.get('node', '')} {cpu}".strip()
    note = "The time of a benchmark is the median of its rounds: rounds are not independent."
    return _times(frame.set_axis(["method", "dataset", "time"], axis=1), source, told, note)


def _times(frame: pd.DataFrame, source: Source, machine: str, note: str) -> Records:
    metrics = list(frame.columns[2:])
    datasets = frame["dataset"].unique() if machine else ()
    return Records(
        frame,
        "dataset",
        dict.fromkeys(metrics, False),
        source,
        conditions=tuple(Condition(name, "machine", machine) for name in datasets),
        notes=(note,),
        mixed=dict.fromkeys(metrics, "of another benchmark on every dataset"),
    )


def _median(one: Mapping[str, Any], source: Source) -> float:
    data = inner(one, "stats", "data")
    if isinstance(data, list) and data:
        if not all(is_number(value) and math.isfinite(value) and value >= 0 for value in data):
            raise InputError(f"{source.where}: the rounds of {one.get('name')!r} are not all times")
        return float(median(data))
    value = inner(one, "stats", "median")
    if not is_number(value):
        raise InputError(f"{source.where}: {one.get('name')!r} has neither rounds nor a median")
    return float(value)


def _is_version(source: Source) -> bool:
    return (
        source.suffix == ".json"
        and b'"commit_hash"' in source.head
        and b'"env_name"' in source.head
    )


def _read_version(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, VERSIONS)
    found = source.json()
    method = source.name or str(inner(found, "commit_hash"))[:8]
    rows: dict[str, dict[str, Any]] = {}
    others = []
    for name, result in inner_object(found, "results").items():
        measured = MEASURED.get(name.rpartition(".")[2].partition("_")[0])
        if measured is None:
            others.append(name)
            continue
        for dataset, value in _values(name, result):
            row = rows.setdefault(dataset, {"method": method, "dataset": dataset})
            row[measured] = value
    if not rows:
        raise InputError(f"{source.where}: none of its benchmarks has a time")
    notes = "Of the benchmarks of asv the medians are read; lower is better."
    if others:
        notes += f" Left out, because which way is better is not known: {few(others)}."
    frame = pd.DataFrame(list(rows.values()))
    return _times(frame, source, str(inner(found, "params", "machine") or ""), notes)


def _values(name: str, result: Any) -> Iterator[tuple[str, float]]:
    """Go through the values of a benchmark by its parameters, as old and new versions write them."""
    values: Any = result
    params: Any = []
    if isinstance(result, Mapping):
        values, params = result.get("result"), result.get("params") or []
    elif isinstance(result, list):
        values, params = (*result, None, None)[:2]
    values = values if isinstance(values, list) else [values]
    for setting, value in zip(product(*(params or [])), values, strict=False):
        if is_number(value):
            yield (f"{name} ({', '.join(setting)})" if setting else name), float(value)


result_readers.add(
    ResultReader(
        "ranx",
        RANX,
        _read_ranx,
        _is_ranx,
        traps=("A report holds means over queries: nothing can be tested; its runs can be.",),
    )
)
result_readers.add(
    ResultReader(
        "trec-eval",
        QUERIES,
        _read_queries,
        lambda source: MEASURE.match(source.text) is not None,
        traps=("Queries are the items; their mean, called all, is none of them.",),
    )
)
result_readers.add(
    ResultReader(
        "pytest-benchmark",
        TIMES,
        _read_times,
        _is_times,
        traps=(
            "Rounds are not independent: the median of a benchmark stands for it.",
            "Other machines are said; only who is faster on each benchmark counts.",
        ),
    )
)
result_readers.add(
    ResultReader(
        "asv",
        VERSIONS,
        _read_version,
        _is_version,
        traps=("A commit is a method; only times and memory have a direction and are read.",),
    )
)
