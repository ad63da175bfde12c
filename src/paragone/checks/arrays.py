"""Arrays: codes of rows and values, blocks of columns, and neighbours, as the checks of data use them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.validation import FloatArray, IntArray

BLOCK_VALUES = 1 << 22
"""Values of a block of columns: 32 MiB."""


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
        yield begin, np.ascontiguousarray(dense(columns[:, begin : begin + width]))


def target_codes(y: NDArray[Any]) -> IntArray:
    """Number the rows of a target."""
    return row_codes(y if sparse.issparse(y) else np.asarray(y))


def codes_of(values: Any) -> IntArray:
    """Number the values of a column from 0, in their order.

    Examples
    --------
    >>> codes_of(np.array([5.0, 2.0, 5.0])).tolist()
    [1, 0, 1]
    """
    return np.unique(values, return_inverse=True)[1].ravel().astype(np.int64)


def dense(part: Any) -> FloatArray:
    """Return a part of a matrix as dense numbers."""
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def union(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return what stands in any of the parts, once each and in order.

    Examples
    --------
    >>> union([np.array([3, 1]), np.array([1])]).tolist(), len(union([]))
    ([1, 3], 0)
    """
    return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)


def drawn(values: IntArray, most: int, seed: int = 0) -> IntArray:
    """Return all values or, where there are more than asked for, some of them in their order."""
    if len(values) <= most:
        return values
    return np.sort(np.random.default_rng(seed).choice(values, most, replace=False))


def without_gaps(block: FloatArray) -> FloatArray:
    """Put the mean of its column into every gap; 0 where a column is empty."""
    missing = np.isnan(block)
    block = np.where(missing, 0.0, block)
    return np.where(missing, block.sum(axis=0) / np.maximum(1, (~missing).sum(axis=0)), block)


def means_within(columns: FloatArray, codes: IntArray) -> FloatArray:
    """Return the means of columns over the rows of every code, a row per code."""
    counts = np.maximum(1, np.bincount(codes))
    return np.stack([np.bincount(codes, one) / counts for one in columns.T], axis=1)


def centred(block: FloatArray) -> FloatArray:
    """Take the mean of what is there from every column; gaps stand at it."""
    filled = without_gaps(block)
    return np.asarray(filled - filled.mean(axis=0))
