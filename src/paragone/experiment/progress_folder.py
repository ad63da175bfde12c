"""ProgressFolder: where long fits keep their progress beside the store, so that a killed one goes on."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Self

from paragone.cells import Cell, Outcome
from paragone.engine import Observer, Tally


class ProgressFolder:
    """A folder beside the store with one folder a fit; what a cell left there goes when the cell is committed.

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
        return _Tidying(observer, self.path) if self._used else observer


class _Tidying:
    def __init__(self, observer: Observer, folder: Path) -> None:
        self._observer = observer
        self._folder = folder

    def began(self, tally: Tally) -> None:
        self._observer.began(tally)

    def finished(self, cell: Cell, outcome: Outcome | None, tally: Tally) -> None:
        # A fit that ran out of time may go on when it is retried; a failed one begins anew.
        if outcome is not None and outcome.status != "timeout":
            shutil.rmtree(self._folder / cell.fit_key, ignore_errors=True)
        self._observer.finished(cell, outcome, tally)

    def said(self, sentence: str, tally: Tally) -> None:
        self._observer.said(sentence, tally)
