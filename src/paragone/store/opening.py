"""Opening a store's file, once it is known to be one and to be whole."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from paragone.errors import InputError
from paragone.store.faults import UNREADABLE, UNWRITABLE, damaged, primary_code, truncated
from paragone.store.files import has_log, pages_in_log
from paragone.store.foreign import LimitedConnection, check_schema, distrust
from paragone.store.schema import SCHEMA_VERSION, check_version, create_once, migrate

BUSY_SECONDS = 60.0
HEADER = b"SQLite format 3\x00"
PAGE_SIZE_AT, PAGE_COUNT_AT = 16, 28


def connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Open a store, making it first where asked; refuse a file that is not one.

    Parameters
    ----------
    path : Path
        The file.
    create : bool
        Whether a missing file is made.

    Returns
    -------
    sqlite3.Connection
        In autocommit mode, write-ahead logging, foreign keys on.
    """
    check_file(path, create=create)
    try:
        return _connect(str(path), path, create=create)
    except sqlite3.DatabaseError as error:
        if create or primary_code(error) not in UNWRITABLE or has_log(path):
            raise damaged(path, error) from error
    try:
        # Nobody can write here, so nobody will: SQLite may read without the lock files that it cannot make.
        return _connect(f"{path.resolve().as_uri()}?immutable=1", path, create=False)
    except sqlite3.DatabaseError as error:
        raise damaged(path, error) from error


def _connect(address: str, path: Path, *, create: bool) -> sqlite3.Connection:
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
            raise InputError(f"store {str(path)!r} does not exist: give the file that `paragone run` wrote")
        if not path.parent.is_dir():
            raise InputError(f"store {str(path)!r}: the folder {str(path.parent)!r} does not exist")
        return
    if path.is_dir():
        raise InputError(f"store {str(path)!r} is a folder: give a file")
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise InputError(f"store {str(path)!r} cannot be read: {error.strerror or error}") from error
    if not header:
        if not create:
            raise InputError(f"store {str(path)!r} is empty: nothing was run into it yet")
        return
    if not header.startswith(HEADER):
        raise InputError(f"{str(path)!r} is not a Paragone store: it is no SQLite file")
    _check_length(path, header, whole)


def _check_length(path: Path, header: bytes, whole: bool) -> None:
    page_size = int.from_bytes(header[PAGE_SIZE_AT : PAGE_SIZE_AT + 2], "big")
    page_size = 65536 if page_size == 1 else page_size
    pages = int.from_bytes(header[PAGE_COUNT_AT : PAGE_COUNT_AT + 4], "big")
    size = path.stat().st_size
    # Pages that the file lacks may stand in the log, as when the disk filled while they were being moved over.
    if has_log(path) and len(header) == 100:
        return
    if size < max(100, page_size):
        raise InputError(f"store {str(path)!r} is truncated ({size} of {pages * page_size} bytes): restore a copy")
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
