"""What a store keeps beside its cells, read back: targets, row numbers and descriptions, or a clear sentence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.reading import parse_json
from paragone.store.arrays import unpack
from paragone.store.queries import DATASET, SPLIT_ROWS, TRUTH
from paragone.store.readable import Readable
from paragone.validation import IntArray


class KeptArrays(dict[str, NDArray[Any]]):
    """Arrays of a store; one that should be there and is not means that the store is damaged."""

    where: Path = Path()

    def __missing__(self, name: str) -> NDArray[Any]:
        raise spoilt(self.where, f"the array {name!r} of an artifact")


def spoilt(path: Path, what: str) -> InputError:
    """Say that something a store should have cannot be used."""
    return InputError(
        f"store {str(path)!r}: {what} is missing or damaged; `paragone doctor {path}` says more, and the next run "
        "writes anew what it can"
    )


def kept_arrays(store: Readable, key: str) -> KeptArrays:
    """Return the targets of a split or the rows of a dataset, by their key."""
    rows = store.read(TRUTH, (key,))
    if not rows or not isinstance(rows[0][0], bytes):
        raise spoilt(store.path, "what is kept of the data")
    return arrays_of(rows[0][0], store.path)


def arrays_of(payload: Any, path: Path) -> KeptArrays:
    """Unpack an artifact."""
    if not isinstance(payload, bytes):
        raise spoilt(path, "an artifact")
    kept = KeptArrays(unpack(payload))
    kept.where = path
    return kept


def kept_rows(store: Readable, split_part: str) -> tuple[IntArray, IntArray]:
    """Return the row numbers of a split's train and test part."""
    rows = store.read(SPLIT_ROWS, (split_part,))
    if not rows or any(not isinstance(part, bytes) or len(part) % 8 for part in rows[0]):
        raise spoilt(store.path, "a split")
    train, test = (np.frombuffer(part, dtype="<i8").astype(np.int64) for part in rows[0])
    return train, test


def kept_dataset(store: Readable, data_part: str) -> dict[str, Any]:
    """Return the description of a dataset."""
    rows = store.read(DATASET, (data_part,))
    if not rows:
        raise spoilt(store.path, "the description of a dataset")
    return kept_object(store, rows[0][0], ("target_names", "n_features", "n_samples"))


def kept_object(store: Readable, text: Any, keys: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a description; it must be a JSON object with certain keys."""
    found = kept_json(store, text)
    if not isinstance(found, dict) or not set(keys) <= set(found):
        raise spoilt(store.path, "a description")
    return found


def kept_json(store: Readable, text: Any) -> Any:
    """Return what a JSON text of a store says."""
    if not isinstance(text, str):
        raise spoilt(store.path, "a description")
    try:
        return parse_json(text, "a description")
    except InputError as error:
        raise spoilt(store.path, str(error)) from error


def notes_of(text: Any) -> list[str]:
    """Return the notes of a cell; none where they cannot be read, for they are no results."""
    try:
        found = parse_json(text, "notes") if isinstance(text, str) else []
    except InputError:
        return []
    return [str(note) for note in found] if isinstance(found, list) else []


def described_settings(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what results need to know of a protocol out of an experiment's description."""
    settings = found.get("settings")
    return settings if isinstance(settings, dict) else {}
