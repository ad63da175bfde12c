"""The store's tables: making them, their version, and bringing older ones to it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from paragone.errors import InputError
from paragone.store.transactions import transaction

APPLICATION_ID = 0x50415247  # "PARG"
SCHEMA_VERSION = 2

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


def create_once(connection: sqlite3.Connection) -> None:
    """Make the tables under an exclusive lock, so that of two who come at once only one does."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    with transaction(connection, "EXCLUSIVE"):
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version == 0 and tables == 0:
            for statement in (SCHEMA + SINCE_VERSION_2).split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a store of an older version to this one; of two who come at once only one does."""
    with transaction(connection):
        if connection.execute("PRAGMA user_version").fetchone()[0] == 1:
            for statement in SINCE_VERSION_2.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


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
