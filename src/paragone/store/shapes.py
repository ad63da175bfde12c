"""The tables of a store as data: their columns, types and keys, read off the schema itself."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import cache

from paragone.store.schema import schema_statements

DANGLING = (
    "DELETE FROM scores WHERE cell_id NOT IN (SELECT id FROM cells)",
    "DELETE FROM scores WHERE measure_id NOT IN (SELECT id FROM measures)",
    "DELETE FROM predictions WHERE cell_id NOT IN (SELECT id FROM cells)",
    "DELETE FROM costs WHERE cell_id NOT IN (SELECT id FROM cells)",
    "DELETE FROM warnings WHERE cell_id NOT IN (SELECT id FROM cells)",
    "DELETE FROM fit_costs WHERE fit_key NOT IN (SELECT fit_key FROM fits)",
    "DELETE FROM fit_warnings WHERE fit_key NOT IN (SELECT fit_key FROM fits)",
    "DELETE FROM outputs WHERE cell_id NOT IN (SELECT id FROM cells)",
    "DELETE FROM plan WHERE experiment_id NOT IN (SELECT id FROM experiments)",
    "DELETE FROM claims WHERE run_id NOT IN (SELECT id FROM runs)",
    "DELETE FROM losses WHERE run_id NOT IN (SELECT id FROM runs)",
)
"""Delete rows that refer to rows which are not there."""


@dataclass(frozen=True)
class Column:
    """One column: its name, its type (``INTEGER``, ``REAL``, ``TEXT`` or ``BLOB``), and whether it may be empty."""

    name: str
    type: str
    required: bool


@dataclass(frozen=True)
class TableShape:
    """One table: its columns, and those that make its key, in the order in which its rows are kept."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def select(self, what: str = "*", *, descending: bool = False) -> str:
        """Return the query that reads the table in the order of its key, by the table itself and no index."""
        order = ", ".join(f"{column} DESC" if descending else column for column in self.key)
        return f"SELECT {what} FROM {self.name} NOT INDEXED ORDER BY {order}"  # noqa: S608  names of our own schema

    def select_one(self) -> str:
        """Return the query that reads the row of a key."""
        return f"SELECT * FROM {self.name} WHERE " + " AND ".join(f"{column} = ?" for column in self.key)  # noqa: S608

    def insert(self, *, otherwise: str = "") -> str:
        """Return the statement that adds a row."""
        places = ", ".join("?" * len(self.columns))
        return f"INSERT {otherwise} INTO {self.name} VALUES ({places})"  # noqa: S608


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
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return tuple(_shape(database, name) for name in names)


def shape_of(name: str) -> TableShape:
    """Return the shape of one table."""
    return next(shape for shape in table_shapes() if shape.name == name)


def _shape(database: sqlite3.Connection, name: str) -> TableShape:
    rows = database.execute(f"PRAGMA table_info({name})").fetchall()
    columns = tuple(Column(column, kind, bool(required)) for _, column, kind, required, _, _ in rows)
    key = tuple(row[1] for row in sorted((row for row in rows if row[5]), key=lambda row: row[5]))
    return TableShape(name, columns, key)
