"""Runs: who is running, and whether it still lives."""

from __future__ import annotations

import os
import platform
import socket
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from paragone.errors import InputError

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
