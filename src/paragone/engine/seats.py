"""Seats: places where one task at a time is worked on.

A local seat is a process of its own. When a method hangs, its seat alone is killed; when the system kills a
process, the seat knows whose cell it was: nobody else's work is lost and nothing needs guessing.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from concurrent.futures import BrokenExecutor, Executor, Future

from loky import process_executor
from loky.process_executor import ProcessPoolExecutor
from typing_extensions import override

from paragone.cells import Outcome
from paragone.engine.task import Task, be_ready, run_task

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "BLIS_NUM_THREADS",
)


class Seat(ABC):
    """A place for one task at a time."""

    can_kill = False

    def warm_up(self) -> Future[None] | None:
        """Begin to get ready, so that a cell's time limit covers the cell alone; None where it is ready."""
        return None

    @abstractmethod
    def submit(self, task: Task) -> Future[Outcome]:
        """Begin a task."""

    def collect(self, future: Future[Outcome]) -> Outcome:
        """Return what came of a finished task."""
        return future.result()

    def kill(self) -> None:  # noqa: B027  only places of one's own can be killed
        """End what runs here at once, and be ready for the next task."""

    def close(self) -> None:
        """Give the place up."""
        self.kill()


class InProcessSeat(Seat):
    """Works in the calling process: for debugging and for very small runs."""

    @override
    def submit(self, task: Task) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        future.set_result(run_task(task))
        return future


class SharedSeat(Seat):
    """A place on an executor that somebody else owns."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    @override
    def submit(self, task: Task) -> Future[Outcome]:
        return self._executor.submit(run_task, task)


class ProcessSeat(Seat):
    """A worker process of its own, computing on one thread."""

    can_kill = True

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    @override
    def warm_up(self) -> Future[None] | None:
        if self._pool is not None:
            return None
        self._pool = ProcessPoolExecutor(
            max_workers=1,
            timeout=None,
            initializer=_begin_worker,
            initargs=(os.getpid(),),
            env=dict.fromkeys(THREAD_VARIABLES, "1"),
        )
        future: Future[None] = self._pool.submit(be_ready)
        return future

    @override
    def submit(self, task: Task) -> Future[Outcome]:
        if self._pool is None:
            raise RuntimeError("submit before warm_up")
        future: Future[Outcome] = self._pool.submit(run_task, task)
        return future

    @override
    def collect(self, future: Future[Outcome]) -> Outcome:
        try:
            return future.result()
        except BrokenExecutor as error:
            self.kill()
            return Outcome(
                "failed",
                error="the worker process died, as when the system runs out of memory",
                traceback=f"{type(error).__name__}: {error}",
            )

    @override
    def kill(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, kill_workers=True)
            self._pool = None


def _begin_worker(coordinator: int) -> None:
    # A worker keeps the arrays of its last split; where psutil is installed, loky would take that for a leak,
    # end the worker and warn.
    process_executor._MAX_MEMORY_LEAK_SIZE = sys.maxsize
    # Ctrl-C reaches the whole process group; the coordinator alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(coordinator,), daemon=True).start()


def _end_with(coordinator: int) -> None:
    """End this process when the coordinator is gone, even in the middle of a long task."""
    while os.getppid() == coordinator:
        time.sleep(0.5)
    os._exit(1)
