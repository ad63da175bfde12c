"""The spool: datasets as files that workers map."""

from __future__ import annotations

import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from paragone.data import Dataset
from paragone.data.frames import is_table
from paragone.folders import hold, taken_over
from paragone.lab.engine.table_buffers import from_buffers, to_buffers

PREFIX = "paragone-spool-"
LOCK = "lock"
SPARSE_PARTS = ("data", "indices", "indptr")


class LockedFolder:
    """A temporary folder that others can see to be in use: its owner holds a lock, which the system drops with it.

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
        # Locked before it has the name by which orphans are looked for, so that nobody finds it
        # without its lock.
        new = Path(tempfile.mkdtemp(prefix=".paragone-new-"))
        self._lock = hold(new / LOCK)
        self.path = new.with_name(PREFIX + new.name.removeprefix(".paragone-new-"))
        new.rename(self.path)

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


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
        return np.load(
            folder / f"{name}.npy", mmap_mode="r" if name == "X" else None, allow_pickle=False
        )
    tables = {
        path.stem.removeprefix(f"{name}_table"): path for path in folder.glob(f"{name}_table*.npy")
    }
    if tables:
        return from_buffers(
            {
                part: np.load(path, mmap_mode="c", allow_pickle=False)
                for part, path in tables.items()
            }
        )
    parts = [
        np.load(folder / f"{name}_{part}.npy", mmap_mode="r", allow_pickle=False)
        for part in SPARSE_PARTS
    ]
    shape = tuple(int(size) for size in np.load(folder / f"{name}_shape.npy", allow_pickle=False))
    return sparse.csr_array(tuple(parts), shape=shape)


def remove_orphans() -> None:
    """Remove what killed runs left behind: the folders whose lock nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        lock = taken_over(folder / LOCK) if (folder / LOCK).is_file() else None
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            lock.close()
