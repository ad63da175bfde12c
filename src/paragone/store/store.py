"""Store: one SQLite file that holds the plan, the cells, their scores and their artifacts.

This package alone knows SQL. Writers take ``BEGIN IMMEDIATE`` and hold it for one short transaction a cell;
readers may look at any time.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from paragone.cells import Cell, Fitted, Outcome, Parts, Place, Score
from paragone.store.arrays import pack
from paragone.store.checksums import cell_checksum, content_checksum
from paragone.store.files import FilesInPlace
from paragone.store.kept import arrays_of, described_settings, kept_object
from paragone.store.losses import Loss, read_losses, write_loss
from paragone.store.runs import RunIdentity, Watch
from paragone.store.schema import UNREADABLE, connect, damaged
from paragone.store.score_checksums import scores_checksum
from paragone.validation import IntArray

CURRENT_PLAN = """
SELECT position, protocol, dataset, fold, method, repeat, key, fit_key, data_part, split_part, method_part,
       protocol_part, version_part, seed_part
FROM plan WHERE experiment_id = ? AND current = 1 ORDER BY position
"""
_RESULTS = """
SELECT dataset, fold, method, repeat, data_part, split_part, method_part, protocol_part, version_part, seed_part
FROM plan JOIN experiments e ON e.id = experiment_id JOIN cells USING (key)
WHERE e.name = ? {which} ORDER BY cells.id
"""
PARTS_OF_RESULTS = _RESULTS.format(which="")
PARTS_OF_OUTDATED_RESULTS = _RESULTS.format(which="AND current = 0")
DONE_BY_ANOTHER = "SELECT 1 FROM cells WHERE key = ? AND status = 'done' AND key NOT IN (SELECT key FROM claims)"
SYNC_SECONDS = 1.0
"""How much may be lost when the power fails: every commit after this time waits until the disk has it all."""


@dataclass(frozen=True, eq=False)
class Plan:
    """An experiment worked out: its cells, and what is kept beside them so that results explain themselves.

    Parameters
    ----------
    name, declared : str
        The experiment's name and its declaration as text.
    described : mapping
        What reports need to know of the declaration: seed, split, protocol, methods.
    cells : sequence of Cell
        In the order of work.
    splits : mapping
        Row numbers of train and test by the cells' split part.
    truths : mapping
        Packed targets of the test rows by `truth_key`.
    datasets : mapping
        What is known of every dataset by the cells' data part.
    """

    name: str
    declared: str
    described: Mapping[str, Any]
    cells: Sequence[Cell]
    splits: Mapping[str, tuple[IntArray, IntArray]]
    truths: Mapping[str, bytes]
    datasets: Mapping[str, Mapping[str, Any]]


def truth_key(parts: Parts) -> str:
    """Name the targets of a split's test rows."""
    return f"{parts.data}/{parts.split}"


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
        now = time.monotonic()
        sync = now - self._synced >= SYNC_SECONDS
        try:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._files.check()
                yield self._connection
            except BaseException:
                # A full disk makes SQLite roll back by itself.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
            self._synced = now if sync else self._synced
        except sqlite3.DatabaseError as error:
            raise damaged(self.path, error) from error

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query and return its rows."""
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except (sqlite3.DatabaseError, *UNREADABLE) as error:
            raise damaged(self.path, error) from error

    def read_records(self, sql: str, fields: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Run a query of numbers and return its rows as one array with named fields."""
        try:
            return np.fromiter(self._connection.execute(sql), dtype=np.dtype(list(fields)))
        except (sqlite3.DatabaseError, *UNREADABLE) as error:
            raise damaged(self.path, error) from error
        except (TypeError, ValueError) as error:
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
        rows = [
            (position, c.protocol, *c.place, c.key, c.fit_key, *c.parts.values) for position, c in enumerate(plan.cells)
        ]
        with self._writing() as db:
            db.execute(
                "INSERT INTO experiments (name, declared, described, planned_at) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET declared = excluded.declared, described = excluded.described, "
                "planned_at = excluded.planned_at",
                (plan.name, plan.declared, json.dumps(plan.described), _now()),
            )
            experiment = db.execute("SELECT id FROM experiments WHERE name = ?", (plan.name,)).fetchone()[0]
            if db.execute(CURRENT_PLAN, (experiment,)).fetchall() != rows:
                db.execute("UPDATE plan SET current = 0 WHERE experiment_id = ?", (experiment,))
                db.executemany(
                    "INSERT OR REPLACE INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
                    ((experiment, *row) for row in rows),
                )
            splits = {part: tuple(_index_bytes(rows) for rows in both) for part, both in plan.splits.items()}
            truths = {key: (payload,) for key, payload in plan.truths.items()}
            _add_missing(db, "split", splits, "SELECT split_part FROM splits", "INSERT INTO splits VALUES (?, ?, ?)")
            _add_missing(db, "truth", truths, "SELECT truth_key FROM truths", "INSERT INTO truths VALUES (?, ?)")
            db.executemany(
                "INSERT OR REPLACE INTO datasets VALUES (?, ?)",
                ((part, json.dumps(described)) for part, described in plan.datasets.items()),
            )

    def earlier_parts(self, name: str) -> dict[Place, Parts]:
        """Return the parts of the newest earlier cell at each place of the experiment that has a result."""
        return self._parts_of_results(PARTS_OF_RESULTS, name)

    def outdated_parts(self, name: str) -> dict[Place, Parts]:
        """Return the parts of the newest cell at each place that has a result of an older plan."""
        return self._parts_of_results(PARTS_OF_OUTDATED_RESULTS, name)

    def _parts_of_results(self, sql: str, name: str) -> dict[Place, Parts]:
        return {row[:4]: Parts(*row[4:]) for row in self.read(sql, (name,))}

    def planned_parts(self, name: str) -> dict[Place, Parts]:
        """Return the parts of every currently planned cell of the experiment."""
        rows = self.read(
            "SELECT dataset, fold, method, repeat, data_part, split_part, method_part, protocol_part, version_part, "
            "seed_part FROM plan JOIN experiments e ON e.id = experiment_id WHERE e.name = ? AND current = 1",
            (name,),
        )
        return {row[:4]: Parts(*row[4:]) for row in rows}

    def settings(self, name: str) -> dict[str, Any]:
        """Return what results need to know of an experiment's protocol; nothing where it needs nothing."""
        rows = self.read("SELECT described FROM experiments WHERE name = ?", (name,))
        return described_settings(kept_object(self, rows[0][0]))

    # Runs and claims

    def begin_run(self, identity: RunIdentity, workers: int, environment: dict[str, Any]) -> int:
        """Register a coordinating process and return its id."""
        with self._writing() as db:
            cursor = db.execute(
                "INSERT INTO runs (host, pid, process_start, workers, environment, begun_at, beat) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*astuple(identity), workers, json.dumps(environment, sort_keys=True), _now(), time.time()),
            )
        return int(cursor.lastrowid or 0)

    def beat(self, run: int) -> None:
        """Say that the run still lives."""
        with self._writing() as db:
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
        with self._writing() as db:
            known = db.execute("SELECT 1 FROM cells WHERE key = ?", (key,)).fetchone()
            if known and not again:
                return "finished"
            owner = db.execute(
                "SELECT runs.id, host, pid, process_start, beat FROM claims JOIN runs ON runs.id = run_id "
                "WHERE key = ?",
                (key,),
            ).fetchone()
            if owner and owner[0] != run and self._watch.lives(owner[0], RunIdentity(*owner[1:4]), owner[4]):
                return "taken"
            db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", (key, run))
        return "claimed"

    def release(self, run: int) -> None:
        """Give up every claim of a run, and wait until the disk has everything that it wrote."""
        self._synced = -SYNC_SECONDS
        with self._writing() as db:
            db.execute("DELETE FROM claims WHERE run_id = ?", (run,))

    def running(self) -> list[str]:
        """Return the keys that living runs are at."""
        rows = self.read("SELECT key, host, pid, process_start, beat FROM claims JOIN runs ON runs.id = run_id")
        return [row[0] for row in rows if RunIdentity(*row[1:4]).lives(row[4])]

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
            write_loss(db, run, key, why, _now())

    def losses(self) -> list[Loss]:
        """Return the workers that died under cells, in order of time."""
        return read_losses(self)

    def fit_keys(self) -> set[str]:
        """Return the keys of all stored fits."""
        return {row[0] for row in self.read("SELECT fit_key FROM fits")}

    def fitted(self, fit_key: str) -> Fitted | None:
        """Return a stored fit."""
        rows = self.read("SELECT arrays, info, seconds FROM fits WHERE fit_key = ?", (fit_key,))
        if not rows:
            return None
        arrays, info, seconds = rows[0]
        return Fitted(arrays_of(arrays, self.path), kept_object(self, info), seconds)

    def commit(self, key: str, fit_key: str, outcome: Outcome) -> None:
        """Write what came of a cell, all of it or nothing, and give up its claim.

        A run that was stopped for so long that another one did its cell has no claim any more: a failure of its own
        does not replace the other's result.
        """
        with self._writing() as db:
            if outcome.status != "done" and db.execute(DONE_BY_ANOTHER, (key,)).fetchone():
                return
            db.execute("DELETE FROM claims WHERE key = ?", (key,))
            db.execute("DELETE FROM cells WHERE key = ?", (key,))
            if outcome.fitted is not None:
                _insert_fit(db, fit_key, outcome.fitted)
            _insert_cell(db, key, fit_key, outcome)


def _insert_fit(db: sqlite3.Connection, fit_key: str, fitted: Fitted) -> None:
    row = (pack(fitted.arrays), json.dumps(dict(fitted.info), sort_keys=True), float(fitted.seconds))
    db.execute("INSERT OR REPLACE INTO fits VALUES (?, ?, ?, ?)", (fit_key, *row))
    _seal(db, "fit", fit_key, content_checksum(*row))


def _insert_cell(db: sqlite3.Connection, key: str, fit_key: str, outcome: Outcome) -> None:
    told = json.dumps(outcome.notes), outcome.error, outcome.traceback, _now()
    fields = (key, fit_key, outcome.status, float(outcome.seconds), *told)
    cell = db.execute(
        "INSERT INTO cells (key, fit_key, status, seconds, notes, error, traceback, finished_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        fields,
    ).lastrowid
    measures = _measure_ids(db, outcome.scores)
    scores = [
        (s.metric, s.grid, position, None if s.at is None else float(s.at), _or_null(s.value))
        for position, s in enumerate(outcome.scores)
    ]
    db.executemany(
        "INSERT INTO scores VALUES (?, ?, ?, ?, ?)",
        ((cell, measures[metric, grid], *rest) for metric, grid, *rest in scores),
    )
    if outcome.predictions is not None:
        db.execute("INSERT INTO predictions VALUES (?, ?)", (cell, outcome.predictions))
    _seal(db, "scores", key, scores_checksum(outcome.scores))
    _seal(db, "cell", key, cell_checksum(fields, scores, outcome.predictions))


def _seal(db: sqlite3.Connection, kind: str, key: str, checksum: bytes) -> None:
    db.execute("INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)", (kind, key, checksum))


def _add_missing(
    db: sqlite3.Connection, kind: str, contents: Mapping[str, tuple[bytes, ...]], known: str, insert: str
) -> None:
    """Add the splits or truths that are not there yet; those that are keep the checksum they were written with."""
    present = {row[0] for row in db.execute(known)}
    for key, parts in contents.items():
        if key not in present:
            db.execute(insert, (key, *parts))
            _seal(db, kind, key, content_checksum(*parts))


def _measure_ids(db: sqlite3.Connection, scores: Sequence[Score]) -> dict[tuple[str, str], int]:
    """Return the id of every metric and grid in the scores, registering new ones."""
    wanted = {(score.metric, score.grid) for score in scores}
    db.executemany("INSERT OR IGNORE INTO measures (metric, grid) VALUES (?, ?)", sorted(wanted))
    return {(metric, grid): i for i, metric, grid in db.execute("SELECT id, metric, grid FROM measures")}


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _index_bytes(indices: IntArray) -> bytes:
    return np.ascontiguousarray(indices, dtype="<i8").tobytes()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
