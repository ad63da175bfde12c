"""How many equal rows chance gives in data as coarse as these.

Of people who answer ten questions with yes or no, some will answer alike. Rows are equal beyond
chance where that would be a wonder although the columns hang together. Two things are asked, both
without the equal rows themselves, which are what has to be explained:

- *Near misses.* Where coarse values make rows equal, they make many more rows nearly equal. Sets of
  equal rows that
  have another row within two columns of them are taken for coarse, and so are rows that hold one
  value throughout (all zero, all missing, the same answer to every question). Each such set makes
  chance more likely in the others.
- *Noisy copies.* For the other sets: every row is thought of as a copy of another row in which each
  value was, with
  probability L, drawn anew from its column, L by the likelihood of each row under all others. That
  keeps dependence of any order as far as rows show it, and gives the probability that a row equals
  a given one. Where the numbers of pairs that differ in few columns, drawn out to none, promise
  more, that counts. Numbers of many values are cut into bins; how often two values in a bin are
  equal is bounded by equal values elsewhere and by values at the least distance seen. Only the
  column that tells most counts there, as if all others followed from it.

The number of sets is then compared with three times the expected one (Poisson). A number as target
tells more: rows that are equal in all features may still differ in it, and where most do, few
should share it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.checks.arrays import dense, drawn, row_codes
from paragone.data import Dataset
from paragone.validation import FloatArray, IntArray

LEVEL = 1e-4
"""What counts as beyond chance: stricter than one in a hundred, to leave room for what the model leaves out."""
SAFETY = 3.0
TELLING = 128
BINS = 16
FEW_VALUES = 20
HEAP = 0.05
PARTS = 4
NEAR = 2
ENOUGH = 10
MOST_SETS = 64
MOST_ROWS = 100
MOST_BASE = 2000
MOST_COPIED = 1000
MOST_CANDIDATES = 512
REDRAWN = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0)


@dataclass(frozen=True)
class Coincidence:
    """Sets of equal rows against chance.

    Attributes
    ----------
    sets : int
        Sets of equal rows without a near miss, of those looked at.
    expected : float
        How many of them chance gives, times the factor of safety.
    p : float
        Probability of as many or more.
    """

    sets: int
    expected: float
    p: float
    what: str = "sets of equal rows without a near miss"

    @property
    def by_chance(self) -> bool:
        """Whether chance may have done it."""
        return self.p > LEVEL

    @property
    def sentence(self) -> str:
        """Both numbers."""
        return (
            f"{self.sets} {self.what}, where chance gives at most {self.expected:.2g} (p ="
            f" {self.p:.1g})"
        )


def coincidence(X: Any, codes: IntArray, torn: IntArray, seed: int = 0) -> Coincidence:
    """Say whether sets of equal rows are more than chance gives.

    Parameters
    ----------
    X : ndarray or csr_array
        All rows.
    codes : ndarray of int64
        Equal for equal rows, from 0; see `row_codes`.
    torn : ndarray of int64
        The codes of the sets in question.
    seed : int, default=0
        Of the rows that are drawn where there are many.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> X[:3] = X[3:6]
    >>> coincidence(X, row_codes(X), row_codes(X)[:3]).by_chance
    False
    >>> yes_or_no = np.random.default_rng(0).integers(0, 2, size=(100, 4))
    >>> coincidence(yes_or_no, row_codes(yes_or_no), np.arange(5)).by_chance
    True
    """
    from scipy.stats import poisson

    rng = np.random.default_rng(seed)
    n_rows = len(codes)
    # One row of every set: what is asked must not be its own answer.
    first = np.unique(codes, return_index=True)[1]
    base, some = drawn(first, MOST_BASE, seed), drawn(torn, MOST_SETS, seed)
    asked = first[some]
    asked = asked[~_one_value(X, asked)]
    rich = asked[_without_near_miss(X, asked, base, codes)]
    if not len(rich):
        return Coincidence(0, 0.0, 1.0)
    others = rng.choice(n_rows, min(n_rows, MOST_ROWS), replace=False)
    n_others = len(others)
    others = others[_without_near_miss(X, others, base, codes)]
    copies = _copies(
        _telling_columns(X, first, rng),
        np.concatenate([rich, others]),
        rng.permutation(base)[:MOST_COPIED],
        codes,
    )
    of_sets, of_rows = copies.probability[: len(rich)], copies.probability[len(rich) :]
    shells, rate = copies.shells[len(rich) :], copies.rate[len(rich) :]
    pairs, more = n_rows * (n_rows - 1) / 2, len(torn) / len(some)
    # Where many sets have near misses, sets without one are no wonder: the model may be far off
    # there.
    safety = SAFETY * (1.0 + more * (len(asked) - len(rich)))
    found = []
    # All sets, the less probable half of them, a quarter ...: few wonders must not be lost among
    # many likely sets.
    for halvings in range(int(np.log2(len(rich))) + 1):
        limit = np.sort(of_sets)[len(rich) // 2**halvings - 1]
        below = of_rows <= limit
        equal = (of_rows[below].sum() + limit) / (n_others + 1)
        equal = max(equal, _extrapolated(shells[below].sum(axis=0)) * rate[below].sum() / n_others)
        expected = safety * float(equal) * pairs
        sets = round(more * (of_sets <= limit).sum())
        found.append(Coincidence(sets, expected, float(poisson.sf(sets - 1, expected))))
    best = min(found, key=lambda one: one.p)
    return replace(best, p=min(1.0, best.p * len(found)))


def shared_targets(dataset: Dataset, codes: IntArray, torn: IntArray) -> Coincidence:
    """Say whether rows with equal features share a measured target more often than chance gives.

    Only where the target is a number of many values, and most pairs of rows with equal features
    differ in it: else it may follow from the features. Then two of them share it about as rarely as
    two rows whose targets fall into one bin.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.integers(0, 2, size=(300, 8)), rng.normal(size=300)
    >>> shared_targets(Dataset("d", X, y, "regression"), row_codes(X), np.unique(row_codes(X))).by_chance
    True
    >>> X[:12], y[:12] = X[12:24], y[12:24]
    >>> shared_targets(Dataset("d", X, y, "regression"), row_codes(X), np.unique(row_codes(X))).by_chance
    False
    """
    from scipy.stats import binom

    nothing = Coincidence(0, 0.0, 1.0, "sets of equal rows share their target too")
    if dataset.task != "regression":
        return nothing
    rows = np.flatnonzero(np.isin(codes, torn))
    targets = row_codes(dataset.y)
    together = codes * (targets.max() + 1) + targets
    both = np.unique(together[rows], return_counts=True)[1]
    pairs = _pairs(np.unique(codes[rows], return_counts=True)[1])
    equal = _pairs(both)
    distinct = np.unique(together, return_index=True)[1]
    columns = dataset.y.reshape(dataset.n_samples, -1).T
    rate = min(float(_numbered(column, distinct)[1].min()) for column in columns)
    if 2 * equal > pairs:
        return nothing
    share, sets = min(1.0, SAFETY * rate), int((both > 1).sum())
    p = float(binom.sf(sets - 1, pairs, share))
    return replace(nothing, sets=sets, expected=pairs * share, p=p)


@dataclass(frozen=True, eq=False)
class _Telling:
    """The columns that tell most, in bins, and how rarely values in a bin are equal."""

    bins: IntArray
    rates: tuple[FloatArray, ...]


def _telling_columns(X: Any, distinct: IntArray, rng: np.random.Generator) -> _Telling:
    # Among columns that tell as much, any will do; neighbours, as in spectra, would tell the same
    # twice.
    candidates = rng.permutation(X.shape[1])
    if len(candidates) > MOST_CANDIDATES:
        filled = np.asarray((X != 0).mean(axis=0)).ravel()[candidates]
        order = np.argsort(-np.round(filled * (1 - filled), 2), kind="stable")
        candidates = candidates[order[:MOST_CANDIDATES]]
    part = np.ascontiguousarray(dense(X[:, candidates]).T)
    numbered = [_numbered(column, distinct) for column in part]
    telling = sorted(numbered, key=lambda one: -round(_entropy(one[0][distinct]), 1))[:TELLING]
    return _Telling(
        np.column_stack([bins for bins, _ in telling]), tuple(rates for _, rates in telling)
    )


def _numbered(column: FloatArray, distinct: IntArray) -> tuple[IntArray, FloatArray]:
    """Number the values of a column, in bins where they are many, and bound the rate of equal values in each bin.

    Values that many rows hold, such as 0, have a bin of their own, with rate 1.
    """
    levels, values = np.unique(column, return_inverse=True)
    values = values.ravel()
    heights = np.bincount(values[distinct], minlength=len(levels))
    if len(levels) <= FEW_VALUES:
        return values, np.ones(len(levels))
    heaped = heights >= HEAP * len(distinct)
    rest = np.sort(values[distinct][~heaped[values[distinct]]])
    n_bins = int(np.clip(len(distinct) // 10, 2, BINS))
    edges = rest
    if len(rest):
        edges = np.unique(rest[np.linspace(0, len(rest) - 1, n_bins + 1).astype(int)[1:-1]])
    of_level = np.searchsorted(edges, np.arange(len(levels)), side="left")
    of_level[heaped] = of_level.max(initial=0) + 1 + np.arange(heaped.sum())
    heights = np.where(heaped, 0, heights)
    pairs, equal = _pairs(np.bincount(of_level, heights)), _pairs(heights)
    # Values on a grid that is wider in some parts, such as logarithms of counts, have a least step
    # in each part.
    parts = [
        steps
        for steps in np.array_split(np.diff(levels[heights > 0]), PARTS)
        if not np.isnan(steps).all()
    ]
    close = float(sum(np.sum(steps <= 1.5 * np.nanmin(steps)) for steps in parts))
    rates = np.ones(of_level.max() + 1)
    rates[of_level[~heaped]] = min(1.0, (1.0 + equal + close) / (1.0 + pairs))
    return of_level[values], rates


def _pairs(counts: NDArray[Any]) -> float:
    return float((counts * (counts - 1.0) / 2).sum())


def _entropy(codes: IntArray) -> float:
    share = np.bincount(codes) / len(codes)
    share = share[share > 0]
    return float(-(share * np.log2(share)).sum())


def _one_value(X: Any, rows: IntArray) -> NDArray[np.bool_]:
    """Say which rows hold one value throughout, gaps aside."""
    if X.shape[1] == 1:
        return np.zeros(len(rows), dtype=bool)
    part = dense(X[rows])
    there = ~np.isnan(part)
    low = np.min(part, axis=1, where=there, initial=np.inf)
    return np.asarray(low >= np.max(part, axis=1, where=there, initial=-np.inf))


def _without_near_miss(
    X: Any, asked: IntArray, base: IntArray, codes: IntArray
) -> NDArray[np.bool_]:
    """Say which rows have no other, unequal row that differs from them in one or two columns only."""
    part = X[base]
    found = np.empty(len(asked), dtype=bool)
    for place, row in enumerate(asked):
        if sparse.issparse(X):
            one = X[[row]]
            same = np.asarray(part[:, one.indices].toarray() == one.data).sum(axis=1)
            differ = (
                len(one.data)
                + np.diff(part.indptr)
                - same
                - np.asarray((part[:, one.indices] != 0).sum(axis=1))
            )
        else:
            differ = np.count_nonzero(
                (part != X[row]) & ~(np.isnan(part) & np.isnan(X[row])), axis=1
            )
        found[place] = (differ[codes[base] != codes[row]] > NEAR).all()
    return found


@dataclass(frozen=True, eq=False)
class _Copies:
    """For each row: how probably another equals it, how many differ in 0, 1 ... bins, the rate of equal values."""

    probability: FloatArray
    shells: IntArray
    rate: FloatArray


def _copies(columns: _Telling, asked: IntArray, base: IntArray, codes: IntArray) -> _Copies:
    bins, redrawn = columns.bins, np.array(REDRAWN)
    held, n_columns = bins[base], bins.shape[1]
    counts = [
        np.bincount(held[:, j], minlength=int(bins[:, j].max()) + 1) + 0.5 for j in range(n_columns)
    ]
    shares = [count / count.sum() for count in counts]
    logs = np.empty((len(asked), len(redrawn)))
    shells = np.zeros((len(asked), n_columns + 1), dtype=np.int64)
    for place, row in enumerate(asked):
        share = np.array([shares[j][code] for j, code in enumerate(bins[row])])
        anew = np.log(redrawn * share[:, None])
        more = np.log(1.0 - redrawn + redrawn * share[:, None]) - anew
        same = held[codes[base] != codes[row]] == bins[row]
        each = anew.sum(axis=0) + same.astype(np.float64) @ more
        top = each.max(axis=0)
        logs[place] = top + np.log(np.exp(each - top).mean(axis=0))
        shells[place] = np.bincount(n_columns - same.sum(axis=1), minlength=n_columns + 1)
    rate = np.min([rates[bins[asked, j]] for j, rates in enumerate(columns.rates)], axis=0)
    return _Copies(np.exp(logs[:, logs.mean(axis=0).argmax()]) * rate, shells, rate)


def _extrapolated(shells: IntArray) -> float:
    """Return the share of pairs that differ in 0 columns, from the numbers of those that differ in 0, 1, 2 ...

    The first number of columns that enough pairs stay within begins a line, in logarithms, through
    the one two columns on: of indicators two change at once. Such numbers mostly fall ever faster,
    so the line lies above them.
    """
    within = np.cumsum(shells, dtype=np.float64)
    if not within[-1]:
        return 0.0
    begin = int(np.searchsorted(within, min(ENOUGH, within[-1])))
    end = min(begin + 2, len(within) - 1)
    fall = (within[begin] / within[end]) ** (begin / (end - begin)) if end > begin else 1.0
    return float(within[begin] * fall / within[-1])
