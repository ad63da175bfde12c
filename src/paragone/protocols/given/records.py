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
    columns : mapping of str to ndarray
        The rows, column by column, without those of the method and the dataset.
    """

    method: str
    dataset: str
    unit: tuple[Any, ...]
    columns: Mapping[str, NDArray[Any]]


def cells_of(one: Records) -> Iterator[GivenCell]:
    """Go through the rows of records as cells: row by row, or dataset by dataset where rows are items."""
    frame = one.frame
    columns = {
        name: frame[name].to_numpy()
        for name in frame.columns
        if name in (*COLUMNS[2:], *one.metrics)
    }
    if one.unit == "item":
        groups = (
            frame.reset_index(drop=True)
            .groupby(["method", "dataset"], observed=True, sort=False)
            .indices
        )
        names = frame[["method", "dataset"]].drop_duplicates().itertuples(index=False)
        for method, dataset in names:
            rows = groups[method, dataset]
            yield GivenCell(
                str(method),
                str(dataset),
                (),
                {name: values[rows] for name, values in columns.items()},
            )
        return
    seen: dict[tuple[Any, ...], int] = {}
    keys = frame[one.keys].astype(object).where(frame[one.keys].notna(), None).to_numpy().tolist()
    for place, (method, dataset) in enumerate(zip(frame["method"], frame["dataset"], strict=True)):
        unit = tuple(keys[place])
        again = seen[method, dataset, unit] = seen.get((method, dataset, unit), -1) + 1
        row = {name: values[place : place + 1] for name, values in columns.items()}
        yield GivenCell(str(method), str(dataset), (*unit, again) if again else unit, row)


def kept_arrays(columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return columns as arrays that a store keeps; see `columns_of`.

    Examples
    --------
    >>> columns = {"item": np.array(["a", 2], dtype=object), "acc": np.array([1.0, np.nan])}
    >>> {name: values.tolist() for name, values in columns_of(kept_arrays(columns)).items()}
    {'item': ['a', 2], 'acc': [1.0, nan]}
    """
    found: dict[str, NDArray[Any]] = {}
    for name, values in columns.items():
        if values.dtype.kind in "iuf":
            found[name] = values
        else:
            plain = [None if pd.isna(value) else _plain(value) for value in values]
            found[f"{TEXT}{name}"] = np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)
    return found


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float) else str(value)


def columns_of(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the columns that `kept_arrays` made arrays of."""
    return {
        name.removeprefix(TEXT): (
            np.array(json.loads(values.tobytes()), dtype=object)
            if name.startswith(TEXT)
            else values
        )
        for name, values in arrays.items()
    }


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
        "columns": [
            str(name) for name in one.frame.columns if name in (*COLUMNS[2:], *one.metrics)
        ],
        "metrics": dict(one.metrics),
        "conditions": [asdict(condition) for condition in one.conditions],
        "settings": {name: value for name, value in one.settings.items() if name != KEPT_AS},
        "refused": dict(one.refused),
        "dropped": {why: int(count) for why, count in one.dropped.items()},
        "notes": list(one.notes),
        "designs": {
            name: None if design is None else asdict(design) for name, design in one.designs.items()
        },
        "failures": one.failures,
        "mixed": dict(one.mixed),
        "files": kept,
    }


def identity_of(told: Mapping[str, Any]) -> str:
    """Return what records are called in a store: a hash of where they come from and how they were read."""
    return digest({name: value for name, value in told.items() if name != "source"})[:16]


def records_of(
    told: Mapping[str, Any],
    cells: Sequence[tuple[str, str, Mapping[str, NDArray[Any]]]],
    store: Path,
    experiment: str,
) -> Records:
    """Return records as a reader gave them, of what a store keeps: methods, datasets and arrays of their cells."""
    rows = [columns_of(arrays) for _, _, arrays in cells]
    names: list[str] = list(told["columns"])
    sizes = [len(one[names[0]]) for one in rows]
    whole = pd.DataFrame({name: np.concatenate([one[name] for one in rows]) for name in names})
    for name, place in (("dataset", 1), ("method", 0)):
        values = np.repeat(np.array([cell[place] for cell in cells], dtype=object), sizes)
        # Items are many, and a name of theirs stands a million times.
        whole.insert(0, name, as_categories(values) if told["unit"] == "item" else values)
    designs = {
        name: None if one is None else Design(**one) for name, one in told["designs"].items()
    }
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
