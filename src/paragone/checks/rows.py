"""PG101, PG103, PG104 and PG113 to PG115: rows, groups and replicates that stand on both sides of a split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.checks.coincidence import coincidence, shared_targets
from paragone.checks.finding import SHOWN, Ledger
from paragone.checks.material import Material, Side, row_codes, target_codes
from paragone.data import Dataset
from paragone.data.prescriptions import prescriptions_of
from paragone.validation import FloatArray, IntArray

EXACT_ROWS = "rows on both sides, exactly"


def check_exact_rows(material: Material, ledger: Ledger) -> None:
    """Find held-out rows whose features equal those of a row of train, and rows that stand on both sides."""
    codes = row_codes(material.dataset.numbers)
    _check_numbers(material, ledger)
    twins = [held_twins(codes, side) for side in material.sides]
    leaked = np.unique(np.concatenate(twins)) if twins else np.empty(0, dtype=np.int64)
    unit = f"held-out rows of {material.name}"
    if not len(leaked):
        ledger.look(EXACT_ROWS, material.n_held, unit)
        return
    torn = np.unique(codes[leaked])
    chance = coincidence(material.dataset.numbers, codes, torn)
    shared = shared_targets(material.dataset, codes, torn)
    if chance.by_chance and shared.by_chance:
        ledger.look(
            EXACT_ROWS, material.n_held, unit, f"{len(leaked)} equal a train row, as chance has it in such data"
        )
        return
    ledger.look(EXACT_ROWS, material.n_held, unit)
    sizes = np.bincount(codes)
    in_groups = int(sizes[sizes > 1].sum())
    # Rows of one number are one row under two numbers only where PG115 has something to say.
    ledger.find(
        "PG101",
        f"{len(leaked)} of {material.n_held} held-out rows equal a row of the train side of their split in every "
        f"feature ({_by_role(material, twins)}); {_with_same_target(material, codes, twins)}; in all "
        f"{material.dataset.n_samples} rows, {in_groups} have a twin ({int((sizes > 1).sum())} sets of equal rows); "
        f"{(shared if chance.by_chance else chance).sentence}",
        dataset=material.name,
        count=len(leaked),
        total=material.n_held,
        examples=_examples(material, codes, twins),
    )


def held_twins(codes: IntArray, side: Side) -> IntArray:
    """Return the held-out rows of a side that have an equal row, of another number, in train.

    Examples
    --------
    >>> held_twins(np.array([7, 8, 7]), Side(0, "test", np.array([0, 1]), np.array([2]))).tolist()
    [2]
    """
    held = side.held[~np.isin(side.held, side.train)]
    return np.asarray(held[np.isin(codes[held], codes[side.train])])


def _check_numbers(material: Material, ledger: Ledger) -> None:
    both = [np.intersect1d(side.train, side.held) for side in material.sides]
    rows = np.unique(np.concatenate(both)) if both else np.empty(0, dtype=np.int64)
    if len(rows):
        folds = sum(len(found) > 0 for found in both)
        ledger.find(
            "PG115",
            f"{len(rows)} rows stand in train and are held out in the same split, in {folds} of {len(both)} splits",
            dataset=material.name,
            count=len(rows),
            total=material.n_held,
            examples=[f"row {row}" for row in rows[:SHOWN]],
        )


def _by_role(material: Material, twins: list[IntArray]) -> str:
    roles: dict[str, list[IntArray]] = {}
    for side, found in zip(material.sides, twins, strict=True):
        roles.setdefault(side.role, []).append(found)
    return ", ".join(f"{len(np.unique(np.concatenate(found)))} {role}" for role, found in roles.items())


def _with_same_target(material: Material, codes: IntArray, twins: list[IntArray]) -> str:
    target = target_codes(material.dataset.y)
    both = codes * (target.max() + 1) + target
    same = [found[np.isin(both[found], both[side.train])] for side, found in zip(material.sides, twins, strict=True)]
    return f"{len(np.unique(np.concatenate(same)))} of them with the same target as a twin"


def _examples(material: Material, codes: IntArray, twins: list[IntArray]) -> list[str]:
    named: list[str] = []
    for side, found in zip(material.sides, twins, strict=True):
        for row in found[: SHOWN - len(named)]:
            twin = side.train[np.flatnonzero(codes[side.train] == codes[row])[0]]
            named.append(f"fold {side.fold}: {side.role} row {row} equals train row {twin}")
    return named


TWO_ROLES = "rows in two roles"


def prescription_codes(material: Material) -> IntArray:
    """Number the rows so that rows with the same set of tokens and the same set of items have equal numbers."""
    rows = prescriptions_of(material.dataset.X, material.dataset.y)
    known: dict[tuple[frozenset[int], frozenset[int]], int] = {}
    codes = np.empty(rows.n_rows, dtype=np.int64)
    for row in range(rows.n_rows):
        tokens = rows.queries.indices[rows.queries.indptr[row] : rows.queries.indptr[row + 1]]
        items = rows.items[rows.indptr[row] : rows.indptr[row + 1]]
        key = frozenset(tokens.tolist()), frozenset(items.tolist())
        codes[row] = known.setdefault(key, len(known))
    return codes


def check_topk_rows(material: Material, ledger: Ledger) -> None:
    """Find evaluation and validation rows that stand in train, and rows chosen on that are evaluated on."""
    codes = prescription_codes(material)
    ledger.look(TWO_ROLES, material.dataset.n_samples, f"rows of {material.name}", "same tokens and same items")
    by_fold: dict[int, dict[str, Side]] = {}
    for side in material.sides:
        by_fold.setdefault(side.fold, {})[side.role] = side
    for fold, roles in by_fold.items():
        test, validation = roles["test"], roles.get("validation")
        _check_inside(material, codes, test, "PG113", "test", fold, ledger)
        if validation is not None:
            _check_inside(material, codes, validation, "PG114", "validation", fold, ledger)
            chosen = Side(fold, "test", validation.held, test.held)
            _check_inside(material, codes, chosen, "PG114", "test", fold, ledger, among="the validation rows")
        _check_set_aside(material, test, fold, ledger)


def _check_inside(
    material: Material,
    codes: IntArray,
    side: Side,
    code: str,
    role: str,
    fold: int,
    ledger: Ledger,
    among: str = "train",
) -> None:
    leaked = side.held[np.isin(codes[side.held], codes[side.train])]
    if len(leaked):
        first = [(row, side.train[np.flatnonzero(codes[side.train] == codes[row])[0]]) for row in leaked[:SHOWN]]
        ledger.find(
            code,
            f"{len(leaked)} of {len(side.held)} {role} rows of fold {fold} stand in {among}, with the same tokens and "
            "the same items",
            dataset=material.name,
            count=len(leaked),
            total=len(side.held),
            examples=[f"{role} row {row} equals row {twin} of {among}" for row, twin in first],
        )


def _check_set_aside(material: Material, side: Side, fold: int, ledger: Ledger) -> None:
    """Find rows that the data set aside to choose on and that were left in train, by their number."""
    marked = material.dataset.validation_part
    if marked is None:
        return
    inside = side.train[marked[side.train]]
    if len(inside):
        ledger.find(
            "PG114",
            f"{len(inside)} of the {int(marked.sum())} rows that the data set aside for validation stand in train in "
            f"fold {fold}: whatever is chosen on them was trained on them",
            dataset=material.name,
            count=len(inside),
            total=int(marked.sum()),
            examples=[f"row {row}" for row in inside[:SHOWN]],
        )


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


def _within_classes(dataset: Dataset) -> Any:
    """Return the features without what the class tells: classes in turn make some neighbours nearer than others too."""
    X = dataset.numbers
    if dataset.task != "classification" or sparse.issparse(X):
        return X
    classes = np.unique(dataset.y, return_inverse=True)[1].ravel()
    means = np.stack([np.bincount(classes, column) / np.bincount(classes) for column in np.nan_to_num(X).T], axis=1)
    return X - means[classes]


def check_replicates(material: Material, ledger: Ledger) -> None:
    """Find undeclared replicates whose set is torn apart by a split."""
    if material.dataset.groups is not None:
        return
    ledger.look("undeclared replicates", material.dataset.n_samples, f"rows of {material.name}")
    found = replication(_within_classes(material.dataset))
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
