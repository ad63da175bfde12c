"""The DIGEN collection: 40 published formulas and seeds, and the datasets that follow from them.

Formulas are read and evaluated here, below `paragone.generate`, so that an experiment can name a
DIGEN set like any other dataset; everything that makes new formulas is in `paragone.generate`.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from paragone.data.dataset import Dataset
from paragone.data.formulas import OPERATORS, Expression, Feature, Token
from paragone.errors import InputError, unknown_name
from paragone.validation import FloatArray, IntArray

__all__ = [
    "OPERATORS",
    "DigenEntry",
    "Expression",
    "Feature",
    "HalfCut",
    "Token",
    "cut_in_half",
    "entries",
    "find",
    "legacy_argsort",
    "make_digen",
    "names",
]

REFERENCE_METHODS = (
    "DecisionTreeClassifier",
    "GradientBoostingClassifier",
    "KNeighborsClassifier",
    "LGBMClassifier",
    "LogisticRegression",
    "RandomForestClassifier",
    "SVC",
    "XGBClassifier",
)


@dataclass(frozen=True)
class DigenEntry:
    """One set of the collection.

    Parameters
    ----------
    number, seed : int
        As in the published name, ``digen8_4426``.
    formula : str
        The published text.
    md5 : str
        The published hash of the text.
    x_hash, y_hash : str
        Hashes of the features (to six decimals) and of the labels.
    auroc : mapping of str to float
        The published AUROC of the eight reference methods on the test split.

    Examples
    --------
    >>> entry = find("digen8")
    >>> entry.name, entry.seed, round(entry.auroc["XGBClassifier"], 2)
    ('digen8_4426', 4426, 0.99)
    """

    number: int
    seed: int
    formula: str
    md5: str
    x_hash: str
    y_hash: str
    auroc: Mapping[str, float]

    @property
    def name(self) -> str:
        """The published name."""
        return f"digen{self.number}_{self.seed}"

    def expression(self) -> Expression:
        """Return the formula, checked against its published hash."""
        return checked_formula(self.name, self.formula, self.md5)


@cache
def entries() -> tuple[DigenEntry, ...]:
    """Return the 40 sets, by number.

    Examples
    --------
    >>> len(entries())
    40
    >>> entries()[7].name, entries()[7].formula
    ('digen8_4426', 'safeDiv(X0, mul(X5, X2))')
    """
    text = files("paragone.data").joinpath("collections", "digen.csv").read_text(encoding="utf-8")
    return tuple(
        DigenEntry(
            int(row["number"]),
            int(row["seed"]),
            row["formula"],
            row["md5"],
            row["x_hash"],
            row["y_hash"],
            {method: float(row[method]) for method in REFERENCE_METHODS},
        )
        for row in csv.DictReader(text.splitlines())
    )


def names() -> tuple[str, ...]:
    """Return the published names, by number.

    Examples
    --------
    >>> names()[7]
    'digen8_4426'
    """
    return tuple(entry.name for entry in entries())


def find(reference: str) -> DigenEntry:
    """Return a set by its number, its short or its published name.

    Examples
    --------
    >>> find("8") is find("digen8") is find("digen8_4426")
    True
    """
    for entry in entries():
        if reference in (str(entry.number), f"digen{entry.number}", entry.name):
            return entry
    raise unknown_name("DIGEN set", reference, [f"digen{entry.number}" for entry in entries()])


SMALL_RANGE = 16


def legacy_argsort(values: FloatArray) -> IntArray:
    """Return the order of the values as NumPy's old quicksort gave it; NaN last.

    Examples
    --------
    >>> legacy_argsort(np.array([3.0, 1.0, 2.0]))
    array([1, 2, 0])
    """
    # Ranks stand for values where there are NaNs: all of them share the last rank.
    keys = _sortable(np.asarray(values, dtype=np.float64))
    order = list(range(len(keys)))
    waiting: list[tuple[int, int]] = []
    low, high = 0, len(keys) - 1
    while True:
        while high - low > SMALL_RANGE:
            cut = _partition(keys, order, low, high)
            if cut - low < high - cut:
                waiting.append((cut + 1, high))
                high = cut - 1
            else:
                waiting.append((low, cut - 1))
                low = cut + 1
        _insertion_sort(keys, order, low, high)
        if not waiting:
            return np.array(order, dtype=np.int64)
        low, high = waiting.pop()


def _sortable(values: FloatArray) -> list[float]:
    if np.isnan(values).any():
        values = np.unique(values, return_inverse=True)[1].astype(np.float64)
    return list(map(float, values))


def _partition(keys: list[float], order: list[int], low: int, high: int) -> int:
    middle = low + (high - low) // 2
    for a, b in ((middle, low), (high, middle), (middle, low)):
        if keys[order[a]] < keys[order[b]]:
            order[a], order[b] = order[b], order[a]
    pivot = keys[order[middle]]
    i, j = low, high - 1
    order[middle], order[j] = order[j], order[middle]
    while True:
        i += 1
        while keys[order[i]] < pivot:
            i += 1
        j -= 1
        while pivot < keys[order[j]]:
            j -= 1
        if i >= j:
            break
        order[i], order[j] = order[j], order[i]
    order[i], order[high - 1] = order[high - 1], order[i]
    return i


def _insertion_sort(keys: list[float], order: list[int], low: int, high: int) -> None:
    for i in range(low + 1, high + 1):
        entry = order[i]
        j = i
        while j > low and keys[entry] < keys[order[j - 1]]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = entry


@dataclass(frozen=True, eq=False)
class HalfCut:
    """Labels by the half rule.

    Parameters
    ----------
    labels : ndarray of uint8
        1 for the upper half of the values, else 0.
    n_tied : int
        Rows that share the value at the cut; 0 where the cut separates two values.
    noise : float
        The share of rows whose label an unstable sort decided against the larger part of the rows
        that they tie with. No classifier can learn these.
    ceiling : float
        The AUROC of the formula's own values: what the best classifier can reach on these labels.

    Examples
    --------
    >>> cut_in_half(np.array([0.3, 0.1, 0.9, 0.5])).ceiling
    1.0
    """

    labels: NDArray[np.uint8]
    n_tied: int
    noise: float
    ceiling: float


def cut_in_half(values: FloatArray) -> HalfCut:
    """Label the upper half 1; rows that tie at the cut fall as the published sort lets them.

    With an odd number of rows the upper half has one row more.

    Examples
    --------
    >>> cut_in_half(np.array([0.3, 0.1, 0.9, 0.5])).labels
    array([0, 0, 1, 1], dtype=uint8)
    >>> tied = cut_in_half(np.array([0.0, 0.0, 0.0, 1.0]))
    >>> tied.n_tied, tied.noise, tied.ceiling
    (3, 0.25, 0.75)
    """
    values = np.asarray(values, dtype=np.float64)
    half = len(values) // 2
    if half == 0:
        raise InputError("the half rule needs at least two rows")
    order = legacy_argsort(values)
    labels = np.zeros(len(values), dtype=np.uint8)
    labels[order[half:]] = 1
    below, above = values[order[half - 1]], values[order[half]]
    if below != above:
        return HalfCut(labels, 0, 0.0, 1.0)
    tied = values == above
    upper = int(labels[tied].sum())
    lower = int(tied.sum()) - upper
    # Pairs of a tied 1 and a tied 0 count half; all others are in the right order.
    lost = 0.5 * upper * lower / (half * (len(values) - half))
    return HalfCut(labels, upper + lower, min(upper, lower) / len(values), 1.0 - lost)


N_ROWS = 1000
N_FEATURES = 10
HASHED_DECIMALS = 6
"""Logarithms differ in the last bit from one system to another; to six decimals the features agree everywhere."""


def digen_features(seed: int) -> FloatArray:
    """Return the 1000 x 10 normal features of a seed, as the generator of that time drew them."""
    return np.random.RandomState(seed).normal(size=(N_ROWS, N_FEATURES))


def hash_features(X: FloatArray) -> str:
    """Hash features to six decimals.

    Examples
    --------
    >>> hash_features(np.zeros((1, 2))) == hash_features(np.full((1, 2), -1e-15))
    True
    """
    whole = np.rint(np.asarray(X) * 10**HASHED_DECIMALS).astype("<i8")
    return hashlib.sha256(repr(whole.shape).encode() + whole.tobytes()).hexdigest()[:16]


def hash_labels(y: NDArray[np.generic]) -> str:
    """Hash 0/1 labels."""
    return hashlib.sha256(np.asarray(y).astype(np.uint8).tobytes()).hexdigest()[:16]


def checked_formula(name: str, formula: str, md5: str) -> Expression:
    """Read the formula of a dataset; one with another hash than is known of it is refused."""
    expression = Expression.parse(formula)
    if expression.md5 != md5:
        raise InputError(f"{name}: the formula was altered: its md5 is {expression.md5}, not {md5}")
    return expression


def checked_dataset(
    name: str,
    X: FloatArray,
    labels: NDArray[np.uint8],
    x_hash: str,
    y_hash: str,
    notes: tuple[str, ...] = (),
) -> Dataset:
    """Make a dataset of features and 0/1 labels; others than those that the hashes are of are refused."""
    for what, found, known in (
        ("features", hash_features(X), x_hash),
        ("labels", hash_labels(labels), y_hash),
    ):
        if found != known:
            raise InputError(f"{name}: the {what} made here have the hash {found}, not {known}")
    names = tuple(f"X{j}" for j in range(X.shape[1]))
    y = labels.astype(np.int64)
    return Dataset(
        name, X, y, "classification", feature_names=names, target_names=("target",), notes=notes
    )


def make_digen(entry: DigenEntry) -> Dataset:
    """Make a set from its formula and seed, and check formula, features and labels by their hashes.

    Examples
    --------
    >>> make_digen(find("digen8"))
    Dataset 'digen8_4426': 1000 samples x 10 features, classification, 2 classes
    """
    X = digen_features(entry.seed)
    cut = cut_in_half(entry.expression().evaluate(X))
    notes = (
        (f"{cut.noise:.1%} of the labels were decided by the order of ties",) if cut.noise else ()
    )
    return checked_dataset(entry.name, X, cut.labels, entry.x_hash, entry.y_hash, notes)
