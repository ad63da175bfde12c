"""PG102: held-out rows that nearly occur in train.

Features are divided by their standard deviation on train. A held-out row is near a train row where

- it is at most half as far from it as from its tenth nearest train row (rows that are equal in
  every feature are
  PG101's and are looked past), and
- that would be no accident: where rows lie evenly around it in D dimensions, the share u = (d1 /
  d10)^D of the ball
  would be the smallest of nine uniform numbers, so p = 1 - (1 - u)^9; it must be at most 1 %
  divided by the number of held-out rows looked at.

D is the intrinsic dimension by the ratio of the first two neighbours' distances (Facco et al.,
Scientific Reports 7, 2017), taken on a fifth of train, where twins have mostly lost each other, and
lowered by two of its standard errors.

Only numbers and dates are looked at; of those, where there are any, the columns in which most
values differ. Where more than a quarter of the held-out rows have two train rows at the same
distance, values are too coarse for an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from paragone.checks.finding import SHOWN, Ledger
from paragone.checks.material import Material, Side, fine_columns, measured_columns, row_codes
from paragone.checks.words import agree, share
from paragone.validation import FloatArray, IntArray

CHECK = "rows on both sides, nearly"
RANK = 10
RATIO = 0.5
LEVEL = 0.01
MOST_HELD = 2000
MOST_FOR_DIMENSION = 1000
FEWEST_TRAIN = 30
BLOCK_VALUES = 1 << 24
SPARE = 6
TRIMMED = 0.9
SAME = 1e-9
TIED = 0.25


@dataclass(frozen=True)
class NearPair:
    """A held-out row and the train row it is near to, and how much nearer than the tenth."""

    fold: int
    role: str
    held: int
    train: int
    ratio: float


def check_near_rows(material: Material, ledger: Ledger, seed: int = 0) -> None:
    """Find held-out rows that are much nearer to a train row than chance explains."""
    codes = row_codes(material.dataset.numbers)
    X = material.dataset.numbers[:, measured_columns(material.dataset)]
    if not sparse.issparse(X) and (fine := fine_columns(X)).shape[1]:
        X = fine  # steps of coarse columns beside fine ones are gaps that no even spread has
    if not X.shape[1]:
        ledger.miss(
            CHECK,
            material.n_held,
            f"held-out rows of {material.name}",
            "no column holds measured values",
        )
        return
    looked: set[int] = set()
    pairs: list[NearPair] = []
    small = [side for side in material.sides if len(side.train) < FEWEST_TRAIN]
    ledger.miss(
        CHECK, len(small), f"splits of {material.name}", f"fewer than {FEWEST_TRAIN} train rows"
    )
    sampled, coarse = False, 0
    for side in material.sides:
        if len(side.train) < FEWEST_TRAIN:
            continue
        rows = _drawn(side.held, seed)
        sampled |= len(rows) < len(side.held)
        near = near_pairs(X, codes, Side(side.fold, side.role, side.train, rows), seed)
        coarse += near is None
        if near is not None:
            looked |= set(rows.tolist())
            pairs += near
    ledger.miss(
        CHECK,
        coarse,
        f"splits of {material.name}",
        "values so coarse that many distances are equal",
    )
    note = f"at most {MOST_HELD} drawn from a split" if sampled else ""
    ledger.look(CHECK, len(looked), f"held-out rows of {material.name}", note)
    n_near = len({pair.held for pair in pairs})
    if n_near:
        order = sorted(pairs, key=lambda pair: pair.ratio)
        ledger.find(
            "PG102",
            f"{share(n_near, len(looked), 'held-out rows')} {agree(n_near, 'is', 'are')} nearer to"
            f" a train row than chance explains: at most {RATIO:g} of the distance to the tenth"
            f" nearest, p at most {LEVEL:.0%} over all rows of the split",
            dataset=material.name,
            count=n_near,
            total=len(looked),
            examples=[
                f"fold {pair.fold}: {pair.role} row {pair.held} is near train row {pair.train} "
                f"({pair.ratio:.2g} of the distance to the tenth)"
                for pair in order[:SHOWN]
            ],
        )


def _drawn(rows: IntArray, seed: int) -> IntArray:
    if len(rows) <= MOST_HELD:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, MOST_HELD, replace=False))


def near_pairs(X: Any, codes: IntArray, side: Side, seed: int = 0) -> list[NearPair] | None:
    """Return the near pairs of a side; None where values are so coarse that chance has no even spread to go by.

    Parameters
    ----------
    X : ndarray or csr_array
        All rows.
    codes : ndarray of int64
        Equal for equal rows; see `row_codes`.
    side : Side
        Which rows are compared with which.
    seed : int, default=0
        Of the fifth of train that the dimension is taken on.

    Returns
    -------
    list of NearPair or None
        At most one per held-out row.
    """
    train, held = _scaled(X, side)
    some = _some(train, seed)
    dimension = intrinsic_dimension(some) * (1.0 - 2.0 / np.sqrt(len(some)))
    if not np.isfinite(dimension):
        return None
    distances, places = neighbours(held, train, min(RANK + SPARE, len(side.train)))
    found_codes = codes[side.train[places]]
    tied = (np.diff(distances, axis=1) <= SAME * distances[:, 1:]) & (
        found_codes[:, 1:] != found_codes[:, :-1]
    )
    if tied.any(axis=1).mean() > TIED:
        return None
    found = []
    for row, away, near in zip(side.held, distances, side.train[places], strict=True):
        other = codes[near] != codes[row]
        away, near = away[other][:RANK], near[other][:RANK]
        if len(away) < RANK:
            continue  # more equal rows than were fetched: PG101 speaks of them
        ratio = float(away[0] / away[-1]) if away[-1] > 0 else 0.0
        chance = 1.0 - (1.0 - ratio**dimension) ** (RANK - 1)
        if ratio <= RATIO and chance <= LEVEL / len(side.held):
            found.append(NearPair(side.fold, side.role, int(row), int(near[0]), ratio))
    return found


def _scaled(X: Any, side: Side) -> tuple[Any, Any]:
    """Return train and held-out rows, every feature divided by its deviation on train; constant ones are left out."""
    train, held = X[side.train], X[side.held]
    if sparse.issparse(train):
        mean = np.asarray(train.mean(axis=0)).ravel()
        squares = np.asarray(train.multiply(train).mean(axis=0)).ravel()
        deviation = np.sqrt(np.maximum(squares - mean**2, 0.0))
        used = np.flatnonzero(deviation > 0)
        scale = sparse.diags_array(1.0 / deviation[used])
        return sparse.csr_array(train[:, used] @ scale), sparse.csr_array(held[:, used] @ scale)
    missing = np.isnan(train)
    mean = np.nanmean(np.where(missing.all(axis=0), 0.0, train), axis=0)
    train, held = np.where(missing, mean, train), np.where(np.isnan(held), mean, held)
    deviation = train.std(axis=0)
    used = np.flatnonzero(deviation > 0)
    return (train[:, used] - mean[used]) / deviation[used], (
        held[:, used] - mean[used]
    ) / deviation[used]


def _some(train: Any, seed: int) -> FloatArray:
    """Draw a fifth of train, at least 30 rows and at most 1000."""
    n_rows = train.shape[0]
    count = min(MOST_FOR_DIMENSION, max(FEWEST_TRAIN, n_rows // 5))
    rows = np.random.default_rng(seed).permutation(n_rows)[:count]
    return np.asarray(train[rows].toarray() if sparse.issparse(train) else train[rows])


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
    if len(logs) < RANK or logs[-1] == 0:
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
        products = block @ base.T
        products = products.toarray() if sparse.issparse(products) else products
        away = squares[None, :] - 2.0 * products
        near = (
            np.argpartition(away, min(count, n_base) - 1, axis=1)[:, :count]
            if count < n_base
            else None
        )
        if near is None:
            near = np.broadcast_to(np.arange(n_base), away.shape)
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
