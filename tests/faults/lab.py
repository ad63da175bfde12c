"""The experiment that faults are tried on, and what a store holds, read with SQLite alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from experiment_files import write_lab

Contents = dict[str, list[tuple[object, ...]]]

QUERIES = {
    "scores": (
        "SELECT key, status, metric, grid, at, value FROM cells JOIN scores ON cells.id = cell_id "
        "JOIN measures ON measures.id = measure_id ORDER BY key, position"
    ),
    "predictions": (
        "SELECT key, payload FROM predictions JOIN cells ON cells.id = cell_id ORDER BY key"
    ),
    "fits": (
        "SELECT DISTINCT fit_key, arrays, info FROM fits JOIN cells USING (fit_key) ORDER BY"
        " fit_key"
    ),
}


def lab_of(folder: Path, n_methods: int, folds: int) -> Path:
    """Write an experiment of napping methods: one cell a method and fold."""
    methods = {
        f"M{i:02d}": f'use = "lab_methods:Naps"\nparams = {{ shift = {i} }}'
        for i in range(n_methods)
    }
    return write_lab(folder, methods, split=f"folds = {folds}")


@contextmanager
def looking(store: Path) -> Iterator[sqlite3.Connection]:
    """Open a store to look into it."""
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=30)
    try:
        yield connection
    finally:
        connection.close()


def count_cells(store: Path) -> int:
    """Count the cells that have a result; 0 where there is no store yet."""
    if not store.exists() or store.stat().st_size == 0:
        return 0
    try:
        with looking(store) as connection:
            return int(connection.execute("SELECT count(*) FROM cells").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def contents(store: Path) -> Contents:
    """Return everything that a result consists of; times are left out."""
    with looking(store) as connection:
        return {name: connection.execute(query).fetchall() for name, query in QUERIES.items()}


def assert_sound(store: Path, n_cells: int) -> None:
    """Check that the file is whole, that every cell is there once and done, and that nobody claims any."""
    with looking(store) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        counts = connection.execute("SELECT count(*), count(DISTINCT key) FROM cells").fetchone()
        assert counts == (n_cells, n_cells)
        assert connection.execute(
            "SELECT count(*) FROM cells WHERE status <> 'done'"
        ).fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)
