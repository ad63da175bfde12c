"""How alike labels are: the cosine of their columns, and the graph of their neighbours."""

from __future__ import annotations

import numpy as np

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
    similarity: FloatArray = np.divide(together, scale, out=np.zeros_like(together), where=scale > 0)
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

    Their program sorts the labels by distance and leaves out the nearest, taking it for the label itself. Where an
    earlier label coincides with it, the nearest is that one: its edge is lost in one of the two directions, so
    that half of it is left in the mean of both, and the loop to itself that stays has no part in a Laplacian.

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
