"""What a user gives as truth, in any form, and the one form it is brought into: ordered item ids per sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from numbers import Number
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.errors import InputError
from paragone.validation import IntArray


def as_rows(given: Any, what: str) -> NDArray[Any] | list[Any]:
    """Return an array where the input is one, and a list of rows otherwise, or say why it has no rows.

    Parameters
    ----------
    given : array, DataFrame, Series, tensor or iterable of rows
        Whatever holds one row per sample.
    what : str
        What messages call it.

    Returns
    -------
    ndarray or list
        An array as it is; the values of a frame; the rows of anything else.

    Examples
    --------
    >>> as_rows(iter([[0, 1], [2]]), "truth")
    [[0, 1], [2]]
    """
    if given is None or isinstance(given, (Number, str, bytes, Path)):
        advice = ": read the file first" if isinstance(given, (str, bytes, Path)) else ""
        raise InputError(f"{what}: one row per sample is needed, {given!r} was given{advice}")
    if isinstance(given, (Mapping, AbstractSet)):
        raise InputError(
            f"{what}: a {type(given).__name__} has no order of rows; give a list with one row per"
            " sample"
        )
    if isinstance(given, np.ma.MaskedArray):
        return _unmasked(given, what)
    if isinstance(given, np.ndarray):
        return _rows_of_objects(given)
    if is_table(given):
        return _table(given, what)
    if hasattr(given, "__array__"):
        return _rows_of_objects(_array(given, what))
    if not isinstance(given, Iterable):
        raise InputError(
            f"{what}: one row per sample is needed, a {type(given).__name__} was given"
        )
    return list(given)


def is_table(given: Any) -> bool:
    """Whether something is a DataFrame, of pandas or of another library."""
    return hasattr(given, "to_numpy") and hasattr(given, "columns")


def check_same_rows(scores: Any, truth: Any) -> None:
    """Refuse two pandas objects whose row labels differ: rows belong together by their place, not by their label."""
    labels = [_labels(part) for part in (scores, truth)]
    if (
        labels[0] is None
        or labels[1] is None
        or len(labels[0]) != len(labels[1])
        or labels[0] == labels[1]
    ):
        return
    row = next(row for row, pair in enumerate(zip(*labels, strict=True)) if pair[0] != pair[1])
    raise InputError(
        f"row {row} is labelled {labels[0][row]!r} in the scores or lists and {labels[1][row]!r} in"
        " the truth: bring them into one order, or give .to_numpy() of both"
    )


def _labels(given: Any) -> list[Any] | None:
    index = getattr(given, "index", None)
    return (
        None if index is None or callable(index) or not hasattr(given, "to_numpy") else list(index)
    )


def _unmasked(given: Any, what: str) -> NDArray[Any]:
    if np.ma.getmaskarray(given).any():
        raise InputError(
            f"{what}: a masked array has no value where it is masked; name such items in `exclude`"
        )
    return np.asarray(given.data)


def _rows_of_objects(array: NDArray[Any]) -> NDArray[Any] | list[Any]:
    """Return a one-dimensional array of lists, such as a Series holds, as a list of them."""
    return list(array) if array.dtype == object and array.ndim == 1 else array


def _table(given: Any, what: str) -> NDArray[Any]:
    numbers = [name for name in given.columns if isinstance(name, (int, np.integer))]
    # Ids are places from 0. Text names cannot be taken for ids; other numbers can, and would be off
    # by some.
    if numbers and numbers != list(range(len(given.columns))):
        raise InputError(
            f"{what}: the columns are numbered {numbers[0]}..{numbers[-1]}, but item ids are the"
            f" places of the columns, from 0; rename them to 0..{len(given.columns) - 1} or give"
            " .to_numpy()"
        )
    return np.asarray(given.to_numpy())


def _array(given: Any, what: str) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{what}: a {type(given).__name__} that cannot be read as an array ({reason})"
        ) from error


_ADVICE = "give lists of item ids, or a matrix of True and False with a column for every item"


def as_marks(truth: Any, n_items: int | None) -> sparse.csr_array | None:
    """Return a matrix of marks as sorted sparse rows; None where the truth is rows of item ids.

    Sparse matrices and dense ones of bool or float are matrices of marks. Whole numbers may be
    either. Rows of three or more that hold nothing but 0 and 1 would, as ids, name an item twice in
    every row: they are marks. Two columns of 0 and 1 are a list of both items as well as marks of
    them, and are refused where two items is all there are.

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
            f"truth is a matrix that holds {value:g}, a grade or a count, but an item is relevant"
            " or not: give truth >= the lowest grade that counts as relevant"
        )
    if n_items is not None and found.shape[1] != n_items:
        raise InputError(
            f"truth is a matrix of marks with {found.shape[1]} columns, but there are {n_items}"
            " items"
        )
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
    if (
        rows.dtype.kind not in "iu"
        or int(rows.min()) < 0
        or int(rows.max()) > 1
        or rows.shape[1] < 2
    ):
        return None
    if rows.shape[1] > 2:
        return rows
    twice = bool((rows[:, 0] == rows[:, 1]).any())
    if n_items == 2 and (is_array or twice):
        raise InputError(
            "truth has two columns of 0 and 1, which may be item ids or marks of the two items:"
            f" {_ADVICE}"
        )
    return None


def _rectangular(truth: Any) -> NDArray[Any] | None:
    """Return rows of one length as an array; None where they are sets, or have different lengths."""
    if isinstance(truth, np.ndarray):
        return truth if truth.ndim == 2 else None
    if not isinstance(truth, list) or not all(
        isinstance(row, (list, tuple, np.ndarray)) for row in truth
    ):
        return None
    if len({len(row) for row in truth}) != 1:
        return None
    try:
        rows = np.asarray(truth)
    except ValueError:
        # Rows of rows: whoever reads them as ids says what is wrong.
        return None
    return rows if rows.ndim == 2 else None


ItemArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """Relevant items of every sample, ordered, without duplicates.

    Parameters
    ----------
    indptr : ndarray of int64 of shape (n_samples + 1,)
        Where the items of a sample begin and end.
    items : ndarray of int32
        The items of all samples, one after another.
    n_duplicates : int
        How many repeated ids were taken out; the first occurrence of each stays.
    ordered : bool
        Whether the order of a sample's items means anything; in a set or a matrix it does not.
    n_items : int, optional
        How many items there are, where the truth itself says so: a matrix has a column for each.

    Examples
    --------
    >>> truth = as_truth([[4, 1], [2]])
    >>> truth.sizes, truth.row(0)
    (array([2, 1]), array([4, 1], dtype=int32))
    """

    indptr: IntArray
    items: ItemArray
    n_duplicates: int = 0
    ordered: bool = True
    n_items: int | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.indptr) - 1

    @property
    def sizes(self) -> IntArray:
        """Number of relevant items of each sample."""
        return np.diff(self.indptr)

    def row(self, index: int) -> ItemArray:
        """Return the relevant items of one sample, in order."""
        return self.items[self.indptr[index] : self.indptr[index + 1]]

    def take(self, rows: NDArray[Any]) -> GroundTruth:
        """Return the truth of some samples, in the order asked for."""
        sizes = self.sizes[rows]
        indptr = np.concatenate(([0], np.cumsum(sizes)))
        starts = np.repeat(self.indptr[:-1][rows] - indptr[:-1], sizes)
        items = self.items[np.arange(indptr[-1]) + starts]
        return GroundTruth(indptr, items, ordered=self.ordered, n_items=self.n_items)

    def restricted_to(self, keep: NDArray[np.bool_]) -> GroundTruth:
        """Return the truth with only the items marked in ``keep``; a sample may become empty."""
        chosen = keep[self.items]
        counts = np.concatenate(([0], np.cumsum(chosen)))
        return GroundTruth(
            counts[self.indptr], self.items[chosen], ordered=self.ordered, n_items=self.n_items
        )


def as_truth(truth: Any, *, n_items: int | None = None) -> GroundTruth:
    """Turn what a user hands over as truth into a checked :class:`GroundTruth`.

    Parameters
    ----------
    truth : sequence of sequences of int, matrix of 0 and 1, pair (indptr, items) or GroundTruth
        The relevant item ids of each sample, 0-based, in any iterable; or a sparse or dense matrix
        of samples x items, or a frame, with 1 or True where an item is relevant. Sets and matrices
        have no order; their items are taken by rising id. Grades are refused: where a relevant item
        begins is not for this function to say.
    n_items : int, optional
        Ids must be below it.

    Returns
    -------
    GroundTruth
        With duplicates taken out and counted.

    Examples
    --------
    >>> truth = as_truth([[3, 1, 3], [0]])
    >>> truth.items.tolist(), truth.indptr.tolist(), truth.n_duplicates
    ([3, 1, 0], [0, 2, 3], 1)
    """
    if isinstance(truth, GroundTruth):
        check_ids(truth.indptr, truth.items, n_items)
        return truth
    if not is_pair(truth) and not sparse.issparse(truth):
        truth = as_rows(truth, "truth")
    marks = as_marks(truth, n_items)
    if marks is not None:
        n_columns = int(marks.shape[1])
        return GroundTruth(
            marks.indptr.astype(np.int64),
            marks.indices.astype(np.int32),
            ordered=False,
            n_items=n_columns,
        )
    indptr, items, ordered = _flatten(truth)
    check_ids(indptr, items, n_items)
    width = n_items if n_items is not None else (int(items.max()) + 1 if len(items) else 1)
    keep = np.ones(len(items), dtype=np.bool_)
    n_duplicates = int(_mark_repeated(indptr, items, width, keep))
    if n_duplicates:
        counts = np.concatenate(([0], np.cumsum(keep)))
        indptr, items = counts[indptr], items[keep]
    return GroundTruth(indptr, items, n_duplicates, ordered)


def check_ids(indptr: IntArray, items: ItemArray, n_items: int | None) -> None:
    """Raise where an item id is negative or not below ``n_items``."""
    if not len(items):
        return
    low, high = int(items.min()), int(items.max())
    if low < 0 or (n_items is not None and high >= n_items):
        bad = low if low < 0 else high
        row = int(np.searchsorted(indptr, int(np.flatnonzero(items == bad)[0]), side="right")) - 1
        limit = f"0..{n_items - 1}" if n_items is not None else "0 and above"
        raise InputError(
            f"truth of sample {row} names item {bad}, but item ids are {limit} (0-based)"
        )


def _flatten(truth: Any) -> tuple[IntArray, ItemArray, bool]:
    """Return where each sample begins, all items, and whether their order means anything."""
    if is_pair(truth):
        return (*_check_pair(truth[0], truth[1]), True)
    rows = list(truth)
    ordered = not any(isinstance(row, AbstractSet) for row in rows)
    return (*_from_rows([sorted_set(row, number) for number, row in enumerate(rows)]), ordered)


def is_pair(truth: Any) -> bool:
    """Whether something is a pair of arrays (indptr, items)."""
    return (
        isinstance(truth, tuple)
        and len(truth) == 2
        and all(isinstance(part, np.ndarray) for part in truth)
    )


def sorted_set(row: Any, number: int) -> Any:
    """Return the ids of a set by rising id, and any other row as it is."""
    if not isinstance(row, AbstractSet):
        return row
    try:
        return sorted(row)
    except TypeError as error:
        raise InputError(f"truth of sample {number} must hold whole item ids ({error})") from error


def _check_pair(indptr: NDArray[Any], items: NDArray[Any]) -> tuple[IntArray, ItemArray]:
    whole = indptr.ndim == items.ndim == 1 and np.issubdtype(indptr.dtype, np.integer)
    if (
        not whole
        or len(indptr) == 0
        or indptr[0] != 0
        or indptr[-1] != len(items)
        or (np.diff(indptr) < 0).any()
    ):
        raise InputError("truth (indptr, items): indptr must rise from 0 to the number of items")
    return indptr.astype(np.int64), _whole(items)


def _from_rows(rows: Sequence[Any]) -> tuple[IntArray, ItemArray]:
    arrays = [_row(row, index) for index, row in enumerate(rows)]
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in arrays], dtype=np.int64)))
    filled = [row for row in arrays if len(row)]
    flat = np.concatenate(filled) if filled else np.empty(0, dtype=np.int32)
    return indptr, _whole(flat)


def _row(row: Any, index: int) -> NDArray[Any]:
    try:
        if isinstance(row, (str, bytes, Mapping)) or not hasattr(row, "__len__"):
            raise ValueError("not a list")
        array = np.asarray(row)
        if array.ndim != 1:
            raise ValueError("not a flat list")
    except ValueError as error:
        raise InputError(
            f"truth of sample {index} is {row!r}: give a list of item ids per sample"
        ) from error
    return array


def _whole(items: NDArray[Any]) -> ItemArray:
    if len(items) and not np.issubdtype(items.dtype, np.integer):
        raise InputError(f"truth must hold whole item ids, it holds {items.dtype} values")
    if len(items) and int(items.max()) > np.iinfo(np.int32).max:
        raise InputError(f"truth names item {int(items.max())}: number the items from 0 first")
    return items.astype(np.int32)


@numba.njit(cache=True, nogil=True)
def _mark_repeated(indptr: Any, items: Any, n_items: int, keep: Any) -> int:
    """Clear ``keep`` at every id its sample has named before; return how many."""
    last_row = np.full(n_items, -1, np.int64)
    repeated = 0
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            if last_row[items[entry]] == row:
                keep[entry] = False
                repeated += 1
            last_row[items[entry]] = row
    return repeated
