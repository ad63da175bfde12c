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

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from paragone.checks.arrays import dense, drawn, fine_columns, row_codes, union, without_gaps
from paragone.checks.finding import SHOWN, Ledger
from paragone.checks.material import Material, Side, measured_columns
from paragone.checks.neighbours import intrinsic_dimension, neighbours
from paragone.checks.registry import check
from paragone.checks.words import agree, share
from paragone.validation import FloatArray, IntArray

CHECK = "rows on both sides, nearly"
RANK = 10
RATIO = 0.5
LEVEL = 0.01
MOST_HELD = 2000
MOST_FOR_DIMENSION = 1000
FEWEST_TRAIN = 30
SPARE = 6
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


@check(
    "PG102",
    "warning",
    "held-out rows that nearly occur in train",
    "look at the pairs; where they are one sample measured twice, name a groups column",
    of="data",
)
def check_near_rows(material: Material, ledger: Ledger, seed: int = 0) -> None:
    """Find held-out rows that are much nearer to a train row than chance explains."""
    codes = row_codes(material.dataset.numbers)
    X = material.dataset.numbers[:, measured_columns(material.dataset)]
    if not sparse.issparse(X) and (fine := fine_columns(X)).shape[1]:
        X = fine  # steps of coarse columns beside fine ones are gaps that no even spread has
    if not X.shape[1]:
        ledger.miss(CHECK, material.n_held, "held-out rows", "no column holds measured values")
        return
    looked: list[IntArray] = []
    pairs: list[NearPair] = []
    note, coarse = "", 0
    sides = [side for side in material.sides if len(side.train) >= FEWEST_TRAIN]
    small = len(material.sides) - len(sides)
    ledger.miss(CHECK, small, "splits", f"fewer than {FEWEST_TRAIN} train rows")
    for side in sides:
        rows = drawn(side.held, MOST_HELD, seed)
        if len(rows) < len(side.held):
            note = f"at most {MOST_HELD} drawn from a split"
        near = near_pairs(X, codes, replace(side, held=rows), seed)
        if near is None:
            coarse += 1
        else:
            looked.append(rows)
            pairs += near
    n_looked = len(union(looked))
    ledger.miss(CHECK, coarse, "splits", "values so coarse that many distances are equal")
    ledger.look(CHECK, n_looked, "held-out rows", note)
    n_near = len({pair.held for pair in pairs})
    if n_near:
        ledger.find(
            "PG102",
            f"{share(n_near, n_looked, 'held-out rows')} {agree(n_near, 'is', 'are')} nearer to"
            f" a train row than chance explains: at most {RATIO:g} of the distance to the tenth"
            f" nearest, p at most {LEVEL:.0%} over all rows of the split",
            n_near,
            n_looked,
            [
                f"fold {pair.fold}: {pair.role} row {pair.held} is near train row {pair.train} "
                f"({pair.ratio:.2g} of the distance to the tenth)"
                for pair in sorted(pairs, key=lambda pair: pair.ratio)[:SHOWN]
            ],
        )


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
    train = without_gaps(train)
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    used = np.flatnonzero(deviation > 0)
    held = np.where(np.isnan(held), mean, held)
    scaled = [(part[:, used] - mean[used]) / deviation[used] for part in (train, held)]
    return scaled[0], scaled[1]


def _some(train: Any, seed: int) -> FloatArray:
    """Draw a fifth of train, at least 30 rows and at most 1000."""
    n_rows = train.shape[0]
    count = min(MOST_FOR_DIMENSION, max(FEWEST_TRAIN, n_rows // 5))
    rows = np.random.default_rng(seed).permutation(n_rows)[:count]
    return dense(train[rows])
