"""PG104: replicates that stand one after the other in the file, without anybody saying so.

Files have periods of many kinds: weekdays, doses in turn, the settings of a design in their usual
order. What a row's place in the period tells is therefore taken out first, and so are the columns
of a design. What is left must be nearer within every step of a set than across its border, and rows
must have their nearest row in their own set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paragone.checks.arrays import codes_of, dense, drawn, means_within, union, without_gaps
from paragone.checks.finding import Ledger
from paragone.checks.material import Material
from paragone.checks.neighbours import neighbours
from paragone.checks.registry import check
from paragone.checks.words import agree, share
from paragone.data import Dataset
from paragone.validation import FloatArray

LARGEST_SET = 12
LEVEL = 1e-6
FEWEST_BORDERS = 8
MOST_COLUMNS = 128
MOST_ASKED = 500
MOST_ROWS = 27_720
"""Every size of a set divides it."""
OWN_SHARE = 5.0
"""How many times as often as chance has it the nearest row must be of the own set."""
SAME = 1e-9


@dataclass(frozen=True)
class Replication:
    """Sets of ``size`` consecutive rows that are nearer to each other than to the next set."""

    size: int
    p: float
    inside: float
    across: float


def replication(X: FloatArray) -> Replication | None:
    """Look for replicates that stand one after the other in the file; None where there are none.

    For every r from 2 to 12 that divides the number of rows, rows are thought of as sets of r. What
    first rows of sets have in common is taken from them, from second rows likewise, and so on.
    Distances (features in units of their deviation) between neighbours in the file are then taken
    apart: every step within a set must be shorter than the step across its border by a one-sided
    Mann-Whitney test, at 1e-6 over all r, and so must the way from its first row to its last; and
    rows must have their nearest row in their own set five times as often as chance has it. Of those
    r the one with the least p counts. Rows that are merely sorted, by time or by class, do not
    differ there, nor do rows with a season.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> samples = rng.random((40, 5))
    >>> replication(np.repeat(samples, 3, axis=0) + 0.01 * rng.random((120, 5))).size
    3
    >>> replication(rng.random((120, 5))) is None
    True
    """
    n_rows = len(X)
    sizes = [
        r for r in range(2, LARGEST_SET + 1) if n_rows % r == 0 and n_rows // r > FEWEST_BORDERS
    ]
    best: Replication | None = None
    for size in sizes:
        left = _without_period(X, size)
        found = _nearer_inside(left, len(sizes))
        better = found is not None and (best is None or found.p < best.p)
        if better and _own_share(left) >= OWN_SHARE:
            best = found
    return best


def _without_design(X: FloatArray) -> FloatArray:
    """Return the columns that are not those of a design, which goes through the values of each in turn.

    In the usual order all columns of a design but the first repeat themselves exactly, and that one
    never falls.

    Examples
    --------
    >>> design = np.stack(np.meshgrid(np.arange(10.0), np.arange(4.0), np.arange(3.0), indexing="ij"), axis=-1)
    >>> _without_design(design.reshape(-1, 3)).shape
    (120, 0)
    """
    n_rows = len(X)
    in_turn = np.zeros(X.shape[1], dtype=bool)
    coarse = np.flatnonzero([2 <= len(np.unique(column)) <= n_rows // 2 for column in X.T])
    for period in (period for period in range(2, n_rows // 2 + 1) if n_rows % period == 0):
        asked = coarse[~in_turn[coarse]]
        asked = asked[(X[period : 2 * period, asked] == X[:period, asked]).all(axis=0)]
        in_sets = X[:, asked].reshape(n_rows // period, period, len(asked))
        in_turn[asked] = (in_sets == X[:period, asked]).all(axis=(0, 1))
    if not in_turn.any():
        return X
    steps = np.diff(X, axis=0)
    return X[:, ~in_turn & (steps < 0).any(axis=0) & (steps > 0).any(axis=0)]


def _without_period(X: FloatArray, size: int) -> FloatArray:
    """Return sets of rows without what their place in a set tells, columns in units of the deviation that is left.

    What a place tells is the median of its rows less the mean of a whole period around each of
    them: a trend, or a file that is sorted, tells nothing so.
    """
    n_rows = len(X)
    weights = np.full(size + 1 - size % 2, 1.0 / size)
    if size % 2 == 0:
        weights[[0, -1]] /= 2
    half = len(weights) // 2
    around = sum(weight * X[k : n_rows - 2 * half + k] for k, weight in enumerate(weights))
    apart = X[half : n_rows - half] - around
    first = -(-half // size) * size  # a whole set begins there
    whole = (n_rows - half - first) // size
    places = np.median(apart[first - half :][: whole * size].reshape(whole, size, -1), axis=0)
    left = X.reshape(-1, size, X.shape[1]) - places
    deviation = left.std(axis=(0, 1))
    used = deviation > SAME * np.abs(X).max(axis=0, initial=0.0)
    return np.asarray(left[:, :, used] / deviation[used])


def _nearer_inside(sets: FloatArray, n_sizes: int) -> Replication | None:
    """Say by how much every step within the sets is shorter than that across their borders; None where one is not."""
    from scipy.stats import mannwhitneyu

    n_sets, size, n_columns = sets.shape
    if n_columns == 0:
        return None
    rows = sets.reshape(-1, n_columns)
    away = np.linalg.norm(np.diff(rows, axis=0), axis=1)
    away = np.append(away, np.nan).reshape(n_sets, size)
    across, inside = away[:-1, -1], away[:, :-1]
    if np.median(inside) >= np.median(across):
        return None
    p = 0.0
    # Replicates stand in any order: the first and the last of a set are near each other too, points
    # of a path are not.
    ends = np.linalg.norm(sets[:, -1] - sets[:, 0], axis=1)
    for within in (ends, *inside.T):
        p = max(p, float(mannwhitneyu(within, across, alternative="less").pvalue) * n_sizes)
        if p > LEVEL:
            return None
    return Replication(size, p, float(np.median(inside)), float(np.median(across)))


def _own_share(sets: FloatArray) -> float:
    """Return how many times as often as by chance the nearest row is of a row's own set and no other's."""
    size = sets.shape[1]
    rows = sets.reshape(-1, sets.shape[2])
    asked = np.random.default_rng(0).permutation(len(rows))[:MOST_ASKED]
    # The row itself, all others of its set, and one more.
    distances, places = neighbours(rows[asked], rows, size + 1)
    own = places // size == (asked // size)[:, None]
    others = np.where(own, np.inf, distances).min(axis=1)
    mine = np.where(own & (places != asked[:, None]), distances, np.inf).min(axis=1)
    return float(np.mean(mine < others * (1 - SAME)) * (len(rows) - 1) / (size - 1))


def _measured(dataset: Dataset) -> FloatArray:
    """Return the features as dense numbers, gaps as means; of large data the first rows and some columns."""
    columns = drawn(np.arange(dataset.n_features), MOST_COLUMNS)
    return without_gaps(dense(dataset.numbers[:MOST_ROWS][:, columns]))


@check(
    "PG104",
    "error",
    "replicates of one sample on both sides of a split",
    "say replicates = R for the dataset, or name a groups column",
    of="data",
)
def check_replicates(material: Material, ledger: Ledger) -> None:
    """Find undeclared replicates whose set is torn apart by a split."""
    dataset = material.dataset
    if dataset.groups is not None:
        return
    ledger.look("undeclared replicates", dataset.n_samples, "rows")
    left = _without_design(_measured(dataset))
    if dataset.task == "classification":
        # Classes in turn make some neighbours nearer than others too.
        classes = codes_of(dataset.y)[: len(left)]
        left = left - means_within(left, classes)[classes] if left.shape[1] else left
    found = replication(left) if left.shape[1] else None
    if found is None:
        return
    sets = np.arange(dataset.n_samples) // found.size
    torn = [side.held[np.isin(sets[side.held], sets[side.train])] for side in material.sides]
    rows = union(torn)
    if not len(rows):
        return
    ledger.find(
        "PG104",
        f"{share(len(rows), material.n_held, 'held-out rows')} {agree(len(rows), 'has', 'have')} a"
        f" replicate in train: the rows come in {sets[-1] + 1} sets of {found.size} (median"
        f" distance {found.inside:.3g} inside a set, {found.across:.3g} to the next; p ="
        f" {found.p:.1g}), and no groups are declared",
        len(rows),
        material.n_held,
        [
            f"fold {side.fold}: {side.role} row {row} is of set {sets[row]} (rows"
            f" {sets[row] * found.size} to {(sets[row] + 1) * found.size - 1}), which is in"
            " train too"
            for side, kept in zip(material.sides, torn, strict=True)
            for row in kept[:1]
        ],
    )
