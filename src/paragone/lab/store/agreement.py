"""Which cells and fits of a store agree with their checksums, read as a whole in the order of the tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from paragone.lab.store.opening import NOT_READ
from paragone.lab.store.outcomes import (
    CellCosts,
    FitCosts,
    cell_checksum,
    content_checksum,
    stored_scores_checksum,
)

Checksums: TypeAlias = Mapping[str, Mapping[str, bytes]]
"""What was written down, by kind (``cell``, ``scores``, ``fit``, ``split``, ``truth``) and key."""

ALL_FITS = """
SELECT f.fit_key, f.arrays, f.info, f.seconds, c.cpu_seconds, m.predict_cpu_seconds, m.bytes
FROM fits f LEFT JOIN fit_costs c ON c.fit_key = f.fit_key LEFT JOIN model_costs m ON m.fit_key = f.fit_key
"""
ALL_FIT_WARNINGS = (
    "SELECT fit_key, position, category, message, count FROM fit_warnings ORDER BY fit_key,"
    " position"
)
ALL_WARNINGS = (
    "SELECT cell_id, position, category, message, count FROM warnings ORDER BY cell_id, position"
)
ALL_SCORES = """
SELECT cell_id, metric, grid, position, at, value FROM scores CROSS JOIN measures ON measures.id = measure_id
ORDER BY cell_id, position
"""
ALL_CELLS = """
SELECT c.id, p.payload, k.cell_id IS NOT NULL, k.cpu_seconds, k.peak_memory, o.printed,
       c.key, c.fit_key, c.status, c.seconds, c.notes, c.error, c.traceback, c.finished_at
FROM cells c LEFT JOIN predictions p ON p.cell_id = c.id LEFT JOIN costs k ON k.cell_id = c.id
LEFT JOIN outputs o ON o.cell_id = c.id ORDER BY c.id
"""


def agreeing_artifacts(database: sqlite3.Connection, stated: Checksums) -> dict[str, set[str]]:
    """Return the keys of the cells and fits that are what was written, byte for byte, as their checksums show.

    Whatever this does not come to, because something before it cannot be read, is left out: the
    doctor then looks at it by itself, and says what is wrong.

    Parameters
    ----------
    database : Connection
        A store whose tables are those of this version.
    stated : mapping
        The checksums that were written, by kind and key.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from paragone.lab.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.sqlite"
    ...     Store(path, create=True).close()
    ...     agreeing_artifacts(sqlite3.connect(path), {})
    {'fit': set(), 'cell': set()}
    """
    return {
        "fit": _agreeing(_fit_checksums(database), stated.get("fit", {})),
        "cell": _agreeing(
            _cell_checksums(database, stated.get("scores", {})), stated.get("cell", {})
        ),
    }


def _agreeing(found: Iterator[tuple[str, bytes]], stated: Mapping[str, bytes]) -> set[str]:
    agreeing: set[str] = set()
    try:
        for key, checksum in found:
            if stated.get(key) == checksum:
                agreeing.add(key)
    except (TypeError, *NOT_READ):
        return agreeing
    return agreeing


def _fit_checksums(database: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    warned = _grouped(database.execute(ALL_FIT_WARNINGS))
    for key, arrays, info, seconds, *costs in database.execute(ALL_FITS):
        cpu_seconds, predict_seconds, size = costs
        parts = FitCosts(cpu_seconds, warned.get(key, ()), predict_seconds, size).parts
        yield key, content_checksum(arrays, info, seconds, *parts)


def _cell_checksums(
    database: sqlite3.Connection, of_scores: Mapping[str, bytes]
) -> Iterator[tuple[str, bytes]]:
    """Return the checksums of cells that have all they need: of a done cell its fit, and of scores their own."""
    warned = _grouped(database.execute(ALL_WARNINGS))
    fits = {key for (key,) in database.execute("SELECT fit_key FROM fits")}
    scores = groupby(database.execute(ALL_SCORES), key=itemgetter(0))
    owner, rows = next(scores, (None, iter(())))
    for number, payload, has_costs, cpu_seconds, memory, printed, *fields in database.execute(
        ALL_CELLS
    ):
        while owner is not None and owner < number:
            owner, rows = next(scores, (None, iter(())))
        mine = [row[1:] for row in rows] if owner == number else []
        key, fit_key, status, *_ = fields
        if not has_costs or (status == "done" and fit_key not in fits):
            continue
        if key in of_scores and of_scores[key] != stored_scores_checksum(mine):
            continue
        yield (
            key,
            cell_checksum(
                fields,
                mine,
                payload,
                CellCosts(cpu_seconds, memory, warned.get(number, ()), printed),
            ),
        )


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[Any, tuple[Any, ...]]:
    return {key: tuple(row[1:] for row in mine) for key, mine in groupby(rows, key=itemgetter(0))}
