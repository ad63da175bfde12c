"""Columns as a file holds them, how they become features, and how a table of them becomes a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data.dataset import Dataset, Features, Task
from paragone.data.reader import ReadOptions
from paragone.errors import InputError, unknown_name
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
class FileColumn:
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
    >>> column = FileColumn("colour", np.array(["red", "blue"], dtype=object), ("red", "blue"))
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
        >>> FileColumn("a", np.array([], dtype=object), ("YES", "NO")).binary_codes
        {'YES': 1.0, 'NO': 0.0}
        """
        if not self.categories:
            return None
        folded = {category.strip().lower() for category in self.categories}
        if len(folded) == len(self.categories) and any(folded <= pair for pair in _BINARY_PAIRS):
            return {category: _BINARY[category.strip().lower()] for category in self.categories}
        return None


@dataclass(frozen=True, eq=False)
class FeatureColumn:
    """One numeric column: its values, and the rows where they stand if the others are 0."""

    name: str
    values: FloatArray
    rows: IntArray | None = None


def text_column(name: str, values: Sequence[Any]) -> FileColumn:
    """Make a column of free text, its categories the values that occur, sorted.

    Examples
    --------
    >>> text_column("colour", ["red", None, "blue"]).categories
    ('blue', 'red')
    """
    array = np.empty(len(values), dtype=object)
    array[:] = [None if value is None else str(value) for value in values]
    return FileColumn(name, array, tuple(sorted({v for v in array if v is not None})), is_text=True)


def full_values(column: FileColumn, n_rows: int) -> NDArray[Any]:
    """Return the values of a nominal column for every row, the first category where a sparse file has none.

    Examples
    --------
    >>> column = FileColumn("c", np.array(["b"], dtype=object), ("a", "b"), rows=np.array([1]))
    >>> full_values(column, 3).tolist()
    ['a', 'b', 'a']
    """
    if column.rows is None:
        return column.values
    full = np.full(n_rows, column.categories[0] if column.categories else None, dtype=object)
    full[column.rows] = column.values
    return full


def is_identifier(column: FileColumn, parts: Sequence[slice]) -> bool:
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


def encode(column: FileColumn, n_rows: int, options: ReadOptions) -> list[FeatureColumn]:
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
        return [FeatureColumn(column.name, column.values.astype(np.float64), column.rows)]
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


def _coded(column: FileColumn, codes: dict[str, float], n_rows: int, name: str) -> FeatureColumn:
    values = np.array([np.nan if v is None else codes[v] for v in column.values], dtype=np.float64)
    if column.rows is None or not column.categories:
        return FeatureColumn(name, values, column.rows)
    elsewhere = codes[column.categories[0]]
    if elsewhere == 0.0:
        return FeatureColumn(name, values, column.rows)
    full = np.full(n_rows, elsewhere)
    full[column.rows] = values
    return FeatureColumn(name, full)


def stack(features: Sequence[FeatureColumn], n_rows: int, *, as_sparse: bool) -> Features:
    """Put features side by side: a csr_array for a sparse file, else a dense matrix.

    Examples
    --------
    >>> stack([FeatureColumn("a", np.array([1.0, 2.0]))], 2, as_sparse=False)
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


def _filled(feature: FeatureColumn, n_rows: int) -> FloatArray:
    if feature.rows is None:
        return feature.values
    full = np.zeros(n_rows)
    full[feature.rows] = feature.values
    return full


def features_from(
    columns: Iterable[FileColumn],
    n_rows: int,
    options: ReadOptions,
    *,
    as_sparse: bool,
    parts: Sequence[slice],
) -> tuple[Features, tuple[str, ...], list[str]]:
    """Turn columns into X, the feature names and the notes on what was left out or recoded.

    Examples
    --------
    >>> columns = [text_column("id", ["u", "v"]), FileColumn("size", np.array([1.0, 2.0]))]
    >>> X, names, notes = features_from(columns, 2, ReadOptions(), as_sparse=False, parts=[slice(0, 2)])
    >>> names, notes
    (('size',), ["column 'id' left out: it has another value in every row (an id)"])
    """
    features: list[FeatureColumn] = []
    notes: list[str] = []
    recoded = 0
    for column in columns:
        if options.drop_ids and is_identifier(column, parts):
            notes.append(
                f"column {column.name!r} left out: it has another value in every row (an id)"
            )
            continue
        features += encode(column, n_rows, options)
        recoded += column.is_nominal and column.binary_codes is None
    if not features:
        raise InputError(
            "no feature column is left: every column is a target, a group, an id or dropped"
        )
    if recoded:
        how = (
            "the position of their value"
            if options.nominal == "ordinal"
            else "one 0/1 column per value"
        )
        notes.append(f"{recoded} nominal column(s) coded as {how}")
    X = stack(features, n_rows, as_sparse=as_sparse)
    missing = int(np.isnan(X.data if isinstance(X, sparse.csr_array) else X).sum())
    if missing:
        notes.append(f"{missing} missing feature value(s) kept as NaN")
    return X, tuple(feature.name for feature in features), notes


def numbers(column: FileColumn, n_rows: int, *, where: str) -> FloatArray:
    """Return a column as one number per row (0/1 for yes/no nominals), or say why it has none.

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


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """The columns of a file or of the two parts of one.

    Parameters
    ----------
    name : str
        The dataset's name.
    where : str
        The file, for error messages.
    columns : sequence of Column
        In the order of the file.
    n_rows : int
        Rows in all parts together.
    n_train : int, optional
        Rows of the train part, which comes first; None when there is one part only.
    is_sparse : bool, default=False
        Whether the features should come out sparse.
    notes : tuple of str
        What the reader noticed.
    """

    name: str
    where: str
    columns: Sequence[FileColumn]
    n_rows: int
    n_train: int | None = None
    is_sparse: bool = False
    notes: tuple[str, ...] = field(default=())

    def column(self, name: str, kind: str = "column") -> FileColumn:
        """Return the column with this name, or name the nearest one."""
        for column in self.columns:
            if column.name == name:
                return column
        names = [column.name for column in self.columns]
        error = unknown_name(kind, name, names if len(names) < 30 else [*names[:29], "..."])
        near = unknown_name(kind, name, names)
        raise InputError(f"{self.where}: {near if 'did you mean' in str(near) else error}")

    @property
    def parts(self) -> list[slice]:
        """The rows of each part."""
        if self.n_train is None:
            return [slice(0, self.n_rows)]
        return [slice(0, self.n_train), slice(self.n_train, self.n_rows)]


def dataset_from(
    table: ColumnTable, targets: Sequence[str], task: Task, options: ReadOptions
) -> Dataset:
    """Build the dataset: the named targets, the groups, and every other column as features.

    Examples
    --------
    >>> columns = [FileColumn("size", np.array([1.0, 2.0])), FileColumn("price", np.array([3.0, 4.0]))]
    >>> table = ColumnTable("houses", "houses.csv", columns, n_rows=2)
    >>> dataset_from(table, ["price"], "regression", ReadOptions())
    Dataset 'houses': 2 samples x 1 features, regression, 1 target
    """
    if len(set(targets)) < len(targets):
        raise InputError(f"{table.where}: a target is named twice in {', '.join(targets)}")
    y, notes = _target([table.column(name, "target column") for name in targets], table, task)
    groups = (
        None
        if options.groups is None
        else _plain(table.column(options.groups, "group column"), table)
    )
    for name in options.drop:
        table.column(name, "column to drop")
    taken = {*targets, *options.drop, options.groups}
    left = [column for column in table.columns if column.name not in taken]
    try:
        X, names, feature_notes = features_from(
            left, table.n_rows, options, as_sparse=table.is_sparse, parts=table.parts
        )
    except InputError as error:
        raise InputError(f"{table.where}: {error}") from error
    return Dataset(
        name=options.name or table.name,
        X=X,
        y=y,
        task=task,
        groups=groups,
        feature_names=names,
        target_names=tuple(targets),
        train_part=None if table.n_train is None else np.arange(table.n_rows) < table.n_train,
        notes=(*table.notes, *notes, *feature_notes),
    )


def _target(
    columns: Sequence[FileColumn], table: ColumnTable, task: Task
) -> tuple[NDArray[Any], list[str]]:
    if task == "classification":
        if len(columns) != 1:
            names = ", ".join(column.name for column in columns)
            raise InputError(
                f"{table.where}: classification takes one target column, {names} are named"
            )
        return _plain(columns[0], table), []
    y = np.column_stack([numbers(column, table.n_rows, where=table.where) for column in columns])
    missing = np.isnan(y).sum(axis=0)
    counts = ", ".join(f"{c.name} {int(m)}" for c, m in zip(columns, missing, strict=True) if m)
    if task == "multilabel":
        if counts:
            raise InputError(
                f"{table.where}: labels have missing values ({counts}); complete or remove them"
            )
        return y, []
    notes = (
        [f"{int(missing.sum())} missing target value(s) kept as NaN ({counts})"] if counts else []
    )
    return (y[:, 0] if len(columns) == 1 else y), notes


def _plain(column: FileColumn, table: ColumnTable) -> NDArray[Any]:
    """Return the user's own values of a column, whole numbers as integers; none may be missing."""
    if column.categories is None:
        values = numbers(column, table.n_rows, where=table.where)
        missing = int(np.isnan(values).sum())
        if not missing and (values == np.floor(values)).all() and (np.abs(values) < 2**53).all():
            values = values.astype(np.int64)
    else:
        full = full_values(column, table.n_rows)
        missing = sum(value is None for value in full)
        values = full if missing else full.astype(str)
    if missing:
        raise InputError(
            f"{table.where}: column {column.name!r} misses {missing} value(s); complete or remove"
            " those rows"
        )
    return values
