"""Columns as a file holds them (numbers, nominals, text), and how they become features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data.dataset import Features
from paragone.data.options import ReadOptions
from paragone.errors import InputError
from paragone.validation import FloatArray, IntArray

_BINARY = {
    "0": 0.0,
    "no": 0.0,
    "n": 0.0,
    "false": 0.0,
    "f": 0.0,
    "1": 1.0,
    "yes": 1.0,
    "y": 1.0,
    "true": 1.0,
    "t": 1.0,
}
_BINARY_PAIRS = ({"0", "1"}, {"no", "yes"}, {"n", "y"}, {"false", "true"}, {"f", "t"})


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a file, before it becomes features.

    Parameters
    ----------
    name : str
        Its name in the file.
    values : ndarray
        Floats of a numeric column (NaN where missing), strings of the others (None where missing).
    categories : tuple of str, optional
        The values of a nominal column in their declared order; None for a numeric one.
    rows : ndarray of int, optional
        The rows where ``values`` stand, in a sparse file; None when every row has its value.
        Elsewhere stands 0, or the first category: that is the rule of the sparse ARFF format.
    is_text : bool, default=False
        The categories were found in the data and not declared.

    Examples
    --------
    >>> column = Column("colour", np.array(["red", "blue"], dtype=object), ("red", "blue"))
    >>> column.is_nominal
    True
    """

    name: str
    values: NDArray[Any]
    categories: tuple[str, ...] | None = None
    rows: IntArray | None = None
    is_text: bool = False

    @property
    def is_nominal(self) -> bool:
        """Whether the column holds names rather than numbers."""
        return self.categories is not None

    @property
    def binary_codes(self) -> dict[str, float] | None:
        """The 0/1 code of each category where they say no and yes, else None.

        Examples
        --------
        >>> Column("a", np.array([], dtype=object), ("YES", "NO")).binary_codes
        {'YES': 1.0, 'NO': 0.0}
        """
        if not self.categories:
            return None
        folded = {category.strip().lower() for category in self.categories}
        if len(folded) == len(self.categories) and any(folded <= pair for pair in _BINARY_PAIRS):
            return {category: _BINARY[category.strip().lower()] for category in self.categories}
        return None


@dataclass(frozen=True, eq=False)
class Feature:
    """One numeric column: its values, and the rows where they stand if the others are 0."""

    name: str
    values: FloatArray
    rows: IntArray | None = None


def text_column(name: str, values: Sequence[Any]) -> Column:
    """Make a column of free text, its categories the values that occur, sorted.

    Examples
    --------
    >>> text_column("colour", ["red", None, "blue"]).categories
    ('blue', 'red')
    """
    array = np.empty(len(values), dtype=object)
    array[:] = [None if value is None else str(value) for value in values]
    return Column(name, array, tuple(sorted({v for v in array if v is not None})), is_text=True)


def full_values(column: Column, n_rows: int) -> NDArray[Any]:
    """Return the values of a nominal column for every row, the first category where a sparse file has none.

    Examples
    --------
    >>> column = Column("c", np.array(["b"], dtype=object), ("a", "b"), rows=np.array([1]))
    >>> full_values(column, 3).tolist()
    ['a', 'b', 'a']
    """
    if column.rows is None:
        return column.values
    full = np.full(n_rows, column.categories[0] if column.categories else None, dtype=object)
    full[column.rows] = column.values
    return full


def is_identifier(column: Column, parts: Sequence[slice]) -> bool:
    """Say whether a text or nominal column has another value in every row of every part.

    Examples
    --------
    >>> is_identifier(text_column("protein", ["P1", "P2", "P3"]), [slice(0, 3)])
    True
    >>> is_identifier(text_column("colour", ["red", "red", "blue"]), [slice(0, 3)])
    False
    """
    if not column.is_nominal or column.binary_codes is not None:
        return False
    everywhere = full_values(column, parts[-1].stop)
    for part in parts:
        values = everywhere[part].tolist()
        if len(values) < 2 or None in values or len(set(values)) < len(values):
            return False
    return True


def encode(column: Column, n_rows: int, options: ReadOptions) -> list[Feature]:
    """Turn one column into one feature, or into one feature a category.

    Examples
    --------
    >>> column = text_column("colour", ["red", "blue", "red"])
    >>> [(f.name, f.values.tolist()) for f in encode(column, 3, ReadOptions())]
    [('colour=blue', [0.0, 1.0, 0.0]), ('colour=red', [1.0, 0.0, 1.0])]
    >>> [(f.name, f.values.tolist()) for f in encode(column, 3, ReadOptions(nominal="ordinal"))]
    [('colour', [1.0, 0.0, 1.0])]
    """
    if column.categories is None:
        return [Feature(column.name, column.values.astype(np.float64), column.rows)]
    codes = column.binary_codes
    if codes is not None:
        return [_coded(column, codes, n_rows, column.name)]
    if options.nominal == "ordinal":
        positions = {category: float(i) for i, category in enumerate(column.categories)}
        return [_coded(column, positions, n_rows, column.name)]
    features = []
    for category in column.categories:
        indicator = {other: float(other == category) for other in column.categories}
        features.append(_coded(column, indicator, n_rows, f"{column.name}={category}"))
    return features


def _coded(column: Column, codes: dict[str, float], n_rows: int, name: str) -> Feature:
    values = np.array([np.nan if v is None else codes[v] for v in column.values], dtype=np.float64)
    if column.rows is None or not column.categories:
        return Feature(name, values, column.rows)
    elsewhere = codes[column.categories[0]]
    if elsewhere == 0.0:
        return Feature(name, values, column.rows)
    full = np.full(n_rows, elsewhere)
    full[column.rows] = values
    return Feature(name, full)


def stack(features: Sequence[Feature], n_rows: int, *, as_sparse: bool) -> Features:
    """Put features side by side: a csr_array for a sparse file, else a dense matrix.

    Examples
    --------
    >>> stack([Feature("a", np.array([1.0, 2.0]))], 2, as_sparse=False)
    array([[1.],
           [2.]])
    """
    if not as_sparse:
        matrix = np.empty((n_rows, len(features)))
        for j, feature in enumerate(features):
            matrix[:, j] = _filled(feature, n_rows)
        return matrix
    rows = [np.arange(n_rows) if f.rows is None else f.rows for f in features]
    columns = [np.full(len(where), j) for j, where in enumerate(rows)]
    values = [f.values for f in features]
    stacked = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    result = sparse.csr_array(stacked, shape=(n_rows, len(features)), dtype=np.float64)
    result.eliminate_zeros()
    return result


def _filled(feature: Feature, n_rows: int) -> FloatArray:
    if feature.rows is None:
        return feature.values
    full = np.zeros(n_rows)
    full[feature.rows] = feature.values
    return full


def features_from(
    columns: Iterable[Column], n_rows: int, options: ReadOptions, *, as_sparse: bool, parts: Sequence[slice]
) -> tuple[Features, tuple[str, ...], list[str]]:
    """Turn columns into X, the feature names and the notes on what was left out or recoded.

    Examples
    --------
    >>> columns = [text_column("id", ["u", "v"]), Column("size", np.array([1.0, 2.0]))]
    >>> X, names, notes = features_from(columns, 2, ReadOptions(), as_sparse=False, parts=[slice(0, 2)])
    >>> names, notes
    (('size',), ["column 'id' left out: it has another value in every row (an id)"])
    """
    features: list[Feature] = []
    notes: list[str] = []
    recoded = 0
    for column in columns:
        if options.drop_ids and is_identifier(column, parts):
            notes.append(f"column {column.name!r} left out: it has another value in every row (an id)")
            continue
        features += encode(column, n_rows, options)
        recoded += column.is_nominal and column.binary_codes is None
    if not features:
        raise InputError("no feature column is left: every column is a target, a group, an id or dropped")
    if recoded:
        how = "the position of their value" if options.nominal == "ordinal" else "one 0/1 column a value"
        notes.append(f"{recoded} nominal column(s) coded as {how}")
    X = stack(features, n_rows, as_sparse=as_sparse)
    missing = int(np.isnan(X.data if isinstance(X, sparse.csr_array) else X).sum())
    if missing:
        notes.append(f"{missing} missing feature value(s) kept as NaN")
    return X, tuple(feature.name for feature in features), notes


def numbers(column: Column, n_rows: int, *, where: str) -> FloatArray:
    """Return a column as one number a row (0/1 for yes/no nominals), or say why it has none.

    Examples
    --------
    >>> numbers(text_column("label", ["yes", "no"]), 2, where="a.csv")
    array([1., 0.])
    """
    if column.is_nominal and column.binary_codes is None:
        raise InputError(
            f"{where}: column {column.name!r} holds {', '.join(column.categories or ())[:60]}; "
            "numbers or yes/no values are needed here"
        )
    (feature,) = encode(column, n_rows, ReadOptions())
    return _filled(feature, n_rows)
