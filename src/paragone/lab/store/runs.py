"""Runs: who is running, and whether it still lives."""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from paragone.errors import InputError
from paragone.machine import process_start, process_table

BEAT_SECONDS = 5.0
LISTEN_SECONDS = 0.5
DEAD_AFTER_SECONDS = 60.0
MOST_BETWEEN_LOOKS = 2 * BEAT_SECONDS
"""How much time between two looks counts as silence: whoever looks may itself have slept, or waited for a disk."""


@dataclass(frozen=True)
class RunIdentity:
    """A coordinating process: host, process id, and when that process began in which process table.

    Ids are used again, by later processes, after a restart, and at the same time in every
    container.
    """

    host: str
    pid: int
    process_start: str

    @classmethod
    def of_this_process(cls) -> RunIdentity:
        """Describe the process this is called in."""
        began = f"{process_start(os.getpid())} {process_table()}"
        return cls(socket.gethostname(), os.getpid(), began.strip())

    @property
    def is_elsewhere(self) -> bool:
        """Whether the process table of this process says nothing about it."""
        _, _, table = self.process_start.partition(" ")
        return self.host != socket.gethostname() or not table or table != process_table()

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
        return process_start(self.pid) == self.process_start.partition(" ")[0]


class Watch:
    """Tells dead runs from living ones without trusting anybody's clock.

    A run on another host is dead when its heartbeat stood still for a minute of this process's own
    time. So nobody takes cells away from a run whose clock was set back, and the claims of a dead
    one do not last. Time counts only as far as somebody looked: after a sleep of this machine, the
    other one is given its minute anew.

    Examples
    --------
    >>> seconds = iter([0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0])
    >>> watch = Watch(now=lambda: next(seconds))
    >>> elsewhere = RunIdentity("another host", 17, "")
    >>> [watch.lives(1, elsewhere, beat) for beat in (5e9, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0)]
    [True, True, True, True, True, True, True, False]
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._heard: dict[int, tuple[float, float, float]] = {}

    def lives(self, run: int, identity: RunIdentity, beat: float) -> bool:
        """Tell whether a run still lives, given the heartbeat that stands in the store now."""
        if not identity.is_elsewhere:
            return identity.lives(beat)
        now = self._now()
        last, looked, silent = self._heard.get(run, (None, now, 0.0))
        silent = silent + min(now - looked, MOST_BETWEEN_LOOKS) if last == beat else 0.0
        self._heard[run] = (beat, now, silent)
        return silent < DEAD_AFTER_SECONDS


CLAIMS = """
SELECT DISTINCT runs.id, host, pid, process_start, beat FROM claims JOIN runs ON runs.id = run_id
"""


def refuse_while_running(database: sqlite3.Connection, path: Path) -> None:
    """Refuse where a living run has claimed cells; one elsewhere is listened to before it counts as dead."""
    quiet: dict[int, float] = {}
    for run, host, pid, began, beat in database.execute(CLAIMS).fetchall():
        identity = RunIdentity(host, pid, began)
        if identity.lives(beat):
            raise _at_work(path, identity)
        if identity.is_elsewhere:
            quiet[run] = beat
    # By the clocks it is dead, but those may have been set: a living one is heard within two beats.
    deadline = time.monotonic() + MOST_BETWEEN_LOOKS
    while quiet and time.monotonic() < deadline:
        time.sleep(LISTEN_SECONDS)
        for run, host, pid, began, beat in database.execute(CLAIMS).fetchall():
            if quiet.get(run, beat) != beat:
                raise _at_work(path, RunIdentity(host, pid, began))


def _at_work(path: Path, run: RunIdentity) -> InputError:
    return InputError(
        f"a run is at work in store {str(path)!r} (process {run.pid} on {run.host}): let it end"
        " first"
    )


def this_moment() -> str:
    """Return the time of day in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
