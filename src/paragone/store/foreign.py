"""Stores from elsewhere, opened as SQLite advises for files of strangers.

A database is more than rows: triggers run when something is written, views and virtual tables when something is read,
and a file may be built so that reading it never ends. So the schema must be the one that this package makes, to the
letter; functions that a schema names are not trusted; and a query may not take more steps than the size of the file
explains. See "Defense Against The Dark Arts" in SQLite's documentation.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from paragone.errors import InputError
from paragone.store.schema import schema_statements

TICK = 100_000
"""Steps of SQLite's virtual machine between two looks at the limit."""
STEPS, STEPS_A_BYTE = 5_000_000, 20
"""What a query may take, whatever the size of the file, and for each of its bytes. A scan takes less than one step per
byte, the widest join of ours five."""
SCHEMA_OF_A_FILE = "SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 1000"
DEFENSIVE = getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE", None)
"""Known to Python from 3.12."""


class LimitedConnection(sqlite3.Connection):
    """A connection whose queries are ended where they take more steps than the file's size explains."""

    _limited: Path | None = None
    _ticks = 0

    def limit(self, path: Path) -> None:
        """Begin to count the steps of each statement."""
        self._limited, self._ticks = path, 0
        self.set_progress_handler(self._tick, TICK)

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Run a statement; the count begins anew."""
        self._ticks = 0
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        """Run a statement for many rows: what those bring in is no part of the file yet, and is not counted."""
        limited, self._limited = self._limited, None
        try:
            return super().executemany(sql, parameters)
        finally:
            self._limited = limited

    def _tick(self) -> int:
        if self._limited is None:
            return 0
        self._ticks += 1
        # The file may have grown since: its size is looked at when the limit is reached, which is hardly ever.
        return int(self._ticks * TICK > STEPS and self._ticks * TICK > STEPS + STEPS_A_BYTE * _bytes(self._limited))


def _bytes(path: Path) -> int:
    sides = (path, path.with_name(f"{path.name}-wal"))
    return sum(side.stat().st_size for side in sides if side.exists())


def distrust(connection: sqlite3.Connection, *, defensive: bool = True) -> None:
    """Take SQLite's advice for files of strangers: no functions out of the schema, broken cells are seen.

    Parameters
    ----------
    connection : sqlite3.Connection
        Just opened; nothing was read yet.
    defensive : bool, default=True
        Whether to forbid what damages a file even on purpose; the doctor must look behind a damaged schema.
    """
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    if defensive and DEFENSIVE is not None:
        connection.setconfig(DEFENSIVE, True)  # type: ignore[attr-defined,unused-ignore]


@dataclass(frozen=True)
class Oddity:
    """A part of a schema that is not as this package makes it.

    Parameters
    ----------
    kind : {"extra", "altered", "missing"}
        What is odd about it.
    type, name : str
        A table, index, view or trigger, and what it is called.
    """

    kind: Literal["extra", "altered", "missing"]
    type: str
    name: str

    @property
    def is_read_by_queries(self) -> bool:
        """Whether a query of ours may come upon it: all but triggers, which wait for somebody to write."""
        return self.type != "trigger"

    def __str__(self) -> str:
        if self.kind == "extra":
            article = "an" if self.type == "index" else "a"
            return f"it has {article} {self.type} {self.name!r}, which Paragone does not make"
        return f"its {self.type} {self.name!r} is {'missing' if self.kind == 'missing' else 'not as Paragone makes it'}"


def oddities(connection: sqlite3.Connection, version: int) -> tuple[Oddity, ...]:
    """Compare the schema of a file with the one of its version.

    Examples
    --------
    >>> database = sqlite3.connect(":memory:")
    >>> for statement in schema_statements(until=1):
    ...     _ = database.execute(statement)
    >>> oddities(database, 1)
    ()
    >>> _ = database.execute("CREATE TRIGGER t AFTER INSERT ON cells BEGIN DELETE FROM scores; END")
    >>> str(oddities(database, 1)[0])
    "it has a trigger 't', which Paragone does not make"
    >>> database.close()
    """
    expected = _expected(version)
    found = _entries(connection)
    odd = [Oddity("extra", *key) for key in found if key not in expected]
    odd += [Oddity("altered", *key) for key, entry in found.items() if key in expected and entry != expected[key]]
    odd += [Oddity("missing", *key) for key in expected if key not in found]
    # Indexes that SQLite makes by itself follow from the tables, which say more.
    return tuple(sorted(odd, key=lambda one: one.name.startswith("sqlite_autoindex")))


def plain_tables(connection: sqlite3.Connection) -> frozenset[str]:
    """Name the tables of a file that are plain ones: no views, and none that a module makes up when it is read."""
    return frozenset(
        name
        for (kind, name), (_, sql) in _entries(connection).items()
        if kind == "table" and sql.upper().startswith("CREATE TABLE")
    )


def check_schema(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Refuse a store whose schema is not the one that its version has."""
    odd = oddities(connection, version)
    if odd:
        more = f" (and {len(odd) - 1} more)" if len(odd) > 1 else ""
        raise InputError(
            f"store {str(path)!r} is not as Paragone makes it: {odd[0]}{more}; "
            f"`paragone doctor {path} --repair` copies the rows of its own tables into a clean file"
        )


@lru_cache(maxsize=8)
def _expected(version: int) -> dict[tuple[str, str], tuple[str, str]]:
    """Make the tables of a version in memory, by the statements that make them in a file, and read the schema back."""
    database = sqlite3.connect(":memory:")
    try:
        for statement in schema_statements(until=version):
            database.execute(statement)
        return _entries(database)
    finally:
        database.close()


def _entries(connection: sqlite3.Connection) -> dict[tuple[str, str], tuple[str, str]]:
    rows = connection.execute(SCHEMA_OF_A_FILE).fetchall()
    return {(str(kind), str(name)): (str(table), " ".join(str(sql or "").split())) for kind, name, table, sql in rows}
