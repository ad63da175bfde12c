"""Workers and seats: where cells are worked on, and how far apart they are kept."""

from __future__ import annotations

import math
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.util import Finalize
from typing import Any, Literal, Protocol, TypeAlias, get_args
from weakref import WeakSet

from typing_extensions import override

from paragone.errors import InputError, unknown_name
from paragone.lab.cells import Outcome
from paragone.lab.engine.guard import FreshProcesses
from paragone.lab.engine.hermetic import CellProcesses, surroundings
from paragone.lab.engine.packing import CellOrder, Loss, PackedTask, Refused, Reply
from paragone.lab.engine.preloading import Preload
from paragone.lab.engine.processes import can_fork
from paragone.lab.engine.resources import Limits
from paragone.lab.engine.spool import LockedFolder
from paragone.lab.engine.task import CellTask, run_task

NOTHING, NO_LIMITS = Preload(), Limits()
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


@dataclass(frozen=True)
class Conditions:
    """Under which conditions the cells of a run are worked on, wherever that is.

    Parameters
    ----------
    limits : Limits
        What a cell may cost.
    import_paths : tuple of str
        Where the user's modules are.
    isolation : {"cell", "worker", "none"}
        How far cells are kept from each other.
    preload : Preload
        What may be imported and run beforehand, once for all cells.
    """

    limits: Limits = NO_LIMITS
    import_paths: tuple[str, ...] = ()
    isolation: Isolation = "cell"
    preload: Preload = NOTHING


class Worker(Protocol):
    """Where one cell at a time is worked on, in a process that is not this one."""

    @property
    def is_ready(self) -> bool:
        """Whether it can be given a cell without waiting."""

    def start(self) -> None:
        """Get ready; raises BrokenExecutor where that fails."""

    def run(
        self, order: CellOrder, abandoned: Callable[[], bool] | None = None
    ) -> tuple[Reply, tuple[str, ...]]:
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
    return CellProcesses(lambda: surroundings(temporary(), one_cell=one_cell), preload)


class _Workers:
    """The workers of this process, and which of them wait for the next cell of their run."""

    def __init__(self) -> None:
        self._all: WeakSet[Worker] = WeakSet()
        self._waiting: list[tuple[str, Worker]] = []
        self._lock = threading.Lock()

    def take(self, run: str, conditions: Conditions, temporary: str) -> Worker:
        """Return a worker of this run that waits, or a new one; end those of other runs."""
        with self._lock:
            # A worker of another run may hold other code under the same names.
            others = [worker for owner, worker in self._waiting if owner != run]
            own = [entry for entry in self._waiting if entry[0] == run]
            taken = (
                own.pop()[1]
                if own
                else new_worker(conditions.isolation, lambda: temporary, conditions.preload)
            )
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
# A worker that was itself started by multiprocessing waits for its children before any atexit
# function runs.
Finalize(None, _WORKERS.end_all, exitpriority=100)


def end_processes(run: str) -> None:
    """End the processes that wait for a cell of a run, since there will be none."""
    _WORKERS.end_waiting(run)


def run_isolated(
    packed: PackedTask,
    conditions: Conditions,
    run: str,
    abandoned: Callable[[], bool] | None = None,
    *,
    temporary: str = "",
) -> Reply:
    """Run a packed task in a process that is not this one, on behalf of a run.

    Parameters
    ----------
    packed : PackedTask
        The task.
    conditions : Conditions
        Of the run.
    run : str
        The run it belongs to; another run gets new processes, since it may bring other code under
        the same names.
    abandoned : callable, optional
        Asked now and then whether the result is still wanted; where it is not, the process is
        ended.
    temporary : str
        The folder in which cells get their temporary ones.

    Returns
    -------
    Outcome, Loss or Refused
        What came of it.
    """
    worker = _WORKERS.take(run, conditions, temporary or tempfile.gettempdir())
    if not worker.is_ready:
        try:
            worker.start()
        except BrokenExecutor as error:
            worker.kill()
            return Loss(f"its process could not start: {error}")
    ended, _ = worker.run(CellOrder(packed, conditions.limits), abandoned)
    _WORKERS.put_back(run, worker)
    return ended


Ended: TypeAlias = Outcome | Loss
Following: TypeAlias = Future[Any]


class Seat(ABC):
    """A place for one task at a time."""

    def warm_up(self) -> Future[Any] | None:
        """Begin to get ready, so that a cell's time limit covers the cell alone; None where it is ready."""
        return None

    @abstractmethod
    def submit(self, task: CellTask) -> Future[Any]:
        """Begin a task."""

    def collect(self, future: Future[Any]) -> Ended | Following:
        """Return what came of a task, or another future to wait for where it is not at its end yet."""
        return accepted(future.result())

    def end(self) -> bool:
        """End what runs here at once; False where that is not in this seat's power."""
        return False


class Workplace(ABC):
    """Where the cells of a run are worked on: how many seats there are now, and what they can do."""

    can_end = False
    shares_disk = False
    look_seconds: float | None = None
    longest = math.inf
    """How many seconds a cell may take at most, so that it is of use to begin it."""
    isolation: Isolation = "cell"

    @abstractmethod
    def size(self, seconds: float | None = None) -> int:
        """Return how many cells may be in flight now, given how long one takes, where that is known."""

    def at_once(self) -> int:
        """Return how many cells are worked on at the same time."""
        return self.size()

    @abstractmethod
    def new_seat(self) -> Seat:
        """Make one more seat."""

    @abstractmethod
    def described(self) -> str:
        """Say in a few words where this is, for the run's record."""

    def lost(self) -> list[tuple[Future[Any], Loss]]:
        """Return the cells whose worker was lost since the last call though another one has them by now."""
        return []

    def news(self) -> list[str]:
        """Return what there is to tell the user since the last call."""
        return []

    def close(self) -> None:  # noqa: B027  most have nothing to give up
        """Give everything up."""


def accepted(reply: Outcome | Loss | Refused) -> Ended:
    """Return what came of a task; a worker that refused it is a mistake in its installation."""
    if isinstance(reply, Refused):
        raise InputError(f"a worker cannot run the cells: {reply.sentence}")
    return reply


class InProcessSeat(Seat):
    """Works in the calling process: for debugging and for very small runs."""

    @override
    def submit(self, task: CellTask) -> Future[Any]:
        future: Future[Outcome] = Future()
        future.set_result(run_task(task))
        return future


class ProcessSeat(Seat):
    """A worker, and the thread that waits for it."""

    def __init__(self, worker: Worker, conditions: Conditions) -> None:
        self._worker = worker
        self._conditions = conditions
        self._waiting = ThreadPoolExecutor(1, thread_name_prefix="paragone-seat")

    @override
    def warm_up(self) -> Future[Any] | None:
        return None if self._worker.is_ready else self._waiting.submit(self._worker.start)

    @override
    def submit(self, task: CellTask) -> Future[Any]:
        order = CellOrder(
            PackedTask.of(task, self._conditions.import_paths), self._conditions.limits
        )
        return self._waiting.submit(lambda: self._worker.run(order)[0])

    @override
    def end(self) -> bool:
        self._worker.kill()
        return True

    def close(self) -> None:
        """Give the place up."""
        self._worker.kill()
        self._waiting.shutdown(wait=True)


class ThisProcess(Workplace):
    """The calling process, one cell after another, so that a debugger can follow; nothing keeps the cells apart."""

    shares_disk = True
    isolation = "none"

    @override
    def size(self, seconds: float | None = None) -> int:
        return 1

    @override
    def new_seat(self) -> Seat:
        return InProcessSeat()

    @override
    def described(self) -> str:
        return "this process"


class LocalProcesses(Workplace):
    """So many cells at a time on this machine, in processes that are not this one.

    Parameters
    ----------
    n_workers : int
        How many.
    conditions : Conditions
        Of the run.
    adapts : bool, default=False
        Whether there may be fewer, where memory is short; nobody has asked for this very number
        then.
    """

    can_end = True
    shares_disk = True

    def __init__(self, n_workers: int, conditions: Conditions, *, adapts: bool = False) -> None:
        self._n_workers = n_workers
        self.adapts = adapts
        self._conditions = conditions
        self.isolation = conditions.isolation
        self._folder: LockedFolder | None = None
        self._seats: list[ProcessSeat] = []

    @override
    def size(self, seconds: float | None = None) -> int:
        return self._n_workers

    @override
    def new_seat(self) -> Seat:
        if self._folder is None:
            self._folder = LockedFolder()
        folder = str(self._folder.path)
        worker = new_worker(self.isolation, lambda: folder, self._conditions.preload)
        seat = ProcessSeat(worker, self._conditions)
        self._seats.append(seat)
        return seat

    def use_fewer(self, n_workers: int) -> None:
        """Work on no more cells at a time than this."""
        self._n_workers = min(self._n_workers, n_workers)

    @override
    def described(self) -> str:
        return "processes of this machine"

    @override
    def close(self) -> None:
        for seat in self._seats:
            seat.close()
        if self._folder is not None:
            self._folder.remove()
            self._folder = None
