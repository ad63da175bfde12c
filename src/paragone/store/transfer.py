"""All rows of a store, table by table, out of a file and into a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.store.examining import examination
from paragone.store.faults import damaged
from paragone.store.opening import connect
from paragone.store.shapes import TableShape

BATCH, BATCH_OF_ARRAYS = 5000, 50
_NO_ROW = (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError)
WITH_ARRAYS = ("fits", "predictions", "truths", "splits", "quarantine")


class Reading:
    """The rows of a store as they were at one instant.

    Parameters
    ----------
    database : sqlite3.Connection
        An open store, in a transaction.
    path : Path
        Its file.
    """

    def __init__(self, database: sqlite3.Connection, path: Path) -> None:
        self.database = database
        self.path = path
        self._present = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def has(self, table: str) -> bool:
        """Whether the store has a table; one of an older version may lack it."""
        return table in self._present

    def batches(self, shape: TableShape) -> Iterator[list[tuple[Any, ...]]]:
        """Return the rows of a table in the order of its key, some at a time; none where an old store lacks it."""
        if not self.has(shape.name):
            return
        cursor = self.database.execute(shape.select())
        size = BATCH_OF_ARRAYS if shape.name in WITH_ARRAYS else BATCH
        while rows := cursor.fetchmany(size):
            yield rows

    def rows(self, shape: TableShape) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a table in the order of its key."""
        return (row for batch in self.batches(shape) for row in batch)


@contextmanager
def reading(path: str | Path) -> Iterator[Reading]:
    """Open a store to read all of it as it is now, whoever writes meanwhile.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.store import Store
    >>> from paragone.store.shapes import table_shapes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Store(Path(folder) / "a.sqlite", create=True).close()
    ...     with reading(Path(folder) / "a.sqlite") as opened:
    ...         sum(len(list(opened.rows(shape))) for shape in table_shapes())
    0
    """
    path = Path(path)
    # A truncated file is refused here, where the doctor would go on.
    connect(path, create=False).close()
    with examination(path) as database:
        database.execute("BEGIN")
        yield Reading(database, path)


@contextmanager
def new_store(path: Path) -> Iterator[sqlite3.Connection]:
    """Give an empty database to fill; it becomes the store when all went well, else nothing is left.

    Parameters
    ----------
    path : Path
        Where the store is to stand; it must not exist.
    """
    if path.exists():
        raise InputError(f"{path} exists already: remove it or choose another name")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")
    partial = path.with_name(f".{path.name}.partial")
    _remove(partial)
    try:
        database = connect(partial, create=True)
        try:
            database.execute("BEGIN")
            yield database
            database.execute("COMMIT")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.DatabaseError as error:
            raise damaged(path, error) from error
        finally:
            database.close()
        partial.replace(path)
    finally:
        _remove(partial)


def add_rows(database: sqlite3.Connection, shape: TableShape, rows: Iterable[Sequence[Any]], where: str) -> int:
    """Add rows to a table; refuse what the table does not take."""
    try:
        return database.executemany(shape.insert(), rows).rowcount
    except (
        sqlite3.IntegrityError,
        sqlite3.InterfaceError,
        sqlite3.ProgrammingError,
        OverflowError,
        UnicodeError,
    ) as error:
        raise InputError(f"{where}: a row does not fit the table {shape.name} ({error})") from error


def check_references(database: sqlite3.Connection, where: str) -> None:
    """Refuse rows that refer to rows which are not there."""
    row = database.execute("PRAGMA foreign_key_check").fetchone()
    if row is not None:
        raise InputError(f"{where}: rows of {row[0]} refer to rows of {row[2]} that are not there")


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
