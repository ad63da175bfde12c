"""The assignment problem, small and compiled: which relevant item takes which place of a tied group."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def cheapest_assignment(cost: Any) -> float:
    """Return the least total cost of giving every row a column of its own.

    Shortest augmenting paths with potentials (Kuhn 1955, Jonker and Volgenant 1987), O(rows^2 x columns).
    ``cost`` has at least as many columns as rows.

    Examples
    --------
    >>> import numpy as np
    >>> cheapest_assignment(np.array([[1.0, 2.0], [1.0, 5.0]]))
    3.0
    """
    n_rows, n_columns = cost.shape
    row_price = np.zeros(n_rows + 1)
    column_price = np.zeros(n_columns + 1)
    owner = np.zeros(n_columns + 1, np.int64)
    came_from = np.zeros(n_columns + 1, np.int64)
    for row in range(1, n_rows + 1):
        owner[0] = row
        column = 0
        slack = np.full(n_columns + 1, np.inf)
        visited = np.zeros(n_columns + 1, np.bool_)
        while owner[column] != 0:
            visited[column] = True
            current = owner[column]
            step = np.inf
            nearest = 0
            for other in range(1, n_columns + 1):
                if visited[other]:
                    continue
                reduced = cost[current - 1, other - 1] - row_price[current] - column_price[other]
                if reduced < slack[other]:
                    slack[other] = reduced
                    came_from[other] = column
                if slack[other] < step:
                    step = slack[other]
                    nearest = other
            for other in range(n_columns + 1):
                if visited[other]:
                    row_price[owner[other]] += step
                    column_price[other] -= step
                else:
                    slack[other] -= step
            column = nearest
        while column != 0:
            owner[column] = owner[came_from[column]]
            column = came_from[column]
    total = 0.0
    for column in range(1, n_columns + 1):
        if owner[column] != 0:
            total += cost[owner[column] - 1, column - 1]
    return total
