"""Whether a run is at work in a store, so that nobody cuts the ground from under it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from paragone.errors import InputError
from paragone.store.runs import RunIdentity

CLAIMS = """
SELECT DISTINCT host, pid, process_start, beat FROM claims JOIN runs ON runs.id = run_id
"""


def refuse_while_running(database: sqlite3.Connection, path: Path) -> None:
    """Refuse where a living run has claimed cells."""
    for host, pid, process_start, beat in database.execute(CLAIMS):
        if RunIdentity(host, pid, process_start).lives(beat):
            raise InputError(f"a run is at work in store {str(path)!r} (process {pid} on {host}): let it end first")
