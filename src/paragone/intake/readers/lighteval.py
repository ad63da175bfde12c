"""lighteval: a Parquet file of details per task, with a row per item."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paragone.errors import InputError
from paragone.intake.evaluation import content_hash, item_numbers
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Condition, Records, one_dataset
from paragone.intake.source import Source
from paragone.metrics import read_name
from paragone.reading import check_size

TITLE = "details of lighteval"
TIME = r"\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?"
NAME = re.compile(rf"details_(?P<task>.+?)(?:_(?P<time>{TIME}))?")
METRICS = ("metric", "metrics")
CONTENT = ("query", "choices", "gold_index")
OLD_CONTENT = ("example", "gold")
BATCH = 4096


def _schema(source: Source) -> Any:
    """Return the schema of a Parquet file, or None where it is none."""
    if source.is_folder or not source.head.startswith(b"PAR1"):
        return None
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise InputError(
            f"{source.where}: Parquet needs pyarrow: pip install 'paragone[parquet]'"
        ) from error
    try:
        return parquet.read_schema(source.path)
    except (ArrowException, OSError, ValueError):
        return None


def _recognises(source: Source) -> bool:
    if source.is_folder or not source.head.startswith(b"PAR1"):
        return False
    schema = _schema(source)
    names = set() if schema is None else set(schema.names)
    return bool(names & set(METRICS)) and (
        {"doc", "model_response"} <= names or {"example", "full_prompt"} <= names
    )


def _rows(source: Source) -> tuple[list[Mapping[str, Any]], list[tuple[Any, ...]], list[Any]]:
    """Return the metrics, the content and the id of each row; answers of models are not read."""
    from pyarrow import ArrowException, parquet

    schema = _schema(source)
    if schema is None:
        raise InputError(f"{source.where}: cannot be read as Parquet")
    measured = next((name for name in METRICS if name in schema.names), None)
    if measured is None:
        raise InputError(f"{source.where}: has no column of metrics")
    if "doc" in schema.names:
        kind = schema.field("doc").type
        there = {kind.field(place).name for place in range(getattr(kind, "num_fields", 0))}
        wanted = [f"doc.{name}" for name in (*CONTENT, "id") if name in there] or ["doc"]
    else:
        wanted = [name for name in OLD_CONTENT if name in schema.names]
    metrics: list[Mapping[str, Any]] = []
    contents: list[tuple[Any, ...]] = []
    ids: list[Any] = []
    size = 0
    try:
        with parquet.ParquetFile(source.path) as file:
            for batch in file.iter_batches(batch_size=BATCH, columns=[measured, *wanted]):
                size += batch.nbytes
                check_size(size, source.where)
                for row in batch.to_pylist():
                    metrics.append(_object(row[measured]))
                    content = _object(row.get("doc", row))
                    ids.append(content.get("id"))
                    contents.append(tuple(content.get(name) for name in (*CONTENT, *OLD_CONTENT)))
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source.where}: cannot be read as Parquet ({error})") from error
    if not metrics:
        raise InputError(f"{source.where}: has no rows")
    return metrics, contents, ids


def _object(value: Any) -> Mapping[str, Any]:
    """Return an object, which some versions write as JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise InputError("a row holds neither an object nor JSON of one") from error
    if not isinstance(value, dict):
        raise InputError("a row holds no object of metrics or of its item")
    return value


def _read(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, TITLE)
    measured, contents, ids = _rows(source)
    found = NAME.fullmatch(source.stem)
    called = found["task"] if found else source.stem
    task, bar, shots = called.rpartition("|")
    if not bar or not shots.isdecimal():
        task, shots = called, ""
    columns: dict[str, Any] = _items(ids)
    known = [
        json.dumps(one, default=str) if any(part is not None for part in one) else None
        for one in contents
    ]
    evidence = content_hash(known)
    if evidence is not None:
        columns["evidence"] = evidence
    elif not any(one is not None for one in ids):
        raise InputError(
            f"{source.where}: its rows say neither which item they are of nor what it asks"
        )
    metrics: dict[str, bool | None] = {}
    refused = {}
    for name in dict.fromkeys(key for one in measured for key in one):
        values = item_numbers([one.get(name) for one in measured])
        if isinstance(values, str):
            refused[name] = values
        elif not np.isnan(values).all():
            columns[name] = values
            metrics[name] = read_name(name).higher_is_better
    if not metrics and not refused:
        raise InputError(f"{source.where}: no row has a value")
    method = source.name or _method(source)
    return Records(
        one_dataset(columns, method, task),
        "item",
        metrics,
        source,
        conditions=(Condition(task, "number of shots", shots),) if shots else (),
        settings={"shots": shots or "none", "run of": (found and found["time"]) or "none"},
        refused=refused,
    )


def _items(ids: Sequence[Any]) -> dict[str, Any]:
    """Return the names of the items; rows have only their numbers where no ids are written, and contents pair them."""
    if all(one is not None for one in ids):
        return {"item": list(map(str, ids))}
    return {"item": np.arange(len(ids))}


def _method(source: Source) -> str:
    """Return the model, whose folders stand between ``details`` and the time of the run."""
    parts = list(source.path.resolve().parts[:-1])
    if parts and re.fullmatch(TIME, parts[-1]):
        parts.pop()
    if "details" in parts:
        place = len(parts) - 1 - parts[::-1].index("details")
        return "/".join(parts[place + 1 :]) or source.stem
    return parts[-1]


result_readers.add(
    ResultReader(
        "lighteval",
        TITLE,
        _read,
        _recognises,
        traps=(
            (
                "Items are paired where query, choices and the right answer agree, whatever the"
                " order of the rows."
            ),
            "Answers of the models are never read.",
            (
                "Metrics of which an item holds a list are refused: only all items together make"
                " their score."
            ),
        ),
    )
)
