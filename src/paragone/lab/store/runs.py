"""Runs: who is running, whether it still lives, which cells it has claimed, and which workers it lost."""

from __future__ import annotations

import json
import os
import platform
import socket
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.lab.store.queries import Readable, has_table

BEAT_SECONDS = 5.0
DEAD_AFTER_SECONDS = 60.0


@dataclass(frozen=True)
class RunIdentity:
    """A coordinating process: host, process id, and when that process began, for ids are used again."""

    host: str
    pid: int
    process_start: str

    @classmethod
    def of_this_process(cls) -> RunIdentity:
        """Describe the process this is called in."""
        return cls(socket.gethostname(), os.getpid(), _process_start(os.getpid()))

    @property
    def is_elsewhere(self) -> bool:
        """Whether the process table of this host says nothing about it."""
        return self.host != socket.gethostname() or platform.system() == "Windows"

    def lives(self, beat: float) -> bool:
        """Tell whether the process is still there: by the process table here, by its heartbeat elsewhere.

        A heartbeat from the future says as little as one from long ago: one of the clocks is wrong.
        """
        if self.is_elsewhere:
            return abs(time.time() - beat) < DEAD_AFTER_SECONDS
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return _process_start(self.pid) == self.process_start


class Watch:
    """Tells dead runs from living ones without trusting anybody's clock.

    A run on another host is dead when its heartbeat stood still for a minute of this process's own time. So nobody
    takes cells away from a run whose clock was set back, and the claims of a dead one do not last.

    Examples
    --------
    >>> seconds = iter([0.0, 30.0, 50.0, 110.0])
    >>> watch = Watch(now=lambda: next(seconds))
    >>> elsewhere = RunIdentity("another host", 17, "")
    >>> [watch.lives(1, elsewhere, beat) for beat in (5e9, 7.0, 7.0, 7.0)]
    [True, True, True, False]
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._heard: dict[int, tuple[float, float]] = {}

    def lives(self, run: int, identity: RunIdentity, beat: float) -> bool:
        """Tell whether a run still lives, given the heartbeat that stands in the store now."""
        if not identity.is_elsewhere:
            return identity.lives(beat)
        now = self._now()
        last, since = self._heard.get(run, (None, now))
        if last != beat:
            since = now
        self._heard[run] = (beat, since)
        return now - since < DEAD_AFTER_SECONDS


def _process_start(pid: int) -> str:
    """Return when a process began, in the kernel's ticks; empty where the system does not tell."""
    if platform.system() != "Linux":
        return ""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "gone"
    state_onwards = stat.rpartition(")")[2].split()
    return "gone" if state_onwards[0] == "Z" else state_onwards[19]


@dataclass(frozen=True)
class LostWorker:
    """A worker that died: in which run, at which cell, what is known of it, and when."""

    run: int
    key: str
    why: str
    lost_at: str


def write_loss(db: sqlite3.Connection, run: int, key: str, why: str, now: str) -> None:
    """Add a loss; within a transaction of the caller's."""
    db.execute("INSERT INTO losses (run_id, key, why, lost_at) VALUES (?, ?, ?, ?)", (run, key, why, now))


def read_losses(store: Readable) -> list[LostWorker]:
    """Return all losses, in order of time."""
    if not has_table(store, "losses"):
        return []
    return [LostWorker(*row) for row in store.read("SELECT run_id, key, why, lost_at FROM losses ORDER BY id")]


CLAIMS = """
SELECT DISTINCT host, pid, process_start, beat FROM claims JOIN runs ON runs.id = run_id
"""


def refuse_while_running(database: sqlite3.Connection, path: Path) -> None:
    """Refuse where a living run has claimed cells."""
    for host, pid, process_start, beat in database.execute(CLAIMS):
        if RunIdentity(host, pid, process_start).lives(beat):
            raise InputError(f"a run is at work in store {str(path)!r} (process {pid} on {host}): let it end first")


def this_moment() -> str:
    """Return the time of day in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


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
    return [row[0] for row in store.read(CLAIMED) if RunIdentity(*row[1:4]).lives(row[4])]
