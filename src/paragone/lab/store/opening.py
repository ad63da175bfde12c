"""Opening a store's file, once it is known to be one and to be whole."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paragone.errors import InputError
from paragone.lab.store.distrust import (
    NEW_ONE,
    NOT_READ,
    UNREADABLE,
    LimitedConnection,
    check_schema,
    damaged,
    distrust,
    primary_code,
)
from paragone.lab.store.schema import (
    SCHEMA_VERSION,
    EmptyStoreError,
    check_version,
    create_once,
    migrate,
)
from paragone.machine import file_system

Identity = tuple[int, int]
LOG_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24


class FilesInPlace:
    """Notices that a store's file or its log was deleted, moved or replaced while it is open.

    The system lets a process write on into a file that has no name any more; everything written
    there is lost.

    Parameters
    ----------
    path : Path
        The store's file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "lab.sqlite"
    ...     _ = path.write_bytes(b"")
    ...     files = FilesInPlace(path)
    ...     files.check()
    ...     path.unlink()
    ...     try:
    ...         files.check()
    ...     except InputError as error:
    ...         print("gone:", "deleted, moved or replaced" in str(error))
    gone: True
    """

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self._file = _identity(self._path)
        self._log: Identity | None = None

    def check(self) -> None:
        """Refuse to go on where one of the files is not the one that was opened; call it inside a transaction."""
        log = _identity(log_of(self._path))
        self._log = self._log or log
        if _identity(self._path) == self._file and log == self._log:
            return
        raise InputError(
            f"store {str(self._path)!r} was deleted, moved or replaced while it was in use: nothing"
            " more is written; put it back where you have it, and run the same command again"
        )


def _identity(path: Path) -> Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def log_of(path: Path) -> Path:
    """Return the file of a store's write-ahead log."""
    return path.with_name(path.name + "-wal")


def has_log(path: Path) -> bool:
    """Tell whether there are commits beside the store that are not in its file yet."""
    log = log_of(path)
    return log.exists() and log.stat().st_size > LOG_HEADER_BYTES


def pages_in_log(path: Path) -> set[int]:
    """Return the numbers of the pages that stand in a store's log, by SQLite's format of it."""
    found: set[int] = set()
    with log_of(path).open("rb") as log:
        header = log.read(LOG_HEADER_BYTES)
        page_size, salts = int.from_bytes(header[8:12], "big"), header[16:24]
        while (
            len(frame := log.read(FRAME_HEADER_BYTES)) == FRAME_HEADER_BYTES
            and frame[8:16] == salts
        ):
            found.add(int.from_bytes(frame[:4], "big"))
            log.seek(page_size, os.SEEK_CUR)
    return found


UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def truncated(path: Path, size: int, expected: int) -> InputError:
    """Say that the end of the file is gone."""
    return InputError(f"store {str(path)!r} is truncated ({size} of {expected} bytes): {NEW_ONE}")


BUSY_SECONDS = 60.0
HEADER = b"SQLite format 3\x00"
PAGE_SIZE_AT, PAGE_COUNT_AT = 16, 28


def connect(path: Path, *, create: bool) -> LimitedConnection:
    """Open a store, for reading, or for writing where it may be made; refuse a file that is not one.

    Parameters
    ----------
    path : Path
        The file.
    create : bool
        Whether it is opened for writing, and made where it is missing. On a file system that hosts
        share nobody writes: SQLite's log needs memory that all who have the file open share, which
        two hosts have not.

    Returns
    -------
    LimitedConnection
        In autocommit mode, write-ahead logging, foreign keys on.
    """
    check_file(path, create=create)
    try:
        if file_system(path).is_shared:
            return _connect_shared(path, create=create)
        return _connect(str(path), path, create=create)
    except sqlite3.DatabaseError as error:
        if create or primary_code(error) not in UNWRITABLE or has_log(path):
            raise damaged(path, error) from error
    try:
        # Nobody can write here, so nobody will: SQLite may read without the lock files that it
        # cannot make.
        return _connect_immutable(path)
    except sqlite3.DatabaseError as error:
        raise damaged(path, error) from error


def _connect_immutable(path: Path) -> LimitedConnection:
    return _connect(f"{path.resolve().as_uri()}?immutable=1", path, create=False)


def _connect_shared(path: Path, *, create: bool) -> LimitedConnection:
    """Open a store that lies where other hosts may write too: for reading, as nobody of ours writes there."""
    place = file_system(path)
    lies = (
        f"store {str(path)!r} lies on a disk that hosts share ({place.type} at {place.mounted_at})"
    )
    if create:
        raise InputError(
            f"{lies}, where no run can write safely: give a store on a local disk of this machine,"
            f" such as --store {Path(tempfile.gettempdir()) / path.name}, and copy it there when"
            " the run has ended"
        )
    if has_log(path):
        raise InputError(
            f"{lies}, and its log (-wal) was copied with it: copy both to a local disk and read it"
            " there"
        )
    return _connect_immutable(path)


def _connect(address: str, path: Path, *, create: bool) -> LimitedConnection:
    connection = sqlite3.connect(
        address,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        uri=address.startswith("file:"),
        factory=LimitedConnection,
    )
    try:
        distrust(connection)
        connection.limit(path)
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
        connection.execute("PRAGMA foreign_keys = ON")
        if create:
            create_once(connection)
        version = _check_schema(connection, path)
        if create and version < SCHEMA_VERSION:
            migrate(connection)
        _check_whole(connection, path)
        connection.execute("PRAGMA synchronous = NORMAL")
    except UNREADABLE as error:
        connection.close()
        raise damaged(path, error) from error
    except (sqlite3.DatabaseError, InputError):
        connection.close()
        raise
    return connection


def _check_schema(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of a store's tables, which are as this version has them."""
    # In one transaction: another process may bring the store up to date between two looks.
    connection.execute("BEGIN")
    try:
        version = check_version(connection, path)
        check_schema(connection, path, version)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return version


def check_file(path: Path, *, create: bool, whole: bool = True) -> None:
    """Refuse a missing, foreign or truncated file before SQLite touches it; truncated ones only where asked."""
    if not path.exists():
        if not create:
            raise InputError(
                f"store {str(path)!r} does not exist: give the file that `paragone run` wrote"
            )
        if not path.parent.is_dir():
            raise InputError(f"store {str(path)!r}: the folder {str(path.parent)!r} does not exist")
        return
    if path.is_dir():
        raise InputError(f"store {str(path)!r} is a folder: give a file")
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise InputError(
            f"store {str(path)!r} cannot be read: {error.strerror or error}"
        ) from error
    if not header:
        if not create:
            raise EmptyStoreError(path)
        return
    if not header.startswith(HEADER):
        raise InputError(f"{str(path)!r} is not a Paragone store: it is no SQLite file")
    _check_length(path, header, whole)


def _check_length(path: Path, header: bytes, whole: bool) -> None:
    page_size = int.from_bytes(header[PAGE_SIZE_AT : PAGE_SIZE_AT + 2], "big")
    page_size = 65536 if page_size == 1 else page_size
    pages = int.from_bytes(header[PAGE_COUNT_AT : PAGE_COUNT_AT + 4], "big")
    size = path.stat().st_size
    # Pages that the file lacks may stand in the log, as when the disk filled while they were being
    # moved over.
    if has_log(path) and len(header) == 100:
        return
    if size < max(100, page_size):
        raise InputError(
            f"store {str(path)!r} is truncated ({size} of {pages * page_size} bytes): restore a"
            " copy"
        )
    if whole and size < pages * page_size:
        raise truncated(path, size, pages * page_size)


def _check_whole(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file whose end is gone and is not in the log either; what is free there need not be anywhere."""
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    present = path.stat().st_size // page_size
    if present >= pages or set(range(present + 1, pages + 1)) <= pages_in_log(path):
        return
    if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise truncated(path, path.stat().st_size, pages * page_size)


@contextmanager
def examination(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store that may be damaged, for reading only."""
    check_file(path, create=False, whole=False)
    database = _opened_for_examination(path)
    try:
        yield database
    except NOT_READ as error:
        raise damaged(path, error) from error
    finally:
        database.close()


def _opened_for_examination(path: Path) -> sqlite3.Connection:
    """Open a file so that nothing is written and nothing is left beside it.

    With a log beside it, reading only. Without one SQLite makes one, and takes it away again only
    where it may write; where it may not, there is nobody else who writes either.
    """
    beside = log_of(path).exists()
    modes = ("mode=ro",) if beside else ("mode=rw", "immutable=1")
    for mode in modes:
        address = f"{path.resolve().as_uri()}?{mode}"
        database = sqlite3.connect(
            address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, factory=LimitedConnection
        )
        try:
            distrust(database, defensive=False)
            database.limit(path)
            database.execute("PRAGMA query_only = ON")
            # Otherwise SQLite opens no file that is shorter than its header says.
            database.execute("PRAGMA writable_schema = ON")
            check_version(database, path)
            return database
        except NOT_READ as error:
            database.close()
            if primary_code(error) not in UNWRITABLE or mode == modes[-1]:
                raise InputError(
                    f"store {str(path)!r} cannot be opened: {error}; restore a copy"
                ) from error
        except InputError:
            database.close()
            raise
    raise InputError(f"store {str(path)!r} cannot be opened")


def remove_database(path: Path) -> None:
    """Delete a database with what SQLite keeps beside it, where there is one."""
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
