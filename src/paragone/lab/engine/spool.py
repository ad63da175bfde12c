"""The spool: datasets as files that workers map, and a watch on the data files that a cell opens."""

from __future__ import annotations

import shutil
import sys
import tempfile
from functools import lru_cache
from pathlib import Path, PurePath
from typing import IO, Any, Self

import numpy as np
from scipy import sparse

from paragone.data import Dataset
from paragone.data.frames import is_table
from paragone.lab.engine.table_buffers import from_buffers, to_buffers

try:
    import fcntl
except ImportError:  # pragma: no cover  Windows has no such locks: what killed runs leave there stays
    fcntl = None  # type: ignore[assignment]

PREFIX = "paragone-spool-"
LOCK = "lock"
SPARSE_PARTS = ("data", "indices", "indptr")


class LockedFolder:
    """A temporary folder that others can see to be in use: its owner holds a lock, which the system drops with it.

    Numbers of processes would not do: another container or host that shares the folder for temporary files has other
    processes under the same numbers.

    Examples
    --------
    >>> folder = LockedFolder()
    >>> folder.path.is_dir()
    True
    >>> folder.remove()
    >>> folder.path.exists()
    False
    """

    def __init__(self) -> None:
        remove_orphans()
        # Locked before it has the name by which orphans are looked for, so that nobody finds it without its lock.
        new = Path(tempfile.mkdtemp(prefix=".paragone-new-"))
        self._lock = _locked(new / LOCK)
        self.path = new.with_name(PREFIX + new.name.removeprefix(".paragone-new-"))
        new.rename(self.path)

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
            self._lock = None


class Spool:
    """A temporary folder of datasets as plain ``.npy`` files, removed when the run ends.

    Examples
    --------
    >>> import numpy as np
    >>> from paragone.data import Dataset
    >>> with Spool() as spool:
    ...     folder = spool.add(Dataset("d", np.eye(3), np.eye(3, 2), "multilabel"))
    ...     X, y, beside = load_spooled(folder)
    ...     X.shape, y.shape
    ((3, 3), (3, 2))
    """

    def __init__(self) -> None:
        self._place = LockedFolder()
        self._folder = self._place.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        load_spooled.cache_clear()
        self._place.remove()

    @property
    def folder(self) -> str:
        """The folder itself."""
        return str(self._folder)

    def add(self, dataset: Dataset) -> str:
        """Write a dataset, unless one of the same content is there, and return its folder."""
        folder = self._folder / dataset.fingerprint[:32]
        if folder.exists():
            return str(folder)
        folder.mkdir()
        y = dataset.y
        _save(folder, "X", dataset.X)
        _save(folder, "y", np.asarray(y.tolist()) if y.dtype == object else y)
        if dataset.weights is not None:
            _save(folder, "w", dataset.weights)
        if dataset.groups is not None:
            # Numbers: all that is asked is which rows belong together.
            _save(folder, "g", np.unique(dataset.groups, return_inverse=True)[1])
        return str(folder)


@lru_cache(maxsize=8)
def load_spooled(folder: str) -> tuple[Any, Any, Any]:
    """Map a spooled dataset into memory; return ``X``, ``y``, and what else rows have: weights ``w``, groups ``g``."""
    place = Path(folder)
    beside = {name: _load(place, name) for name in ("w", "g") if (place / f"{name}.npy").exists()}
    return _load(place, "X"), _load(place, "y"), beside


def _save(folder: Path, name: str, matrix: Any) -> None:
    if is_table(matrix):
        for part, content in to_buffers(matrix).items():
            np.save(folder / f"{name}_table{part}.npy", content, allow_pickle=False)
        return
    if not sparse.issparse(matrix):
        np.save(folder / f"{name}.npy", matrix, allow_pickle=False)
        return
    for part in SPARSE_PARTS:
        np.save(folder / f"{name}_{part}.npy", getattr(matrix, part))
    np.save(folder / f"{name}_shape.npy", np.array(matrix.shape))


def _load(folder: Path, name: str) -> Any:
    if (folder / f"{name}.npy").exists():
        return np.load(folder / f"{name}.npy", mmap_mode="r" if name == "X" else None, allow_pickle=False)
    tables = {path.stem.removeprefix(f"{name}_table"): path for path in folder.glob(f"{name}_table*.npy")}
    if tables:
        return from_buffers({part: np.load(path, mmap_mode="c", allow_pickle=False) for part, path in tables.items()})
    parts = [np.load(folder / f"{name}_{part}.npy", mmap_mode="r", allow_pickle=False) for part in SPARSE_PARTS]
    shape = tuple(int(size) for size in np.load(folder / f"{name}_shape.npy", allow_pickle=False))
    return sparse.csr_array(tuple(parts), shape=shape)


def remove_orphans() -> None:
    """Remove what killed runs left behind: the folders whose lock nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if not (folder / LOCK).is_file():
            continue
        lock = _locked(folder / LOCK)
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            lock.close()


def _locked(path: Path) -> IO[bytes] | None:
    """Return a file that this process holds the lock of; None where another one does, or where there are no locks."""
    if fcntl is None:
        return None
    try:
        file = path.open("ab")
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


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
