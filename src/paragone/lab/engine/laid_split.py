"""LaidSplit: the arrays of one split in one sealed memory file, from which every cell has its own private copy.

A cell maps the file as private: what it writes, in Python or in native code, only it sees, and a
page is copied only when it is written. The seal keeps even a writable descriptor from changing what
the next cell gets.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data.frames import is_table
from paragone.data.splits import fit_scaler
from paragone.lab.cells import SplitData
from paragone.lab.engine.spool import SPARSE_PARTS, load_spooled
from paragone.lab.engine.table_buffers import from_buffers, to_buffers
from paragone.lab.engine.task import SplitReference, cut_out
from paragone.validation import IntArray

ALIGNMENT = 64
BLOCK_BYTES = 1 << 24
"""How much of the source is in memory at a time while rows are copied out of it."""
ARRAYS = tuple(part.name for part in fields(SplitData) if part.name != "task")


@dataclass(frozen=True)
class ArrayPlace:
    """Where an array lies in the file; a sparse matrix has one for each of its parts."""

    dtype: str
    shape: tuple[int, ...]
    offset: int

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.offset + np.dtype(self.dtype).itemsize * int(
            np.prod(self.shape, dtype=np.int64)
        )


@dataclass(frozen=True)
class LaidSplit:
    """An open memory file and what lies where in it.

    Parameters
    ----------
    descriptor : int
        The file; whoever forks a cell hands it on.
    size : int
        Its bytes.
    places : mapping of str to ArrayPlace
        The arrays by name; ``X_train.indices`` and the like for sparse ones.
    shapes : mapping of str to tuple of int
        The shapes of the sparse matrices.
    task : str
        What the data are for.
    tables : mapping of str to int
        The tables, with the number of parts that each lies in: ``X_train.0`` and so on.
    """

    descriptor: int
    size: int
    places: Mapping[str, ArrayPlace]
    shapes: Mapping[str, tuple[int, int]]
    task: str
    tables: Mapping[str, int] = field(default_factory=dict)

    def mapped(self) -> SplitData:
        """Return the arrays, writable, over a private map of the file; it is unmapped when the last of them is gone."""
        memory = mmap.mmap(self.descriptor, max(self.size, 1), flags=mmap.MAP_PRIVATE)
        return self._split_data(memory)

    def _split_data(self, memory: mmap.mmap) -> SplitData:
        arrays = {name: _view(memory, place) for name, place in self.places.items()}
        found: dict[str, Any] = {name: arrays[name] for name in ARRAYS if name in arrays}
        for name, shape in self.shapes.items():
            parts = tuple(arrays[f"{name}.{part}"] for part in SPARSE_PARTS)
            found[name] = sparse.csr_array(parts, shape=shape, copy=False)
        for name, count in self.tables.items():
            found[name] = from_buffers(
                {str(part): arrays[f"{name}.{part}"] for part in range(count)}
            )
        return SplitData(**found, task=self.task)

    def close(self) -> None:
        """Give the file up; cells that have it keep it."""
        os.close(self.descriptor)


def lay_out_split(reference: SplitReference) -> LaidSplit:
    """Cut a split out of its spooled dataset, scale it, and put it into a sealed memory file.

    Dense rows are copied block by block straight to where they stay, and what was read of the
    source is let go again, so that no more than one copy of the data is in memory.
    """
    X, y, beside = load_spooled(reference.folder)
    if sparse.issparse(X) or sparse.issparse(y) or is_table(X):
        return _from_arrays(cut_out(X, y, beside, reference))
    rows = {"train": reference.train, "test": reference.test}
    parts = {f"y_{role}": y[chosen] for role, chosen in rows.items()}
    parts |= {
        f"{name}_{role}": values[chosen]
        for name, values in beside.items()
        for role, chosen in rows.items()
    }
    wanted = {f"X_{role}": ("<f8", (len(chosen), X.shape[1])) for role, chosen in rows.items()}
    wanted |= {name: (part.dtype.str, part.shape) for name, part in parts.items()}
    laid, memory = _new_file(wanted, {}, reference.task)
    views = {name: _view(memory, place) for name, place in laid.places.items()}
    for role, chosen in rows.items():
        _copy_rows(X, chosen, views[f"X_{role}"])
    for name, part in parts.items():
        views[name][...] = part
    scaler = fit_scaler(views["X_train"], reference.scale)
    for role in rows:
        scaler.transform_in_place(views[f"X_{role}"])
    views.clear()
    return _sealed(laid, memory)


def _from_arrays(data: SplitData) -> LaidSplit:
    arrays: dict[str, NDArray[Any]] = {}
    shapes: dict[str, tuple[int, int]] = {}
    tables: dict[str, int] = {}
    for name, matrix in _present(data):
        if is_table(matrix):
            held = to_buffers(matrix)
            tables[name] = len(held)
            arrays |= {f"{name}.{part}": content for part, content in held.items()}
        elif sparse.issparse(matrix):
            shapes[name] = matrix.shape
            arrays |= {f"{name}.{part}": getattr(matrix, part) for part in SPARSE_PARTS}
        else:
            arrays[name] = matrix
    laid, memory = _new_file(
        {name: (a.dtype.str, a.shape) for name, a in arrays.items()}, shapes, data.task
    )
    for name, array in arrays.items():
        _view(memory, laid.places[name])[...] = array
    return _sealed(replace(laid, tables=tables), memory)


def _present(data: SplitData) -> Iterator[tuple[str, Any]]:
    for name in ARRAYS:
        matrix = getattr(data, name)
        if matrix is not None:
            yield name, matrix


def _new_file(
    wanted: Mapping[str, tuple[str, tuple[int, ...]]],
    shapes: Mapping[str, tuple[int, int]],
    task: str,
) -> tuple[LaidSplit, mmap.mmap]:
    places: dict[str, ArrayPlace] = {}
    end = 0
    for name, (dtype, shape) in wanted.items():
        places[name] = ArrayPlace(dtype, shape, -(-end // ALIGNMENT) * ALIGNMENT)
        end = places[name].end
    descriptor = os.memfd_create("paragone-split", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    # Asking for the pages now turns a full memory into an error here; later it would be a signal
    # that ends the process.
    os.posix_fallocate(descriptor, 0, max(end, 1))
    memory = mmap.mmap(descriptor, max(end, 1), flags=mmap.MAP_SHARED)
    return LaidSplit(descriptor, max(end, 1), places, dict(shapes), task), memory


def _sealed(laid: LaidSplit, memory: mmap.mmap) -> LaidSplit:
    # A file cannot be sealed while it is mapped for writing.
    memory.close()
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    fcntl.fcntl(laid.descriptor, fcntl.F_ADD_SEALS, seals)
    return laid


def _view(memory: mmap.mmap, place: ArrayPlace) -> NDArray[Any]:
    dtype = np.dtype(place.dtype)
    if dtype.itemsize == 0 or 0 in place.shape:
        return np.zeros(place.shape, dtype=dtype)
    return np.ndarray(place.shape, dtype=dtype, buffer=memory, offset=place.offset)


def _copy_rows(X: NDArray[np.float64], rows: IntArray, target: NDArray[np.float64]) -> None:
    """Copy rows of a mapped file, in blocks of the file, and let each block go again."""
    per_block = max(1, BLOCK_BYTES // max(1, X.shape[1] * X.itemsize))
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    source = getattr(X, "_mmap", None)
    for first in range(0, X.shape[0], per_block):
        low, high = np.searchsorted(ordered, [first, first + per_block])
        if low < high:
            target[order[low:high]] = X[ordered[low:high]]
        if source is not None:
            source.madvise(mmap.MADV_DONTNEED)
