"""Copying rows between stores: out of one as it is at an instant, into one that is new."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.lab.store.distrust import damaged
from paragone.lab.store.opening import connect, examination, remove_database
from paragone.lab.store.schema import TableShape, dangling_rows

BATCH, BATCH_OF_ARRAYS = 5000, 50
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
        self._present = {
            row[0]
            for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }

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


@contextmanager
def reading(path: str | Path) -> Iterator[Reading]:
    """Open a store to read all of it as it is now, whoever writes meanwhile.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.lab.store import Store
    >>> from paragone.lab.store.schema import table_shapes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Store(Path(folder) / "a.sqlite", create=True).close()
    ...     with reading(Path(folder) / "a.sqlite") as opened:
    ...         sum(len(rows) for shape in table_shapes() for rows in opened.batches(shape))
    0
    """
    path = Path(path)
    # A truncated file is refused here, where a check would go on.
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
    remove_database(partial)
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
        remove_database(partial)


def add_rows(
    database: sqlite3.Connection, shape: TableShape, rows: Iterable[Sequence[Any]], where: str
) -> int:
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
    for table, parent, dangling in dangling_rows():
        if database.execute(f"SELECT EXISTS (SELECT 1 FROM {dangling})").fetchone()[0]:  # noqa: S608  names of ours
            raise InputError(
                f"{where}: rows of {table} refer to rows of {parent} that are not there"
            )
