"""GuardedProcess: one worker process whose tasks are timed, watched and, when over a limit, ended.

It is what cells run in where no process can be forked (macOS, Windows); on Linux see
`paragone.lab.engine.hermetic`.

The watching is done from outside, by whoever asked for the task: native code that holds the
interpreter cannot stop it, and a task that fills the memory in one allocation is seen within a
fiftieth of a second.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, wait
from typing import Any, TypeVar

from loky import process_executor
from loky.process_executor import ProcessPoolExecutor, ShutdownExecutorError

from paragone.cores import THREAD_VARIABLES
from paragone.lab.cells import Outcome
from paragone.lab.engine.packing import CRASHES, Abandoned, CellOrder, Loss, Reply
from paragone.lab.engine.reading_watch import ReadingWatch
from paragone.lab.engine.resources import Limits, memory_held

WATCH_SECONDS = 0.02
FAMILY_EVERY = 10
ABANDONED_SECONDS = 0.5
KEPT_SHARE = 0.25
Given = TypeVar("Given")


class GuardedProcess:
    """A worker process of its own, computing on one thread, started when it is first needed.

    Parameters
    ----------
    limits : Limits
        What one task may cost. A process that is over is ended, and another one starts for the next
        task.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pool: ProcessPoolExecutor | None = None
        self._process = 0
        self._held_at_start = 0
        self._lock = threading.Lock()

    def warm_up(self) -> Future[Any] | None:
        """Begin to start the process, so that a limit covers the task alone; None where it is there."""
        if self._pool is not None:
            return None
        # The process ends with its parent by itself, so a daemon, such as a Dask worker, may have
        # it as a child.
        multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
        self._pool = ProcessPoolExecutor(
            max_workers=1,
            timeout=None,
            initializer=_begin_worker,
            initargs=(os.getpid(),),
            env=dict.fromkeys(THREAD_VARIABLES, "1"),
        )
        ready: Future[int] = self._pool.submit(_be_ready)
        ready.add_done_callback(self._note_process)
        return ready

    def _note_process(self, ready: Future[int]) -> None:
        if not ready.cancelled() and ready.exception() is None:
            self._process = ready.result()
            self._held_at_start = (
                memory_held(self._process) if self._limits.memory is not None else 0
            )

    def run(
        self,
        function: Callable[..., Given],
        *args: Any,
        abandoned: Callable[[], bool] | None = None,
    ) -> Given | Outcome | Loss:
        """Run a task to its end, or to its limit.

        Parameters
        ----------
        function, *args
            The task; it and what it gives must be picklable.
        abandoned : callable, optional
            Asked twice per second whether the result is still wanted.

        Returns
        -------
        Given, Outcome or Loss
            What the task gave; a timeout or a failure where it went over a limit, and a failure
            where it crashed; a loss where the process was killed.

        Raises
        ------
        Abandoned
            Where nobody wants the result any more; the process was ended.
        """
        pool = self._pool
        if pool is None:
            raise RuntimeError("run before warm_up")
        begun = time.monotonic()
        try:
            future = pool.submit(function, *args)
            over = self._watch(future, begun, abandoned)
            if over is not None:
                self.kill()
                return over
            given: Given = future.result()
        except (BrokenExecutor, ShutdownExecutorError) as error:
            self.kill()
            crash = next((name for name in CRASHES if f"{name}(" in str(error)), None)
            if crash is not None:
                return Outcome(
                    "failed",
                    error=f"crashed its process in native code ({crash})",
                    traceback=str(error),
                )
            return Loss(f"{type(error).__name__}: {error}")
        self._replace_if_swollen()
        return given

    def _watch(
        self, future: Future[Any], begun: float, abandoned: Callable[[], bool] | None
    ) -> Outcome | None:
        """Wait for a task; return what to say of it where it went over a limit."""
        looks = 0
        while True:
            wait([future], timeout=self._patience(begun, abandoned))
            if future.done():
                return None
            seconds = time.monotonic() - begun
            if self._limits.seconds is not None and seconds >= self._limits.seconds:
                return self._limits.out_of_time(seconds)
            if self._limits.memory is not None:
                # Looking for children costs more than looking at one process.
                held = memory_held(self._process, with_children=looks % FAMILY_EVERY == 0)
                if held > self._limits.memory:
                    return self._limits.out_of_memory(held, seconds)
            if abandoned is not None and looks % FAMILY_EVERY == 0 and abandoned():
                self.kill()
                raise Abandoned
            looks += 1

    def _patience(self, begun: float, abandoned: Callable[[], bool] | None) -> float | None:
        waits = [] if abandoned is None else [ABANDONED_SECONDS / FAMILY_EVERY]
        if self._limits.memory is not None:
            waits.append(WATCH_SECONDS)
        if self._limits.seconds is not None:
            waits.append(max(0.0, begun + self._limits.seconds - time.monotonic()))
        return min(waits, default=None)

    def _replace_if_swollen(self) -> None:
        """End a process that keeps much of the limit to itself, so that no task pays for the one before."""
        if self._limits.memory is not None:
            kept = memory_held(self._process) - self._held_at_start
            if kept > KEPT_SHARE * self._limits.memory:
                self.kill()

    def kill(self) -> None:
        """End the process, whatever it is at."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, kill_workers=True)


class FreshProcesses:
    """Works on cells where no process can be forked: each cell in a process that is started for it.

    It has the methods of `paragone.lab.engine.hermetic.CellProcesses`. Starting Python and
    importing the libraries takes a second or two per cell.

    Parameters
    ----------
    one_cell : bool, default=True
        Whether every cell gets a process of its own.
    """

    def __init__(self, *, one_cell: bool = True) -> None:
        self._one_cell = one_cell
        self._process: GuardedProcess | None = None
        self._limits = Limits()

    @property
    def is_ready(self) -> bool:
        """Whether a process waits for a cell."""
        return self._process is not None

    def start(self) -> None:
        """Start a process, so that a time limit covers the cell alone."""
        if self._process is None:
            self._process = GuardedProcess(self._limits)
            warming = self._process.warm_up()
            if warming is not None:
                warming.result()

    def run(
        self, order: CellOrder, abandoned: Callable[[], bool] | None = None
    ) -> tuple[Reply, tuple[str, ...]]:
        """Have a cell worked on to its end, or to its limit."""
        if order.limits != self._limits:
            self.kill()
            self._limits = order.limits
        self.start()
        if self._process is None:
            raise RuntimeError("run before start")
        ended = self._process.run(_work_on, order, abandoned=abandoned)
        if self._one_cell or not isinstance(ended, tuple):
            self.kill()
        return ended if isinstance(ended, tuple) else (ended, ())

    def kill(self) -> None:
        """End the process, whatever it is at."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()


def _work_on(order: CellOrder) -> tuple[Reply, tuple[str, ...]]:
    """Work on a cell in this process."""
    with ReadingWatch(order.watch_files) as watch:
        reply = order.packed.run()
    return reply, watch.seen


def _be_ready() -> int:
    """Import what a task needs, and return the process's id."""
    import paragone.lab.engine.task  # noqa: F401
    from paragone.lab.engine.preloading import keep_generators_while_importing

    keep_generators_while_importing()
    return os.getpid()


def _begin_worker(coordinator: int) -> None:
    # A worker keeps the arrays of its last split; where psutil is installed, loky would take that
    # for a leak, end the worker and warn.
    process_executor._MAX_MEMORY_LEAK_SIZE = sys.maxsize
    # Ctrl-C reaches the whole process group; the coordinator alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with, args=(coordinator,), daemon=True).start()


def end_with(coordinator: int) -> None:
    """End this process when the coordinator is gone, even in the middle of a long task."""
    while os.getppid() == coordinator:
        time.sleep(0.5)
    os._exit(1)
