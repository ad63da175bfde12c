"""The doctor: is a store whole, and how to take out what is not so that the next run computes it again."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from paragone.errors import InputError
from paragone.lab.store.opening import BUSY_SECONDS, UNREADABLE, check_file, connect, damaged
from paragone.lab.store.outcomes import (
    CELL_FIELDS,
    KINDS,
    ScoreRow,
    cell_checksum,
    content_checksum,
    read_beside,
    read_fit_beside,
)
from paragone.lab.store.queries import unpack
from paragone.lab.store.runs import refuse_while_running, this_moment
from paragone.lab.store.schema import (
    DANGLING,
    SCHEMA_VERSION,
    LimitedConnection,
    Oddity,
    TableShape,
    check_version,
    distrust,
    missing_before,
    oddities,
    plain_tables,
    table_shapes,
    transaction,
)
from paragone.reading import parse_json

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


Level = Literal["damage", "note"]


@dataclass(frozen=True)
class StoreFault:
    """One thing that is not as it should be.

    Parameters
    ----------
    level : {"damage", "note"}
        Whether something is lost or only worth knowing.
    kind, key : str
        What it is about: ``cell``, ``fit``, ``split``, ``truth``, ``dataset``, ``experiment``, ``run``, or the
        ``database`` itself, and which.
    message : str
        What is wrong, for people.
    """

    level: Level
    kind: str
    key: str
    message: str


@dataclass(frozen=True)
class Diagnosis:
    """The state of a store.

    Parameters
    ----------
    path : Path
        The file.
    schema : int
        The version of its tables.
    size : int
        Bytes on disk, the write-ahead log included.
    checked : mapping
        How many artifacts of each kind were looked at.
    findings : tuple of Finding
        What was found, damage first.
    reclaimable : mapping
        How many rows a compaction would delete, by what they are.
    """

    path: Path
    schema: int
    size: int
    checked: Mapping[str, int]
    findings: tuple[StoreFault, ...] = ()
    reclaimable: Mapping[str, int] = field(default_factory=dict)

    @property
    def damage(self) -> tuple[StoreFault, ...]:
        """The findings that mean a loss."""
        return tuple(finding for finding in self.findings if finding.level == "damage")

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damage

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        told = asdict(self)
        return {**told, "path": str(self.path), "healthy": self.is_healthy}

    def __str__(self) -> str:
        checked = ", ".join(f"{count} {kind}" for kind, count in self.checked.items())
        lines = [f"{self.path}: schema {self.schema}, {self.size:,} bytes; looked at {checked}"]
        lines += [f"{finding.level}: {finding.message}" for finding in self.findings]
        if any(self.reclaimable.values()):
            dead = ", ".join(f"{count} {what}" for what, count in self.reclaimable.items() if count)
            lines.append(f"note: --compact would delete {dead}")
        if self.is_healthy:
            sealed = not any(finding.kind == "checksum" for finding in self.findings)
            lines.append("healthy: every artifact can be read" + " and agrees with its checksum" * sealed)
        return "\n".join(lines)


DEAD = {
    "dead plan rows": "plan WHERE current = 0 AND key NOT IN (SELECT key FROM cells)",
    "orphaned cells": "cells WHERE key NOT IN (SELECT key FROM plan)",
    "orphaned fits": "fits WHERE fit_key NOT IN (SELECT fit_key FROM plan)",
    "orphaned splits": "splits WHERE split_part NOT IN (SELECT split_part FROM plan)",
    "orphaned truths": "truths WHERE truth_key NOT IN (SELECT data_part || '/' || split_part FROM plan) "
    "AND truth_key NOT IN (SELECT data_part FROM plan)",
    "orphaned datasets": "datasets WHERE data_part NOT IN (SELECT data_part FROM plan)",
    "unused measures": "measures WHERE id NOT IN (SELECT measure_id FROM scores)",
}
"""What a compaction deletes, in this order: each may leave the next without anything that refers to it."""

AFTER = {
    "checksums": "(kind = 'cell' AND key NOT IN (SELECT key FROM cells)) "
    "OR (kind = 'fit' AND key NOT IN (SELECT fit_key FROM fits)) "
    "OR (kind = 'split' AND key NOT IN (SELECT split_part FROM splits)) "
    "OR (kind = 'truth' AND key NOT IN (SELECT truth_key FROM truths))",
    "quarantine": "kind = 'cell' AND key IN (SELECT key FROM cells)",
}
STALE = "plan WHERE current = 0"


@dataclass(frozen=True)
class Compaction:
    """What a compaction did: bytes before and after, and how many rows of what it deleted."""

    path: Path
    size_before: int
    size_after: int
    deleted: Mapping[str, int]

    def __str__(self) -> str:
        gone = ", ".join(f"{count} {what}" for what, count in self.deleted.items() if count) or "nothing"
        return f"{self.path}: {self.size_before:,} bytes before, {self.size_after:,} after; deleted {gone}"


def count_dead(database: sqlite3.Connection) -> dict[str, int]:
    """Return how many rows of what a compaction would delete first, before what only they refer to."""
    return {what: database.execute(f"SELECT count(*) FROM {where}").fetchone()[0] for what, where in DEAD.items()}  # noqa: S608


def compact(path: str | Path, *, drop_stale: bool = False) -> Compaction:
    """Delete what nothing refers to and give the space back to the disk.

    Parameters
    ----------
    path : str or Path
        The store; no run may be at work in it.
    drop_stale : bool, default=False
        Whether the results of earlier declarations go too. They are kept otherwise: declared again, they are
        there again.

    Returns
    -------
    Compaction
        Sizes and counts.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.lab.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Store(Path(folder) / "a.sqlite", create=True).close()
    ...     sum(compact(Path(folder) / "a.sqlite").deleted.values())
    0
    """
    path = Path(path)
    connect(path, create=False).close()
    database = connect(path, create=True)
    try:
        refuse_while_running(database, path)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = path.stat().st_size
        deleted = _delete_dead(database, drop_stale)
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.DatabaseError as error:
        raise damaged(path, error) from error
    finally:
        database.close()
    return Compaction(path, before, path.stat().st_size, deleted)


def _delete_dead(database: sqlite3.Connection, drop_stale: bool) -> dict[str, int]:
    with transaction(database):
        wanted = {"stale plan rows": STALE, **DEAD} if drop_stale else DEAD
        deleted = {what: database.execute(f"DELETE FROM {where}").rowcount for what, where in wanted.items()}  # noqa: S608
        for table, where in AFTER.items():
            database.execute(f"DELETE FROM {table} WHERE {where}")  # noqa: S608  our own statements
    return deleted


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
    >>> from paragone.lab.store import Store
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
    findings = [StoreFault("damage", "database", "", str(one)) for one in odd]
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


def _database(database: Database) -> list[StoreFault]:
    try:
        told = [str(row[0]) for row in database.execute("PRAGMA integrity_check(20)")]
    except (sqlite3.DatabaseError, *UNREADABLE) as error:
        told = [str(error) or type(error).__name__]
    lines = [line for text in told for line in text.splitlines() if line not in ("ok", "*** in database main ***")]
    return [StoreFault("damage", "database", "", f"the database file: {line}") for line in lines[:20]]


def _references(database: Database) -> list[StoreFault]:
    try:
        rows = database.execute("PRAGMA foreign_key_check").fetchall()
    except (sqlite3.DatabaseError, *UNREADABLE) as error:
        return [StoreFault("damage", "database", "", f"references cannot be followed: {error}")]
    counts: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in rows:
        counts[table, parent] = counts.get((table, parent), 0) + 1
    return [
        StoreFault(
            "damage", "reference", table, f"{count} rows of {table} refer to rows of {parent} that are not there"
        )
        for (table, parent), count in counts.items()
    ]


def _texts(database: Database) -> list[StoreFault]:
    found: list[StoreFault] = []
    for kind, (keys, content) in TEXTS.items():
        for key in _column(database, keys, found, kind):
            try:
                told = parse_json(database.execute(content, (key,)).fetchone()[0], "its description")
                if not isinstance(told, dict):
                    raise InputError("its description is no JSON object")
            except (InputError, sqlite3.DatabaseError, TypeError, *UNREADABLE) as error:
                found.append(StoreFault("damage", kind, str(key), f"{kind} {key}: {error}"))
    return found


def _column(database: Database, sql: str, findings: list[StoreFault], kind: str) -> list[Any]:
    try:
        return [row[0] for row in database.execute(sql)]
    except (sqlite3.DatabaseError, *UNREADABLE) as error:
        findings.append(StoreFault("damage", "database", "", f"the {kind}s cannot be listed: {error}"))
        return []


def _notes(database: Database, version: int, unsealed: int) -> list[StoreFault]:
    notes = []
    if version < SCHEMA_VERSION:
        told = f"schema {version} is older than {SCHEMA_VERSION}: --repair or the next run brings it up to date"
        notes.append(StoreFault("note", "schema", "", told))
    if unsealed:
        told = f"{unsealed} artifacts have no checksum, for an older Paragone wrote them: --repair adds it"
        notes.append(StoreFault("note", "checksum", "", told))
    if version >= 2:
        try:
            held = database.execute("SELECT count(+id) FROM quarantine").fetchone()[0]
        except (sqlite3.DatabaseError, *UNREADABLE):
            return notes
        if held:
            notes.append(StoreFault("note", "quarantine", "", f"{held} damaged artifacts are in quarantine"))
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

    def examine(self, kind: str, key: str) -> list[StoreFault]:
        try:
            checksum = self._reader.checksum(kind, key)
        except (InputError, sqlite3.DatabaseError, TypeError, *UNREADABLE) as error:
            return [self._damage(kind, key, f"cannot be read ({error})")]
        stated = self._sealed.get((kind, key))
        self.unsealed += stated is None
        if stated is not None and stated != checksum:
            return [self._damage(kind, key, "does not agree with its checksum")]
        return []

    def lost(self, kind: str, keys: list[str]) -> list[StoreFault]:
        """Name what has a checksum and is gone."""
        known = set(keys)
        gone = [key for sealed, key in self._sealed if sealed == kind and key not in known]
        return [self._damage(kind, key, "is gone, its checksum is left") for key in gone]

    def _damage(self, kind: str, key: str, what: str) -> StoreFault:
        # A damaged key may be no text at all.
        return StoreFault("damage", kind, str(key), f"{kind} {str(key)[:12]}{self._place(kind, key)} {what}")

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


@dataclass(frozen=True)
class Salvage:
    """What was saved: rows by table, tables that lost some, and where the damaged file is kept."""

    kept_as: Path
    rows: dict[str, int]
    incomplete: tuple[str, ...]


def salvage(path: Path) -> Salvage:
    """Put a new database with every readable row in the place of a damaged one, which is kept beside it.

    Rows are read one by one where a table cannot be read in one go, from both ends where its middle is gone. Rows
    that refer to lost ones go too. What is left is judged by its checksums afterwards, not here.

    Parameters
    ----------
    path : Path
        The damaged store.

    Returns
    -------
    Salvage
        What was saved.
    """
    fresh = path.with_name(f".{path.name}.salvaged")
    _remove(fresh)
    try:
        target = connect(fresh, create=True)
        try:
            with examination(path) as source:
                rows, incomplete = _copy(source, target)
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            target.close()
        kept_as = _set_aside(path)
        fresh.replace(path)
    finally:
        _remove(fresh)
    return Salvage(kept_as, rows, incomplete)


def _copy(source: sqlite3.Connection, target: sqlite3.Connection) -> tuple[dict[str, int], tuple[str, ...]]:
    counts: dict[str, int] = {}
    incomplete = []
    target.execute("PRAGMA foreign_keys = OFF")
    target.execute("BEGIN")
    made_up = _made_up(source)
    for shape in table_shapes():
        lost = _Lost()
        if shape.name in made_up:
            counts[shape.name] = 0
            incomplete.append(shape.name)
            continue
        counts[shape.name] = sum(_add(target, shape, row, lost) for row in _rows(source, shape, lost))
        if lost.any:
            incomplete.append(shape.name)
    for statement in DANGLING:
        target.execute(statement)
    target.execute("COMMIT")
    target.execute("PRAGMA foreign_keys = ON")
    return counts, tuple(incomplete)


def _made_up(source: sqlite3.Connection) -> frozenset[str]:
    """Name our tables whose place a view or a virtual table has taken: reading those runs what they say."""
    try:
        there = {row[0] for row in source.execute("SELECT name FROM sqlite_master").fetchall()}
        return frozenset(shape.name for shape in table_shapes() if shape.name in there) - plain_tables(source)
    except (sqlite3.DatabaseError, *UNREADABLE):
        # A schema that cannot be read: rows are looked for table by table, as far as there are any.
        return frozenset()


class _Lost:
    """Whether anything of a table was lost."""

    any = False


def _rows(source: sqlite3.Connection, shape: TableShape, lost: _Lost) -> Iterator[tuple[Any, ...]]:
    try:
        # Into memory first: rows may only be handed out once all could be read.
        yield from source.execute(shape.select()).fetchall()
        return
    except sqlite3.DatabaseError as error:
        if "no such table" in str(error) and shape.name in missing_before(1):
            return
        lost.any = True
    for key in _keys(source, shape):
        try:
            row = source.execute(shape.select_one(), key).fetchone()
        except sqlite3.DatabaseError:
            continue
        if row is not None:
            yield row


def _keys(source: sqlite3.Connection, shape: TableShape) -> list[tuple[Any, ...]]:
    """Return the keys that can be read, from the front up to the damage and from the back down to it."""
    found: dict[tuple[Any, ...], None] = {}
    for descending in (False, True):
        try:
            for key in source.execute(shape.select(", ".join(shape.key), descending=descending)):
                found[key] = None
        except sqlite3.DatabaseError:
            continue
    return list(found)


def _add(target: sqlite3.Connection, shape: TableShape, row: tuple[Any, ...], lost: _Lost) -> int:
    try:
        return target.execute(shape.insert(otherwise="OR IGNORE"), row).rowcount
    except (sqlite3.IntegrityError, sqlite3.InterfaceError):
        # A value of another type than its column's: the row is no row of ours any more.
        lost.any = True
        return 0


def _set_aside(path: Path) -> Path:
    """Rename the damaged file and its log, so that nothing is thrown away."""
    number = 1
    while (kept_as := path.with_name(f"{path.name}.damaged{number}")).exists():
        number += 1
    log = path.with_name(f"{path.name}-wal")
    if log.exists():
        log.replace(kept_as.with_name(f"{kept_as.name}-wal"))
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    path.replace(kept_as)
    return kept_as


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


PLAIN = {
    "fit": ("SELECT arrays FROM fits WHERE fit_key = ?", "DELETE FROM fits WHERE fit_key = ?"),
    "split": (
        "SELECT CAST(train || test AS BLOB) FROM splits WHERE split_part = ?",
        "DELETE FROM splits WHERE split_part = ?",
    ),
    "truth": ("SELECT payload FROM truths WHERE truth_key = ?", "DELETE FROM truths WHERE truth_key = ?"),
    "dataset": ("SELECT described FROM datasets WHERE data_part = ?", "DELETE FROM datasets WHERE data_part = ?"),
    "experiment": ("SELECT described FROM experiments WHERE name = ?", "DELETE FROM experiments WHERE name = ?"),
    "run": ("SELECT environment FROM runs WHERE id = ?", "UPDATE runs SET environment = '{}' WHERE id = ?"),
}
"""What of an artifact goes into quarantine, and how it leaves its place. A run keeps its row: claims refer to it."""


OF_CELLS = {"cells", "scores", "predictions", "measures", "costs", "warnings", "outputs"}
"""The tables that a cell is spread over."""
BESIDE = ("costs", "warnings", "outputs")


@dataclass(frozen=True)
class Repair:
    """What a repair did.

    Parameters
    ----------
    before, after : Diagnosis
        The state of the store before and after.
    quarantined : tuple of Finding
        What was moved to the quarantine.
    cells_to_run : int
        How many cells have no result any more because of it; the next run computes them.
    sealed : int
        How many artifacts got a checksum that had none.
    salvaged : Salvage or None
        What was saved from a damaged file, where it was one.
    """

    before: Diagnosis
    after: Diagnosis
    quarantined: tuple[StoreFault, ...]
    cells_to_run: int
    sealed: int
    salvaged: Salvage | None

    def __str__(self) -> str:
        lines = []
        if self.salvaged is not None:
            lost = ", ".join(self.salvaged.incomplete) or "nothing"
            lines.append(
                f"saved {sum(self.salvaged.rows.values()):,} rows into a new file (incomplete: {lost}); "
                f"the damaged one is kept as {self.salvaged.kept_as}"
            )
        lines += [f"quarantined: {finding.message}" for finding in self.quarantined]
        if self.sealed:
            lines.append(f"{self.sealed} artifacts got a checksum")
        if self.cells_to_run:
            lines.append(f"{self.cells_to_run} cells have no result any more: the next run computes them again")
        return "\n".join(lines or ["there was nothing to repair"])


def repair(path: str | Path) -> Repair:
    """Take out what is damaged, keep all else, and seal what has no checksum yet.

    Parameters
    ----------
    path : str or Path
        The store; no run may be at work in it.

    Returns
    -------
    Repair
        What was done.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.lab.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Store(Path(folder) / "a.sqlite", create=True).close()
    ...     print(repair(Path(folder) / "a.sqlite"))
    there was nothing to repair
    """
    path = Path(path)
    before = examine(path)
    with examination(path) as database:
        intact = is_intact(database)
        if intact:
            refuse_while_running(database, path)
    saved = None if intact else salvage(path)
    database = connect(path, create=True)
    try:
        return _mend(database, path, before, saved)
    except sqlite3.DatabaseError as error:
        raise damaged(path, error) from error
    finally:
        database.close()


def _mend(database: sqlite3.Connection, path: Path, before: Diagnosis, saved: Salvage | None) -> Repair:
    # Where the tables were not those of a store, nobody counted: what could be saved is what there was.
    cells_before = _count(database, "cells") if saved is None else before.checked.get("cells", saved.rows["cells"])
    ward = _Ward(database)
    with transaction(database):
        found = list(diagnose(database, path).damage)
        for statement in DANGLING:
            database.execute(statement)
        if saved is not None and (_is_sealed(database) or OF_CELLS & set(saved.incomplete)):
            known = {(finding.kind, finding.key) for finding in found}
            found += [finding for finding in _unproven(database) if (finding.kind, finding.key) not in known]
        # A fit takes its cells along, so those that are damaged themselves come first.
        for finding in sorted(found, key=lambda finding: finding.kind != "cell"):
            ward.take(finding)
        sealed = _seal(database)
    lost = max(0, cells_before - _count(database, "cells"))
    return Repair(before, diagnose(database, path), tuple(ward.taken), lost, sealed, saved)


def _count(database: sqlite3.Connection, table: str) -> int:
    return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608  a name of ours


def _is_sealed(database: sqlite3.Connection) -> bool:
    """Tell whether cells of this store have checksums, so that one without has lost it."""
    return database.execute("SELECT 1 FROM checksums WHERE kind = 'cell'").fetchone() is not None


def _unproven(database: sqlite3.Connection) -> list[StoreFault]:
    """Name what has no checksum: of a file that lost rows, nothing shows that it is whole."""
    return [
        StoreFault("damage", kind, key, f"{kind} {key[:12]} has no checksum, and rows were lost")
        for kind in KINDS
        for key in _unsealed(database, kind)
    ]


def _unsealed(database: sqlite3.Connection, kind: str) -> list[str]:
    """Return the keys of one kind of artifact that have no checksum."""
    known = {row[0] for row in database.execute("SELECT key FROM checksums WHERE kind = ?", (kind,))}
    return [key for (key,) in database.execute(KEYS[kind]) if key not in known]


def _seal(database: sqlite3.Connection) -> int:
    reader = ArtifactReader(database)
    sealed = 0
    for kind in KINDS:
        unsealed = _unsealed(database, kind)
        rows = [(kind, key, reader.checksum(kind, key)) for key in unsealed]
        database.executemany("INSERT INTO checksums VALUES (?, ?, ?)", rows)
        sealed += len(rows)
    return sealed


@contextmanager
def _any_text(database: sqlite3.Connection) -> Iterator[None]:
    """Read text that is no UTF-8 any more all the same, for the quarantine."""
    database.text_factory = lambda content: content.decode(errors="backslashreplace")
    try:
        yield
    finally:
        database.text_factory = str


class _Ward:
    """Moves damaged artifacts to the quarantine."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.taken: list[StoreFault] = []

    def take(self, finding: StoreFault) -> None:
        """Move one artifact; what the next run writes anew goes without a cell."""
        if finding.kind == "reference":
            self.taken.append(finding)
        elif finding.kind == "cell":
            self._move(finding, self._cell_content(finding.key))
            self._delete(finding, "DELETE FROM cells WHERE key = ?")
        elif finding.kind in PLAIN:
            if finding.kind == "fit":
                self._take_cells_of(finding.key)
            content, delete = PLAIN[finding.kind]
            self._move(finding, self._content(content, finding.key))
            self._delete(finding, delete)
        else:
            raise InputError(f"{finding.message}: this cannot be repaired; restore a copy")

    def _take_cells_of(self, fit: str) -> None:
        """Take the cells that rest on a damaged fit: without it they cannot be proven."""
        for (cell,) in self._database.execute("SELECT key FROM cells WHERE fit_key = ?", (fit,)).fetchall():
            self.take(StoreFault("damage", "cell", cell, f"cell {cell[:12]} rests on the damaged fit {fit[:12]}"))

    def _delete(self, finding: StoreFault, sql: str) -> None:
        self._database.execute(sql, (finding.key,))
        also = "scores" if finding.kind == "cell" else finding.kind
        sql = "DELETE FROM checksums WHERE kind IN (?, ?) AND key = ?"
        self._database.execute(sql, (finding.kind, also, finding.key))

    def _move(self, finding: StoreFault, content: bytes | None) -> None:
        self.taken.append(finding)
        self._database.execute(
            "INSERT INTO quarantine (kind, key, reason, content, found_at) VALUES (?, ?, ?, ?, ?)",
            (finding.kind, finding.key, finding.message, content, this_moment()),
        )

    def _content(self, sql: str, key: Any) -> bytes | None:
        with _any_text(self._database):
            row = self._database.execute(sql, (key,)).fetchone()
        if row is None or row[0] is None:
            return None
        return row[0].encode(errors="replace") if isinstance(row[0], str) else bytes(row[0])

    def _cell_content(self, key: str) -> bytes | None:
        with _any_text(self._database):
            row = self._database.execute("SELECT * FROM cells WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        kept = self._database.execute("SELECT payload FROM predictions WHERE cell_id = ?", (row[0],)).fetchone()
        with _any_text(self._database):
            beside = read_beside(self._database, row[0], BESIDE)
        told = {
            "cell": list(row),
            "scores": self._database.execute(SCORES, (row[0],)).fetchall(),
            "predictions": None if kept is None else base64.b64encode(kept[0]).decode(),
            "beside": None if beside is None else beside.values,
        }
        return json.dumps(told).encode()
