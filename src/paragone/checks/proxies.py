"""PG120: features that nearly give a label away.

What tells a proxy from a good feature? Three things are looked for, each with the chance that a
feature without any bearing on the label would show it, over all features, labels and rules:

- a rule of one feature that is hardly ever wrong (J of at least 0.97, where J is the share of the
  label's rows that the
  rule names less that of the others; 0.95 R squared and more for numbers need the third as well);
- a rule that nobody would expect of a measurement: the remainder of a whole number, that a value is
  missing, one value
  that stands for a class;
- a code in the label's own language, of hardly more values than it has classes, that agrees with it
  (J of at least
  0.8), and whose errors have nothing to do with any other feature. A measured cause shares its
  noise with other measurements; a copy of the label with errors does not.

A threshold without bearing on the label reaches J with a chance of at most e exp(-2 J^2 m1 m0 / n)
(the two-sample Kolmogorov-Smirnov bound of Wei and Dudley, Statistics and Probability Letters 82,
2012), a set of G values with at most 2^G exp(-2 J^2 m1 m0 m / n^2) for the greater m of m1 and m0
(Hoeffding's bound without replacement, over all sets).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from paragone.checks.arrays import centred, codes_of
from paragone.checks.features import LOG_LEVEL, giveaways
from paragone.checks.finding import Ledger
from paragone.checks.material import Clue, Columns, Levels, per_level, thresholds
from paragone.checks.registry import check
from paragone.checks.words import against
from paragone.validation import FloatArray, IntArray

PROXIES = "features that nearly give a label away"
HARDLY_WRONG = 0.97
AGREES = 0.8
STRANGE = 0.5
EXPLAINED = 0.95
AGREES_WITH = "agrees with"
FEW_VALUES = 32
MODULI = (2, 3, 4, 5, 6, 7, 8, 9, 10)
CLEARLY = 0.01
RELATED = 0.01
TWIN = 0.99
FEWEST_ONE_VALUE = 0.02


@check(
    "PG120",
    "warning",
    "a feature that nearly gives a label away",
    "see whether the column is made or known only after the label is; drop it where it is",
    of="columns",
)
def check_proxies(columns: Columns, ledger: Ledger) -> None:
    """Find features that nearly give a label or target away."""
    columns.account(PROXIES, against(columns.dataset.n_targets), ledger)
    found = sorted(proxies(columns), key=lambda one: -one.share)
    known = {(one.feature, one.label) for one in giveaways(columns)} if found else set()
    clues = [
        replace(one, label=f"{one.label} ({one.share:.1%})")
        for one in found
        if (one.feature, one.label.rpartition(" of ")[2]) not in known
    ]
    verbs = "nearly tells", "nearly tell"
    columns.report("PG120", clues, verbs, "a label or target alone", ledger)


def proxies(columns: Columns) -> list[Clue]:
    """Return every feature that nearly gives a label or target away.

    Examples
    --------
    >>> from paragone.checks.material import columns_of
    >>> from paragone.data import Dataset
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> X = np.column_stack([rng.normal(size=400), np.where(rng.random(400) < 0.95, y, 1 - y)])
    >>> [str(one) for one in proxies(columns_of(Dataset("d", X, y, "classification")))]
    ['x1 agrees with y0']
    """
    if columns.dataset.task != "regression":
        return list(_of_events(columns))
    return [one for y, name in columns.numbers for one in _of_number(columns, y, name)]


@dataclass(frozen=True, eq=False)
class _Rule:
    """A way to read a feature: the sets that it sorts rows into, and how good it must be to be said."""

    how: str
    codes: IntArray
    needed: float
    beats: float = 0.0


def _of_events(columns: Columns) -> Iterator[Clue]:
    wanted = columns.events(columns.rows)
    if not wanted:
        return
    signed = np.column_stack([event.signed for event in wanted])
    of_two = np.array([event.n_classes == 2 for event in wanted])
    n, m1 = len(signed), np.array([event.rows.sum() for event in wanted])
    tries = np.log(len(columns.columns) * len(wanted) * (len(MODULI) + 4.0))
    by_threshold = 2 * m1 * (n - m1) / n
    by_set = by_threshold * np.maximum(m1, n - m1) / n
    for j, feature, is_number in columns.named:
        levels = columns.sampled(j)
        reached = thresholds(levels.codes, signed) if is_number else np.zeros(len(wanted))
        no_accident = tries + 1 - by_threshold * reached**2 <= LOG_LEVEL
        # That one class of several lies apart is what measurements are made for.
        near = no_accident & (reached >= HARDLY_WRONG) & of_two
        best = {
            k: ("nearly separates by a threshold", reached[k])
            for k in np.flatnonzero(near).tolist()
        }
        for rule in _rules(levels, is_number=is_number):
            sums = per_level(rule.codes, signed)
            J = 0.5 * np.abs(sums).sum(axis=0)
            log_chance = len(sums) * np.log(2.0) - by_set * J**2
            if len(sums) == 2:
                # Two sets are what a threshold makes, for which the bound is sharper.
                log_chance = 1 - by_threshold * J**2
            for k in np.flatnonzero(tries + log_chance <= LOG_LEVEL).tolist():
                good = J[k] >= max(rule.needed, rule.beats + reached[k] if rule.beats else 0.0)
                if rule.how == AGREES_WITH:
                    is_code = len(sums) <= wanted[k].n_classes + 2
                    # As with thresholds: that values of a measurement belong to one class of
                    # several is no wonder.
                    good &= is_code or of_two[k]
                    if not good and is_code and J[k] >= AGREES:
                        named = (sums[rule.codes, k] > 0).astype(np.float64)
                        good = not _is_related(columns, j, named, wanted[k].rows)
                if good and J[k] > best.get(k, ("", 0.0))[1] + CLEARLY:
                    best[k] = (rule.how, J[k])
        for k, (how, J_of) in best.items():
            yield Clue(feature, wanted[k].name, how, 0.5 + J_of / 2)


def _rules(levels: Levels, *, is_number: bool) -> Iterator[_Rule]:
    values, codes, counts = levels.values, levels.codes, levels.counts
    has_gaps = bool(np.isnan(values[0]))
    if has_gaps and len(values) > 1:
        yield _Rule("is missing or not, as", (codes == 0).astype(np.int64), STRANGE)
    if len(values) <= FEW_VALUES:
        yield _Rule(AGREES_WITH, codes, HARDLY_WRONG)
        return
    if not is_number:
        return
    often = int(counts.argmax())
    if counts[often] >= max(3, FEWEST_ONE_VALUE * len(codes)):
        is_it = (codes == often).astype(np.int64)
        yield _Rule(f"is {values[often]:g} or not, as", is_it, HARDLY_WRONG)
    there = values[has_gaps:]
    if (there == np.round(there)).all() and np.abs(there).max() < 2**53:
        for k in MODULI:
            rest = np.where(np.isnan(values), 0, values % k).astype(np.int64)
            yield _Rule(f"has remainders by {k} that tell", rest[codes], STRANGE, beats=0.3)


def _is_related(columns: Columns, j: int, rule: FloatArray, event: FloatArray) -> bool:
    """Say whether, given the event, some other feature goes with what the rule says, or with where it is wrong."""
    others = _others(columns, j, columns.rows)
    left = np.column_stack([rule, np.abs(rule - event)])
    for block in (left, others):
        for one in (0.0, 1.0):
            block[event == one] = centred(block[event == one])
    return _goes_with(left, others, len(event) - 3)


def _others(columns: Columns, j: int, rows: IntArray) -> FloatArray:
    """Return all other features but twins of this one, which say nothing about it."""
    block = columns.block(columns.columns[columns.columns != j], rows)
    others, own = centred(block), centred(columns.block([j], rows))[:, 0]
    size = np.sqrt((own @ own) * np.einsum("ij,ij->j", others, others))
    return block[:, np.abs(own @ others) < TWIN * size]


def _goes_with(left: FloatArray, others: FloatArray, freedom: int) -> bool:
    """Say whether a column of the first block correlates with one of the second, over all of them, at 1 %."""
    size = np.sqrt(np.outer((left**2).sum(axis=0), (others**2).sum(axis=0)))
    r = np.divide(left.T @ others, size, out=np.zeros_like(size), where=size > 0)
    if not r.size or freedom < 1:
        return False
    greatest = np.arctanh(min(float(np.abs(r).max()), 1 - 1e-12))
    return bool(greatest * np.sqrt(freedom) > -ndtri(RELATED / 2 / r.size))


def _of_number(columns: Columns, target: FloatArray, name: str) -> Iterator[Clue]:
    rows = columns.rows[~np.isnan(target[columns.rows])]
    y = target[rows]
    n = len(y)
    if n < 5 or np.ptp(y) == 0:
        return
    ranks = rankdata(y)
    tries = np.log(2.0 * len(columns.columns))
    for j, feature, is_number in columns.named:
        column = columns.values(j)[rows]
        missing = np.isnan(column)
        m = int(missing.sum())
        if 0 < m < n:
            signed = np.where(missing, 1 / m, -1 / (n - m))
            J = float(thresholds(codes_of(y), signed[:, None])[0])
            if J >= AGREES and tries + 1 - 2 * J**2 * m * (n - m) / n <= LOG_LEVEL:
                yield Clue(feature, name, "is missing or not, as by a threshold of", 0.5 + J / 2)
        if m or not is_number or np.ptp(column) == 0:
            continue
        r = max(abs(np.corrcoef(a, b)[0, 1]) for a, b in ((column, y), (rankdata(column), ranks)))
        # The chance that a feature without bearing explains so much: (1 - R^2)^((n - 2) / 2), of
        # normal numbers.
        if r**2 < EXPLAINED or tries + (n - 2) / 2 * np.log(max(1 - r**2, 1e-300)) > LOG_LEVEL:
            continue
        others = _others(columns, j, rows)
        if not _goes_with(_off_line(column[:, None], y), _off_line(others, y), n - 3):
            yield Clue(feature, name, "nearly is a rising or falling function of", r**2)


def _off_line(block: FloatArray, y: FloatArray) -> FloatArray:
    """Take away what a straight line in the target explains; missing values stand on it."""
    left, from_mean = centred(block), y - y.mean()
    return np.asarray(left - np.outer(from_mean, from_mean @ left / (from_mean @ from_mean)))
