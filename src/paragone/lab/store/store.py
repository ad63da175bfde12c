"""Store: one SQLite file that holds the plan, the cells, their scores and their artifacts.

This package alone knows SQL. Writers take ``BEGIN IMMEDIATE`` and hold it for one short transaction per cell;
readers may look at any time.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from paragone.lab.cells import Fitted, Outcome, Parts, Place
from paragone.lab.store.opening import UNREADABLE, FilesInPlace, check_types, connect, damaged
from paragone.lab.store.outcomes import replace_outcome, stored_fit
from paragone.lab.store.plans import (
    PLANNED,
    WITH_A_RESULT,
    WITH_AN_OUTDATED_RESULT,
    Plan,
    insert_plan,
    parts_by_place,
    plan_rows,
    settings_of,
)
from paragone.lab.store.queries import read_code_states
from paragone.lab.store.runs import (
    LostWorker,
    RunIdentity,
    Watch,
    claim_cell,
    drop_claims,
    keys_at_work,
    read_losses,
    register_run,
    this_moment,
    write_beat,
    write_loss,
)
from paragone.lab.store.schema import transaction

SYNC_SECONDS = 1.0
"""How much may be lost when the power fails: every commit after this time waits until the disk has it all."""


class Store:
    """The write side of a store file, and the lookups the engine needs.

    Parameters
    ----------
    path : str or Path
        The file.
    create : bool, default=False
        Whether to make it where it is missing.

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
        with self._writing():
            yield

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        if self._connection.in_transaction:
            yield self._connection
            return
        # Waiting for the disk at every commit would cost more than many a cell; a second of work may be lost instead.
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
            cursor = self._connection.execute(sql, parameters)
            rows = cursor.fetchall()
        except (sqlite3.DatabaseError, *UNREADABLE) as error:
            raise damaged(self.path, error) from error
        names = [column[0] for column in cursor.description or ()]
        check_types(rows, names, self.path, outer="LEFT JOIN" in sql)
        return rows

    def read_records(self, sql: str, fields: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Run a query of numbers and return its rows as one array with named fields."""
        try:
            return np.fromiter(self._connection.execute(sql), dtype=np.dtype(list(fields)))
        except (sqlite3.DatabaseError, *UNREADABLE) as error:
            raise damaged(self.path, error) from error
        except (TypeError, ValueError, OverflowError) as error:
            raise damaged(self.path, sqlite3.DatabaseError(f"a number is not one ({error})")) from error

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
        cells = plan_rows(plan.cells)
        with self._writing() as db:
            insert_plan(db, plan, cells)

    def earlier_parts(self, name: str) -> dict[Place, Parts]:
        """Return the parts of the newest earlier cell at each place of the experiment that has a result."""
        return parts_by_place(self, WITH_A_RESULT, name)

    def outdated_parts(self, name: str) -> dict[Place, Parts]:
        """Return the parts of the newest cell at each place that has a result of an older plan."""
        return parts_by_place(self, WITH_AN_OUTDATED_RESULT, name)

    def planned_parts(self, name: str) -> dict[Place, Parts]:
        """Return the parts of every currently planned cell of the experiment."""
        return parts_by_place(self, PLANNED, name)

    def settings(self, name: str) -> dict[str, Any]:
        """Return what results need to know of an experiment's protocol; nothing where it needs nothing."""
        return settings_of(self, name)

    def code_states(self) -> dict[str, dict[str, str]]:
        """Return the files and packages behind the version parts of cells, as far as the runs kept them."""
        return read_code_states(self)

    # Runs and claims

    def begin_run(self, identity: RunIdentity, workers: int, environment: dict[str, Any]) -> int:
        """Register a coordinating process and return its id."""
        with self._writing() as db:
            return register_run(db, identity, workers, environment)

    def beat(self, run: int) -> None:
        """Say that the run still lives."""
        with self._writing() as db:
            write_beat(db, run)

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
        with self._writing() as db:
            return claim_cell(db, self._watch, key, run, again=again)

    def release(self, run: int) -> None:
        """Give up every claim of a run, and wait until the disk has everything that it wrote."""
        self._synced = -SYNC_SECONDS
        with self._writing() as db:
            drop_claims(db, run)

    def running(self) -> list[str]:
        """Return the keys that living runs are at."""
        return keys_at_work(self)

    # Cells

    def statuses(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the status of those of the cells that have one."""
        wanted = set(keys)
        return {key: status for key, status in self.read("SELECT key, status FROM cells") if key in wanted}

    def seconds_taken(self) -> dict[str, float]:
        """Return how long every cell took that did take time."""
        return dict(self.read("SELECT key, seconds FROM cells WHERE seconds > 0"))

    def note_loss(self, run: int, key: str, why: str) -> None:
        """Write down that a worker died under a cell."""
        with self._writing() as db:
            write_loss(db, run, key, why, this_moment())

    def losses(self) -> list[LostWorker]:
        """Return the workers that died under cells, in order of time."""
        return read_losses(self)

    def fit_keys(self) -> set[str]:
        """Return the keys of all stored fits."""
        return {row[0] for row in self.read("SELECT fit_key FROM fits")}

    def fitted(self, fit_key: str) -> Fitted | None:
        """Return a stored fit."""
        return stored_fit(self, fit_key)

    def commit(self, key: str, fit_key: str, outcome: Outcome) -> None:
        """Write what came of a cell, all of it or nothing, and give up its claim.

        A run that was stopped for so long that another one did its cell has no claim any more: a failure of its own
        does not replace the other's result.
        """
        with self._writing() as db:
            replace_outcome(db, key, fit_key, outcome)
