"""A whole experiment written into a store at once: all of it or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from paragone.lab.cells import Cell, Outcome
from paragone.lab.store.copying import new_store
from paragone.lab.store.outcomes import replace_outcome
from paragone.lab.store.plans import Plan, insert_plan
from paragone.lab.store.store import Store


def write_whole(path: Path, plan: Plan, outcomes: Iterable[tuple[Cell, Outcome]]) -> None:
    """Write a plan and what came of its cells in one transaction, into a store that is there or a new one.

    A kill leaves the store as it was, or no store where there was none. Cells that the store has
    stay as they are.
    """
    if not path.exists():
        with new_store(path) as database:
            _write(database, plan, outcomes)
        return
    with Store(path, create=True) as store, store.writing() as database:
        _write(database, plan, outcomes)


def _write(
    database: sqlite3.Connection, plan: Plan, outcomes: Iterable[tuple[Cell, Outcome]]
) -> None:
    insert_plan(database, plan)
    present = {key for (key,) in database.execute("SELECT key FROM cells")}
    for cell, outcome in outcomes:
        if cell.key not in present:
            present.add(cell.key)
            replace_outcome(database, cell.key, cell.fit_key, outcome)
