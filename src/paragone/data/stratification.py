"""Iterative stratification of multi-label data, first and second order, seeded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import InputError
from paragone.validation import FloatArray, IntArray, check_indicator


def iterative_stratification(
    Y: ArrayLike, proportions: Sequence[float], rng: np.random.Generator, *, order: int = 1
) -> IntArray:
    """Deal rows to folds so that every label (and every pair of labels) is spread in proportion.

    Sechidis, Tsoumakas and Vlahavas (2011), "On the stratification of multi-label data"; the second
    order is that of Szymanski and Kajdanowicz (2017), "A network perspective on stratification of
    multi-label data".

    The rows are put in a random order. Then, as long as rows with labels are left: the label with
    the fewest remaining rows is taken (ties: the lowest index), and each of those rows, in the
    random order, goes to the fold that still wants most of this label; ties go to the fold that
    wants most rows, further ties are drawn. With ``order=2`` pairs of labels that occur together
    stand beside the labels, and come before them at equal counts. Rows without labels go to the
    fold that wants most rows. A fold's size can miss its share by a few rows where labels overlap:
    proportions of labels come first, as in the paper.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_labels)
        Labels coded 0/1 or -1/+1.
    proportions : sequence of float
        The share of each fold, positive; they are normalised to sum to 1.
    rng : numpy.random.Generator
        The only source of randomness: the same state gives the same folds on every machine.
    order : {1, 2}, default=1
        Whether to balance labels, or labels and pairs of labels.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        The fold of every row.

    Examples
    --------
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> folds = iterative_stratification(Y, [0.5, 0.5], np.random.default_rng(0))
    >>> sorted(folds[:2].tolist()), sorted(folds[2:].tolist())
    ([0, 1], [0, 1])
    """
    from paragone.data.stratification_kernel import deal

    labels = check_indicator(Y)
    shares = _shares(proportions)
    if order not in (1, 2):
        raise InputError(f"the order of stratification must be 1 or 2, it is {order}")
    n_samples = labels.shape[0]
    permutation = rng.permutation(n_samples)
    draws: FloatArray = rng.random((n_samples,))
    item_start, items, n_items = _items(labels[permutation], order)
    row_start, rows = _transpose(item_start, items, n_items)
    counts = np.diff(row_start)
    wanted_items = counts[:, None] * shares[None, :]
    wanted_rows: FloatArray = n_samples * shares
    dealt = deal(item_start, items, row_start, rows, wanted_items, wanted_rows, draws)
    folds = np.empty(n_samples, dtype=np.int64)
    folds[permutation] = dealt
    return folds


def _shares(proportions: Sequence[float]) -> FloatArray:
    shares = np.asarray(proportions, dtype=np.float64)
    if shares.ndim != 1 or len(shares) < 2 or not (np.isfinite(shares) & (shares > 0)).all():
        raise InputError("proportions must be two or more positive numbers, one per fold")
    normalised: FloatArray = shares / shares.sum()
    return normalised


def _items(Y: Any, order: int) -> tuple[IntArray, IntArray, int]:
    """List what is to be balanced, row by row (CSR): pairs of labels where wanted, then the labels."""
    n_samples, n_labels = Y.shape
    row_of, label_of = np.nonzero(Y)
    start = np.zeros(n_samples + 1, dtype=np.int64)
    np.cumsum(np.bincount(row_of, minlength=n_samples), out=start[1:])
    if order == 1:
        return start, label_of.astype(np.int64), n_labels
    from paragone.data.stratification_kernel import pairs_of_rows

    pair_start, keys = pairs_of_rows(start, label_of.astype(np.int64), n_labels)
    known, pairs = np.unique(keys, return_inverse=True)
    pair_rows = np.repeat(np.arange(n_samples), np.diff(pair_start))
    rows = np.concatenate([pair_rows, row_of])
    items = np.concatenate([pairs, label_of + len(known)])
    both = np.argsort(rows, kind="stable")
    return start + pair_start, items[both].astype(np.int64), len(known) + n_labels


def _transpose(item_start: IntArray, items: IntArray, n_items: int) -> tuple[IntArray, IntArray]:
    """From the items of each row to the rows of each item, rows in rising order."""
    rows = np.repeat(np.arange(len(item_start) - 1), np.diff(item_start))
    start = np.zeros(n_items + 1, dtype=np.int64)
    np.cumsum(np.bincount(items, minlength=n_items), out=start[1:])
    return start, rows[np.argsort(items, kind="stable")].astype(np.int64)
