"""Equal columns: where nothing is random they share one weight, so each is worked out once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paragone.validation import FloatArray, IntArray


@dataclass(frozen=True)
class Distinct:
    """The first of each group of equal columns, the group of every column and the root of each group's size.

    A method that is symmetric in its columns gives equal columns equal weights. In terms of the weights
    times the root of the group's size, its sums over all columns become sums over groups.
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
    group = np.array([seen.setdefault(column.tobytes(), len(seen)) for column in columns], dtype=np.int64)
    first = np.unique(group, return_index=True)[1].astype(np.int64)
    return Distinct(first, group, np.sqrt(np.bincount(group).astype(np.float64)))
