"""PG122: a feature that holds means of the target over all rows, held-out ones included.

Who replaces a category by the mean of the target, and takes the mean over all rows before they are
split, hands every held-out label to the methods. The fingerprint is exact: every value of the
column is the mean of the target over the rows that have it. So it is for means drawn towards the
mean of all rows: by a fixed weight, by that of scikit-learn's TargetEncoder or by the usual
sigmoid, and for the mean of all other rows of the category, where the category is in another
column. An encoding fitted on train misses the held-out rows, and is not exact over all.

That the m rows of a value have the very mean that the value says happens to a target of steps g and
deviation s with a chance of at most g / (s sqrt(2 pi m (1 - m/n))); where the value is no round
number, of at most 1e-3, since a number with many digits does not lie on the grid of means. The
product over all values that have more than one target, times columns, targets and formulas, must be
at most 1e-6.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from paragone.checks.arrays import union
from paragone.checks.features import LOG_LEVEL
from paragone.checks.finding import Ledger
from paragone.checks.material import Clue, Columns, Levels
from paragone.checks.registry import check
from paragone.checks.scaling import coincidence
from paragone.checks.words import against
from paragone.validation import FloatArray, IntArray

ENCODED = "features that hold means of the target"
EXACT = 1e-6
"""How near a value must be to the mean, in deviations of the target: files often hold six digits."""
ROUND = 1000.0
NOT_ROUND = 1e-3
MATCHED = 0.95
MOST_CLASSES = 50
MOST_MERGED = 20
MOST_SOURCES = 100
FORMULAS = (
    "is the mean of",
    "is a mean with a fixed weight of",
    "is a shrunken mean of",
    "is a mean by sigmoid of",
)
OTHERS = "is the mean over all other rows of the category of"


@check(
    "PG122",
    "error",
    "a feature that holds means of the target over all rows",
    "encode categories by the target on train inside every split, or drop the column",
    of="columns",
)
def check_target_means(columns: Columns, ledger: Ledger) -> None:
    """Find features that hold means of the target over all rows."""
    held = np.isin(np.arange(columns.n_rows), union([side.held for side in columns.sides]))
    columns.account(ENCODED, against(columns.dataset.n_targets), ledger)
    what = "means of a label or target over all rows, held-out ones included"
    columns.report("PG122", encodings(columns, held), ("holds", "hold"), what, ledger)


def encodings(columns: Columns, held: NDArray[np.bool_]) -> list[Clue]:
    """Return the features that hold means of a target; ``held`` are the rows that some split holds out.

    Examples
    --------
    >>> from paragone.checks.material import columns_of
    >>> from paragone.data import Dataset
    >>> rng = np.random.default_rng(0)
    >>> town, price = rng.integers(0, 12, 100), rng.normal(size=100)
    >>> means = np.bincount(town, weights=price) / np.bincount(town)
    >>> data = Dataset("d", np.column_stack([means[town], town]), price, "regression")
    >>> [str(one) for one in encodings(columns_of(data), np.ones(100, dtype=bool))]
    ['x0 is the mean of y0 (12 values)']
    """
    targets = list(_targets(columns))
    log_tries = np.log(max(1, len(columns.columns) * len(targets) * len(FORMULAS)))
    found = []
    sources: list[tuple[int, Levels]] = []
    for j, feature, is_number in columns.named:
        levels = columns.levels(j)
        n_values = len(levels.values)
        if not 2 <= n_values <= columns.n_rows / 2 or np.isnan(levels.values[0]):
            continue
        if len(sources) < MOST_SOURCES:
            sources.append((j, levels))
        for target, name in targets if is_number else ():
            how = _formula(levels, target, held, log_tries)
            if how:
                found.append(Clue(feature, f"{name} ({n_values} values)", how))
    known = {one.feature for one in found}
    return found + [
        one for one in _of_others(columns, sources, targets) if one.feature not in known
    ]


def _targets(columns: Columns) -> Iterator[tuple[FloatArray, str]]:
    """Walk over what may have been averaged: numbers, labels, and each class as 0 and 1."""
    if columns.dataset.task != "classification":
        for target, name in columns.numbers:
            if not np.isnan(target).any() and np.ptp(target) > 0:
                yield target, name
        return
    for event in columns.events(np.arange(columns.n_rows), MOST_CLASSES):
        yield event.rows, event.name
    y = np.asarray(columns.dataset.y)
    if len(columns.classes[0]) > 2 and y.dtype.kind in "iuf":
        yield y.astype(np.float64), f"{columns.dataset.target_names[0]} as a number"


def _formula(levels: Levels, target: FloatArray, held: NDArray[np.bool_], log_tries: float) -> str:
    """Return the formula that gives the values of a column as means of a target; empty where none does."""
    values, codes, counts = levels.values, levels.codes, levels.counts
    deviation = float(target.std())
    if np.ptp(values) == 0 or values[0] < target.min() - EXACT or values[-1] > target.max() + EXACT:
        return ""
    means = np.bincount(codes, weights=target) / counts
    prior = float(target.mean())
    touched = np.bincount(codes, weights=held) > 0
    spread = np.bincount(codes, weights=(target - means[codes]) ** 2)
    tolerance = EXACT * deviation
    # Drawn towards the mean of all rows, a value lies between it and the mean of its own rows.
    between = (values - prior) * (means - values) >= -tolerance * np.abs(means - prior)
    if counts[between].sum() < MATCHED * len(target):
        return ""
    for how, near, freedom in _matches(values, means, counts, spread / counts, prior, deviation):
        if counts[near].sum() < MATCHED * len(target) or near[touched].mean() < MATCHED:
            continue
        telling = near & (spread > counts * tolerance**2)
        log_chance = _log_chance(values[telling], counts[telling], target, freedom)
        if log_chance + log_tries <= LOG_LEVEL:
            return how
    return ""


def _matches(
    values: FloatArray,
    means: FloatArray,
    counts: IntArray,
    own: FloatArray,
    prior: float,
    deviation: float,
) -> Iterator[tuple[str, NDArray[np.bool_], int]]:
    """Walk over the formulas: the values that each gives, and how many coincidences a choice of numbers uses up.

    Several categories of equal size and mean have one value. Its rows are then those of two or more
    of them, and the size that the formula knew is a half or less of theirs.
    """
    tolerance = EXACT * deviation
    yield FORMULAS[0], np.abs(values - means) <= tolerance, 0
    sizes = counts[:, None] / np.arange(1, MOST_MERGED + 1)
    whole = sizes == np.round(sizes)

    def near(share: FloatArray) -> NDArray[np.bool_]:
        expected = share * means[:, None] + (1 - share) * prior
        return np.asarray((whole & (np.abs(values[:, None] - expected) <= tolerance)).any(axis=1))

    variance = deviation**2
    yield (
        FORMULAS[2],
        near(variance * sizes / np.maximum(variance * sizes + own[:, None], 1e-300)),
        0,
    )
    yield FORMULAS[3], near(np.where(sizes > 1, expit((sizes - 20) / 10), 0.0)), 0
    apart = np.flatnonzero(np.abs(values - prior) > 1e-3 * deviation)
    if len(apart) >= 3:
        few = apart[np.argsort(counts[apart], kind="stable")[:10]]
        weights = (sizes[few, :5] * ((means[few] - values[few]) / (values[few] - prior))[:, None])[
            whole[few, :5]
        ]
        tried = [near(sizes / (sizes + weight)) for weight in np.unique(weights[weights > 0])]
        if tried:
            yield FORMULAS[1], max(tried, key=lambda found: counts[found].sum()), 2


def _log_chance(values: FloatArray, counts: IntArray, target: FloatArray, freedom: int) -> float:
    """Bound the logarithm of the chance that all these values are the means of their rows."""
    if len(values) < 2:
        return 0.0
    n, deviation = len(target), float(target.std())
    levels = np.unique(target)
    steps = np.diff(levels) if len(levels) < n / 2 else np.zeros(1)
    error = deviation * np.sqrt(counts * np.maximum(1 - counts / n, 1 / n))
    is_round = np.abs(values * ROUND - np.round(values * ROUND)) <= 1e-6
    chances = [
        coincidence(EXACT * deviation * m, float(steps.min()), float(e)) if simple else NOT_ROUND
        for m, e, simple in zip(counts, error, is_round, strict=True)
    ]
    # A weight that was chosen to fit, among some, uses up coincidences.
    return float(np.sort(np.log(chances))[freedom:].sum())


def _of_others(
    columns: Columns,
    sources: list[tuple[int, Levels]],
    targets: list[tuple[FloatArray, str]],
) -> Iterator[Clue]:
    """Find columns that hold, for every row, the mean of the target over all other rows of its category."""
    numbers = columns.columns[columns.is_number]
    first = np.arange(min(columns.n_rows, 200))
    head = columns.block(numbers, first)
    for target, name in targets:
        tolerance = EXACT * float(target.std())
        for source, levels in sources:
            m = levels.counts[levels.codes]
            others = np.bincount(levels.codes, weights=target)[levels.codes] - target
            others = others / np.maximum(m - 1, 1)
            there = m > 1
            # Where all rows of a category share their target, a copy of it is its mean too.
            if not there[first].any() or np.mean(np.abs(others - target)[there] > tolerance) < 0.5:
                continue
            near = np.abs(head - others[first, None]) <= tolerance
            for k in np.flatnonzero(near[there[first]].mean(axis=0) >= MATCHED):
                j = int(numbers[k])
                match = np.abs(columns.values(j) - others) <= tolerance
                enough = match[there].mean() >= MATCHED
                if j != source and enough and len(np.unique(others[there & match])) > 2:
                    feature = columns.dataset.feature_names[j]
                    yield Clue(feature, f"{name} ({len(columns.levels(j).values)} values)", OTHERS)
