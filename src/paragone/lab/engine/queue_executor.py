"""An executor over a queue folder: its orders are files, its workers are whoever claims them, on any machine."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any, Protocol
from uuid import uuid4

import cloudpickle
from typing_extensions import override

from paragone.errors import InputError
from paragone.lab.engine.packing import Loss
from paragone.lab.engine.processes import load_plain
from paragone.lab.engine.queue_folder import Claim, QueueFolder, Record
from paragone.lab.engine.queue_worker import call_order
from paragone.lab.store.runs import BEAT_SECONDS, DEAD_AFTER_SECONDS

POLL_SECONDS = 0.2
POLL_SECONDS_PER_WORKER = 0.01
"""A hundred workers are asked once per second: the file server has other work to do."""
FIRST_LOOKS_SECONDS = 1.0
NOWHERE_SECONDS = 2.5 * DEAD_AFTER_SECONDS
"""After how long an order that is nowhere to be seen is put again; NFS may show a folder as it was a minute ago."""


class BrokenQueue(BrokenExecutor):
    """There are no workers, and there will be none; the text says why."""


class Staff(Protocol):
    """Whoever sees to it that a queue folder has workers."""

    def look(
        self, waiting: int, claimed: int, there: Collection[str], at_work: Collection[str]
    ) -> list[str]:
        """Have as many workers as there is work for; return what there is to tell.

        Parameters
        ----------
        waiting, claimed : int
            How many orders wait, and how many workers have.
        there : collection of str
            The workers that have said that they are there.
        at_work : collection of str
            Those that have an order or delivered one.

        Raises
        ------
        BrokenQueue
            Where having workers is of no use.
        """

    def is_gone(self, worker: str) -> str:
        """Say why a worker that has not left can no longer be there; nothing where it may be."""

    def dismiss(self) -> None:
        """Have no more workers."""

    def failed(self) -> bool:
        """Tell whether a worker ended in a way that somebody may want to look into."""


class QueueExecutor(Executor):
    """Puts calls into a queue folder and waits for what came of them.

    Parameters
    ----------
    queue : QueueFolder
        Which the workers must see under the same name; made here.
    staff : Staff
        Starts workers.
    """

    def __init__(self, queue: QueueFolder, staff: Staff) -> None:
        self.queue = queue
        self.staff = staff
        self._lock = threading.RLock()
        self._futures: dict[str, Future[Any]] = {}
        self._seen_at: dict[str, float] = {}
        self._claimed_before: dict[str, Claim] = {}
        self._cells: set[str] = set()
        self._read_to: dict[str, int] = {}
        self._early: dict[str, Record] = {}
        self._living: dict[str, float] = {}
        self._news: list[str] = []
        self._broken: BrokenQueue | None = None
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._left = False

    def begin(self, conditions: str = "") -> None:
        """Take the folder over: what an earlier coordinator left counts, where it worked under the same conditions.

        Parameters
        ----------
        conditions : str
            A name for all that a result depends on beside its key.
        """
        if self._thread is not None:
            return
        self._closing.clear()
        self._broken, self._left = None, False
        try:
            self.queue.make()
            same = self.queue.begin_coordinating(conditions)
            self._take_over(same)
        except OSError as error:
            raise InputError(
                f"the folder {self.queue.path}, through which jobs get their cells, cannot be used:"
                f" {error}"
            ) from error
        self._thread = threading.Thread(target=self._follow, name="paragone-queue", daemon=True)
        self._thread.start()

    def _take_over(self, same: bool) -> None:
        # Orders are put anew: their content is not taken from a file that somebody else may have
        # written.
        for order in self.queue.waiting():
            self.queue.void(order)
        n_early = sum(1 for worker in self.queue.deliverers() for _ in self._new_records(worker))
        if same:
            living = {
                name for name, age in self.queue.workers().items() if age < DEAD_AFTER_SECONDS
            }
            self._claimed_before = {
                claim.key: claim for claim in self.queue.claims() if claim.worker in living
            }
            if n_early:
                self._news.append(
                    f"{n_early} outcomes of jobs that went on without a coordinator are taken over"
                )
            return
        for claim in self.queue.claims():
            self.queue.void(claim)
        for worker in self.queue.deliverers():
            self.queue.forget(worker)
        self._early.clear()
        self._read_to.clear()
        if n_early:
            self._news.append(
                f"{n_early} outcomes that jobs of an earlier run left in {self.queue.path} are not"
                " used: limits, code or versions were others"
            )

    @override
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.begin()
        return self._order(uuid4().hex, call_order(fn, args, kwargs))

    def submit_cell(self, key: str, order: Callable[[], bytes]) -> Future[Any]:
        """Have a cell worked on; where a worker has it already, or has delivered it, that counts.

        Parameters
        ----------
        key : str
            Of the cell.
        order : callable
            Gives the content of the order, where one has to be put.
        """
        with self._lock:
            self._cells.add(key)
            early = self._early.pop(key, None)
            if early is not None:
                future = self._futures[key] = Future()
                self._end(early)
                return future
            claimed = self._claimed_before.pop(key, None)
            return self._order(key, None if claimed is not None else order())

    def _order(self, key: str, content: bytes | None) -> Future[Any]:
        with self._lock:
            if self._broken is not None:
                raise self._broken
            future = self._futures[key] = Future()
            self._seen_at[key] = time.monotonic()
            if content is not None:
                self.queue.put(key, content)
        return future

    def take_back(self, key: str) -> bool:
        """Have nobody work on a key any more."""
        with self._lock:
            future = self._futures.pop(key, None)
        if future is None:
            return False
        for claim in (*self.queue.waiting(), *self.queue.claims()):
            if claim.key == key:
                self.queue.void(claim)
        future.cancel()
        return True

    def news(self) -> list[str]:
        """Return what there is to tell since the last call."""
        with self._lock:
            news, self._news = self._news, []
        return news

    def say(self, sentence: str) -> None:
        """Have something told."""
        with self._lock:
            self._news.append(sentence)

    @property
    def living(self) -> int:
        """How many workers were heard of lately."""
        return len(self._living)

    def _follow(self) -> None:
        """Read what comes, until the executor is shut down."""
        next_look = 0.0
        while not self._closing.wait(POLL_SECONDS + POLL_SECONDS_PER_WORKER * len(self._living)):
            try:
                self._take_outcomes()
                if time.monotonic() >= next_look:
                    self._look_after_workers()
                    next_look = time.monotonic() + (
                        BEAT_SECONDS if self._living else FIRST_LOOKS_SECONDS
                    )
            except BrokenQueue as error:
                self._break(error)
                return
            except OSError as error:
                self._break(
                    BrokenQueue(
                        f"the folder {self.queue.path} cannot be used any more:"
                        f" {error.strerror or error}; every finished cell is kept: run the same"
                        " command again to go on"
                    )
                )
                return

    def _take_outcomes(self) -> None:
        for worker in self.queue.deliverers():
            with self._lock:
                for record in self._new_records(worker):
                    if record.key in self._futures:
                        self._early.pop(record.key, None)
                        self._end(record)

    def _new_records(self, worker: str) -> list[Record]:
        """Read on in a worker's file; where it is damaged, what follows is not read, and its cells begin again."""
        begin = self._read_to.get(worker, 0)
        if begin < 0:
            return []
        found: list[Record] = []
        try:
            for record in self.queue.records(worker, begin):
                found.append(record)
                self._read_to[worker] = record.end
        except ValueError as error:
            self._read_to[worker] = -1
            self.say(f"a file of outcomes is damaged ({error}): its cells begin again")
        self._early.update({record.key: record for record in found})
        return found

    def _end(self, record: Record) -> None:
        """Give out what a record says; leave no trace of its order."""
        future = self._futures.pop(record.key)
        if not future.set_running_or_notify_cancel():
            return
        body = self.queue.body(record)
        if record.key not in self._cells:
            # What a call gave may be anything; its key was made up here, so that the answer is to a
            # question of ours.
            how, what = cloudpickle.loads(body)
        else:
            try:
                how, what = load_plain(body)
            except (
                pickle.UnpicklingError,
                EOFError,
                ValueError,
                TypeError,
                AttributeError,
            ) as error:
                how, what = "result", Loss(f"what came of it cannot be read: {error}")
        if how == "error":
            future.set_exception(what)
        else:
            future.set_result(what)

    def _look_after_workers(self) -> None:
        if not self.queue.is_coordinator():
            raise BrokenQueue(
                f"another run took over the folder {self.queue.path} while this one was not heard"
                " of for a minute, as after a sleep: every finished cell is kept; let the other"
                " run end"
            )
        # Workers that cannot deliver would end one after the other, and their cells be charged with
        # it.
        self.queue.check_room()
        self.queue.beat_as_coordinator()
        ages = self.queue.workers()
        self._living = {name: age for name, age in ages.items() if age < DEAD_AFTER_SECONDS}
        waiting, claims = self.queue.waiting(), self.queue.claims()
        dead: dict[str, str] = {}
        for name in {claim.worker for claim in claims} | set(ages):
            why = self.staff.is_gone(name)
            if not why and name not in self._living:
                why = f"the worker {name} was not heard of for a minute"
            if why:
                dead[name] = why
        # It may have delivered before it died.
        self._take_outcomes()
        lost = [claim for claim in claims if claim.worker in dead]
        for claim in lost:
            self.queue.void(claim)
        # A worker that only slept must find itself dismissed before its cell is given to another.
        for name in dead:
            self.queue.leave(name)
            self._living.pop(name, None)
        for claim in lost:
            self._lose(claim.key, dead[claim.worker])
        self._put_again({claim.key for claim in (*waiting, *claims)})
        at_work = {*(claim.worker for claim in claims), *self.queue.deliverers()}
        for sentence in self.staff.look(len(waiting), len(claims), ages, at_work):
            self.say(sentence)

    def _put_again(self, seen: set[str]) -> None:
        """Note orders that are nowhere, such as one whose outcome was damaged."""
        now = time.monotonic()
        with self._lock:
            for key in list(self._futures):
                if key in seen or key not in self._seen_at:
                    self._seen_at[key] = now
                elif now - self._seen_at[key] > NOWHERE_SECONDS:
                    self._lose(key, "its order got lost in the queue folder")

    def _lose(self, key: str, why: str) -> None:
        with self._lock:
            future = self._futures.pop(key, None)
            if future is None or not future.set_running_or_notify_cancel():
                return
            if key in self._cells:
                future.set_result(Loss(why))
            else:
                future.set_exception(BrokenQueue(why))

    def _break(self, error: BrokenQueue) -> None:
        with self._lock:
            self._broken = error
            waiting, self._futures = list(self._futures.values()), {}
        for future in waiting:
            if future.set_running_or_notify_cancel():
                future.set_exception(error)

    def leave(self) -> None:
        """Go, and let the workers go on with what is in the folder; a later coordinator takes it over."""
        self._left = True

    @override
    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if self._thread is None:
            return
        self._closing.set()
        self._thread.join()
        self._thread = None
        self._break(BrokenQueue("the executor was shut down"))
        if self._left:
            self.queue.end_coordinating()
            return
        if not self.queue.path.is_dir():
            self.staff.dismiss()
            return
        if not self.queue.is_coordinator():
            # Folder and workers are another run's by now.
            return
        self.queue.end()
        for claim in (*self.queue.waiting(), *self.queue.claims()):
            self.queue.void(claim)
        self.staff.dismiss()
        self.queue.remove(keep_logs=self.staff.failed())
