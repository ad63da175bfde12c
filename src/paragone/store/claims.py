"""Claims: which run is at which cell. All that writes here does so within a transaction of the caller's."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

from paragone.store.moments import this_moment
from paragone.store.readable import Readable
from paragone.store.runs import RunIdentity, Watch

RUN = """
INSERT INTO runs (host, pid, process_start, workers, environment, begun_at, beat) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
OWNER = """
SELECT runs.id, host, pid, process_start, beat FROM claims JOIN runs ON runs.id = run_id WHERE key = ?
"""
CLAIMED = "SELECT key, host, pid, process_start, beat FROM claims JOIN runs ON runs.id = run_id"


def register_run(db: sqlite3.Connection, identity: RunIdentity, workers: int, environment: Mapping[str, Any]) -> int:
    """Add a coordinating process and return its id."""
    told = json.dumps(environment, sort_keys=True), this_moment(), time.time()
    return int(db.execute(RUN, (*astuple(identity), workers, *told)).lastrowid or 0)


def write_beat(db: sqlite3.Connection, run: int) -> None:
    """Write down that the run lives now."""
    db.execute("UPDATE runs SET beat = ? WHERE id = ?", (time.time(), run))


def claim_cell(db: sqlite3.Connection, watch: Watch, key: str, run: int, *, again: bool) -> str:
    """Claim a cell for a run, or say why not, as `Store.claim` does."""
    known = db.execute("SELECT 1 FROM cells WHERE key = ?", (key,)).fetchone()
    if known and not again:
        return "finished"
    owner = db.execute(OWNER, (key,)).fetchone()
    if owner and owner[0] != run and watch.lives(owner[0], RunIdentity(*owner[1:4]), owner[4]):
        return "taken"
    db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", (key, run))
    return "claimed"


def drop_claims(db: sqlite3.Connection, run: int) -> None:
    """Delete every claim of a run."""
    db.execute("DELETE FROM claims WHERE run_id = ?", (run,))


def keys_at_work(store: Readable) -> list[str]:
    """Return the keys that living runs are at."""
    return [row[0] for row in store.read(CLAIMED, types="ttitr") if RunIdentity(*row[1:4]).lives(row[4])]
