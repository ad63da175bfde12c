"""The process of a seat: has one cell at a time worked on in a child, watches it, and leaves nothing of it behind.

It is forked from the zygote and runs nothing of the user's, so that it cannot hang or grow. All
descendants of a cell whose parents end become its children, which is how it finds and ends them.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import tempfile
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NoReturn

from paragone.lab.cells import Outcome
from paragone.lab.engine.cell_process import (
    begin_cell_process,
    close_foreign_descriptors,
    work_on_all,
    work_once,
)
from paragone.lab.engine.laid_split import LaidSplit, lay_out_split
from paragone.lab.engine.memory_forecast import killed_for_memory
from paragone.lab.engine.packing import CRASHES, FOR_MEMORY, CellOrder, Loss, Surroundings
from paragone.lab.engine.processes import (
    KIB,
    Channel,
    adopt_orphans,
    child_processes,
    end_with_parent,
    memory_figures,
)
from paragone.lab.engine.resources import Limits, format_size, memory_held
from paragone.lab.engine.task import MOST_OF_A_TRACEBACK, SplitReference, clean_text, failure

WATCH_SECONDS = 0.02
"""How often a cell with a memory limit is looked at; one allocation of gigabytes takes longer."""
LAST_WORDS_SECONDS = 0.1
"""How long a cell that is over its time may take to print where it was."""
LINGERING_SECONDS = 2.0
"""How long a cell that has delivered may take to end."""
ORPHANS_SECONDS = 5.0
MOST_OF_AN_OUTPUT = 1 << 16
PIECE = 1 << 16


def live_as_seat(zygote: int, channel: Channel, surroundings: Surroundings) -> NoReturn:
    """Work off orders until the other end of the channel is closed; then end, with everything below."""
    code = 1
    try:
        end_with_parent(zygote)
        adopt_orphans()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _Seat(channel, surroundings).serve()
        code = 0
    finally:
        os._exit(code)


class Dismissed(Exception):  # noqa: N818  a state, not a mistake
    """Nobody is at the other end any more."""


class _Output:
    """What a cell printed: its beginning and its end, and how much was left out between."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._head = bytearray()
        self._tail = bytearray()
        self._length = 0

    def drain(self) -> bool:
        """Read what there is; False at the end. Never stop reading: a full pipe would stop the cell."""
        try:
            piece = os.read(self._descriptor, PIECE)
        except BlockingIOError:
            return False
        self._length += len(piece)
        room = MOST_OF_AN_OUTPUT // 2 - len(self._head)
        self._head += piece[:room]
        self._tail = (self._tail + piece[room:])[-MOST_OF_AN_OUTPUT // 2 :]
        return bool(piece)

    def take(self) -> str:
        """Return the text, and begin anew."""
        text = self.text
        self._head.clear()
        self._tail.clear()
        self._length = 0
        return text

    @property
    def text(self) -> str:
        """What there is so far."""
        left_out = self._length - len(self._head) - len(self._tail)
        between = f"\n[{left_out} bytes left out]\n".encode() if left_out else b""
        return clean_text(
            (bytes(self._head) + between + bytes(self._tail)).decode("utf-8", "backslashreplace")
        )


@dataclass
class _Child:
    """A process that works on a cell, with all that belongs to it."""

    process: int
    handle: int
    channel: Channel
    output: _Output
    pipe: int
    temporary: str
    held_at_start: int
    kills_before: int
    shared_by: tuple[str, ...] | None


@dataclass(frozen=True)
class _Ending:
    """How the watching of a cell ended: with a result, over a limit, or with the end of its process."""

    size_and_checksum: tuple[int, int] | None = None
    descriptor: int = -1
    over: Outcome | None = None


class _Seat:
    def __init__(self, channel: Channel, surroundings: Surroundings) -> None:
        self._channel = channel
        self._surroundings = surroundings
        self._laid: tuple[tuple[str, ...], LaidSplit] | None = None
        self._child: _Child | None = None

    def serve(self) -> None:
        while True:
            try:
                order, _ = self._channel.receive()
            except EOFError:
                self._end_child()
                return
            try:
                self._work(order)
            except Dismissed:
                self._end_child()
                return

    def _work(self, order: CellOrder) -> None:
        begun = time.monotonic()
        try:
            laid = self._lay_out(order.packed.split)
        except Exception as error:  # noqa: BLE001  whatever is wrong with the data must not cost the seat
            self._channel.send(failure(error, "the data could not be laid out: "))
            return
        if self._child is not None and self._child.shared_by != self._shared_by(order):
            self._end_child()
        if self._child is None:
            self._child = self._fork(order, laid)
        if self._child.shared_by is not None:
            # Where it died since its last cell, whoever watches it below will see that.
            with suppress(OSError):
                self._child.channel.send((order, laid), [laid.descriptor])
        ending = self._watch(self._child, order.limits, begun, laid.size)
        self._tell(ending, begun)

    def _shared_by(self, order: CellOrder) -> tuple[str, ...] | None:
        """Return what the cells of one process have in common; None where a process has one cell only."""
        if not self._surroundings.one_cell:
            return ()
        split = order.packed.split
        return (order.packed.group, split.folder, split.fingerprint) if order.packed.group else None

    def _lay_out(self, reference: SplitReference) -> LaidSplit:
        """Return the split of a cell; neighbouring cells share it, so the last one is kept."""
        identity = reference.folder, reference.fingerprint, reference.scale
        if self._laid is None or self._laid[0] != identity:
            if self._laid is not None:
                self._laid[1].close()
                self._laid = None
            self._laid = identity, lay_out_split(reference)
        return self._laid[1]

    def _fork(self, order: CellOrder, laid: LaidSplit) -> _Child:
        here, there = Channel.pair()
        reading, writing = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(reading, False)
        temporary = tempfile.mkdtemp(prefix="cell-", dir=self._surroundings.temporary)
        seat = os.getpid()
        # The fork starts with the seat's own pages, which are not the method's doing.
        held = memory_figures().get("RssAnon", 0)
        shared_by = self._shared_by(order)
        kills = killed_for_memory()
        process = os.fork()
        if process == 0:
            try:
                own = begin_cell_process(seat, self._surroundings, temporary, writing, there)
                close_foreign_descriptors(own.fileno(), laid.descriptor)
                if shared_by is None:
                    work_once(order, laid, own)
                work_on_all(own)
            except BaseException:  # noqa: BLE001  nothing may escape into the seat's own code, which goes on elsewhere
                traceback.print_exc()
            finally:
                os._exit(1)
        os.close(writing)
        there.close()
        # A descriptor and not the number, which the system may give to another process once this
        # one has ended.
        handle = os.pidfd_open(process)
        return _Child(
            process, handle, here, _Output(reading), reading, temporary, held, kills, shared_by
        )

    def _watch(self, child: _Child, limits: Limits, begun: float, data_bytes: int) -> _Ending:
        """Wait until a cell has delivered, is over a limit, or its process ended."""
        poller = select.poll()
        for descriptor in (
            child.handle,
            child.pipe,
            child.channel.fileno(),
            self._channel.fileno(),
        ):
            poller.register(descriptor, select.POLLIN)
        looked = 0.0
        while True:
            ready = {found for found, _ in poller.poll(_patience(limits, begun))}
            if child.pipe in ready and not child.output.drain():
                poller.unregister(child.pipe)
            if self._channel.fileno() in ready:
                raise Dismissed
            if child.channel.fileno() in ready:
                return _delivered(child) or _Ending()
            if child.handle in ready:
                return _Ending()
            now = time.monotonic()
            # A cell that prints without end keeps this loop awake: looking at memory each time
            # would slow it down.
            if limits.seconds is not None and now - begun >= limits.seconds:
                return _Ending(over=limits.out_of_time(now - begun))
            if limits.memory is not None and now - looked >= WATCH_SECONDS:
                looked = now
                held = _held(child, data_bytes)
                if held > limits.memory:
                    return _Ending(over=limits.out_of_memory(held, now - begun))

    def _tell(self, ending: _Ending, begun: float) -> None:
        """Send what came of a cell, once everything that it started is gone."""
        child = self._child
        if child is None:
            raise RuntimeError("nobody worked on the cell")
        if ending.size_and_checksum is not None:
            if child.shared_by is None:
                self._await(child)
                self._end_child()
            else:
                _drain_quickly(child)
            self._channel.send(
                (*ending.size_and_checksum, child.output.take()), [ending.descriptor]
            )
            os.close(ending.descriptor)
            return
        if ending.over is not None and ending.over.status == "timeout":
            _ask_where_it_is(child)
        status, processor, peak = self._end_child()
        text = child.output.text
        if ending.over is not None:
            outcome = replace(
                ending.over, cpu_seconds=processor, output=text, traceback=_last_words(text)
            )
            self._channel.send(outcome)
            return
        seconds = time.monotonic() - begun
        ended = _ended_by_itself(status, text, peak, killed_for_memory() > child.kills_before)
        if isinstance(ended, Outcome):
            ended = replace(ended, seconds=seconds, cpu_seconds=processor, output=text)
        self._channel.send(ended)

    def _await(self, child: _Child) -> None:
        """Give a cell that delivered a moment to end; what it prints meanwhile is kept."""
        poller = select.poll()
        poller.register(child.handle, select.POLLIN)
        poller.register(child.pipe, select.POLLIN)
        deadline = time.monotonic() + LINGERING_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            ready = {found for found, _ in poller.poll(left * 1000)}
            if child.pipe in ready and not child.output.drain():
                poller.unregister(child.pipe)
            if child.handle in ready:
                return

    def _end_child(self) -> tuple[int, float, int]:
        """End the child and everything that it started; return its exit status, processor seconds and peak bytes."""
        child, self._child = self._child, None
        if child is None:
            return 0, 0.0, 0
        # While the child is not waited for, its number, and so that of its group, cannot be anybody
        # else's.
        for target in (os.killpg, os.kill):
            try:
                target(child.process, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        _, status, usage = os.wait4(child.process, 0)
        processor = usage.ru_utime + usage.ru_stime + _end_orphans()
        _drain_quickly(child)
        child.channel.close()
        for descriptor in (child.handle, child.pipe):
            os.close(descriptor)
        shutil.rmtree(child.temporary, ignore_errors=True)
        return status, processor, usage.ru_maxrss * KIB


def _patience(limits: Limits, begun: float) -> float | None:
    waits = []
    if limits.memory is not None:
        waits.append(WATCH_SECONDS)
    if limits.seconds is not None:
        waits.append(max(0.0, begun + limits.seconds - time.monotonic()))
    return min(waits) * 1000 if waits else None


def _held(child: _Child, data_bytes: int) -> int:
    """Return what a cell and its own children hold, without the data of its split and what it was forked with."""
    figures = memory_figures(child.process)
    own = (
        figures.get("RssAnon", 0)
        - child.held_at_start
        + max(0, figures.get("RssShmem", 0) - data_bytes)
    )
    return max(0, own) + sum(map(memory_held, child_processes(child.process)))


def _delivered(child: _Child) -> _Ending | None:
    """Take the result of a cell; None where it hung up instead."""
    try:
        size_and_checksum, descriptors = child.channel.receive()
    except (EOFError, OSError, ValueError):
        return None
    if len(descriptors) != 1:
        return None
    return _Ending(size_and_checksum, descriptors[0])


def _ask_where_it_is(child: _Child) -> None:
    """Have a cell print its stack: `faulthandler` can, even while native code holds the interpreter."""
    try:
        os.kill(child.process, signal.SIGUSR1)
    except ProcessLookupError:
        return
    poller = select.poll()
    poller.register(child.pipe, select.POLLIN)
    deadline = time.monotonic() + LAST_WORDS_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        if poller.poll(left * 1000) and not child.output.drain():
            return


def _last_words(text: str) -> str:
    begin = max(text.rfind("Thread 0x"), text.rfind("Current thread 0x"))
    return text[begin:][:MOST_OF_A_TRACEBACK] if begin >= 0 else ""


def _drain_quickly(child: _Child) -> None:
    """Read what is in the pipe; a descendant that still holds its other end is not waited for."""
    while child.output.drain():
        pass


def _end_orphans() -> float:
    """End all processes that this one has adopted, and those that they started; return their processor seconds."""
    processor = 0.0
    deadline = time.monotonic() + ORPHANS_SECONDS
    while time.monotonic() < deadline:
        try:
            process, _, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if process:
            processor += usage.ru_utime + usage.ru_stime
            continue
        for orphan in child_processes(os.getpid()):
            try:
                os.kill(orphan, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        time.sleep(0.001)
    return processor


def _ended_by_itself(status: int, text: str, peak: int, is_short: bool) -> Outcome | Loss:
    """Say what it means that a process ended without a result.

    Parameters
    ----------
    status : int
        As ``wait`` gave it.
    text : str
        What it printed.
    peak : int
        The most bytes that it held, with those of its data that it read.
    is_short : bool
        Whether the system has ended a process for want of memory meanwhile; which one, it does not
        tell us.
    """
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        if name in CRASHES:
            return Outcome(
                "failed",
                error=f"crashed its process in native code ({name})",
                traceback=_crash(text),
            )
        if name == "SIGKILL" and is_short:
            return Loss(f"{FOR_MEMORY} (it held {format_size(peak)})")
        return Loss(f"its process was ended by {name} (it held {format_size(peak)})")
    code = os.waitstatus_to_exitcode(status)
    return Outcome(
        "failed", error=f"ended its own process (exit code {code}) before it had a result"
    )


def _crash(text: str) -> str:
    begin = text.rfind("Fatal Python error")
    return text[begin:][:MOST_OF_A_TRACEBACK] if begin >= 0 else ""
