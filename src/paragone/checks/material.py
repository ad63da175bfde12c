"""Material: a dataset with the two sides of all its splits, as the checks of the data look at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data import Dataset, Split
from paragone.data.frames import column_kinds
from paragone.lab.protocol import Arrangement
from paragone.validation import FloatArray, IntArray

BLOCK_VALUES = 1 << 22
"""Values of a block of columns: 32 MiB."""


@dataclass(frozen=True, eq=False)
class Side:
    """The two sides of a split: what is fitted on, and the rows held out in one role."""

    fold: int
    role: str
    train: IntArray
    held: IntArray

    @property
    def key(self) -> bytes:
        """Bytes that are equal for equal rows."""
        return b"|".join((self.role.encode(), self.train.tobytes(), self.held.tobytes()))


@dataclass(frozen=True, eq=False)
class Material:
    """A dataset, the sides of its splits, and what findings call it.

    Several targets of one dataset that are split alike are one material for the checks of rows and
    columns; ``targets`` then holds each of them.
    """

    name: str
    dataset: Dataset
    sides: tuple[Side, ...]
    targets: tuple[Dataset, ...]

    @property
    def n_held(self) -> int:
        """Number of distinct rows that are held out in any split."""
        return (
            len(np.unique(np.concatenate([side.held for side in self.sides]))) if self.sides else 0
        )


def sides_of(splits: Sequence[Split]) -> tuple[Side, ...]:
    """Return the sides of splits; a row is looked at in the role that it is scored in.

    Examples
    --------
    >>> split = Split(0, np.array([0, 1]), np.array([2, 3]))
    >>> [(side.role, side.held.tolist()) for side in sides_of([split])]
    [('test', [2, 3])]
    """
    return tuple(
        Side(split.fold, role, split.train, rows)
        for split in splits
        for role, rows in split.held_out.items()
    )


def materials(arrangements: Sequence[Arrangement]) -> list[Material]:
    """Make materials of an experiment's arrangements; equal splits of one dataset's targets go together."""
    together: dict[Any, list[tuple[Dataset, tuple[Side, ...]]]] = {}
    for arrangement in arrangements:
        sides = sides_of(arrangement.splits)
        origin = arrangement.origin or arrangement.dataset.name
        together.setdefault((origin, *(side.key for side in sides)), []).append(
            (arrangement.dataset, sides)
        )
    named: dict[str, int] = {}
    for key in together:
        named[key[0]] = named.get(key[0], 0) + 1
    found = []
    for key, members in together.items():
        datasets = tuple(dataset for dataset, _ in members)
        name = key[0] if named[key[0]] == 1 else ", ".join(dataset.name for dataset in datasets)
        found.append(Material(name, datasets[0], members[0][1], datasets))
    return found


def measured_columns(dataset: Dataset) -> IntArray:
    """Return the places of the columns in which a difference between two values has a size: numbers and dates.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1.5, 2.0], "b": ["x", "y"]})
    >>> measured_columns(Dataset("d", frame, np.arange(2), "regression")).tolist()
    [0]
    """
    if not dataset.is_table:
        return np.arange(dataset.n_features)
    kinds = column_kinds(dataset.X).values()
    return np.flatnonzero([kind not in ("text", "category") for kind in kinds])


def fine_columns(X: FloatArray) -> FloatArray:
    """Return the columns in which most values differ, to nine digits.

    Examples
    --------
    >>> fine_columns(np.array([[1.0, 0.5], [1.0, 0.7], [2.0, 0.1], [2.0, 0.2]])).tolist()
    [[0.5], [0.7], [0.1], [0.2]]
    """
    size = np.maximum(np.nanmax(np.abs(X), axis=0, initial=0.0), np.finfo(float).tiny)
    rounded = np.round(X / size, 9)
    return X[:, [len(np.unique(column)) > len(X) // 2 for column in rounded.T]]


def row_codes(X: Any) -> IntArray:
    """Number the rows so that equal rows, and they alone, have equal numbers; -0 equals 0, NaN equals NaN.

    Examples
    --------
    >>> row_codes(np.array([[0.0, 1.0], [2.0, 2.0], [-0.0, 1.0]])).tolist()
    [0, 1, 0]
    >>> row_codes(sparse.csr_array(np.array([[0.0, 1.0], [0.0, 1.0]]))).tolist()
    [0, 0]
    """
    known: dict[Any, int] = {}
    return np.asarray([known.setdefault(key, len(known)) for key in _row_keys(X)], dtype=np.int64)


def _row_keys(X: Any) -> Iterator[Any]:
    if sparse.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            yield X.indices[begin:end].tobytes(), X.data[begin:end].tobytes()
        return
    values = np.asarray(X)
    values = values.reshape(len(values), -1)
    if values.dtype.kind == "f":
        for row in np.where(np.isnan(values), np.nan, values + 0.0):
            yield row.tobytes()
    else:
        yield from map(tuple, values.tolist())


def column_blocks(X: Any) -> Iterator[tuple[int, FloatArray]]:
    """Walk over dense blocks of columns that fit into memory; each with the number of its first column."""
    n_rows, n_columns = X.shape
    width = max(1, BLOCK_VALUES // max(1, n_rows))
    columns = X.tocsc() if sparse.issparse(X) else X
    for begin in range(0, n_columns, width):
        block = columns[:, begin : begin + width]
        yield (
            begin,
            np.ascontiguousarray(
                block.toarray() if sparse.issparse(block) else block, dtype=np.float64
            ),
        )


def target_codes(y: NDArray[Any]) -> IntArray:
    """Number the rows of a target."""
    return row_codes(y if sparse.issparse(y) else np.asarray(y))
