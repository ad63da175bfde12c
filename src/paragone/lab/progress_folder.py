"""The folder in which cells keep their progress and training logs while a run lasts."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

from paragone.lab.cells import Cell, Outcome
from paragone.lab.engine import Observer, Tally
from paragone.lab.protocol import KEPT

RESULT = ".result"
_UNSAFE = re.compile(r"[^\w.+-]+")
_LONGEST = 60


class LogFolder:
    """A folder beside the store with the logs of its fits, under the names of their cells.

    Files that end in ``.result`` are appended to one file per dataset and method, as programs do
    that keep a result file over many runs; any other file is moved there, in the place of an
    earlier one of the same cell.

    Parameters
    ----------
    store : Path
        The store's file; the folder is called after it.

    Examples
    --------
    >>> LogFolder(Path("lab.sqlite")).path.name
    'lab.sqlite-logs'
    """

    def __init__(self, store: Path) -> None:
        self.path = store.resolve().with_name(f"{store.name}-logs")

    def take(self, cell: Cell, folder: Path) -> None:
        """Move the files of a folder here; what another process has moved already is left to it."""
        files = sorted(folder.iterdir()) if folder.is_dir() else []
        for file in files:
            self.path.mkdir(parents=True, exist_ok=True)
            pending = self.path / f".{cell.fit_key}-{file.name}"
            target = (
                pending if file.suffix == RESULT else self.path / f"{cell_name(cell)}{file.suffix}"
            )
            try:
                os.replace(file, target)
            except FileNotFoundError:
                continue
        # Also those of a run that was killed between moving and appending.
        for pending in sorted(self.path.glob(f".{cell.fit_key}-*{RESULT}")):
            self._append(
                pending, self.path / f"{safe_name(cell.dataset)}-{safe_name(cell.method)}{RESULT}"
            )

    def _append(self, pending: Path, target: Path) -> None:
        """Append a file to another and remove it; done again after a kill, it appends nothing a second time."""
        addition = pending.read_bytes()
        before = target.read_bytes() if target.exists() else b""
        if addition not in before:
            partial = target.with_name(f".{target.name}.partial")
            partial.write_bytes(before + addition)
            os.replace(partial, target)
        pending.unlink(missing_ok=True)


def cell_name(cell: Cell) -> str:
    """Return the name of a cell's log, without an ending: dataset, method, and fold and repeat counted from 0."""
    return f"{safe_name(cell.dataset)}-{safe_name(cell.method)}-fold{cell.fold}-seed{cell.repeat}"


def safe_name(name: str) -> str:
    """Return a name that any file system takes; one that had to be changed gets a mark that tells it from others.

    Examples
    --------
    >>> safe_name("SMGCN"), safe_name("a/b")
    ('SMGCN', 'a_b~c14cddc0')
    """
    safe = _UNSAFE.sub("_", name)[:_LONGEST].lstrip(".") or "_"
    return safe if safe == name else f"{safe}~{hashlib.sha256(name.encode()).hexdigest()[:8]}"


class ProgressFolder:
    """A folder beside the store with one folder per fit; what a cell left there goes when the cell is committed.

    Only the logs that a fit was asked to keep stay: they are moved to the folder of `LogFolder`.

    Parameters
    ----------
    store : Path
        The store's file; the folder is called after it.
    used : bool
        Whether the protocol keeps progress at all; no folder is named otherwise.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place, ProgressFolder(Path(place) / "lab.sqlite", True) as progress:
    ...     progress.path.name
    'lab.sqlite-progress'
    """

    def __init__(self, store: Path, used: bool) -> None:
        self.path = store.resolve().with_name(f"{store.name}-progress")
        self._logs = LogFolder(store)
        self._used = used

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # It stays while it holds the progress of a fit that was stopped.
        with suppress(OSError):
            self.path.rmdir()

    def of(self, cell: Cell) -> str | None:
        """Return the folder of a cell's fit, which need not exist; None where no progress is kept."""
        return str(self.path / cell.fit_key) if self._used else None

    def following(self, observer: Observer) -> Observer:
        """Return an observer that passes everything on and removes the progress of committed cells."""
        return _Tidying(observer, self) if self._used else observer

    def settle(self, cells: Iterable[tuple[Cell, str]]) -> list[str]:
        """Tidy up after cells that have a result: keep their logs, remove their progress.

        Parameters
        ----------
        cells : iterable of (Cell, str)
            The cells and their status. A run may have been killed between the commit of a cell and
            this.

        Returns
        -------
        list of str
            What to tell the user: logs that could not be kept.
        """
        if not self._used or not self.path.is_dir():
            return []
        return [said for cell, status in cells if (said := self._settle(cell, status)) is not None]

    def _settle(self, cell: Cell, status: str) -> str | None:
        folder = self.path / cell.fit_key
        # A fit that ran out of time may go on when it is retried; a failed one begins anew.
        if status == "timeout" or not folder.is_dir():
            return None
        try:
            self._logs.take(cell, folder / KEPT)
        except OSError as error:
            # A log that cannot be moved must not cost the run its results; the folder stays, and
            # with it the log.
            where = f"{cell.dataset}, {cell.method}"
            return (
                f"the log of {where} could not be moved to {self._logs.path} ({error.strerror}): it"
                f" is in {folder}"
            )
        shutil.rmtree(folder, ignore_errors=True)
        return None


class _Tidying:
    def __init__(self, observer: Observer, progress: ProgressFolder) -> None:
        self._observer = observer
        self._progress = progress

    def began(self, tally: Tally) -> None:
        self._observer.began(tally)

    def finished(self, cell: Cell, outcome: Outcome | None, tally: Tally) -> None:
        if outcome is not None:
            for sentence in self._progress.settle([(cell, outcome.status)]):
                self._observer.said(sentence, tally)
        self._observer.finished(cell, outcome, tally)

    def said(self, sentence: str, tally: Tally) -> None:
        self._observer.said(sentence, tally)
