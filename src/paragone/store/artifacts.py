"""The artifacts of a store, read one by one as a doctor does: whole, decoded, and summed up in a checksum."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import cached_property
from typing import Any

from paragone.errors import InputError
from paragone.reading import parse_json
from paragone.store.arrays import unpack
from paragone.store.cell_costs import read_beside, read_fit_beside
from paragone.store.checksums import CELL_FIELDS, ScoreRow, cell_checksum, content_checksum

KEYS = {
    "cell": "SELECT key FROM cells NOT INDEXED ORDER BY id",
    "fit": "SELECT fit_key FROM fits",
    "split": "SELECT split_part FROM splits",
    "truth": "SELECT truth_key FROM truths",
}
"""How to list the keys of every kind of artifact."""

CELL = "SELECT id, key, fit_key, status, seconds, notes, error, traceback, finished_at FROM cells WHERE key = ?"
SCORES = """
SELECT metric, grid, position, at, value FROM scores JOIN measures ON measures.id = measure_id
WHERE cell_id = ? ORDER BY position
"""


class ArtifactReader:
    """Reads artifacts, refuses what cannot be decoded, and returns the checksum of what is there.

    Parameters
    ----------
    database : sqlite3.Connection
        An open store.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._readers: dict[str, Callable[[str], bytes]] = {
            "cell": self._cell,
            "fit": self._fit,
            "split": self._split,
            "truth": self._truth,
        }

    def checksum(self, kind: str, key: str) -> bytes:
        """Return the checksum of an artifact as it stands."""
        return self._readers[kind](key)

    @cached_property
    def _tables(self) -> set[str]:
        """The tables that there are; asked for with the first cell, whose finding it is where that fails."""
        return {row[0] for row in self._database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def _one(self, sql: str, key: str, what: str = "its row") -> tuple[Any, ...]:
        row = self._database.execute(sql, (key,)).fetchone()
        if row is None:
            raise InputError(f"{what} cannot be found")
        return tuple(row)

    def _cell(self, key: str) -> bytes:
        number, *fields = self._one(CELL, key)
        told = dict(zip(CELL_FIELDS, fields, strict=True))
        scores: list[ScoreRow] = self._database.execute(SCORES, (number,)).fetchall()
        kept = self._database.execute("SELECT payload FROM predictions WHERE cell_id = ?", (number,)).fetchone()
        parse_json(told["notes"], "its notes")
        if kept is not None:
            unpack(kept[0])
        if told["status"] == "done":
            self._one("SELECT 1 FROM fits WHERE fit_key = ?", told["fit_key"], "its fit")
        beside = read_beside(self._database, number, self._tables)
        return cell_checksum(fields, scores, None if kept is None else kept[0], beside)

    def _fit(self, key: str) -> bytes:
        arrays, info, seconds = self._one("SELECT arrays, info, seconds FROM fits WHERE fit_key = ?", key)
        unpack(arrays)
        parse_json(info, "its diagnostics")
        beside = read_fit_beside(self._database, key, self._tables)
        return content_checksum(arrays, info, seconds, *beside.parts)

    def _split(self, key: str) -> bytes:
        train, test = self._one("SELECT train, test FROM splits WHERE split_part = ?", key)
        if len(train) % 8 or len(test) % 8:
            raise InputError("its row numbers are cut off")
        return content_checksum(train, test)

    def _truth(self, key: str) -> bytes:
        (payload,) = self._one("SELECT payload FROM truths WHERE truth_key = ?", key)
        unpack(payload)
        return content_checksum(payload)
