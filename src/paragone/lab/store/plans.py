"""Plans: which cells an experiment has, and what is kept beside them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np

from paragone.lab.cells import Cell, Parts
from paragone.lab.store.outcomes import content_checksum, seal
from paragone.lab.store.runs import this_moment
from paragone.validation import IntArray

PlanRow: TypeAlias = tuple[Any, ...]

EXPERIMENT = """
INSERT INTO experiments (name, declared, described, planned_at) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE
SET declared = excluded.declared, described = excluded.described, planned_at = excluded.planned_at
"""
CURRENT_PLAN = """
SELECT position, protocol, dataset, fold, method, repeat, key, fit_key, data_part, split_part, method_part,
       protocol_part, version_part, seed_part
FROM plan WHERE experiment_id = ? AND current = 1 ORDER BY position
"""
PLACES_AND_PARTS = """
SELECT dataset, fold, method, repeat, data_part, split_part, method_part, protocol_part, version_part, seed_part
FROM plan JOIN experiments e ON e.id = experiment_id
"""
WITH_A_RESULT = f"{PLACES_AND_PARTS} JOIN cells USING (key) WHERE e.name = ? ORDER BY cells.id"
WITH_A_RESULT_AT = (
    f"{PLACES_AND_PARTS} JOIN cells USING (key) "
    "WHERE e.name = ? AND dataset = ? AND fold = ? AND method = ? AND repeat = ? ORDER BY cells.id"
)
WITH_AN_OUTDATED_RESULT = (
    f"{PLACES_AND_PARTS} JOIN cells USING (key) WHERE e.name = ? AND current = 0 ORDER BY cells.id"
)
PLANNED = f"{PLACES_AND_PARTS} WHERE e.name = ? AND current = 1"


@dataclass(frozen=True, eq=False)
class Plan:
    """An experiment worked out: its cells, and what is kept beside them so that results explain themselves.

    Parameters
    ----------
    name, declared : str
        The experiment's name and its declaration as text.
    described : mapping
        What reports need to know of the declaration: seed, split, protocol, methods.
    cells : sequence of Cell
        In the order of work.
    splits : mapping
        Row numbers of train and test by the cells' split part.
    truths : mapping
        Packed targets of the test rows by `truth_key`.
    datasets : mapping
        What is known of every dataset by the cells' data part.
    """

    name: str
    declared: str
    described: Mapping[str, Any]
    cells: Sequence[Cell]
    splits: Mapping[str, tuple[IntArray, IntArray]]
    truths: Mapping[str, bytes]
    datasets: Mapping[str, Mapping[str, Any]]


def truth_key(parts: Parts) -> str:
    """Name the targets of a split's test rows."""
    return f"{parts.data}/{parts.split}"


def _rows(cells: Sequence[Cell]) -> Iterator[PlanRow]:
    """Walk over the cells as the table of plans has them: a million rows would take as much memory as the cells."""
    return (
        (position, c.protocol, *c.place, c.key, c.fit_key, *c.parts.values)
        for position, c in enumerate(cells)
    )


def insert_plan(db: sqlite3.Connection, plan: Plan) -> None:
    """Make this the current plan of its experiment; in a transaction of the caller's."""
    db.execute(EXPERIMENT, (plan.name, plan.declared, json.dumps(plan.described), this_moment()))
    experiment = db.execute("SELECT id FROM experiments WHERE name = ?", (plan.name,)).fetchone()[0]
    _replace_rows(db, experiment, plan.cells)
    for part in _missing(db, plan.splits, "SELECT split_part FROM splits"):
        both = tuple(_index_bytes(rows) for rows in plan.splits[part])
        db.execute("INSERT INTO splits VALUES (?, ?, ?)", (part, *both))
        seal(db, "split", part, content_checksum(*both))
    for key in _missing(db, plan.truths, "SELECT truth_key FROM truths"):
        payload = plan.truths[key]
        db.execute("INSERT INTO truths VALUES (?, ?)", (key, payload))
        seal(db, "truth", key, content_checksum(payload))
    db.executemany(
        "INSERT OR REPLACE INTO datasets VALUES (?, ?)",
        ((part, json.dumps(described)) for part, described in plan.datasets.items()),
    )


def _replace_rows(db: sqlite3.Connection, experiment: int, cells: Sequence[Cell]) -> None:
    # A run that goes on plans what was planned: nothing is written then, and readers keep what they
    # have.
    planned = db.execute(CURRENT_PLAN, (experiment,))
    if all(before == now for before, now in zip_longest(planned, _rows(cells))):
        return
    planned.close()
    db.execute("UPDATE plan SET current = 0 WHERE experiment_id = ?", (experiment,))
    db.executemany(
        "INSERT OR REPLACE INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
        ((experiment, *row) for row in _rows(cells)),
    )


def _missing(db: sqlite3.Connection, contents: Mapping[str, Any], known: str) -> list[str]:
    """Return the splits or truths that are not there yet; those that are keep the checksum they were written with."""
    present = {row[0] for row in db.execute(known)}
    return [key for key in contents if key not in present]


def _index_bytes(indices: IntArray) -> bytes:
    return np.ascontiguousarray(indices, dtype="<i8").tobytes()
