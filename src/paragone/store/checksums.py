"""Checksums of what a store keeps, so that a changed byte is found and costs one cell, not the conclusions."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from paragone.store.cell_costs import Beside

ScoreRow: TypeAlias = tuple[str, str, int, float | None, float | None]

CELL_FIELDS = ("key", "fit_key", "status", "seconds", "notes", "error", "traceback", "finished_at")
KINDS = ("cell", "fit", "split", "truth")
"""What `paragone doctor` checks; the kind ``scores`` is a part of a cell that is checked whenever it is read."""


def cell_checksum(
    fields: Sequence[Any], scores: Iterable[ScoreRow], predictions: bytes | None, beside: Beside | None = None
) -> bytes:
    """Return the checksum of a cell: its row, all its scores in their order, its predictions, what it cost and said.

    Parameters
    ----------
    fields : sequence
        The values of `CELL_FIELDS`.
    scores : iterable of tuple
        Metric, grid, position, at and value, by position.
    predictions : bytes or None
        The packed predictions.
    beside : Beside, optional
        Costs, warnings and output; None for a cell of an older version, whose checksum so stays what it was.

    Returns
    -------
    bytes
        Does not depend on the numbers by which a store calls its rows, so it stays right in a merged store.

    Examples
    --------
    >>> fields = ("k", "f", "done", 0.5, "[]", "", "", "2026-01-01T00:00:00+00:00")
    >>> one = cell_checksum(fields, [("micro_f1", "k", 0, 10.0, 0.5)], None)
    >>> one == cell_checksum(fields, [("micro_f1", "k", 0, 10.0, 0.6)], None)
    False
    """
    told = hashlib.sha256(json.dumps([list(fields), list(scores)]).encode())
    if predictions is not None:
        told.update(b"\0predictions\0")
        told.update(predictions)
    if beside is not None:
        told.update(b"\0beside\0")
        told.update(json.dumps(beside.values).encode())
    return told.digest()


def content_checksum(*parts: bytes | str | float) -> bytes:
    """Return the checksum of an artifact's parts: the columns of its row beside its key.

    Examples
    --------
    >>> content_checksum(b"ab", b"c") == content_checksum(b"a", b"bc")
    False
    """
    told = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode()
        told.update(len(content).to_bytes(8, "little"))
        told.update(content)
    return told.digest()


def seal(db: sqlite3.Connection, kind: str, key: str, checksum: bytes) -> None:
    """Write down the checksum of something of the store; within a transaction of the caller's."""
    db.execute("INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)", (kind, key, checksum))
