"""Isolation: how far apart the cells of a run are kept, and the processes of a worker that keep them so."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from multiprocessing.util import Finalize
from typing import Literal, Protocol, TypeAlias, get_args
from weakref import WeakSet

from paragone.engine.guard import FreshProcesses
from paragone.engine.hermetic import CellProcesses, surroundings
from paragone.engine.kernel import can_fork
from paragone.engine.limits import Limits
from paragone.engine.losses import Loss
from paragone.engine.orders import Order, Reply
from paragone.engine.packing import PackedTask
from paragone.engine.preloading import Preload
from paragone.errors import unknown_name

NOTHING = Preload()
Isolation: TypeAlias = Literal["cell", "worker", "none"]
"""``cell``: every cell in a process of its own. ``worker``: one process works on many cells, one after another, so that
what a method leaves behind in it can reach the next. ``none``: in the calling process, for debuggers."""


def check_isolation(isolation: str) -> Isolation:
    """Return a kind of isolation, once it is known to be one.

    Examples
    --------
    >>> check_isolation("cell")
    'cell'
    """
    for known in get_args(Isolation):
        if isolation == known:
            found: Isolation = known
            return found
    raise unknown_name("isolation", isolation, get_args(Isolation))


class Worker(Protocol):
    """Where one cell at a time is worked on, in a process that is not this one."""

    @property
    def is_ready(self) -> bool:
        """Whether it can be given a cell without waiting."""

    def start(self) -> None:
        """Get ready; raises BrokenExecutor where that fails."""

    def run(self, order: Order, abandoned: Callable[[], bool] | None = None) -> tuple[Reply, tuple[str, ...]]:
        """Have a cell worked on; return what came of it and the data files that it opened."""

    def kill(self) -> None:
        """End everything that runs here."""


def new_worker(
    isolation: Isolation,
    temporary: Callable[[], str] = tempfile.gettempdir,
    preload: Preload = NOTHING,
) -> Worker:
    """Return a worker of this machine, forking where that can be done.

    Parameters
    ----------
    isolation : {"cell", "worker"}
        Whether every cell gets a process of its own.
    temporary : callable
        Gives the folder in which cells get their temporary ones.
    preload : Preload
        What may be imported and run beforehand, once for all cells.
    """
    one_cell = isolation == "cell"
    if not can_fork():
        return FreshProcesses(one_cell=one_cell)
    return CellProcesses(lambda: surroundings(temporary(), one_cell=one_cell), preload.modules, preload.warm_ups)


class _Workers:
    """The workers of this process, and which of them wait for the next cell of their run."""

    def __init__(self) -> None:
        self._all: WeakSet[Worker] = WeakSet()
        self._waiting: list[tuple[str, Worker]] = []
        self._lock = threading.Lock()

    def take(self, run: str, isolation: Isolation, temporary: str, preload: Preload) -> Worker:
        """Return a worker of this run that waits, or a new one; end those of other runs."""
        with self._lock:
            others = [worker for owner, worker in self._waiting if owner != run]
            own = [entry for entry in self._waiting if entry[0] == run]
            taken = own.pop()[1] if own else new_worker(isolation, lambda: temporary, preload)
            self._all.add(taken)
            self._waiting = own
        for worker in others:
            worker.kill()
        return taken

    def put_back(self, run: str, worker: Worker) -> None:
        with self._lock:
            self._waiting.append((run, worker))

    def end_all(self) -> None:
        for worker in list(self._all):
            worker.kill()

    def end_waiting(self, run: str) -> None:
        with self._lock:
            own = [worker for owner, worker in self._waiting if owner == run]
            self._waiting = [entry for entry in self._waiting if entry[0] != run]
        for worker in own:
            worker.kill()


_WORKERS = _Workers()
# A worker that was itself started by multiprocessing waits for its children before any atexit function runs.
Finalize(None, _WORKERS.end_all, exitpriority=100)


def end_processes(run: str) -> None:
    """End the processes that wait for a cell of a run, since there will be none."""
    _WORKERS.end_waiting(run)


def run_isolated(
    packed: PackedTask,
    limits: Limits,
    run: str,
    abandoned: Callable[[], bool] | None = None,
    *,
    isolation: Isolation = "cell",
    temporary: str = "",
    preload: Preload = NOTHING,
) -> Reply:
    """Run a packed task in a process that is not this one, on behalf of a run.

    Parameters
    ----------
    packed : PackedTask
        The task.
    limits : Limits
        What it may cost.
    run : str
        The run it belongs to; another run gets new processes, since it may bring other code under the same names.
    abandoned : callable, optional
        Asked now and then whether the result is still wanted; where it is not, the process is ended.
    isolation : {"cell", "worker"}
        Whether it gets a process of its own.
    temporary : str
        The folder in which cells get their temporary ones.
    preload : Preload
        What may be imported and run beforehand, once for all cells of the run.

    Returns
    -------
    Outcome, Loss or Refused
        What came of it.
    """
    worker = _WORKERS.take(run, isolation, temporary or tempfile.gettempdir(), preload)
    if not worker.is_ready:
        try:
            worker.start()
        except BrokenExecutor as error:
            worker.kill()
            return Loss(f"its process could not start: {error}")
    ended, _ = worker.run(Order(packed, limits), abandoned)
    _WORKERS.put_back(run, worker)
    return ended
