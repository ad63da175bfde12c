"""Reading what a store keeps: the queries, and JSON, arrays and rows checked before they are used."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.reading import parse_json, read_arrays

FAILURES = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat, c.status, c.error, c.traceback, c.seconds, k.cpu_seconds,
       k.peak_memory
FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key) LEFT JOIN costs k ON k.cell_id = c.id
WHERE p.current = 1 AND c.status <> 'done'
ORDER BY p.experiment_id, p.position
"""
PLACES = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat, p.key, c.status, c.error, c.seconds, c.notes,
       p.protocol, k.cpu_seconds, k.peak_memory, k.cell_id IS NOT NULL, c.fit_key
FROM plan p JOIN experiments e ON e.id = p.experiment_id
LEFT JOIN cells c USING (key) LEFT JOIN costs k ON k.cell_id = c.id
WHERE p.current = 1
ORDER BY p.experiment_id, p.position
"""
# Each table of fits is read once from end to end: to look every fit up beside its arrays takes ten
# times as long.
FIT_TIMES = "SELECT fit_key, seconds FROM fits"
FIT_CPU_TIMES = "SELECT fit_key, cpu_seconds FROM fit_costs"
MODEL_COSTS = "SELECT fit_key, predict_cpu_seconds, bytes FROM model_costs"
CELL_COUNTS = """
SELECT e.name, p.method, c.status, c.error, c.notes, count(*), total(c.seconds), count(k.cpu_seconds),
       total(k.cpu_seconds), max(k.peak_memory)
FROM plan p JOIN experiments e ON e.id = p.experiment_id
LEFT JOIN cells c USING (key) LEFT JOIN costs k ON k.cell_id = c.id
WHERE p.current = 1
GROUP BY p.experiment_id, p.method, c.status, c.error, c.notes
ORDER BY p.experiment_id, min(p.position)
"""
OPEN_PLACES = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat, p.key FROM plan p JOIN experiments e ON e.id = p.experiment_id
LEFT JOIN cells c USING (key) WHERE p.current = 1 AND c.key IS NULL
"""
RUNS = """
SELECT id, workers, environment, begun_at, beat, host, pid, process_start FROM runs ORDER BY id
"""
DATASETS = """
SELECT DISTINCT p.dataset, d.described FROM plan p
JOIN experiments e ON e.id = p.experiment_id JOIN datasets d USING (data_part)
WHERE p.current = 1 AND e.name = ? ORDER BY p.position
"""
FINGERPRINTS = """
SELECT DISTINCT p.dataset, p.data_part FROM plan p JOIN experiments e ON e.id = p.experiment_id
WHERE p.current = 1 AND e.name = ? ORDER BY p.position
"""
COUNTS = """
SELECT c.status, count(*), sum(c.seconds) FROM plan p JOIN experiments e ON e.id = p.experiment_id
LEFT JOIN cells c USING (key) WHERE p.current = 1 AND e.name = ? GROUP BY c.status
"""
TIMES = """
SELECT dataset, method, count(*), sum(ended), sum(took), sum(took > 0) FROM (
    SELECT p.dataset AS dataset, p.method AS method, c.id IS NOT NULL AS ended, coalesce(c.seconds, 0.0) AS took
    FROM plan p JOIN experiments e ON e.id = p.experiment_id LEFT JOIN cells c USING (key)
    WHERE p.current = 1 AND e.name = ? GROUP BY p.key
) GROUP BY dataset, method
"""
MATRIX = """
SELECT p.dataset, p.method, c.status, count(*) FROM plan p JOIN experiments e ON e.id = p.experiment_id
LEFT JOIN cells c USING (key) WHERE p.current = 1 AND e.name = ?
GROUP BY p.dataset, p.method, c.status ORDER BY min(p.position)
"""
CAUSES = """
SELECT c.status, c.error, p.method, count(*), min(c.id) FROM plan p JOIN experiments e ON e.id = p.experiment_id
JOIN cells c USING (key) WHERE p.current = 1 AND e.name = ? AND c.status <> 'done'
GROUP BY c.status, c.error, p.method
"""
TRACEBACK = "SELECT traceback FROM cells WHERE id = ?"
ENDED = """
SELECT p.dataset, p.fold, p.method, p.repeat, c.status, c.seconds, c.error, c.traceback, c.finished_at, c.id,
       k.cpu_seconds, k.peak_memory
FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key) LEFT JOIN costs k ON k.cell_id = c.id
WHERE p.current = 1 AND e.name = ? {and_status} ORDER BY {order} LIMIT ?
"""
FOLDS = """
SELECT p.fold, p.repeat, p.protocol, c.status, c.seconds, k.cpu_seconds, k.peak_memory
FROM plan p JOIN experiments e ON e.id = p.experiment_id
LEFT JOIN cells c USING (key) LEFT JOIN costs k ON k.cell_id = c.id
WHERE p.current = 1 AND e.name = ? AND p.dataset = ? AND p.method = ? ORDER BY p.position
"""
WARNINGS = """
SELECT e.name, p.protocol, p.dataset, p.fold, p.method, p.repeat, w.category, w.message, w.count
FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key) JOIN warnings w ON w.cell_id = c.id
WHERE p.current = 1 ORDER BY p.experiment_id, p.position, w.position
"""
ENDED_COUNTS = """
SELECT p.method, p.protocol, count(*) FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key)
WHERE p.current = 1 AND e.name = ? GROUP BY p.method, p.protocol
"""
LOSSES = "SELECT run_id, key, why, lost_at FROM losses ORDER BY id"
OUTPUT = "SELECT printed FROM outputs JOIN cells ON cells.id = cell_id WHERE key = ?"
EXPERIMENTS = "SELECT name FROM experiments ORDER BY id"
DESCRIBED = "SELECT described FROM experiments WHERE name = ?"
WITH_OWN_METRICS = "SELECT described FROM experiments WHERE instr(described, ?) > 0"
DECLARED = "SELECT declared FROM experiments WHERE name = ?"
METRICS = "SELECT DISTINCT metric FROM measures"
OPEN_KEYS = """
SELECT p.key FROM plan p JOIN experiments e ON e.id = p.experiment_id LEFT JOIN cells c USING (key)
WHERE p.current = 1 AND e.name = ? AND c.key IS NULL
"""
NEWEST = """
SELECT count(c.id), max(c.id) FROM plan p JOIN experiments e ON e.id = p.experiment_id
JOIN cells c USING (key) WHERE p.current = 1 AND e.name = ?
"""


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Pack arrays as npz; equal arrays give equal bytes.

    Examples
    --------
    >>> import numpy as np
    >>> unpack(pack({"a": np.arange(3)}))
    {'a': array([0, 1, 2])}
    """
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack(payload: bytes) -> dict[str, NDArray[Any]]:
    """Unpack what `pack` packed."""
    if not isinstance(payload, bytes):
        # A zeroed byte in the file turns content into nothing or into text.
        raise InputError("the store: a kept artifact is gone (`paragone store check` finds which)")
    return read_arrays(payload, "the store: a kept artifact (`paragone store check` finds which)")


class StoredArrays(dict[str, NDArray[Any]]):
    """Arrays of a store; one that should be there and is not means that the store is damaged."""

    def __init__(self, path: Path, arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
        super().__init__(arrays or {})
        self._path = path

    def __missing__(self, name: str) -> NDArray[Any]:
        raise damaged_part(self._path, f"the array {name!r} of an artifact")


def damaged_part(path: Path, what: str) -> InputError:
    """Say that something a store should have cannot be used."""
    return InputError(
        f"store {str(path)!r}: {what} is missing or damaged; `paragone store check {path}` says more,"
        " and the next run writes anew what it can"
    )


def arrays_of(payload: Any, path: Path) -> StoredArrays:
    """Unpack an artifact."""
    if not isinstance(payload, bytes):
        raise damaged_part(path, "an artifact")
    return StoredArrays(path, unpack(payload))


def json_object(path: Path, text: Any, keys: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a description of a store; it must be a JSON object with certain keys."""
    try:
        found = parse_json(text, "a description") if isinstance(text, str) else None
    except InputError as error:
        raise damaged_part(path, str(error)) from error
    if not isinstance(found, dict) or not set(keys) <= set(found):
        raise damaged_part(path, "a description")
    return found


def notes_of(text: Any) -> list[str]:
    """Return the notes of a cell; none where they cannot be read, for they are no results."""
    try:
        found = parse_json(text, "notes") if isinstance(text, str) else []
    except InputError:
        return []
    return [str(note) for note in found] if isinstance(found, list) else []
