"""Spool: datasets laid out on disk once, so that every worker maps them instead of receiving copies."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data import Dataset

PREFIX = "paragone-spool-"


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
        _remove_orphans()
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
        if isinstance(dataset.X, sparse.csr_array):
            for part in ("data", "indices", "indptr"):
                np.save(folder / f"X_{part}.npy", getattr(dataset.X, part))
            np.save(folder / "X_shape.npy", np.array(dataset.X.shape))
        else:
            np.save(folder / "X.npy", dataset.X)
        y = dataset.y
        np.save(folder / "y.npy", np.asarray(y.tolist()) if y.dtype == object else y, allow_pickle=False)
        return str(folder)


@lru_cache(maxsize=8)
def load_spooled(folder: str) -> tuple[Any, NDArray[Any]]:
    """Map a spooled dataset into memory and return ``X, y``."""
    at = Path(folder)
    y = np.load(at / "y.npy", allow_pickle=False)
    if (at / "X.npy").exists():
        return np.load(at / "X.npy", mmap_mode="r", allow_pickle=False), y
    parts = [np.load(at / f"X_{part}.npy", mmap_mode="r", allow_pickle=False) for part in ("data", "indices", "indptr")]
    shape = tuple(int(size) for size in np.load(at / "X_shape.npy", allow_pickle=False))
    return sparse.csr_array(tuple(parts), shape=shape), y


def _remove_orphans() -> None:
    """Remove what killed runs left behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists() and Path("/proc/self").exists():
            shutil.rmtree(folder, ignore_errors=True)
