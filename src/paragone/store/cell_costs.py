"""What a cell cost and what it said: processor time, memory, warnings and output, in tables since version 3.

The fit in it has its own processor time and warnings, since other cells may reuse it.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paragone.cells import Fitted, Outcome

COSTS = "SELECT cpu_seconds, peak_memory FROM costs WHERE cell_id = ?"
WARNINGS = "SELECT position, category, message, count FROM warnings WHERE cell_id = ? ORDER BY position"
FIT_COSTS = "SELECT cpu_seconds FROM fit_costs WHERE fit_key = ?"
FIT_WARNINGS = "SELECT position, category, message, count FROM fit_warnings WHERE fit_key = ? ORDER BY position"
OUTPUT = "SELECT printed FROM outputs WHERE cell_id = ?"


@dataclass(frozen=True)
class Beside:
    """What stands beside a cell's row: its costs, its warnings by position, and what it printed.

    A value that is not known is None. Every cell that this version writes has one; a cell of an older one has none.
    """

    cpu_seconds: float | None
    peak_memory: int | None
    warnings: tuple[tuple[int, str, str, int], ...] = ()
    output: str | None = None

    @classmethod
    def of(cls, outcome: Outcome) -> Beside:
        """Return what an outcome tells.

        Examples
        --------
        >>> from paragone.cells import WarningCount
        >>> Beside.of(Outcome("done", cpu_seconds=0.5, warnings=(WarningCount("A", "x", 2),))).values
        [0.5, None, [[0, 'A', 'x', 2]], None]
        """
        told = tuple((place, w.category, w.message, int(w.count)) for place, w in enumerate(outcome.warnings))
        cpu = float(outcome.cpu_seconds)
        return cls(cpu if math.isfinite(cpu) else None, int(outcome.peak_memory) or None, told, outcome.output or None)

    @property
    def values(self) -> list[Any]:
        """Everything, as plain values in a fixed order."""
        return [self.cpu_seconds, self.peak_memory, [list(row) for row in self.warnings], self.output]


def write_beside(db: sqlite3.Connection, cell: int | None, beside: Beside) -> None:
    """Write what a cell cost and said; within a transaction of the caller's."""
    db.execute("INSERT INTO costs VALUES (?, ?, ?)", (cell, beside.cpu_seconds, beside.peak_memory))
    db.executemany("INSERT INTO warnings VALUES (?, ?, ?, ?, ?)", ((cell, *row) for row in beside.warnings))
    if beside.output is not None:
        db.execute("INSERT INTO outputs VALUES (?, ?)", (cell, beside.output))


def read_beside(db: sqlite3.Connection, cell: int, tables: Sequence[str] | set[str]) -> Beside | None:
    """Return what a cell cost and said; None where nothing stands beside it, as of an older version.

    Parameters
    ----------
    db : sqlite3.Connection
        An open store.
    cell : int
        The cell's number.
    tables : sequence or set of str
        The tables that the store has.
    """
    if "costs" not in tables:
        return None
    costs = db.execute(COSTS, (cell,)).fetchone()
    told = tuple(db.execute(WARNINGS, (cell,)).fetchall())
    output = db.execute(OUTPUT, (cell,)).fetchone()
    if costs is None and not told and output is None:
        return None
    cpu_seconds, peak_memory = costs or (None, None)
    return Beside(cpu_seconds, peak_memory, told, None if output is None else output[0])


@dataclass(frozen=True)
class FitBeside:
    """What stands beside a fit: its processor time, None where it is not known, and its warnings by position."""

    cpu_seconds: float | None = None
    warnings: tuple[tuple[int, str, str, int], ...] = ()

    @classmethod
    def of(cls, fitted: Fitted) -> FitBeside:
        """Return what a fit tells."""
        told = tuple((place, w.category, w.message, int(w.count)) for place, w in enumerate(fitted.warnings))
        return cls(float(fitted.cpu_seconds) if math.isfinite(fitted.cpu_seconds) else None, told)

    @property
    def parts(self) -> tuple[str, ...]:
        """What it adds to the checksum of the fit: nothing where nothing is known, as of an older version."""
        known = self.cpu_seconds is not None or self.warnings
        return (json.dumps([self.cpu_seconds, [list(row) for row in self.warnings]]),) if known else ()


def remove_fit_beside(db: sqlite3.Connection, fit_key: str) -> None:
    """Delete what stands beside a fit that is about to be replaced."""
    for table in ("fit_costs", "fit_warnings"):
        db.execute(f"DELETE FROM {table} WHERE fit_key = ?", (fit_key,))  # noqa: S608  names of ours


def write_fit_beside(db: sqlite3.Connection, fit_key: str, beside: FitBeside) -> None:
    """Write what stands beside a fit; within a transaction of the caller's."""
    if beside.cpu_seconds is not None:
        db.execute("INSERT INTO fit_costs VALUES (?, ?)", (fit_key, beside.cpu_seconds))
    db.executemany("INSERT INTO fit_warnings VALUES (?, ?, ?, ?, ?)", ((fit_key, *row) for row in beside.warnings))


def read_fit_beside(db: sqlite3.Connection, fit_key: str, tables: Sequence[str] | set[str]) -> FitBeside:
    """Return what stands beside a fit; nothing in a store of an older version."""
    if "fit_costs" not in tables:
        return FitBeside()
    cpu = db.execute(FIT_COSTS, (fit_key,)).fetchone()
    return FitBeside(None if cpu is None else cpu[0], tuple(db.execute(FIT_WARNINGS, (fit_key,)).fetchall()))
