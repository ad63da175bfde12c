"""Merging stores of one experiment into a new one: the union of their cells by key."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.lab.store.copying import Reading, add_rows, check_references, new_store, reading
from paragone.lab.store.distrust import damaged
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
CURRENT_AT = """
SELECT 1 FROM plan WHERE experiment_id = ? AND dataset = ? AND fold = ? AND method = ? AND repeat = ? AND current = 1
"""
KINDS = {"cells": ("cell", "scores"), "fits": ("fit",), "splits": ("split",), "truths": ("truth",)}
"""The checksums that belong to a row of a table."""


LISTED = ("experiments", "measures", "runs", "quarantine", "losses")
"""Tables so small that their rows are known by heart; a row of any other is looked up by its key."""


@dataclass
class StoreUnion:
    """Compares a store with the union of those before it, and adds what only it has; what is there stands.

    Whatever the size of the union, this takes as long as the store that is added has rows.
    """

    first: Reading
    second: Reading
    shared: list[tuple[str, int, int]] = field(default_factory=list)
    completed: set[str] = field(default_factory=set)
    _now: dict[str, dict[Any, Any]] = field(default_factory=dict)
    """By table: what keys of the second store's rows are called in the union."""
    _added: list[tuple[str, str]] = field(default_factory=list)

    def conflicts(self) -> list[str]:
        """Name what both stores have with different content."""
        found: list[str] = []
        for table, column, what in (
            ("fits", "arrays", "the fit"),
            ("splits", "train, test", "the split"),
            ("truths", "payload", "the targets"),
        ):
            found += self._artifacts(table, column, what)
        return found + self._cells()

    def declared_otherwise(self) -> list[str]:
        """Name the experiments that the second store declares in another way."""
        sql = "SELECT name, declared FROM experiments ORDER BY name"
        ours, theirs = (
            dict(side.database.execute(sql).fetchall()) for side in (self.first, self.second)
        )
        return [name for name in ours if name in theirs and ours[name] != theirs[name]]

    def _artifacts(self, table: str, content: str, what: str) -> list[str]:
        key = shape_of(table).key[0]
        one = f"SELECT {content} FROM {table} WHERE {key} = ?"  # noqa: S608  names of ours, here and below
        found = []
        for (name,) in self.second.database.execute(
            f"SELECT {key} FROM {table} ORDER BY {key}"  # noqa: S608
        ).fetchall():  # noqa: RUF100, S608
            ours = self.first.database.execute(one, (name,)).fetchone()
            if ours is not None and ours != self.second.database.execute(one, (name,)).fetchone():
                found.append(f"{what} {name[:12]}{self._place(table, name)}")
        return found

    def _cells(self) -> list[str]:
        found = []
        for number, key in self.second.database.execute(
            "SELECT id, key FROM cells ORDER BY id"
        ).fetchall():
            mine = self.first.database.execute(
                "SELECT id FROM cells WHERE key = ?", (key,)
            ).fetchone()
            if mine is None:
                continue
            self.shared.append((key, mine[0], number))
            ours, theirs = _result(self.first, mine[0]), _result(self.second, number)
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

    def add(self) -> None:
        """Add what only the second store has, under numbers that are free."""
        database = self.first.database
        self._drop_failed(database)
        for shape in table_shapes():
            if shape.name not in ("claims", "checksums"):
                self._add(database, shape)
        self._add_checksums(database)

    def _drop_failed(self, database: sqlite3.Connection) -> None:
        """Make room for results that the second store has and the first failed to get."""
        for key, ours, _ in self.shared:
            if key in self.completed and _result(self.first, ours)[0] != "done":
                database.execute("DELETE FROM cells WHERE key = ?", (key,))
                database.execute(
                    "DELETE FROM checksums WHERE kind IN ('cell', 'scores') AND key = ?", (key,)
                )

    def _add(self, database: sqlite3.Connection, shape: TableShape) -> None:
        """Add the rows of a table that only the second store has."""
        references = [(shape.names.index(column), parent) for column, parent in shape.references]
        identity = IDENTITIES.get(shape.name, shape.key)
        places = [shape.names.index(column) for column in identity]
        known = self._known(
            database, shape, identity, is_owned=any(parent in OWNERS for _, parent in references)
        )
        is_numbered = shape.key == ("id",)
        following = _free_number(database, shape) if is_numbered else 0
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
                name = tuple(moved[place] for place in places)
                there = known(name)
                if there is not None:
                    if shape.name not in OWNERS:
                        now[row[0]] = there
                    continue
                if is_numbered:
                    moved[0], following = following, following + 1
                if is_current is not None and not is_current(row[0], moved):
                    moved[-1] = 0
                now[row[0]] = moved[0]
                self._added += [(kind, name[0]) for kind in KINDS.get(shape.name, ())]
                rows.append(moved)
            add_rows(database, shape, rows, str(self.second.path))

    def _known(
        self,
        database: sqlite3.Connection,
        shape: TableShape,
        identity: Sequence[str],
        *,
        is_owned: bool,
    ) -> Callable[[tuple[Any, ...]], Any]:
        """Return what tells by which key the union calls a row, None where it has no such row."""
        if is_owned:
            # A row of an owner that is new is new too.
            return lambda _: None
        if shape.name in LISTED:
            chosen = database.execute(shape.select(", ".join((shape.key[0], *identity))))
            return {tuple(rest): number for number, *rest in chosen.fetchall()}.get
        where = " AND ".join(f"{column} = ?" for column in identity)
        one = f"SELECT {shape.key[0]} FROM {shape.name} WHERE {where}"  # noqa: S608
        return lambda name: (database.execute(one, name).fetchone() or (None,))[0]

    def _current_places(self, database: sqlite3.Connection) -> Callable[[int, Sequence[Any]], bool]:
        """Return what tells whether a row of the second's plan may stay current: where there is no current cell yet.

        A declaration that differs from the first's makes its whole plan an earlier one.
        """
        sql = "SELECT id, declared FROM experiments"
        declared = dict(database.execute(sql).fetchall())
        rows = self.second.database.execute(sql).fetchall()
        same = {
            number for number, text in rows if declared[self._now["experiments"][number]] == text
        }

        def is_current(experiment: int, row: Sequence[Any]) -> bool:
            if experiment not in same:
                return False
            return database.execute(CURRENT_AT, (row[0], *row[3:7])).fetchone() is None

        return is_current

    def _add_checksums(self, database: sqlite3.Connection) -> None:
        """Take the checksums along with their artifacts; a store of version 1 has none."""
        database.executemany("DELETE FROM checksums WHERE kind = ? AND key = ?", self._added)
        wanted, shape = set(self._added), shape_of("checksums")
        for batch in self.second.batches(shape):
            add_rows(
                database, shape, [row for row in batch if row[:2] in wanted], str(self.second.path)
            )


def _free_number(database: sqlite3.Connection, shape: TableShape) -> int:
    found = database.execute(f"SELECT max(id) FROM {shape.name}").fetchone()[0]  # noqa: S608
    return int(found or 0) + 1


def _copy_whole(database: sqlite3.Connection, store: Reading) -> None:
    """Write all of a store into one that is empty."""
    for shape in table_shapes():
        # A claim is of a run that works in its own store.
        if shape.name != "claims":
            for batch in store.batches(shape):
                add_rows(database, shape, batch, str(store.path))


def _result(side: Reading, number: int) -> tuple[Any, ...]:
    """Return what a cell's key determines: status, notes, scores and predictions, but no times.

    Nor warnings: a store of an older version has none of the same cell.
    """
    status, notes = side.database.execute(
        "SELECT status, notes FROM cells WHERE id = ?", (number,)
    ).fetchone()
    scores = side.database.execute(SCORE_ROWS, (number,)).fetchall()
    kept = side.database.execute(
        "SELECT payload FROM predictions WHERE cell_id = ?", (number,)
    ).fetchone()
    return status, notes, scores, kept


SHOWN = 5


@dataclass(frozen=True)
class Merged:
    """What a merge did.

    Parameters
    ----------
    path : Path
        The merged store.
    cells_of : tuple of int
        Cells in each of the stores.
    shared : int
        How many of them an earlier store had too.
    cells : int
        Cells in the merged store.
    completed : int
        Cells that failed in one store and are done in another: the done result stands.
    declared_otherwise : tuple of str
        Experiments whose declarations differ: that of the first store stands.
    """

    path: Path
    cells_of: tuple[int, ...]
    shared: int
    cells: int
    completed: int
    declared_otherwise: tuple[str, ...] = ()

    def __str__(self) -> str:
        if len(self.cells_of) == 2:
            each, both = (
                [f"{count:,} of {name}" for count, name in zip(self.cells_of, "AB", strict=True)],
                "in both",
            )
        else:
            each, both = [f"{sum(self.cells_of):,} of {len(self.cells_of)} stores"], "in several"
        text = f"{self.cells:,} cells in {self.path}: {', '.join(each)}, {self.shared:,} {both}"
        text += f"; {self.completed} failed in one and done in the other" * bool(self.completed)
        for name in self.declared_otherwise:
            text += f"; experiment {name!r} is declared differently: the first store's stands"
        return text


def merge(stores: Sequence[str | Path], out: str | Path) -> Merged:
    """Make a store with the cells of several; none of them is changed.

    A cell that several have with the same result is taken once. One that failed in one store and is
    done in another is done. Anything else that two have with different content, be it scores,
    predictions or a fit, is a conflict: it is named, and nothing is written. Where an experiment is
    declared in several ways the first one stands, and the cells of all are kept. Runs and their
    provenance are kept from all.

    Parameters
    ----------
    stores : sequence of str or Path
        Two or more.
    out : str or Path
        The store to make; it must not exist.

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
    ...     merge([place / "a.sqlite", place / "b.sqlite"], place / "c.sqlite").cells
    0
    """
    if len(stores) < 2:
        raise InputError("name two stores or more to merge")
    counts: dict[Path, int] = {}
    shared = 0
    completed: set[str] = set()
    otherwise: set[str] = set()
    with new_store(Path(out)) as database:
        database.execute("PRAGMA defer_foreign_keys = ON")
        union = Reading(database, Path(out))
        for number, path in enumerate(map(Path, stores)):
            try:
                with reading(path) as store:
                    counts[path] = store.database.execute("SELECT count(*) FROM cells").fetchone()[
                        0
                    ]
                    if not number:
                        _copy_whole(database, store)
                        continue
                    adding = StoreUnion(union, store)
                    conflicts = adding.conflicts()
                    if conflicts:
                        raise InputError(_refusal(conflicts, path, len(stores)))
                    otherwise.update(adding.declared_otherwise())
                    adding.add()
                    shared += len(adding.shared)
                    completed |= adding.completed
            except sqlite3.DatabaseError as error:
                raise damaged(path, error) from error
        delete_dangling(database)
        check_references(database, str(out))
        cells = database.execute("SELECT count(*) FROM cells").fetchone()[0]
    each = tuple(counts[Path(store)] for store in stores)
    return Merged(Path(out), each, shared, cells, len(completed), tuple(sorted(otherwise)))


def _refusal(conflicts: Sequence[str], path: Path, count: int) -> str:
    more = f" and {len(conflicts) - SHOWN} more" if len(conflicts) > SHOWN else ""
    before = "the store" if count == 2 else "the stores"
    return (
        f"{path} and {before} before it differ in {len(conflicts)} places:"
        f" {'; '.join(conflicts[:SHOWN])}{more}: leave one out, or run again what should stand"
    )
