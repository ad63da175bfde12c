"""Types of values: a damaged file may hold anything where a number should be, and SQLite gives it out unasked."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paragone.store.faults import damaged

TYPES = {"i": int, "r": float, "t": str, "b": bytes}
NAMES = {"i": "a whole number", "r": "a number", "t": "a text", "b": "a content"}


def check_types(rows: Sequence[tuple[Any, ...]], types: str, path: Path) -> None:
    """Refuse rows whose values are not of the types that their columns have.

    Parameters
    ----------
    rows : sequence of tuple
        The rows.
    types : str
        A letter a column: ``i`` for a whole number, ``r`` for any, ``t`` for text, ``b`` for bytes; a capital where
        there may be nothing.
    path : Path
        The store.

    Examples
    --------
    >>> check_types([(1, "a", None), (2, "b", 0.5)], "itR", Path("a.sqlite"))
    >>> check_types([(1, "a"), (None, "b")], "it", Path("a.sqlite"))
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: store 'a.sqlite' cannot be used: a whole number is none; ...
    """
    if not types or not rows:
        return
    for letter, column in zip(types, zip(*rows, strict=True), strict=True):
        allowed = {TYPES[letter.lower()], *([type(None)] if letter.isupper() else [])}
        # Of the types alone, which are few: a look at every value by itself would take as long as reading them.
        if not set(map(type, column)) <= allowed:
            raise damaged(path, sqlite3.DatabaseError(f"{NAMES[letter.lower()]} is none"))
