"""Store: one SQLite file that holds the plan, the cells, their scores and their artifacts.

This package alone knows SQL. Writers take ``BEGIN IMMEDIATE`` and hold it for one short transaction
per cell; readers may look at any time.
"""

from __future__ import annotations

import json
import math
import sqlite3
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.lab.cells import Fitted, Outcome, Parts, Place, WarningCount
from paragone.lab.store.distrust import NOT_READ, check_types, damaged
from paragone.lab.store.opening import FilesInPlace, connect
from paragone.lab.store.outcomes import FIT_COSTS, FIT_WARNINGS, MODEL_COSTS, replace_outcome
from paragone.lab.store.plans import (
    PLANNED,
    WITH_A_RESULT,
    WITH_A_RESULT_AT,
    WITH_AN_OUTDATED_RESULT,
    Plan,
    insert_plan,
)
from paragone.lab.store.queries import DESCRIBED, arrays_of, damaged_part, json_object
from paragone.lab.store.runs import RunIdentity, Watch, this_moment
from paragone.lab.store.schema import empty_tables, transaction

NEW_RUN = """
INSERT INTO runs (host, pid, process_start, workers, environment, begun_at, beat) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
OWNER = """
SELECT runs.id, host, pid, process_start, beat FROM claims JOIN runs ON runs.id = run_id WHERE key = ?
"""
CLAIMED = "SELECT key, host, pid, process_start, beat FROM claims JOIN runs ON runs.id = run_id"
LOSS = "INSERT INTO losses (run_id, key, why, lost_at) VALUES (?, ?, ?, ?)"
PEAKS = """
SELECT method, dataset, max(peak_memory) AS peak FROM plan JOIN experiments e ON e.id = experiment_id
JOIN cells c ON c.key = plan.key JOIN costs k ON k.cell_id = c.id
WHERE e.name = ? AND c.status = 'done' AND peak_memory > 0 GROUP BY method, dataset
"""
CODE_STATES = "code_states"
ROWS_AT_A_TIME = 10_000
ROWS_PASSED_PER_LOOKUP = 10
SYNC_SECONDS = 1.0
"""How much may be lost when the power fails: every commit after this time waits until the disk has it all."""


class Store:
    """The write side of a store file, and the lookups the engine needs.

    Parameters
    ----------
    path : str or Path
        The file.
    create : bool, default=False
        Whether it is written into, and made where it is missing. Where it is not, and its file
        system is one that hosts share, it is read as it was when it was opened.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Store(pathlib.Path(folder.name) / "lab.sqlite", create=True) as store:
    ...     store.statuses(["no such key"])
    {}
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path, *, create: bool = False) -> None:
        self.path = Path(path)
        self._connection = connect(self.path, create=create)
        self._files = FilesInPlace(self.path)
        self._watch = Watch()
        self._synced = -SYNC_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write everything that is written inside as one transaction: all of it or nothing, and much quicker."""
        with self.writing():
            yield

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the database, in a transaction that ends with what is written inside."""
        if self._connection.in_transaction:
            yield self._connection
            return
        # Waiting for the disk at every commit would cost more than many a cell; a second of work
        # may be lost instead.
        now = time.monotonic()
        sync = now - self._synced >= SYNC_SECONDS
        try:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
            with transaction(self._connection):
                self._files.check()
                yield self._connection
            self._synced = now if sync else self._synced
        except sqlite3.DatabaseError as error:
            raise damaged(self.path, error) from error

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query and return its rows, whose values are of the types that their columns have."""
        try:
            cursor = self._asked(sql, parameters)
            rows = cursor.fetchall()
        except NOT_READ as error:
            raise damaged(self.path, error) from error
        names = [column[0] for column in cursor.description or ()]
        check_types(rows, names, self.path, outer="LEFT JOIN" in sql)
        return rows

    def walk(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Run a query whose rows may be many, and return them one after the other, checked as `read` does."""
        try:
            cursor = self._asked(sql, parameters)
            names = [column[0] for column in cursor.description or ()]
            while rows := cursor.fetchmany(ROWS_AT_A_TIME):
                check_types(rows, names, self.path, outer="LEFT JOIN" in sql)
                yield from rows
        except NOT_READ as error:
            raise damaged(self.path, error) from error

    def _are_few(self, wanted: Collection[Any]) -> bool:
        """Whether it takes less to look some cells up than to pass over all that there are."""
        newest = self.read("SELECT max(id) FROM cells")[0][0] or 0
        return ROWS_PASSED_PER_LOOKUP * len(wanted) < newest

    def _asked(self, sql: str, parameters: Sequence[Any]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, parameters)
        except sqlite3.OperationalError as error:
            if not str(error).startswith("no such table"):
                raise
            # A store of an older version lacks tables until a run writes into it, which may be
            # while it is read.
            version = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
            return self._connection.execute(empty_tables(version) + sql, parameters)

    def read_records(self, sql: str, fields: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Run a query of numbers and return its rows as one array with named fields."""
        try:
            return np.fromiter(self._connection.execute(sql), dtype=np.dtype(list(fields)))
        except NOT_READ as error:
            raise damaged(self.path, error) from error
        except (TypeError, ValueError, OverflowError) as error:
            raise damaged(
                self.path, sqlite3.DatabaseError(f"a number is not one ({error})")
            ) from error

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Let all that is read inside be of one moment, whatever a run writes in the meantime."""
        if self._connection.in_transaction:
            yield
            return
        self.read("BEGIN")
        try:
            yield
        finally:
            if self._connection.in_transaction:
                self.read("COMMIT")

    # The plan

    def write_plan(self, plan: Plan) -> None:
        """Make this the current plan of its experiment; what was planned before stays known as stale."""
        with self.writing() as db:
            insert_plan(db, plan)

    def earlier_parts(self, name: str, places: Collection[Place]) -> dict[Place, Parts]:
        """Return the parts of the newest earlier cell at each of some places of the experiment that has a result."""
        rows = self.walk(WITH_A_RESULT, (name,))
        if self._are_few(places):
            rows = (row for place in places for row in self.read(WITH_A_RESULT_AT, (name, *place)))
        wanted, known = {place: place for place in places}, dict[str, str]()
        found: dict[Place, Parts] = {}
        for row in rows:
            place = wanted.get(row[:4])
            if place is not None:
                # A million cells share few texts, which SQLite gives anew with every row.
                found[place] = Parts(*(known.setdefault(text, text) for text in row[4:]))
        return found

    def outdated_parts(self, name: str) -> dict[Place, Parts]:
        """Return the parts of the newest cell at each place that has a result of an older plan."""
        return self._parts(WITH_AN_OUTDATED_RESULT, name)

    def planned_parts(self, name: str) -> dict[Place, Parts]:
        """Return the parts of every currently planned cell of the experiment."""
        return self._parts(PLANNED, name)

    def _parts(self, sql: str, name: str) -> dict[Place, Parts]:
        return {row[:4]: Parts(*row[4:]) for row in self.read(sql, (name,))}

    def settings(self, name: str) -> dict[str, Any]:
        """Return what results need to know of an experiment's protocol; nothing where it needs nothing."""
        rows = self.read(DESCRIBED, (name,))
        if not rows:
            raise damaged_part(self.path, f"experiment {name!r}")
        settings = json_object(self.path, rows[0][0]).get("settings")
        return settings if isinstance(settings, dict) else {}

    def code_states(self) -> dict[str, dict[str, str]]:
        """Return the files and packages behind the version parts of cells, as far as the runs kept them."""
        found: dict[str, dict[str, str]] = {}
        for record in self.run_records(CODE_STATES):
            states = record.get(CODE_STATES)
            for part, words in (states if isinstance(states, dict) else {}).items():
                if isinstance(words, dict):
                    found.setdefault(
                        str(part), {str(name): str(word) for name, word in words.items()}
                    )
        return found

    def run_records(self, text: str) -> Iterator[dict[str, Any]]:
        """Walk over what runs recorded of themselves, the newest first, where a text stands in it."""
        sql = "SELECT environment FROM runs WHERE instr(environment, ?) ORDER BY id DESC"
        for (environment,) in self.read(sql, (text,)):
            try:
                yield json_object(self.path, environment)
            except InputError:
                # A run's description that cannot be read takes nothing from the results; a check
                # tells of it.
                continue

    # Runs and claims

    def begin_run(self, identity: RunIdentity, workers: int, environment: dict[str, Any]) -> int:
        """Register a coordinating process and return its id."""
        with self.writing() as db:
            described = json.dumps(environment, sort_keys=True)
            row = (*astuple(identity), workers, described, this_moment(), time.time())
            return int(db.execute(NEW_RUN, row).lastrowid or 0)

    def beat(self, run: int) -> None:
        """Say that the run still lives."""
        with self.writing() as db:
            db.execute("UPDATE runs SET beat = ? WHERE id = ?", (time.time(), run))

    def claim(self, key: str, run: int, *, again: bool = False) -> str:
        """Claim a cell for a run, or say why not.

        Parameters
        ----------
        key : str
            The cell.
        run : int
            The run that wants it.
        again : bool, default=False
            Whether a cell that has a result is wanted all the same.

        Returns
        -------
        {"claimed", "finished", "taken"}
            ``taken`` where another living run is at it.
        """
        with self.writing() as db:
            if not again and db.execute("SELECT 1 FROM cells WHERE key = ?", (key,)).fetchone():
                return "finished"
            owner = db.execute(OWNER, (key,)).fetchone()
            if (
                owner
                and owner[0] != run
                and self._watch.lives(owner[0], RunIdentity(*owner[1:4]), owner[4])
            ):
                return "taken"
            db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", (key, run))
            return "claimed"

    def release(self, run: int) -> None:
        """Give up every claim of a run, and wait until the disk has everything that it wrote."""
        self._synced = -SYNC_SECONDS
        with self.writing() as db:
            db.execute("DELETE FROM claims WHERE run_id = ?", (run,))

    def running(self) -> list[str]:
        """Return the keys that living runs are at."""
        return [row[0] for row in self.read(CLAIMED) if RunIdentity(*row[1:4]).lives(row[4])]

    def at_work(self) -> list[RunIdentity]:
        """Return the living processes that hold claims."""
        found = {RunIdentity(*row[1:4]): row[4] for row in self.read(CLAIMED)}
        return [identity for identity, beat in found.items() if identity.lives(beat)]

    # Cells

    def statuses(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the status of those of the cells that have one."""
        return {key: sys.intern(status) for key, status in self._of_cells("status", keys)}

    def seconds_taken(self, keys: Iterable[str]) -> Iterator[tuple[str, float]]:
        """Walk over those of the cells that took time, with how long."""
        return ((key, seconds) for key, seconds in self._of_cells("seconds", keys) if seconds > 0)

    def _of_cells(self, column: str, keys: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Walk over those of the cells that are there, each under the very text that was asked for."""
        wanted = {key: key for key in keys}
        sql = f"SELECT key, {column} FROM cells"  # noqa: S608  a name of our own
        rows = self.walk(sql)
        if self._are_few(wanted):
            rows = (row for key in wanted for row in self.read(f"{sql} WHERE key = ?", (key,)))
        return ((wanted[key], value) for key, value in rows if key in wanted)

    def peaks(self, experiment: str) -> dict[tuple[str, str], int]:
        """Return the most that a done cell of a method on a dataset held beside its data, where that is known."""
        return {
            (method, dataset): peak for method, dataset, peak in self.read(PEAKS, (experiment,))
        }

    def note_workers(self, run: int, workers: int) -> None:
        """Write down that a run has another number of workers than it began with."""
        with self.writing() as db:
            db.execute("UPDATE runs SET workers = ? WHERE id = ?", (workers, run))

    def note_loss(self, run: int, key: str, why: str) -> None:
        """Write down that a worker died under a cell."""
        with self.writing() as db:
            db.execute(LOSS, (run, key, why, this_moment()))

    def fits_among(self, fit_keys: Collection[str]) -> set[str]:
        """Return those of some keys that a stored fit has."""
        if self._are_few(fit_keys):
            return {
                key for key in fit_keys if self.read("SELECT 1 FROM fits WHERE fit_key = ?", (key,))
            }
        wanted = set(fit_keys)
        return {key for (key,) in self.walk("SELECT fit_key FROM fits") if key in wanted}

    def fitted(self, fit_key: str) -> Fitted | None:
        """Return a stored fit; None where there is none."""
        rows = self.read("SELECT arrays, info, seconds FROM fits WHERE fit_key = ?", (fit_key,))
        if not rows:
            return None
        packed, info, seconds = rows[0]
        cpu = self.read(FIT_COSTS, (fit_key,))
        warnings = tuple(WarningCount(*row[1:]) for row in self.read(FIT_WARNINGS, (fit_key,)))
        model = self.read(MODEL_COSTS, (fit_key,))
        predicting, size = model[0] if model else (None, None)
        return Fitted(
            arrays_of(packed, self.path),
            json_object(self.path, info),
            seconds,
            cpu[0][0] if cpu else math.nan,
            warnings,
            math.nan if predicting is None else predicting,
            size or 0,
        )

    def commit(self, key: str, fit_key: str, outcome: Outcome) -> None:
        """Write what came of a cell, all of it or nothing, and give up its claim.

        A run that was stopped for so long that another one did its cell has no claim any more: a
        failure of its own does not replace the other's result.
        """
        with self.writing() as db:
            replace_outcome(db, key, fit_key, outcome)
