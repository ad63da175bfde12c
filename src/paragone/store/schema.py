"""The store's tables: making them, their version, and bringing older ones to it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from paragone.errors import InputError
from paragone.store.transactions import transaction

APPLICATION_ID = 0x50415247  # "PARG"
SCHEMA_VERSION = 3

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

SINCE_VERSION_3 = """
CREATE TABLE costs (
    cell_id INTEGER PRIMARY KEY REFERENCES cells(id) ON DELETE CASCADE,
    cpu_seconds REAL,
    peak_memory INTEGER
) STRICT;
CREATE TABLE warnings (
    cell_id INTEGER NOT NULL REFERENCES cells(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    category TEXT NOT NULL,
    message TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (cell_id, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE fit_costs (
    fit_key TEXT PRIMARY KEY REFERENCES fits(fit_key) ON DELETE CASCADE,
    cpu_seconds REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE fit_warnings (
    fit_key TEXT NOT NULL REFERENCES fits(fit_key) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    category TEXT NOT NULL,
    message TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (fit_key, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE outputs (
    cell_id INTEGER PRIMARY KEY REFERENCES cells(id) ON DELETE CASCADE,
    printed TEXT NOT NULL
) STRICT;
"""

SINCE = {1: SCHEMA, 2: SINCE_VERSION_2, 3: SINCE_VERSION_3}
"""What each version of the tables added. A run into an older store adds what it lacks; reading takes it as it is."""
NEW_TABLES = {
    2: ("checksums", "quarantine", "losses"),
    3: ("costs", "warnings", "fit_costs", "fit_warnings", "outputs"),
}
"""The tables that a store of an older version lacks, by the version that brought them."""


def schema_statements(after: int = 0, until: int = SCHEMA_VERSION) -> list[str]:
    """Return the statements that make the tables of the versions after one and up to another.

    Examples
    --------
    >>> [statement.split()[2] for statement in schema_statements(after=2)]
    ['costs', 'warnings', 'fit_costs', 'fit_warnings', 'outputs']
    """
    text = "".join(SINCE[version] for version in range(after + 1, until + 1))
    return [statement.strip() for statement in text.split(";") if statement.strip()]


def missing_before(version: int) -> frozenset[str]:
    """Return the names of the tables that a store of a version has not yet.

    Examples
    --------
    >>> sorted(missing_before(2))
    ['costs', 'fit_costs', 'fit_warnings', 'outputs', 'warnings']
    """
    return frozenset(name for brought, names in NEW_TABLES.items() if brought > version for name in names)


def create_once(connection: sqlite3.Connection) -> None:
    """Make the tables under an exclusive lock, so that of two who come at once only one does."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    with transaction(connection, "EXCLUSIVE"):
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version == 0 and tables == 0:
            for statement in schema_statements():
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a store of an older version to this one; of two who come at once only one does."""
    with transaction(connection):
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if 1 <= version < SCHEMA_VERSION:
            for statement in schema_statements(after=version):
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
