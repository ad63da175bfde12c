"""Outcomes: what came of the cells and what they cost, written with their checksums."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paragone.lab.cells import Fitted, Outcome, Score, WarningCount
from paragone.lab.store.queries import pack
from paragone.lab.store.runs import this_moment
from paragone.validation import FloatArray, IntArray

COSTS = "SELECT cpu_seconds, peak_memory FROM costs WHERE cell_id = ?"
WARNINGS = (
    "SELECT position, category, message, count FROM warnings WHERE cell_id = ? ORDER BY position"
)
FIT_COSTS = "SELECT cpu_seconds FROM fit_costs WHERE fit_key = ?"
MODEL_COSTS = "SELECT predict_cpu_seconds, bytes FROM model_costs WHERE fit_key = ?"
FIT_WARNINGS = (
    "SELECT position, category, message, count FROM fit_warnings WHERE fit_key = ? ORDER BY"
    " position"
)
OUTPUT = "SELECT printed FROM outputs WHERE cell_id = ?"
SCORE_ROWS = """
SELECT metric, grid, position, at, value FROM scores JOIN measures ON measures.id = measure_id
WHERE cell_id = ? ORDER BY position
"""


WarningRows: TypeAlias = tuple[tuple[int, str, str, int], ...]


def _warning_rows(warnings: Sequence[WarningCount]) -> WarningRows:
    return tuple((place, w.category, w.message, int(w.count)) for place, w in enumerate(warnings))


def _known(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def _number_text(number: float | None) -> str:
    """Return a number as JSON has it: checksums need millions, and `json.dumps` takes ten times as long for each."""
    return (
        "null" if number is None else repr(number) if math.isfinite(number) else json.dumps(number)
    )


def _rows_text(rows: WarningRows) -> str:
    return json.dumps(rows) if rows else "[]"


@dataclass(frozen=True)
class CellCosts:
    """What a cell cost and said: time, memory, its warnings by position, and what it printed.

    A value that is not known is None. Every cell that this version writes has one; a cell of an
    older one has none.
    """

    cpu_seconds: float | None
    peak_memory: int | None
    warnings: WarningRows = ()
    output: str | None = None

    @classmethod
    def of(cls, outcome: Outcome) -> CellCosts:
        """Return what an outcome tells.

        Examples
        --------
        >>> CellCosts.of(Outcome("done", cpu_seconds=0.5, warnings=(WarningCount("A", "x", 2),))).text
        '[0.5, null, [[0, "A", "x", 2]], null]'
        """
        memory, output = int(outcome.peak_memory) or None, outcome.output or None
        return cls(_known(outcome.cpu_seconds), memory, _warning_rows(outcome.warnings), output)

    @property
    def text(self) -> str:
        """Everything in a fixed order, as JSON: what it adds to the checksum of the cell."""
        output = "null" if self.output is None else json.dumps(self.output)
        numbers = f"{_number_text(self.cpu_seconds)}, {_number_text(self.peak_memory)}"
        return f"[{numbers}, {_rows_text(self.warnings)}, {output}]"

    @classmethod
    def read(cls, db: sqlite3.Connection, cell: int) -> CellCosts | None:
        """Return what is stored of a cell; None where nothing is, as of an older version."""
        costs = db.execute(COSTS, (cell,)).fetchone()
        warnings = tuple(db.execute(WARNINGS, (cell,)).fetchall())
        output = db.execute(OUTPUT, (cell,)).fetchone()
        if costs is None and not warnings and output is None:
            return None
        cpu_seconds, peak_memory = costs or (None, None)
        return cls(cpu_seconds, peak_memory, warnings, None if output is None else output[0])

    def write(self, db: sqlite3.Connection, cell: int | None) -> None:
        """Store it for a cell; within a transaction of the caller's."""
        db.execute("INSERT INTO costs VALUES (?, ?, ?)", (cell, self.cpu_seconds, self.peak_memory))
        db.executemany(
            "INSERT INTO warnings VALUES (?, ?, ?, ?, ?)", ((cell, *row) for row in self.warnings)
        )
        if self.output is not None:
            db.execute("INSERT INTO outputs VALUES (?, ?)", (cell, self.output))


@dataclass(frozen=True)
class FitCosts:
    """What a fit cost and said: processor time, its warnings by position, what its model took to predict and holds.

    None stands for what is not known.
    """

    cpu_seconds: float | None = None
    warnings: WarningRows = ()
    predict_cpu_seconds: float | None = None
    model_bytes: int | None = None

    @classmethod
    def of(cls, fitted: Fitted) -> FitCosts:
        """Return what a fit tells."""
        model = _known(fitted.predict_cpu_seconds), int(fitted.model_bytes) or None
        return cls(_known(fitted.cpu_seconds), _warning_rows(fitted.warnings), *model)

    @property
    def parts(self) -> tuple[str, ...]:
        """What it adds to the checksum of the fit: nothing where nothing is known, as of an older version."""
        known = self.cpu_seconds is not None or self.warnings
        parts = (
            (f"[{_number_text(self.cpu_seconds)}, {_rows_text(self.warnings)}]",) if known else ()
        )
        model = ", ".join(map(_number_text, self._model))
        return (*parts, f'{{"model": [{model}]}}') if any(self._model) else parts

    @property
    def _model(self) -> tuple[float | None, int | None]:
        return self.predict_cpu_seconds, self.model_bytes

    @classmethod
    def read(cls, db: sqlite3.Connection, fit_key: str) -> FitCosts:
        """Return what is stored of a fit."""
        cpu = db.execute(FIT_COSTS, (fit_key,)).fetchone()
        model = db.execute(MODEL_COSTS, (fit_key,)).fetchone() or (None, None)
        warnings = tuple(db.execute(FIT_WARNINGS, (fit_key,)).fetchall())
        return cls(None if cpu is None else cpu[0], warnings, *model)

    def write(self, db: sqlite3.Connection, fit_key: str) -> None:
        """Store it for a fit; within a transaction of the caller's."""
        if self.cpu_seconds is not None:
            db.execute("INSERT INTO fit_costs VALUES (?, ?)", (fit_key, self.cpu_seconds))
        if any(self._model):
            db.execute("INSERT INTO model_costs VALUES (?, ?, ?)", (fit_key, *self._model))
        db.executemany(
            "INSERT INTO fit_warnings VALUES (?, ?, ?, ?, ?)",
            ((fit_key, *row) for row in self.warnings),
        )


ScoreRow: TypeAlias = tuple[str, str, int, float | None, float | None]


def cell_checksum(
    fields: Sequence[Any],
    scores: Iterable[ScoreRow],
    predictions: bytes | None,
    costs: CellCosts | None = None,
) -> bytes:
    """Return the checksum of a cell: its row, all its scores in their order, its predictions, what it cost and said.

    Parameters
    ----------
    fields : sequence
        Key, fit key, status, seconds, notes, error, traceback and time of the end.
    scores : iterable of tuple
        Metric, grid, position, at and value, by position.
    predictions : bytes or None
        The packed predictions.
    costs : CellCosts, optional
        Costs, warnings and output; None for a cell of an older version, whose checksum so stays
        what it was.

    Returns
    -------
    bytes
        Does not depend on the numbers by which a store calls its rows, so it stays right in a
        merged store.

    Examples
    --------
    >>> fields = ("k", "f", "done", 0.5, "[]", "", "", "2026-01-01T00:00:00+00:00")
    >>> one = cell_checksum(fields, [("micro_f1", "k", 0, 10.0, 0.5)], None)
    >>> one == cell_checksum(fields, [("micro_f1", "k", 0, 10.0, 0.6)], None)
    False
    """
    digest = hashlib.sha256(json.dumps([fields, list(scores)]).encode())
    if predictions is not None:
        digest.update(b"\0predictions\0")
        digest.update(predictions)
    if costs is not None:
        # These bytes are in the checksums of every store: they stay, whatever the fields are
        # called.
        digest.update(b"\0beside\0" + costs.text.encode())
    return digest.digest()


COPIED_BYTES = 4096
"""Content up to here is hashed together with its length: a second call takes longer than the copy."""


def content_checksum(*parts: bytes | str | float) -> bytes:
    """Return the checksum of an artifact's parts: the columns of its row beside its key.

    Examples
    --------
    >>> content_checksum(b"ab", b"c") == content_checksum(b"a", b"bc")
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode()
        length = len(content).to_bytes(8, "little")
        if len(content) < COPIED_BYTES:
            digest.update(length + content)
        else:
            digest.update(length)
            digest.update(content)
    return digest.digest()


def seal(db: sqlite3.Connection, kind: str, key: str, checksum: bytes) -> None:
    """Write down the checksum of something of the store; within a transaction of the caller's."""
    db.execute("INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)", (kind, key, checksum))


RECORD_BYTES = 32
NOTHING = np.uint64(0xFFFFFFFFFFFFFFFF)
NO_NUMBER = NOTHING.tobytes()
SCORE_RECORD, NUMBER = Struct("<QQ8s8s"), Struct("<d")


def scores_checksum(scores: Sequence[Score]) -> bytes:
    """Return the checksum of a cell's scores.

    Examples
    --------
    >>> one = scores_checksum([Score("micro_f1", 0.5, "k", 10.0)])
    >>> one == scores_checksum([Score("micro_f1", 0.5, "k", 10.0)])
    True
    >>> one == scores_checksum([Score("micro_f1", 0.25, "k", 10.0)])
    False
    """
    words = {(score.metric, score.grid): measure_word(score.metric, score.grid) for score in scores}
    records = score_records(
        np.array([words[score.metric, score.grid] for score in scores], dtype=np.uint64),
        np.arange(len(scores)),
        np.array([np.nan if score.at is None else score.at for score in scores], dtype=np.float64),
        np.array([score.value for score in scores], dtype=np.float64),
    )
    return hashlib.sha256(records.tobytes()).digest()


def stored_scores_checksum(rows: Iterable[ScoreRow]) -> bytes:
    """Return the checksum of a cell's scores from its rows in a store, by position, as `scores_checksum` makes it.

    Examples
    --------
    >>> row, score = ("micro_f1", "k", 0, 10.0, 0.5), Score("micro_f1", 0.5, "k", 10.0)
    >>> stored_scores_checksum([row]) == scores_checksum([score])
    True
    """
    # Arrays of a few numbers each take longer than the bytes one by one.
    records = b"".join(
        [
            SCORE_RECORD.pack(
                measure_word(metric, grid), position, _number_bits(at), _number_bits(value)
            )
            for metric, grid, position, at, value in rows
        ]
    )
    return hashlib.sha256(records).digest()


def _number_bits(number: float | None) -> bytes:
    return NO_NUMBER if number is None else NUMBER.pack(number + 0.0)


@lru_cache(maxsize=1024)
def measure_word(metric: str, grid: str) -> int:
    """Return a number for the name of a measure."""
    return int.from_bytes(hashlib.sha256(f"{metric}\0{grid}".encode()).digest()[:8], "little")


def score_records(
    measures: NDArray[np.uint64], positions: IntArray, at: FloatArray, values: FloatArray
) -> NDArray[np.uint64]:
    """Return the bytes that are summed up: `RECORD_BYTES` per score.

    Parameters
    ----------
    measures : ndarray of uint64
        The `measure_word` of every score.
    positions : ndarray of int
        Its place in the cell.
    at, values : ndarray of float
        The point of the grid and the score; NaN where there is none.
    """
    records = np.empty((len(values), 4), dtype="<u8")
    for column, numbers in enumerate((measures, positions, _bits(at), _bits(values))):
        records[:, column] = numbers
    return records


def _bits(numbers: FloatArray) -> NDArray[np.uint64]:
    # SQLite knows no NaN, and one zero only.
    return np.where(np.isnan(numbers), NOTHING, (numbers + 0.0).view(np.uint64))


DONE_BY_ANOTHER = (
    "SELECT 1 FROM cells WHERE key = ? AND status = 'done' AND key NOT IN (SELECT key FROM claims)"
)
CELL = """
INSERT INTO cells (key, fit_key, status, seconds, notes, error, traceback, finished_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


def replace_outcome(db: sqlite3.Connection, key: str, fit_key: str, outcome: Outcome) -> None:
    """Write what came of a cell in place of what was there, as `Store.commit` does; in the caller's transaction."""
    # A run that slept past its claim must not put its own failure in the place of another run's
    # result.
    if outcome.status != "done" and db.execute(DONE_BY_ANOTHER, (key,)).fetchone():
        return
    db.execute("DELETE FROM claims WHERE key = ?", (key,))
    db.execute("DELETE FROM cells WHERE key = ?", (key,))
    if outcome.fitted is not None:
        _insert_fit(db, fit_key, outcome.fitted)
    _insert_cell(db, key, fit_key, outcome)


def _insert_fit(db: sqlite3.Connection, fit_key: str, fitted: Fitted) -> None:
    row = (
        pack(fitted.arrays),
        json.dumps(dict(fitted.info), sort_keys=True),
        float(fitted.seconds),
    )
    costs = FitCosts.of(fitted)
    for table in ("fit_costs", "fit_warnings", "model_costs"):
        db.execute(f"DELETE FROM {table} WHERE fit_key = ?", (fit_key,))  # noqa: S608  names of ours
    db.execute("INSERT OR REPLACE INTO fits VALUES (?, ?, ?, ?)", (fit_key, *row))
    costs.write(db, fit_key)
    seal(db, "fit", fit_key, content_checksum(*row, *costs.parts))


def _insert_cell(db: sqlite3.Connection, key: str, fit_key: str, outcome: Outcome) -> None:
    ending = json.dumps(outcome.notes), outcome.error, outcome.traceback, this_moment()
    fields = (key, fit_key, outcome.status, float(outcome.seconds), *ending)
    cell = db.execute(CELL, fields).lastrowid
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
    costs = CellCosts.of(outcome)
    costs.write(db, cell)
    seal(db, "scores", key, scores_checksum(outcome.scores))
    seal(db, "cell", key, cell_checksum(fields, scores, outcome.predictions, costs))


def _measure_ids(db: sqlite3.Connection, scores: Sequence[Score]) -> dict[tuple[str, str], int]:
    """Return the id of every metric and grid in the scores, registering new ones."""
    wanted = {(score.metric, score.grid) for score in scores}
    db.executemany("INSERT OR IGNORE INTO measures (metric, grid) VALUES (?, ?)", sorted(wanted))
    return {
        (metric, grid): i for i, metric, grid in db.execute("SELECT id, metric, grid FROM measures")
    }


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
