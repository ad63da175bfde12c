"""Candidates: which items may be listed for a sample, after exclusion and sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.errors import InputError
from paragone.metrics.topk.truth import as_rows


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of every sample; all items where neither mask is there.

    Parameters
    ----------
    exclude : csr_array, optional
        Marks items that are not candidates.
    sampled : csr_array, optional
        Marks the only candidates.

    Examples
    --------
    >>> masks = Candidates(exclude=sparse.csr_array(np.array([[0, 1, 0]])))
    >>> masks.block(slice(0, 1))
    array([[ True, False,  True]])
    """

    exclude: sparse.csr_array | None = None
    sampled: sparse.csr_array | None = None

    def __bool__(self) -> bool:
        return self.exclude is not None or self.sampled is not None

    @property
    def n_sampled(self) -> int | None:
        """The median number of sampled candidates; None where all items were candidates."""
        return None if self.sampled is None else int(np.median(np.diff(self.sampled.indptr)))

    def block(self, rows: slice) -> NDArray[np.bool_] | None:
        """Mark the candidates of some samples; None where all items are."""
        marks: NDArray[np.bool_] | None = None
        if self.exclude is not None:
            marks = np.asarray(self.exclude[rows].toarray() == 0)
        if self.sampled is not None:
            only = np.asarray(self.sampled[rows].toarray() != 0)
            marks = only if marks is None else marks & only
        return marks

    def holds(self, rows: NDArray[Any], items: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark the pairs (sample, item) in which the item is a candidate of the sample."""
        marks = np.ones(len(rows), dtype=np.bool_)
        if self.exclude is not None:
            marks &= ~_marked(self.exclude, rows, items)
        if self.sampled is not None:
            marks &= _marked(self.sampled, rows, items)
        return marks

    def counts(self, n_samples: int, n_items: int) -> NDArray[np.int64]:
        """Count the candidates of every sample."""
        if self.sampled is None:
            excluded = 0 if self.exclude is None else np.diff(self.exclude.indptr)
            return np.asarray(np.full(n_samples, n_items) - excluded, dtype=np.int64)
        if self.exclude is None:
            return np.asarray(np.diff(self.sampled.indptr), dtype=np.int64)
        both = sparse.csr_array(self.sampled.multiply(self.exclude))
        return np.asarray(np.diff(self.sampled.indptr) - both.count_nonzero(axis=1), dtype=np.int64)


def _marked(matrix: sparse.csr_array, rows: NDArray[Any], items: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the pairs that the matrix marks; its indices are sorted, so the places of all marks rise."""
    width = matrix.shape[1]
    marks = (
        np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr)) * width
        + matrix.indices
    )
    wanted = rows.astype(np.int64) * width + items
    place = np.minimum(np.searchsorted(marks, wanted), max(len(marks) - 1, 0))
    return (
        np.asarray(marks[place] == wanted) if len(marks) else np.zeros(len(wanted), dtype=np.bool_)
    )


def read_mask(mask: Any, name: str) -> sparse.csr_array | None:
    """Return a mask as a sparse matrix of ones, or say why it is not one; counts mark an item as True does.

    Examples
    --------
    >>> read_mask([[True, False]], "exclude").toarray()
    array([[1, 0]], dtype=int8)
    """
    if mask is None:
        return None
    what = f"{name} must be a matrix of samples x items that marks items, by anything but 0"
    given: Any = mask if sparse.issparse(mask) else as_rows(mask, name)
    if not sparse.issparse(given):
        try:
            given = np.asarray(given)
        except ValueError as error:
            raise InputError(f"{what}; its rows have different lengths") from error
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise InputError(f"{what}; it has the shape {given.shape} and holds {given.dtype} values")
    matrix = sparse.csr_array(given)
    # A copy, because taking out zeros writes into the arrays of the caller's matrix.
    matrix = matrix.copy() if sparse.issparse(mask) else matrix
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if matrix.data.dtype.kind == "f" and np.isnan(matrix.data).any():
        raise InputError(f"{what}; it holds NaN")
    return sparse.csr_array(
        (np.ones(matrix.nnz, np.int8), matrix.indices, matrix.indptr), shape=matrix.shape
    )


def read_candidates(exclude: Any, sampled: Any) -> Candidates:
    """Read both masks; their shapes are looked at when the number of samples and items is known."""
    return Candidates(read_mask(exclude, "exclude"), read_mask(sampled, "sampled"))


def check_shape(candidates: Candidates, n_samples: int, n_items: int) -> None:
    """Refuse a mask of another shape than the scores."""
    for name, mask in (("exclude", candidates.exclude), ("sampled", candidates.sampled)):
        if mask is not None and mask.shape != (n_samples, n_items):
            raise InputError(f"{name} has the shape {mask.shape}, {(n_samples, n_items)} is needed")


def keep_candidates(
    padded: NDArray[np.int64], candidates: Candidates, n_items: int, places: int
) -> NDArray[np.int64]:
    """Take out of lists what is not a candidate, as if it had never been ranked.

    A list says nothing about what would have followed its end. So the first places are known only
    where enough candidates stand in it, or all that there are; another list is refused.

    Parameters
    ----------
    padded : ndarray of shape (n_samples, length)
        Item ids, -1 after the end of a list.
    candidates : Candidates
        Their masks.
    n_items, places : int
        How many items there are, and how many places are asked for.

    Returns
    -------
    ndarray of int64
        The lists without them.

    Examples
    --------
    >>> masks = Candidates(exclude=sparse.csr_array(np.array([[0, 1, 0]])))
    >>> keep_candidates(np.array([[1, 2, 0]]), masks, 3, 2)
    array([[ 2,  0, -1]])
    """
    rows, columns = np.nonzero(padded >= 0)
    kept = np.zeros(padded.shape, dtype=np.bool_)
    kept[rows, columns] = candidates.holds(rows, padded[rows, columns])
    lengths, there = kept.sum(axis=1), candidates.counts(len(padded), n_items)
    short = lengths < np.minimum(places, there)
    if short.any():
        row = int(np.argmax(short))
        raise InputError(
            f"list of sample {row} has {int(lengths[row])} candidate(s) left of {int(there[row])},"
            f" K = {places} is asked for, and a list does not say what would come next: give longer"
            " lists, or the scores"
        )
    # Stable: what is kept moves to the front in its order, what is not behind it.
    order = np.argsort(~kept, axis=1, kind="stable")
    moved = np.take_along_axis(np.where(kept, padded, -1), order, axis=1)
    return np.asarray(moved, dtype=np.int64)
