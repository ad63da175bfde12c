"""A truth given as a matrix of marks, 1 where an item is relevant: told apart from lists of ids, and from grades."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.errors import InputError

_ADVICE = "give lists of item ids, or a matrix of True and False with a column for every item"


def as_marks(truth: Any, n_items: int | None) -> sparse.csr_array | None:
    """Return a matrix of marks as sorted sparse rows; None where the truth is rows of item ids.

    Sparse matrices and dense ones of bool or float are matrices of marks. Whole numbers may be either. Rows of three or
    more that hold nothing but 0 and 1 would, as ids, name an item twice in every row: they are marks. Two columns of
    0 and 1 are a list of both items as well as marks of them, and are refused where two items is all there are.

    Parameters
    ----------
    truth : sparse matrix, ndarray, list of rows
        The truth.
    n_items : int, optional
        How many items there are; a matrix must have a column for each.

    Returns
    -------
    csr_array or None
        Ones at the relevant items.

    Examples
    --------
    >>> as_marks(np.array([[0, 0, 1], [1, 1, 0]]), 3).indices
    array([2, 0, 1], dtype=int32)
    >>> as_marks([[4, 1], [2]], 5) is None
    True
    """
    matrix = truth if sparse.issparse(truth) else _dense(truth, n_items)
    if matrix is None:
        return None
    found = sparse.csr_array(matrix)
    # A copy, because what follows writes into the arrays of the caller's matrix.
    found = found.copy() if found is matrix or sparse.issparse(truth) else found
    found.sum_duplicates()
    found.eliminate_zeros()
    if found.dtype.kind not in "biuf":
        raise InputError(f"truth is a matrix of {found.dtype} values: {_ADVICE}")
    if (found.data != 1).any():
        value = found.data[found.data != 1][0]
        raise InputError(
            f"truth is a matrix that holds {value:g}, a grade or a count, but an item is relevant or not: give "
            "truth >= the lowest grade that counts as relevant"
        )
    if n_items is not None and found.shape[1] != n_items:
        raise InputError(f"truth is a matrix of marks with {found.shape[1]} columns, but there are {n_items} items")
    return found


def _dense(truth: Any, n_items: int | None) -> NDArray[Any] | None:
    """Return rows that are marks as one array; None for rows of ids, or of anything else."""
    is_array = isinstance(truth, np.ndarray)
    if is_array and truth.ndim == 2 and truth.dtype.kind in "bf":
        return np.asarray(truth)
    rows = _rectangular(truth)
    if rows is None or not rows.size:
        return None
    if rows.dtype.kind == "b":
        return rows
    if rows.dtype.kind not in "iu" or int(rows.min()) < 0 or int(rows.max()) > 1 or rows.shape[1] < 2:
        return None
    if rows.shape[1] > 2:
        return rows
    twice = bool((rows[:, 0] == rows[:, 1]).any())
    if n_items == 2 and (is_array or twice):
        raise InputError(
            f"truth has two columns of 0 and 1, which may be item ids or marks of the two items: {_ADVICE}"
        )
    return None


def _rectangular(truth: Any) -> NDArray[Any] | None:
    """Return rows of one length as an array; None where they are sets, or have different lengths."""
    if isinstance(truth, np.ndarray):
        return truth if truth.ndim == 2 else None
    if not isinstance(truth, list) or not all(isinstance(row, (list, tuple, np.ndarray)) for row in truth):
        return None
    if len({len(row) for row in truth}) != 1:
        return None
    try:
        rows = np.asarray(truth)
    except ValueError:
        # Rows of rows: whoever reads them as ids says what is wrong.
        return None
    return rows if rows.ndim == 2 else None
