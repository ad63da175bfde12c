"""A store on a file system that hosts share, such as NFS or Lustre: one writer at a time, and readers with a copy.

SQLite's write-ahead log needs memory that all who have the file open share, which two hosts have
not; and its locks are those of the file system, which many keep to each host. So nothing here rests
on either:

- Whoever writes holds a *lease*: a file beside the store that only one process can make, whose time
  moves while that
  process lives. Then SQLite may keep the log without shared memory (``locking_mode = EXCLUSIVE``).
- Whoever reads takes a copy of the file and of its log to a disk of its own, and touches nothing
  beside the store.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

from paragone.errors import InputError
from paragone.lab.store.runs import BEAT_SECONDS, DEAD_AFTER_SECONDS, RunIdentity
from paragone.machine import file_system

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOOK_SECONDS = 1.0
MOST_COPIES = 20
AGAIN_SECONDS = 0.25
HEADER_BYTES, LOG_HEADER_BYTES = 100, 32


def is_shared(path: Path) -> bool:
    """Tell whether other hosts may have the file system of a store mounted too."""
    return file_system(path.parent if not path.exists() else path).is_shared


# The lease


@dataclass(frozen=True)
class _Seen:
    """A lease as it was found: its number, its content, its time, and whose it is, where that was written already."""

    number: int
    content: bytes
    beat: int
    holder: RunIdentity | None

    @property
    def told(self) -> str:
        holder = self.holder
        return "another process" if holder is None else f"process {holder.pid} on {holder.host}"


class Lease:
    """The right to write into a store on a shared file system, which one process at a time has.

    A lease is a file that is made in one step which fails where the file exists; every network file
    system keeps that promise. A dead holder is followed by making the file with the next number,
    which again only one can do, and by removing that of the dead one: a holder that slept finds its
    own gone before it writes the next time. What it was writing when it fell asleep goes into a
    file that is not the store any more: see `replace_by_copy`.

    Parameters
    ----------
    path : Path
        The store.

    Raises
    ------
    InputError
        Where a living process holds it. A holder that this machine's process table knows is judged
        by that; of any other, the time of the file must stand still for a minute of looks, one per
        second: a hanging server, or a sleep of this machine, is no silence of the holder's.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lease = Lease(Path(folder) / "lab.sqlite")
    ...     lease.check()
    ...     [file.name for file in Path(folder).iterdir()]
    ...     lease.release()
    ...     [file.name for file in Path(folder).iterdir()]
    ['lab.sqlite-lease-1']
    []
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.after_silence = False
        """Whether the holder before may only have slept."""
        self._content = json.dumps(
            {**asdict(RunIdentity.of_this_process()), "token": uuid4().hex}
        ).encode()
        self._file = self._taken()
        self._ended = threading.Event()
        # Of its own, since a long cell in the calling process keeps the run from beating.
        threading.Thread(target=self._beat, name="paragone-lease", daemon=True).start()

    @property
    def locks_work(self) -> bool:
        """Whether the file system has locks at all, which SQLite asks for even where it has no need of them."""
        if fcntl is None:
            return True
        try:
            # Of a file that nobody else locks: whatever is wrong is wrong with the locks.
            with self._file.open("r+b") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def check(self) -> None:
        """Refuse to go on where the lease is not this process's any more."""
        try:
            if self.is_held():
                return
        except OSError as error:
            raise InputError(
                f"store {str(self._path)!r} cannot be used: {error.strerror or error}; see that its"
                " file system is there, then run the same command again; what was finished is kept"
            ) from error
        raise InputError(
            f"store {str(self._path)!r} was taken over by another run while this one was not heard"
            " of for a minute, as after a sleep: nothing more is written; run the same command"
            " again to go on"
        )

    def is_held(self) -> bool:
        """Tell whether this process still has the right."""
        try:
            return self._file.read_bytes() == self._content
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Give the right up, where this process still has it."""
        self._ended.set()
        with suppress(OSError):
            if self.is_held():
                self._file.unlink()

    def _beat(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            try:
                os.utime(self._file, ns=(time.time_ns(), time.time_ns()))
            except FileNotFoundError:
                return
            except OSError:
                # A server that does not answer now may answer at the next beat; whoever writes asks
                # for itself.
                continue

    def _taken(self) -> Path:
        while True:
            before = _newest(self._path)
            if before is not None and not _await_silence(self._path, before):
                continue
            number = 0 if before is None else before.number
            own = _lease_file(self._path, number + 1)
            try:
                with own.open("xb") as file:
                    file.write(self._content)
                    os.fsync(file.fileno())
            except FileExistsError:
                continue
            # Another one may have come, worked and gone since the look, so that the number is
            # somebody else's by now.
            others = [other for other in _numbers(self._path) if other != number + 1]
            if (number and _seen(self._path, number) != before) or max(others, default=0) > number:
                own.unlink(missing_ok=True)
                continue
            for older in others:
                _lease_file(self._path, older).unlink(missing_ok=True)
            self.after_silence = before is not None and (
                before.holder is None or before.holder.is_elsewhere
            )
            return own


def _lease_file(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}-lease-{number}")


def _numbers(path: Path) -> list[int]:
    ends = (name.removeprefix(f"{path.name}-lease-") for name in os.listdir(path.parent))
    return sorted(int(end) for end in ends if end.isdecimal())


def _newest(path: Path) -> _Seen | None:
    numbers = _numbers(path)
    return _seen(path, numbers[-1]) if numbers else None


def _seen(path: Path, number: int) -> _Seen | None:
    """Look at a lease; None where it is gone."""
    try:
        # Its time is asked for when it is open: opening is when a network file system asks its
        # server.
        with _lease_file(path, number).open("rb") as file:
            content, beat = file.read(), os.fstat(file.fileno()).st_mtime_ns
    except OSError:
        return None
    try:
        written = json.loads(content)
        holder = RunIdentity(
            str(written["host"]), int(written["pid"]), str(written["process_start"])
        )
    except (ValueError, KeyError, TypeError):
        holder = None
    return _Seen(number, content, beat, holder)


def _await_silence(path: Path, lease: _Seen) -> bool:
    """Return True where the holder of a lease is dead, False where the lease is another one by now."""
    holder = lease.holder
    if holder is not None and not holder.is_elsewhere:
        if holder.lives(0.0):
            raise _held(path, lease)
        return True
    for _ in range(int(DEAD_AFTER_SECONDS / LOOK_SECONDS)):
        time.sleep(LOOK_SECONDS)
        now = _seen(path, lease.number)
        if now is None or now.content != lease.content:
            return False
        if now.beat != lease.beat:
            raise _held(path, lease)
    return True


def _held(path: Path, lease: _Seen) -> InputError:
    place = file_system(path)
    return InputError(
        f"{lease.told} is at work in store {str(path)!r}: on a file system that hosts share"
        f" ({place.type} at {place.mounted_at}) one run at a time writes; let it end first, or run"
        " into another store and join both with `paragone merge`"
    )


@contextmanager
def sole_writer(path: Path) -> Iterator[None]:
    """Be the only one who writes into a store, where its file system needs that said."""
    if not is_shared(path):
        yield
        return
    lease = Lease(path)
    try:
        yield
    finally:
        lease.release()


# Copies for readers


def copy_as_it_is(path: Path, folder: Path) -> Path:
    """Copy a store with its log as it is at one moment, whoever writes meanwhile on whatever host, without any lock.

    The log begins anew only after all that it holds was moved to the file, and then has another
    header. So where the header of the log is the same before and after, whatever the copy of the
    file holds of pages that were moved in between stands in the copy of the log too, which is read
    above it.

    Parameters
    ----------
    path : Path
        The store.
    folder : Path
        Where to put the copy.

    Returns
    -------
    Path
        The copy of the file; that of the log is beside it.
    """
    copy = folder / path.name
    for _ in range(MOST_COPIES):
        before = _signs(path)
        try:
            shutil.copyfile(path, copy)
            _copy_log(path, copy)
        except FileNotFoundError:
            # The log was there a moment ago: its writer has just closed the store.
            time.sleep(AGAIN_SECONDS)
            continue
        except OSError as error:
            raise InputError(
                f"store {str(path)!r} cannot be copied to {str(folder)!r}, where it would be read: "
                f"{error.strerror or error}"
            ) from error
        if before is not None and before == _signs(path):
            return copy
        time.sleep(AGAIN_SECONDS)
    raise InputError(
        f"store {str(path)!r} changes faster than it can be copied for reading: try again when the"
        " run has ended"
    )


def replace_by_copy(path: Path) -> None:
    """Put a copy of a store in its place, log and all, so that whoever has the old files open writes into nothing."""
    with tempfile.TemporaryDirectory(
        prefix=f".{path.name}-", dir=path.parent, ignore_cleanup_errors=True
    ) as folder:
        copy = copy_as_it_is(path, Path(folder))
        os.replace(copy, path)
        log = copy.with_name(f"{copy.name}-wal")
        # Until this line the old log stands beside the new file: it holds what the new file has, or
        # a commit more.
        if log.exists():
            os.replace(log, path.with_name(f"{path.name}-wal"))
        else:
            path.with_name(f"{path.name}-wal").unlink(missing_ok=True)


def _copy_log(path: Path, copy: Path) -> None:
    log = path.with_name(f"{path.name}-wal")
    copied = copy.with_name(f"{copy.name}-wal")
    copied.unlink(missing_ok=True)
    if log.exists():
        shutil.copyfile(log, copied)


def _signs(path: Path) -> tuple[bytes, bytes, int, int] | None:
    """Return what tells that a store was changed between two looks; None where it is just being changed.

    While there is a log, the file may change under its header: pages of the log move there.
    """
    if path.with_name(f"{path.name}-journal").exists():
        return None
    log = path.with_name(f"{path.name}-wal")
    try:
        header, _ = _beginning(log, LOG_HEADER_BYTES) if log.exists() else (b"", None)
        first, found = _beginning(path, HEADER_BYTES)
    except FileNotFoundError:
        return None
    return (header, b"", 0, 0) if header else (header, first, found.st_size, found.st_mtime_ns)


def _beginning(path: Path, size: int) -> tuple[bytes, os.stat_result]:
    # Opened anew each time: that is when a network file system asks its server whether what it has
    # is still right.
    with path.open("rb") as file:
        return file.read(size), os.fstat(file.fileno())
