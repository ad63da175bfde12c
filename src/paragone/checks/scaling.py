"""PG107 and PG124: columns scaled, turned or filled in with figures of all rows, held-out ones included.

Whoever fits a scaler on all rows leaves a mark: statistics of train plus test that are too exact. A
column that nobody scaled has mean 0 and deviation 1, median 0 and quartiles 1 apart, or evenly
spaced ranks, only by chance. That chance is worked out for every column: a statistic with standard
error e that moves in steps of g meets a number within a tolerance t with probability of at most
max(2t, g) / (e sqrt(2 pi)). Over m columns, the chance that some k of them bear a mark is at most
C(m, k) times the product of theirs; it must be at most 1e-5 to be said. And the mark must be lost
on a train side: what a scaler fitted on train leaves is not there over all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr
from scipy.stats import kstwo

from paragone.checks.arrays import codes_of
from paragone.checks.columns import MANY_VALUES, id_like
from paragone.checks.finding import Ledger
from paragone.checks.material import Columns, Material, columns_of, per_level
from paragone.checks.registry import check
from paragone.validation import FloatArray, IntArray

SCALED = "columns scaled or filled in as a whole"
LEVEL = 1e-5
"""The greatest chance, over all columns of a dataset, at which a mark is said to be no accident."""
EXACT = 1e-6
"""How near a statistic must be: files often hold six digits."""
ROUNDING = 1e-12
FINEST_GRID = 1e5
CONTINUOUS = 0.9
"""The share of distinct values from which a column counts as continuous."""
ONE_EXTREME = (0.01, 0.37)
"""The chance that one row alone reaches a bound: for a continuous column, and (Poisson, at its greatest) on a grid."""
MOST_TURNED = 300
"""Columns whose correlations are looked at."""
FEWEST_REPEATS = 3
FEWEST_OF_GROUP = 3
MOST_GROUPS = 50
MOST_GROUPINGS = 200


@check(
    "PG107",
    "warning",
    "features scaled or turned as a whole before the split",
    "start from the unscaled data and let `scale` fit on train inside every split",
    of="data",
)
@check(
    "PG124",
    "warning",
    "missing values filled in with figures of all rows",
    "start from the data with gaps and fill them on train inside every split",
    of="data",
)
def check_scaled(material: Material, ledger: Ledger) -> None:
    """Find columns that bear the mark of a scaler, a rotation or an imputer fitted on all rows."""
    columns = columns_of(material.dataset, material.sides)
    columns.account(SCALED, "statistics of all rows that are too exact", ledger)
    found = _Marks()
    for j in columns.columns[columns.is_number].tolist():
        found.add(j, columns.values(j))
    said: set[int] = set()
    for mark in (*_scaled(columns, found), *_turned(columns, found), *_centred(columns, found)):
        if not said.issuperset(mark.columns):
            said |= set(mark.columns)
            _report("PG107", columns, mark, found.measured, f"have {mark.how}", ledger)
    for mark in _filled(columns, found):
        what = f"hold one value again and again that is {mark.how}"
        _report("PG124", columns, mark, found.measured, what, ledger)


@dataclass(frozen=True, eq=False)
class _Mark:
    """What some columns bear over all rows, and how many of them bear it on some rows too."""

    how: str
    columns: list[int]
    kept: Callable[[FloatArray, IntArray], int]


@dataclass
class _Marks:
    """The marks that were found: by their name, the columns and the chance of each."""

    measured: int = 0
    columns: list[int] = field(default_factory=list)
    continuous: list[int] = field(default_factory=list)
    scaled: dict[str, dict[int, float]] = field(default_factory=dict)
    filled: dict[str, dict[int, float]] = field(default_factory=dict)

    def add(self, j: int, values: FloatArray) -> None:
        there = np.sort(values[~np.isnan(values)])
        if (
            len(there) < 2
            or not np.isfinite(there).all()
            or _n_distinct(there) <= MANY_VALUES
            or id_like(values)
        ):
            return
        self.measured += 1
        self.columns.append(j)
        if len(there) == len(values) and not _grain(there):
            self.continuous.append(j)
        for how, chance in scaled_as(there).items():
            self.scaled.setdefault(how, {})[j] = chance
        if len(there) == len(values):
            for how, chance in filled_with(there).items():
                self.filled.setdefault(how, {})[j] = chance


def unlikely(marked: dict[int, float], measured: int) -> list[int]:
    """Return the columns whose marks together are no accident; none where they may be one.

    Examples
    --------
    >>> unlikely({0: 1e-9, 3: 1.0}, 5), unlikely({0: 0.01}, 5)
    ([0], [])
    """
    chances = sorted((max(chance, 1e-300), j) for j, chance in marked.items() if chance < 0.5)
    log_chance = np.cumsum([np.log(chance) for chance, _ in chances])
    k = np.arange(1, len(chances) + 1)
    log_chance = log_chance + gammaln(measured + 1) - gammaln(k + 1) - gammaln(measured - k + 1)
    if not len(k) or log_chance.min() > np.log(LEVEL):
        return []
    enough = int(np.flatnonzero(log_chance <= np.log(LEVEL)).max()) + 1
    return sorted(j for _, j in chances[:enough])


def _n_distinct(ordered: FloatArray) -> int:
    return 1 + int(np.count_nonzero(np.diff(ordered)))


def _grain(ordered: FloatArray) -> float:
    """Return the step of the grid that the values of a column lie on; 0 where it is continuous."""
    steps = np.diff(ordered)
    steps = steps[steps > ROUNDING * (ordered[-1] - ordered[0])]
    least = float(steps.min())
    # The least step of a few values may be two or three steps of their grid.
    for grain in (least, least / 2, least / 3):
        places = (ordered - ordered[0]) / grain
        if places[-1] < FINEST_GRID and (np.abs(places - np.round(places)) < 1e-4).all():
            return grain
    return 0.0 if len(steps) + 1 >= CONTINUOUS * len(ordered) else least


def coincidence(tolerance: float, grain: float, error: float) -> float:
    """Bound the chance that a statistic of some standard error that moves in steps meets a number.

    Examples
    --------
    >>> coincidence(1e-6, 0.0, 0.1) < 1e-5 < coincidence(1e-6, 1.0, 0.1)
    True
    """
    return (
        min(1.0, max(2.0 * tolerance, grain) / (error * np.sqrt(2.0 * np.pi))) if error > 0 else 1.0
    )


def scaled_as(ordered: FloatArray) -> dict[str, float]:
    """Name the scalings that a sorted column bears the mark of, with the chance of each mark.

    Examples
    --------
    >>> values = np.sort(np.random.default_rng(0).random(50))
    >>> list(scaled_as((values - values.mean()) / values.std())), list(scaled_as(values))
    (['mean 0 and deviation 1'], [])
    >>> list(scaled_as(np.linspace(0, 1, 50)))
    ['evenly spaced ranks', 'least 0 and greatest 1']
    """
    n, grain = len(ordered), _grain(ordered)
    mean, squares, deviation = float(ordered.mean()), float(ordered @ ordered), float(ordered.std())
    fourth = float(np.square(np.square(ordered)).mean()) - (squares / n) ** 2
    of_mean, of_squares = deviation / np.sqrt(n), np.sqrt(max(fourth, 0.0) / n)
    square_grain = grain * max(grain, float(np.abs(ordered).min()))
    marks: dict[str, float] = {}
    # Twice the tolerance: a deviation that is off by t has a square that is off by 2t.
    one = coincidence(2 * EXACT, square_grain / n, of_squares)
    if any(abs(deviation * np.sqrt(n / (n - ddof)) - 1.0) <= EXACT for ddof in (0, 1)):
        if abs(mean) <= EXACT:
            marks["mean 0 and deviation 1"] = one * coincidence(EXACT, grain / n, of_mean)
        else:
            marks["deviation 1"] = one
    marks.update(_evenly(ordered))
    marks.update(_ends(ordered, grain))
    low, middle, high = (_quantile(ordered, share) for share in (0.25, 0.5, 0.75))
    if abs(high - low - 1.0) <= EXACT and abs(middle) <= EXACT:
        # The standard errors of a normal column; a grid makes the chance far greater than other
        # shapes do.
        marks["median 0 and quartiles 1 apart"] = coincidence(
            EXACT, grain, 1.25 * of_mean
        ) * coincidence(EXACT, grain, 1.57 * of_mean)
    if abs(squares - 1.0) <= EXACT:
        marks["squares that sum to 1"] = coincidence(EXACT, square_grain, n * of_squares)
    return marks


def _quantile(ordered: FloatArray, share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (place - below) * (ordered[above] - ordered[below]))


def _ends(ordered: FloatArray, grain: float) -> dict[str, float]:
    """Look at least and greatest values; a bound that many rows reach is one of nature, not of a scaler."""
    chance = ONE_EXTREME[1] if grain else ONE_EXTREME[0]
    low, high = float(ordered[0]), float(ordered[-1])
    of_low = chance if ordered[1] > low + ROUNDING else 1.0
    of_high = chance if ordered[-2] < high - ROUNDING else 1.0
    if abs(high - 1.0) <= ROUNDING:
        for least in (0.0, -1.0):
            if abs(low - least) <= ROUNDING:
                return {f"least {least:.0f} and greatest 1": of_low * of_high}
    if abs(max(-low, high) - 1.0) <= ROUNDING:
        return {"greatest size 1": of_high if high > -low else of_low}
    return {}


def _evenly(ordered: FloatArray) -> dict[str, float]:
    """Find values or normal scores that fill (0, 1) more evenly than random ones: Kolmogorov's distance is small."""
    n = len(ordered)
    if ordered[0] < 0.0:
        name, shares = "ranks turned into normal scores", ndtr(ordered)
    else:
        name, shares = "evenly spaced ranks", ordered
    if ordered[-1] > (1.0 + ROUNDING if name.startswith("evenly") else 10.0) or shares[-1] < 0.5:
        return {}
    places = np.arange(n + 1) / n
    distance = float(max(np.abs(shares - places[:-1]).max(), np.abs(shares - places[1:]).max()))
    if distance * np.sqrt(n) > 0.3:
        return {}
    return {name: float(kstwo.cdf(distance, n))}


def _scaled(columns: Columns, found: _Marks) -> Iterator[_Mark]:
    for how, marked in found.scaled.items():
        if bearing := unlikely(marked, found.measured):

            def kept(block: FloatArray, rows: IntArray, how: str = how) -> int:
                ordered = (np.sort(column[~np.isnan(column)]) for column in block.T)
                return sum(len(column) > 1 and how in scaled_as(column) for column in ordered)

            yield _Mark(how, bearing, kept)


def _filled(columns: Columns, found: _Marks) -> Iterator[_Mark]:
    for how, marked in found.filled.items():
        if bearing := unlikely(marked, found.measured):

            def kept(block: FloatArray, rows: IntArray, how: str = how) -> int:
                return sum(how in filled_with(np.sort(column)) for column in block.T)

            yield _Mark(how, bearing, kept)


def _report(
    code: str, columns: Columns, mark: _Mark, measured: int, what: str, ledger: Ledger
) -> None:
    """Speak up where the mark is lost on a train side."""
    # Repeated cross-validation has many train sides; the first that loses the mark is enough.
    count = len(mark.columns)
    for side in columns.sides:
        lost = count - mark.kept(columns.block(mark.columns, side.train), side.train)
        if lost:
            ledger.find(
                code,
                f"{count} of {measured} columns with more than {MANY_VALUES} values {what} over all"
                f" rows together, held-out ones included; on the train side of fold {side.fold},"
                f" {lost} of them do not",
                count,
                measured,
                [columns.dataset.feature_names[j] for j in mark.columns],
            )
            return


def _turned(columns: Columns, found: _Marks) -> Iterator[_Mark]:
    """Find columns that are exactly uncorrelated, as principal components of all rows are.

    Those count that are so with at least half of the others that are. Of independent columns, a
    pair is as near to 0 as EXACT standard errors with a chance below EXACT.
    """
    looked = np.array(found.continuous[:MOST_TURNED], dtype=np.int64)
    if len(looked) < 2:
        return
    block = columns.block(looked)
    for how, centre in (
        ("correlations of 0 with each other", True),
        ("right angles between them", False),
    ):
        none = _uncorrelated(block, centre=centre)
        bearing = np.flatnonzero(none.any(axis=0))
        bearing = bearing[2 * none[np.ix_(bearing, bearing)].sum(axis=0) >= len(bearing) - 1]
        of_two = len(bearing) == 2 and len(looked) ** 2 / 2 * EXACT <= LEVEL
        if len(bearing) > 2 or of_two:

            def kept(block: FloatArray, rows: IntArray, centre: bool = centre) -> int:
                among = _uncorrelated(block, centre=centre).sum(axis=0)
                return int((2 * among >= block.shape[1] - 1).sum())

            yield _Mark(how, looked[bearing].tolist(), kept)
            return


def _uncorrelated(block: FloatArray, *, centre: bool) -> NDArray[np.bool_]:
    centred = block - block.mean(axis=0) if centre else block
    size = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    unit = centred / np.where(size > 0, size, 1.0)
    none: NDArray[np.bool_] = np.abs(unit.T @ unit) <= EXACT / np.sqrt(len(block))
    np.fill_diagonal(none, val=False)
    return none


def _centred(columns: Columns, found: _Marks) -> Iterator[_Mark]:
    """Find columns whose mean is 0 in every group of rows, declared or named by a column of few values."""
    looked = found.columns[:MOST_TURNED]
    if not looked:
        return
    block = columns.block(looked)
    there = ~np.isnan(block)
    deviation = np.nanstd(block, axis=0)
    for name, codes in _groupings(columns):
        marked = {}
        for k in np.flatnonzero(_is_centred(block, codes)):
            grain = _grain(np.sort(block[there[:, k], k]))
            sizes = np.bincount(codes[there[:, k]])
            chances = [
                coincidence(EXACT, grain / m / deviation[k], 1 / np.sqrt(m))
                for m in sizes[sizes > 0]
            ]
            marked[looked[k]] = float(np.prod(chances))
        if bearing := unlikely(marked, found.measured):

            def kept(block: FloatArray, rows: IntArray, codes: IntArray = codes) -> int:
                return int(_is_centred(block, codes[rows]).sum())

            yield _Mark(f"mean 0 in every {name}", bearing, kept)
            return


def _is_centred(block: FloatArray, codes: IntArray) -> NDArray[np.bool_]:
    deviation = np.nanstd(block, axis=0)
    sums = per_level(codes, np.nan_to_num(block))
    means = sums / np.maximum(per_level(codes, (~np.isnan(block)).astype(np.float64)), 1.0)
    return np.asarray((np.abs(means) <= EXACT * deviation).all(axis=0) & (deviation > 0))


def _groupings(columns: Columns) -> Iterator[tuple[str, IntArray]]:
    """Walk over what may have grouped the rows: at most MOST_GROUPS groups of at least FEWEST_OF_GROUP rows."""
    dataset = columns.dataset
    given = [] if dataset.groups is None else [("declared group", codes_of(dataset.groups))]
    for j, feature, _ in columns.named[:MOST_GROUPINGS]:
        levels = columns.levels(j)
        if len(levels.values) <= MOST_GROUPS and not np.isnan(levels.values[0]):
            given.append((f"group of {feature}", levels.codes))
    for name, codes in given:
        sizes = np.bincount(codes)
        if 1 < len(sizes) <= MOST_GROUPS and sizes.min() >= FEWEST_OF_GROUP:
            yield name, codes


def filled_with(ordered: FloatArray) -> dict[str, float]:
    """Say of a sorted column whether the value met most often is the mean or the median of all others.

    Examples
    --------
    >>> others = np.random.default_rng(0).normal(size=40)
    >>> list(filled_with(np.sort(np.concatenate([others, np.full(5, others.mean())]))))
    ['the mean of the others']
    >>> list(filled_with(np.sort(np.concatenate([others, np.full(5, np.median(others))]))))
    ['the median of the others']
    """
    found = {}
    # Filling in the mean or the median leaves them where they were, so that each is a value of the
    # filled column.
    for name, figure in (("mean", float(ordered.mean())), ("median", _quantile(ordered, 0.5))):
        tolerance = (
            EXACT * float(ordered.std()) / np.sqrt(len(ordered))
            if name == "mean"
            else ROUNDING * abs(figure)
        )
        first, last = np.searchsorted(
            ordered, (figure - tolerance, figure + tolerance), side="left"
        )
        last = max(last, int(np.searchsorted(ordered, figure, side="right")))
        others = np.delete(ordered, slice(first, last))
        if (
            last - first < FEWEST_REPEATS
            or len(others) <= MANY_VALUES
            or ordered[first] != ordered[last - 1]
        ):
            continue
        error, grain = float(others.std()) / np.sqrt(len(others)), _grain(others)
        steps = (ordered[first] - others[0]) / grain if grain else 0.0
        if abs(steps - round(steps)) > EXACT:
            grain = 0.0  # A value beside the grid of the others was not measured.
        if name == "mean":
            chance = coincidence(tolerance, grain / len(others), error)
        elif abs(ordered[first] - _quantile(others, 0.5)) <= ROUNDING * abs(figure):
            chance = coincidence(tolerance, grain, error)
        elif 2 * first == len(others) and not grain:
            # The median of an odd number of values is one of them: it was there once before it was
            # repeated.
            chance = 1.0 / len(others)
        else:
            continue
        found[f"the {name} of the others"] = chance
    return found
