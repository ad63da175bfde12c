"""The process of a cell: what it does between the fork and its end.

Everything here runs in the child alone. It begins by cutting itself off from its parent's files,
signals and folders, and ends with ``os._exit``: nothing of what the method did, opened or changed
is left.
"""

from __future__ import annotations

import faulthandler
import fcntl
import os
import pickle
import signal
import sys
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from paragone.lab.cells import Outcome, SplitData
from paragone.lab.engine.laid_split import LaidSplit
from paragone.lab.engine.memory_forecast import be_ended_first
from paragone.lab.engine.packing import CellOrder, Refused, Surroundings
from paragone.lab.engine.processes import (
    Channel,
    end_with_parent,
    flush_native_output,
    forget_peak_memory,
    memory_figures,
)
from paragone.lab.engine.reading_watch import ReadingWatch
from paragone.lab.engine.task import failure, perform

LEAST_DESCRIPTOR = 512
"""Where the child's own channel is put: programs that close the descriptors they do not know begin low."""


def begin_cell_process(
    seat: int, surroundings: Surroundings, temporary: str, output: int, channel: Channel
) -> Channel:
    """Cut this new process off from everything that it inherited, and return its channel to the seat.

    Parameters
    ----------
    seat : int
        The process that it ends with.
    surroundings : Surroundings
        What it is to find.
    temporary : str
        Its own temporary folder.
    output : int
        Where what it prints goes.
    channel : Channel
        Its end of the connection to the seat.
    """
    end_with_parent(seat)
    be_ended_first()
    # A group of its own, but no session: those of a desktop are scheduled as if their niceness did
    # not count.
    os.setpgid(0, 0)
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    own = fcntl.fcntl(channel.fileno(), fcntl.F_DUPFD_CLOEXEC, LEAST_DESCRIPTOR)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stdout = sys.__stdout__ = _line_by_line(1)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _line_by_line(2)  # type: ignore[misc]
    faulthandler.enable(2)
    faulthandler.register(signal.SIGUSR1, 2)
    _set_environment(
        {**surroundings.environment, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary)}
    )
    tempfile.tempdir = temporary
    sys.path[:] = surroundings.import_path
    os.chdir(surroundings.folder)
    return Channel.of_descriptor(own)


def _line_by_line(descriptor: int) -> Any:
    """Open a stream whose lines are written as they come: a cell that is ended from outside has no time to flush."""
    return open(
        descriptor, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )


def _set_environment(wanted: Mapping[str, str]) -> None:
    """Have these variables and no others; most are as they should be, and each change takes a while."""
    for name in set(os.environ) - set(wanted):
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def close_foreign_descriptors(*kept: int) -> None:
    """Close every descriptor but the standard three and those named."""
    listed = [int(name) for name in os.listdir("/proc/self/fd")]
    for descriptor in listed:
        if descriptor > 2 and descriptor not in kept:
            try:
                os.close(descriptor)
            except OSError:
                continue


def work_once(order: CellOrder, laid: LaidSplit, channel: Channel) -> NoReturn:
    """Work on one cell, hand its result over, and end this process."""
    try:
        deliver(work_on(order, laid), channel)
    finally:
        _flush()
        os._exit(0)


def work_on_all(channel: Channel) -> NoReturn:
    """Work on cells as they come, until the seat has no more."""
    try:
        shared: SplitData | None = None
        while True:
            (order, laid), (descriptor,) = channel.receive()
            mine = replace(laid, descriptor=descriptor)
            if order.packed.group and shared is None:
                shared = mine.mapped()
            result = work_on(order, mine, shared)
            mine.close()
            _flush()
            deliver(result, channel)
    except EOFError:
        os._exit(0)
    finally:
        os._exit(1)


def work_on(
    order: CellOrder, laid: LaidSplit, shared: SplitData | None = None
) -> tuple[Outcome | Refused, tuple[str, ...]]:
    """Work on a cell; return what came of it and the data files that it opened.

    Parameters
    ----------
    order : CellOrder
        The cell.
    laid : LaidSplit
        Its data.
    shared : SplitData, optional
        The data as the cells before it in its group had them, by which the protocol knows what it
        may share.
    """
    forget_peak_memory()
    before = memory_figures()
    with ReadingWatch(order.watch_files) as watch:
        try:
            task = order.packed.open()
        except BaseException as error:  # noqa: BLE001  importing the user's modules runs them, and costs this cell only
            return failure(error, "import: " if isinstance(error, ImportError) else ""), ()
        if isinstance(task, Refused):
            return task, ()
        handed: list[SplitData] = []
        outcome = perform(task, lambda: _kept(handed, laid.mapped() if shared is None else shared))
    # What was read of the data is told apart from what the method allocated as long as it is
    # mapped.
    peak = _peak_since(before)
    handed.clear()
    return replace(outcome, peak_memory=peak), watch.seen


def _kept(handed: list[SplitData], data: SplitData) -> SplitData:
    handed.append(data)
    return data


def _peak_since(before: Mapping[str, int]) -> int:
    """Return the most bytes that were held at a time since, without mapped files and the data of the split."""
    after = memory_figures()
    if not before or not after:
        return 0
    mapped = sum(after.get(kind, 0) - before.get(kind, 0) for kind in ("RssFile", "RssShmem"))
    return max(0, after["VmHWM"] - before["VmRSS"] - max(0, mapped))


def deliver(result: Any, channel: Channel) -> None:
    """Hand a result over as a memory file, with its length and checksum."""
    try:
        body = pickle.dumps(result, protocol=5)
    except Exception as error:  # noqa: BLE001  a method may have given anything that calls itself a score
        body = pickle.dumps((failure(error, "its result cannot be kept: "), ()), protocol=5)
    file = os.memfd_create("paragone-result", os.MFD_CLOEXEC)
    with open(file, "wb", closefd=False) as stream:
        stream.write(body)
    channel.send((len(body), zlib.crc32(body)), [file])
    os.close(file)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
    flush_native_output()
