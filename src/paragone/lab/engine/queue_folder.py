"""The queue folder: cells wait, are claimed and come back as files, so that machines need nothing but a common disk.

An order is a file. Whoever renames it into the folder of claims has it: a rename happens once, on a
local disk as on NFS or Lustre. What came of it is appended to a file that only this worker writes.
A claim is a lease: it holds while the worker's own file is touched, and how long ago that was is
read from the clock of the file system that holds the folder, never from that of a machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

from paragone.errors import InputError
from paragone.lab.store.runs import DEAD_AFTER_SECONDS, RunIdentity

ORDERS, CLAIMS, OUTCOMES, WORKERS, SHARED, LOGS = (
    "orders",
    "claims",
    "outcomes",
    "workers",
    "shared",
    "logs",
)
COORDINATOR, AFTER, CONDITIONS, END, CLOCK = "coordinator", "after", "conditions", "end", "clock"
AT = "@"
DIGITS = 12
RECORD = struct.Struct("<4sIQI")
MARK = b"pgq1"
ROOM_BYTES = 1 << 16


@dataclass(frozen=True)
class Claim:
    """An order that a worker has: its number, the key of its cell, and who has it.

    Examples
    --------
    >>> claim = Claim.parse("000000000007-ab12@4_0-0-node1-99")
    >>> claim.key, claim.worker, claim.name
    ('ab12', '4_0-0-node1-99', '000000000007-ab12@4_0-0-node1-99')
    """

    number: int
    key: str
    worker: str

    @classmethod
    def parse(cls, name: str) -> Claim:
        """Read the name of a file, of an order (which no worker has) or of a claim."""
        order, _, worker = name.partition(AT)
        number, _, key = order.partition("-")
        return cls(int(number), key, worker)

    @property
    def order(self) -> str:
        """The name of the order's file."""
        return f"{self.number:0{DIGITS}d}-{self.key}"

    @property
    def name(self) -> str:
        """The name of the claim's file."""
        return f"{self.order}{AT}{self.worker}"


@dataclass(frozen=True)
class Record:
    """What a worker delivered: for which key, and where it stands in the worker's file."""

    key: str
    worker: str
    begin: int
    end: int


class QueueFolder:
    """A folder that the coordinator of a run and its workers see.

    Parameters
    ----------
    path : Path
        Where it is; whoever can write there can have the workers run anything, so it is made for
        its owner alone.

    Examples
    --------
    >>> import tempfile
    >>> queue = QueueFolder(Path(tempfile.mkdtemp()) / "queue")
    >>> queue.make()
    >>> queue.put("ab12", b"what to do")
    >>> claim = queue.claim("worker")
    >>> claim.key, queue.claim("another") is None
    ('ab12', True)
    >>> queue.content(claim)
    b'what to do'
    >>> queue.deliver(claim, b"done")
    >>> [(record.key, queue.body(record)) for record in queue.records("worker", 0)]
    [('ab12', b'done')]
    >>> queue.remove()
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._next_number = 0
        self._mine = b""

    def make(self) -> None:
        """Make what is missing of it."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in (ORDERS, CLAIMS, OUTCOMES, WORKERS, SHARED, LOGS):
            (self.path / name).mkdir(mode=0o700, exist_ok=True)
        (self.path / END).unlink(missing_ok=True)
        known = [claim.number for claim in (*self.waiting(), *self.claims())]
        self._next_number = max(known, default=-1) + 1

    def remove(self, *, keep_logs: bool = False) -> None:
        """Remove the folder, or all of it but the logs."""
        for entry in self.path.iterdir():
            if entry.is_dir() and not (keep_logs and entry.name == LOGS):
                shutil.rmtree(entry, ignore_errors=True)
            elif not entry.is_dir():
                entry.unlink(missing_ok=True)
        # A file that a worker still has open stays on NFS under another name until the worker
        # closes it.
        with suppress(OSError):
            self.path.rmdir()

    def put(self, key: str, content: bytes) -> None:
        """Add an order, after all others."""
        order = Claim(self._next_number, key, "").order
        self._next_number += 1
        self._write(self.path / ORDERS / order, content)

    def waiting(self) -> list[Claim]:
        """Return the orders that nobody has, the first one first."""
        return [Claim.parse(name) for name in sorted(_names(self.path / ORDERS))]

    def claims(self) -> list[Claim]:
        """Return the orders that workers have."""
        return [Claim.parse(name) for name in sorted(_names(self.path / CLAIMS))]

    def claim(self, worker: str, candidates: list[Claim] | None = None) -> Claim | None:
        """Take the first order that nobody else has; None where there is none.

        Parameters
        ----------
        worker : str
            Who takes it.
        candidates : list of Claim, optional
            What `waiting` gave a moment ago; it is used up from its end.
        """
        found = self.waiting()[::-1] if candidates is None else candidates
        while found:
            claim = Claim(found[-1].number, found[-1].key, worker)
            try:
                (self.path / ORDERS / claim.order).rename(self.path / CLAIMS / claim.name)
            except FileNotFoundError:
                # Over NFS an answer can get lost: the rename is then done, and asked for again it
                # fails.
                if not self.holds(claim):
                    found.pop()
                    continue
            found.pop()
            return claim
        return None

    def content(self, claim: Claim) -> bytes | None:
        """Return what is to be done; None where the claim was taken away."""
        try:
            return (self.path / CLAIMS / claim.name).read_bytes()
        except FileNotFoundError:
            return None

    def holds(self, claim: Claim) -> bool:
        """Tell whether a claim still stands."""
        return (self.path / CLAIMS / claim.name).exists()

    def give_back(self, claim: Claim) -> None:
        """Let others have the order of a claim."""
        with suppress(FileNotFoundError):
            (self.path / CLAIMS / claim.name).rename(self.path / ORDERS / claim.order)

    def void(self, claim: Claim) -> None:
        """Take an order back, whether it waits or a worker has it."""
        place = (
            self.path / CLAIMS / claim.name if claim.worker else self.path / ORDERS / claim.order
        )
        place.unlink(missing_ok=True)

    def deliver(self, claim: Claim, body: bytes) -> None:
        """Append what came of an order to the worker's file, whole, and give up the claim."""
        path = self.path / OUTCOMES / claim.worker
        key = claim.key.encode()
        head = RECORD.pack(MARK, len(key), len(body), zlib.crc32(key + body))
        # Closed each time: what is written over NFS is seen elsewhere from then on.
        with path.open("ab") as file:
            before = file.seek(0, os.SEEK_END)
            try:
                file.write(head + key + body)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                # Half a record before a whole one would hide it.
                os.ftruncate(file.fileno(), before)
                raise
        self.void(claim)

    def records(self, worker: str, begin: int) -> Iterator[Record]:
        """Read which records a worker's file has from a place on; one that is not whole yet is left for later.

        Raises
        ------
        ValueError
            Where what stands there is no record: the file is damaged from there on.
        """
        try:
            file = (self.path / OUTCOMES / worker).open("rb")
        except FileNotFoundError:
            return
        with file:
            size = os.fstat(file.fileno()).st_size
            while size - begin >= RECORD.size:
                file.seek(begin)
                mark, key_length, length, checksum = RECORD.unpack(file.read(RECORD.size))
                if mark != MARK:
                    raise ValueError(f"{worker} has no record at byte {begin}")
                end = begin + RECORD.size + key_length + length
                if end > size:
                    return
                content = file.read(key_length + length)
                if zlib.crc32(content) != checksum:
                    raise ValueError(
                        f"the record of {worker} at byte {begin} has another checksum than it was"
                        " given"
                    )
                yield Record(content[:key_length].decode(), worker, begin, end)
                begin = end

    def body(self, record: Record) -> bytes:
        """Read what a record says."""
        with (self.path / OUTCOMES / record.worker).open("rb") as file:
            file.seek(record.begin)
            _, key_length, length, _ = RECORD.unpack(file.read(RECORD.size))
            file.seek(key_length, os.SEEK_CUR)
            return file.read(length)

    def deliverers(self) -> list[str]:
        """Return the workers that have delivered something."""
        return sorted(_names(self.path / OUTCOMES))

    def forget(self, worker: str) -> None:
        """Remove what a worker delivered."""
        (self.path / OUTCOMES / worker).unlink(missing_ok=True)

    def greet(self, worker: str) -> None:
        """Say that a worker is there; from now on it has to beat."""
        self._write(self.path / WORKERS / worker, b"")

    def beat(self, worker: str) -> None:
        """Say that a worker lives.

        Raises
        ------
        FileNotFoundError
            Where the folder is gone, or somebody declared the worker dead.
        """
        # Without a time of its own: the file server sets it by its clock.
        os.utime(self.path / WORKERS / worker)

    def leave(self, worker: str) -> None:
        """Say that a worker goes, without a claim."""
        (self.path / WORKERS / worker).unlink(missing_ok=True)

    def workers(self) -> dict[str, float]:
        """Return the workers that have not left, with the seconds since each was heard of."""
        now = self.now()
        heard = {
            name: _modified(self.path / WORKERS / name) for name in _names(self.path / WORKERS)
        }
        return {name: now - when for name, when in heard.items() if when is not None}

    def now(self) -> float:
        """Return the time by the clock of the file system."""
        # Each process has a file of its own: others may not be its owner, nor may they be in each
        # other's way.
        path = self.path / f"{CLOCK}-{uuid4().hex}"
        path.touch()
        moment = _modified(path)
        path.unlink(missing_ok=True)
        if moment is None:
            raise FileNotFoundError(str(path))
        return moment

    def check_room(self) -> None:
        """See that what comes of a cell could be written.

        Raises
        ------
        OSError
            Where it could not, as on a full disk.
        """
        path = self.path / f".{uuid4().hex}"
        try:
            path.write_bytes(bytes(ROOM_BYTES))
        finally:
            path.unlink(missing_ok=True)

    def begin_coordinating(self, conditions: str) -> bool:
        """Become the coordinator; False where an earlier one worked under other conditions.

        Raises
        ------
        InputError
            Where another one lives, or comes at the same moment.
        """
        before = _content(self.path / COORDINATOR)
        if before is not None:
            other = _coordinator(before)
            # One that is just being written has no name yet, but its time.
            lives = (
                self.has_coordinator() if other is None or other.is_elsewhere else other.lives(0.0)
            )
            if lives and other != RunIdentity.of_this_process():
                raise self._refusal(other)
        mine = json.dumps({**asdict(RunIdentity.of_this_process()), "token": uuid4().hex}).encode()
        if before is not None:
            self._succeed(before)
            self._write(self.path / COORDINATOR, mine)
        elif not _made(self.path / COORDINATOR, mine):
            raise self._refusal(_coordinator(_content(self.path / COORDINATOR) or b""))
        self._mine = mine
        kept = self.path / CONDITIONS
        same = not kept.exists() or kept.read_text() == conditions
        self._write(kept, conditions.encode())
        return same

    def _succeed(self, dead: bytes) -> None:
        """Take the place of a dead coordinator, whose file is never away meanwhile: one process alone can.

        The place after each coordinator is a file of its own, which stays. Whoever took it and died
        before it became the coordinator leaves another place behind it.
        """
        taken = dead
        while True:
            place = self.path / f"{AFTER}-{hashlib.sha256(taken).hexdigest()[:32]}"
            if _made(place, uuid4().hex.encode()):
                return
            since = _modified(place)
            stale = since is not None and self.now() - since >= DEAD_AFTER_SECONDS
            if not stale or _content(self.path / COORDINATOR) != dead:
                raise self._refusal(_coordinator(_content(self.path / COORDINATOR) or b""))
            taken += _content(place) or b""

    def _refusal(self, other: RunIdentity | None) -> InputError:
        who = f" (process {other.pid} on {other.host})" if other is not None else ""
        return InputError(
            f"another run hands out cells in {self.path}{who}: let it end; where it was killed, try"
            f" again in {DEAD_AFTER_SECONDS:.0f} s"
        )

    def is_coordinator(self) -> bool:
        """Tell whether this is still the coordinator: after a sleep, another one may have taken the folder over.

        Raises
        ------
        FileNotFoundError
            Where the folder is gone.
        """
        if not self._mine:
            return False
        if not self.path.is_dir():
            raise FileNotFoundError(f"{self.path} is gone")
        return _content(self.path / COORDINATOR) == self._mine

    def beat_as_coordinator(self) -> None:
        """Say that the coordinator lives."""
        os.utime(self.path / COORDINATOR)

    def end_coordinating(self) -> None:
        """Let another run be the coordinator at once."""
        if self.is_coordinator():
            (self.path / COORDINATOR).unlink(missing_ok=True)
        self._mine = b""

    def has_coordinator(self) -> bool:
        """Tell whether somebody will add orders and take outcomes."""
        beat = _modified(self.path / COORDINATOR)
        return beat is not None and self.now() - beat < DEAD_AFTER_SECONDS

    def end(self) -> None:
        """Tell the workers that there will be no more orders."""
        (self.path / END).touch()

    def is_over(self) -> bool:
        """Tell whether the coordinator said so, or the folder is gone."""
        return (self.path / END).exists() or not (self.path / ORDERS).is_dir()

    def share(self, key: str, files: Mapping[str, Path]) -> Path:
        """Copy files into a folder of the queue's, unless it is there, and return that folder."""
        final = self.path / SHARED / key
        if final.is_dir():
            return final
        partial = self.path / SHARED / f"{key}-{uuid4().hex}"
        try:
            for name, source in files.items():
                (partial / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, partial / name)
            partial.rename(final)
        except OSError:
            # Half a dataset would only keep a full disk full.
            shutil.rmtree(partial, ignore_errors=True)
            raise
        return final

    def _write(self, path: Path, content: bytes) -> None:
        """Write a file that nobody sees before it is whole."""
        partial = self.path / f".{uuid4().hex}"
        try:
            partial.write_bytes(content)
            partial.replace(path)
        except OSError:
            partial.unlink(missing_ok=True)
            raise


def _names(folder: Path) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if not name.startswith(".")]
    except FileNotFoundError:
        return []


def _made(path: Path, content: bytes) -> bool:
    """Make a file in one step that fails where it is there; every network file system keeps that promise."""
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        return False
    return True


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _coordinator(content: bytes) -> RunIdentity | None:
    """Read who coordinates; None where that is not written yet."""
    try:
        written = json.loads(content)
        return RunIdentity(str(written["host"]), int(written["pid"]), str(written["process_start"]))
    except (ValueError, KeyError, TypeError):
        return None


def _modified(path: Path) -> float | None:
    """Return when a file was changed; opened, since NFS would answer from memory otherwise."""
    try:
        with path.open("rb") as file:
            return os.fstat(file.fileno()).st_mtime
    except FileNotFoundError:
        return None
