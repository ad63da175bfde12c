"""The store's tables, and opening the file that holds them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from paragone.errors import InputError
from paragone.store.files import has_log, pages_in_log

APPLICATION_ID = 0x50415247  # "PARG"
SCHEMA_VERSION = 2
BUSY_SECONDS = 60.0
HEADER = b"SQLite format 3\x00"
PAGE_SIZE_AT, PAGE_COUNT_AT = 16, 28

SCHEMA = """
CREATE TABLE experiments (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    declared TEXT NOT NULL,
    described TEXT NOT NULL,
    planned_at TEXT NOT NULL
) STRICT;
CREATE TABLE fits (
    fit_key TEXT PRIMARY KEY,
    arrays BLOB NOT NULL,
    info TEXT NOT NULL,
    seconds REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE cells (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    fit_key TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed', 'timeout')),
    seconds REAL NOT NULL,
    notes TEXT NOT NULL,
    error TEXT NOT NULL,
    traceback TEXT NOT NULL,
    finished_at TEXT NOT NULL
) STRICT;
CREATE TABLE measures (
    id INTEGER PRIMARY KEY,
    metric TEXT NOT NULL,
    grid TEXT NOT NULL,
    UNIQUE (metric, grid)
) STRICT;
CREATE TABLE scores (
    cell_id INTEGER NOT NULL REFERENCES cells(id) ON DELETE CASCADE,
    measure_id INTEGER NOT NULL REFERENCES measures(id),
    position INTEGER NOT NULL,
    at REAL,
    value REAL,
    PRIMARY KEY (cell_id, measure_id, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE predictions (
    cell_id INTEGER PRIMARY KEY REFERENCES cells(id) ON DELETE CASCADE,
    payload BLOB NOT NULL
) STRICT;
CREATE TABLE plan (
    experiment_id INTEGER NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    protocol TEXT NOT NULL,
    dataset TEXT NOT NULL,
    fold INTEGER NOT NULL,
    method TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    key TEXT NOT NULL,
    fit_key TEXT NOT NULL,
    data_part TEXT NOT NULL,
    split_part TEXT NOT NULL,
    method_part TEXT NOT NULL,
    protocol_part TEXT NOT NULL,
    version_part TEXT NOT NULL,
    seed_part TEXT NOT NULL,
    current INTEGER NOT NULL,
    PRIMARY KEY (experiment_id, dataset, fold, method, repeat, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX plan_by_key ON plan (key);
CREATE TABLE splits (
    split_part TEXT PRIMARY KEY,
    train BLOB NOT NULL,
    test BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE truths (
    truth_key TEXT PRIMARY KEY,
    payload BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE datasets (
    data_part TEXT PRIMARY KEY,
    described TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_start TEXT NOT NULL,
    workers INTEGER NOT NULL,
    environment TEXT NOT NULL,
    begun_at TEXT NOT NULL,
    beat REAL NOT NULL
) STRICT;
CREATE TABLE claims (
    key TEXT PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
"""

SINCE_VERSION_2 = """
CREATE TABLE checksums (
    kind TEXT NOT NULL CHECK (kind IN ('cell', 'scores', 'fit', 'split', 'truth')),
    key TEXT NOT NULL,
    sha256 BLOB NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE quarantine (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    reason TEXT NOT NULL,
    content BLOB,
    found_at TEXT NOT NULL
) STRICT;
CREATE TABLE losses (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    why TEXT NOT NULL,
    lost_at TEXT NOT NULL
) STRICT;
"""
"""What a store of version 1 lacks; a run into one adds it, and everything else reads it as it is."""
NEW_IN_VERSION_2 = ("checksums", "quarantine", "losses")


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
        address, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=address.startswith("file:")
    )
    try:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
        connection.execute("PRAGMA foreign_keys = ON")
        if create:
            _create_once(connection)
        version = check_version(connection, path)
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


UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


ADVICE = {
    sqlite3.SQLITE_FULL: "free some space and run the same command again; what was finished is kept",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable, or copy it with its -wal file to where they are",
    sqlite3.SQLITE_CANTOPEN: "see that the file and its folder can be read and written; a log (-wal) beside it "
    "belongs to it",
    sqlite3.SQLITE_BUSY: "another program has held it for over a minute; try again",
    sqlite3.SQLITE_IOERR: "see whether its disk is full, read-only, gone or broken, then run the same command again",
}
"""What to do by SQLite's primary error code; anything else means a damaged file."""


UNREADABLE = (UnicodeDecodeError, MemoryError)
"""What Python raises beside SQLite's errors for a damaged file: a message that is no text, a size that cannot be."""


def damaged(path: Path, error: Exception) -> InputError:
    """Say in one sentence what SQLite found wrong with the file, and what to do."""
    advice = ADVICE.get(primary_code(error), f"`paragone doctor {path} --repair` saves what is left")
    return InputError(f"store {str(path)!r} cannot be used: {error}; {advice}")


def primary_code(error: Exception) -> int:
    """Return SQLite's primary error code; 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


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


def truncated(path: Path, size: int, expected: int) -> InputError:
    """Say that the end of the file is gone."""
    return InputError(
        f"store {str(path)!r} is truncated ({size} of {expected} bytes): "
        f"`paragone doctor {path} --repair` saves what is left"
    )


def _create_once(connection: sqlite3.Connection) -> None:
    """Make the tables under an exclusive lock, so that of two who come at once only one does."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN EXCLUSIVE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version == 0 and tables == 0:
            for statement in (SCHEMA + SINCE_VERSION_2).split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        # A full disk makes SQLite roll back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _check_whole(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file whose end is gone and is not in the log either; what is free there need not be anywhere."""
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    present = path.stat().st_size // page_size
    if present >= pages or set(range(present + 1, pages + 1)) <= pages_in_log(path):
        return
    if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise truncated(path, path.stat().st_size, pages * page_size)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a store of an older version to this one; of two who come at once only one does."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] == 1:
            for statement in SINCE_VERSION_2.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        # A full disk makes SQLite roll back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of a store's tables; refuse another program's file and a newer store."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if application != APPLICATION_ID:
        raise InputError(f"{str(path)!r} is not a Paragone store: it is some other SQLite database")
    if version > SCHEMA_VERSION:
        raise InputError(
            f"store {str(path)!r} was written by a newer Paragone (schema {version}, this one knows "
            f"{SCHEMA_VERSION}): upgrade paragone"
        )
    if version < 1:
        raise InputError(f"store {str(path)!r} has no valid schema version ({version}): restore a copy")
    return version
