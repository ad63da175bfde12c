"""PG103 and PG104: groups, and replicates that nobody declared, on both sides of a split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.auditing.finding import SHOWN, Ledger
from paragone.auditing.material import Material, Side
from paragone.validation import FloatArray, IntArray

LARGEST_SET = 12
LEVEL = 1e-6
FEWEST_BORDERS = 8


def check_groups(material: Material, ledger: Ledger) -> None:
    """Find groups that stand in train and among the held-out rows of one split."""
    groups = material.dataset.groups
    if groups is None:
        return
    ledger.look("groups on both sides", len(np.unique(groups)), f"groups of {material.name}")
    torn = [np.intersect1d(groups[side.train], groups[side.held]) for side in material.sides]
    found = np.unique(np.concatenate(torn)) if torn else np.empty(0)
    if len(found):
        rows = np.unique(np.concatenate([s.held[np.isin(groups[s.held], t)] for s, t in _pairs(material, torn)]))
        ledger.find(
            "PG103",
            f"{len(found)} of {len(np.unique(groups))} groups stand on both sides of a split: {len(rows)} of "
            f"{material.n_held} held-out rows have their group in train, in {sum(len(t) > 0 for t in torn)} of "
            f"{len(torn)} splits",
            dataset=material.name,
            count=len(found),
            total=len(np.unique(groups)),
            examples=[
                f"fold {side.fold}: group {name} is in train and among the {side.role} rows"
                for side, names in _pairs(material, torn)
                for name in names[:2]
            ],
        )


def _pairs(material: Material, torn: list[NDArray[Any]]) -> list[tuple[Side, NDArray[Any]]]:
    return [(side, names) for side, names in zip(material.sides, torn, strict=True) if len(names)]


@dataclass(frozen=True)
class Replication:
    """Sets of ``size`` consecutive rows that are nearer to each other than to the next set."""

    size: int
    p: float
    inside: float
    across: float


def replication(X: Any) -> Replication | None:
    """Look for replicates that stand one after the other in the file; None where there are none.

    Row distances (features in units of their deviation) between neighbours in the file are taken apart by whether they
    cross the border of a set of r rows, for every r from 2 to 12 that divides the number of rows. The r with the
    least p by a one-sided Mann-Whitney test counts, if p times the number of r is at most 1e-6. Rows that are merely
    sorted, by time or by class, do not differ there.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> samples = rng.random((40, 5))
    >>> replication(np.repeat(samples, 3, axis=0) + 0.01 * rng.random((120, 5))).size
    3
    >>> replication(rng.random((120, 5))) is None
    True
    """
    from scipy.stats import mannwhitneyu

    n_rows = int(X.shape[0])
    away = _file_distances(X)
    sizes = [r for r in range(2, LARGEST_SET + 1) if n_rows % r == 0 and n_rows // r > FEWEST_BORDERS]
    best: Replication | None = None
    for size in sizes:
        crossing = np.arange(1, n_rows) % size == 0
        inside, across = away[~crossing], away[crossing]
        p = float(mannwhitneyu(inside, across, alternative="less").pvalue) * len(sizes)
        if p <= LEVEL and (best is None or p < best.p):
            best = Replication(size, p, float(np.median(inside)), float(np.median(across)))
    return best


def _file_distances(X: Any) -> FloatArray:
    """Return the distance of every row to the one before it, features in units of their deviation."""
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        deviation = np.sqrt(np.maximum(np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2, 0.0))
        scaled = X @ sparse.diags_array(np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0))
        step = scaled[1:] - scaled[:-1]
        return np.asarray(np.sqrt(np.asarray(step.multiply(step).sum(axis=1)).ravel()))
    deviation = np.nanstd(np.where(np.isnan(X).all(axis=0), 0.0, X), axis=0)
    used = deviation > 0
    step = np.nan_to_num(np.diff(X[:, used], axis=0) / deviation[used])
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", step, step)))


def check_replicates(material: Material, ledger: Ledger) -> None:
    """Find undeclared replicates whose set is torn apart by a split."""
    if material.dataset.groups is not None:
        return
    ledger.look("undeclared replicates", material.dataset.n_samples, f"rows of {material.name}")
    found = replication(material.dataset.X)
    if found is None:
        return
    sets = np.arange(material.dataset.n_samples) // found.size
    torn = [side.held[np.isin(sets[side.held], sets[side.train])] for side in material.sides]
    rows: IntArray = np.unique(np.concatenate(torn)) if torn else np.empty(0, dtype=np.int64)
    if not len(rows):
        return
    ledger.find(
        "PG104",
        f"{len(rows)} of {material.n_held} held-out rows have a replicate in train: the rows come in "
        f"{sets[-1] + 1} sets of {found.size} (median distance {found.inside:.3g} inside a set, {found.across:.3g} to "
        f"the next; p = {found.p:.1g}), and no groups are declared",
        dataset=material.name,
        count=len(rows),
        total=material.n_held,
        examples=[
            f"fold {side.fold}: {side.role} row {row} is of set {sets[row]} (rows {sets[row] * found.size} to "
            f"{(sets[row] + 1) * found.size - 1}), which is in train too"
            for side, kept in zip(material.sides, torn, strict=True)
            for row in kept[:1]
        ][:SHOWN],
    )
