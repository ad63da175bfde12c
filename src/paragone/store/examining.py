"""Examine a store: the database, its references, and every artifact against its checksum; nothing is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from paragone.errors import InputError
from paragone.reading import parse_json
from paragone.store.artifacts import KEYS, ArtifactReader
from paragone.store.compacting import count_dead
from paragone.store.diagnosis import Diagnosis, Finding
from paragone.store.faults import UNREADABLE, damaged
from paragone.store.foreign import LimitedConnection, Oddity, distrust, oddities
from paragone.store.opening import BUSY_SECONDS, check_file
from paragone.store.schema import SCHEMA_VERSION, check_version

Database: TypeAlias = sqlite3.Connection

PLACES = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat FROM plan p JOIN experiments e ON e.id = p.experiment_id
WHERE p.{column} = ? ORDER BY p.current DESC LIMIT 1
"""
TEXTS = {
    "experiment": ("SELECT name FROM experiments", "SELECT described FROM experiments WHERE name = ?"),
    "dataset": ("SELECT data_part FROM datasets", "SELECT described FROM datasets WHERE data_part = ?"),
    "run": ("SELECT id FROM runs", "SELECT environment FROM runs WHERE id = ?"),
}


def examine(path: str | Path) -> Diagnosis:
    """Examine a store without changing it.

    Parameters
    ----------
    path : str or Path
        The file; it may be damaged, but its first page must be that of a store.

    Returns
    -------
    Diagnosis
        What was looked at and what was found.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Store(Path(folder) / "a.sqlite", create=True).close()
    ...     examine(Path(folder) / "a.sqlite").is_healthy
    True
    """
    path = Path(path)
    with examination(path) as database:
        return diagnose(database, path)


@contextmanager
def examination(path: Path) -> Iterator[Database]:
    """Open a store that may be damaged, for reading only."""
    check_file(path, create=False, whole=False)
    database = _opened(path)
    try:
        yield database
    except (sqlite3.DatabaseError, *UNREADABLE) as error:
        raise damaged(path, error) from error
    finally:
        database.close()


def _opened(path: Path) -> Database:
    """Open a file so that nothing is written and nothing is left beside it.

    With a log beside it, reading only. Without one SQLite makes one, and takes it away again only where it may write;
    where it may not, there is nobody else who writes either.
    """
    beside = path.with_name(f"{path.name}-wal").exists()
    modes = ("mode=ro",) if beside else ("mode=rw", "immutable=1")
    for mode in modes:
        address = f"{path.resolve().as_uri()}?{mode}"
        database = sqlite3.connect(
            address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, factory=LimitedConnection
        )
        try:
            distrust(database, defensive=False)
            database.limit(path)
            database.execute("PRAGMA query_only = ON")
            # Otherwise SQLite opens no file that is shorter than its header says.
            database.execute("PRAGMA writable_schema = ON")
            check_version(database, path)
            return database
        except (sqlite3.DatabaseError, *UNREADABLE) as error:
            database.close()
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or mode == modes[-1]:
                raise InputError(f"store {str(path)!r} cannot be opened: {error}; restore a copy") from error
        except InputError:
            database.close()
            raise
    raise InputError(f"store {str(path)!r} cannot be opened")


def diagnose(database: Database, path: Path) -> Diagnosis:
    """Examine an open store."""
    version = check_version(database, path)
    odd = _oddities(database, version)
    findings = [Finding("damage", "database", "", str(one)) for one in odd]
    if any(one.is_read_by_queries for one in odd):
        # A query may come upon what is odd, and would then run what a stranger put there.
        return Diagnosis(path, version, _size(path), {}, tuple(findings))
    findings += [*_database(database), *_references(database), *_texts(database)]
    artifacts = _Artifacts(database, version)
    checked = {}
    for kind, keys in KEYS.items():
        found = _column(database, keys, findings, kind)
        checked[f"{kind}s"] = len(found)
        findings += [finding for key in found for finding in artifacts.examine(kind, key)]
        findings += artifacts.lost(kind, found)
    findings += _notes(database, version, artifacts.unsealed)
    findings.sort(key=lambda finding: finding.level)
    intact = not any(finding.kind == "database" for finding in findings)
    reclaimable = count_dead(database) if intact else {}
    return Diagnosis(path, version, _size(path), checked, tuple(findings), reclaimable)


def _size(path: Path) -> int:
    sides = (path, path.with_name(f"{path.name}-wal"))
    return sum(side.stat().st_size for side in sides if side.exists())


def is_intact(database: Database) -> bool:
    """Whether the tables are those of a store, and SQLite finds its own structures in order."""
    version = int(database.execute("PRAGMA user_version").fetchone()[0])
    return not _oddities(database, version) and not _database(database)


def _oddities(database: Database, version: int) -> tuple[Oddity, ...]:
    try:
        return oddities(database, version)
    except (sqlite3.DatabaseError, *UNREADABLE):
        # SQLite itself says what is wrong with a schema that cannot be read.
        return ()


def _database(database: Database) -> list[Finding]:
    try:
        told = [str(row[0]) for row in database.execute("PRAGMA integrity_check(20)")]
    except (sqlite3.DatabaseError, *UNREADABLE) as error:
        told = [str(error) or type(error).__name__]
    lines = [line for text in told for line in text.splitlines() if line not in ("ok", "*** in database main ***")]
    return [Finding("damage", "database", "", f"the database file: {line}") for line in lines[:20]]


def _references(database: Database) -> list[Finding]:
    try:
        rows = database.execute("PRAGMA foreign_key_check").fetchall()
    except (sqlite3.DatabaseError, *UNREADABLE) as error:
        return [Finding("damage", "database", "", f"references cannot be followed: {error}")]
    counts: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in rows:
        counts[table, parent] = counts.get((table, parent), 0) + 1
    return [
        Finding("damage", "reference", table, f"{count} rows of {table} refer to rows of {parent} that are not there")
        for (table, parent), count in counts.items()
    ]


def _texts(database: Database) -> list[Finding]:
    found: list[Finding] = []
    for kind, (keys, content) in TEXTS.items():
        for key in _column(database, keys, found, kind):
            try:
                told = parse_json(database.execute(content, (key,)).fetchone()[0], "its description")
                if not isinstance(told, dict):
                    raise InputError("its description is no JSON object")
            except (InputError, sqlite3.DatabaseError, TypeError, *UNREADABLE) as error:
                found.append(Finding("damage", kind, str(key), f"{kind} {key}: {error}"))
    return found


def _column(database: Database, sql: str, findings: list[Finding], kind: str) -> list[Any]:
    try:
        return [row[0] for row in database.execute(sql)]
    except (sqlite3.DatabaseError, *UNREADABLE) as error:
        findings.append(Finding("damage", "database", "", f"the {kind}s cannot be listed: {error}"))
        return []


def _notes(database: Database, version: int, unsealed: int) -> list[Finding]:
    notes = []
    if version < SCHEMA_VERSION:
        told = f"schema {version} is older than {SCHEMA_VERSION}: --repair or the next run brings it up to date"
        notes.append(Finding("note", "schema", "", told))
    if unsealed:
        told = f"{unsealed} artifacts have no checksum, for an older Paragone wrote them: --repair adds it"
        notes.append(Finding("note", "checksum", "", told))
    if version >= 2:
        try:
            held = database.execute("SELECT count(+id) FROM quarantine").fetchone()[0]
        except (sqlite3.DatabaseError, *UNREADABLE):
            return notes
        if held:
            notes.append(Finding("note", "quarantine", "", f"{held} damaged artifacts are in quarantine"))
    return notes


class _Artifacts:
    """Looks at artifacts one by one."""

    def __init__(self, database: Database, version: int) -> None:
        self._database = database
        self._reader = ArtifactReader(database)
        self._sealed: dict[tuple[str, str], bytes] = {}
        self.unsealed = 0
        if version >= 2:
            try:
                rows = database.execute("SELECT kind, key, sha256 FROM checksums").fetchall()
            except (sqlite3.DatabaseError, *UNREADABLE):
                rows = []
            self._sealed = {(kind, key): checksum for kind, key, checksum in rows}

    def examine(self, kind: str, key: str) -> list[Finding]:
        try:
            checksum = self._reader.checksum(kind, key)
        except (InputError, sqlite3.DatabaseError, TypeError, *UNREADABLE) as error:
            return [self._damage(kind, key, f"cannot be read ({error})")]
        stated = self._sealed.get((kind, key))
        self.unsealed += stated is None
        if stated is not None and stated != checksum:
            return [self._damage(kind, key, "does not agree with its checksum")]
        return []

    def lost(self, kind: str, keys: list[str]) -> list[Finding]:
        """Name what has a checksum and is gone."""
        known = set(keys)
        gone = [key for sealed, key in self._sealed if sealed == kind and key not in known]
        return [self._damage(kind, key, "is gone, its checksum is left") for key in gone]

    def _damage(self, kind: str, key: str, what: str) -> Finding:
        # A damaged key may be no text at all.
        return Finding("damage", kind, str(key), f"{kind} {str(key)[:12]}{self._place(kind, key)} {what}")

    def _place(self, kind: str, key: str) -> str:
        column = {"cell": "key", "fit": "fit_key", "split": "split_part"}.get(kind)
        if column is None:
            return ""
        try:
            row = self._database.execute(PLACES.format(column=column), (key,)).fetchone()
        except (sqlite3.DatabaseError, *UNREADABLE):
            return ""
        if row is None:
            return ""
        experiment, dataset, fold, method, repeat = row
        if kind == "split":
            return f" ({dataset}, fold {fold})"
        return f" ({experiment}: {method} on {dataset}, fold {fold}{f', repeat {repeat}' if repeat else ''})"
