"""Spool: datasets laid out on disk once, so that every worker maps them instead of receiving copies."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from paragone.data import Dataset

PREFIX = "paragone-spool-"
SPARSE_PARTS = ("data", "indices", "indptr")


class Spool:
    """A temporary folder of datasets as plain ``.npy`` files, removed when the run ends.

    Examples
    --------
    >>> import numpy as np
    >>> from paragone.data import Dataset
    >>> with Spool() as spool:
    ...     folder = spool.add(Dataset("d", np.eye(3), np.eye(3, 2), "multilabel"))
    ...     X, y = load_spooled(folder)
    ...     X.shape, y.shape
    ((3, 3), (3, 2))
    """

    def __init__(self) -> None:
        remove_orphans()
        self._folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        load_spooled.cache_clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def add(self, dataset: Dataset) -> str:
        """Write a dataset, unless one of the same content is there, and return its folder."""
        folder = self._folder / dataset.fingerprint[:32]
        if folder.exists():
            return str(folder)
        folder.mkdir()
        y = dataset.y
        _save(folder, "X", dataset.X)
        _save(folder, "y", np.asarray(y.tolist()) if y.dtype == object else y)
        return str(folder)


@lru_cache(maxsize=8)
def load_spooled(folder: str) -> tuple[Any, Any]:
    """Map a spooled dataset into memory and return ``X, y``."""
    return _load(Path(folder), "X"), _load(Path(folder), "y")


def _save(folder: Path, name: str, matrix: Any) -> None:
    if not sparse.issparse(matrix):
        np.save(folder / f"{name}.npy", matrix, allow_pickle=False)
        return
    for part in SPARSE_PARTS:
        np.save(folder / f"{name}_{part}.npy", getattr(matrix, part))
    np.save(folder / f"{name}_shape.npy", np.array(matrix.shape))


def _load(folder: Path, name: str) -> Any:
    if (folder / f"{name}.npy").exists():
        return np.load(folder / f"{name}.npy", mmap_mode="r" if name == "X" else None, allow_pickle=False)
    parts = [np.load(folder / f"{name}_{part}.npy", mmap_mode="r", allow_pickle=False) for part in SPARSE_PARTS]
    shape = tuple(int(size) for size in np.load(folder / f"{name}_shape.npy", allow_pickle=False))
    return sparse.csr_array(tuple(parts), shape=shape)


def remove_orphans() -> None:
    """Remove what killed runs left behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists() and Path("/proc/self").exists():
            shutil.rmtree(folder, ignore_errors=True)
