"""The doctor: is a store whole, and how to drop what is not, so that the next run computes it again.

Every cell can be computed again, so a damaged one is not mended: it is named, counted and deleted.
What is whole stays, also where the file itself is broken: its rows are then copied into a new one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from paragone.errors import InputError
from paragone.lab.store.agreement import Checksums, agreeing_artifacts
from paragone.lab.store.copying import Salvage, salvage
from paragone.lab.store.opening import NOT_READ, connect, damaged, examination, log_of
from paragone.lab.store.outcomes import (
    SCORE_ROWS,
    CellCosts,
    FitCosts,
    cell_checksum,
    content_checksum,
    stored_scores_checksum,
)
from paragone.lab.store.queries import unpack
from paragone.lab.store.runs import refuse_while_running
from paragone.lab.store.schema import (
    SCHEMA_VERSION,
    Oddity,
    check_version,
    dangling_rows,
    delete_dangling,
    oddities,
    plain_tables,
    transaction,
)
from paragone.reading import parse_json

Database: TypeAlias = sqlite3.Connection

ARTIFACTS = {
    "cell": ("cells", "key"),
    "fit": ("fits", "fit_key"),
    "split": ("splits", "split_part"),
    "truth": ("truths", "truth_key"),
}
"""What has a checksum: its table, and the column of its key."""
DESCRIPTIONS = {
    "experiment": ("experiments", "name", "described"),
    "dataset": ("datasets", "data_part", "described"),
    "run": ("runs", "id", "environment"),
}
"""What is described by a JSON object: its table, its key, and the column of the description."""
OF_CELLS = {"cells", "scores", "predictions", "measures", "costs", "warnings", "outputs"}
"""The tables that a cell is spread over."""
CELL = (
    "SELECT id, key, fit_key, status, seconds, notes, error, traceback, finished_at FROM cells"
    " WHERE key = ?"
)
PLANNED_AT = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat FROM plan p JOIN experiments e ON e.id = p.experiment_id
WHERE p.{column} = ? ORDER BY p.current DESC LIMIT 1
"""
DEAD = {
    "dead plan rows": "plan WHERE current = 0 AND key NOT IN (SELECT key FROM cells)",
    "orphaned cells": "cells WHERE key NOT IN (SELECT key FROM plan)",
    "orphaned fits": "fits WHERE fit_key NOT IN (SELECT fit_key FROM plan)",
    "orphaned splits": "splits WHERE split_part NOT IN (SELECT split_part FROM plan)",
    "orphaned truths": (
        "truths WHERE truth_key NOT IN (SELECT data_part || '/' || split_part FROM plan) "
        "AND truth_key NOT IN (SELECT data_part FROM plan)"
    ),
    "orphaned datasets": "datasets WHERE data_part NOT IN (SELECT data_part FROM plan)",
    "unused measures": "measures WHERE id NOT IN (SELECT measure_id FROM scores)",
}
"""What a compaction deletes, in this order: each may leave the next without anything that refers to it."""
STALE = "plan WHERE current = 0"


# What was found


@dataclass(frozen=True)
class StoreFault:
    """One thing that is not as it should be.

    Parameters
    ----------
    level : {"damage", "note"}
        Whether something is lost or only worth knowing.
    kind, key : str
        What it is about: ``cell``, ``fit``, ``split``, ``truth``, ``dataset``, ``experiment``,
        ``run``, or the ``database`` itself, and which.
    message : str
        What is wrong, for people.
    """

    level: Literal["damage", "note"]
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
    findings : tuple of StoreFault
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
        return {**asdict(self), "path": str(self.path), "healthy": self.is_healthy}

    def __str__(self) -> str:
        checked = ", ".join(f"{count} {kind}" for kind, count in self.checked.items())
        lines = [f"{self.path}: schema {self.schema}, {self.size:,} bytes; looked at {checked}"]
        lines += [f"{finding.level}: {finding.message}" for finding in self.findings]
        if any(self.reclaimable.values()):
            dead = ", ".join(f"{count} {what}" for what, count in self.reclaimable.items() if count)
            lines.append(f"note: --compact would delete {dead}")
        if self.is_healthy:
            sealed = not any(finding.kind == "checksum" for finding in self.findings)
            lines.append(
                "healthy: every artifact can be read" + " and agrees with its checksum" * sealed
            )
        return "\n".join(lines)


# Examining


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


def diagnose(database: Database, path: Path) -> Diagnosis:
    """Examine an open store."""
    version = check_version(database, path)
    size = sum(side.stat().st_size for side in (path, log_of(path)) if side.exists())
    odd = _oddities(database, version)
    findings = [StoreFault("damage", "database", "", str(one)) for one in odd]
    if any(one.is_read_by_queries for one in odd):
        # A query may come upon what is odd, and would then run what a stranger put there.
        return Diagnosis(path, version, size, {}, tuple(findings))
    findings += [
        *_file_faults(database),
        *_reference_faults(database),
        *_description_faults(database),
    ]
    stated = _stated_checksums(database, version)
    checked: dict[str, int] = {}
    unsealed = 0
    # Half a million artifacts take a minute one by one; by themselves are looked at those that
    # something is wrong with.
    agreeing = agreeing_artifacts(database, stated) if version == SCHEMA_VERSION else {}
    for kind, (table, column) in ARTIFACTS.items():
        keys = _keys(database, kind, table, column, findings)
        checked[table] = len(keys)
        present, sealed = set(keys), stated.get(kind, {})
        agree = agreeing.get(kind, set())
        for key in keys:
            if key in agree:
                continue
            faults = _artifact_faults(database, version, kind, key, stated)
            findings += faults
            unsealed += not faults and key not in sealed
        gone = [key for key in sealed if key not in present]
        findings += [_damage(database, kind, key, "is gone, its checksum is left") for key in gone]
    if version < SCHEMA_VERSION:
        message = (
            f"schema {version} is older than {SCHEMA_VERSION}: --repair or the next run brings it"
            " up to date"
        )
        findings.append(StoreFault("note", "schema", "", message))
    if unsealed:
        message = (
            f"{unsealed} artifacts have no checksum, for an older Paragone wrote them: --repair"
            " adds it"
        )
        findings.append(StoreFault("note", "checksum", "", message))
    findings.sort(key=lambda finding: finding.level)
    intact = not any(finding.kind == "database" for finding in findings)
    return Diagnosis(
        path, version, size, checked, tuple(findings), _count_dead(database) if intact else {}
    )


def is_intact(database: Database) -> bool:
    """Whether the tables are those of a store, and SQLite finds its own structures in order."""
    version = int(database.execute("PRAGMA user_version").fetchone()[0])
    return not _oddities(database, version) and not _file_faults(database)


def _oddities(database: Database, version: int) -> tuple[Oddity, ...]:
    try:
        return oddities(database, version)
    except NOT_READ:
        # SQLite itself says what is wrong with a schema that cannot be read.
        return ()


def _file_faults(database: Database) -> list[StoreFault]:
    try:
        found = [str(row[0]) for row in database.execute("PRAGMA integrity_check(20)")]
    except NOT_READ as error:
        found = [str(error) or type(error).__name__]
    lines = [
        line
        for text in found
        for line in text.splitlines()
        if line not in ("ok", "*** in database main ***")
    ]
    return [
        StoreFault("damage", "database", "", f"the database file: {line}") for line in lines[:20]
    ]


def _reference_faults(database: Database) -> list[StoreFault]:
    found = []
    try:
        for table, parent, where in dangling_rows(plain_tables(database)):
            count = database.execute(f"SELECT count(*) FROM {where}").fetchone()[0]  # noqa: S608  names of ours
            if count:
                message = f"{count} rows of {table} refer to rows of {parent} that are not there"
                found.append(StoreFault("damage", "reference", table, message))
    except NOT_READ as error:
        return [StoreFault("damage", "database", "", f"references cannot be followed: {error}")]
    return found


def _description_faults(database: Database) -> list[StoreFault]:
    found: list[StoreFault] = []
    for kind, (table, column, described) in DESCRIPTIONS.items():
        for key in _keys(database, kind, table, column, found):
            sql = f"SELECT {described} FROM {table} WHERE {column} = ?"  # noqa: S608
            try:
                if not isinstance(
                    parse_json(database.execute(sql, (key,)).fetchone()[0], "its description"), dict
                ):
                    raise InputError("its description is not a JSON object")
            except (InputError, TypeError, *NOT_READ) as error:
                found.append(StoreFault("damage", kind, str(key), f"{kind} {key}: {error}"))
    return found


def _keys(
    database: Database, kind: str, table: str, column: str, findings: list[StoreFault]
) -> list[Any]:
    # By the table itself: an index that is damaged would hide rows that are not.
    sql = f"SELECT {column} FROM {table} NOT INDEXED"  # noqa: S608
    try:
        return [row[0] for row in database.execute(sql)]
    except NOT_READ as error:
        findings.append(
            StoreFault("damage", "database", "", f"the {kind}s cannot be listed: {error}")
        )
        return []


def _stated_checksums(database: Database, version: int) -> Checksums:
    if version < 2:
        return {}
    sql = "SELECT key, sha256 FROM checksums WHERE kind = ?"
    try:
        return {kind: dict(database.execute(sql, (kind,))) for kind in (*ARTIFACTS, "scores")}
    except NOT_READ:
        return {}


def _artifact_faults(
    database: Database, version: int, kind: str, key: str, stated: Checksums
) -> list[StoreFault]:
    of_scores = stated.get("scores", {}).get(key) if kind == "cell" else None
    try:
        agree = stated.get(kind, {}).get(key) in (None, CHECKSUMS[kind](database, key, version))
        if of_scores is not None:
            # Whoever reads many scores asks this checksum alone.
            rows = database.execute(
                SCORE_ROWS, _one(database, "SELECT id FROM cells WHERE key = ?", key)
            ).fetchall()
            agree = agree and of_scores == stored_scores_checksum(rows)
    except (InputError, TypeError, *NOT_READ) as error:
        return [_damage(database, kind, key, f"cannot be read ({error})")]
    return [] if agree else [_damage(database, kind, key, "does not agree with its checksum")]


def _damage(database: Database, kind: str, key: str, what: str) -> StoreFault:
    # A damaged key may be no text at all.
    return StoreFault(
        "damage", kind, str(key), f"{kind} {str(key)[:12]}{_planned_at(database, kind, key)} {what}"
    )


def _planned_at(database: Database, kind: str, key: str) -> str:
    """Say which cell of which experiment an artifact belongs to, as far as the plan can be read."""
    if kind == "truth":
        return ""
    try:
        row = database.execute(PLANNED_AT.format(column=ARTIFACTS[kind][1]), (key,)).fetchone()
    except NOT_READ:
        return ""
    if row is None:
        return ""
    experiment, dataset, fold, method, repeat = row
    if kind == "split":
        return f" ({dataset}, fold {fold})"
    return (
        f" ({experiment}: {method} on {dataset}, fold"
        f" {fold}{f', repeat {repeat}' if repeat else ''})"
    )


# Checksums of what is there; what cannot be decoded is refused


def _one(database: Database, sql: str, key: str, what: str = "its row") -> tuple[Any, ...]:
    row = database.execute(sql, (key,)).fetchone()
    if row is None:
        raise InputError(f"{what} cannot be found")
    return tuple(row)


def _checksum_of_cell(database: Database, key: str, version: int) -> bytes:
    number, *fields = _one(database, CELL, key)
    _, fit_key, status, _, notes, *_ = fields
    scores = database.execute(SCORE_ROWS, (number,)).fetchall()
    kept = database.execute(
        "SELECT payload FROM predictions WHERE cell_id = ?", (number,)
    ).fetchone()
    parse_json(notes, "its notes")
    if kept is not None:
        unpack(kept[0])
    if status == "done":
        _one(database, "SELECT 1 FROM fits WHERE fit_key = ?", fit_key, "its fit")
    costs = CellCosts.read(database, number) if version >= 3 else None
    return cell_checksum(fields, scores, None if kept is None else kept[0], costs)


def _checksum_of_fit(database: Database, key: str, version: int) -> bytes:
    arrays, info, seconds = _one(
        database, "SELECT arrays, info, seconds FROM fits WHERE fit_key = ?", key
    )
    unpack(arrays)
    parse_json(info, "its diagnostics")
    parts = FitCosts.read(database, key).parts if version >= 3 else ()
    return content_checksum(arrays, info, seconds, *parts)


def _checksum_of_split(database: Database, key: str, _: int) -> bytes:
    train, test = _one(database, "SELECT train, test FROM splits WHERE split_part = ?", key)
    if len(train) % 8 or len(test) % 8:
        raise InputError("its row numbers are cut off")
    return content_checksum(train, test)


def _checksum_of_truth(database: Database, key: str, _: int) -> bytes:
    (payload,) = _one(database, "SELECT payload FROM truths WHERE truth_key = ?", key)
    unpack(payload)
    return content_checksum(payload)


CHECKSUMS: dict[str, Callable[[Database, str, int], bytes]] = {
    "cell": _checksum_of_cell,
    "fit": _checksum_of_fit,
    "split": _checksum_of_split,
    "truth": _checksum_of_truth,
}


# Repairing


@dataclass(frozen=True)
class Repair:
    """What a repair did.

    Parameters
    ----------
    before, after : Diagnosis
        The state of the store before and after.
    dropped : tuple of StoreFault
        What was deleted because it was damaged.
    cells_to_run : int
        How many cells have no result any more because of it; the next run computes them.
    sealed : int
        How many artifacts got a checksum that had none.
    salvaged : Salvage or None
        What was copied out of a broken file, where it was one.
    """

    before: Diagnosis
    after: Diagnosis
    dropped: tuple[StoreFault, ...]
    cells_to_run: int
    sealed: int
    salvaged: Salvage | None

    def __str__(self) -> str:
        lines = []
        if self.salvaged is not None:
            lost = ", ".join(self.salvaged.incomplete) or "nothing"
            lines.append(
                f"saved {sum(self.salvaged.rows.values()):,} rows into a new file (incomplete:"
                f" {lost}); the damaged one is kept as {self.salvaged.damaged_file}"
            )
        lines += [f"dropped: {fault.message}" for fault in self.dropped]
        if self.sealed:
            lines.append(f"{self.sealed} artifacts got a checksum")
        if self.cells_to_run:
            lines.append(
                f"{self.cells_to_run} cells have no result any more: the next run computes them"
                " again"
            )
        return "\n".join(lines or ["there was nothing to repair"])


def repair(path: str | Path) -> Repair:
    """Drop what is damaged, keep all else, and add the checksums that are missing.

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
    with examination(path) as database:
        before = diagnose(database, path)
        intact = is_intact(database)
        if intact:
            refuse_while_running(database, path)
    saved = None if intact else salvage(path)
    database = connect(path, create=True)
    try:
        # Where the tables were not those of a store, nobody counted: what could be saved is what
        # there was.
        cells = (
            _n_cells(database)
            if saved is None
            else before.checked.get("cells", saved.rows["cells"])
        )
        dropped, sealed = _drop_damage(database, path, saved)
        lost = max(0, cells - _n_cells(database))
        return Repair(before, diagnose(database, path), tuple(dropped), lost, sealed, saved)
    except sqlite3.DatabaseError as error:
        raise damaged(path, error) from error
    finally:
        database.close()


def _drop_damage(
    database: Database, path: Path, saved: Salvage | None
) -> tuple[list[StoreFault], int]:
    """Delete what is damaged, and seal the rest; return what was deleted and how much was sealed."""
    with transaction(database):
        found = list(diagnose(database, path).damage)
        delete_dangling(database)
        has_seals = (
            database.execute("SELECT 1 FROM checksums WHERE kind = 'cell'").fetchone() is not None
        )
        if saved is not None and (has_seals or OF_CELLS & set(saved.incomplete)):
            # Of a file that lost rows, nothing shows that what has no checksum is whole.
            known = {(fault.kind, fault.key) for fault in found}
            unproven = [
                (kind, key) for kind, key in _unsealed(database) if (kind, key) not in known
            ]
            why = "has no checksum, and rows were lost"
            found += [
                StoreFault("damage", kind, key, f"{kind} {key[:12]} {why}")
                for kind, key in unproven
            ]
        # A fit takes its cells along, so those that are damaged themselves come first.
        dropped = [
            one
            for fault in sorted(found, key=lambda fault: fault.kind != "cell")
            for one in _drop(database, fault)
        ]
        unsealed = _unsealed(database)
        rows = [
            (kind, key, CHECKSUMS[kind](database, key, SCHEMA_VERSION)) for kind, key in unsealed
        ]
        database.executemany("INSERT INTO checksums VALUES (?, ?, ?)", rows)
    return dropped, len(rows)


def _drop(database: Database, fault: StoreFault) -> list[StoreFault]:
    """Delete one artifact, with the cells that rest on it, and return what was deleted."""
    also: list[StoreFault] = []
    if fault.kind == "fit":
        # Without their fit they cannot be proven.
        for (cell,) in database.execute(
            "SELECT key FROM cells WHERE fit_key = ?", (fault.key,)
        ).fetchall():
            message = f"cell {cell[:12]} rests on the damaged fit {fault.key[:12]}"
            also += _drop(database, StoreFault("damage", "cell", cell, message))
    if fault.kind == "run":
        # Claims and losses refer to a run: it keeps its row.
        database.execute("UPDATE runs SET environment = '{}' WHERE id = ?", (fault.key,))
    elif fault.kind in {**ARTIFACTS, **DESCRIPTIONS}:
        table, column, *_ = {**ARTIFACTS, **DESCRIPTIONS}[fault.kind]
        database.execute(f"DELETE FROM {table} WHERE {column} = ?", (fault.key,))  # noqa: S608
        kinds = ("cell", "scores") if fault.kind == "cell" else (fault.kind, fault.kind)
        database.execute(
            "DELETE FROM checksums WHERE kind IN (?, ?) AND key = ?", (*kinds, fault.key)
        )
    elif fault.kind != "reference":
        raise InputError(f"{fault.message}: this cannot be repaired; restore a copy")
    return [*also, fault]


def _unsealed(database: Database) -> list[tuple[str, str]]:
    """Return the artifacts that have no checksum."""
    known = set(database.execute("SELECT kind, key FROM checksums").fetchall())
    listed = (
        (kind, f"SELECT {column} FROM {table}")  # noqa: S608
        for kind, (table, column) in ARTIFACTS.items()
    )
    found = [(kind, key) for kind, sql in listed for (key,) in database.execute(sql).fetchall()]
    return [artifact for artifact in found if artifact not in known]


def _n_cells(database: Database) -> int:
    return int(database.execute("SELECT count(*) FROM cells").fetchone()[0])


# Compacting


@dataclass(frozen=True)
class Compaction:
    """What a compaction did: bytes before and after, and how many rows of what it deleted."""

    path: Path
    size_before: int
    size_after: int
    deleted: Mapping[str, int]

    def __str__(self) -> str:
        gone = (
            ", ".join(f"{count} {what}" for what, count in self.deleted.items() if count)
            or "nothing"
        )
        return (
            f"{self.path}: {self.size_before:,} bytes before, {self.size_after:,} after; deleted"
            f" {gone}"
        )


def compact(path: str | Path, *, drop_stale: bool = False) -> Compaction:
    """Delete what nothing refers to and give the space back to the disk.

    Parameters
    ----------
    path : str or Path
        The store; no run may be at work in it.
    drop_stale : bool, default=False
        Whether the results of earlier declarations go too. They are kept otherwise: declared again,
        they are there again.

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
        wanted = {"stale plan rows": STALE, **DEAD} if drop_stale else DEAD
        with transaction(database):
            deleted = {
                what: database.execute(f"DELETE FROM {where}").rowcount  # noqa: S608
                for what, where in wanted.items()
            }  # noqa: RUF100, S608
            for kind, (table, column) in ARTIFACTS.items():
                sql = f"DELETE FROM checksums WHERE kind = ? AND key NOT IN (SELECT {column} FROM {table})"  # noqa: S608
                database.execute(sql, (kind,))
            # Older versions kept what they dropped; of a cell that was computed again nobody wants
            # it.
            database.execute(
                "DELETE FROM quarantine WHERE kind = 'cell' AND key IN (SELECT key FROM cells)"
            )
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.DatabaseError as error:
        raise damaged(path, error) from error
    finally:
        database.close()
    return Compaction(path, before, path.stat().st_size, deleted)


def _count_dead(database: Database) -> dict[str, int]:
    """Return how many rows of what a compaction would delete first, before what only they refer to."""
    return {
        what: database.execute(f"SELECT count(*) FROM {where}").fetchone()[0]  # noqa: S608
        for what, where in DEAD.items()
    }  # noqa: RUF100, S608
