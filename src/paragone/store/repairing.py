"""Repair a store: damaged artifacts go into quarantine, and the next run computes their cells again."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.store.artifacts import KEYS, SCORES, ArtifactReader
from paragone.store.cell_costs import read_beside
from paragone.store.checksums import KINDS
from paragone.store.diagnosis import Diagnosis, Finding
from paragone.store.examining import diagnose, examination, examine, is_intact
from paragone.store.faults import damaged
from paragone.store.moments import this_moment
from paragone.store.opening import connect
from paragone.store.salvage import Salvage, salvage
from paragone.store.shapes import DANGLING
from paragone.store.standing import refuse_while_running
from paragone.store.transactions import transaction

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
    quarantined: tuple[Finding, ...]
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
    >>> from paragone.store import Store
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


def _unproven(database: sqlite3.Connection) -> list[Finding]:
    """Name what has no checksum: of a file that lost rows, nothing shows that it is whole."""
    return [
        Finding("damage", kind, key, f"{kind} {key[:12]} has no checksum, and rows were lost")
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
        self.taken: list[Finding] = []

    def take(self, finding: Finding) -> None:
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
            self.take(Finding("damage", "cell", cell, f"cell {cell[:12]} rests on the damaged fit {fit[:12]}"))

    def _delete(self, finding: Finding, sql: str) -> None:
        self._database.execute(sql, (finding.key,))
        also = "scores" if finding.kind == "cell" else finding.kind
        sql = "DELETE FROM checksums WHERE kind IN (?, ?) AND key = ?"
        self._database.execute(sql, (finding.kind, also, finding.key))

    def _move(self, finding: Finding, content: bytes | None) -> None:
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
