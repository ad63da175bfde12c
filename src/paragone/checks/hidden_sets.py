"""PG130, PG131 and PG135: rows that belong together without anybody saying so, and stand on both sides of a split.

Three marks of it are looked for: rows in tight sets far from all others, whatever their order in
the file; a column that tells who or what a row was measured on; and rows that were made between two
others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from paragone.checks.arrays import (
    centred,
    codes_of,
    dense,
    drawn,
    fine_columns,
    means_within,
    row_codes,
)
from paragone.checks.finding import SHOWN, Ledger
from paragone.checks.material import Material, measured_columns
from paragone.checks.neighbours import intrinsic_dimension, neighbours
from paragone.checks.registry import check
from paragone.checks.words import agree, counted, share
from paragone.data import Dataset
from paragone.validation import FloatArray, IntArray

MOST_ROWS = 5000
MOST_ASKED = 500
MOST_NAMING = 2000
MOST_NAMED = 100
MOST_COLUMNS = 512
LARGEST_SET = 30
FEWEST_SETS = 10
TIGHT_SHARE = 0.5
FEWEST_FINE = 2
LEVEL = 0.01


def _scaled(X: Any, rows: IntArray) -> tuple[FloatArray, IntArray]:
    """Return dense rows in units of each column's deviation, gaps as means, and the places of its columns that vary."""
    columns = drawn(np.arange(X.shape[1]), MOST_COLUMNS)
    block = centred(dense(X[rows][:, columns]))
    deviation = block.std(axis=0)
    used = np.flatnonzero(deviation > 0)
    return block[:, used] / deviation[used], columns[used]


# ---------------------------------------------------------------- tight sets


@dataclass(frozen=True, eq=False)
class TightSets:
    """The sets found, each by its rows, and how much nearer they lie to each other than to the next row."""

    members: tuple[IntArray, ...]
    share: float
    ratio: float


def tight_sets(X: Any, rows: IntArray, n_classes: int = 1, seed: int = 0) -> TightSets | None:
    """Look for sets of rows that are much nearer to each other than to any other row; None where there are none.

    The k nearest rows of a row are a set with it where the next one is r times as far away as the
    last of them. Where rows lie evenly in D dimensions that happens with probability r^(-kD), D
    taken on one row of each set. Every k from 1 to 29 is tried; 1 % over all of them is asked for,
    half of the rows, ten sets, and more than two for each class. Only columns in which most values
    differ are used: steps of coarse ones are gaps too.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people = rng.permutation(np.repeat(rng.normal(size=(30, 4)), 8, axis=0))
    >>> len(tight_sets(people + 0.01 * rng.normal(size=(240, 4)), np.arange(240)).members)
    30
    >>> tight_sets(rng.normal(size=(240, 4)), np.arange(240)) is None
    True
    """
    distinct = rows[np.sort(np.unique(row_codes(X[rows]), return_index=True)[1])]
    scaled = fine_columns(_scaled(X, distinct)[0])
    count = min(LARGEST_SET + 1, len(distinct))
    if count < 3 or scaled.shape[1] < FEWEST_FINE:
        return None
    order = np.random.default_rng(seed).permutation(len(distinct))[:MOST_ASKED]
    distances, places = neighbours(scaled[order], scaled, count)
    away = np.maximum(distances[:, 1:], 1e-300)
    # Column k - 1: how probable the gap behind the k-th neighbour is, as the logarithm for one
    # dimension.
    evidence = np.arange(1, away.shape[1]) * np.log(away[:, 1:] / away[:, :-1])
    sizes = evidence.argmax(axis=1) + 2
    strength = evidence.max(axis=1)
    sets: dict[int, IntArray] = {}
    taken = np.zeros(len(distinct), dtype=bool)
    for place in np.argsort(-strength, kind="stable"):
        mine = places[place, : sizes[place]]
        if not taken[mine].any():
            taken[mine] = True
            sets[int(place)] = mine
    lone = np.array([mine[0] for mine in sets.values()])
    dimension = max(1.0, intrinsic_dimension(scaled[lone])) if len(lone) >= LARGEST_SET else 1.0
    needed = np.log((count - 2) / LEVEL) / (dimension if np.isfinite(dimension) else 1.0)
    share = float(np.mean(strength >= needed))
    members = tuple(distinct[mine] for place, mine in sets.items() if strength[place] >= needed)
    if share < TIGHT_SHARE or len(members) < max(FEWEST_SETS, 2 * n_classes + 1):
        return None
    ratio = float(
        np.median(np.take_along_axis(away[:, 1:] / away[:, :-1], sizes[:, None] - 2, axis=1))
    )
    return TightSets(members, share, ratio)


@check(
    "PG130",
    "warning",
    "tight sets of rows torn apart by a split",
    "see what the rows of a set have in common (a person, a sample, a day), and name it as groups column",
    of="data",
)
def check_tight_sets(material: Material, ledger: Ledger, seed: int = 0) -> None:
    """Find undeclared sets of rows, in any order, that a split tears apart."""
    dataset = material.dataset
    if dataset.groups is not None:
        return
    rows = drawn(np.arange(dataset.n_samples), MOST_ROWS, seed)
    ledger.look("rows in tight sets", len(rows), "rows")
    n_classes = len(np.unique(dataset.y)) if dataset.task == "classification" else 1
    X = dataset.numbers[:, measured_columns(dataset)]
    found = tight_sets(X, rows, n_classes, seed)
    if found is None:
        return
    examples = []
    for members in found.members:
        for side in material.sides:
            if np.isin(members, side.held).any() and np.isin(members, side.train).any():
                few = ", ".join(map(str, np.sort(members)[:8]))
                examples.append(f"fold {side.fold}: rows {few} are one set")
                break
    torn, n_sets = len(examples), len(found.members)
    if torn:
        size = np.median([len(members) for members in found.members])
        ledger.find(
            "PG130",
            f"{torn} of {n_sets} tight sets of rows {agree(torn, 'is', 'are')} torn apart by a"
            f" split: {found.share:.0%} of the rows lie in sets of about {size:.0f}"
            f" rows, the next row is {found.ratio:.2g} times as far away, and no groups are"
            " declared",
            torn,
            n_sets,
            examples,
        )


# ---------------------------------------------------------------- columns that name somebody


FEWEST_VALUES = 10
SAME_NEIGHBOUR = 0.5
LEFT_SPREAD = 0.05
IN_ORDER = 0.7
FEWEST_PAIRS = 30


@dataclass(frozen=True, eq=False)
class NamingColumn:
    """A column that may name groups: its place or places, its values numbered, and why it is thought to."""

    name: str
    columns: tuple[int, ...]
    values: IntArray
    ordered: bool


@check(
    "PG131",
    "warning",
    "a column that names who or what a row was measured on",
    "name it as groups column, so that it is no feature and its rows stay together; acknowledge it where it is not",
    of="data",
)
def check_naming_columns(material: Material, ledger: Ledger, seed: int = 0) -> None:
    """Find columns whose values repeat across a split and tell who or what a row was measured on."""
    dataset = material.dataset
    if dataset.groups is not None:
        return
    rows = np.random.default_rng(seed).permutation(dataset.n_samples)[:MOST_NAMING]
    scaled, places = _scaled(dataset.numbers, rows)
    targets, _ = _scaled(_indicator_targets(dataset), rows)
    looked, found = 0, []
    for column in naming_columns(dataset):
        looked += 1
        values = codes_of(column.values[rows])
        both = [
            np.intersect1d(column.values[s.train], column.values[s.held]) for s in material.sides
        ]
        torn = max(map(len, both), default=0)
        others = scaled[:, ~np.isin(places, column.columns)]
        why = _tells(others, targets, values, ordered=column.ordered) if torn else ""
        if why:
            n_values = len(np.unique(values))
            found.append(f"{column.name}: {n_values} values, {torn} of them on both sides; {why}")
    ledger.look("columns that may name groups", looked, "columns")
    if found:
        ledger.find(
            "PG131",
            f"{share(len(found), looked, 'columns of repeated values')}"
            f" {agree(len(found), 'tells', 'tell')} rows apart as the name of a person or a sample"
            " would, the values stand on both sides of a split, and no groups are declared",
            len(found),
            looked,
            found,
        )


def naming_columns(dataset: Dataset) -> Iterator[NamingColumn]:
    """Walk over the columns that could name groups: text, categories, whole numbers, and indicators of one of them.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"who": [f"p{k % 12}" for k in range(60)], "x": np.arange(60) / 7})
    >>> [column.name for column in naming_columns(Dataset("d", frame, np.arange(60), "regression"))]
    ['who']
    """
    X = dataset.numbers
    if sparse.issparse(X):
        return
    kinds = {}
    if dataset.is_table:
        from paragone.data.frames import column_kinds

        kinds = column_kinds(dataset.X)
    most = dataset.n_samples // 2
    for place, name in enumerate(dataset.feature_names):
        column = X[:, place]
        text = kinds.get(name, "number") in ("text", "category")
        whole = not text and bool((column[~np.isnan(column)] % 1 == 0).all())
        if text or whole:
            levels, values = np.unique(column, return_inverse=True)
            if FEWEST_VALUES <= len(levels) <= most:
                yield NamingColumn(name, (place,), values.ravel(), ordered=whole)
    yield from _indicators(X, dataset.feature_names, most)


def _indicators(X: FloatArray, names: tuple[str, ...], most: int) -> Iterator[NamingColumn]:
    """Walk over runs of columns of which every row holds exactly one 1."""
    binary = ((X == 0) | (X == 1)).all(axis=0) & (X == 1).any(axis=0)
    begin, total = 0, np.zeros(len(X))
    for place in range(X.shape[1]):
        if not binary[place] or (total + X[:, place] > 1).any():
            begin, total = place, np.zeros(len(X))
        if binary[place]:
            total = total + X[:, place]
            if (total == 1).all() and FEWEST_VALUES <= place - begin + 1 <= most:
                run = tuple(range(begin, place + 1))
                yield NamingColumn(
                    f"{names[begin]} to {names[place]}",
                    run,
                    X[:, run].argmax(axis=1),
                    ordered=False,
                )
        else:
            begin = place + 1


def _tells(others: FloatArray, targets: FloatArray, values: IntArray, *, ordered: bool) -> str:
    """Say in which way a column tells rows apart; empty where it does not."""
    if ordered and _runs_in_order(np.column_stack([others, targets]), values):
        return ""  # a measured quantity: what has nearly the same value is alike too
    left = _left_spread(targets, values)
    sizes = np.bincount(values)
    if left <= LEFT_SPREAD and (sizes * (sizes - 1) // 2).sum() >= FEWEST_PAIRS:
        return f"within a value {left:.0%} of the target's spread is left"
    if others.shape[1]:
        nearest = neighbours(others[:MOST_NAMED], others, min(2, len(others)))[1][:, -1]
        same = float(np.mean(values[:MOST_NAMED] == values[nearest]))
        by_chance = float(((sizes / len(values)) ** 2).sum())
        if same >= SAME_NEIGHBOUR and same >= 5 * by_chance:
            return (
                f"{same:.0%} of the rows have their nearest row, by all other columns, under the"
                " same value"
            )
    return ""


def _indicator_targets(dataset: Dataset) -> FloatArray:
    if dataset.task == "classification":
        codes = codes_of(dataset.y)
        return np.eye(codes.max() + 1)[codes]
    return np.asarray(dataset.y, dtype=np.float64).reshape(dataset.n_samples, -1)


def _left_spread(targets: FloatArray, values: IntArray) -> float:
    """Return the share of the targets' variance that is left within values, rows that are alone left out."""
    kept = np.bincount(values)[values] > 1
    targets, values = targets[kept], codes_of(values[kept])
    if len(targets) < FEWEST_PAIRS or not targets.shape[1]:
        return 1.0
    means = means_within(targets, values)
    # Each group costs one degree of freedom: with two rows each, means alone would take half of the
    # spread.
    within = ((targets - means[values]) ** 2).sum() / max(1, len(targets) - len(means))
    whole = ((targets - targets.mean(axis=0)) ** 2).sum() / max(1, len(targets) - 1)
    return float(within / whole) if whole > 0 else 1.0


def _runs_in_order(scaled: FloatArray, values: IntArray) -> bool:
    """Whether values next to each other have rows that are more alike than values at large have."""
    means = means_within(scaled, values)
    shuffled = np.random.default_rng(0).permutation(means)
    step, at_large = (
        np.linalg.norm(np.diff(one, axis=0), axis=1).mean() for one in (means, shuffled)
    )
    return bool(step <= IN_ORDER * at_large)


# ---------------------------------------------------------------- rows made between others


BETWEEN_NEIGHBOURS = 12
STRAIGHT = 1e-10
FEWEST_BETWEEN = 3
FEWEST_FREE = 3


@check(
    "PG135",
    "error",
    "rows made between rows of the other side",
    "oversample inside the method, on train alone, after the split",
    of="data",
)
def check_made_rows(material: Material, ledger: Ledger, seed: int = 0) -> None:
    """Find rows that lie exactly between two others, as oversampling makes them, on the other side of a split.

    In three dimensions or more no measured row does so.
    """
    dataset = material.dataset
    if sparse.issparse(dataset.numbers):
        return
    rows = drawn(np.arange(dataset.n_samples), MOST_ROWS, seed)
    ledger.look("rows made between others", len(rows), "rows")
    triples = between(dataset.numbers[:, measured_columns(dataset)], rows, seed)
    torn = []
    for triple in triples:
        for side in material.sides:
            held, trained = (np.isin(triple, part) for part in (side.held, side.train))
            if held.any() and not held.all() and (held | trained).all():
                torn.append(triple)
                break
    made = {triple[0] for triple in torn}
    if len(made) >= FEWEST_BETWEEN:
        ledger.find(
            "PG135",
            f"{counted(len(made), 'rows')} {agree(len(made), 'lies', 'lie')} exactly between two"
            " others that a split puts on the other side, as rows made by oversampling do"
            f" ({counted(len({t[0] for t in triples}), 'such rows')} in all)",
            len(made),
            len(rows),
            [f"row {a} lies between rows {b} and {c}" for a, b, c in torn[:SHOWN]],
        )


def between(X: Any, rows: IntArray, seed: int = 0) -> list[tuple[int, int, int]]:
    """Return rows that lie exactly between two of their neighbours, with those two.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 5))
    >>> X[7] = 0.3 * X[3] + 0.7 * X[9]
    >>> between(X, np.arange(40))
    [(7, 3, 9)]
    """
    # Coarse values lie on lines by chance, and two columns leave little room to miss one.
    scaled = fine_columns(_scaled(X, rows)[0])
    if (
        scaled.shape[1] < FEWEST_FREE
        or np.linalg.matrix_rank(scaled[:MOST_ASKED], tol=1e-6 * len(rows)) < FEWEST_FREE
    ):
        return []
    asked = np.random.default_rng(seed).permutation(len(rows))[:MOST_ASKED]
    places = neighbours(scaled[asked], scaled, min(BETWEEN_NEIGHBOURS + 1, len(rows)))[1]
    found = []
    for place, near in zip(asked, places, strict=True):
        near = near[near != place]
        steps = scaled[near] - scaled[place]
        length = np.linalg.norm(steps, axis=1)
        near, steps, length = near[length > 0], steps[length > 0], length[length > 0]
        towards = steps / length[:, None]
        # Opposite directions: the cosine is -1. Its distance to -1 is of second order, so the sum
        # of both is looked at.
        first, second = np.triu_indices(len(near), 1)
        far = np.linalg.norm(towards[first] + towards[second], axis=1)
        if len(far) and far.min() <= STRAIGHT**0.5:
            best = int(far.argmin())
            one, other = sorted((int(rows[near[first[best]]]), int(rows[near[second[best]]])))
            found.append((int(rows[place]), one, other))
    return sorted(found)
