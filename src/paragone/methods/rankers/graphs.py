"""Graphs and groups that published rankers share: of labels, of samples and of equal columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.validation import FloatArray, IntArray


def cosine_similarity(Y: FloatArray) -> FloatArray:
    """Return the cosine of every two label columns; a label without positives is like none, itself included.

    Examples
    --------
    >>> import numpy as np
    >>> cosine_similarity(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])).round(3)
    array([[1.   , 0.707, 0.   ],
           [0.707, 1.   , 0.   ],
           [0.   , 0.   , 0.   ]])
    """
    together = Y.T @ Y
    positives = np.diagonal(together).copy()
    scale = np.sqrt(np.outer(positives, positives))
    similarity: FloatArray = np.divide(
        together, scale, out=np.zeros_like(together), where=scale > 0
    )
    return similarity


def cosine_distance(Y: FloatArray) -> FloatArray:
    """Return one minus the cosine; a label without positives is at distance 0 of all, as published codes do.

    Examples
    --------
    >>> import numpy as np
    >>> cosine_distance(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    distance = 1.0 - cosine_similarity(Y)
    bare = ~Y.any(axis=0)
    distance[bare], distance[:, bare] = 0.0, 0.0
    return distance


def first_equal_label(Y: FloatArray) -> IntArray:
    """Return for every label the first one with the same column: itself, unless an earlier one coincides with it.

    Examples
    --------
    >>> import numpy as np
    >>> first_equal_label(np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    array([0, 1, 0])
    """
    _, first, group = np.unique(Y, axis=1, return_index=True, return_inverse=True)
    return first[group.ravel()].astype(np.int64)


def neighbour_laplacian(Y: FloatArray) -> FloatArray:
    """Return the Laplacian of the labels' graph as the authors of LSMFS build it, each label joined to all others.

    Their program sorts the labels by distance and leaves out the nearest, taking it for the label
    itself. Where an earlier label coincides with it, the nearest is that one: its edge is lost in
    one of the two directions, so that half of it is left in the mean of both, and the loop to
    itself that stays has no part in a Laplacian.

    Examples
    --------
    >>> import numpy as np
    >>> neighbour_laplacian(np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    array([[ 1.5, -1. , -0.5],
           [-1. ,  2. , -1. ],
           [-0.5, -1. ,  1.5]])
    """
    n_labels = Y.shape[1]
    weights = np.ones((n_labels, n_labels))
    for label, first in enumerate(first_equal_label(Y)):
        if first != label:
            weights[label, first] = weights[first, label] = 0.5
    np.fill_diagonal(weights, 0.0)
    laplacian: FloatArray = np.diag(weights.sum(axis=1)) - weights
    return laplacian


BLOCK = 512


def squared_distances(gram: FloatArray) -> FloatArray:
    """Return the squared distances of points from their inner products.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0], [1.0], [3.0]])
    >>> squared_distances(points @ points.T)
    array([[0., 1., 9.],
           [1., 0., 4.],
           [9., 4., 0.]])
    """
    squares = np.diagonal(gram)
    distances: FloatArray = squares[:, None] + squares
    distances -= 2 * gram
    np.maximum(distances, 0.0, out=distances)
    np.fill_diagonal(distances, 0.0)
    return distances


def heat_graph(distances: FloatArray, k: int) -> FloatArray:
    """Connect every point with its ``k`` nearest and itself, by exp(−distance²/2), and make it symmetric.

    The ``k + 1`` first of a stable sort are taken, the point itself at distance 0 among them: ties
    go to the lower index. ``distances`` are squared. The result is dense.

    Examples
    --------
    >>> import numpy as np
    >>> heat_graph(np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]]), 1).round(2)
    array([[1.  , 0.61, 0.  ],
           [0.61, 1.  , 0.14],
           [0.  , 0.14, 1.  ]])
    """
    chosen = nearest(distances, min(k + 1, distances.shape[1]))
    weights = np.zeros_like(distances)
    weights[chosen] = np.exp(distances[chosen] * -0.5)
    return np.maximum(weights, weights.T)


def sample_graph(points: FloatArray, k: int) -> Any:
    """Return the heat graph of the rows of ``points`` as a sparse matrix, without all their distances at once.

    Examples
    --------
    >>> import numpy as np
    >>> sample_graph(np.array([[0.0], [1.0], [3.0]]), 1).toarray().round(2)
    array([[1.  , 0.61, 0.  ],
           [0.61, 1.  , 0.14],
           [0.  , 0.14, 1.  ]])
    """
    n = points.shape[0]
    squares: FloatArray = np.einsum("ij,ij->i", points, points)
    rows, columns, weights = [], [], []
    for first in range(0, n, BLOCK):
        block = slice(first, min(first + BLOCK, n))
        distances = points[block] @ points.T
        distances *= -2.0
        distances += squares
        distances += squares[block, None]
        np.maximum(distances, 0.0, out=distances)
        np.fill_diagonal(distances[:, block], 0.0)
        row, column = np.nonzero(nearest(distances, min(k + 1, n)))
        rows.append(row + first)
        columns.append(column)
        weights.append(np.exp(distances[row, column] * -0.5))
    where = np.concatenate(rows), np.concatenate(columns)
    graph = sparse.csr_array((np.concatenate(weights), where), shape=(n, n))
    return graph.maximum(graph.T.tocsr())


def nearest(distances: FloatArray, count: int) -> NDArray[np.bool_]:
    """Mark the ``count`` smallest of every row, ties to the lower index, without sorting.

    Examples
    --------
    >>> import numpy as np
    >>> nearest(np.array([[2.0, 1.0, 2.0]]), 2)
    array([[ True,  True, False]])
    """
    last = np.partition(distances, count - 1, axis=1)[:, count - 1 : count]
    chosen: NDArray[np.bool_] = distances <= last
    crowded = np.flatnonzero(chosen.sum(axis=1) > count)
    if crowded.size:
        below = distances[crowded] < last[crowded]
        tied = chosen[crowded] & ~below
        missing = count - below.sum(axis=1, keepdims=True)
        chosen[crowded] = below | (tied & (np.cumsum(tied, axis=1, dtype=np.int32) <= missing))
    return chosen


@dataclass(frozen=True)
class Distinct:
    """The first of each group of equal columns, the group of every column and the root of each group's size.

    A method that is symmetric in its columns gives equal columns equal weights. In terms of the
    weights times the root of the group's size, its sums over all columns become sums over groups.
    """

    first: IntArray
    group: IntArray
    roots: FloatArray


def distinct_columns(X: FloatArray) -> Distinct:
    """Find the groups of equal columns, in the order in which they first appear.

    Examples
    --------
    >>> import numpy as np
    >>> found = distinct_columns(np.array([[1.0, 2.0, 1.0], [0.0, 0.0, 0.0]]))
    >>> found.first, found.group
    (array([0, 1]), array([0, 1, 0]))
    """
    seen: dict[bytes, int] = {}
    columns = np.ascontiguousarray(X.T) + 0.0  # so that -0.0 and 0.0 have the same bytes
    group = np.array(
        [seen.setdefault(column.tobytes(), len(seen)) for column in columns], dtype=np.int64
    )
    first = np.unique(group, return_index=True)[1].astype(np.int64)
    return Distinct(first, group, np.sqrt(np.bincount(group).astype(np.float64)))
