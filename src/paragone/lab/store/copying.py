"""Copying rows between stores: out of one as it is at an instant or as far as it can be read, into one that is new."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.lab.store.opening import (
    NOT_READ,
    connect,
    damaged,
    examination,
    log_of,
    remove_database,
)
from paragone.lab.store.schema import (
    TableShape,
    dangling_rows,
    delete_dangling,
    missing_before,
    plain_tables,
    table_shapes,
)

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


@dataclass(frozen=True)
class Salvage:
    """What of a broken file was copied: rows by table, tables that lost some, and where the broken file is kept."""

    damaged_file: Path
    rows: dict[str, int]
    incomplete: tuple[str, ...]


def salvage(path: Path) -> Salvage:
    """Put a new database with every readable row in the place of a broken one, which is kept beside it.

    Rows are read one by one where a table cannot be read in one go, from both ends where its middle
    is gone. Rows that refer to lost ones go too. What is left is judged by its checksums
    afterwards, not here.
    """
    fresh = path.with_name(f".{path.name}.salvaged")
    remove_database(fresh)
    try:
        with new_store(fresh) as target, examination(path) as source:
            rows, incomplete = _copied(source, target)
        damaged_file = _set_aside(path)
        fresh.replace(path)
    finally:
        remove_database(fresh)
    return Salvage(damaged_file, rows, incomplete)


def _copied(
    source: sqlite3.Connection, target: sqlite3.Connection
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Copy every table; return how many rows of each were copied, and which tables lost some."""
    counts: dict[str, int] = {}
    incomplete = []
    made_up = _made_up(source)
    # Rows may come before those that they refer to, or without them.
    target.execute("PRAGMA defer_foreign_keys = ON")
    for shape in table_shapes():
        rows, complete = ([], False) if shape.name in made_up else _readable_rows(source, shape)
        counts[shape.name] = 0
        for row in rows:
            try:
                counts[shape.name] += target.execute(
                    shape.insert(otherwise="OR IGNORE"), row
                ).rowcount
            except (sqlite3.IntegrityError, sqlite3.InterfaceError):
                # A value of another type than its column's: the row is no row of ours any more.
                complete = False
        if not complete:
            incomplete.append(shape.name)
    delete_dangling(target)
    return counts, tuple(incomplete)


def _made_up(source: sqlite3.Connection) -> frozenset[str]:
    """Name our tables whose place a view or a virtual table has taken: reading those runs what they say."""
    try:
        there = {row[0] for row in source.execute("SELECT name FROM sqlite_master").fetchall()}
        return frozenset(
            shape.name for shape in table_shapes() if shape.name in there
        ) - plain_tables(source)
    except NOT_READ:
        # A schema that cannot be read: rows are looked for table by table, as far as there are any.
        return frozenset()


def _readable_rows(
    source: sqlite3.Connection, shape: TableShape
) -> tuple[list[tuple[Any, ...]], bool]:
    """Return the rows of a table that can be read, and whether these are all."""
    try:
        return source.execute(shape.select()).fetchall(), True
    except sqlite3.DatabaseError as error:
        if "no such table" in str(error) and shape.name in missing_before(1):
            return [], True
    rows = []
    for key in _readable_keys(source, shape):
        try:
            row = source.execute(shape.select_one(), key).fetchone()
        except sqlite3.DatabaseError:
            continue
        if row is not None:
            rows.append(row)
    return rows, False


def _readable_keys(source: sqlite3.Connection, shape: TableShape) -> list[tuple[Any, ...]]:
    """Return the keys that can be read, from the front up to the damage and from the back down to it."""
    found: dict[tuple[Any, ...], None] = {}
    for descending in (False, True):
        try:
            for key in source.execute(shape.select(", ".join(shape.key), descending=descending)):
                found[key] = None
        except sqlite3.DatabaseError:
            continue
    return list(found)


def _set_aside(path: Path) -> Path:
    """Rename the broken file and its log, so that nothing is thrown away."""
    number = 1
    while (damaged_file := path.with_name(f"{path.name}.damaged{number}")).exists():
        number += 1
    if log_of(path).exists():
        log_of(path).replace(log_of(damaged_file))
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    path.replace(damaged_file)
    return damaged_file
