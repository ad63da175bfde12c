"""Merging two stores of one experiment into a third: the union of their cells by key."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from paragone.errors import InputError
from paragone.lab.store.copying import Reading, add_rows, check_references, new_store, reading
from paragone.lab.store.opening import damaged
from paragone.lab.store.outcomes import SCORE_ROWS
from paragone.lab.store.schema import TableShape, delete_dangling, shape_of, table_shapes

IDENTITIES = {
    "experiments": ("name",),
    "measures": ("metric", "grid"),
    "cells": ("key",),
    "runs": ("host", "pid", "process_start", "begun_at"),
    "quarantine": ("kind", "key", "reason", "found_at"),
    "losses": ("run_id", "key", "why", "lost_at"),
}
"""By what two stores know the same row of a table whose rows are numbered; by its key in any other."""
OWNERS = ("cells", "fits")
"""Tables whose rows own those that refer to them: both come from one store."""
KINDS = {"cells": ("cell", "scores"), "fits": ("fit",), "splits": ("split",), "truths": ("truth",)}
"""The checksums that belong to a row of a table."""


@dataclass
class StoreUnion:
    """Compares two stores and writes their union; what the first has stands."""

    first: Reading
    second: Reading
    shared: list[tuple[str, int, int]] = field(default_factory=list)
    completed: set[str] = field(default_factory=set)
    differing: set[str] = field(default_factory=set)
    left_out: int = 0
    _now: dict[str, dict[Any, Any]] = field(default_factory=dict)
    """By table: what keys of the second store's rows are called in the union."""
    _added: list[tuple[str, str]] = field(default_factory=list)

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
        """Write all of the first store, then what only the second has, under numbers that are free."""
        database.execute("PRAGMA defer_foreign_keys = ON")
        for shape in table_shapes():
            # A claim is of a run that works in its own store.
            if shape.name != "claims":
                for batch in self.first.batches(shape):
                    add_rows(database, shape, batch, str(self.first.path))
        self._drop_failed(database)
        for shape in table_shapes():
            if shape.name not in ("claims", "checksums"):
                self._add(database, shape)
        self._add_checksums(database)
        delete_dangling(database)

    def _drop_failed(self, database: sqlite3.Connection) -> None:
        """Make room for results that the second store has and the first failed to get."""
        for key, ours, _ in self.shared:
            if key in self.completed and _result(self.first, ours)[0] != "done":
                database.execute("DELETE FROM cells WHERE key = ?", (key,))
                database.execute("DELETE FROM checksums WHERE kind IN ('cell', 'scores') AND key = ?", (key,))

    def _add(self, database: sqlite3.Connection, shape: TableShape) -> None:
        """Add the rows of a table that only the second store has."""
        references = [(shape.names.index(column), parent) for column, parent in shape.references]
        identity = IDENTITIES.get(shape.name, shape.key)
        known = {}
        # A row of an owner that is new is new too: millions of scores need not be held to know that.
        if not any(parent in OWNERS for _, parent in references):
            chosen = database.execute(shape.select(", ".join((shape.key[0], *identity))))
            known = {tuple(rest): number for number, *rest in chosen}
        is_numbered = shape.key == ("id",)
        following = max(known.values(), default=0) + 1 if is_numbered else 0
        now = self._now.setdefault(shape.name, {})
        is_current = self._current_places(database) if shape.name == "plan" else None
        for batch in self.second.batches(shape):
            rows = []
            for row in batch:
                if any(row[place] not in self._now[parent] for place, parent in references):
                    continue
                moved = list(row)
                for place, parent in references:
                    moved[place] = self._now[parent][row[place]]
                name = tuple(moved[shape.names.index(column)] for column in identity)
                if name in known:
                    if shape.name not in OWNERS:
                        now[row[0]] = known[name]
                    continue
                if shape.name == "cells" and row[2] in self.differing:
                    self.left_out += 1
                    continue
                if is_numbered:
                    moved[0], following = following, following + 1
                if is_current is not None and not is_current(row[0], moved):
                    moved[-1] = 0
                now[row[0]] = moved[0]
                self._added += [(kind, name[0]) for kind in KINDS.get(shape.name, ())]
                rows.append(moved)
            add_rows(database, shape, rows, str(self.second.path))

    def _current_places(self, database: sqlite3.Connection) -> Callable[[int, Sequence[Any]], bool]:
        """Return what tells whether a row of the second's plan may stay current: where the first has no current cell.

        A declaration that differs from the first's makes its whole plan an earlier one.
        """
        sql = "SELECT id, declared FROM experiments"
        declared = dict(database.execute(sql).fetchall())
        rows = self.second.database.execute(sql).fetchall()
        same = {number for number, text in rows if declared[self._now["experiments"][number]] == text}
        sql = "SELECT experiment_id, dataset, fold, method, repeat FROM plan WHERE current = 1"
        taken = set(database.execute(sql).fetchall())
        return lambda experiment, row: experiment in same and (row[0], *row[3:7]) not in taken

    def _add_checksums(self, database: sqlite3.Connection) -> None:
        """Take the checksums along with their artifacts; a store of version 1 has none."""
        database.executemany("DELETE FROM checksums WHERE kind = ? AND key = ?", self._added)
        wanted, shape = set(self._added), shape_of("checksums")
        for batch in self.second.batches(shape):
            add_rows(database, shape, [row for row in batch if row[:2] in wanted], str(self.second.path))


def _result(side: Reading, number: int) -> tuple[Any, ...]:
    """Return what a cell's key determines: status, notes, scores and predictions, but no times.

    Nor warnings: a store of an older version has none of the same cell.
    """
    status, notes = side.database.execute("SELECT status, notes FROM cells WHERE id = ?", (number,)).fetchone()
    scores = side.database.execute(SCORE_ROWS, (number,)).fetchall()
    kept = side.database.execute("SELECT payload FROM predictions WHERE cell_id = ?", (number,)).fetchone()
    return status, notes, scores, kept


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
        text = (
            f"{self.cells:,} cells in {self.path}: {self.cells_of_a:,} of A, {self.cells_of_b:,} of B, "
            f"{self.in_both:,} in both"
        )
        text += f"; {self.completed} failed in one and done in the other" * bool(self.completed)
        text += f"; {self.left_out} left out, for their fit differs" * bool(self.left_out)
        return text + f"; {len(self.conflicts)} conflicts settled" * bool(self.conflicts)


def merge(a: str | Path, b: str | Path, out: str | Path, *, prefer: Literal["A", "B"] | None = None) -> Merged:
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
            merging = StoreUnion(*sides)
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
