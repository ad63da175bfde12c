"""Losses: the workers that died under cells, which is nobody's fault and worth knowing."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from paragone.store.readable import Readable, has_table


@dataclass(frozen=True)
class Loss:
    """A worker that died: in which run, at which cell, what is known of it, and when."""

    run: int
    key: str
    why: str
    lost_at: str


def write_loss(db: sqlite3.Connection, run: int, key: str, why: str, now: str) -> None:
    """Add a loss; within a transaction of the caller's."""
    db.execute("INSERT INTO losses (run_id, key, why, lost_at) VALUES (?, ?, ?, ?)", (run, key, why, now))


def read_losses(store: Readable) -> list[Loss]:
    """Return all losses, in order of time."""
    if not has_table(store, "losses"):
        return []
    return [Loss(*row) for row in store.read("SELECT run_id, key, why, lost_at FROM losses ORDER BY id")]
