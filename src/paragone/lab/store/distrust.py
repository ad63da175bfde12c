"""What of a stranger's file is not trusted: its schema, the time that reading it takes, the types of its values."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.lab.store.schema import schema_statements, table_shapes

NEW_ONE = "restore a copy, or run the experiment again into a new store"
ADVICE = {
    sqlite3.SQLITE_FULL: (
        "free some space and run the same command again; what was finished is kept"
    ),
    sqlite3.SQLITE_READONLY: (
        "make the file and its folder writable, or copy it with its -wal file to where they are"
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "see that the file and its folder can be read and written; a log (-wal) beside it "
        "belongs to it"
    ),
    sqlite3.SQLITE_BUSY: "another program has held it for over a minute; try again",
    sqlite3.SQLITE_INTERRUPT: (
        "reading it takes far more steps than a file of its size explains, so it is damaged, or "
        "made to take for ever; restore a copy"
    ),
    sqlite3.SQLITE_IOERR: (
        "see whether its disk is full, read-only, gone or broken, then run the same command again"
    ),
}
"""What to do by SQLite's primary error code; anything else means a damaged file."""
UNREADABLE = (UnicodeDecodeError, MemoryError)
"""What Python raises beside SQLite's errors for a damaged file: a message that is no text, a size that cannot be."""
NOT_READ = (sqlite3.DatabaseError, *UNREADABLE)
"""What reading a damaged file raises."""


def damaged(path: Path, error: Exception) -> InputError:
    """Say in one sentence what SQLite found wrong with the file, and what to do."""
    advice = ADVICE.get(primary_code(error), NEW_ONE)
    return InputError(f"store {str(path)!r} cannot be used: {error}; {advice}")


def primary_code(error: Exception) -> int:
    """Return SQLite's primary error code; 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


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
        # The file may have grown since: its size is looked at when the limit is reached, which is
        # hardly ever.
        return int(
            self._ticks * TICK > STEPS
            and self._ticks * TICK > STEPS + STEPS_A_BYTE * _bytes(self._limited)
        )


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
        Whether to forbid what damages a file even on purpose; the doctor must look behind a damaged
        schema.
    """
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    if defensive and DEFENSIVE is not None:
        connection.setconfig(DEFENSIVE, True)  # type: ignore[attr-defined,unused-ignore]


def oddities(connection: sqlite3.Connection, version: int) -> list[str]:
    """Say in what the schema of a file is not the one of its version.

    Examples
    --------
    >>> database = sqlite3.connect(":memory:")
    >>> for statement in schema_statements(until=1):
    ...     _ = database.execute(statement)
    >>> oddities(database, 1)
    []
    >>> _ = database.execute("CREATE TRIGGER t AFTER INSERT ON cells BEGIN DELETE FROM scores; END")
    >>> oddities(database, 1)
    ["it has a trigger 't', which Paragone does not make"]
    >>> database.close()
    """
    expected, found = _expected(version), _entries(connection)
    odd = []
    # Indexes that SQLite makes by itself follow from the tables, which say more.
    for key in sorted({**found, **expected}, key=lambda key: key[1].startswith("sqlite_autoindex")):
        kind, name = key
        if key not in expected:
            article = "an" if kind == "index" else "a"
            odd.append(f"it has {article} {kind} {name!r}, which Paragone does not make")
        elif key not in found:
            odd.append(f"its {kind} {name!r} is missing")
        elif found[key] != expected[key]:
            odd.append(f"its {kind} {name!r} is not as Paragone makes it")
    return odd


def check_schema(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Refuse a store whose schema is not the one that its version has."""
    odd = oddities(connection, version)
    if odd:
        more = f" (and {len(odd) - 1} more)" if len(odd) > 1 else ""
        raise InputError(
            f"store {str(path)!r} is not as Paragone makes it: {odd[0]}{more}; {NEW_ONE}"
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
    return {
        (str(kind), str(name)): (str(table), " ".join(str(sql or "").split()))
        for kind, name, table, sql in rows
    }


PYTHON_TYPES = {"INTEGER": int, "REAL": float, "TEXT": str, "BLOB": bytes}
NAMES_OF_TYPES = {int: "a whole number", float: "a number", str: "a text", bytes: "bytes"}


@cache
def _column_types() -> dict[str, tuple[type, bool]]:
    """Return the type of every column of the tables, and whether it may be empty; a name means one type in all."""
    columns = [column for shape in table_shapes() for column in shape.columns]
    empty = {column.name for column in columns if not column.required}
    keys = {name for shape in table_shapes() for name in shape.key}
    return {
        column.name: (PYTHON_TYPES[column.type], column.name in empty - keys) for column in columns
    }


def check_types(
    rows: Sequence[tuple[Any, ...]], names: Sequence[str], path: Path, *, outer: bool = False
) -> None:
    """Refuse rows whose values are not of the types that their columns have, as in a file that was damaged.

    Tables are STRICT, so that nothing else can be written; what was overwritten in the file, SQLite
    does not see.

    Parameters
    ----------
    rows : sequence of tuple
        The rows.
    names : sequence of str
        What their columns are called; one that is not a column of a table is not looked at.
    path : Path
        The store.
    outer : bool, default=False
        Whether an outer join may have left any of them empty.

    Examples
    --------
    >>> check_types([("a", None), ("b", 0.5)], ("key", "value"), Path("a.sqlite"))
    >>> check_types([("a",), (None,)], ("key",), Path("a.sqlite"))
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: store 'a.sqlite' cannot be used: a value of 'key' is not a text; ...
    """
    known = _column_types()
    for name, column in zip(names, zip(*rows, strict=True), strict=False):
        if name not in known:
            continue
        wanted, may_be_empty = known[name]
        # Of the types alone, which are few: a look at every value by itself would take as long as
        # reading them.
        if not set(map(type, column)) <= (
            {wanted, type(None)} if outer or may_be_empty else {wanted}
        ):
            raise damaged(
                path, sqlite3.DatabaseError(f"a value of {name!r} is not {NAMES_OF_TYPES[wanted]}")
            )
