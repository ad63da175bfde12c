"""KeptLogs: the logs of fits, moved beside the store when their cells are committed, each whole and once."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from paragone.cells import Cell

RESULT = ".result"
_UNSAFE = re.compile(r"[^\w.+-]+")
_LONGEST = 60


class KeptLogs:
    """A folder beside the store with the logs of its fits, under the names of their cells.

    Files that end in ``.result`` are appended to one file per dataset and method, as programs do that keep a result
    file over many runs; any other file is moved there, in the place of an earlier one of the same cell.

    Parameters
    ----------
    store : Path
        The store's file; the folder is called after it.

    Examples
    --------
    >>> KeptLogs(Path("lab.sqlite")).path.name
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
            target = pending if file.suffix == RESULT else self.path / f"{cell_name(cell)}{file.suffix}"
            try:
                os.replace(file, target)
            except FileNotFoundError:
                continue
        # Also those of a run that was killed between moving and appending.
        for pending in sorted(self.path.glob(f".{cell.fit_key}-*{RESULT}")):
            self._append(pending, self.path / f"{safe_name(cell.dataset)}-{safe_name(cell.method)}{RESULT}")

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
