"""The zygote: a process that imported what cells need, did nothing parallel, and forks the seats.

It is executed, never forked, so that no thread, lock or open file of the calling program is in it.
It imports installed packages only; the user's modules are imported in the cell, so that an edited
one needs no new zygote. Its main thread is its only one: whatever it forks finds every lock free.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from paragone.lab.engine.packing import Surroundings
from paragone.lab.engine.preloading import (
    import_from_source,
    keep_generators_while_importing,
    seed_globals,
)
from paragone.lab.engine.processes import Channel, adopt_orphans, child_processes, collapse_memory
from paragone.lab.engine.seat_process import live_as_seat

LAST_SEATS_SECONDS = 10.0


class Zygote:
    """Answers the requests of whoever executed it.

    Parameters
    ----------
    control : Channel
        Where they come from; at its end the zygote ends too, after its seats.
    """

    def __init__(self, control: Channel) -> None:
        self._control = control
        self._seats: set[int] = set()
        self._woken, waking = socket.socketpair()
        self._woken.setblocking(False)
        waking.setblocking(False)
        signal.signal(signal.SIGCHLD, _heard)
        signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
        self._waking = waking
        adopt_orphans()

    def serve(self) -> None:
        """Fork seats as they are asked for, until nobody can ask any more."""
        poller = select.poll()
        poller.register(self._control.fileno(), select.POLLIN)
        poller.register(self._woken.fileno(), select.POLLIN)
        while True:
            ready = {found for found, _ in poller.poll()}
            if self._woken.fileno() in ready:
                self._clear_wakeups()
                self._bury()
            if self._control.fileno() in ready:
                try:
                    (what, *given), descriptors = self._control.receive()
                except EOFError:
                    self._end()
                    return
                if what == "preload":
                    self._control.send(self._preload(*given))
                else:
                    self._fork(Channel.of_descriptor(descriptors[0]), *given)

    def _preload(self, modules: Sequence[str], warm_ups: Sequence[str]) -> list[str]:
        """Import packages and load compiled code; return the names of the threads that stayed, as none should."""
        for name in modules:
            try:
                importlib.import_module(name)
            except Exception:  # noqa: BLE001, S112  the cell that needs it will say so, with its own traceback
                continue
        for place in warm_ups:
            module, _, function = place.partition(":")
            getattr(importlib.import_module(module), function)()
        # What seeds the generators of the packages just loaded is made ready here, once for all
        # cells.
        seed_globals(0)
        names = [
            thread.name for thread in threading.enumerate() if thread is not threading.main_thread()
        ]
        _settle()
        return names

    def _fork(self, channel: Channel, surroundings: Surroundings) -> None:
        zygote = os.getpid()
        process = os.fork()
        if process == 0:
            try:
                signal.set_wakeup_fd(-1)
                for end in (self._control, self._woken, self._waking):
                    end.close()
                live_as_seat(zygote, channel, surroundings)
            finally:
                os._exit(1)
        self._seats.add(process)
        channel.close()
        self._control.send(process)

    def _bury(self) -> None:
        """Wait for seats that ended; end what cells of a killed seat had started, which came here."""
        while True:
            try:
                process, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not process:
                break
            self._seats.discard(process)
        for orphan in set(child_processes(os.getpid())) - self._seats:
            os.kill(orphan, signal.SIGKILL)

    def _clear_wakeups(self) -> None:
        try:
            while self._woken.recv(1024):
                pass
        except BlockingIOError:
            return

    def _end(self) -> None:
        """Let the seats end what they are at: they see the end of their own channels."""
        signal.alarm(int(LAST_SEATS_SECONDS))
        while self._seats:
            try:
                process, _ = os.waitpid(-1, 0)
            except ChildProcessError:
                return
            self._seats.discard(process)


def _heard(number: int, frame: object) -> None:
    """Nothing: the wake-up descriptor tells the loop."""


def _settle() -> None:
    """Have memory as cheap to fork, and as little to be copied later, as can be."""
    gc.collect()
    gc.freeze()
    collapse_memory()


def _warm_up() -> None:
    """Run a little of what every cell uses, so that no cell has to be the first."""
    seed_globals(0)
    np.linalg.solve(np.eye(3), np.ones(3))


def main(descriptor: int) -> NoReturn:
    """Get ready, say so, and serve."""
    control = Channel.of_descriptor(descriptor)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warm_up()
        import_from_source()
        keep_generators_while_importing()
        zygote = Zygote(control)
        _settle()
    try:
        control.send(os.getpid())
        zygote.serve()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
