"""Who is running: a run's identity, and whether it still lives."""

from __future__ import annotations

import os
import platform
import socket
import time
from dataclasses import dataclass
from pathlib import Path

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

    def lives(self, beat: float) -> bool:
        """Tell whether the process is still there: by the process table here, by its heartbeat elsewhere."""
        if self.host != socket.gethostname() or platform.system() == "Windows":
            return time.time() - beat < DEAD_AFTER_SECONDS
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return _process_start(self.pid) == self.process_start


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
