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
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from paragone.checks.arrays import codes_of, drawn
from paragone.checks.features import LOG_LEVEL
from paragone.checks.finding import Ledger
from paragone.checks.material import Clue, Columns, Event, thresholds
from paragone.checks.proxies import AGREES, HARDLY_WRONG
from paragone.checks.registry import check
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


@check(
    "PG121",
    "warning",
    "two features that give a label away together",
    "see whether the two are known before the label is; drop them where they are not",
    of="columns",
)
def check_pairs(columns: Columns, ledger: Ledger) -> None:
    """Find pairs of features that give a label or target away."""
    chosen = chosen_columns(columns)
    total = len(chosen) * (len(chosen) - 1) // 2
    note = "either but not both, values together, lines; " + against(columns.dataset.n_targets)
    ledger.look(PAIRS, total, "pairs of columns", note)
    left = columns.dataset.n_features - len(chosen)
    ledger.miss(PAIRS, left, "columns", f"pairs of {MOST_COLUMNS} columns are looked at")
    # Products this small wait longer for other threads than they take.
    with threadpool_limits(1, user_api="blas"):
        found = pair_giveaways(columns, chosen)
    if found:
        ledger.find(
            "PG121",
            f"{counted(len(found), 'pairs of features')} {agree(len(found), 'tells', 'tell')} a"
            " label or target together, while neither does alone",
            len(found),
            total,
            map(str, sorted(found, key=lambda one: -one.share)),
        )


def chosen_columns(columns: Columns) -> IntArray:
    """Return the columns of which pairs are looked at: all, or evenly spread ones."""
    known = columns.columns
    if len(known) <= MOST_COLUMNS:
        return known
    return known[np.linspace(0, len(known) - 1, MOST_COLUMNS).astype(np.int64)]


def pair_giveaways(columns: Columns, chosen: IntArray) -> list[Clue]:
    """Return the pairs of columns that give a label or target away.

    Examples
    --------
    >>> from paragone.checks.material import columns_of
    >>> from paragone.data import Dataset
    >>> X = np.random.default_rng(0).integers(0, 2, (100, 4))
    >>> data = Dataset("d", X, X[:, 1] ^ X[:, 3], "classification")
    >>> [str(one) for one in pair_giveaways(columns_of(data), np.arange(4))]
    ['x1 and x3: either but not both tells y0 (1)']
    """
    if len(chosen) < 2:
        return []
    rows = drawn(np.arange(columns.n_rows), MOST_ROWS, columns.n_rows)
    names = [columns.dataset.feature_names[j] for j in chosen]
    is_number = columns.is_number[np.isin(columns.columns, chosen)]
    block = columns.block(chosen, rows)
    found: dict[tuple[int, int, str], Clue] = {}
    if columns.dataset.task == "regression":
        numbers = np.flatnonzero(is_number)
        for y, name in columns.numbers:
            for a, b, how, told in _of_target(block[:, numbers], y[rows]):
                pair = f"{names[numbers[a]]} and {names[numbers[b]]}:"
                found[a, b, name] = Clue(pair, f"{name} ({told:.4g})", how, told)
    else:
        wanted = columns.events(rows)
        for search in (_either, _together, _lines):
            for a, b, event, how, J in search(block, is_number, wanted):
                first, second = sorted((a, b))
                told = 0.5 + J / 2
                pair = f"{names[first]} and {names[second]}:"
                known = Clue(pair, f"{event.name} ({told:.4g})", how, told)
                found.setdefault((first, second, event.name), known)
    return list(found.values())


def _good(J: FloatArray, alone: FloatArray) -> NDArray[np.bool_]:
    """Say which pairs are good enough, and clearly better than either of the two."""
    best = np.maximum(alone[:, None], alone[None, :])
    good = ((J >= HARDLY_WRONG) & (J - best >= BETTER)) | (
        (J >= AGREES) & (J - best >= MUCH_BETTER)
    )
    return np.asarray(np.triu(good & (best < AGREES + BETTER), k=1))


Found: TypeAlias = Iterator[tuple[int, int, Event, str, float]]


def _screened(
    Z: FloatArray, sizes: list[int], log_sets: Any, wanted: list[Event]
) -> Iterator[tuple[int, int, Event, float]]:
    """Try every pair of columns that stand there as ``sizes`` columns of codes each."""
    # Rows are left out of the screening before pairs are; what it finds is tried on all of them.
    n, width = Z.shape
    n_screened = int(min(n, max(FEWEST_SCREENED, MOST_WORK / width**2 / len(wanted))))
    starts = np.cumsum([0, *sizes])
    part = Z[:n_screened]
    for event in wanted:
        screened = Event(event.name, event.rows[:n_screened], event.n_classes)
        if not 0 < screened.rows.sum() < n_screened:
            continue
        joint = np.abs(part.T @ (part * screened.signed[:, None]))
        J = 0.5 * np.add.reduceat(np.add.reduceat(joint, starts[:-1], axis=0), starts[:-1], axis=1)
        alone = 0.5 * np.add.reduceat(np.abs(screened.signed @ part), starts[:-1])
        log_chance = screened.log_chance(J, log_sets + np.log(len(sizes) ** 2 * len(wanted)))
        for a, b in np.argwhere(_good(J, alone) & (log_chance <= LOG_LEVEL)).tolist():
            first, second = (Z[:, starts[one] : starts[one + 1]] for one in (a, b))
            whole = 0.5 * np.abs(first.T @ (second * event.signed[:, None])).sum()
            if whole >= AGREES:
                yield a, b, event, float(whole)


def _either(block: FloatArray, is_number: NDArray[np.bool_], wanted: list[Event]) -> Found:
    signs, of = _yes_or_no(block, is_number)
    if len(of) > 1 and wanted:
        how = "either but not both tells"
        for a, b, event, J in _screened(signs, [1] * len(of), 0.0, wanted):
            if of[a] != of[b]:
                yield of[a], of[b], event, how, J


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


def _together(block: FloatArray, is_number: NDArray[np.bool_], wanted: list[Event]) -> Found:
    of: list[int] = []
    codes: list[FloatArray] = []
    sizes: list[int] = []
    for j, column in enumerate(block.T):
        own = codes_of(column)
        size = int(own.max()) + 1
        if 1 < size <= FEW_VALUES and sum(sizes) < MOST_CODES:
            of.append(j)
            codes.append(np.eye(size)[own])
            sizes.append(size)
    if len(of) > 1 and wanted:
        log_sets = np.log(2.0) * np.outer(sizes, sizes)
        how = "their values together tell"
        Z = np.concatenate(codes, axis=1)
        for a, b, event, J in _screened(Z, sizes, log_sets, wanted):
            yield of[a], of[b], event, how, J


def _lines(block: FloatArray, is_number: NDArray[np.bool_], wanted: list[Event]) -> Found:
    of = np.flatnonzero(is_number & ~np.isnan(block).any(axis=0) & (np.ptp(block, axis=0) > 0))
    wanted = [event for event in wanted if event.n_classes == 2]
    if len(of) < 2 or not wanted:
        return
    unit = _standard(block[:, of])
    between = unit.T @ unit
    log_sets = np.log(2.0 * len(block) ** 2 * len(of) ** 2 * len(wanted))
    for event in wanted:
        y = event.rows - event.rows.mean()
        R2, weights = _explained(between, unit.T @ y / np.sqrt(y @ y))

        def best(*lines: FloatArray, signed: FloatArray = event.signed[:, None]) -> float:
            return max(float(thresholds(codes_of(line), signed)[0]) for line in lines)

        # A threshold that names a label exactly is the best of all pairs by R squared, or among the
        # best.
        R2 = np.triu(R2, k=1)
        tried = np.argpartition(-R2, min(MOST_TRIED, R2.size - 1), axis=None)[:MOST_TRIED]
        for a, b in zip(*np.unravel_index(np.sort(tried), R2.shape), strict=True):
            if R2[a, b] <= 0:
                continue
            # The best weights by least squares are near the true ones; a plain sum or difference is
            # met exactly.
            first, second = block[:, of[a]], block[:, of[b]]
            fitted = unit[:, a] * weights[0][a, b] + unit[:, b] * weights[1][a, b]
            J = best(fitted, first + second, first - second)
            no_accident = event.log_chance(J, log_sets) <= LOG_LEVEL
            if J >= HARDLY_WRONG and no_accident and J - best(first, second) >= BETTER:
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


def _of_target(block: FloatArray, target: FloatArray) -> Iterator[tuple[int, int, str, float]]:
    there = ~np.isnan(target)
    y, block = target[there], block[there]
    whole = ~np.isnan(block).any(axis=0)
    ways = [("a weighted sum is", block, y, whole)]
    if (y > 0).all():
        positive = whole & (np.where(np.isnan(block), 1.0, block) > 0).all(axis=0)
        logs = np.log(np.where(positive, block, 1.0))
        ways.append(("a product of powers is", logs, np.log(y), positive))
    for how, columns, aim, usable in ways:
        of = np.flatnonzero(usable & (np.ptp(np.where(usable, columns, 0.0), axis=0) > 0))
        log_chance = 2 * np.log(max(1, len(of))) + (len(aim) - 3) / 2 * np.log(UNEXPLAINED)
        if len(of) < 2 or len(aim) < 5 or np.ptp(aim) == 0 or log_chance > LOG_LEVEL:
            continue
        unit = _standard(columns[:, of])
        line = _standard(aim[:, None])[:, 0]
        r = unit.T @ line
        R2, weights = _explained(unit.T @ unit, r)
        alone = r**2 >= EXPLAINED
        good = (R2 >= 1 - UNEXPLAINED) & ~alone[:, None] & ~alone[None, :]
        for a, b in np.argwhere(np.triu(good, k=1)).tolist():
            rest = line - unit[:, a] * weights[0][a, b] - unit[:, b] * weights[1][a, b]
            explained = 1 - rest @ rest
            if explained >= 1 - UNEXPLAINED:
                yield int(of[a]), int(of[b]), how, float(explained)
        if good.any():
            return
