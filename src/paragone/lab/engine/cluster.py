"""Work on a Dask cluster: cells in flight follow its workers, lost workers are counted, nobody is charged for them."""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import uuid4

from typing_extensions import override

from paragone.errors import InputError
from paragone.lab.engine.jobs import JobExecutor
from paragone.lab.engine.packing import Abandoned, Loss
from paragone.lab.engine.shared import (
    Again,
    Courier,
    Envelope,
    SharedSeat,
    WorkerReply,
    later,
    open_envelope,
)
from paragone.lab.engine.task import CellTask
from paragone.lab.engine.workers import Conditions, Ended, Following, Seat, Workplace, end_processes

CONNECT_SECONDS = 10.0
LOOK_SECONDS = 1.0
WAITING_SECONDS = 30.0
FEWEST_IN_FLIGHT = 4
QUEUED_SECONDS = 10.0
MOST_A_THREAD = 16
EVENTS = "all"
BEGUN = "paragone-begun"
KEY = "paragone-cell"
LOOPBACK = "127.0.0.1"


def is_dask(executor: Executor) -> bool:
    """Tell whether an executor is a Dask client's, without importing Dask.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> is_dask(ThreadPoolExecutor(1))
    False
    """
    return type(executor).__module__ == "distributed.cfexecutor"


@contextmanager
def dask_executor(address: str | None = None, workers: int | None = None) -> Iterator[Executor]:
    """Connect to a Dask scheduler, or start a cluster of processes on this machine.

    Parameters
    ----------
    address : str, optional
        The scheduler's address, such as ``"tcp://host:8786"``; where it is not given, a cluster of
        this machine's own, which listens on the loopback address only.
    workers : int, optional
        Worker processes of the cluster on this machine; one per core where it is not given.

    Yields
    ------
    concurrent.futures.Executor
        For ``Experiment.run(..., executor=...)``.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise InputError(
            "--engine dask needs Dask's distributed: pip install 'paragone[dask]'"
        ) from error
    if address is None:
        # Whoever reaches a scheduler, a worker or a nanny can have it run code, so each is told
        # where to listen: no default, and no setting of Dask's that a user has for other clusters,
        # opens this one to the network.
        with (
            LocalCluster(
                n_workers=workers or None,
                threads_per_worker=1,
                processes=True,
                host=LOOPBACK,
                dashboard_address=f"{LOOPBACK}:0",
                worker_dashboard_address=f"{LOOPBACK}:0",
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client.get_executor()
        return
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"no Dask scheduler answers at {address} within {CONNECT_SECONDS:g} s ({error}): start"
            " one with `dask scheduler`, or see that the address is right"
        ) from error
    with client:
        yield client.get_executor()


@dataclass(frozen=True)
class OutOfTime:
    """A worker ends before the cell would."""

    worker: str


def _seconds_left(worker: Any) -> float:
    """Return how long a worker is still there, where it was told when to go (``--lifetime``)."""
    import psutil

    if not worker.lifetime:
        return math.inf
    since: float = time.time() - psutil.Process().create_time()
    return float(worker.lifetime) - since


DaskReply: TypeAlias = WorkerReply | OutOfTime


def open_on_dask(envelope: Envelope, key: str) -> DaskReply:
    """Run the cell in an envelope on a Dask worker; end it when the coordinator no longer waits for it."""
    from distributed import get_worker

    worker = get_worker()
    if envelope.expected is not None and envelope.expected > _seconds_left(worker):
        return OutOfTime(worker.address)
    worker.log_event(BEGUN, {"key": key, "worker": worker.address})

    def abandoned() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    try:
        return open_envelope(envelope, worker.address, abandoned)
    except Abandoned:
        return Loss("nobody waited for the cell any more")


async def _end_processes(run: str) -> None:
    """End the processes of a run on a worker, beside its event loop, which must not wait."""
    threading.Thread(target=end_processes, args=(run,), daemon=True).start()


class DaskCluster(Workplace):
    """The workers of a Dask cluster, as they come and go.

    Parameters
    ----------
    executor : distributed.cfexecutor.ClientExecutor
        What ``client.get_executor()`` gives.
    conditions : Conditions
        Of the run.
    most : int, optional
        The most cells in flight. Where it is not given, there are two per thread of the workers,
        and more of short ones, so that no worker waits and an adaptive cluster sees work to grow
        for.
    jobs : JobExecutor, optional
        Whose jobs the workers are.
    """

    can_end = True
    look_seconds = LOOK_SECONDS

    def __init__(
        self,
        executor: Any,
        conditions: Conditions,
        most: int | None = None,
        jobs: JobExecutor | None = None,
    ) -> None:
        self._executor = executor
        self._client = executor._client
        self._options = {**executor._kwargs, "pure": False}
        self._most = most
        self._jobs = jobs
        self._leaving: set[str] = set()
        if jobs is not None:
            self.longest = jobs.longest
        self.isolation = conditions.isolation
        self.courier = Courier(conditions)
        self._futures: dict[str, Future[Any]] = {}
        self._begun_at: dict[str, str] = {}
        self._meant_for: dict[str, str] = {}
        self._stranded: list[Future[Any]] = []
        self._sent_anew: set[Future[Any]] = set()
        self._lost: list[tuple[Future[Any], Loss]] = []
        self._news: list[str] = []
        self._lock = threading.Lock()
        self._threads = 0
        self._next_look = 0.0
        self._empty_since: float | None = None
        self._closed = False
        self._look()
        self._client.subscribe_topic(EVENTS, self._take_note)
        self._client.subscribe_topic(BEGUN, self._take_note_of_begin)

    @override
    def size(self, seconds: float | None = None) -> int:
        if time.monotonic() >= self._next_look:
            self._look()
            self._next_look = time.monotonic() + LOOK_SECONDS
        queued = math.ceil(QUEUED_SECONDS / max(seconds or QUEUED_SECONDS, 1e-3))
        threads = self._threads
        if self._jobs is not None:
            # Before a job begins there is work for all that may.
            threads = max(threads, self._jobs.most * self._jobs.cores)
        wanted = max(FEWEST_IN_FLIGHT, threads * min(max(queued, 2), MOST_A_THREAD))
        return wanted if self._most is None else max(1, min(self._most, wanted))

    @override
    def at_once(self) -> int:
        return max(1, self._threads)

    def _look(self) -> None:
        """Count the workers' threads; say so when there has been none for a while."""
        try:
            self._threads = sum(self._client.nthreads().values())
            self._let_go()
        except (OSError, RuntimeError) as error:
            raise self._gone() from error
        if self._jobs is not None:
            submitted = self._jobs.want(len(self._futures))
            self._news += [submitted] if submitted else []
        if self._threads:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = time.monotonic()
        elif time.monotonic() - self._empty_since >= WAITING_SECONDS:
            self._empty_since = time.monotonic() + 9 * WAITING_SECONDS
            logs = (
                "" if self._jobs is None else f"; the logs of its jobs are in {self._jobs.folder}"
            )
            self._news.append(f"waiting: the Dask cluster at {self._address} has no worker{logs}")

    def _let_go(self) -> None:
        """Have workers whose time is nearly over end, once they have no cell."""
        with self._lock:
            done = self._leaving - set(self._begun_at.values())
            self._leaving -= done
        if done:
            self._client.retire_workers(sorted(done))

    def is_leaving(self, worker: str) -> None:
        """Note that a worker has no time for a cell that waits, so that another may take its place."""
        with self._lock:
            self._leaving.add(worker)

    @property
    def _address(self) -> str:
        return str(getattr(self._client.scheduler, "address", "its address"))

    @override
    def described(self) -> str:
        return f"Dask at {self._address}"

    def _gone(self) -> InputError:
        return InputError(
            f"the Dask scheduler at {self._address} is gone: every finished cell is kept; start it"
            " and run the same command again to go on"
        )

    @override
    def new_seat(self) -> Seat:
        return _DaskSeat(self)

    def submit(self, envelope: Envelope, worker: str | None) -> Future[Any]:
        """Send an envelope to the cluster; rather to one worker, where one is named."""
        key = f"{KEY}-{uuid4().hex}"
        options = dict(self._options)
        if worker is not None:
            options |= {"workers": [worker], "allow_other_workers": True}
        with warnings.catch_warnings():
            # A dataset that travels with a cell is what Dask warns of; it does so once per worker.
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            try:
                sent = self._client.submit(open_on_dask, envelope, key, key=key, **options)
            except (OSError, RuntimeError) as error:
                raise self._gone() from error
        future: Future[Any] = self._executor._wrap_future(sent)
        with self._lock:
            self._futures[key] = future
            if worker is not None:
                self._meant_for[key] = worker
        future.add_done_callback(lambda _: self._forget(key, sent))
        return future

    def _forget(self, key: str, sent: Any) -> None:
        # The result is here: the cluster need not keep it, nor work it out again when its worker is
        # lost.
        sent.release()
        with self._lock:
            self._futures.pop(key, None)
            self._begun_at.pop(key, None)
            self._meant_for.pop(key, None)

    def _take_note_of_begin(self, event: tuple[float, dict[str, Any]]) -> None:
        message = event[1]
        with self._lock:
            if message["key"] in self._futures:
                self._begun_at[message["key"]] = message["worker"]

    def _take_note(self, event: tuple[float, dict[str, Any]]) -> None:
        """Note the cells that were at a worker which the scheduler lost; it gives them to another by itself."""
        message = event[1]
        if not isinstance(message, dict) or message.get("action") != "remove-worker":
            return
        worker = str(message.get("worker"))
        with self._lock:
            # Dask would keep what is meant for a worker that is gone waiting for it.
            self._stranded += [
                self._futures[key] for key, meant in self._meant_for.items() if meant == worker
            ]
            if message.get("expected"):
                return
            keys = [key for key, at in self._begun_at.items() if at == worker]
            self._lost += [
                (self._futures[key], Loss(f"the worker {worker} was lost")) for key in keys
            ]
            for key in keys:
                del self._begun_at[key]
            again = f"; {len(keys)} of its cells begin again elsewhere" if keys else ""
            self._news.append(f"lost the worker {worker}{again}")

    @override
    def lost(self) -> list[tuple[Future[Any], Loss]]:
        with self._lock:
            lost, self._lost = self._lost, []
            stranded, self._stranded = self._stranded, []
            self._sent_anew.update(future for future in stranded if not future.done())
        for future in stranded:
            future.cancel()
        return lost

    def is_to_be_sent_anew(self, future: Future[Any]) -> bool:
        """Tell whether a cancelled cell only has to be sent to another worker."""
        if future in self._sent_anew:
            self._sent_anew.discard(future)
            return True
        return False

    @override
    def news(self) -> list[str]:
        news, self._news = self._news, []
        return news

    def check(self) -> None:
        """Raise where the scheduler is gone."""
        try:
            self._client.nthreads()
        except (OSError, RuntimeError) as error:
            raise self._gone() from error

    @override
    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        with self._lock:
            waiting = list(self._futures.values())
        for future in waiting:
            future.cancel()
        if self._client.status == "running":
            for topic in (EVENTS, BEGUN):
                self._client.unsubscribe_topic(topic)
            self._client.run(_end_processes, self.courier.run, wait=False, on_error="ignore")


class _DaskSeat(SharedSeat):
    """A place on the cluster."""

    addressed = True

    def __init__(self, cluster: DaskCluster) -> None:
        super().__init__(cluster.submit, cluster.courier)
        self._cluster = cluster
        self._future: Future[Any] | None = None

    @override
    def submit(self, task: CellTask) -> Future[Any]:
        self._future = super().submit(task)
        return self._future

    @override
    def collect(self, future: Future[Any]) -> Ended | Following:
        from distributed import KilledWorker

        if future.cancelled():
            self._cluster.check()
            if self._cluster.is_to_be_sent_anew(future):
                self._future = self._send(None)
                return self._future
            return Loss("the cluster gave the cell up")
        if isinstance(future.exception(), KilledWorker):
            return Loss(f"Dask gave the cell up: {future.exception()}", final=True)
        reply = None if future.exception() else future.result()
        if isinstance(reply, OutOfTime):
            self._cluster.is_leaving(reply.worker)
            self._future = later(Again())
            return self._future
        ended = super().collect(future)
        self._future = ended if isinstance(ended, Future) else None
        return ended

    @override
    def end(self) -> bool:
        return self._future is not None and self._future.cancel()
