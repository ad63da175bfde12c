"""Work on an executor that somebody else owns: any ``concurrent.futures.Executor``, here or on other machines.

A cell travels in an envelope: the task as bytes, and the names of the data and of the code that it
needs. A worker that lacks some of them says so, and is sent the cell again with the missing
parcels, once.
"""

from __future__ import annotations

import os
import socket
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeAlias
from uuid import uuid4

from typing_extensions import override

from paragone.errors import InputError
from paragone.lab.cells import Outcome
from paragone.lab.engine.packing import (
    DATA,
    Depot,
    Loss,
    PackedTask,
    Parcel,
    Reference,
    Refused,
    code_reference,
    library_versions,
    version_differences,
)
from paragone.lab.engine.task import CellTask
from paragone.lab.engine.workers import (
    Conditions,
    Ended,
    Following,
    Seat,
    Workplace,
    accepted,
    run_isolated,
)

# A parcel of gigabytes takes a while: a cell that is returned that often takes its own copy along
# after all.
LATER_SECONDS = 1.0
MOST_RETURNS = 4


@dataclass(frozen=True)
class Envelope:
    """A cell on its way to a worker.

    Parameters
    ----------
    run : str
        A name of the run, of its own.
    packed : PackedTask
        The task.
    data : Reference
        The dataset that it needs.
    code : tuple of Reference
        The user's modules that it needs.
    versions : mapping
        The versions of the libraries where the run was begun.
    conditions : Conditions
        Of the run; the user's modules lie elsewhere for a worker.
    expected : float, optional
        The seconds that it may take, where that is known.
    parcels : tuple of Parcel
        What the worker said it lacks.
    """

    run: str
    packed: PackedTask
    data: Reference
    code: tuple[Reference, ...]
    versions: tuple[tuple[str, str], ...]
    conditions: Conditions
    expected: float | None = None
    parcels: tuple[Parcel, ...] = ()


@dataclass(frozen=True)
class Lacks:
    """What a worker has not got."""

    worker: str
    references: tuple[Reference, ...]


@dataclass(frozen=True)
class Again:
    """The cell is to be sent again, rather to one worker where one is named."""

    worker: str | None = None


WorkerReply: TypeAlias = Outcome | Loss | Refused | Lacks


def open_envelope(
    envelope: Envelope, name: str = "", abandoned: Callable[[], bool] | None = None
) -> WorkerReply:
    """Run the cell in an envelope, on whatever worker this is.

    Parameters
    ----------
    envelope : Envelope
        The cell.
    name : str, default=""
        What the executor calls this worker.
    abandoned : callable, optional
        Tells whether the result is no longer wanted.

    Returns
    -------
    Outcome, Loss, Refused or Lacks
        What came of it, or what the worker lacks.
    """
    name = name or worker_name()
    different = version_differences(dict(envelope.versions))
    if different:
        return Refused(
            f"{name} has {different}, so its results could differ: install the same versions"
        )
    # Parcels first: they may be for this very cell, which is then not sent a third time.
    depot = worker_depot(os.getpid())
    for parcel in envelope.parcels:
        depot.keep(parcel)
    wanted = (envelope.data, *envelope.code)
    found = {reference.key: depot.find(reference) for reference in wanted}
    lacking = tuple(reference for reference in wanted if found[reference.key] is None)
    if lacking:
        return Lacks(name, lacking)
    code = tuple(str(found[reference.key]) for reference in envelope.code)
    packed = envelope.packed.at(str(found[envelope.data.key]), code)
    if envelope.conditions.isolation == "none":
        reply: Outcome | Loss | Refused = packed.run()
    else:
        reply = run_isolated(
            packed, envelope.conditions, envelope.run, abandoned, temporary=str(depot.folder)
        )
    return Refused(f"{name}: {reply.sentence}") if isinstance(reply, Refused) else reply


@lru_cache(maxsize=1)
def worker_depot(process: int) -> Depot:
    """Return what this process was sent; a forked process begins anew."""
    return Depot()


def worker_name() -> str:
    """Name this process among all on all machines."""
    return f"{socket.gethostname()}, process {os.getpid()}"


@dataclass
class Courier:
    """Makes envelopes, and sends every worker what it lacks once.

    Parameters
    ----------
    conditions : Conditions
        Of the run; the modules that the experiment uses from its import paths are sent.
    hidden : bool
        Whether to act as if no worker could see this machine's disk.
    """

    conditions: Conditions
    hidden: bool = False
    run: str = field(default_factory=lambda: uuid4().hex)
    sent: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        references = [code_reference(path) for path in self.conditions.import_paths]
        self._code = tuple(reference for reference in references if reference is not None)
        self._versions = tuple(library_versions().items())

    def pack(self, task: CellTask) -> Envelope:
        """Put a task into an envelope, without its data."""
        packed = PackedTask.of(task, (), checked=True)
        data = Reference(
            f"{DATA}{os.path.basename(task.split.folder)}",
            task.split.folder,
            visible=not self.hidden,
        )
        return Envelope(
            self.run, packed, data, self._code, self._versions, self.conditions, task.expected
        )

    def repack(self, envelope: Envelope, lacks: Lacks) -> Envelope:
        """Add what a worker lacks."""
        self.sent.update((lacks.worker, reference.key) for reference in lacks.references)
        return replace(
            envelope, parcels=tuple(Parcel.of(reference) for reference in lacks.references)
        )

    def is_under_way(self, lacks: Lacks) -> bool:
        """Tell whether all that a worker lacks was sent to it in other envelopes, which may not be there yet."""
        return all(self.sent[lacks.worker, reference.key] for reference in lacks.references)


class SharedSeat(Seat):
    """A place on an executor.

    Parameters
    ----------
    submit : callable
        Sends an envelope, rather to one worker where one is named.
    courier : Courier
        Makes the envelopes.
    """

    addressed = False
    """Whether an envelope reaches the worker that it is meant for, so that it need not be sent twice."""

    def __init__(
        self, submit: Callable[[Envelope, str | None], Future[Any]], courier: Courier
    ) -> None:
        self._submit = submit
        self._courier = courier
        self._envelope: Envelope | None = None
        self._returns = 0

    @override
    def submit(self, task: CellTask) -> Future[Any]:
        self._envelope = self._courier.pack(task)
        self._returns = 0
        return self._send(None)

    def _send(self, worker: str | None) -> Future[Any]:
        if self._envelope is None:
            raise RuntimeError("nothing to send yet")
        try:
            return self._submit(self._envelope, worker)
        except BrokenExecutor as error:
            raise _broken(error) from error

    def _send_again(self, lacks: Lacks) -> Future[Any]:
        """Send the cell with what the worker lacks; where that is on its way to it already, without, a little later."""
        self._returns += 1
        if self._envelope is None:
            raise RuntimeError("nothing to send yet")
        if self.addressed and self._courier.is_under_way(lacks) and self._returns < MOST_RETURNS:
            return later(Again(lacks.worker))
        self._envelope = self._courier.repack(self._envelope, lacks)
        return self._send(lacks.worker)

    @override
    def collect(self, future: Future[Any]) -> Ended | Following:
        try:
            reply: WorkerReply | Again = future.result()
        except BrokenExecutor as error:
            raise _broken(error) from error
        except CancelledError:
            return Loss("the executor gave the cell up")
        except (ImportError, AttributeError) as error:
            raise InputError(
                f"a worker cannot run the cells: {error}; install the same packages there"
            ) from error
        if isinstance(reply, Again):
            return self._send(reply.worker)
        return self._send_again(reply) if isinstance(reply, Lacks) else accepted(reply)


def later(reply: Again) -> Future[Again]:
    """Return a future that ends in a little while."""
    future: Future[Again] = Future()

    def end() -> None:
        if future.set_running_or_notify_cancel():
            future.set_result(reply)

    timer = threading.Timer(LATER_SECONDS, end)
    timer.daemon = True
    timer.start()
    return future


def _broken(error: BrokenExecutor) -> InputError:
    return InputError(
        f"the executor broke ({type(error).__name__}: {error}): one of its workers died; every"
        " finished cell is kept, run again with a new executor to go on"
    )


class SharedExecutor(Workplace):
    """So many places on any executor.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        Somebody else's; it is not shut down.
    n_seats : int
        How many cells it is given at a time.
    conditions : Conditions
        Of the run.
    """

    def __init__(self, executor: Executor, n_seats: int, conditions: Conditions) -> None:
        self._executor = executor
        self._n_seats = n_seats
        self.isolation = conditions.isolation
        self.courier = Courier(conditions)

    @override
    def size(self, seconds: float | None = None) -> int:
        return self._n_seats

    @override
    def described(self) -> str:
        return type(self._executor).__name__

    @override
    def new_seat(self) -> Seat:
        return SharedSeat(
            lambda envelope, _: self._executor.submit(open_envelope, envelope), self.courier
        )
