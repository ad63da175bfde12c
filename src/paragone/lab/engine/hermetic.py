"""Hermetic cells: every cell in a process of its own, forked from a warmed zygote, watched by a seat.

    this process  --executes-->  zygote  --forks-->  seat  --forks-->  cell, cell, cell, ...

What a cell computes depends on its own inputs and seed only, and nothing that it does ends more
than itself. All that is here runs in the process of whoever orders cells: the coordinator of a run,
or a worker of a cluster.
"""

from __future__ import annotations

import atexit
import os
import pickle
import select
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from typing import IO, Any

from paragone.cores import THREAD_VARIABLES
from paragone.lab.cells import Outcome
from paragone.lab.engine.packing import Abandoned, CellOrder, Loss, Reply, Surroundings
from paragone.lab.engine.preloading import Preload
from paragone.lab.engine.processes import Channel, load_plain, read_all
from paragone.lab.engine.task import failure

OF_NATIVE_CODE = (
    "OMP_",
    "OPENBLAS_",
    "MKL_",
    "NUMBA_",
    "LD_",
    "PYTHON",
    "GOTO_",
    "VECLIB_",
    "BLIS_",
    "KMP_",
)
"""Variables that libraries read once, when they are loaded: a zygote cannot be had with others later."""
HASH_SEED = "0"
END_SECONDS = 10.0
ASK_SECONDS = 0.1


class NoSeat(BrokenExecutor):
    """The process that works on cells could not be started."""


class Zygotes:
    """The zygote of this process: started when it is first needed, kept for later runs, ended with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: _RunningZygote | None = None

    def seat(self, surroundings: Surroundings, preload: Preload) -> tuple[Channel, int]:
        """Have a new seat; return the channel to it and its process.

        Parameters
        ----------
        surroundings : Surroundings
            What cells are to find.
        preload : Preload
            What cells will import: importing it once is cheaper.

        Raises
        ------
        NoSeat
            Where none can be started.
        """
        with self._lock:
            if self._running is not None and self._running.fits():
                try:
                    return self._fork(surroundings, preload)
                except (EOFError, OSError):
                    # It was ended from outside, which nobody noticed yet: begin anew, once.
                    pass
            self._end()
            try:
                return self._fork(surroundings, preload)
            except (EOFError, OSError) as error:
                words = "" if self._running is None else self._running.last_words()
                self._end()
                raise NoSeat(f"{type(error).__name__}: {error}{words}") from error

    def _fork(self, surroundings: Surroundings, preload: Preload) -> tuple[Channel, int]:
        if self._running is None:
            self._running = _RunningZygote()
        if not self._running.preload(preload):
            # A package that starts a thread when it is imported must be imported in the cell
            # itself.
            self._end()
            self._running = _RunningZygote()
            self._running.refuse(preload.modules)
        return self._running.fork(surroundings)

    def _end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.close()

    def close(self) -> None:
        """End the zygote, where there is one."""
        with self._lock:
            self._end()


class _RunningZygote:
    def __init__(self) -> None:
        self._owner = os.getpid()
        self._variables = native_variables()
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  open as long as the process
        self._loaded: set[str] = set()
        self._refused: set[str] = set()
        self._control, there = Channel.pair()
        environment = {
            **os.environ,
            **dict.fromkeys(THREAD_VARIABLES, "1"),
            "PYTHONHASHSEED": HASH_SEED,
        }
        # The path of this process, which may have been changed since it began; and not the working
        # folder before all others, where a file may have the name of a module.
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        try:
            self._process = subprocess.Popen(  # noqa: S603
                [
                    sys.executable,
                    *flags,
                    "-P",
                    "-m",
                    "paragone.lab.engine.zygote",
                    str(there.fileno()),
                ],
                pass_fds=[there.fileno()],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                # Ctrl-C reaches the process group of the terminal; the coordinator alone decides
                # what it means.
                process_group=0,
            )
        finally:
            there.close()
        try:
            self._control.receive()
        except EOFError as error:
            self._process.wait()
            raise NoSeat(
                f"a process that only starts Python ended at once{self.last_words()}"
            ) from error

    def fits(self) -> bool:
        """Tell whether this is the zygote that would be started now, and lives."""
        mine = self._owner == os.getpid() and self._variables == native_variables()
        return mine and self._process.poll() is None

    def preload(self, wanted: Preload) -> bool:
        """Have modules imported; False where that left a thread, so that nothing may be forked any more."""
        missing = [name for name in wanted.modules if name not in self._loaded | self._refused]
        cold = [place for place in wanted.warm_ups if place not in self._loaded]
        if not missing and not cold:
            return True
        self._control.send(("preload", missing, cold))
        threads, _ = self._control.receive()
        self._loaded.update(missing, cold)
        return not threads

    def refuse(self, modules: Iterable[str]) -> None:
        """Leave modules to the cells."""
        self._refused.update(modules)

    def fork(self, surroundings: Surroundings) -> tuple[Channel, int]:
        here, there = Channel.pair()
        try:
            self._control.send(("seat", surroundings), [there.fileno()])
            process, _ = self._control.receive()
        finally:
            there.close()
        return here, process

    def last_words(self) -> str:
        """Return the end of what it printed."""
        self._errors.seek(0)
        text = self._errors.read().decode("utf-8", "replace").strip()
        return f"; it said: {text.splitlines()[-1]}" if text else ""

    def close(self) -> None:
        if self._owner == os.getpid():
            self._control.close()
            self._errors.close()
            try:
                self._process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def native_variables() -> dict[str, str]:
    """Return the environment variables that native libraries read when they are loaded, but those set for all cells."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(OF_NATIVE_CODE) and name not in THREAD_VARIABLES
    }


ZYGOTES = Zygotes()
atexit.register(ZYGOTES.close)


def surroundings(temporary: str, *, one_cell: bool = True) -> Surroundings:
    """Describe what this process has around it, for the cells that it orders.

    Parameters
    ----------
    temporary : str
        The folder in which cells get their temporary ones.
    one_cell : bool, default=True
        Whether every cell gets a process of its own.
    """
    environment = {
        **os.environ,
        **dict.fromkeys(THREAD_VARIABLES, "1"),
        "PYTHONHASHSEED": HASH_SEED,
    }
    return Surroundings(environment, os.getcwd(), tuple(sys.path), temporary, one_cell)


class CellProcesses:
    """A seat and the processes of its cells, one at a time.

    Parameters
    ----------
    place : callable
        Gives the surroundings of the cells, when the seat is started.
    preload : Preload
        What the zygote may import and run beforehand.
    """

    def __init__(self, place: Callable[[], Surroundings], preload: Preload) -> None:
        self._place = place
        self._preload = preload
        self._lock = threading.Lock()
        self._seat: _Connection | None = None

    @property
    def is_ready(self) -> bool:
        """Whether the seat is there."""
        return self._seat is not None

    def start(self) -> None:
        """Start the seat.

        Raises
        ------
        NoSeat
            Where it cannot be started.
        """
        if self._seat is None:
            self._seat = _Connection(*ZYGOTES.seat(self._place(), self._preload))

    def run(
        self, order: CellOrder, abandoned: Callable[[], bool] | None = None
    ) -> tuple[Reply, tuple[str, ...]]:
        """Have a cell worked on to its end, or to its limit.

        Parameters
        ----------
        order : CellOrder
            The cell.
        abandoned : callable, optional
            Asked now and then whether the result is still wanted.

        Returns
        -------
        Outcome, Loss or Refused
            What came of it; a loss where a process was ended from outside.
        tuple of str
            The data files that it opened, where that was asked for.

        Raises
        ------
        Abandoned
            Where nobody wants the result any more; the cell was ended.
        """
        seat = self._seat
        if seat is None:
            raise RuntimeError("run before start")
        try:
            return seat.order(order, abandoned)
        except (EOFError, OSError) as error:
            self.kill()
            return Loss(f"its process was ended from outside ({error})"), ()
        except Abandoned:
            self.kill()
            raise

    def kill(self) -> None:
        """End the seat and its cell, whatever it is at."""
        with self._lock:
            seat, self._seat = self._seat, None
        if seat is not None:
            seat.hang_up()


class _Connection:
    def __init__(self, channel: Channel, process: int) -> None:
        self.process = process
        self._channel = channel
        self._talking = threading.Lock()

    def order(
        self, order: CellOrder, abandoned: Callable[[], bool] | None
    ) -> tuple[Reply, tuple[str, ...]]:
        with self._talking:
            self._channel.send(order)
            while (
                abandoned is not None and not select.select([self._channel], [], [], ASK_SECONDS)[0]
            ):
                if abandoned():
                    raise Abandoned
            reply, descriptors = self._channel.receive()
        if not descriptors:
            return reply, ()
        size, checksum, output = reply
        return _opened(read_all(descriptors[0]), size, checksum, output)

    def hang_up(self) -> None:
        """End the seat by ending the talk; wait until it has ended everything below it."""
        self._channel.end_sending()
        with self._talking:
            self._channel.wait_for_end(END_SECONDS)
            self._channel.close()


def _opened(body: bytes, size: int, checksum: int, output: str) -> tuple[Reply, tuple[str, ...]]:
    """Read the result of a cell, which may be anything: the method was in the same process."""
    if len(body) != size or zlib.crc32(body) != checksum:
        return (
            Outcome(
                "failed",
                error=(
                    "its result was damaged on the way: the method wrote into files it had not"
                    " opened"
                ),
            ),
            (),
        )
    try:
        result: Any = load_plain(body)
        ended, opened = result
    except (pickle.UnpicklingError, ValueError, TypeError, AttributeError, EOFError) as error:
        return replace(failure(error, "its result cannot be kept: "), output=output), ()
    return replace(ended, output=output) if isinstance(ended, Outcome) else ended, opened
