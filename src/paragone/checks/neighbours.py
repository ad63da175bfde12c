"""Neighbours: the nearest rows of a row, and the dimension that rows lie in."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from paragone.checks.arrays import dense
from paragone.validation import FloatArray, IntArray

FEWEST = 10
TRIMMED = 0.9
BLOCK_VALUES = 1 << 24


def intrinsic_dimension(rows: FloatArray) -> float:
    """Estimate the dimension that rows lie in, from the ratio of their first two neighbours' distances.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Scaled features.

    Returns
    -------
    float
        NaN where fewer than ten rows have two neighbours at different, positive distances.

    Examples
    --------
    >>> plane = np.random.default_rng(0).random((500, 2)) @ np.random.default_rng(1).random((2, 30))
    >>> 1.6 < intrinsic_dimension(plane) < 2.4
    True
    """
    distances, _ = neighbours(rows, rows, 3)
    # The first neighbour of a row is the row itself; a twin would be too, and is looked past.
    first, second = distances[:, 1], distances[:, 2]
    there = first > 0
    logs = np.sort(np.log(second[there] / first[there]))
    if len(logs) < FEWEST or logs[-1] == 0:
        return float("nan")
    kept = logs[: int(TRIMMED * len(logs))]
    expected = -np.log(1.0 - np.arange(len(kept)) / len(logs))
    return float(kept @ expected / (kept @ kept)) if kept.any() else float("nan")


def neighbours(queries: Any, base: Any, count: int) -> tuple[FloatArray, IntArray]:
    """Return the distances and places of every query's nearest base rows, the nearest first.

    Matrix products in blocks find the candidates; their distances are then computed from the
    differences, so that close rows are told apart as far as their numbers are.

    Examples
    --------
    >>> distances, places = neighbours(np.array([[0.0]]), np.array([[3.0], [1.0], [2.0]]), 2)
    >>> distances.tolist(), places.tolist()
    ([[1.0, 2.0]], [[1, 2]])
    """
    n_base = base.shape[0]
    squares = _squares(base)
    rows_per_block = max(1, BLOCK_VALUES // n_base)
    distances = np.empty((queries.shape[0], count))
    places = np.empty((queries.shape[0], count), dtype=np.int64)
    for begin in range(0, queries.shape[0], rows_per_block):
        block = queries[begin : begin + rows_per_block]
        away = squares[None, :] - 2.0 * dense(block @ base.T)
        near = np.broadcast_to(np.arange(n_base), away.shape)
        if count < n_base:
            near = np.argpartition(away, count - 1, axis=1)[:, :count]
        exact = _distances(block, base, near)
        order = np.argsort(exact, axis=1, kind="stable")
        distances[begin : begin + len(near)] = np.take_along_axis(exact, order, axis=1)
        places[begin : begin + len(near)] = np.take_along_axis(near, order, axis=1)
    return distances, places


def _squares(rows: Any) -> FloatArray:
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def _distances(queries: Any, base: Any, places: IntArray) -> FloatArray:
    """Return the distance of every query to its own candidates, from the differences."""
    if sparse.issparse(base):
        rows = [(queries[[row]].toarray(), base[near].toarray()) for row, near in enumerate(places)]
        return np.stack(
            [np.sqrt(np.einsum("ij,ij->i", near - one, near - one)) for one, near in rows]
        )
    found = np.empty(places.shape)
    step = max(1, BLOCK_VALUES // 16 // (places.shape[1] * base.shape[1]))
    for begin in range(0, len(places), step):
        difference = base[places[begin : begin + step]] - queries[begin : begin + step, None]
        found[begin : begin + step] = np.sqrt(np.einsum("ijk,ijk->ij", difference, difference))
    return found
