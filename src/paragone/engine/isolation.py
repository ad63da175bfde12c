"""Isolation: a worker of some executor runs a cell in a process of its own, which it can time, watch and end.

The processes of a run are kept between its cells. Another run gets new ones: it may bring other code under the same
names.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from multiprocessing.util import Finalize
from weakref import WeakSet

from paragone.cells import Outcome
from paragone.engine.guard import GuardedProcess, Loss
from paragone.engine.limits import Limits
from paragone.engine.packing import PackedTask, Refused, run_packed


class _Processes:
    """The processes of this worker, and which of them wait for the next cell of their run."""

    def __init__(self) -> None:
        self._all: WeakSet[GuardedProcess] = WeakSet()
        self._waiting: list[tuple[str, GuardedProcess]] = []
        self._lock = threading.Lock()

    def take(self, run: str, limits: Limits) -> GuardedProcess:
        """Return a process of this run that waits, or a new one; end those of other runs."""
        with self._lock:
            others = [process for owner, process in self._waiting if owner != run]
            own = [entry for entry in self._waiting if entry[0] == run]
            taken = own.pop()[1] if own else GuardedProcess(limits)
            self._all.add(taken)
            self._waiting = own
        for process in others:
            process.kill()
        return taken

    def put_back(self, run: str, process: GuardedProcess) -> None:
        with self._lock:
            self._waiting.append((run, process))

    def end_all(self) -> None:
        for process in list(self._all):
            process.kill()

    def end_waiting(self, run: str) -> None:
        with self._lock:
            own = [process for owner, process in self._waiting if owner == run]
            self._waiting = [entry for entry in self._waiting if entry[0] != run]
        for process in own:
            process.kill()


_PROCESSES = _Processes()
# A worker that was itself started by multiprocessing waits for its children before any atexit function runs.
Finalize(None, _PROCESSES.end_all, exitpriority=100)


def end_processes(run: str) -> None:
    """End the processes that wait for a cell of a run, since there will be none."""
    _PROCESSES.end_waiting(run)


def run_isolated(
    packed: PackedTask, limits: Limits, run: str, abandoned: Callable[[], bool] | None = None
) -> Outcome | Loss | Refused:
    """Run a packed task in a process of its own.

    Parameters
    ----------
    packed : PackedTask
        The task.
    limits : Limits
        What it may cost.
    run : str
        The run it belongs to.
    abandoned : callable, optional
        Asked now and then whether the result is still wanted; where it is not, the process is ended.

    Returns
    -------
    Outcome, Loss or Refused
        What came of it.
    """
    process = _PROCESSES.take(run, limits)
    warming = process.warm_up()
    if warming is not None and isinstance(warming.exception(), BrokenExecutor):
        process.kill()
        return Loss("its process could not start")
    ended = process.run(run_packed, packed, abandoned=abandoned)
    _PROCESSES.put_back(run, process)
    return ended
