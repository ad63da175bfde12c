"""The tables of a store: their versions and shape, and what refers to what."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from paragone.errors import InputError


@contextmanager
def transaction(db: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """Write what is written inside all at once; where anything fails, nothing of it.

    Examples
    --------
    >>> db = sqlite3.connect(":memory:", isolation_level=None)
    >>> with transaction(db):
    ...     _ = db.execute("CREATE TABLE kept (number INTEGER)")
    >>> try:
    ...     with transaction(db):
    ...         _ = db.execute("INSERT INTO kept VALUES (1)")
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt:
    ...     db.execute("SELECT count(*) FROM kept").fetchone()
    (0,)
    >>> db.close()
    """
    db.execute(f"BEGIN {kind}")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        # A full disk makes SQLite roll back by itself.
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


APPLICATION_ID = 0x50415247  # "PARG"
SCHEMA_VERSION = 4

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

SINCE_VERSION_4 = """
CREATE TABLE model_costs (
    fit_key TEXT PRIMARY KEY REFERENCES fits(fit_key) ON DELETE CASCADE,
    predict_cpu_seconds REAL,
    bytes INTEGER
) STRICT, WITHOUT ROWID;
"""

SINCE = {1: SCHEMA, 2: SINCE_VERSION_2, 3: SINCE_VERSION_3, 4: SINCE_VERSION_4}
"""What each version of the tables added. A run into an older store adds what it lacks; reading takes it as it is."""


def schema_statements(after: int = 0, until: int = SCHEMA_VERSION) -> list[str]:
    """Return the statements that make the tables of the versions after one and up to another.

    Examples
    --------
    >>> [statement.split()[2] for statement in schema_statements(after=2)]
    ['costs', 'warnings', 'fit_costs', 'fit_warnings', 'outputs', 'model_costs']
    """
    text = "".join(SINCE[version] for version in range(after + 1, until + 1))
    return [statement.strip() for statement in text.split(";") if statement.strip()]


def missing_before(version: int) -> frozenset[str]:
    """Return the names of the tables that a store of a version has not yet.

    Examples
    --------
    >>> sorted(missing_before(2))
    ['costs', 'fit_costs', 'fit_warnings', 'model_costs', 'outputs', 'warnings']
    """
    return frozenset(statement.split()[2] for statement in schema_statements(after=version))


def empty_tables(version: int) -> str:
    """Return what stands before a query for the tables that a store of a version has not yet: they count as empty.

    Examples
    --------
    >>> empty_tables(2)[:83], empty_tables(SCHEMA_VERSION)
    ('WITH costs (cell_id, cpu_seconds, peak_memory) AS (SELECT NULL, NULL, NULL WHERE 0)', '')
    """
    lacking = [shape for shape in table_shapes() if shape.name in missing_before(version)]
    made = [
        f"{s.name} ({', '.join(s.names)}) AS (SELECT {', '.join(['NULL'] * len(s.names))} WHERE 0)"
        for s in lacking
    ]
    return f"WITH {', '.join(made)} " if made else ""


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


class EmptyStoreError(InputError):
    """A store without tables: nothing was run into it yet, or a run is just making it."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"store {str(path)!r} is empty: nothing was run into it yet")


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of a store's tables; refuse another program's file and a newer store."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if (
        application == 0
        and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    ):
        # As a run leaves it between making the file and making the tables.
        raise EmptyStoreError(path)
    if application != APPLICATION_ID:
        raise InputError(f"{str(path)!r} is not a Paragone store: it is some other SQLite database")
    if version > SCHEMA_VERSION:
        raise InputError(
            f"store {str(path)!r} was written by a newer Paragone (schema {version}, this one knows"
            f" {SCHEMA_VERSION}): upgrade paragone"
        )
    if version < 1:
        raise InputError(
            f"store {str(path)!r} has no valid schema version ({version}): restore a copy"
        )
    return version


@dataclass(frozen=True)
class TableColumn:
    """One column: its name, its type (``INTEGER``, ``REAL``, ``TEXT`` or ``BLOB``), and whether it may be empty."""

    name: str
    type: str
    required: bool


@dataclass(frozen=True)
class TableShape:
    """One table: its columns, and those that make its key, in the order in which its rows are kept."""

    name: str
    columns: tuple[TableColumn, ...]
    key: tuple[str, ...]
    references: tuple[tuple[str, str], ...] = ()
    """Columns that hold the key of a row of another table, and which table that is."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def select(self, what: str = "*") -> str:
        """Return the query that reads the table in the order of its key, by the table itself and no index."""
        return f"SELECT {what} FROM {self.name} NOT INDEXED ORDER BY {', '.join(self.key)}"  # noqa: S608  names of our own schema

    def insert(self) -> str:
        """Return the statement that adds a row."""
        places = ", ".join("?" * len(self.columns))
        return f"INSERT INTO {self.name} VALUES ({places})"  # noqa: S608


@cache
def table_shapes() -> tuple[TableShape, ...]:
    """Return the tables, each after those that it refers to.

    Examples
    --------
    >>> [shape.name for shape in table_shapes()][:4]
    ['experiments', 'fits', 'cells', 'measures']
    >>> next(shape.key for shape in table_shapes() if shape.name == "scores")
    ('cell_id', 'measure_id', 'position')
    """
    with sqlite3.connect(":memory:") as database:
        for statement in schema_statements():
            database.execute(statement)
        names = [
            row[0]
            for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return tuple(_shape(database, name) for name in names)


def shape_of(name: str) -> TableShape:
    """Return the shape of one table."""
    return next(shape for shape in table_shapes() if shape.name == name)


def _shape(database: sqlite3.Connection, name: str) -> TableShape:
    rows = database.execute(f"PRAGMA table_info({name})").fetchall()
    columns = tuple(
        TableColumn(column, kind, bool(required)) for _, column, kind, required, _, _ in rows
    )
    key = tuple(row[1] for row in sorted((row for row in rows if row[5]), key=lambda row: row[5]))
    parents = database.execute(f"PRAGMA foreign_key_list({name})").fetchall()
    return TableShape(
        name, columns, key, tuple((column, parent) for _, _, parent, column, *_ in parents)
    )


def dangling_rows(present: Collection[str] | None = None) -> Iterator[tuple[str, str, str]]:
    """Return every table with one that it refers to, and how to ask for its rows that refer to what is not there.

    Parameters
    ----------
    present : collection of str, optional
        The tables that there are; all where it is not given.

    Examples
    --------
    >>> [where for table, parent, where in dangling_rows() if table == "fit_costs"]
    ['fit_costs WHERE fit_key NOT IN (SELECT +fit_key FROM fits)']
    """
    for shape in table_shapes():
        for column, parent in shape.references:
            if present is None or {shape.name, parent} <= set(present):
                (key,) = shape_of(parent).key
                # The sign has the keys read from end to end once, where each would be looked up
                # between arrays.
                listed = key if key == "id" else f"+{key}"
                where = f"{shape.name} WHERE {column} NOT IN (SELECT {listed} FROM {parent})"  # noqa: S608  of ours
                yield shape.name, parent, where


def delete_dangling(database: sqlite3.Connection) -> None:
    """Delete rows that refer to rows which are not there."""
    for _, _, where in dangling_rows():
        database.execute(f"DELETE FROM {where}")  # noqa: S608  names of our own schema
