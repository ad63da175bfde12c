"""Plans: which cells an experiment has, and what is kept beside them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


def plan_rows(cells: Sequence[Cell]) -> list[PlanRow]:
    """Return the cells as the table of plans has them; apart, for hashing many keys takes time that no lock should."""
    return [(position, c.protocol, *c.place, c.key, c.fit_key, *c.parts.values) for position, c in enumerate(cells)]


def insert_plan(db: sqlite3.Connection, plan: Plan, rows: list[PlanRow]) -> None:
    """Make this, with the rows of its cells, the current plan of its experiment; in a transaction of the caller's."""
    db.execute(EXPERIMENT, (plan.name, plan.declared, json.dumps(plan.described), this_moment()))
    experiment = db.execute("SELECT id FROM experiments WHERE name = ?", (plan.name,)).fetchone()[0]
    _replace_rows(db, experiment, rows)
    splits = {part: tuple(_index_bytes(rows) for rows in both) for part, both in plan.splits.items()}
    truths = {key: (payload,) for key, payload in plan.truths.items()}
    _add_missing(db, "split", splits, "SELECT split_part FROM splits", "INSERT INTO splits VALUES (?, ?, ?)")
    _add_missing(db, "truth", truths, "SELECT truth_key FROM truths", "INSERT INTO truths VALUES (?, ?)")
    db.executemany(
        "INSERT OR REPLACE INTO datasets VALUES (?, ?)",
        ((part, json.dumps(described)) for part, described in plan.datasets.items()),
    )


def _replace_rows(db: sqlite3.Connection, experiment: int, rows: list[PlanRow]) -> None:
    # A run that goes on plans what was planned: nothing is written then, and readers keep what they have.
    if db.execute(CURRENT_PLAN, (experiment,)).fetchall() == rows:
        return
    db.execute("UPDATE plan SET current = 0 WHERE experiment_id = ?", (experiment,))
    db.executemany(
        "INSERT OR REPLACE INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
        ((experiment, *row) for row in rows),
    )


def _add_missing(
    db: sqlite3.Connection, kind: str, contents: Mapping[str, tuple[bytes, ...]], known: str, insert: str
) -> None:
    """Add the splits or truths that are not there yet; those that are keep the checksum they were written with."""
    present = {row[0] for row in db.execute(known)}
    for key, parts in contents.items():
        if key not in present:
            db.execute(insert, (key, *parts))
            seal(db, kind, key, content_checksum(*parts))


def _index_bytes(indices: IntArray) -> bytes:
    return np.ascontiguousarray(indices, dtype="<i8").tobytes()
