"""Compact a store: delete what nothing refers to any more, and give the space back."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paragone.store.faults import damaged
from paragone.store.opening import connect
from paragone.store.standing import refuse_while_running
from paragone.store.transactions import transaction

DEAD = {
    "dead plan rows": "plan WHERE current = 0 AND key NOT IN (SELECT key FROM cells)",
    "orphaned cells": "cells WHERE key NOT IN (SELECT key FROM plan)",
    "orphaned fits": "fits WHERE fit_key NOT IN (SELECT fit_key FROM plan)",
    "orphaned splits": "splits WHERE split_part NOT IN (SELECT split_part FROM plan)",
    "orphaned truths": "truths WHERE truth_key NOT IN (SELECT data_part || '/' || split_part FROM plan) "
    "AND truth_key NOT IN (SELECT data_part FROM plan)",
    "orphaned datasets": "datasets WHERE data_part NOT IN (SELECT data_part FROM plan)",
    "unused measures": "measures WHERE id NOT IN (SELECT measure_id FROM scores)",
}
"""What a compaction deletes, in this order: each may leave the next without anything that refers to it."""

AFTER = {
    "checksums": "(kind = 'cell' AND key NOT IN (SELECT key FROM cells)) "
    "OR (kind = 'fit' AND key NOT IN (SELECT fit_key FROM fits)) "
    "OR (kind = 'split' AND key NOT IN (SELECT split_part FROM splits)) "
    "OR (kind = 'truth' AND key NOT IN (SELECT truth_key FROM truths))",
    "quarantine": "kind = 'cell' AND key IN (SELECT key FROM cells)",
}
STALE = "plan WHERE current = 0"


@dataclass(frozen=True)
class Compaction:
    """What a compaction did: bytes before and after, and how many rows of what it deleted."""

    path: Path
    size_before: int
    size_after: int
    deleted: Mapping[str, int]

    def __str__(self) -> str:
        gone = ", ".join(f"{count} {what}" for what, count in self.deleted.items() if count) or "nothing"
        return f"{self.path}: {self.size_before:,} bytes before, {self.size_after:,} after; deleted {gone}"


def count_dead(database: sqlite3.Connection) -> dict[str, int]:
    """Return how many rows of what a compaction would delete first, before what only they refer to."""
    return {what: database.execute(f"SELECT count(*) FROM {where}").fetchone()[0] for what, where in DEAD.items()}  # noqa: S608


def compact(path: str | Path, *, drop_stale: bool = False) -> Compaction:
    """Delete what nothing refers to and give the space back to the disk.

    Parameters
    ----------
    path : str or Path
        The store; no run may be at work in it.
    drop_stale : bool, default=False
        Whether the results of earlier declarations go too. They are kept otherwise: declared again, they are
        there again.

    Returns
    -------
    Compaction
        Sizes and counts.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Store(Path(folder) / "a.sqlite", create=True).close()
    ...     sum(compact(Path(folder) / "a.sqlite").deleted.values())
    0
    """
    path = Path(path)
    connect(path, create=False).close()
    database = connect(path, create=True)
    try:
        refuse_while_running(database, path)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = path.stat().st_size
        deleted = _delete_dead(database, drop_stale)
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.DatabaseError as error:
        raise damaged(path, error) from error
    finally:
        database.close()
    return Compaction(path, before, path.stat().st_size, deleted)


def _delete_dead(database: sqlite3.Connection, drop_stale: bool) -> dict[str, int]:
    with transaction(database):
        wanted = {"stale plan rows": STALE, **DEAD} if drop_stale else DEAD
        deleted = {what: database.execute(f"DELETE FROM {where}").rowcount for what, where in wanted.items()}  # noqa: S608
        for table, where in AFTER.items():
            database.execute(f"DELETE FROM {table} WHERE {where}")  # noqa: S608  our own statements
    return deleted
