"""Slurm: arrays of jobs that work on the cells of a queue folder, and what there is to say of them."""

from __future__ import annotations

import hashlib
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from typing_extensions import override

from paragone.errors import InputError
from paragone.lab.engine.packing import CODE, Loss, Reference, code_files
from paragone.lab.engine.queue_executor import BrokenQueue, QueueExecutor
from paragone.lab.engine.queue_folder import LOGS, SHARED, QueueFolder
from paragone.lab.engine.queue_worker import cell_order, job_of
from paragone.lab.engine.shared import Courier, Envelope
from paragone.lab.engine.task import CellTask
from paragone.lab.engine.workers import Conditions, Ended, Following, Seat, Workplace, accepted

SQUEUE_SECONDS = 10.0
"""How often Slurm's controller is asked; it serves a whole cluster."""
ANSWER_SECONDS = 30.0
PENDING_SECONDS = 20.0
REPEAT_SECONDS = 600.0
GOODBYE_SECONDS = 20.0
GOODBYE_LOOK_SECONDS = 0.5
MOST_BAD_STARTS = 3
MOST_QUEUED = 2_000
MOST_QUEUED_BYTES = 256 << 20
LAST_LINES = 3
ALIVE = {
    "PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING", "STAGE_OUT",
    "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT",
}  # fmt: skip
NOT_RUNNING = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"}
GONE = "GONE"
OURS = (
    "--array",
    "--output",
    "--error",
    "--job-name",
    "--wrap",
    "--parsable",
    "--wait",
    "--test-only",
)
SHORT_OURS = ("-a", "-o", "-e", "-J", "-W")
HINTS = {
    "Resources": "it waits for nodes to become free",
    "Priority": "others come first",
    "PartitionTimeLimit": (
        "it asks for more time than its partition allows, and will not start: give a shorter --time"
    ),
    "PartitionNodeLimit": "it asks for more nodes than its partition allows, and will not start",
    "PartitionDown": "its partition is down",
    "PartitionInactive": "its partition is not active",
    "BadConstraints": "no node has what it asks for, and it will not start",
    "ReqNodeNotAvail": "the nodes that it asks for are not available",
    "JobHeldUser": "it is held: `scontrol release` lets it go",
    "JobHeldAdmin": "an administrator holds it",
    "JobArrayTaskLimit": "its array has as many running jobs as it may",
}


@dataclass(frozen=True)
class Job:
    """A job as ``squeue`` tells of it."""

    name: str
    state: str
    reason: str = ""
    node: str = ""

    @classmethod
    def parse(cls, line: str) -> Job:
        """Read a line of ``squeue``.

        Examples
        --------
        >>> Job.parse("12|3|PENDING|Resources|")
        Job(name='12_3', state='PENDING', reason='Resources', node='')
        """
        job, task, state, reason, node = line.split("|", 4)
        return cls(f"{job}_{task}", state, reason, node)


def check_options(options: str) -> list[str]:
    """Return options of sbatch as a list; refuse those that would take the jobs out of the run's sight.

    Examples
    --------
    >>> check_options("--partition=compute --mem 4G")
    ['--partition=compute', '--mem', '4G']
    >>> check_options("--array=1-10")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: --slurm '--array=1-10': leave out --array, Paragone gives it to
    sbatch itself
    """
    try:
        words = shlex.split(options)
    except ValueError as error:
        raise InputError(f"--slurm {options!r} cannot be read: {error}") from error
    for word in words:
        name = word.partition("=")[0]
        if name in OURS or (not word.startswith("--") and word[:2] in SHORT_OURS):
            raise InputError(
                f"--slurm {options!r}: leave out {name}, Paragone gives it to sbatch itself"
            )
    return words


class SlurmJobs:
    """The jobs of one queue folder: as many as there is work for.

    Parameters
    ----------
    queue : QueueFolder
        The folder.
    name : str
        Shown in Slurm's queue; a mark of the folder is added.
    most : int
        The most jobs at a time.
    options : str
        For sbatch, such as ``"--partition=compute --time=01:00:00 --mem=4G"``.
    python : str
        The Python of the nodes.
    """

    def __init__(
        self,
        queue: QueueFolder,
        name: str,
        most: int,
        options: str = "",
        python: str = sys.executable,
    ) -> None:
        self._options = check_options(options)
        for program in ("sbatch", "squeue", "scancel"):
            if shutil.which(program) is None:
                raise InputError(
                    f"--engine slurm needs Slurm, and there is no {program} on this machine: run"
                    " this on a login node of the cluster, or leave out --engine slurm to work on"
                    " this machine"
                )
        mark = hashlib.sha256(str(queue.path.resolve()).encode()).hexdigest()[:8]
        self._name = f"paragone-{re.sub(r'[^A-Za-z0-9_.]+', '-', name)[:40]}-{mark}"
        self._queue = queue
        self._most = most
        self._python = python
        self._jobs: dict[str, Job] = {}
        self._submitted: dict[str, float] = {}
        self._listed_at = -math.inf
        self._first_seen: dict[str, float] = {}
        self._productive: set[str] = set()
        self._judged: set[str] = set()
        self._failed = False
        self._bad_starts = 0
        self._waiting_before = -1
        self._unanswered = False
        self._pending_since: float | None = None
        self._told: tuple[str, float] = ("", 0.0)

    def look(
        self, waiting: int, claimed: int, there: Collection[str], at_work: Collection[str]
    ) -> list[str]:
        """Submit jobs where there is more work than jobs; say what became of others."""
        now = time.monotonic()
        for worker in there:
            self._first_seen.setdefault(worker, now)
        productive = {job_of(worker) for worker in at_work}
        if not productive <= self._productive:
            self._bad_starts = 0
        self._productive |= productive
        # Orders come one after another: an array is submitted once for all of them.
        settled, self._waiting_before = waiting <= self._waiting_before, waiting
        if not settled or (
            now - self._listed_at < SQUEUE_SECONDS and (self._alive() or not waiting)
        ):
            return []
        if not self._list():
            said = (
                []
                if self._unanswered
                else ["waiting: squeue does not answer, and no jobs are submitted until it does"]
            )
            self._unanswered = True
            return said
        said = self._judge()
        missing = min(self._most, waiting + claimed) - len(self._alive())
        if waiting and missing > 0:
            said.append(self._submit(missing))
        return said + self._tell_of_pending(now)

    def _alive(self) -> list[Job]:
        return [job for job in self._jobs.values() if job.state in ALIVE]

    def _list(self) -> bool:
        """Ask for the jobs; False where nobody answers."""
        form = "--format=%F|%K|%T|%r|%N"
        answer = _run(
            "squeue", "--noheader", "--array", "--states=all", f"--name={self._name}", form
        )
        if answer is None or answer.returncode != 0:
            if self._listed_at < 0:
                # A controller that has answered before will do so again; one that never did may not
                # be there at all.
                raise BrokenQueue(
                    "Slurm does not answer, so no jobs were submitted: squeue says"
                    f" {_words(answer)}"
                )
            return False
        asked = time.monotonic()
        listed = {job.name: job for job in map(Job.parse, answer.stdout.splitlines())}
        # Slurm forgets a job some minutes after its end.
        for name in set(self._submitted) - set(listed):
            listed[name] = (
                self._jobs[name] if self._jobs[name].state not in ALIVE else Job(name, GONE)
            )
        if self._listed_at < 0:
            # What ended before this coordinator began was told by an earlier one.
            self._judged.update(name for name, job in listed.items() if job.state not in ALIVE)
        self._jobs = listed
        self._listed_at = asked
        self._unanswered = False
        return True

    def _judge(self) -> list[str]:
        """Say what became of jobs that ended since the last look."""
        ended = [
            job
            for job in self._jobs.values()
            if job.state not in ALIVE and job.name not in self._judged
        ]
        self._judged.update(job.name for job in ended)
        cancelled = [job for job in ended if job.state == "CANCELLED"]
        bad = [
            job
            for job in ended
            if job.state not in ("COMPLETED", "CANCELLED") and job.name not in self._productive
        ]
        failed = [
            job
            for job in ended
            if job.state not in ("COMPLETED", "CANCELLED", GONE) and job not in bad
        ]
        self._failed |= bool(bad or failed)
        self._most -= len(cancelled)
        alive = len(self._alive())
        if cancelled and not alive:
            raise BrokenQueue(
                f"the jobs in Slurm were cancelled ({_names(cancelled)}): every finished cell is"
                " kept; run the same command again to go on with new ones"
            )
        self._bad_starts += len(bad)
        if bad and (not alive or self._bad_starts >= MOST_BAD_STARTS):
            raise BrokenQueue(
                f"jobs in Slurm end before they take a cell: {self._last_words(bad[0])}"
            )
        said = [self._last_words(job) for job in bad]
        said += [
            f"job {job.name} ended as {job.state}; its log is {self._log(job)}" for job in failed
        ]
        if cancelled:
            said.append(f"cancelled: {_names(cancelled)}; {alive} jobs go on")
        return said

    def _log(self, job: Job) -> Path:
        return self._queue.path / LOGS / f"{job.name}.log"

    def _last_words(self, job: Job) -> str:
        """Say how a job ended, in the words of its log."""
        state = "is no longer known to Slurm" if job.state == GONE else f"ended as {job.state}"
        where = f" on {job.node}" if job.node else ""
        try:
            lines = self._log(job).read_text(errors="replace").split("\n")
        except OSError:
            return (
                f"job {job.name} {state}{where} and left no log at {self._log(job)}: see that the"
                " nodes can write there, or give a folder that they share with --queue"
            )
        words = (
            " / ".join([line.strip() for line in lines if line.strip()][-LAST_LINES:]) or "empty"
        )
        return f"job {job.name} {state}{where}; the last lines of its log {self._log(job)}: {words}"

    def _submit(self, count: int) -> str:
        """Submit an array of jobs."""
        script = self._queue.path / "worker.sh"
        module = "paragone.lab.engine.queue_worker"
        command = shlex.join([self._python, "-P", "-m", module, str(self._queue.path)])
        script.write_text(f"#!/bin/sh\nexec {command}\n")
        logs = f"{self._queue.path / LOGS}/%A_%a.log"
        ours = [
            "--parsable",
            f"--job-name={self._name}",
            f"--array=0-{count - 1}",
            f"--output={logs}",
        ]
        # `exec`, so that the signal for the batch shell reaches the worker; the user's options come
        # last and hold.
        ours += ["--open-mode=append", "--requeue", "--signal=B:USR1@60"]
        answer = _run("sbatch", *ours, *self._options, str(script))
        if answer is None or answer.returncode != 0:
            raise BrokenQueue(f"sbatch refused the jobs: {_words(answer)}")
        job = answer.stdout.strip().partition(";")[0]
        for task in range(count):
            self._jobs[f"{job}_{task}"] = Job(f"{job}_{task}", "PENDING")
            self._submitted[f"{job}_{task}"] = time.monotonic()
        shown = f"{job}_0" if count == 1 else f"{job}_[0-{count - 1}]"
        return (
            f"submitted {count} {'job' if count == 1 else 'jobs'} to Slurm: {shown}; logs in"
            f" {self._queue.path / LOGS}"
        )

    def _tell_of_pending(self, now: float) -> list[str]:
        """Say so where no job runs for a while, and why."""
        alive = self._alive()
        pending = [job for job in alive if job.state in NOT_RUNNING]
        if not pending or len(pending) < len(alive):
            self._pending_since = None
            return []
        self._pending_since = self._pending_since or now
        reasons = Counter(job.reason.partition(",")[0] for job in pending)
        reason = reasons.most_common(1)[0][0]
        if now - self._pending_since < PENDING_SECONDS or (
            reason == self._told[0] and now < self._told[1]
        ):
            return []
        self._told = reason, now + REPEAT_SECONDS
        hint = f": {HINTS[reason]}" if reason in HINTS else ""
        return [f"waiting: {len(pending)} jobs are pending in Slurm and none runs ({reason}{hint})"]

    def is_gone(self, worker: str) -> str:
        """Say how the job of a worker ended, where Slurm was asked since the worker was seen first."""
        job = self._jobs.get(job_of(worker))
        if job is None or self._first_seen.get(worker, self._listed_at) >= self._listed_at:
            return ""
        if job.state in NOT_RUNNING:
            return f"job {job.name} was requeued"
        return "" if job.state in ALIVE else f"job {job.name} ended as {job.state}"

    def failed(self) -> bool:
        """Tell whether a job failed, so that the logs are worth keeping."""
        return self._failed

    def dismiss(self) -> None:
        """Let the workers go by themselves, since they were told that all is over; cancel what stays."""
        ids = sorted({name.partition("_")[0] for name in self._jobs})
        if not ids:
            return
        _run("scancel", "--state=PENDING", *ids)
        deadline = time.monotonic() + GOODBYE_SECONDS
        while self._list() and self._alive() and time.monotonic() < deadline:
            time.sleep(GOODBYE_LOOK_SECONDS)
        if self._alive():
            _run("scancel", *ids)
        # Whoever uses this executor again need not hear of them.
        self._judged.update(self._jobs)
        self._jobs, self._submitted = {}, {}

    def going_on(self) -> str:
        """Say which jobs go on without a coordinator; empty where none do."""
        ids = sorted({job.name.partition("_")[0] for job in self._alive()})
        return (
            f"jobs {', '.join(ids)} go on in Slurm; `scancel {' '.join(ids)}` ends them"
            if ids
            else ""
        )


def _names(jobs: list[Job]) -> str:
    return ", ".join(sorted(job.name for job in jobs))


def _words(answer: subprocess.CompletedProcess[str] | None) -> str:
    """Return what a program of Slurm said of its failure, in one line."""
    words = f"nothing within {ANSWER_SECONDS:.0f} s" if answer is None else answer.stderr.strip()
    return " / ".join(words.splitlines()) or "nothing"


def _run(*command: str) -> subprocess.CompletedProcess[str] | None:
    """Run a program of Slurm; None where it does not end in time."""
    # Inside a job the variables that describe it would be taken for options of the new ones.
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("SLURM_") or name == "SLURM_CONF"
    }
    try:
        return subprocess.run(  # noqa: S603
            command, env=kept, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False
        )  # noqa: RUF100, S603
    except subprocess.TimeoutExpired:
        return None


class SlurmExecutor(QueueExecutor):
    """An executor whose workers are jobs of Slurm, on nodes that share a file system with this machine.

    Parameters
    ----------
    folder : str or Path
        Through which the jobs get their cells; made here, and removed at the end. The nodes must
        see it.
    workers : int, default=1
        The most jobs at a time.
    options : str, default=""
        For sbatch.
    name : str, default="run"
        Shown in Slurm's queue.
    python : str, optional
        The Python of the nodes; the one of this process where it is not given.
    """

    def __init__(
        self,
        folder: str | Path,
        workers: int = 1,
        options: str = "",
        *,
        name: str = "run",
        python: str = sys.executable,
    ) -> None:
        queue = QueueFolder(Path(folder).absolute())
        self.most = max(1, workers)
        self.jobs = SlurmJobs(queue, name, self.most, options, python)
        super().__init__(queue, self.jobs)


class _QueueCourier(Courier):
    """Puts data and code into the queue folder, once, where every job finds it."""

    queue: QueueFolder

    @override
    def pack(self, task: CellTask) -> Envelope:
        envelope = super().pack(task)
        code = tuple(self._shared(reference) for reference in envelope.code)
        return replace(envelope, data=self._shared(envelope.data), code=code)

    def _shared(self, reference: Reference) -> Reference:
        sent = str(self.queue.path), reference.key
        if not self.sent[sent]:
            folder = Path(reference.folder)
            chosen = (
                code_files(folder)
                if reference.key.startswith(CODE)
                else sorted(folder.glob("*.npy"))
            )
            self.queue.share(
                reference.key, {path.relative_to(folder).as_posix(): path for path in chosen}
            )
            self.sent[sent] += 1
        return Reference(reference.key, str(self.queue.path / SHARED / reference.key), visible=True)

    def identity(self) -> str:
        """Name all that a result depends on beside its cell's key."""
        limits, isolation = self.conditions.limits, self.conditions.isolation
        parts = limits, isolation, self._versions, [code.key for code in self._code]
        return hashlib.sha256(repr(parts).encode()).hexdigest()


class SlurmCluster(Workplace):
    """The jobs of a Slurm executor.

    Parameters
    ----------
    executor : SlurmExecutor
        Whose jobs.
    conditions : Conditions
        Of the run.
    """

    can_end = True
    look_seconds = 1.0

    def __init__(self, executor: SlurmExecutor, conditions: Conditions) -> None:
        if conditions.isolation == "none":
            raise InputError(
                'isolation = "none" works in the calling process: leave it out, or leave out'
                " --engine slurm"
            )
        self.isolation = conditions.isolation
        self.executor = executor
        self.courier = _QueueCourier(conditions)
        self.courier.queue = executor.queue
        self.order_bytes = 1
        executor.begin(self.courier.identity())

    @override
    def size(self, seconds: float | None = None) -> int:
        # Many: where the coordinator ends, the jobs go on with what is in the folder.
        by_size = MOST_QUEUED_BYTES // self.order_bytes
        return max(2 * self.executor.most, min(MOST_QUEUED, by_size))

    @override
    def at_once(self) -> int:
        return max(1, self.executor.living)

    @override
    def new_seat(self) -> Seat:
        return _SlurmSeat(self)

    @override
    def described(self) -> str:
        return "jobs of Slurm"

    @override
    def news(self) -> list[str]:
        return self.executor.news()

    @override
    def interrupt(self) -> str:
        self.executor.leave()
        return self.executor.jobs.going_on()

    @override
    def close(self) -> None:
        self.executor.shutdown()


class _SlurmSeat(Seat):
    """A place in the queue."""

    def __init__(self, cluster: SlurmCluster) -> None:
        self._cluster = cluster
        self._key = ""

    @override
    def submit(self, task: CellTask) -> Future[Any]:
        self._key = task.key

        def order() -> bytes:
            content = cell_order(self._cluster.courier.pack(task))
            self._cluster.order_bytes = max(self._cluster.order_bytes, len(content))
            return content

        try:
            return self._cluster.executor.submit_cell(task.key, order)
        except BrokenExecutor as error:
            raise InputError(str(error)) from error
        except OSError as error:
            raise InputError(
                f"the folder {self._cluster.executor.queue.path}, through which jobs get their"
                f" cells, cannot be used any more: {error.strerror or error}; every finished cell"
                " is kept: run the same command again to go on"
            ) from error

    @override
    def collect(self, future: Future[Any]) -> Ended | Following:
        try:
            return accepted(future.result())
        except BrokenExecutor as error:
            raise InputError(str(error)) from error
        except CancelledError:
            return Loss("the cell was taken back")

    @override
    def end(self) -> bool:
        return self._cluster.executor.take_back(self._key)
