"""Save what can still be read of a damaged database file into a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paragone.store.examining import examination
from paragone.store.faults import UNREADABLE
from paragone.store.foreign import plain_tables
from paragone.store.opening import connect
from paragone.store.schema import missing_before
from paragone.store.shapes import DANGLING, TableShape, table_shapes


@dataclass(frozen=True)
class Salvage:
    """What was saved: rows by table, tables that lost some, and where the damaged file is kept."""

    kept_as: Path
    rows: dict[str, int]
    incomplete: tuple[str, ...]


def salvage(path: Path) -> Salvage:
    """Put a new database with every readable row in the place of a damaged one, which is kept beside it.

    Rows are read one by one where a table cannot be read in one go, from both ends where its middle is gone. Rows
    that refer to lost ones go too. What is left is judged by its checksums afterwards, not here.

    Parameters
    ----------
    path : Path
        The damaged store.

    Returns
    -------
    Salvage
        What was saved.
    """
    fresh = path.with_name(f".{path.name}.salvaged")
    _remove(fresh)
    try:
        target = connect(fresh, create=True)
        try:
            with examination(path) as source:
                rows, incomplete = _copy(source, target)
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            target.close()
        kept_as = _set_aside(path)
        fresh.replace(path)
    finally:
        _remove(fresh)
    return Salvage(kept_as, rows, incomplete)


def _copy(source: sqlite3.Connection, target: sqlite3.Connection) -> tuple[dict[str, int], tuple[str, ...]]:
    counts: dict[str, int] = {}
    incomplete = []
    target.execute("PRAGMA foreign_keys = OFF")
    target.execute("BEGIN")
    made_up = _made_up(source)
    for shape in table_shapes():
        lost = _Lost()
        if shape.name in made_up:
            counts[shape.name] = 0
            incomplete.append(shape.name)
            continue
        counts[shape.name] = sum(_add(target, shape, row, lost) for row in _rows(source, shape, lost))
        if lost.any:
            incomplete.append(shape.name)
    for statement in DANGLING:
        target.execute(statement)
    target.execute("COMMIT")
    target.execute("PRAGMA foreign_keys = ON")
    return counts, tuple(incomplete)


def _made_up(source: sqlite3.Connection) -> frozenset[str]:
    """Name our tables whose place a view or a virtual table has taken: reading those runs what they say."""
    try:
        there = {row[0] for row in source.execute("SELECT name FROM sqlite_master").fetchall()}
        return frozenset(shape.name for shape in table_shapes() if shape.name in there) - plain_tables(source)
    except (sqlite3.DatabaseError, *UNREADABLE):
        # A schema that cannot be read: rows are looked for table by table, as far as there are any.
        return frozenset()


class _Lost:
    """Whether anything of a table was lost."""

    any = False


def _rows(source: sqlite3.Connection, shape: TableShape, lost: _Lost) -> Iterator[tuple[Any, ...]]:
    try:
        # Into memory first: rows may only be handed out once all could be read.
        yield from source.execute(shape.select()).fetchall()
        return
    except sqlite3.DatabaseError as error:
        if "no such table" in str(error) and shape.name in missing_before(1):
            return
        lost.any = True
    for key in _keys(source, shape):
        try:
            row = source.execute(shape.select_one(), key).fetchone()
        except sqlite3.DatabaseError:
            continue
        if row is not None:
            yield row


def _keys(source: sqlite3.Connection, shape: TableShape) -> list[tuple[Any, ...]]:
    """Return the keys that can be read, from the front up to the damage and from the back down to it."""
    found: dict[tuple[Any, ...], None] = {}
    for descending in (False, True):
        try:
            for key in source.execute(shape.select(", ".join(shape.key), descending=descending)):
                found[key] = None
        except sqlite3.DatabaseError:
            continue
    return list(found)


def _add(target: sqlite3.Connection, shape: TableShape, row: tuple[Any, ...], lost: _Lost) -> int:
    try:
        return target.execute(shape.insert(otherwise="OR IGNORE"), row).rowcount
    except (sqlite3.IntegrityError, sqlite3.InterfaceError):
        # A value of another type than its column's: the row is no row of ours any more.
        lost.any = True
        return 0


def _set_aside(path: Path) -> Path:
    """Rename the damaged file and its log, so that nothing is thrown away."""
    number = 1
    while (kept_as := path.with_name(f"{path.name}.damaged{number}")).exists():
        number += 1
    log = path.with_name(f"{path.name}-wal")
    if log.exists():
        log.replace(kept_as.with_name(f"{kept_as.name}-wal"))
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    path.replace(kept_as)
    return kept_as


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
