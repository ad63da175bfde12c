"""Outcomes: what came of the cells, written with their checksums, and the fits that later cells start from."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence

from paragone.cells import Fitted, Outcome, Score, WarningCount
from paragone.store.arrays import pack
from paragone.store.cell_costs import (
    FIT_COSTS,
    FIT_WARNINGS,
    Beside,
    FitBeside,
    remove_fit_beside,
    write_beside,
    write_fit_beside,
)
from paragone.store.checksums import cell_checksum, content_checksum, seal
from paragone.store.kept import arrays_of, kept_object
from paragone.store.moments import this_moment
from paragone.store.readable import Readable, has_table
from paragone.store.score_checksums import scores_checksum

DONE_BY_ANOTHER = "SELECT 1 FROM cells WHERE key = ? AND status = 'done' AND key NOT IN (SELECT key FROM claims)"
CELL = """
INSERT INTO cells (key, fit_key, status, seconds, notes, error, traceback, finished_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


def replace_outcome(db: sqlite3.Connection, key: str, fit_key: str, outcome: Outcome) -> None:
    """Write what came of a cell in place of what was there, as `Store.commit` does; in the caller's transaction."""
    if outcome.status != "done" and db.execute(DONE_BY_ANOTHER, (key,)).fetchone():
        return
    db.execute("DELETE FROM claims WHERE key = ?", (key,))
    db.execute("DELETE FROM cells WHERE key = ?", (key,))
    if outcome.fitted is not None:
        _insert_fit(db, fit_key, outcome.fitted)
    _insert_cell(db, key, fit_key, outcome)


def stored_fit(store: Readable, fit_key: str) -> Fitted | None:
    """Return a fit; None where there is none."""
    rows = store.read("SELECT arrays, info, seconds FROM fits WHERE fit_key = ?", (fit_key,))
    if not rows:
        return None
    arrays, info, seconds = rows[0]
    told = kept_object(store, info)
    if not has_table(store, "fit_costs"):
        return Fitted(arrays_of(arrays, store.path), told, seconds)
    cpu = store.read(FIT_COSTS, (fit_key,), "r")
    warned = tuple(WarningCount(*row[1:]) for row in store.read(FIT_WARNINGS, (fit_key,), "itti"))
    return Fitted(arrays_of(arrays, store.path), told, seconds, cpu[0][0] if cpu else math.nan, warned)


def _insert_fit(db: sqlite3.Connection, fit_key: str, fitted: Fitted) -> None:
    row = (pack(fitted.arrays), json.dumps(dict(fitted.info), sort_keys=True), float(fitted.seconds))
    beside = FitBeside.of(fitted)
    remove_fit_beside(db, fit_key)
    db.execute("INSERT OR REPLACE INTO fits VALUES (?, ?, ?, ?)", (fit_key, *row))
    write_fit_beside(db, fit_key, beside)
    seal(db, "fit", fit_key, content_checksum(*row, *beside.parts))


def _insert_cell(db: sqlite3.Connection, key: str, fit_key: str, outcome: Outcome) -> None:
    told = json.dumps(outcome.notes), outcome.error, outcome.traceback, this_moment()
    fields = (key, fit_key, outcome.status, float(outcome.seconds), *told)
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
    beside = Beside.of(outcome)
    write_beside(db, cell, beside)
    seal(db, "scores", key, scores_checksum(outcome.scores))
    seal(db, "cell", key, cell_checksum(fields, scores, outcome.predictions, beside))


def _measure_ids(db: sqlite3.Connection, scores: Sequence[Score]) -> dict[tuple[str, str], int]:
    """Return the id of every metric and grid in the scores, registering new ones."""
    wanted = {(score.metric, score.grid) for score in scores}
    db.executemany("INSERT OR IGNORE INTO measures (metric, grid) VALUES (?, ?)", sorted(wanted))
    return {(metric, grid): i for i, metric, grid in db.execute("SELECT id, metric, grid FROM measures")}


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
