"""PG121: two features that give a label or target away together, while neither does alone.

All pairs of up to 400 columns are looked at by matrix products, on up to 1000 rows:

- either, not both: of two yes/no columns, of columns cut at their median or at 0, of whole numbers
  even or odd;
- values together: each pair of values of two columns of few values;
- a line: a threshold on a weighted sum of two numbers; for a target, a weighted sum, or a product
  of powers, itself.

A pair is said where it names a label with a J of at least 0.97, and 0.1 better than either feature
alone, or 0.8 and 0.4 better; or where it leaves at most 1e-4 of a target's variance, and neither
alone leaves less than 1 %. As for one feature (PG120) it must be no accident: Hoeffding's bound
over all sets of values, n^2 lines and all pairs; for a target, the chance (1 - R^2)^((n - 3) / 2)
that two normal columns explain so much, times all pairs; at most 1e-6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from paragone.checks.columns import ColumnPart, column_part
from paragone.checks.features import LEVEL
from paragone.checks.finding import Ledger
from paragone.checks.material import Material
from paragone.checks.proxies import AGREES, HARDLY_WRONG, Event, events, thresholds
from paragone.checks.words import against, agree, counted
from paragone.validation import FloatArray, IntArray

PAIRS = "pairs of features that give a label away"
MOST_COLUMNS = 400
MOST_ROWS = 1000
FEWEST_SCREENED = 300
MOST_WORK = 3e9
"""Multiplications of a screening: less than a tenth of a second."""
FEW_VALUES = 12
MOST_CODES = 400
BETTER, MUCH_BETTER = 0.1, 0.4
EXPLAINED, UNEXPLAINED = 0.99, 1e-4
COLLINEAR = 1e-6
MOST_TRIED = 10


@dataclass(frozen=True)
class PairGiveaway:
    """Two features that give a label away together, how, and how well."""

    features: tuple[str, str]
    label: str
    how: str
    share: float

    def __str__(self) -> str:
        return f"{' and '.join(self.features)}: {self.how} {self.label} ({self.share:.4g})"


def check_pairs(material: Material, ledger: Ledger) -> None:
    """Find pairs of features that give a label or target away."""
    for dataset in material.targets:
        part = column_part(dataset)
        columns = chosen_columns(part)
        ledger.look(
            PAIRS,
            len(columns) * (len(columns) - 1) // 2,
            f"pairs of columns of {dataset.name}",
            f"either but not both, values together, lines; {against(dataset.n_targets)}",
        )
        left = dataset.n_features - len(columns)
        ledger.miss(
            PAIRS,
            left,
            f"columns of {dataset.name}",
            f"pairs of {MOST_COLUMNS} columns are looked at",
        )
        # Products this small wait longer for other threads than they take.
        with threadpool_limits(1, user_api="blas"):
            found = pair_giveaways(part, columns)
        if found:
            ledger.find(
                "PG121",
                f"{counted(len(found), 'pairs of features')} {agree(len(found), 'tells', 'tell')} a"
                " label or target together, while neither does alone",
                dataset=dataset.name,
                count=len(found),
                total=len(columns) * (len(columns) - 1) // 2,
                examples=[str(one) for one in sorted(found, key=lambda one: -one.share)],
            )


def chosen_columns(part: ColumnPart) -> IntArray:
    """Return the columns of which pairs are looked at: all, or evenly spread ones."""
    if len(part.columns) <= MOST_COLUMNS:
        return part.columns
    return part.columns[np.linspace(0, len(part.columns) - 1, MOST_COLUMNS).astype(np.int64)]


def pair_giveaways(part: ColumnPart, columns: IntArray) -> list[PairGiveaway]:
    """Return the pairs of columns that give a label or target away.

    Examples
    --------
    >>> from paragone.data import Dataset
    >>> X = np.random.default_rng(0).integers(0, 2, (100, 4))
    >>> found = pair_giveaways(column_part(Dataset("d", X, X[:, 1] ^ X[:, 3], "classification")), np.arange(4))
    >>> [str(one) for one in found]
    ['x1 and x3: either but not both tells y0 (1)']
    """
    if len(columns) < 2:
        return []
    n = part.n_rows
    rows = np.arange(n)
    if n > MOST_ROWS:
        rows = np.sort(np.random.default_rng(n).choice(n, MOST_ROWS, replace=False))
    names = part.dataset.feature_names
    is_number = part.is_number[np.isin(part.columns, columns)]
    block = part.block(columns, rows)
    if part.dataset.task == "regression":
        targets = zip(part.dataset.y.reshape(n, -1)[rows].T, part.dataset.target_names, strict=True)
        found = [one for y, name in targets for one in _of_target(block[:, is_number], y, name)]
        numbers = columns[is_number]
        return [PairGiveaway((names[numbers[a]], names[numbers[b]]), *rest) for a, b, rest in found]
    wanted = events(part.dataset, rows)
    seen: dict[tuple[int, int, str], PairGiveaway] = {}
    for search in (_either, _together, _lines):
        for a, b, event, how, J in search(block, is_number, wanted):
            key = (min(a, b), max(a, b), event.name)
            if key not in seen:
                pair = (names[columns[key[0]]], names[columns[key[1]]])
                seen[key] = PairGiveaway(pair, event.name, how, 0.5 + J / 2)
    return list(seen.values())


def _signed(event: Event) -> FloatArray:
    m1 = event.rows.sum()
    return np.asarray(event.rows / m1 - (1 - event.rows) / (len(event.rows) - m1))


def _log_chance(
    J: NDArray[np.float64], event: Event, log_sets: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Bound the logarithm of the chance that some set of a family reaches J."""
    n, m1 = len(event.rows), event.rows.sum()
    m0 = n - m1
    return np.asarray(log_sets - 2 * J**2 * m1 * m0 * max(m1, m0) / n**2)


def _good(J: FloatArray, alone: FloatArray) -> NDArray[np.bool_]:
    """Say which pairs are good enough, and clearly better than either of the two."""
    better = J - np.maximum(alone[:, None], alone[None, :])
    best = np.maximum(alone[:, None], alone[None, :])
    good = ((J >= HARDLY_WRONG) & (better >= BETTER)) | ((J >= AGREES) & (better >= MUCH_BETTER))
    return np.asarray(np.triu(good & (best < AGREES + BETTER), k=1))


def _either(
    block: FloatArray, is_number: NDArray[np.bool_], wanted: list[Event]
) -> Iterator[tuple[int, int, Event, str, float]]:
    signs, of = _yes_or_no(block, is_number)
    if signs.shape[1] < 2 or not wanted:
        return
    n, width = signs.shape
    # Rows are left out of the screening before pairs are; what it finds is tried on all of them.
    n_screened = int(min(n, max(FEWEST_SCREENED, MOST_WORK / width**2 / len(wanted))))
    for event in wanted:
        screened = Event(event.name, event.rows[:n_screened], event.n_classes)
        if not 0 < screened.rows.sum() < n_screened:
            continue
        weights = _signed(screened)
        part = signs[:n_screened]
        J = 0.5 * np.abs(part.T @ (part * weights[:, None]))
        alone = 0.5 * np.abs(weights @ part)
        good = _good(J, alone) & (
            _log_chance(J, screened, np.log(width**2 * len(wanted))) <= np.log(LEVEL)
        )
        for a, b in np.argwhere(good).tolist():
            whole = 0.5 * abs(_signed(event) @ (signs[:, a] * signs[:, b]))
            if of[a] != of[b] and whole >= AGREES:
                yield of[a], of[b], event, "either but not both tells", float(whole)


def _yes_or_no(block: FloatArray, is_number: NDArray[np.bool_]) -> tuple[FloatArray, list[int]]:
    """Turn columns into -1 and 1: two values as they are, more by median and sign, whole numbers by parity too."""
    signs, of = [], []
    for j in range(block.shape[1]):
        column = block[:, j]
        values = np.unique(column[~np.isnan(column)])
        if len(values) < 2:
            continue
        if is_number[j] or len(values) == 2:
            for cut in {values[0]} if len(values) == 2 else {float(np.nanmedian(column)), 0.0}:
                if values[0] <= cut < values[-1]:
                    signs.append(np.where(column > cut, 1.0, -1.0))
                    of.append(j)
        if is_number[j] and len(values) > 2 and (values == np.round(values)).all():
            signs.append(np.where(np.nan_to_num(column) % 2 == 1, 1.0, -1.0))
            of.append(j)
    return (np.column_stack(signs) if signs else np.empty((len(block), 0))), of


def _together(
    block: FloatArray, is_number: NDArray[np.bool_], wanted: list[Event]
) -> Iterator[tuple[int, int, Event, str, float]]:
    of: list[int] = []
    codes: list[IntArray] = []
    sizes: list[int] = []
    for j in range(block.shape[1]):
        values, own = np.unique(block[:, j], return_inverse=True)
        if 1 < len(values) <= FEW_VALUES and sum(sizes) < MOST_CODES:
            of.append(j)
            codes.append(own.ravel())
            sizes.append(len(values))
    if len(of) < 2:
        return
    counts = np.array(sizes)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    Z = np.concatenate(
        [np.eye(count)[own] for own, count in zip(codes, counts, strict=True)], axis=1
    )
    n_screened = int(
        min(len(Z), max(FEWEST_SCREENED, MOST_WORK / Z.shape[1] ** 2 / max(1, len(wanted))))
    )
    log_sets = np.log(2.0) * np.outer(counts, counts) + np.log(len(of) ** 2 * max(1, len(wanted)))
    for event in wanted:
        screened = Event(event.name, event.rows[:n_screened], event.n_classes)
        if not 0 < screened.rows.sum() < n_screened:
            continue
        weights = _signed(screened)
        part = Z[:n_screened]
        joint = np.abs(part.T @ (part * weights[:, None]))
        J = 0.5 * np.add.reduceat(np.add.reduceat(joint, starts, axis=0), starts, axis=1)
        alone = 0.5 * np.add.reduceat(np.abs(weights @ part), starts)
        good = _good(J, alone) & (_log_chance(J, screened, log_sets) <= np.log(LEVEL))
        for a, b in np.argwhere(good).tolist():
            yield of[a], of[b], event, "their values together tell", float(J[a, b])


def _lines(
    block: FloatArray, is_number: NDArray[np.bool_], wanted: list[Event]
) -> Iterator[tuple[int, int, Event, str, float]]:
    of = np.flatnonzero(is_number & ~np.isnan(block).any(axis=0) & (np.ptp(block, axis=0) > 0))
    wanted = [event for event in wanted if event.n_classes == 2]
    if len(of) < 2 or not wanted:
        return
    unit = _standard(block[:, of])
    between = unit.T @ unit
    for event in wanted:
        y = event.rows - event.rows.mean()
        R2, weights = _explained(between, unit.T @ y / np.sqrt(y @ y))
        # A threshold that names a label exactly is the best of all pairs by R squared, or among the
        # best.
        best = np.argpartition(-R2, min(MOST_TRIED, R2.size - 1), axis=None)[:MOST_TRIED]
        signed = _signed(event)[:, None]
        alone: dict[int, float] = {}
        for a, b in sorted(
            {(min(pair), max(pair)) for pair in zip(*np.unravel_index(best, R2.shape), strict=True)}
        ):
            if a == b or R2[a, b] <= 0:
                continue
            for one in (a, b):
                alone.setdefault(int(one), float(thresholds(unit[:, one], signed)[0]))
            # The best weights by least squares are near the true ones; a plain sum or difference is
            # met exactly.
            first, second = block[:, of[a]], block[:, of[b]]
            fitted = unit[:, a] * weights[0][a, b] + unit[:, b] * weights[1][a, b]
            J = max(
                float(thresholds(line, signed)[0])
                for line in (fitted, first + second, first - second)
            )
            n = len(block)
            log_sets = np.log(2.0 * n**2 * len(of) ** 2 * len(wanted))
            if (
                J >= HARDLY_WRONG
                and J - max(alone[int(a)], alone[int(b)]) >= BETTER
                and _log_chance(np.array(J), event, log_sets) <= np.log(LEVEL)
            ):
                yield int(of[a]), int(of[b]), event, "a threshold on a weighted sum tells", J


def _standard(block: FloatArray) -> FloatArray:
    centred = block - block.mean(axis=0)
    return np.asarray(centred / np.sqrt(np.einsum("ij,ij->j", centred, centred)))


def _explained(
    between: FloatArray, r: FloatArray
) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """Return R squared of every pair of standardised columns, and their two weights; 0 where they are collinear."""
    left = 1.0 - between**2
    usable = left > COLLINEAR
    left = np.where(usable, left, 1.0)
    first = (r[:, None] - r[None, :] * between) / left
    second = (r[None, :] - r[:, None] * between) / left
    return np.where(usable, first * r[:, None] + second * r[None, :], 0.0), (first, second)


def _of_target(
    block: FloatArray, target: FloatArray, name: str
) -> Iterator[tuple[int, int, tuple[str, str, float]]]:
    there = ~np.isnan(target)
    y, block = target[there], block[there]
    whole = ~np.isnan(block).any(axis=0)
    ways = [("a weighted sum is", block, y, whole)]
    if (y > 0).all():
        positive = whole & (np.where(np.isnan(block), 1.0, block) > 0).all(axis=0)
        ways.append(
            ("a product of powers is", np.log(np.where(positive, block, 1.0)), np.log(y), positive)
        )
    for how, columns, aim, usable in ways:
        of = np.flatnonzero(usable & (np.ptp(np.where(usable, columns, 0.0), axis=0) > 0))
        if len(of) < 2 or len(aim) < 5 or np.ptp(aim) == 0:
            continue
        unit, centred = _standard(columns[:, of]), aim - aim.mean()
        r = unit.T @ centred / np.sqrt(centred @ centred)
        R2, weights = _explained(unit.T @ unit, r)
        alone = r**2 >= EXPLAINED
        good = (R2 >= 1 - UNEXPLAINED) & ~alone[:, None] & ~alone[None, :]
        log_chance = 2 * np.log(len(of)) + (len(aim) - 3) / 2 * np.log(UNEXPLAINED)
        if log_chance > np.log(LEVEL):
            continue
        for a, b in np.argwhere(np.triu(good, k=1)).tolist():
            size = np.sqrt(centred @ centred)
            rest = centred - size * (unit[:, a] * weights[0][a, b] + unit[:, b] * weights[1][a, b])
            explained = 1 - (rest @ rest) / size**2
            if explained >= 1 - UNEXPLAINED:
                yield int(of[a]), int(of[b]), (name, how, float(explained))
        if good.any():
            return
