"""Readable: what the parts of a store that only read ask of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol


class Readable(Protocol):
    """A store that can be asked."""

    path: Path

    def read(self, sql: str, parameters: Sequence[Any] = (), types: str = "") -> list[tuple[Any, ...]]:
        """Run a query and return its rows, of the types of `check_types` where they are told."""


def has_table(store: Readable, table: str) -> bool:
    """Whether a store has a table; one of an older version that no newer run has written into may lack it.

    Asked anew every time: a run may lift the store while somebody reads it.
    """
    return bool(store.read("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)))
