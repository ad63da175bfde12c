"""Faults of a store's file: what SQLite said, in one sentence with what to do about it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from paragone.errors import InputError

UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
ADVICE = {
    sqlite3.SQLITE_FULL: "free some space and run the same command again; what was finished is kept",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable, or copy it with its -wal file to where they are",
    sqlite3.SQLITE_CANTOPEN: "see that the file and its folder can be read and written; a log (-wal) beside it "
    "belongs to it",
    sqlite3.SQLITE_BUSY: "another program has held it for over a minute; try again",
    sqlite3.SQLITE_INTERRUPT: "reading it takes far more steps than a file of its size explains, so it is damaged, or "
    "made to take for ever; restore a copy",
    sqlite3.SQLITE_IOERR: "see whether its disk is full, read-only, gone or broken, then run the same command again",
}
"""What to do by SQLite's primary error code; anything else means a damaged file."""
UNREADABLE = (UnicodeDecodeError, MemoryError)
"""What Python raises beside SQLite's errors for a damaged file: a message that is no text, a size that cannot be."""


def damaged(path: Path, error: Exception) -> InputError:
    """Say in one sentence what SQLite found wrong with the file, and what to do."""
    advice = ADVICE.get(primary_code(error), f"`paragone doctor {path} --repair` saves what is left")
    return InputError(f"store {str(path)!r} cannot be used: {error}; {advice}")


def primary_code(error: Exception) -> int:
    """Return SQLite's primary error code; 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def truncated(path: Path, size: int, expected: int) -> InputError:
    """Say that the end of the file is gone."""
    return InputError(
        f"store {str(path)!r} is truncated ({size} of {expected} bytes): "
        f"`paragone doctor {path} --repair` saves what is left"
    )
