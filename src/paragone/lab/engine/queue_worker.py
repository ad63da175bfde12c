"""A worker of a queue folder: claims orders and delivers what came of them, until there are none or it is told to go.

It is what a job of Slurm runs. Its cells run in processes of their own, as everywhere. Signals, as
Slurm sends them:

- ``SIGUSR1``, a minute before the time limit: take no more orders; the cell at work may end within
  the grace.
- ``SIGTERM``, when the job is cancelled, preempted or over: give the cell back at once.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import cloudpickle

from paragone.lab.engine.packing import Abandoned, Loss, Refused
from paragone.lab.engine.queue_folder import Claim, QueueFolder
from paragone.lab.engine.shared import Envelope, WorkerReply, open_envelope, worker_depot
from paragone.lab.store.runs import BEAT_SECONDS

GRACE_SECONDS = 45.0
"""How long a cell may go on after ``SIGUSR1``; jobs ask for it 60 s before their end."""
LOOK_SECONDS = 0.5
CLAIM_SECONDS = 2.0
"""How often a worker looks whether its claim still stands."""
IDLE_SECONDS = 120.0
"""How long a worker waits for orders: longer than the claim of a dead one lasts, which may come back."""
LAST_WORD_SECONDS = 1.0
"""How long a signal to all processes of a job may take to reach the worker once it has ended a cell."""
STALE_SECONDS = 60.0
"""How long a file system may refuse to answer before the worker gives up."""


TRANSIENT = {
    errno.ESTALE,
    errno.EIO,
    errno.ETIMEDOUT,
    errno.EAGAIN,
    errno.EINTR,
    errno.ENOSPC,
    errno.EDQUOT,
}
Given = TypeVar("Given")
Asked = ParamSpec("Asked")


def patiently(
    function: Callable[Asked, Given], *args: Asked.args, **options: Asked.kwargs
) -> Given:
    """Do something in the folder, again and again for a while where the file system does not answer as it should.

    Examples
    --------
    >>> patiently(max, 1, 2)
    2
    """
    deadline = time.monotonic() + STALE_SECONDS
    while True:
        try:
            return function(*args, **options)
        except OSError as error:
            if error.errno not in TRANSIENT or time.monotonic() >= deadline:
                raise
            time.sleep(LOOK_SECONDS)


class QueueWorker:
    """Works on the orders of a queue folder.

    Parameters
    ----------
    queue : QueueFolder
        Where they are.
    name : str
        Its own, among all workers of the folder at all times.
    slots : int
        How many cells at a time.
    """

    def __init__(self, queue: QueueFolder, name: str, slots: int = 1) -> None:
        self.name = name
        self._queue = queue
        self._slots = slots
        self._no_more = threading.Event()
        self._give_back = threading.Event()
        self._deadline = float("inf")
        self._writing = threading.Lock()
        self._broken: BaseException | None = None
        self._last_work = time.monotonic()

    def stop(self, number: int) -> None:
        """Hear a signal."""
        if number == signal.SIGTERM:
            self._give_back.set()
        elif not self._no_more.is_set():
            self._deadline = time.monotonic() + GRACE_SECONDS
        self._no_more.set()

    def work(self) -> None:
        """Work until there is nothing more to do."""
        self._queue.greet(self.name)
        threads = [
            threading.Thread(target=self._guarded, args=(work,))
            for work in [self._loop] * self._slots
        ]
        beating = threading.Thread(target=self._guarded, args=(self._beat,), daemon=True)
        for thread in (*threads, beating):
            thread.start()
        # The main thread hears the signals, which it can only while it does not wait for long.
        while any(thread.is_alive() for thread in threads):
            if time.monotonic() >= self._deadline:
                self._give_back.set()
            time.sleep(0.05)
        self._queue.leave(self.name)
        worker_depot(os.getpid()).close()
        if self._broken is not None:
            raise self._broken

    def _guarded(self, work: Callable[[], None]) -> None:
        """Have an error in a thread end the worker, and not the thread alone."""
        try:
            work()
        except BaseException as error:  # noqa: BLE001  raised again in the main thread
            self._broken = error
            self.stop(signal.SIGTERM)

    def _beat(self) -> None:
        while True:
            time.sleep(BEAT_SECONDS)
            try:
                patiently(self._queue.beat, self.name)
            except FileNotFoundError:
                # The folder is gone, or the coordinator took this worker for dead and gave its
                # cells to others.
                self.stop(signal.SIGTERM)
                return

    def _loop(self) -> None:
        candidates: list[Claim] = []
        while not self._no_more.is_set():
            candidates = candidates or patiently(self._queue.waiting)[::-1]
            claim = patiently(self._queue.claim, self.name, candidates)
            if claim is not None:
                self._serve(claim)
                self._last_work = time.monotonic()
            elif patiently(self._queue.is_over) or not self._may_wait():
                return
            else:
                self._no_more.wait(LOOK_SECONDS)

    def _may_wait(self) -> bool:
        idle = time.monotonic() - self._last_work
        return idle < IDLE_SECONDS and (
            idle < BEAT_SECONDS or patiently(self._queue.has_coordinator)
        )

    def _serve(self, claim: Claim) -> None:
        content = patiently(self._queue.content, claim)
        if content is None:
            return
        is_cell, call = content[:1] == CELL, content[1:]
        try:
            reply = self._answer(call, claim, is_cell=is_cell)
        except Abandoned:
            patiently(self._queue.give_back, claim)
            return
        if isinstance(reply[1], Loss) and self._give_back.wait(LAST_WORD_SECONDS):
            # Whoever ended the job ended the cell with it: that is no loss.
            patiently(self._queue.give_back, claim)
            return
        body = cloudpickle.dumps(reply)
        with self._writing:
            patiently(self._queue.deliver, claim, body)

    def _answer(self, call: bytes, claim: Claim, *, is_cell: bool) -> tuple[str, Any]:
        try:
            function, args, options = cloudpickle.loads(call)
            if is_cell:
                return "result", function(*args, self.name, self._watch(claim))
            return "result", function(*args, **options)
        except Abandoned:
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, the coordinator is to know of it
            if is_cell:
                return "result", Refused(f"{self.name}: {type(error).__name__}: {error}")
            return "error", error

    def _watch(self, claim: Claim) -> Callable[[], bool]:
        looked = time.monotonic()

        def abandoned() -> bool:
            nonlocal looked
            if self._give_back.is_set():
                return True
            if time.monotonic() - looked < CLAIM_SECONDS:
                return False
            looked = time.monotonic()
            return not patiently(self._queue.holds, claim)

        return abandoned


CELL, CALL = b"c", b"f"


def cell_order(envelope: Envelope) -> bytes:
    """Return the content of an order of a cell."""
    return CELL + bytes(cloudpickle.dumps((work_on_envelope, (envelope,), {})))


def call_order(
    function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]
) -> bytes:
    """Return the content of an order of a call."""
    return CALL + bytes(cloudpickle.dumps((function, args, dict(options))))


def work_on_envelope(envelope: Envelope, name: str, abandoned: Callable[[], bool]) -> WorkerReply:
    """Run the cell in an envelope, on this worker."""
    return open_envelope(envelope, name, abandoned)


def queue_worker_name(environment: Mapping[str, str]) -> str:
    """Name a worker so that no other one, and no earlier life of the same job, has the name.

    Examples
    --------
    >>> job = {"SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "3", "SLURM_RESTART_COUNT": "1"}
    >>> queue_worker_name(job).startswith("12_3-1-")
    True
    """
    job = f"{environment.get('SLURM_ARRAY_JOB_ID', 0)}_{environment.get('SLURM_ARRAY_TASK_ID', os.getpid())}"
    host = re.sub(r"[^\w.]", "_", environment.get("SLURMD_NODENAME") or socket.gethostname())
    return f"{job}-{environment.get('SLURM_RESTART_COUNT', 0)}-{host}-{os.getpid()}"


def job_of(worker: str) -> str:
    """Return the job that a worker is of.

    Examples
    --------
    >>> job_of("12_3-1-node7-4711")
    '12_3'
    """
    return worker.partition("-")[0]


def return_claims_of_earlier_lives(queue: QueueFolder, worker: str) -> None:
    """Give back what a job had when it was requeued: nobody else works on that."""
    for claim in queue.claims():
        if claim.worker != worker and job_of(claim.worker) == job_of(worker):
            queue.give_back(claim)
            queue.leave(claim.worker)


def main(folder: str) -> None:
    """Work off a queue folder."""
    queue = QueueFolder(Path(folder))
    name = queue_worker_name(os.environ)
    if queue.is_over():
        sys.stdout.write(f"{name}: nothing to do, the run of {folder} is over\n")
        return
    worker = QueueWorker(queue, name, int(os.environ.get("SLURM_CPUS_PER_TASK") or 1))
    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, lambda heard, _: worker.stop(heard))
    return_claims_of_earlier_lives(queue, name)
    worker.work()


if __name__ == "__main__":
    main(sys.argv[1])
