"""The files of a store: the database, the log beside it, and whether they are still where they were."""

from __future__ import annotations

import os
from pathlib import Path

from paragone.errors import InputError

Identity = tuple[int, int]
LOG_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24


class FilesInPlace:
    """Notices that a store's file or its log was deleted, moved or replaced while it is open.

    The system lets a process write on into a file that has no name any more; everything written there is lost.

    Parameters
    ----------
    path : Path
        The store's file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "lab.sqlite"
    ...     _ = path.write_bytes(b"")
    ...     files = FilesInPlace(path)
    ...     files.check()
    ...     path.unlink()
    ...     try:
    ...         files.check()
    ...     except InputError as error:
    ...         print("gone:", "deleted, moved or replaced" in str(error))
    gone: True
    """

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self._file = _identity(self._path)
        self._log: Identity | None = None

    def check(self) -> None:
        """Refuse to go on where one of the files is not the one that was opened; call it inside a transaction."""
        log = _identity(log_of(self._path))
        self._log = self._log or log
        if _identity(self._path) == self._file and log == self._log:
            return
        raise InputError(
            f"store {str(self._path)!r} was deleted, moved or replaced while it was in use: nothing more is written; "
            "put it back where you have it, and run the same command again"
        )


def _identity(path: Path) -> Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def log_of(path: Path) -> Path:
    """Return the file of a store's write-ahead log."""
    return path.with_name(path.name + "-wal")


def has_log(path: Path) -> bool:
    """Tell whether there are commits beside the store that are not in its file yet."""
    log = log_of(path)
    return log.exists() and log.stat().st_size > LOG_HEADER_BYTES


def pages_in_log(path: Path) -> set[int]:
    """Return the numbers of the pages that stand in a store's log, by SQLite's format of it."""
    found: set[int] = set()
    with log_of(path).open("rb") as log:
        header = log.read(LOG_HEADER_BYTES)
        page_size, salts = int.from_bytes(header[8:12], "big"), header[16:24]
        while len(frame := log.read(FRAME_HEADER_BYTES)) == FRAME_HEADER_BYTES and frame[8:16] == salts:
            found.add(int.from_bytes(frame[:4], "big"))
            log.seek(page_size, os.SEEK_CUR)
    return found
