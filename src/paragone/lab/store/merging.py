"""Merging two stores of one experiment into a third: the union of their cells by key."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from paragone.errors import InputError
from paragone.lab.store.opening import connect, damaged, examination, remove_database
from paragone.lab.store.outcomes import SCORE_ROWS
from paragone.lab.store.schema import DANGLING, TableShape, shape_of, table_shapes

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
    >>> from paragone.lab.store import Store
    >>> from paragone.lab.store.schema import table_shapes
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


Row: TypeAlias = tuple[Any, ...]
RUN_NAMES = ("host", "pid", "process_start", "begun_at")
OF_ONE_CELL = ("predictions", "costs", "warnings", "outputs")
"""Tables whose rows begin with the number of the cell that they belong to."""


@dataclass
class Union:
    """Compares two stores and writes their union; what the first has stands."""

    first: Reading
    second: Reading
    shared: list[tuple[str, int, int]] = field(default_factory=list)
    completed: set[str] = field(default_factory=set)
    differing: set[str] = field(default_factory=set)
    left_out: int = 0

    def conflicts(self) -> list[str]:
        """Name what both stores have with different content."""
        found = self._experiments()
        for table, column, what in (
            ("fits", "arrays", "the fit"),
            ("splits", "train, test", "the split"),
            ("truths", "payload", "the targets"),
        ):
            found += self._artifacts(table, column, what)
        return found + self._cells()

    def _experiments(self) -> list[str]:
        sql = "SELECT name, declared FROM experiments ORDER BY name"
        ours, theirs = (dict(side.database.execute(sql).fetchall()) for side in (self.first, self.second))
        differ = [name for name in ours if name in theirs and ours[name] != theirs[name]]
        return [f"experiment {name!r} is declared differently" for name in differ]

    def _artifacts(self, table: str, content: str, what: str) -> list[str]:
        key = shape_of(table).key[0]
        mine = {row[0] for row in self.first.database.execute(f"SELECT {key} FROM {table}")}  # noqa: S608  names of ours
        one = f"SELECT {content} FROM {table} WHERE {key} = ?"  # noqa: S608
        found = []
        for (name,) in self.second.database.execute(f"SELECT {key} FROM {table} ORDER BY {key}").fetchall():  # noqa: S608
            if name in mine:
                ours, theirs = (side.database.execute(one, (name,)).fetchone() for side in (self.first, self.second))
                if ours != theirs:
                    self.differing.add(name)
                    found.append(f"{what} {name[:12]}{self._place(table, name)}")
        return found

    def _cells(self) -> list[str]:
        mine = {key: number for number, key in self.first.database.execute("SELECT id, key FROM cells")}
        found = []
        for number, key in self.second.database.execute("SELECT id, key FROM cells ORDER BY id").fetchall():
            if key not in mine:
                continue
            self.shared.append((key, mine[key], number))
            ours, theirs = _result(self.first, mine[key]), _result(self.second, number)
            statuses = {ours[0], theirs[0]}
            if "done" in statuses and len(statuses) > 1:
                self.completed.add(key)
            elif statuses == {"done"} and ours != theirs:
                found.append(f"the cell {key[:12]}{self._place('cells', key)}")
        return found

    def _place(self, table: str, key: str) -> str:
        column = {"fits": "fit_key", "cells": "key", "splits": "split_part"}.get(table)
        if column is None:
            return ""
        sql = f"SELECT method, dataset, fold FROM plan WHERE {column} = ? ORDER BY current DESC LIMIT 1"  # noqa: S608
        row = self.first.database.execute(sql, (key,)).fetchone()
        return "" if row is None else f" ({row[0]} on {row[1]}, fold {row[2]})"

    def write(self, database: sqlite3.Connection) -> None:
        """Write all of the first store, then what only the second has."""
        database.execute("PRAGMA defer_foreign_keys = ON")
        for shape in table_shapes():
            if shape.name != "claims":
                for batch in self.first.batches(shape):
                    add_rows(database, shape, batch, str(self.first.path))
        self._drop_failed(database)
        experiments, measures = self._numbers(database, "experiments", 1), self._numbers(database, "measures", 2)
        for table, kind in (("fits", "fit"), ("splits", "split"), ("truths", "truth"), ("datasets", "")):
            self._add_named(database, table, kind)
        self._add_fit_costs(database)
        self._add_plan(database, experiments)
        cells = self._numbers(database, "cells", 1)
        self._add_scores(database, cells, measures)
        for table in OF_ONE_CELL:
            self._add_of_cells(database, table, cells)
        self._append(database, "runs", RUN_NAMES)
        self._add_losses(database)
        self._append(database, "quarantine", ("kind", "key", "reason", "found_at"))
        for statement in DANGLING:
            database.execute(statement)

    def _drop_failed(self, database: sqlite3.Connection) -> None:
        """Make room for results that the second store has and the first failed to get."""
        for key, ours, _ in self.shared:
            if key in self.completed and _result(self.first, ours)[0] != "done":
                database.execute("DELETE FROM cells WHERE key = ?", (key,))
                database.execute("DELETE FROM checksums WHERE kind IN ('cell', 'scores') AND key = ?", (key,))

    def _numbers(self, database: sqlite3.Connection, table: str, n_names: int) -> dict[int, int]:
        """Add the rows of a numbered table that are new by name, and return what numbers the second's have now."""
        shape = shape_of(table)
        known = {row[1 : 1 + n_names]: row[0] for row in database.execute(shape.select())}
        numbers: dict[int, int] = {}
        following = max(known.values(), default=0) + 1
        for row in self.second.rows(shape):
            name = row[1 : 1 + n_names]
            if table == "cells" and name in known:
                continue
            if table == "cells" and row[2] in self.differing:
                self.left_out += 1
                continue
            numbers[row[0]] = known.get(name, following)
            if name not in known:
                add_rows(database, shape, [(following, *row[1:])], str(self.second.path))
                following += 1
                if table == "cells":
                    self._copy_checksum(database, "cell", row[1])
                    self._copy_checksum(database, "scores", row[1])
        return numbers

    def _add_named(self, database: sqlite3.Connection, table: str, kind: str) -> None:
        shape = shape_of(table)
        known = {row[0] for row in database.execute(shape.select(shape.key[0]))}
        for batch in self.second.batches(shape):
            rows = [row for row in batch if row[0] not in known]
            add_rows(database, shape, rows, str(self.second.path))
            for row in rows if kind else ():
                self._copy_checksum(database, kind, row[0])

    def _add_fit_costs(self, database: sqlite3.Connection) -> None:
        """Take costs and warnings of the fits that only the second store has."""
        mine = {row[0] for row in self.first.database.execute("SELECT fit_key FROM fits")}
        for shape in (shape_of("fit_costs"), shape_of("fit_warnings")):
            for batch in self.second.batches(shape):
                add_rows(database, shape, [row for row in batch if row[0] not in mine], str(self.second.path))

    def _copy_checksum(self, database: sqlite3.Connection, kind: str, key: str) -> None:
        """Take the checksum along with its artifact; a store of version 1 has none."""
        if self.second.has("checksums"):
            row = self.second.database.execute(shape_of("checksums").select_one(), (kind, key)).fetchone()
            database.execute("DELETE FROM checksums WHERE kind = ? AND key = ?", (kind, key))
            add_rows(database, shape_of("checksums"), [] if row is None else [row], str(self.second.path))

    def _add_plan(self, database: sqlite3.Connection, numbers: dict[int, int]) -> None:
        """Add the second store's plans; at a place where the first has a current cell, no other is."""
        shape = shape_of("plan")
        declared = dict(database.execute("SELECT id, declared FROM experiments").fetchall())
        sql = "SELECT id, declared FROM experiments"
        same = {number for number, text in self.second.database.execute(sql) if declared[numbers[number]] == text}
        taken = {_place_of(row) for row in database.execute(shape.select()) if row[-1]}
        for batch in self.second.batches(shape):
            rows = []
            for row in batch:
                here = (numbers[row[0]], *row[1:-1])
                current = row[-1] if row[0] in same and _place_of(here) not in taken else 0
                rows.append((*here, current))
            database.executemany(shape.insert(otherwise="OR IGNORE"), rows)

    def _add_scores(self, database: sqlite3.Connection, cells: dict[int, int], measures: dict[int, int]) -> None:
        shape = shape_of("scores")
        for batch in self.second.batches(shape):
            rows = [(cells[row[0]], measures[row[1]], *row[2:]) for row in batch if row[0] in cells]
            add_rows(database, shape, rows, str(self.second.path))

    def _add_of_cells(self, database: sqlite3.Connection, table: str, cells: dict[int, int]) -> None:
        shape = shape_of(table)
        for batch in self.second.batches(shape):
            rows = [(cells[row[0]], *row[1:]) for row in batch if row[0] in cells]
            add_rows(database, shape, rows, str(self.second.path))

    def _append(self, database: sqlite3.Connection, table: str, identity: Sequence[str]) -> None:
        """Add rows under new numbers, unless they are there: the stores may have a past in common."""
        shape = shape_of(table)
        known = {_named(row, shape, identity) for row in database.execute(shape.select())}
        rows = [row for row in self.second.rows(shape) if _named(row, shape, identity) not in known]
        add_rows(database, shape, [(None, *row[1:]) for row in rows], str(self.second.path))

    def _add_losses(self, database: sqlite3.Connection) -> None:
        """Add the losses of the second store's runs, under the numbers that those runs have now."""
        runs, losses = shape_of("runs"), shape_of("losses")
        now = {_named(row, runs, RUN_NAMES): row[0] for row in database.execute(runs.select())}
        numbers = {row[0]: now[_named(row, runs, RUN_NAMES)] for row in self.second.rows(runs)}
        known = {row[1:] for row in database.execute(losses.select())}
        moved = [(numbers[row[1]], *row[2:]) for row in self.second.rows(losses)]
        add_rows(database, losses, [(None, *row) for row in moved if row not in known], str(self.second.path))


def _named(row: Row, shape: TableShape, names: Sequence[str]) -> Row:
    """Return the columns of a row that tell it from others, whatever its number."""
    return tuple(row[shape.names.index(name)] for name in names)


def _place_of(row: Row) -> Row:
    """Return the experiment, dataset, fold, method and repeat of a row of the plan."""
    return _named(row, shape_of("plan"), ("experiment_id", "dataset", "fold", "method", "repeat"))


def _result(side: Reading, number: int) -> tuple[Any, ...]:
    """Return what a cell's key determines: status, notes, scores and predictions, but no times.

    Nor warnings: a store of an older version has none of the same cell.
    """
    status, notes = side.database.execute("SELECT status, notes FROM cells WHERE id = ?", (number,)).fetchone()
    scores = side.database.execute(SCORE_ROWS, (number,)).fetchall()
    kept = side.database.execute("SELECT payload FROM predictions WHERE cell_id = ?", (number,)).fetchone()
    return status, notes, scores, kept


Side: TypeAlias = Literal["A", "B"]

SHOWN = 5


@dataclass(frozen=True)
class Merged:
    """What a merge did.

    Parameters
    ----------
    path : Path
        The merged store.
    cells_of_a, cells_of_b, in_both, cells : int
        Cells in either store, in both, and in the merged one.
    completed : int
        Cells that failed in one store and are done in the other: the done result stands.
    left_out : int
        Cells of the other store that rest on a fit which differs from the preferred one: the next run computes them.
    conflicts : tuple of str
        What both have with different content, by name; settled by the side that was preferred.
    """

    path: Path
    cells_of_a: int
    cells_of_b: int
    in_both: int
    cells: int
    completed: int
    left_out: int
    conflicts: tuple[str, ...]

    def __str__(self) -> str:
        told = (
            f"{self.cells:,} cells in {self.path}: {self.cells_of_a:,} of A, {self.cells_of_b:,} of B, "
            f"{self.in_both:,} in both"
        )
        told += f"; {self.completed} failed in one and done in the other" * bool(self.completed)
        told += f"; {self.left_out} left out, for their fit differs" * bool(self.left_out)
        return told + f"; {len(self.conflicts)} conflicts settled" * bool(self.conflicts)


def merge(a: str | Path, b: str | Path, out: str | Path, *, prefer: Side | None = None) -> Merged:
    """Make a store with the cells of two; neither of them is changed.

    A cell that both have with the same result is taken once. One that failed in one store and is done in
    the other is done. Anything else that both have with different content, be it scores, predictions, a fit or
    the declaration of an experiment, is a conflict: all are named, and nothing is written unless a side
    is preferred. Runs and their provenance are kept from both.

    Parameters
    ----------
    a, b : str or Path
        The stores.
    out : str or Path
        The store to make; it must not exist.
    prefer : {"A", "B"}, optional
        Whose content stands where they differ.

    Returns
    -------
    Merged
        The counts.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.lab.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder)
    ...     for name in ("a.sqlite", "b.sqlite"):
    ...         Store(place / name, create=True).close()
    ...     merge(place / "a.sqlite", place / "b.sqlite", place / "c.sqlite").cells
    0
    """
    if prefer not in (None, "A", "B"):
        raise InputError(f"prefer {prefer!r}: say A or B")
    with reading(a) as first, reading(b) as second:
        try:
            # What stands is what comes first, so the preferred side does.
            sides = (second, first) if prefer == "B" else (first, second)
            merging = Union(*sides)
            conflicts = merging.conflicts()
            if conflicts and prefer is None:
                raise InputError(_refusal(conflicts, a, b))
            with new_store(Path(out)) as database:
                merging.write(database)
                check_references(database, str(out))
                cells = database.execute("SELECT count(*) FROM cells").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise damaged(Path(a), error) from error
        of_a, of_b = (side.database.execute("SELECT count(*) FROM cells").fetchone()[0] for side in (first, second))
    shared, completed = len(merging.shared), len(merging.completed)
    return Merged(Path(out), of_a, of_b, shared, cells, completed, merging.left_out, tuple(conflicts))


def _refusal(conflicts: Sequence[str], a: str | Path, b: str | Path) -> str:
    more = f" and {len(conflicts) - SHOWN} more" if len(conflicts) > SHOWN else ""
    return (
        f"{a} and {b} differ in {len(conflicts)} places: {'; '.join(conflicts[:SHOWN])}{more}. "
        "Say whose content stands with --prefer A or --prefer B"
    )
