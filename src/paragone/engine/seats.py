"""Seats: places where one task at a time is worked on, and the workplaces that have them.

At a local seat every cell is a process of its own. When a method hangs, its cell alone is ended; when the system kills
a process, the seat knows whose cell it was: nobody else's work is lost and nothing needs guessing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

from typing_extensions import override

from paragone.cells import Outcome
from paragone.engine.isolation import NOTHING, Isolation, Worker, new_worker
from paragone.engine.limits import Limits
from paragone.engine.losses import Loss
from paragone.engine.orders import Order
from paragone.engine.packing import PackedTask, Refused
from paragone.engine.preloading import Preload
from paragone.engine.spool import LockedFolder
from paragone.engine.task import Task, run_task
from paragone.errors import InputError

Ended: TypeAlias = Outcome | Loss
Following: TypeAlias = Future[Any]


class Seat(ABC):
    """A place for one task at a time."""

    def warm_up(self) -> Future[Any] | None:
        """Begin to get ready, so that a cell's time limit covers the cell alone; None where it is ready."""
        return None

    @abstractmethod
    def submit(self, task: Task) -> Future[Any]:
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
    def submit(self, task: Task) -> Future[Any]:
        future: Future[Outcome] = Future()
        future.set_result(run_task(task))
        return future


class ProcessSeat(Seat):
    """A worker, and the thread that waits for it."""

    def __init__(self, worker: Worker, limits: Limits, import_paths: tuple[str, ...] = ()) -> None:
        self._worker = worker
        self._limits = limits
        self._import_paths = import_paths
        self._waiting = ThreadPoolExecutor(1, thread_name_prefix="paragone-seat")

    @override
    def warm_up(self) -> Future[Any] | None:
        return None if self._worker.is_ready else self._waiting.submit(self._worker.start)

    @override
    def submit(self, task: Task) -> Future[Any]:
        order = Order(PackedTask.of(task, self._import_paths), self._limits)
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
    limits : Limits
        What a cell may cost.
    import_paths : tuple of str
        Where the user's modules are.
    isolation : {"cell", "worker"}, default="cell"
        Whether every cell gets a process of its own.
    preload : Preload
        What may be imported and run beforehand, once for all cells.
    """

    can_end = True
    shares_disk = True

    def __init__(
        self,
        n_workers: int,
        limits: Limits,
        import_paths: tuple[str, ...] = (),
        *,
        isolation: Isolation = "cell",
        preload: Preload = NOTHING,
    ) -> None:
        self._n_workers = n_workers
        self._limits = limits
        self._import_paths = import_paths
        self.isolation = isolation
        self._preload = preload
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
        worker = new_worker(self.isolation, lambda: folder, self._preload)
        seat = ProcessSeat(worker, self._limits, self._import_paths)
        self._seats.append(seat)
        return seat

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
