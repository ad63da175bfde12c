"""FileWatch: notes the data files that Python opens while it is on."""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import Any, Self

from paragone.engine.spool import PREFIX

TABLES = {".csv", ".tsv", ".txt", ".dat", ".arff", ".mat", ".xls", ".xlsx", ".rdata", ".svm", ".libsvm"}
ARRAYS = {".npz", ".npy", ".parquet", ".feather", ".h5", ".hdf5", ".pkl", ".pickle", ".joblib", ".sqlite", ".db"}
OTHERS = {".json", ".jsonl", ".gz", ".bz2", ".xz", ".zip"}
DATA_ENDINGS = frozenset(TABLES | ARRAYS | OTHERS)
WRITING = frozenset("wxa")


class FileWatch:
    """Collects the data files that this process opens inside a ``with`` block.

    An audit hook cannot be taken away again: in a process that goes on, it stays and hears nothing more.

    Parameters
    ----------
    wanted : bool
        Whether to listen at all.

    Examples
    --------
    >>> with FileWatch(False) as watch:
    ...     pass
    >>> watch.seen
    ()
    """

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._listening = False
        self._names: dict[str, None] = {}

    @property
    def seen(self) -> tuple[str, ...]:
        """The names, each once, in the order in which they were opened first."""
        return tuple(self._names)

    def __enter__(self) -> Self:
        if self._wanted:
            self._listening = True
            sys.addaudithook(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        self._listening = False

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._listening or event not in ("open", "sqlite3.connect") or not args:
            return
        mode = args[1] if event == "open" and len(args) > 1 else None
        if isinstance(mode, str) and WRITING & set(mode):
            return
        name = args[0].decode(errors="replace") if isinstance(args[0], bytes) else str(args[0])
        if is_data_file(name):
            self._names[name] = None


def is_data_file(name: str) -> bool:
    """Say whether a file may hold data, by its name; what the engine laid out for the cell itself does not count.

    Examples
    --------
    >>> is_data_file("lab/emotions.arff"), is_data_file("lib/module.py")
    (True, False)
    """
    path = PurePath(name)
    if any(part.startswith(PREFIX) for part in path.parts):
        return False
    # Python and packages read files of their own; data that ships with one stands in a folder that says so.
    installed = any(path.is_relative_to(prefix) for prefix in (sys.prefix, sys.base_prefix))
    if (installed or "site-packages" in path.parts) and "datasets" not in path.parts:
        return False
    return path.suffix.lower() in DATA_ENDINGS
