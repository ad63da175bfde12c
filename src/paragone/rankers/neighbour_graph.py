"""Nearest-neighbour graphs with heat-kernel weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.validation import FloatArray

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

    The ``k + 1`` first of a stable sort are taken, the point itself at distance 0 among them: ties go to the
    lower index. ``distances`` are squared. The result is dense.

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
