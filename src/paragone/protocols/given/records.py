"""Results from elsewhere as a store keeps them: what identifies each value, and back to what the reader gave."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from paragone.hashing import digest
from paragone.intake import Condition, Records, Source
from paragone.intake.files import file_facts
from paragone.intake.records import COLUMNS, as_categories
from paragone.stats.designs import Design

KEPT_AS = "kept as"
"""The setting that tells methods of one name in several experiments of a store apart."""
TEXT = "text."
"""How the name of an array begins that holds texts, or keys of several types, as JSON."""


@dataclass(frozen=True)
class GivenCell:
    """Some rows of records: one score of a method on a dataset, or all items of a dataset.

    Attributes
    ----------
    method, dataset : str
        Whose rows they are.
    unit : tuple
        What tells the rows from others of the method on the dataset.
    rows : DataFrame
        The rows, without the columns of the method and the dataset.
    """

    method: str
    dataset: str
    unit: tuple[Any, ...]
    rows: pd.DataFrame


def cells_of(one: Records) -> Iterator[GivenCell]:
    """Go through the rows of records as cells: row by row, or dataset by dataset where rows are items."""
    frame = one.frame.reset_index(drop=True)
    columns = [name for name in frame.columns if name in (*COLUMNS[2:], *one.metrics)]
    if one.unit == "item":
        groups = frame.groupby(["method", "dataset"], observed=True, sort=False)
        for (method, dataset), rows in groups:
            yield GivenCell(str(method), str(dataset), (), rows[columns])
        return
    seen: dict[tuple[Any, ...], int] = {}
    keys = frame[one.keys].astype(object).where(frame[one.keys].notna(), None).to_numpy().tolist()
    for place, (method, dataset) in enumerate(zip(frame["method"], frame["dataset"], strict=True)):
        unit = tuple(keys[place])
        again = seen[method, dataset, unit] = seen.get((method, dataset, unit), -1) + 1
        yield GivenCell(str(method), str(dataset), (*unit, again) if again else unit, frame.loc[[place], columns])


def arrays_of_rows(rows: pd.DataFrame) -> dict[str, NDArray[Any]]:
    """Return the columns of rows as arrays that a store keeps; see `rows_of_arrays`.

    Examples
    --------
    >>> rows = pd.DataFrame({"item": ["a", 2], "acc": [1.0, float("nan")]})
    >>> rows_of_arrays(arrays_of_rows(rows)).equals(rows)
    True
    """
    found: dict[str, NDArray[Any]] = {}
    for name in rows.columns:
        values = rows[name].to_numpy()
        if values.dtype.kind in "iuf":
            found[str(name)] = values
        else:
            plain = [None if pd.isna(value) else _plain(value) for value in values]
            found[f"{TEXT}{name}"] = np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)
    return found


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float) else str(value)


def rows_of_arrays(arrays: Mapping[str, NDArray[Any]]) -> pd.DataFrame:
    """Return the rows that `arrays_of_rows` made arrays of."""
    columns = {}
    for name, values in arrays.items():
        is_text = name.startswith(TEXT)
        read = np.array(json.loads(values.tobytes()), dtype=object) if is_text else values
        columns[name.removeprefix(TEXT)] = read
    return pd.DataFrame(columns)


def told_of(one: Records) -> dict[str, Any]:
    """Return everything about records beside their rows, as plain values: where they come from, what was left out."""
    facts = file_facts([] if one.kept_files else [one.source])
    kept = [list(row) for row in one.kept_files] or [
        [str(row.file), int(row.bytes), str(row.sha256)] for row in facts.itertuples()
    ]
    return {
        "source": one.source.path.name,
        "reader": one.reader,
        "unit": one.unit,
        "columns": [str(name) for name in one.frame.columns if name in (*COLUMNS[2:], *one.metrics)],
        "metrics": dict(one.metrics),
        "conditions": [asdict(condition) for condition in one.conditions],
        "settings": {name: value for name, value in one.settings.items() if name != KEPT_AS},
        "refused": dict(one.refused),
        "dropped": {why: int(count) for why, count in one.dropped.items()},
        "notes": list(one.notes),
        "designs": {name: None if design is None else asdict(design) for name, design in one.designs.items()},
        "failures": one.failures,
        "mixed": dict(one.mixed),
        "files": kept,
    }


def identity_of(told: Mapping[str, Any]) -> str:
    """Return what records are called in a store: a hash of where they come from and how they were read."""
    return digest({name: value for name, value in told.items() if name != "source"})[:16]


def records_of(
    told: Mapping[str, Any], cells: Sequence[tuple[str, str, Mapping[str, NDArray[Any]]]], store: Path, experiment: str
) -> Records:
    """Return records as a reader gave them, of what a store keeps: methods, datasets and arrays of their cells."""
    frames = [rows_of_arrays(arrays) for _, _, arrays in cells]
    sizes = [len(frame) for frame in frames]
    whole = pd.concat(frames, ignore_index=True)[list(told["columns"])]
    for name, place in (("dataset", 1), ("method", 0)):
        values = np.repeat(np.array([cell[place] for cell in cells], dtype=object), sizes)
        # Items are many, and a name of theirs stands a million times.
        whole.insert(0, name, as_categories(values) if told["unit"] == "item" else values)
    designs = {name: None if one is None else Design(**one) for name, one in told["designs"].items()}
    return Records(
        whole,
        told["unit"],
        told["metrics"],
        Source(store),
        conditions=tuple(Condition(**one) for one in told["conditions"]),
        settings={**told["settings"], KEPT_AS: experiment},
        refused=told["refused"],
        dropped=told["dropped"],
        notes=tuple(told["notes"]),
        designs=designs,
        failures=told["failures"],
        mixed=told["mixed"],
        reader=told["reader"],
        kept_files=tuple((name, size, sha) for name, size, sha in told["files"]),
    )
