"""How a dataset is to be read: the one set of options that every reader understands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from paragone.data.dataset import Task
from paragone.errors import InputError, unknown_name

Nominal: TypeAlias = Literal["onehot", "ordinal"]


@dataclass(frozen=True)
class ReadOptions:
    """What a file does not say about itself.

    Parameters
    ----------
    target : tuple of str
        The target columns of a table (CSV, Parquet, OpenML, ARFF without labels).
    task : {"multilabel", "classification", "regression"}, optional
        What the target is. Needed wherever the format does not say it; never guessed from the values.
    groups : str, optional
        The column that says which rows belong together. It is no feature then.
    labels : int or tuple of str, optional
        The labels of an ARFF file without XML: their names, or their number as MEKA counts them
        (``6`` for the first six attributes, ``-6`` for the last six).
    nominal : {"onehot", "ordinal"}, optional
        How text and nominal features that are not 0/1 or yes/no become numbers: one 0/1 column a value,
        or one column with the value's position (in the declared order; sorted where none is declared).
        Where it is not given, ARFF is read as ``ordinal`` (its values have a declared order, and published
        dimensions count one column an attribute), tables as ``onehot``.
    drop_ids : bool, default=True
        Leave out text and nominal columns that have another value in every row. A note says which.
    drop : tuple of str
        Columns to leave out.
    name : str, optional
        What to call the dataset; the stem of the file or folder where it is not given.

    Examples
    --------
    >>> ReadOptions(target="price", task="regression").target
    ('price',)
    """

    target: tuple[str, ...] = ()
    task: Task | None = None
    groups: str | None = None
    labels: int | tuple[str, ...] | None = None
    nominal: Nominal | None = None
    drop_ids: bool = True
    drop: tuple[str, ...] = ()
    name: str | None = None

    # Read by pydantic where an experiment file holds these options: a typing error is an error there too.
    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012

    def __post_init__(self) -> None:
        for field in ("target", "drop"):
            object.__setattr__(self, field, _names(getattr(self, field)))
        if self.labels is not None and not isinstance(self.labels, int):
            object.__setattr__(self, "labels", _names(self.labels))
        if self.task is not None and self.task not in get_args(Task):
            raise unknown_name("task", self.task, get_args(Task))
        if self.nominal is not None and self.nominal not in get_args(Nominal):
            raise unknown_name("coding of nominal columns", self.nominal, get_args(Nominal))
        if self.labels == 0 or isinstance(self.labels, bool):
            raise InputError("labels must be names or a number of labels other than 0")


def _names(given: Any) -> tuple[str, ...]:
    """Make one name or a list of names a tuple."""
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Sequence) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise InputError(f"columns are given by their names, not by {given!r}")
    return names
