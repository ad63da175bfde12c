"""lighteval: a Parquet file of details per task, with a row per item."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from paragone.errors import InputError
from paragone.intake.evaluation import conditions, content_hash, item_records
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.source import Source
from paragone.intake.tabular import heading
from paragone.reading import check_size

TITLE = "details of lighteval"
TIME = r"\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?"
NAME = re.compile(rf"(?:details_)?(?P<task>.+?)(?:\|(?P<shots>\d+))?(?:_(?P<time>{TIME}))?")
METRICS = ("metric", "metrics")
CONTENT = ("query", "choices", "gold_index", "example", "gold")
BATCH = 4096


def _recognises(source: Source) -> bool:
    names = set(heading(source)) if source.head.startswith(b"PAR1") else set()
    rows = names >= {"doc", "model_response"} or names >= {"example", "full_prompt"}
    return rows and bool(names & set(METRICS))


def _rows(source: Source) -> tuple[list[Any], list[Mapping[str, Any]]]:
    """Return the metrics and the content of each row; answers of models are not read."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise InputError(
            f"{source.where}: Parquet needs pyarrow: pip install 'paragone[parquet]'"
        ) from error
    metrics: list[Any] = []
    contents: list[Mapping[str, Any]] = []
    size = 0
    try:
        with parquet.ParquetFile(source.path) as file:
            # A struct is read by those of its fields that are needed.
            paths = [file.schema.column(place).path for place in range(len(file.schema.names))]
            wanted = [path for path in paths if _is_wanted(path)]
            for batch in file.iter_batches(batch_size=BATCH, columns=wanted):
                size += batch.nbytes
                check_size(size, source.where)
                for row in batch.to_pylist():
                    metrics.append(_object(row.get("metric", row.get("metrics"))))
                    contents.append(_object(row.get("doc", row)))
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source.where}: cannot be read as Parquet ({error})") from error
    if not metrics:
        raise InputError(f"{source.where}: has no rows")
    return metrics, contents


def _is_wanted(path: str) -> bool:
    first, _, rest = path.partition(".")
    if first == "doc":
        return not rest or rest.partition(".")[0] in (*CONTENT, "id")
    return first in (*METRICS, *CONTENT)


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
    measured, contents = _rows(source)
    found = NAME.fullmatch(source.stem)
    task, shots, time = found.groups() if found else (source.stem, None, None)
    known = [{name: one[name] for name in CONTENT if one.get(name) is not None} for one in contents]
    evidence = content_hash([json.dumps(one, default=str) if one else None for one in known])
    ids = [one.get("id") for one in contents]
    named = all(one is not None for one in ids)
    if evidence is None and not any(one is not None for one in ids):
        raise InputError(
            f"{source.where}: its rows say neither which item they are of nor what it asks"
        )
    metrics = dict.fromkeys(key for one in measured for key in one)
    return item_records(
        source,
        source.name or _method(source),
        task,
        # Where no ids are written rows have only their numbers, and contents pair them.
        {"item": list(map(str, ids)) if named else np.arange(len(ids)), "evidence": evidence},
        {name: [one.get(name) for one in measured] for name in metrics},
        conditions=conditions(task, {"number of shots": shots}),
        settings={"shots": shots or "none", "run of": time or "none"},
    )


def _method(source: Source) -> str:
    """Return the model, whose folders stand between ``details`` and the time of the run."""
    parts = [one for one in source.path.resolve().parts[:-1] if not re.fullmatch(TIME, one)]
    if "details" in parts:
        place = len(parts) - parts[::-1].index("details")
        return "/".join(parts[place:]) or source.stem
    return parts[-1]


result_readers.add(
    ResultReader(
        "lighteval",
        TITLE,
        _read,
        _recognises,
        traps=(
            "Items are paired where query, choices and right answer agree, in whatever order.",
            "Answers of the models are never read.",
            "Metrics of which an item holds a list are refused: only all items make their score.",
        ),
    )
)
