"""Transactions: all that is written inside one is kept, or nothing of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def transaction(db: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """Write what is written inside all at once; where anything fails, nothing of it.

    Examples
    --------
    >>> db = sqlite3.connect(":memory:", isolation_level=None)
    >>> with transaction(db):
    ...     _ = db.execute("CREATE TABLE kept (number INTEGER)")
    >>> try:
    ...     with transaction(db):
    ...         _ = db.execute("INSERT INTO kept VALUES (1)")
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt:
    ...     db.execute("SELECT count(*) FROM kept").fetchone()
    (0,)
    >>> db.close()
    """
    db.execute(f"BEGIN {kind}")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        # A full disk makes SQLite roll back by itself.
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
