"""Exact nearest neighbours along a growing set of features, compiled.

Distances are sums of squared differences, added feature by feature in the order given. Equal rows are
therefore at distance exactly 0, integer and binary features tie exactly, and nothing needs clipping, which
the expanded form ``|a|^2 + |b|^2 - 2ab`` cannot promise. Rows are worked through in small blocks whose
distances stay in the processor's cache for the whole grid: no n x n matrix is ever built.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paragone.validation import FloatArray, IntArray

ROW_BLOCK = 8
"""Query rows worked on together: they share the training rows in the cache."""
TILE = 256
"""Training rows worked on together: five features of them fit into the innermost cache."""
CHUNK = 32
"""Distances that are passed over together when even the smallest is too large."""


@njit(cache=True)
def grow_distances(
    queries: FloatArray, base: FloatArray, begin: int, end: int, first: int, distances: FloatArray
) -> None:
    """Add features ``begin .. end`` to the squared distances of a block of query rows, in place.

    ``queries`` is samples x features, ``base`` features x samples, so that the inner loop runs along memory.
    The features are taken five at a time to keep the running sum in a register; the order of the additions
    is that of the features.
    """
    n_rows, n_base = distances.shape
    for start in range(0, n_base, TILE):
        stop = min(start + TILE, n_base)
        for r in range(n_rows):
            row = distances[r, start:stop]
            query = queries[first + r]
            f = begin
            while f + 5 <= end:
                q0, q1, q2, q3, q4 = query[f], query[f + 1], query[f + 2], query[f + 3], query[f + 4]
                b0, b1, b2 = base[f, start:stop], base[f + 1, start:stop], base[f + 2, start:stop]
                b3, b4 = base[f + 3, start:stop], base[f + 4, start:stop]
                for j in range(len(row)):
                    total = row[j]
                    difference = q0 - b0[j]
                    total += difference * difference
                    difference = q1 - b1[j]
                    total += difference * difference
                    difference = q2 - b2[j]
                    total += difference * difference
                    difference = q3 - b3[j]
                    total += difference * difference
                    difference = q4 - b4[j]
                    total += difference * difference
                    row[j] = total
                f += 5
            while f < end:
                q0 = query[f]
                b0 = base[f, start:stop]
                for j in range(len(row)):
                    difference = q0 - b0[j]
                    row[j] += difference * difference
                f += 1


# Distances are never NaN nor -0, and only under that promise does the minimum vectorise.
@njit(cache=True, fastmath={"nnan", "nsz"})
def chunk_minima(distances: FloatArray, minima: FloatArray) -> None:
    """Write the smallest distance of every chunk."""
    full = len(distances) // CHUNK
    for chunk in range(full):
        smallest = distances[chunk * CHUNK]
        for i in range(1, CHUNK):
            value = distances[chunk * CHUNK + i]
            smallest = value if value < smallest else smallest
        minima[chunk] = smallest
    if full * CHUNK < len(distances):
        smallest = distances[full * CHUNK]
        for j in range(full * CHUNK, len(distances)):
            value = distances[j]
            smallest = value if value < smallest else smallest
        minima[full] = smallest


@njit(cache=True)
def select_nearest(
    distances: FloatArray, minima: FloatArray, bound: float, neighbors: IntArray, nearest: FloatArray
) -> None:
    """Write the indices of the smallest distances into ``neighbors``, ties to the lower index.

    ``bound`` must be at least the largest distance selected: only smaller or equal ones are looked at. It
    comes from the neighbours of the point before on the grid, whose distances can only have grown.
    ``minima`` and ``nearest`` are room to work in.
    """
    chunk_minima(distances, minima)
    count = len(neighbors)
    size = len(distances)
    filled = 0
    limit = np.nextafter(bound, np.inf)
    for chunk in range(len(minima)):
        if minima[chunk] >= limit:
            continue
        for j in range(chunk * CHUNK, min((chunk + 1) * CHUNK, size)):
            value = distances[j]
            if value >= limit:
                continue
            place = filled if filled < count else count - 1
            while place > 0 and nearest[place - 1] > value:
                nearest[place] = nearest[place - 1]
                neighbors[place] = neighbors[place - 1]
                place -= 1
            nearest[place] = value
            neighbors[place] = j
            if filled < count:
                filled += 1
            if filled == count:
                limit = nearest[count - 1]


@njit(cache=True)
def neighbor_label_counts(
    queries: FloatArray,
    base: FloatArray,
    base_labels: NDArray[np.uint8],
    grid: IntArray,
    n_neighbors: int,
    same: bool,
) -> NDArray[np.uint8]:
    """Count each label among the nearest neighbours of every query at every grid point.

    Parameters
    ----------
    queries : ndarray of shape (n_queries, n_features)
        Rows whose neighbours are wanted, features in ranked order.
    base : ndarray of shape (n_features, n_base)
        The training rows, transposed, features in ranked order.
    base_labels : ndarray of uint8 of shape (n_base, n_labels)
        Labels of the training rows, 0/1.
    grid : ndarray of int64
        Rising numbers of features; the first ``grid[g]`` count at point ``g``.
    n_neighbors : int
        How many neighbours; at most 255.
    same : bool
        Whether the queries are the training rows themselves: a row is then never its own neighbour.

    Returns
    -------
    ndarray of uint8 of shape (n_points, n_queries, n_labels)
        The counts.
    """
    n_queries = queries.shape[0]
    n_base = base.shape[1]
    n_labels = base_labels.shape[1]
    n_points = len(grid)
    counts = np.zeros((n_points, n_queries, n_labels), dtype=np.uint8)
    block = np.empty((ROW_BLOCK, n_base))
    neighbors = np.empty((ROW_BLOCK, n_neighbors), dtype=np.int64)
    nearest = np.empty(n_neighbors)
    minima = np.empty((n_base + CHUNK - 1) // CHUNK)
    for first in range(0, n_queries, ROW_BLOCK):
        rows = min(ROW_BLOCK, n_queries - first)
        distances = block[:rows]
        distances[:] = 0.0
        if same:
            for r in range(rows):
                distances[r, first + r] = np.inf
        begin = 0
        for g in range(n_points):
            grow_distances(queries, base, begin, grid[g], first, distances)
            begin = grid[g]
            for r in range(rows):
                bound = np.inf
                if g > 0:
                    bound = 0.0
                    for t in range(n_neighbors):
                        bound = max(bound, distances[r, neighbors[r, t]])
                select_nearest(distances[r], minima, bound, neighbors[r], nearest)
                for t in range(n_neighbors):
                    labels = base_labels[neighbors[r, t]]
                    for label in range(n_labels):
                        counts[g, first + r, label] += labels[label]
    return counts


@njit(cache=True)
def count_histograms(
    counts: NDArray[np.uint8], labels: NDArray[np.uint8], n_neighbors: int
) -> tuple[IntArray, IntArray]:
    """Histogram the counts of training rows, apart for positives and negatives of each label.

    Returns two arrays of shape (n_points, n_labels, n_neighbors + 1).
    """
    n_points, n_samples, n_labels = counts.shape
    positive = np.zeros((n_points, n_labels, n_neighbors + 1), dtype=np.int64)
    negative = np.zeros((n_points, n_labels, n_neighbors + 1), dtype=np.int64)
    for g in range(n_points):
        for i in range(n_samples):
            for label in range(n_labels):
                if labels[i, label]:
                    positive[g, label, counts[g, i, label]] += 1
                else:
                    negative[g, label, counts[g, i, label]] += 1
    return positive, negative
