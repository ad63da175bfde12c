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
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from paragone.checks.columns import ColumnPart, column_part
from paragone.checks.features import LEVEL, giveaways
from paragone.checks.finding import Ledger
from paragone.checks.material import Material
from paragone.checks.words import against, agree, counted, share
from paragone.data import Dataset
from paragone.validation import FloatArray, IntArray

PROXIES = "features that nearly give a label away"
HARDLY_WRONG = 0.97
AGREES = 0.8
STRANGE = 0.5
EXPLAINED = 0.95
AGREES_WITH = "agrees with"
FEW_VALUES = 32
MODULI = (2, 3, 4, 5, 6, 7, 8, 9, 10)
MOST_ROWS = 10_000
MOST_EVENTS = 200
CLEARLY = 0.01
RELATED = 0.01
TWIN = 0.99
FEWEST_ONE_VALUE = 0.02


@dataclass(frozen=True)
class Proxy:
    """A feature that nearly gives a label away: by which rule, and how well."""

    feature: str
    label: str
    how: str
    share: float

    def __str__(self) -> str:
        return f"{self.feature} {self.how} {self.label} ({self.share:.1%})"


@dataclass(frozen=True, eq=False)
class Event:
    """What a rule is to name: the rows of a class, or those with a label."""

    name: str
    rows: FloatArray
    n_classes: int


def check_proxies(material: Material, ledger: Ledger) -> None:
    """Find features that nearly give a label or target away."""
    for dataset in material.targets:
        part = column_part(dataset)
        part.account(PROXIES, dataset.name, against(dataset.n_targets), ledger)
        found = proxies(part)
        if found:
            known = {(one.feature, one.label) for one in giveaways(dataset)}
            found = [
                one for one in found if (one.feature, one.label.rpartition(" of ")[2]) not in known
            ]
        if found:
            names = list(dict.fromkeys(one.feature for one in found))
            ledger.find(
                "PG120",
                f"{share(len(names), dataset.n_features, 'features')} nearly"
                f" {agree(len(names), 'tells', 'tell')} a label or target alone"
                f" ({counted(len(found), 'such pairs')})",
                dataset=dataset.name,
                count=len(names),
                total=dataset.n_features,
                examples=[str(one) for one in sorted(found, key=lambda one: -one.share)],
            )


def proxies(part: ColumnPart) -> list[Proxy]:
    """Return every feature that nearly gives a label or target away.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> X = np.column_stack([rng.normal(size=400), np.where(rng.random(400) < 0.95, y, 1 - y)])
    >>> [str(one) for one in proxies(column_part(Dataset("d", X, y, "classification")))]
    ['x1 agrees with y0 (96.5%)']
    """
    rows = sample_rows(part.n_rows)
    if part.dataset.task == "regression":
        targets = part.dataset.y.reshape(part.n_rows, -1)[rows].T
        names = part.dataset.target_names
        return [
            one
            for y, name in zip(targets, names, strict=True)
            for one in _of_number(part, rows, y, name)
        ]
    return _of_events(part, rows, events(part.dataset, rows))


def sample_rows(n_rows: int) -> IntArray:
    """Return the rows that rules are tried on: all, or enough of many."""
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(n_rows).choice(n_rows, MOST_ROWS, replace=False))


def events(dataset: Dataset, rows: IntArray) -> list[Event]:
    """Return what there is to name: a class of two, each of several, each label; none that all or no rows have."""
    if dataset.task == "multilabel":
        found = [
            Event(name, np.asarray(dataset.y[rows, j], dtype=np.float64), 2)
            for j, name in enumerate(dataset.target_names)
        ]
    else:
        values, codes = np.unique(dataset.y[rows], return_inverse=True)
        (name,) = dataset.target_names
        if len(values) == 2:
            found = [Event(name, codes.ravel().astype(np.float64), 2)]
        else:
            found = [
                Event(
                    f"the class {value} of {name}",
                    (codes.ravel() == k).astype(np.float64),
                    len(values),
                )
                for k, value in enumerate(values[:MOST_EVENTS])
            ]
    return [one for one in found if 0 < one.rows.sum() < len(rows)][:MOST_EVENTS]


@dataclass(frozen=True, eq=False)
class _Rule:
    """A way to read a feature: the sets that it sorts rows into, and how good it must be to be said."""

    how: str
    codes: IntArray
    needed: float
    beats: float = 0.0


def _of_events(part: ColumnPart, rows: IntArray, wanted: list[Event]) -> list[Proxy]:
    if not wanted:
        return []
    E = np.column_stack([event.rows for event in wanted])
    n, m1 = len(rows), E.sum(axis=0)
    m0 = n - m1
    signed = E / m1 - (1 - E) / m0
    tries = np.log(len(part.columns) * len(wanted) * (len(MODULI) + 4.0))
    by_threshold = 2 * m1 * m0 / n
    by_set = by_threshold * np.maximum(m1, m0) / n
    found = []
    for j, is_number in zip(part.columns.tolist(), part.is_number.tolist(), strict=True):
        column = part.values(j)[rows]
        reached = thresholds(column, signed) if is_number else np.zeros(len(wanted))
        no_accident = tries + 1 - by_threshold * reached**2 <= np.log(LEVEL)
        # That one class of several lies apart is what measurements are made for.
        said = {
            k: ("nearly separates by a threshold", reached[k])
            for k in np.flatnonzero(no_accident & (reached >= HARDLY_WRONG)).tolist()
            if wanted[k].n_classes == 2
        }
        for rule in _rules(column, is_number=is_number):
            n_sets = int(rule.codes.max()) + 1
            J = 0.5 * np.abs(_sums(rule.codes, n_sets, signed)).sum(axis=0)
            # Two sets are what a threshold makes, for which the bound is sharper.
            log_chance = (
                1 - by_threshold * J**2 if n_sets == 2 else n_sets * np.log(2.0) - by_set * J**2
            )
            no_accident = tries + log_chance <= np.log(LEVEL)
            for k in np.flatnonzero(no_accident).tolist():
                good = J[k] >= max(rule.needed, rule.beats + reached[k] if rule.beats else 0.0)
                if rule.how == AGREES_WITH:
                    is_code = n_sets <= wanted[k].n_classes + 2
                    # As with thresholds: that values of a measurement belong to one class of
                    # several is no wonder.
                    good &= is_code or wanted[k].n_classes == 2
                    if not good and is_code and J[k] >= AGREES:
                        good = not _is_related(
                            part, j, rows, _best_set(rule.codes, signed[:, k]), E[:, k]
                        )
                if good and J[k] > said.get(k, ("", 0.0))[1] + CLEARLY:
                    said[k] = (rule.how, J[k])
        found += [
            Proxy(part.dataset.feature_names[j], wanted[k].name, how, 0.5 + J / 2)
            for k, (how, J) in said.items()
        ]
    return found


def thresholds(column: FloatArray, signed: FloatArray) -> FloatArray:
    """Return, for every event, the J of the best threshold; missing values lie below all others.

    Examples
    --------
    >>> thresholds(np.array([1.0, 2.0, 3.0, 4.0]), np.array([[-0.5], [-0.5], [0.5], [0.5]]))
    array([1.])
    """
    filled = np.where(np.isnan(column), -np.inf, column)
    order = np.argsort(filled, kind="stable")
    ends = np.append(filled[order][1:] != filled[order][:-1], False)
    sums = np.cumsum(signed[order], axis=0)[ends]
    return np.abs(sums).max(axis=0) if len(sums) else np.zeros(signed.shape[1])


def _rules(column: FloatArray, *, is_number: bool) -> Iterator[_Rule]:
    missing = np.isnan(column)
    if missing.any() and not missing.all():
        yield _Rule("is missing or not, as", missing.astype(np.int64), STRANGE)
    values, codes, counts = np.unique(
        column, return_inverse=True, return_counts=True, equal_nan=True
    )
    if len(values) <= FEW_VALUES:
        yield _Rule(AGREES_WITH, codes.ravel(), HARDLY_WRONG)
        return
    if not is_number:
        return
    if counts.max() >= max(3, FEWEST_ONE_VALUE * len(column)):
        often = int(counts.argmax())
        yield _Rule(
            f"is {values[often]:g} or not, as",
            (codes.ravel() == often).astype(np.int64),
            HARDLY_WRONG,
        )
    there = column[~missing]
    if (
        len(there)
        and np.isfinite(there).all()
        and (there == np.round(there)).all()
        and np.abs(there).max() < 2**53
    ):
        for k in MODULI:
            rest = np.where(missing, 0, np.nan_to_num(column) % k).astype(np.int64)
            yield _Rule(f"has remainders by {k} that tell", rest, STRANGE, beats=0.3)


def _sums(codes: IntArray, n_sets: int, signed: FloatArray) -> FloatArray:
    return np.stack(
        [np.bincount(codes, weights=weights, minlength=n_sets) for weights in signed.T], axis=1
    )


def _best_set(codes: IntArray, signed: FloatArray) -> FloatArray:
    """Return 1 for the rows whose value is met more often with the event than without it."""
    return (np.bincount(codes, weights=signed)[codes] > 0).astype(np.float64)


def _is_related(
    part: ColumnPart, j: int, rows: IntArray, rule: FloatArray, event: FloatArray
) -> bool:
    """Say whether, given the event, some other feature goes with what the rule says, or with where it is wrong."""
    others = _others(part, j, rows)
    wrong = np.abs(rule - event)
    left = _given(np.column_stack([rule, wrong]), event)
    return bool(others.shape[1]) and _goes_with(left, _given(others, event), len(rows) - 3)


def _others(part: ColumnPart, j: int, rows: IntArray) -> FloatArray:
    """Return all other features but twins of this one, which say nothing about it."""
    others = part.columns[part.columns != j]
    block, own = part.block(others, rows), part.values(j)[rows]
    centred = np.nan_to_num(block - _means(block))
    mine = np.nan_to_num(own - np.nanmean(own))
    size = np.sqrt((mine @ mine) * np.einsum("ij,ij->j", centred, centred))
    return block[:, np.abs(mine @ centred) < TWIN * size]


def _means(block: FloatArray) -> FloatArray:
    """Return the mean of each column over what is there; 0 where nothing is."""
    there = ~np.isnan(block)
    return np.asarray(np.where(there, block, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1))


def _given(block: FloatArray, event: FloatArray) -> FloatArray:
    """Take the mean of each class away; missing values stand at the mean."""
    left = np.zeros_like(block)
    for one in (0.0, 1.0):
        chosen = event == one
        left[chosen] = block[chosen] - _means(block[chosen])
    return np.nan_to_num(left)


def _goes_with(left: FloatArray, others: FloatArray, freedom: int) -> bool:
    """Say whether a column of the first block correlates with one of the second, over all of them, at 1 %."""
    size = np.sqrt(
        np.outer(np.einsum("ij,ij->j", left, left), np.einsum("ij,ij->j", others, others))
    )
    r = np.divide(left.T @ others, size, out=np.zeros_like(size), where=size > 0)
    if not r.size or freedom < 1:
        return False
    greatest = np.arctanh(min(float(np.abs(r).max()), 1 - 1e-12))
    return bool(greatest * np.sqrt(freedom) > -ndtri(RELATED / 2 / r.size))


def _of_number(part: ColumnPart, rows: IntArray, target: FloatArray, name: str) -> list[Proxy]:
    there = ~np.isnan(target)
    rows, y = rows[there], target[there]
    n = len(y)
    if n < 5 or np.ptp(y) == 0:
        return []
    ranks = rankdata(y)
    tries = np.log(2.0 * len(part.columns))
    found = []
    for j, is_number in zip(part.columns.tolist(), part.is_number.tolist(), strict=True):
        column = part.values(j)[rows]
        feature = part.dataset.feature_names[j]
        missing = np.isnan(column)
        m = int(missing.sum())
        if 0 < m < n:
            J = float(thresholds(ranks, np.where(missing, 1 / m, -1 / (n - m))[:, None])[0])
            if J >= AGREES and tries + 1 - 2 * J**2 * m * (n - m) / n <= np.log(LEVEL):
                found.append(
                    Proxy(feature, name, "is missing or not, as by a threshold of", 0.5 + J / 2)
                )
        if m or not is_number or np.ptp(column) == 0:
            continue
        r = max(abs(np.corrcoef(a, b)[0, 1]) for a, b in ((column, y), (rankdata(column), ranks)))
        # The chance that a feature without bearing explains so much: (1 - R^2)^((n - 2) / 2), of
        # normal numbers.
        if r**2 < EXPLAINED or tries + (n - 2) / 2 * np.log(max(1 - r**2, 1e-300)) > np.log(LEVEL):
            continue
        if _goes_with(_off_line(column[:, None], y), _off_line(_others(part, j, rows), y), n - 3):
            continue
        found.append(Proxy(feature, name, "nearly is a rising or falling function of", r**2))
    return found


def _off_line(block: FloatArray, y: FloatArray) -> FloatArray:
    """Take away what a straight line in the target explains; missing values stand on it."""
    centred = np.nan_to_num(block - _means(block))
    from_mean = y - y.mean()
    return np.asarray(centred - np.outer(from_mean, from_mean @ centred / (from_mean @ from_mean)))
