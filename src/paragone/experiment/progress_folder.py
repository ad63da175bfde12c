"""ProgressFolder: where long fits keep their progress beside the store, so that a killed one goes on."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

from paragone.cells import Cell, Outcome
from paragone.engine import Observer, Tally
from paragone.experiment.kept_logs import KeptLogs
from paragone.protocols.base import KEPT


class ProgressFolder:
    """A folder beside the store with one folder a fit; what a cell left there goes when the cell is committed.

    Only the logs that a fit was asked to keep stay: they are moved to the folder of `KeptLogs`.

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
        self._logs = KeptLogs(store)
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
            The cells and their status. A run may have been killed between the commit of a cell and this.

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
            # A log that cannot be moved must not cost the run its results; the folder stays, and with it the log.
            where = f"{cell.dataset}, {cell.method}"
            return f"the log of {where} could not be moved to {self._logs.path} ({error.strerror}): it is in {folder}"
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
