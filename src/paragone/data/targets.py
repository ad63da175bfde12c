"""From named columns to a dataset: which are targets, which say the group, and what task it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.data.columns import Column, features_from, full_values, numbers
from paragone.data.dataset import Dataset, Task
from paragone.data.options import ReadOptions
from paragone.errors import InputError, unknown_name


@dataclass(frozen=True, eq=False)
class Table:
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
    columns: Sequence[Column]
    n_rows: int
    n_train: int | None = None
    is_sparse: bool = False
    notes: tuple[str, ...] = field(default=())

    def column(self, name: str, kind: str = "column") -> Column:
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


def dataset_from(table: Table, targets: Sequence[str], task: Task, options: ReadOptions) -> Dataset:
    """Build the dataset: the named targets, the groups, and every other column as features.

    Examples
    --------
    >>> columns = [Column("size", np.array([1.0, 2.0])), Column("price", np.array([3.0, 4.0]))]
    >>> table = Table("houses", "houses.csv", columns, n_rows=2)
    >>> dataset_from(table, ["price"], "regression", ReadOptions())
    Dataset 'houses': 2 samples x 1 features, regression, 1 target
    """
    if len(set(targets)) < len(targets):
        raise InputError(f"{table.where}: a target is named twice in {', '.join(targets)}")
    y, notes = _target([table.column(name, "target column") for name in targets], table, task)
    groups = None if options.groups is None else _plain(table.column(options.groups, "group column"), table)
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


def _target(columns: Sequence[Column], table: Table, task: Task) -> tuple[NDArray[Any], list[str]]:
    if task == "classification":
        if len(columns) != 1:
            names = ", ".join(column.name for column in columns)
            raise InputError(f"{table.where}: classification takes one target column, {names} are named")
        return _plain(columns[0], table), []
    y = np.column_stack([numbers(column, table.n_rows, where=table.where) for column in columns])
    missing = np.isnan(y).sum(axis=0)
    counts = ", ".join(f"{c.name} {int(m)}" for c, m in zip(columns, missing, strict=True) if m)
    if task == "multilabel":
        if counts:
            raise InputError(f"{table.where}: labels have missing values ({counts}); complete or remove them")
        return y, []
    notes = [f"{int(missing.sum())} missing target value(s) kept as NaN ({counts})"] if counts else []
    return (y[:, 0] if len(columns) == 1 else y), notes


def _plain(column: Column, table: Table) -> NDArray[Any]:
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
            f"{table.where}: column {column.name!r} misses {missing} value(s); complete or remove those rows"
        )
    return values
