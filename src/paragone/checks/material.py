"""Material: a dataset with the two sides of all its splits, as the checks of the data look at them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.checks.arrays import codes_of, dense, drawn, union
from paragone.checks.finding import Ledger
from paragone.checks.words import agree, counted, share
from paragone.data import Dataset, Split
from paragone.data.frames import column_kinds
from paragone.lab.protocol import Arrangement
from paragone.validation import FloatArray, IntArray

MOST_LOOKED_AT = 1 << 24
"""Values of a dataset that a check of columns looks at: about two seconds of sorting."""
FEWEST_COLUMNS = 8
MOST_ROWS = 10_000
MOST_EVENTS = 200


@dataclass(frozen=True, eq=False)
class Side:
    """The two sides of a split: what is fitted on, and the rows held out in one role."""

    fold: int
    role: str
    train: IntArray
    held: IntArray

    @property
    def key(self) -> bytes:
        """Bytes that are equal for equal rows."""
        return b"|".join((self.role.encode(), self.train.tobytes(), self.held.tobytes()))


@dataclass(frozen=True, eq=False)
class Material:
    """A dataset, the sides of its splits, and what findings call it.

    Several targets of one dataset that are split alike are one material for the checks of rows and
    columns; ``targets`` then holds each of them.
    """

    name: str
    dataset: Dataset
    sides: tuple[Side, ...]
    targets: tuple[Dataset, ...]

    def columns(self) -> Iterator[Columns]:
        """Walk over the columns of every target, as one that they may tell."""
        for dataset in self.targets:
            yield columns_of(dataset, self.sides)

    @property
    def n_held(self) -> int:
        """Number of distinct rows that are held out in any split."""
        return len(union([side.held for side in self.sides]))


def sides_of(splits: Sequence[Split]) -> tuple[Side, ...]:
    """Return the sides of splits; a row is looked at in the role that it is scored in.

    Examples
    --------
    >>> split = Split(0, np.array([0, 1]), np.array([2, 3]))
    >>> [(side.role, side.held.tolist()) for side in sides_of([split])]
    [('test', [2, 3])]
    """
    return tuple(
        Side(split.fold, role, split.train, rows)
        for split in splits
        for role, rows in split.held_out.items()
    )


def materials(arrangements: Sequence[Arrangement]) -> list[Material]:
    """Make materials of an experiment's arrangements; equal splits of one dataset's targets go together."""
    together: dict[Any, list[Dataset]] = {}
    sides_by_key: dict[Any, tuple[Side, ...]] = {}
    for arrangement in arrangements:
        sides = sides_of(arrangement.splits)
        origin = arrangement.origin or arrangement.dataset.name
        key = (origin, *(side.key for side in sides))
        together.setdefault(key, []).append(arrangement.dataset)
        sides_by_key.setdefault(key, sides)
    origins = Counter(origin for origin, *_ in together)
    found = []
    for key, datasets in together.items():
        name = key[0]
        if origins[name] > 1:
            name = ", ".join(dataset.name for dataset in datasets)
        found.append(Material(name, datasets[0], sides_by_key[key], tuple(datasets)))
    return found


@dataclass(frozen=True, eq=False)
class Levels:
    """The different values of a column in their order, the number of each row's, and how often each is met."""

    values: FloatArray
    codes: IntArray
    counts: IntArray

    @classmethod
    def of(cls, column: FloatArray) -> Levels:
        """Sort a column; a gap is a level below all others, for it may give a label away too."""
        values, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
        if np.isnan(values[-1]):
            codes = (codes + 1) % len(values)
            values, counts = np.roll(values, 1), np.roll(counts, 1)
        return cls(values, codes.ravel(), counts)


@dataclass(frozen=True, eq=False)
class Event:
    """What a rule is to name: the rows of a class, or those with a label."""

    name: str
    rows: FloatArray
    n_classes: int

    @property
    def signed(self) -> FloatArray:
        """Weights whose sum over a set is the share of the rows that it holds less that of the others: Youden's J."""
        m1 = self.rows.sum()
        return np.asarray(self.rows / m1 - (1 - self.rows) / (len(self.rows) - m1))

    def log_chance(self, J: Any, log_sets: Any) -> Any:
        """Bound the logarithm of the chance that some set of a family reaches J: Hoeffding's, without replacement."""
        n, m1 = len(self.rows), self.rows.sum()
        m0 = n - m1
        return log_sets - 2 * J**2 * m1 * m0 * max(m1, m0) / n**2


@dataclass(frozen=True)
class Clue:
    """What a feature, or two together, tell of a label or target: how, and how well."""

    feature: str
    label: str
    how: str
    share: float = 1.0

    def __str__(self) -> str:
        return f"{self.feature} {self.how} {self.label}"


@dataclass(frozen=True, eq=False)
class Columns:
    """A dataset's columns before one target: what the checks of "does a column know the target?" share.

    Attributes
    ----------
    dataset : Dataset
        Whose columns they are.
    sides : tuple of Side
        The sides of its splits.
    columns : ndarray of int
        The numbers of those that are looked at: all, or as many evenly spread ones of a large
        dataset as there is time for.
    is_number, is_date : ndarray of bool
        For each, whether it holds numbers or dates; text, categories and dates stand there as
        codes.
    """

    dataset: Dataset
    sides: tuple[Side, ...]
    columns: IntArray
    is_number: NDArray[np.bool_]
    is_date: NDArray[np.bool_]
    _levels: dict[int, Levels] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What findings call the dataset."""
        return self.dataset.name

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.dataset.n_samples

    @property
    def named(self) -> list[tuple[int, str, bool]]:
        """Of each column its number, its name and whether it holds numbers."""
        names = [self.dataset.feature_names[j] for j in self.columns]
        return list(zip(self.columns.tolist(), names, self.is_number.tolist(), strict=True))

    @cached_property
    def _by_column(self) -> Any:
        X = self.dataset.numbers
        return X.tocsc() if sparse.issparse(X) else X

    def values(self, j: int) -> FloatArray:
        """Return one column."""
        return self.block([j])[:, 0]

    def levels(self, j: int) -> Levels:
        """Return the different values of one column, gaps first: sorting takes time, and is done once."""
        if j in self._levels:
            return self._levels[j]
        found = Levels.of(self.values(j))
        if len(self.columns) == self.dataset.n_features:
            self._levels[j] = found
        return found

    def sampled(self, j: int) -> Levels:
        """Return the different values of one column on the rows that rules are tried on."""
        whole = len(self.rows) == self.n_rows
        return self.levels(j) if whole else Levels.of(self.values(j)[self.rows])

    def block(self, columns: IntArray | list[int], rows: IntArray | None = None) -> FloatArray:
        """Return columns as a dense matrix, of some rows where they are named."""
        part = self._by_column[:, np.asarray(columns, dtype=np.int64)]
        return dense(part if rows is None else part[rows])

    def account(self, check: str, note: str, ledger: Ledger) -> None:
        """Write down how many columns are looked at, and how many are not."""
        ledger.look(check, len(self.columns), "columns", note)
        left = self.dataset.n_features - len(self.columns)
        why = "the table is large, and evenly spread columns were looked at"
        ledger.miss(check, left, "columns", why)

    def report(
        self, code: str, clues: Iterable[Clue], verbs: tuple[str, str], what: str, ledger: Ledger
    ) -> None:
        """Write down what features tell, where any does; ``verbs`` are for one feature and for several."""
        clues = list(clues)
        count, total = len({one.feature for one in clues}), self.dataset.n_features
        if count:
            message = f"{share(count, total, 'features')} {agree(count, *verbs)} {what}"
            pairs = f"({counted(len(clues), 'such pairs')})"
            ledger.find(code, f"{message} {pairs}", count, total, map(str, clues))

    @cached_property
    def rows(self) -> IntArray:
        """The rows that rules are tried on: all, or enough of many."""
        return drawn(np.arange(self.n_rows), MOST_ROWS, self.n_rows)

    @cached_property
    def numbers(self) -> list[tuple[FloatArray, str]]:
        """The targets that are numbers, or labels as 0 and 1, by column."""
        y = np.asarray(self.dataset.y).reshape(self.n_rows, -1).astype(np.float64)
        return list(zip(y.T, self.dataset.target_names, strict=True))

    @cached_property
    def classes(self) -> tuple[NDArray[Any], IntArray]:
        """The classes of a classification, and the number of each row's."""
        return np.unique(self.dataset.y), codes_of(self.dataset.y)

    def events(self, rows: IntArray, most: int = MOST_EVENTS) -> list[Event]:
        """Return what there is to name: a class of two, each of several, each label; none that all or no rows have."""
        if self.dataset.task == "multilabel":
            found = [Event(name, label[rows], 2) for label, name in self.numbers]
        else:
            (name,) = self.dataset.target_names
            y = self.dataset.y[rows]
            values = np.unique(y)
            n_classes = len(values)
            named = [(value, f"the class {value} of {name}") for value in values]
            if n_classes == 2:
                named = [(values[1], name)]
            found = [
                Event(called, (y == value).astype(np.float64), n_classes)
                for value, called in named[:most]
            ]
        return [one for one in found if 0 < one.rows.sum() < len(rows)][:most]


@lru_cache(maxsize=1)
def columns_of(dataset: Dataset, sides: tuple[Side, ...] = ()) -> Columns:
    """Choose the columns of a dataset to look at.

    Examples
    --------
    >>> columns_of(Dataset("d", np.eye(4), np.arange(4.0), "regression")).columns.tolist()
    [0, 1, 2, 3]
    """
    n_columns = dataset.n_features
    columns = np.arange(n_columns)
    most = max(FEWEST_COLUMNS, MOST_LOOKED_AT // dataset.n_samples)
    if n_columns > most:
        columns = np.linspace(0, n_columns - 1, most).astype(np.int64)
    kinds = list(column_kinds(dataset.X).values()) if dataset.is_table else ["number"] * n_columns
    looked = np.array([kinds[j] for j in columns])
    return Columns(
        dataset, sides, columns, np.isin(looked, ("number", "boolean")), looked == "date"
    )


def per_level(codes: IntArray, weights: FloatArray) -> FloatArray:
    """Add up weights, a column each, over the rows of every level.

    Examples
    --------
    >>> per_level(np.array([1, 0, 1]), np.array([[1.0], [2.0], [3.0]])).tolist()
    [[2.0], [4.0]]
    """
    n_rows = len(codes)
    rows_of = sparse.csr_array((np.ones(n_rows), (codes, np.arange(n_rows))))
    return np.asarray(rows_of @ weights)


def thresholds(codes: IntArray, signed: FloatArray) -> FloatArray:
    """Return, for every event, the J of the best threshold between two levels.

    Examples
    --------
    >>> thresholds(np.array([0, 1, 2, 3]), np.array([[-0.5], [-0.5], [0.5], [0.5]])).tolist()
    [1.0]
    """
    sums = np.cumsum(per_level(codes, signed), axis=0)[:-1]
    return np.asarray(np.abs(sums).max(axis=0, initial=0.0))


def measured_columns(dataset: Dataset) -> IntArray:
    """Return the places of the columns in which a difference between two values has a size: numbers and dates.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1.5, 2.0], "b": ["x", "y"]})
    >>> measured_columns(Dataset("d", frame, np.arange(2), "regression")).tolist()
    [0]
    """
    if not dataset.is_table:
        return np.arange(dataset.n_features)
    kinds = column_kinds(dataset.X).values()
    return np.flatnonzero([kind not in ("text", "category") for kind in kinds])
