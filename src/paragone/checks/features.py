"""PG105 and PG106: features that give a label away.

A feature is only said to determine a label where chance would hardly do so. With n rows of which m
have the label, a feature without any bearing on it separates them by a threshold with probability 2
/ C(n, m), and a feature of G values falls into pure values with at most K^G n1! ... nK! / n! for K
classes of n1 ... nK rows. Times the number of features and labels looked at, that must be at most
1e-6. The n rows are those that can differ: rows of one declared group with one label count once,
and so do measured rows that are equal in every feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from paragone.checks.finding import Ledger
from paragone.checks.material import Material, column_blocks, row_codes
from paragone.checks.words import against, agree, counted, share
from paragone.data import Dataset
from paragone.validation import FloatArray, IntArray

GIVEAWAYS = "features that give a label away"
VERBS = {"PG105": ("copies", "copy"), "PG106": ("determines", "determine")}
LEVEL = 1e-6
MOST_VALUES = 256
FEWEST_MEASURED = 10
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
        ledger.look(GIVEAWAYS, dataset.n_features, f"features of {dataset.name}", against(labels))
        for code, pairs in (
            ("PG105", [g for g in found if g.copy]),
            ("PG106", [g for g in found if not g.copy]),
        ):
            if pairs:
                names = list(dict.fromkeys(g.feature for g in pairs))
                verb = agree(len(names), *VERBS[code])
                ledger.find(
                    code,
                    f"{share(len(names), dataset.n_features, 'features')} {verb} a label or target"
                    f" alone ({counted(len(pairs), 'such pairs')})",
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
    found = _giveaways(dataset, np.arange(dataset.n_samples))
    if not found:
        return []
    units = _units(dataset)
    return found if units is None else _giveaways(dataset, units)


def _units(dataset: Dataset) -> IntArray | None:
    """Number the rows so that those that stand for one measurement share a number; None where no two do."""
    if dataset.groups is not None:
        return np.unique(dataset.groups, return_inverse=True)[1].ravel().astype(np.int64)
    codes = row_codes(dataset.numbers)
    n_codes = int(codes.max()) + 1
    if n_codes == dataset.n_samples:
        return None
    # Coarse rows are equal by chance. Where one column has nearly as many values as there are rows,
    # they are repeats.
    blocks = (np.ascontiguousarray(block.T) for _, block in column_blocks(dataset.numbers))
    richest = max(len(np.unique(column)) for block in blocks for column in block)
    return codes if richest >= max(FEWEST_MEASURED, n_codes / 2) else None


def _giveaways(dataset: Dataset, units: IntArray) -> list[Giveaway]:
    if dataset.task == "regression":
        columns = dataset.y.reshape(dataset.n_samples, -1).T
        names = dataset.target_names
        return [
            g
            for y, name in zip(columns, names, strict=True)
            for g in _of_number(dataset, y, name, units)
        ]
    if dataset.task == "multilabel":
        codes = [
            (dataset.y[:, j].astype(np.int64), name) for j, name in enumerate(dataset.target_names)
        ]
    else:
        codes = [(np.unique(dataset.y, return_inverse=True)[1].ravel(), dataset.target_names[0])]
    return _of_classes(dataset, codes, units)


def _of_classes(
    dataset: Dataset, targets: list[tuple[IntArray, str]], units: IntArray
) -> list[Giveaway]:
    found = []
    tries = float(np.log(dataset.n_features * len(targets)))
    usable = [(codes, name) for codes, name in targets if codes.max() > codes.min()]
    for first, block in column_blocks(dataset.numbers):
        filled = _with_missing_lowest(block)
        coded = {j: _value_codes(filled[:, j]) for j in range(filled.shape[1])}
        for codes, name in usable:
            sizes = _sizes(codes, units)
            for j in sorted(
                _separating(filled, coded, codes, sizes, tries) | _pure(coded, codes, sizes, tries)
            ):
                values = coded[j]
                copy = (
                    values is not None and values.max() == codes.max() and _is_pure(values, codes)
                )
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


def _sizes(codes: IntArray, units: IntArray) -> IntArray:
    """Count the units of every class."""
    pairs = np.unique(units * (int(codes.max()) + 1) + codes)
    return np.bincount(pairs % (int(codes.max()) + 1))


def _separating(
    block: FloatArray,
    coded: dict[int, IntArray | None],
    codes: IntArray,
    sizes: IntArray,
    tries: float,
) -> set[int]:
    """Return the columns in which one class lies wholly above or below all others.

    That measurements set one class of several apart is what they are made for; there, codes alone
    count.
    """
    found: set[int] = set()
    classes = [1] if len(sizes) == 2 else range(len(sizes))
    for one in classes:
        chance = (
            np.log(2.0 * len(classes))
            + tries
            - _log_choices(np.array([sizes[one], sizes.sum() - sizes[one]]))
        )
        if chance > np.log(LEVEL) or not sizes[one]:
            continue
        mine, others = block[codes == one], block[codes != one]
        apart = (mine.min(axis=0) > others.max(axis=0)) | (mine.max(axis=0) < others.min(axis=0))
        found |= {
            j
            for j in np.flatnonzero(apart).tolist()
            if len(classes) == 1 or _is_code(coded[j], len(sizes))
        }
    return found


def _is_code(values: IntArray | None, n_classes: int) -> bool:
    return values is not None and values.max() < n_classes + 2


def _pure(
    coded: dict[int, IntArray | None], codes: IntArray, sizes: IntArray, tries: float
) -> set[int]:
    """Return the columns of which every value has one class."""
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


def _of_number(dataset: Dataset, target: FloatArray, name: str, units: IntArray) -> list[Giveaway]:
    there = ~np.isnan(target)
    y = target[there]
    if len(np.unique(y)) < 2:
        return []
    found = []
    values, codes = np.unique(y, return_inverse=True)
    sizes = _sizes(codes.ravel(), units[there])
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
                found.append(
                    Giveaway(feature, name, "is a rising or falling function of", copy=False)
                )
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
