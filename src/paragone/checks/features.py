"""PG105 and PG106: features that give a label away.

A feature is only said to determine a label where chance would hardly do so. With n rows of which m
have the label, a feature without any bearing on it separates them by a threshold with probability 2
/ C(n, m), and a feature of G values falls into pure values with at most K^G n1! ... nK! / n! for K
classes of n1 ... nK rows. Times the number of features and labels looked at, that must be at most
1e-6. The n rows are those that can differ: rows of one declared group with one label count once,
and so do measured rows that are equal in every feature.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from paragone.checks.arrays import codes_of, row_codes
from paragone.checks.finding import Ledger
from paragone.checks.material import Clue, Columns, Levels, per_level
from paragone.checks.registry import check
from paragone.checks.words import against
from paragone.validation import FloatArray, IntArray

GIVEAWAYS = "features that give a label away"
VERBS = {"PG105": ("copies", "copy"), "PG106": ("determines", "determine")}
LOG_LEVEL = np.log(1e-6)
MOST_VALUES = 256
FEWEST_MEASURED = 10
SAME_LINE = 1e-12
LINEAR = "is a linear function of"
RECODED = "is one to one with"
COPIES = (LINEAR, RECODED)


@check(
    "PG105",
    "error",
    "a feature that is a copy of a label or target",
    "drop the column (drop = [...]): it will not be there when the label is asked for",
    of="columns",
)
@check(
    "PG106",
    "warning",
    "a feature that determines a label alone",
    "see whether the column is known before the label is; drop it where it is not",
    of="columns",
)
def check_label_features(columns: Columns, ledger: Ledger) -> None:
    """Find features that equal or determine a label or target."""
    dataset = columns.dataset
    found = giveaways(columns)
    ledger.look(GIVEAWAYS, dataset.n_features, "features", against(dataset.n_targets))
    for code, verbs in VERBS.items():
        clues = [one for one in found if (one.how in COPIES) == (code == "PG105")]
        columns.report(code, clues, verbs, "a label or target alone", ledger)


def giveaways(columns: Columns) -> list[Clue]:
    """Return every feature that gives a label or target away.

    Examples
    --------
    >>> from paragone.checks.material import columns_of
    >>> from paragone.data import Dataset
    >>> y = np.arange(40) % 2
    >>> data = Dataset("d", np.column_stack([5.0 - 2 * y, np.cos(np.arange(40))]), y, "classification")
    >>> [(one.feature, one.how) for one in giveaways(columns_of(data))]
    [('x0', 'is one to one with')]
    """
    search = _of_numbers if columns.dataset.task == "regression" else _of_classes
    found = list(search(columns, np.arange(columns.n_rows)))
    units = _units(columns) if found else None
    return found if units is None else list(search(columns, units))


def _units(columns: Columns) -> IntArray | None:
    """Number the rows so that those that stand for one measurement share a number; None where no two do."""
    dataset = columns.dataset
    if dataset.groups is not None:
        return codes_of(dataset.groups)
    codes = row_codes(dataset.numbers)
    n_codes = int(codes.max()) + 1
    if n_codes == dataset.n_samples:
        return None
    # Coarse rows are equal by chance. Where one column has nearly as many values as there are rows,
    # they are repeats.
    richest = max(len(columns.levels(j).values) for j in range(dataset.n_features))
    return codes if richest >= max(FEWEST_MEASURED, n_codes / 2) else None


def _log_choices(sizes: Any) -> Any:
    """Return the logarithm of n! / (n1! n2! ...), of every column of sizes."""
    return gammaln(sizes.sum(axis=0) + 1) - gammaln(sizes + 1).sum(axis=0)


def _sizes(codes: IntArray, units: IntArray) -> IntArray:
    """Count the units of every class."""
    n_classes = int(codes.max()) + 1
    pairs = np.unique(units * n_classes + codes)
    return np.bincount(pairs % n_classes, minlength=2)


def _of_classes(columns: Columns, units: IntArray) -> Iterator[Clue]:
    if columns.dataset.task == "multilabel":
        labels = np.stack([label for label, _ in columns.numbers], axis=1)
    else:
        values, codes = columns.classes
        if len(values) != 2:
            yield from _of_several(columns, units)
            return
        labels = codes[:, None].astype(np.float64)
    sizes = np.stack([_sizes(label.astype(np.int64), units) for label in labels.T], axis=1)
    for j in range(columns.dataset.n_features):
        yield from _of_labels(columns, j, labels, _log_choices(sizes))


def _of_labels(
    columns: Columns, j: int, labels: FloatArray, log_choices: FloatArray
) -> Iterator[Clue]:
    levels, names = columns.levels(j), columns.dataset.target_names
    n_levels = len(levels.values)
    if n_levels < 2:
        return
    tries = np.log(columns.dataset.n_features * len(names))
    with_label = per_level(levels.codes, labels)
    has, lacks = with_label > 0, with_label < levels.counts[:, None]
    mixed = np.asarray((has & lacks).any(axis=0))
    pure = ~mixed & (n_levels <= MOST_VALUES)
    apart = _lie_apart(has, lacks)
    usable = has.any(axis=0) & lacks.any(axis=0)
    by_threshold = apart & (np.log(2.0) + tries - log_choices <= LOG_LEVEL)
    by_values = pure & (tries + n_levels * np.log(2.0) - log_choices <= LOG_LEVEL)
    for k in np.flatnonzero(usable & (by_threshold | by_values)).tolist():
        how = f"has {n_levels} values, each with one value of"
        if pure[k] and n_levels == 2:
            how = RECODED
        elif apart[k]:
            how = "separates by a threshold"
        yield Clue(columns.dataset.feature_names[j], names[k], how)


def _lie_apart(has: NDArray[np.bool_], lacks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say of which columns the levels with it lie wholly above or below those without."""
    places = np.arange(len(has))[:, None]
    first, last = (np.where(has, places, end) for end in (len(has), -1))
    other_first, other_last = (np.where(lacks, places, end) for end in (len(has), -1))
    above = first.min(axis=0) > other_last.max(axis=0)
    return np.asarray(above | (last.max(axis=0) < other_first.min(axis=0)))


def _of_several(columns: Columns, units: IntArray) -> Iterator[Clue]:
    dataset = columns.dataset
    values, codes = columns.classes
    n_classes = len(values)
    if n_classes < 2:
        return
    tries, sizes = np.log(dataset.n_features), _sizes(codes, units)
    log_choices = _log_choices(sizes)
    by_class = (
        np.log(2.0 * n_classes) + tries - _log_choices(np.stack([sizes, sizes.sum() - sizes]))
    )
    for j in range(dataset.n_features):
        levels = columns.levels(j)
        n_levels = len(levels.values)
        if not 1 < n_levels <= MOST_VALUES:
            continue
        rows = per_level(levels.codes, np.eye(n_classes)[codes])
        apart = _lie_apart(rows > 0, rows < levels.counts[:, None])
        pure = bool(((rows > 0).sum(axis=1) == 1).all())
        by_values = pure and tries + n_levels * np.log(n_classes) - log_choices <= LOG_LEVEL
        # That measurements set one class of several apart is what they are made for; there, codes
        # alone count.
        by_code = n_levels <= n_classes + 2 and (apart & (by_class <= LOG_LEVEL)).any()
        if by_values or by_code:
            how = f"has {n_levels} values, each with one value of"
            if pure and n_levels == n_classes:
                how = RECODED
            elif apart.any():
                how = f"separates by a threshold the class {values[apart.argmax()]!s} of"
            yield Clue(dataset.feature_names[j], dataset.target_names[0], how)


def _of_numbers(columns: Columns, units: IntArray) -> Iterator[Clue]:
    for target, name in columns.numbers:
        there = ~np.isnan(target)
        y = target[there]
        values, codes = np.unique(y, return_inverse=True)
        if len(values) > 1:
            log_choices = _log_choices(_sizes(codes, units[there]))
            for j, feature in enumerate(columns.dataset.feature_names):
                column = columns.values(j)[there]
                how = _tells_number(
                    column, y, codes, log_choices - np.log(columns.dataset.n_features)
                )
                if how:
                    yield Clue(feature, name, how)


def _tells_number(column: FloatArray, y: FloatArray, codes: IntArray, log_free: float) -> str:
    """Say how a column determines a target; empty where it does not, or may by chance."""
    levels = Levels.of(column)
    n_levels, n_values = len(levels.values), int(codes.max()) + 1
    if np.log(2.0) - log_free <= LOG_LEVEL:
        if _is_on_a_line(
            np.where(np.isnan(column), levels.values[min(1, n_levels - 1)] - 1, column), y
        ):
            return LINEAR
        if n_levels == n_values and (
            (levels.codes == codes).all() or (levels.codes == n_values - 1 - codes).all()
        ):
            return "is a rising or falling function of"
    by_values = 1 < n_levels < len(y) and n_levels * np.log(n_values) - log_free <= LOG_LEVEL
    if by_values and len(np.unique(levels.codes * n_values + codes)) == n_levels:
        return f"has {n_levels} values, each with one value of"
    return ""


def _is_on_a_line(column: FloatArray, y: FloatArray) -> bool:
    """Say whether the target is an exact linear function of a column, up to rounding."""
    centred, target = column - column.mean(), y - y.mean()
    spread = centred @ centred
    left = target - centred * (target @ centred / spread if spread > 0 else 0.0)
    return bool(left @ left <= SAME_LINE * (target @ target))
