"""Roles of columns: which is the target, the groups, the time, the weights, what is left out, and what is said of it.

What is not declared is inferred by plain rules, and every inference is a note that the user sees
before a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from paragone.data.dataset import Dataset, Task
from paragone.data.frames import ColumnKind, checked_table, column_kind, column_kinds
from paragone.data.written_tables import READING_NOTES
from paragone.errors import InputError, setting, unknown_name

if TYPE_CHECKING:
    import pandas as pd

USUAL_TARGETS = ("target", "label", "class", "y", "outcome")
MOST_CLASSES = 20
"""Whole numbers with at most this many different values are classes, where nobody says what they are."""
FREE_TEXT = 30
"""Text that is longer than this on average is prose, not a name of something."""
MOST_SHOWN = 5


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are for.

    Parameters
    ----------
    target : str, optional
        What is predicted; a column called ``target``, ``label``, ``class``, ``y`` or ``outcome``
        where it is not given.
    groups : str, optional
        Who or what a row was measured on: rows of one group move together.
    time : str, optional
        When it was measured: earlier rows are trained on, later ones tested on.
    weight : str, optional
        How much a row counts in fits.
    drop : tuple of str
        Columns to leave out.
    task : {"classification", "regression"}, optional
        What the target is; told by its values where it is not given.
    keep_ids : bool
        Whether columns that number or name the rows stay.

    Examples
    --------
    >>> Roles(drop="id").drop
    ('id',)
    """

    target: str | None = None
    groups: str | None = None
    time: str | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()
    task: Task | None = None
    keep_ids: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "drop", (self.drop,) if isinstance(self.drop, str) else tuple(self.drop)
        )
        if self.task is not None and self.task not in get_args(Task):
            raise unknown_name("task", self.task, get_args(Task))

    @property
    def named(self) -> dict[str, str]:
        """The columns that are named, by what they are for."""
        given = {
            "target": self.target,
            "groups": self.groups,
            "time": self.time,
            "weight": self.weight,
        }
        return {role: name for role, name in given.items() if name is not None}


def dataset_of_table(frame: Any, name: str, roles: Roles, *, where: str = "") -> Dataset:
    """Make a dataset of a table with a target column; its notes say what was inferred and left out.

    Parameters
    ----------
    frame : DataFrame
        Of pandas or of another library.
    name : str
        What to call the dataset.
    roles : Roles
        What the columns are for.
    where : str
        What to call it in errors; the name where it is not given.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1.0, 2.5, 3.0], "town": ["Bari", "Asti", None], "price": [5.5, 6.0, 7.0]})
    >>> found = dataset_of_table(table, "houses", Roles("price"))
    >>> found, found.notes[0]
    (Dataset 'houses': 3 samples x 2 features, regression, 1 target, "predicts 'price', numbers:
    regression")
    """
    where = where or f"data: {name!r}"
    read = getattr(frame, "attrs", {}).get(READING_NOTES, ())
    table, dates = _with_dates(checked_table(frame, where))
    roles = _with_target(roles, table, where)
    _check_named(roles, table, where)
    target = str(roles.target)
    table, dropped = _with_targets_only(table, target, where)
    y, task, word = target_values(table[target], roles.task, f"{where}: target {target!r}")
    said = [*read, f"predicts {target!r}, {word}: {task}", *dropped]
    said += [f"text read as dates: {_listed(dates)}"] if dates else []
    taken = {target, *roles.drop, *roles.named.values()}
    features = [column for column in table.columns if column not in taken]
    if not features:
        raise InputError(f"{where}: no column is left to predict {target!r} from")
    ids = [] if roles.keep_ids else [column for column in features if numbers_rows(table[column])]
    if len(ids) == len(features):
        ids = []
    if ids:
        said.append(f"left out, another value in every row: {_listed(ids)}")
    X = table[[column for column in features if column not in ids]]
    roles_said = [f"{role} {column!r}" for role, column in roles.named.items() if role != "target"]
    if roles_said:
        said.append("; ".join(roles_said))
    return Dataset(
        name,
        X,
        y,
        task,
        groups=None if roles.groups is None else table[roles.groups].to_numpy(),
        target_names=(target,),
        weights=(
            None
            if roles.weight is None
            else table[roles.weight].to_numpy(dtype=float, na_value=np.nan)
        ),
        time=None if roles.time is None else table[roles.time].to_numpy(),
        notes=(*said, described_columns(X)),
    )


def described_columns(frame: pd.DataFrame) -> str:
    """Say in one line what the columns are.

    Examples
    --------
    >>> import pandas as pd
    >>> described_columns(pd.DataFrame({"a": [1.0, None], "b": ["x", "y"]}))
    '2 columns: 1 number, 1 text; 25 % gaps'
    """
    kinds = list(column_kinds(frame).values())
    parts = [
        f"{kinds.count(kind)} {_several(kind, kinds.count(kind))}"
        for kind in get_args(ColumnKind)
        if kind in kinds
    ]
    gaps = float(frame.isna().to_numpy().mean())
    shown = f"; {100 * gaps:.2g} % gaps" if gaps else ""
    return f"{len(kinds)} column{'s' * (len(kinds) != 1)}: {', '.join(parts)}{shown}"


def _several(kind: str, count: int) -> str:
    several = {
        "number": "numbers",
        "boolean": "booleans",
        "category": "categories",
        "text": "text",
        "date": "dates",
    }
    return several[kind] if count != 1 else kind


DATE_FORMATS = ("ISO8601", "%d.%m.%Y", "%Y/%m/%d")
"""Dates that can be read in one way only; 01/02/2024 cannot."""


def _with_dates(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Read columns of text as dates where every value is one."""
    import pandas as pd

    found = {}
    for name, kind in column_kinds(table).items():
        if kind != "text":
            continue
        there = table[name].dropna()
        # A year or a number alone is no date.
        if len(there) == 0 or not all(
            len(str(value)) >= 8 and str(value)[0].isdigit() for value in there.head(20)
        ):
            continue
        for form in DATE_FORMATS:
            read = pd.to_datetime(there, format=form, errors="coerce")
            if read.notna().all():
                found[name] = pd.to_datetime(table[name], format=form)
                break
    return (table.assign(**found), list(found)) if found else (table, [])


def _with_target(roles: Roles, table: pd.DataFrame, where: str) -> Roles:
    if roles.target is not None:
        return roles
    usual = [column for column in table.columns if column.lower() in USUAL_TARGETS]
    if len(usual) == 1:
        return replace(roles, target=usual[0])
    last = ", ".join(table.columns[-3:])
    raise InputError(
        f"{where}: which column is predicted? Name it with {setting('target')} (the last columns"
        f" are {last})"
    )


def _check_named(roles: Roles, table: pd.DataFrame, where: str) -> None:
    named = [*roles.named.items(), *(("drop", column) for column in roles.drop)]
    for role, column in named:
        if column not in table.columns:
            raise InputError(
                f"{where}: {unknown_name(f'column for {role}', str(column), table.columns)}"
            )
    columns = [column for _, column in named]
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise InputError(f"{where}: column {twice!r} is named for two roles: a column has one")


def _with_targets_only(
    table: pd.DataFrame, target: str, where: str
) -> tuple[pd.DataFrame, list[str]]:
    missing = table[target].isna()
    count = int(missing.sum())
    if count == len(table):
        raise InputError(f"{where}: no row has a value of {target!r}")
    if not count:
        return table, []
    kept = table[~missing].reset_index(drop=True)
    return kept, [f"{count} of {len(table)} rows left out: they have no {target!r}"]


def target_values(values: Any, task: str | None, where: str) -> tuple[NDArray[Any], Task, str]:
    """Return a target as an array, its task, and what its values are in a word.

    Classes are text, truth values, categories, or whole numbers with at most twenty different
    values; other numbers are a regression's.

    Examples
    --------
    >>> target_values([0, 1, 1, 0], None, "y")[1:]
    ('classification', '2 classes')
    >>> target_values([0.5, 1.25], None, "y")[1:]
    ('regression', 'numbers')
    """
    import pandas as pd

    series = values if isinstance(values, pd.Series) else pd.Series(np.asarray(values).tolist())
    if series.isna().any():
        raise InputError(
            f"{where}: {int(series.isna().sum())} value(s) are missing: complete or leave out those"
            " rows"
        )
    kind = column_kind(series)
    if kind == "date":
        raise InputError(f"{where} holds dates: make it a number to be predicted")
    is_number = kind == "number"
    if task is None:
        whole = is_number and bool(np.all(np.mod(series.to_numpy(dtype=float), 1) == 0))
        few = series.nunique() <= min(MOST_CLASSES, max(2, len(series) // 2))
        task = "classification" if not is_number or (whole and few) else "regression"
    if task == "regression":
        if not is_number and kind != "boolean":
            raise InputError(f"{where} holds {kind}: a regression predicts numbers")
        return series.to_numpy(dtype=float), "regression", "numbers"
    if task != "classification":
        raise InputError(f"{where}: a table is for classification or regression, not for {task}")
    y = (
        series.to_numpy()
        if is_number or kind == "boolean"
        else np.asarray([str(value) for value in series])
    )
    if is_number and bool(np.all(np.mod(y, 1) == 0)):
        y = y.astype(np.int64)
    count = len(np.unique(y))
    if count < 2:
        raise InputError(f"{where} has one class only: there is nothing to tell apart")
    return y, "classification", f"{count} classes"


def numbers_rows(series: pd.Series[Any]) -> bool:
    """Whether a column only numbers or names the rows: another short text, or the next whole number, in every row.

    Examples
    --------
    >>> import pandas as pd
    >>> numbers_rows(pd.Series(["a1", "b7", "c3"])), numbers_rows(pd.Series([5.0, 2.0, 9.0]))
    (True, False)
    """
    if len(series) < 3 or series.isna().any():
        return False
    kind = column_kind(series)
    if kind in ("text", "category"):
        return bool(series.is_unique) and float(series.astype(str).str.len().mean()) < FREE_TEXT
    if kind != "number" or series.dtype.kind not in "iu":
        return False
    steps = np.diff(np.sort(series.to_numpy()))
    return bool((steps == 1).all())


def said_of_data(dataset: Dataset, splits: Sequence[Any] = ()) -> tuple[str, ...]:
    """Say what to know of a dataset before a run: twins across splits, constant columns, a target given away.

    Parameters
    ----------
    dataset : Dataset
        For classification or regression.
    splits : sequence of Split
        How it is split.
    """
    told: list[str] = []
    if dataset.is_table or isinstance(dataset.X, np.ndarray):
        X = dataset.numbers
        told += _constant_columns(dataset, X)
        told += _giving_away(dataset, X)
        told += _twins(X, splits)
    return tuple(told)


def _constant_columns(dataset: Dataset, X: NDArray[np.float64]) -> list[str]:
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    gaps = np.isnan(X).any(axis=0)
    constant = [
        name
        for name, same in zip(dataset.feature_names, (low == high) & ~gaps, strict=True)
        if same
    ]
    empty = [name for name, none in zip(dataset.feature_names, np.isnan(low), strict=True) if none]
    told = [f"{_columns(constant)} the same value in every row"] if constant else []
    return told + ([f"{_columns(empty)} no value at all"] if empty else [])


def _columns(names: Sequence[str]) -> str:
    return (
        f"column{'s' * (len(names) != 1)} {_listed(names)} {'has' if len(names) == 1 else 'have'}"
    )


def _giving_away(dataset: Dataset, X: NDArray[np.float64]) -> list[str]:
    """Name the columns that are the target under another name: one value of the target for every value, both ways.

    Where most values stand once, as among measured numbers, that is so of any two columns: they
    must be in the same order too, or in the opposite one.
    """
    if dataset.y.ndim != 1:
        return []
    _, target = np.unique(dataset.y, return_inverse=True)
    n_values = int(target.max()) + 1
    found = []
    for name, column in zip(dataset.feature_names, X.T, strict=True):
        if np.isnan(column).any():
            continue
        values, codes = np.unique(column, return_inverse=True)
        if len(values) != n_values:
            continue
        if 2 * n_values <= len(target):
            is_target = len(np.unique(codes * n_values + target)) == n_values
        else:
            is_target = any(
                np.array_equal(codes, order) for order in (target, n_values - 1 - target)
            )
        if is_target:
            found.append(name)
    if not found:
        return []
    gives = "gives" if len(found) == 1 else "give"
    name = "it is the target under another name, drop it" if len(found) == 1 else "drop them"
    return [f"{_listed(found)} {gives} the target away in every row: {name}"]


def _twins(X: NDArray[np.float64], splits: Sequence[Any]) -> list[str]:
    if not splits:
        return []
    _, codes = np.unique(np.nan_to_num(X, nan=np.pi * 1e300), axis=0, return_inverse=True)
    codes = codes.ravel()
    tested = [int(np.isin(codes[split.test], codes[split.train]).sum()) for split in splits]
    rows = sum(tested)
    total = sum(len(split.test) for split in splits)
    return (
        [f"{rows} of {total} test rows equal a row of their train part in every column"]
        if rows
        else []
    )


def _listed(names: Iterable[str]) -> str:
    listed = [repr(name) for name in names]
    more = f" and {len(listed) - MOST_SHOWN} more" if len(listed) > MOST_SHOWN else ""
    return ", ".join(listed[:MOST_SHOWN]) + more
