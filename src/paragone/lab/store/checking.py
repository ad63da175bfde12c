"""Checking a store: is it whole, and how to drop what is not, so that the next run computes it again.

Every cell can be computed again, so a damaged one is not mended: it is named, counted and deleted. A
file whose own structure is broken is not gone through for what may be left: a copy is restored, or
the experiment runs into a new store.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.lab.store.distrust import NEW_ONE, NOT_READ, damaged, oddities
from paragone.lab.store.opening import connect, examination, log_of
from paragone.lab.store.outcomes import (
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
    check_version,
    dangling_rows,
    delete_dangling,
    empty_tables,
    transaction,
)
from paragone.reading import parse_json

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
FILE = "database"
"""The kind of a fault of the file itself."""
PLANNED_AT = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat FROM plan p JOIN experiments e ON e.id = p.experiment_id
WHERE p.{column} = ? ORDER BY p.current DESC LIMIT 1
"""
# By the tables themselves and in their order: half a million artifacts looked up one by one would
# take a minute.
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


@dataclass(frozen=True)
class StoreFault:
    """One thing that is lost.

    Parameters
    ----------
    kind, key : str
        What it is: ``cell``, ``fit``, ``split``, ``truth``, ``dataset``, ``experiment``, ``run``, a
        ``reference``, or the ``database`` itself, and which.
    message : str
        What is wrong, for people.
    """

    kind: str
    key: str
    message: str


@dataclass(frozen=True)
class Diagnosis:
    """The state of a store: its tables' version, its bytes, how much was looked at, and what was found."""

    path: Path
    schema: int
    size: int
    checked: Mapping[str, int]
    damage: tuple[StoreFault, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damage

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**asdict(self), "path": str(self.path), "healthy": self.is_healthy}

    def __str__(self) -> str:
        checked = ", ".join(f"{count} {kind}" for kind, count in self.checked.items()) or "the file"
        lines = [f"{self.path}: schema {self.schema}, {self.size:,} bytes; looked at {checked}"]
        lines += [f"damage: {fault.message}" for fault in self.damage]
        lines += [f"note: {note}" for note in self.notes]
        if self.is_healthy:
            lines.append("healthy: every artifact can be read and agrees with its checksum")
        return "\n".join(lines)


def check(path: str | Path) -> Diagnosis:
    """Check a store without changing it.

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
    ...     check(Path(folder) / "a.sqlite").is_healthy
    True
    """
    path = Path(path)
    with examination(path) as database:
        return _diagnosis(database, path)


def _diagnosis(database: sqlite3.Connection, path: Path) -> Diagnosis:
    version = check_version(database, path)
    size = sum(side.stat().st_size for side in (path, log_of(path)) if side.exists())
    faults = _file_faults(database, version)
    if faults:
        # Whatever else is read of a broken file may be anything.
        return Diagnosis(path, version, size, {}, tuple(faults))
    notes = []
    if version < SCHEMA_VERSION:
        notes.append(f"schema {version} is older than {SCHEMA_VERSION}: the next run updates it")
    stated = _stated_checksums(database, version)
    found, unsealed = _artifact_faults(database, version, stated)
    faults += [*_reference_faults(database), *_description_faults(database), *found]
    if unsealed:
        notes.append(
            f"{len(unsealed)} artifacts have no checksum, for an older Paragone wrote them:"
            " --repair adds it"
        )
    checked = {
        table: int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608  names of ours
        for table, _ in ARTIFACTS.values()
    }
    return Diagnosis(path, version, size, checked, tuple(faults), tuple(notes))


def _file_faults(database: sqlite3.Connection, version: int) -> list[StoreFault]:
    """Say what is wrong with the tables, or with SQLite's own structures."""
    try:
        lines = oddities(database, version)
        if not lines:
            # Asked of a schema of ours alone: another one may run what a stranger put there.
            rows = database.execute("PRAGMA integrity_check(20)").fetchall()
            said = "\n".join(str(row[0]) for row in rows).splitlines()
            lines = [line for line in said if not line.startswith(("ok", "***"))]
    except NOT_READ as error:
        lines = [str(error) or type(error).__name__]
    return [StoreFault(FILE, "", f"the database file: {line}") for line in lines[:20]]


def _reference_faults(database: sqlite3.Connection) -> list[StoreFault]:
    present = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    found = []
    for table, parent, where in dangling_rows(present):
        count = database.execute(f"SELECT count(*) FROM {where}").fetchone()[0]  # noqa: S608  names of ours
        if count:
            message = f"{count} rows of {table} refer to rows of {parent} that are not there"
            found.append(StoreFault("reference", table, message))
    return found


def _description_faults(database: sqlite3.Connection) -> list[StoreFault]:
    found = []
    for kind, (table, column, described) in DESCRIPTIONS.items():
        for key, text in database.execute(f"SELECT {column}, {described} FROM {table}"):  # noqa: S608
            try:
                if not isinstance(parse_json(text, "its description"), dict):
                    raise InputError("its description is not a JSON object")
            except InputError as error:
                found.append(StoreFault(kind, str(key), f"{kind} {key}: {error}"))
    return found


Checksums = Mapping[tuple[str, str], bytes]
"""By kind (``cell``, ``scores``, ``fit``, ``split``, ``truth``) and key."""


def _stated_checksums(database: sqlite3.Connection, version: int) -> Checksums:
    if version < 2:
        return {}
    rows = database.execute("SELECT kind, key, sha256 FROM checksums")
    return {(kind, key): checksum for kind, key, checksum in rows}


@dataclass(frozen=True)
class _Artifact:
    """An artifact as it is now: its checksums by kind, what has to be readable of it, and what it lacks."""

    kind: str
    key: str
    checksum: bytes
    arrays: bytes | None = None
    text: str = "{}"
    scores: bytes | None = None
    lacks: str = ""

    def fault(self, stated: Checksums) -> str:
        """Say what is wrong with it; nothing where it is what was written."""
        if self.lacks:
            return self.lacks
        sealed = stated.get((self.kind, self.key))
        if stated.get(("scores", self.key), self.scores) != self.scores and self.kind == "cell":
            return "does not agree with its checksum"
        if sealed is not None:
            return "" if sealed == self.checksum else "does not agree with its checksum"
        try:
            if self.arrays is not None:
                unpack(self.arrays)
            parse_json(self.text, "its notes")
        except InputError as error:
            return f"cannot be read ({error})"
        return ""


def _artifact_faults(
    database: sqlite3.Connection, version: int, stated: Checksums
) -> tuple[list[StoreFault], dict[tuple[str, str], bytes]]:
    """Return what is damaged, and the checksums of what is whole and has none."""
    found, unsealed = [], {}
    present = set()
    for one in _artifacts(database, version):
        present.add((one.kind, one.key))
        fault = one.fault(stated)
        if fault:
            found.append(_damage(database, one.kind, one.key, fault))
        elif (one.kind, one.key) not in stated:
            unsealed[one.kind, one.key] = one.checksum
    for kind, key in stated:
        if kind in ARTIFACTS and (kind, key) not in present:
            found.append(_damage(database, kind, key, "is gone, its checksum is left"))
    return found, unsealed


def _artifacts(database: sqlite3.Connection, version: int) -> Iterator[_Artifact]:
    lacking = empty_tables(version)
    warned = _grouped(database.execute(lacking + ALL_FIT_WARNINGS))
    fits = set()
    for key, arrays, info, seconds, *costs in database.execute(lacking + ALL_FITS):
        fits.add(key)
        cpu_seconds, predict_seconds, size = costs
        parts = FitCosts(cpu_seconds, warned.get(key, ()), predict_seconds, size).parts
        yield _Artifact("fit", key, content_checksum(arrays, info, seconds, *parts), arrays, info)
    yield from _cells(database, lacking, fits)
    for key, train, test in database.execute("SELECT split_part, train, test FROM splits"):
        cut = "its row numbers are cut off" if len(train) % 8 or len(test) % 8 else ""
        yield _Artifact("split", key, content_checksum(train, test), lacks=cut)
    for key, payload in database.execute("SELECT truth_key, payload FROM truths"):
        yield _Artifact("truth", key, content_checksum(payload), payload)


def _cells(database: sqlite3.Connection, lacking: str, fits: set[str]) -> Iterator[_Artifact]:
    warned = _grouped(database.execute(lacking + ALL_WARNINGS))
    scores = groupby(database.execute(ALL_SCORES), key=itemgetter(0))
    owner, rows = next(scores, (None, iter(())))
    for number, arrays, has_costs, cpu_seconds, memory, printed, *fields in database.execute(
        lacking + ALL_CELLS
    ):
        while owner is not None and owner < number:
            owner, rows = next(scores, (None, iter(())))
        mine = [row[1:] for row in rows] if owner == number else []
        key, fit_key, status, _, notes, *_ = fields
        costs = None
        if has_costs or number in warned or printed is not None:
            costs = CellCosts(cpu_seconds, memory, warned.get(number, ()), printed)
        yield _Artifact(
            "cell",
            key,
            cell_checksum(fields, mine, arrays, costs),
            arrays,
            notes,
            stored_scores_checksum(mine),
            "lacks its fit" if status == "done" and fit_key not in fits else "",
        )


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[Any, tuple[Any, ...]]:
    return {key: tuple(row[1:] for row in mine) for key, mine in groupby(rows, key=itemgetter(0))}


def _damage(database: sqlite3.Connection, kind: str, key: str, what: str) -> StoreFault:
    return StoreFault(kind, key, f"{kind} {key[:12]}{_planned_at(database, kind, key)} {what}")


def _planned_at(database: sqlite3.Connection, kind: str, key: str) -> str:
    """Say which cell of which experiment an artifact belongs to."""
    if kind == "truth":
        return ""
    row = database.execute(PLANNED_AT.format(column=ARTIFACTS[kind][1]), (key,)).fetchone()
    if row is None:
        return ""
    experiment, dataset, fold, method, repeat = row
    if kind == "split":
        return f" ({dataset}, fold {fold})"
    again = f", repeat {repeat}" if repeat else ""
    return f" ({experiment}: {method} on {dataset}, fold {fold}{again})"


@dataclass(frozen=True)
class Repair:
    """What a repair dropped, how many cells have no result any more, and how many artifacts got a checksum."""

    after: Diagnosis
    dropped: tuple[StoreFault, ...]
    cells_to_run: int
    sealed: int

    def __str__(self) -> str:
        lines = [f"dropped: {fault.message}" for fault in self.dropped]
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
    connect(path, create=False).close()
    database = connect(path, create=True)
    try:
        refuse_while_running(database, path)
        cells = _n_cells(database)
        with transaction(database):
            # An index follows from its table.
            database.execute("REINDEX")
            found = list(_diagnosis(database, path).damage)
            delete_dangling(database)
            # A fit takes its cells along, so those that are damaged themselves come first.
            found.sort(key=lambda fault: fault.kind != "cell")
            dropped = [one for fault in found for one in _drop(database, path, fault)]
            stated = _stated_checksums(database, SCHEMA_VERSION)
            _, unsealed = _artifact_faults(database, SCHEMA_VERSION, stated)
            rows = [(kind, key, checksum) for (kind, key), checksum in unsealed.items()]
            database.executemany("INSERT INTO checksums VALUES (?, ?, ?)", rows)
        lost = max(0, cells - _n_cells(database))
        return Repair(_diagnosis(database, path), tuple(dropped), lost, len(rows))
    except NOT_READ as error:
        raise damaged(path, error) from error
    finally:
        database.close()


def _drop(database: sqlite3.Connection, path: Path, fault: StoreFault) -> list[StoreFault]:
    """Delete one artifact, with the cells that rest on it, and return what was deleted."""
    if fault.kind == FILE:
        raise InputError(f"store {str(path)!r}: {fault.message}: {NEW_ONE}")
    also: list[StoreFault] = []
    if fault.kind == "fit":
        # Without their fit they cannot be proven.
        rows = database.execute("SELECT key FROM cells WHERE fit_key = ?", (fault.key,)).fetchall()
        for (cell,) in rows:
            message = f"cell {cell[:12]} rests on the damaged fit {fault.key[:12]}"
            also += _drop(database, path, StoreFault("cell", cell, message))
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
    return [*also, fault]


def _n_cells(database: sqlite3.Connection) -> int:
    return int(database.execute("SELECT count(*) FROM cells").fetchone()[0])
