"""How alike labels are: the cosine of their columns."""

from __future__ import annotations

import numpy as np

from paragone.validation import FloatArray


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
