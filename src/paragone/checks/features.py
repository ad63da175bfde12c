"""PG105 to PG109: features that give a label away, are constant, number the rows or were scaled as a whole.

A feature is only said to determine a label where chance would hardly do so. With n rows of which m have the label, a
feature without any bearing on it separates them by a threshold with probability 2 / C(n, m), and a feature of G
values falls into pure values with at most K^G n1! ... nK! / n! for K classes of n1 ... nK rows. Times the number of
features and labels looked at, that must be at most 1e-6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from paragone.checks.finding import Ledger
from paragone.checks.material import Material, Side, column_blocks
from paragone.data import Dataset
from paragone.validation import FloatArray, IntArray

OF_COLUMNS = "columns"
MANY_VALUES = 10
SHARE = 0.8
FEWEST_SCALED = 2
EXACT = 1e-6
FEWEST_ROWS = 20


@dataclass
class _Columns:
    """What is gathered about the columns of a dataset, block by block."""

    constant: list[int] = field(default_factory=list)
    ids: list[tuple[int, str]] = field(default_factory=list)
    measured: int = 0
    scaled: dict[str, list[int]] = field(default_factory=dict)


def check_columns(material: Material, ledger: Ledger) -> None:
    """Find constant and id-like columns, and columns scaled before the split."""
    dataset = material.dataset
    ledger.look(OF_COLUMNS, dataset.n_features, f"columns of {material.name}", "constant, id-like, scaled as a whole")
    found = _Columns()
    for first, block in column_blocks(dataset.numbers):
        _look(block, first, found)
    names, where = dataset.feature_names, {"dataset": material.name, "total": dataset.n_features}
    if found.constant:
        ledger.find(
            "PG108",
            f"{len(found.constant)} of {dataset.n_features} columns hold a single value",
            count=len(found.constant),
            examples=[names[j] for j in found.constant],
            **where,
        )
    if found.ids:
        ledger.find(
            "PG109",
            f"{len(found.ids)} of {dataset.n_features} columns number or order the rows",
            count=len(found.ids),
            examples=[f"{names[j]} {how}" for j, how in found.ids],
            **where,
        )
    for how, columns in found.scaled.items():
        _check_scaled(material, how, columns, found.measured, ledger)


def _look(block: FloatArray, first: int, found: _Columns) -> None:
    low, high = np.min(block, axis=0), np.max(block, axis=0)
    for j in range(block.shape[1]):
        column = block[:, j]
        if low[j] == high[j] or np.isnan(column).all():
            found.constant.append(first + j)
            continue
        n_values = len(np.unique(column))
        how = id_like(column) if n_values == len(column) else ""
        if how:
            found.ids.append((first + j, how))
        elif n_values > MANY_VALUES:
            found.measured += 1
            for kind in scaled_as(column):
                found.scaled.setdefault(kind, []).append(first + j)


def id_like(column: FloatArray) -> str:
    """Say in which way a column of distinct values numbers the rows; empty where it does not.

    Examples
    --------
    >>> id_like(np.arange(30.0)), id_like(np.random.default_rng(0).permutation(30) + 5.0)
    ('rises from row to row', 'holds every number from 5 to 34 once')
    >>> id_like(np.random.default_rng(0).random(30))
    ''
    """
    if len(column) < FEWEST_ROWS or np.isnan(column).any():
        return ""
    step = np.diff(column)
    if (step > 0).all() or (step < 0).all():
        return f"{'rises' if step[0] > 0 else 'falls'} from row to row"
    if (column == np.round(column)).all() and column.max() - column.min() == len(column) - 1:
        return f"holds every number from {column.min():.0f} to {column.max():.0f} once"
    return ""


def scaled_as(column: FloatArray) -> list[str]:
    """Name the scalings that a column bears the mark of, over all its rows.

    Examples
    --------
    >>> values = np.random.default_rng(0).random(50)
    >>> scaled_as((values - values.mean()) / values.std()), scaled_as(values)
    (['mean 0 and deviation 1'], [])
    """
    values = column[~np.isnan(column)]
    low, high = float(values.min()), float(values.max())
    kinds = []
    if high == 1.0 and low in (0.0, -1.0):
        kinds.append(f"least {low:.0f} and greatest 1")
    if abs(float(values.mean())) <= EXACT and any(abs(float(values.std(ddof=d)) - 1) <= EXACT for d in (0, 1)):
        kinds.append("mean 0 and deviation 1")
    return kinds


def _check_scaled(material: Material, how: str, columns: list[int], measured: int, ledger: Ledger) -> None:
    """Speak up where most measured columns bear the mark on the whole, and lose it on a train side."""
    if len(columns) < FEWEST_SCALED or len(columns) < SHARE * measured:
        return
    lost = [(_lost(material.dataset.numbers, side, columns, how), side) for side in material.sides]
    worst, side = max(lost, key=lambda pair: pair[0], default=(0, None))
    if not worst or side is None:
        return
    ledger.find(
        "PG107",
        f"{len(columns)} of {measured} columns with more than {MANY_VALUES} values have {how} over all rows together, "
        f"held-out ones included; on the train side of fold {side.fold}, {worst} of them have not",
        dataset=material.name,
        count=len(columns),
        total=measured,
        examples=[material.dataset.feature_names[j] for j in columns],
    )


def _lost(X: Any, side: Side, columns: list[int], how: str) -> int:
    part: NDArray[Any] = X[side.train][:, columns]
    dense = part.toarray() if hasattr(part, "toarray") else part
    return sum(how not in scaled_as(dense[:, j]) for j in range(len(columns)))


GIVEAWAYS = "features that give a label away"
LEVEL = 1e-6
MOST_VALUES = 256
SAME_LINE = 1e-12


@dataclass(frozen=True)
class Giveaway:
    """A feature that gives a label or target away, and how."""

    feature: str
    label: str
    how: str
    copy: bool


def check_label_features(material: Material, ledger: Ledger) -> None:
    """Find features that equal or determine a label or target."""
    for dataset in material.targets:
        found = giveaways(dataset)
        labels = dataset.n_targets
        ledger.look(
            GIVEAWAYS, dataset.n_features, f"features of {dataset.name}", f"against {labels} label(s) or target(s)"
        )
        for code, pairs in (("PG105", [g for g in found if g.copy]), ("PG106", [g for g in found if not g.copy])):
            if pairs:
                names = list(dict.fromkeys(g.feature for g in pairs))
                verb = "copies" if code == "PG105" else "determines"
                ledger.find(
                    code,
                    f"{len(names)} of {dataset.n_features} features: each {verb} a label or target alone "
                    f"({len(pairs)} such pairs)",
                    dataset=dataset.name,
                    count=len(names),
                    total=dataset.n_features,
                    examples=[f"{g.feature} {g.how} {g.label}" for g in pairs],
                )


def giveaways(dataset: Dataset) -> list[Giveaway]:
    """Return every feature that gives a label or target away.

    Examples
    --------
    >>> y = np.arange(40) % 2
    >>> data = Dataset("d", np.column_stack([5.0 - 2 * y, np.cos(np.arange(40))]), y, "classification")
    >>> [(g.feature, g.how) for g in giveaways(data)]
    [('x0', 'is one to one with')]
    """
    if dataset.task == "regression":
        columns = dataset.y.reshape(dataset.n_samples, -1).T
        return [g for y, name in zip(columns, dataset.target_names, strict=True) for g in _of_number(dataset, y, name)]
    if dataset.task == "multilabel":
        codes = [(dataset.y[:, j].astype(np.int64), name) for j, name in enumerate(dataset.target_names)]
    else:
        codes = [(np.unique(dataset.y, return_inverse=True)[1].ravel(), dataset.target_names[0])]
    return _of_classes(dataset, codes)


def _of_classes(dataset: Dataset, targets: list[tuple[IntArray, str]]) -> list[Giveaway]:
    found = []
    tries = float(np.log(dataset.n_features * len(targets)))
    usable = [(codes, name) for codes, name in targets if codes.max() > codes.min()]
    for first, block in column_blocks(dataset.numbers):
        filled = _with_missing_lowest(block)
        coded = {j: _value_codes(filled[:, j]) for j in range(filled.shape[1])}
        for codes, name in usable:
            for j in sorted(_separating(filled, codes, tries) | _pure(coded, codes, tries)):
                values = coded[j]
                copy = values is not None and values.max() == codes.max() and _is_pure(values, codes)
                how = "is one to one with" if copy else _words(filled[:, j], values, codes, dataset)
                found.append(Giveaway(dataset.feature_names[first + j], name, how, bool(copy)))
    return found


def _with_missing_lowest(block: FloatArray) -> FloatArray:
    """Put missing values below all others: that a value is missing may give the label away too."""
    if not np.isnan(block).any():
        return block
    low = np.nanmin(np.where(np.isnan(block).all(axis=0), 0.0, block), axis=0)
    return np.where(np.isnan(block), low - 1.0, block)


def _value_codes(column: FloatArray) -> IntArray | None:
    """Number the values of a column from 0; None where it has too many to be a code."""
    values, codes = np.unique(column, return_inverse=True)
    return codes.ravel() if 1 < len(values) <= MOST_VALUES else None


def _log_choices(sizes: NDArray[Any]) -> float:
    """Return the logarithm of n! / (n1! n2! ...)."""
    return float(gammaln(sizes.sum() + 1) - gammaln(sizes + 1).sum())


def _separating(block: FloatArray, codes: IntArray, tries: float) -> set[int]:
    """Return the columns in which one class lies wholly above or below all others."""
    found: set[int] = set()
    sizes = np.bincount(codes)
    classes = [1] if len(sizes) == 2 else range(len(sizes))
    for one in classes:
        chance = np.log(2.0 * len(classes)) + tries - _log_choices(np.array([sizes[one], len(codes) - sizes[one]]))
        if chance > np.log(LEVEL) or not sizes[one]:
            continue
        mine, others = block[codes == one], block[codes != one]
        apart = (mine.min(axis=0) > others.max(axis=0)) | (mine.max(axis=0) < others.min(axis=0))
        found |= set(np.flatnonzero(apart).tolist())
    return found


def _pure(coded: dict[int, IntArray | None], codes: IntArray, tries: float) -> set[int]:
    """Return the columns of which every value has one class."""
    sizes = np.bincount(codes)
    sizes = sizes[sizes > 0]
    found = set()
    for j, values in coded.items():
        if values is None:
            continue
        chance = tries + (values.max() + 1) * np.log(len(sizes)) - _log_choices(sizes)
        if chance <= np.log(LEVEL) and _is_pure(values, codes):
            found.add(j)
    return found


def _is_pure(values: IntArray, codes: IntArray) -> bool:
    pairs = len(np.unique(values * (codes.max() + 1) + codes))
    return pairs == len(np.unique(values))


def _words(column: FloatArray, values: IntArray | None, codes: IntArray, dataset: Dataset) -> str:
    for one in range(codes.max() + 1):
        mine, others = column[codes == one], column[codes != one]
        if mine.min() > others.max() or mine.max() < others.min():
            several = f" the class {np.unique(dataset.y)[one]!s} of" if codes.max() > 1 else ""
            return f"separates by a threshold{several}"
    return f"has {0 if values is None else values.max() + 1} values, each with one value of"


def _of_number(dataset: Dataset, target: FloatArray, name: str) -> list[Giveaway]:
    there = ~np.isnan(target)
    y = target[there]
    if len(np.unique(y)) < 2:
        return []
    found = []
    values, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    tries = float(np.log(dataset.n_features))
    by_rank = np.log(2.0) + tries - _log_choices(sizes) <= np.log(LEVEL)
    for first, block in column_blocks(dataset.numbers):
        filled = _with_missing_lowest(block[there])
        lines = _on_a_line(filled, y)
        for j in range(filled.shape[1]):
            feature = dataset.feature_names[first + j]
            levels, own = np.unique(filled[:, j], return_inverse=True)
            own = own.ravel()
            if lines[j] and by_rank:
                found.append(Giveaway(feature, name, "is a linear function of", copy=True))
            elif by_rank and len(levels) == len(values) and _same_or_opposite(own, codes):
                found.append(Giveaway(feature, name, "is a rising or falling function of", copy=False))
            elif 1 < len(levels) < len(y) and _is_pure(own, codes):
                chance = tries + len(levels) * np.log(len(values)) - _log_choices(sizes)
                if chance <= np.log(LEVEL):
                    how = f"has {len(levels)} values, each with one value of"
                    found.append(Giveaway(feature, name, how, copy=False))
    return found


def _on_a_line(block: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
    """Say of which columns the target is an exact linear function, up to rounding."""
    centred, target = block - block.mean(axis=0), y - y.mean()
    spread = np.einsum("ij,ij->j", centred, centred)
    slope = np.divide(target @ centred, spread, out=np.zeros(len(spread)), where=spread > 0)
    left = target[:, None] - centred * slope
    return np.asarray(np.einsum("ij,ij->j", left, left) <= SAME_LINE * (target @ target))


def _same_or_opposite(own: IntArray, codes: IntArray) -> bool:
    return bool((own == codes).all() or (own == codes.max() - codes).all())
