"""Tests of all methods at once by permutation within datasets: exact where the table is small, seeded beyond.

If the methods do not differ, every order of a dataset's values among the methods is as likely as
the one that is there. A statistic of the column sums is then compared with its value over all such
tables, or over many of them drawn at random. Since the methods are exchangeable, only the sorted
column sums matter, and tables that share them are counted together, one dataset after the other: 14
datasets with 4 methods have 2e19 tables but 3,000 sorted column sums.
"""

from __future__ import annotations

from itertools import permutations
from typing import Literal

import numpy as np
from scipy.special import gammaln

from paragone.ties import IntArray

Kind = Literal["exact", "permutation", "approximate"]
"""How a p came about."""

MOST_STEPS = 1_000_000
"""Sums that are worked out before counting is given up: a tenth of a second."""

MOST_ROWS = {2: 500, 3: 80, 4: 22, 5: 8, 6: 3, 7: 2, 8: 2}
"""Rows, by the number of columns, beyond which untied ranks have more different sums than that."""

N_PERMUTATIONS = 100_000
"""Random tables where counting takes too long: the standard error of a p near .05 is .0007."""

MOST_PERMUTED = 300
"""Values up to which a table is permuted at random: a quarter of a second."""

CHUNK = 2_000_000
"""Permuted values held at once (16 MB)."""


def exact_spread_p(values: IntArray) -> float | None:
    """Return the chance, over all orders within rows, of column sums with at least the observed sum of squares.

    Parameters
    ----------
    values : ndarray of int of shape (n_rows, n_columns)
        What is permuted within rows, such as doubled ranks.

    Returns
    -------
    float or None
        None where there are too many different sums to count.

    Examples
    --------
    >>> exact_spread_p(np.array([[2, 4], [2, 4]]))
    0.5
    """
    n_rows, n_columns = values.shape
    if (values == values[0]).all():
        # Full agreement is the one largest sum of squares: every row after the first must be in
        # that order.
        ties = gammaln(np.unique(values[0], return_counts=True)[1] + 1.0).sum()
        return float(
            max(np.exp((1 - n_rows) * (gammaln(n_columns + 1.0) - ties)), np.finfo(np.float64).tiny)
        )
    if n_rows > MOST_ROWS.get(n_columns, 1):
        return None
    # The order of the first row does not matter: the columns may be named after it.
    patterns = [tuple(sorted(row)) for row in values.tolist()]
    sums, chances = np.array([patterns[0]], dtype=np.int64), np.ones(1, dtype=np.float64)
    orders: dict[tuple[int, ...], IntArray] = {}
    steps = 0
    for pattern in patterns[1:]:
        if pattern not in orders:
            orders[pattern] = np.array(list(set(permutations(pattern))), dtype=np.int64)
        steps += len(sums) * len(orders[pattern])
        if steps > MOST_STEPS:
            return None
        new = np.sort((sums[:, None, :] + orders[pattern][None]).reshape(-1, n_columns), axis=1)
        weights = np.repeat(chances / len(orders[pattern]), len(orders[pattern]))
        # One number for each row of sums, in a base that no sum reaches.
        low, base = int(new.min()), int(np.ptp(new)) + 1
        if n_columns * np.log2(base) > 62:
            return None
        keys = (new - low) @ (base ** np.arange(n_columns, dtype=np.int64))
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        sums, chances = (
            new[first],
            np.asarray(np.bincount(inverse, weights=weights), dtype=np.float64),
        )
    return float(
        min(1.0, chances[np.square(sums).sum(axis=1) >= np.square(values.sum(axis=0)).sum()].sum())
    )


def random_spread_p(values: IntArray, seed: int = 0) -> float:
    """Return the same chance over random orders, the observed one among them, so that it is never 0.

    Examples
    --------
    >>> abs(random_spread_p(np.array([[2, 4], [2, 4]])) - 0.5) < 0.01
    True
    """
    generator = np.random.default_rng(seed)
    observed, reached = np.square(values.sum(axis=0)).sum(), 1
    step = max(1, CHUNK // values.size)
    for start in range(0, N_PERMUTATIONS, step):
        tables = np.broadcast_to(values, (min(step, N_PERMUTATIONS - start), *values.shape))
        sums = generator.permuted(tables, axis=2).sum(axis=1)
        reached += int((np.square(sums).sum(axis=1) >= observed).sum())
    return reached / (N_PERMUTATIONS + 1)


def spread_p(values: IntArray) -> tuple[float, Kind] | None:
    """Return the chance by counting or from random orders, and which; None where the table is large enough for neither.

    Fewer than 20 rows whose sums are too many to count are permuted at random. The F approximation
    of Friedman's test had a size of .048 to .056 there at a nominal .05, and is left alone for
    more.

    Examples
    --------
    >>> spread_p(np.array([[2, 4, 6], [2, 4, 6], [2, 6, 4]]))
    (0.1944..., 'exact')
    """
    if (exact := exact_spread_p(values)) is not None:
        return exact, "exact"
    if len(values) < 20 and values.size <= MOST_PERMUTED:
        return random_spread_p(values), "permutation"
    return None
