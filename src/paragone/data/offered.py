"""Datasets as people have them: arrays, tables, bunches, files and names, each made a Dataset that says what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from paragone.data.dataset import Dataset
from paragone.data.frames import checked_table, is_table
from paragone.data.loading import expand, load, reader_named
from paragone.data.reader import NoOptionsError, ReadOptions, suffix_of
from paragone.data.readers.table import TABLE_SUFFIXES, read_frame
from paragone.data.roles import Roles, dataset_of_table, described_columns, target_values
from paragone.errors import InputError, unknown_name

FORMS = "(X, y), a table, a path, a bundled name or a Dataset"
_OWN_KEYS = ("X", "y", "groups", "time", "weights", "task", "feature_names", "target_names")
_BUNCH = {"data", "target"}


def offered_datasets(
    data: Any, roles: Roles | None = None, base: Path | None = None
) -> list[Dataset]:
    """Return the datasets that some data are: one or several, with the names given or made of where they come from.

    Parameters
    ----------
    data : Dataset, pair, table, bunch, path, name, list or mapping of those
        A mapping gives names; a list takes those of files and datasets.
    roles : Roles, optional
        What the columns of tables are for.
    base : Path, optional
        The folder that relative paths are relative to.

    Examples
    --------
    >>> [one.name for one in offered_datasets(["iris", (np.eye(4), [0, 1, 0, 1])])]
    ['iris', 'data']
    """
    roles, base = roles or Roles(), base or Path()
    if isinstance(data, Mapping) and not _is_one(data):
        wrong = next((name for name in data if not isinstance(name, str)), None)
        if wrong is not None:
            raise InputError(f"data: names are texts, {wrong!r} is not one")
        return [one for name, value in data.items() for one in _offered(value, name, roles, base)]
    if _is_several(data):
        return _with_names([one for value in data for one in _offered(value, None, roles, base)])
    return _offered(data, None, roles, base)


def _offered(value: Any, name: str | None, roles: Roles, base: Path) -> list[Dataset]:
    where = "data" if name is None else f"data: {name!r}"
    if isinstance(value, Dataset):
        return [value if name is None else replace(value, name=name)]
    if isinstance(value, (str, Path)):
        return _of_reference(value, name, roles, base)
    if isinstance(value, Mapping):
        return [_of_mapping(value, name, roles, where)]
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return [_of_pair(value[0], value[1], name, roles, where)]
    if is_table(value):
        return [dataset_of_table(value, name or "data", roles, where=where)]
    raise InputError(f"{where}: expected {FORMS}, got a {type(value).__name__}")


def _of_reference(value: str | Path, name: str | None, roles: Roles, base: Path) -> list[Dataset]:
    reference = str(value)
    several = expand(reference, base) if isinstance(value, str) else (reference,)
    if list(several) != [reference]:
        if name is not None:
            raise InputError(
                f"data: {name!r}: {reference!r} stands for several datasets, which one name cannot"
                " tell apart"
            )
        return [load(one, base=base) for one in several]
    path = base / Path(value).expanduser()
    if reader_named(reference)[0] is None and suffix_of(path) in TABLE_SUFFIXES:
        if not path.exists():
            raise InputError(f"no file or folder at {path}")
        return [
            dataset_of_table(
                read_frame(path), name or path.name.split(".")[0], roles, where=str(path)
            )
        ]
    target = () if roles.target is None else (roles.target,)
    options = ReadOptions(
        target=target, task=roles.task, groups=roles.groups, drop=roles.drop, name=name
    )
    try:
        return [load(value, base=base, options=options)]
    except NoOptionsError:
        # What is bundled knows its own target.
        return [load(value, base=base, name=name)]


def _of_mapping(value: Mapping[str, Any], name: str | None, roles: Roles, where: str) -> Dataset:
    if set(value) >= _BUNCH:
        # What scikit-learn's loaders return; its target_names are the classes' names, which y does
        # not hold.
        made = _of_pair(value["data"], value["target"], name, roles, where)
        names = value.get("feature_names")
        if names is None or made.is_table:
            return made
        return replace(made, feature_names=tuple(str(each) for each in names))
    if "path" in value:
        known = [field.name for field in fields(Roles)]
        for key in value:
            if key not in ("path", *known):
                raise InputError(f"{where}: {unknown_name('key', str(key), ['path', *known])}")
        own = replace(roles, **{key: given for key, given in value.items() if key != "path"})
        return _offered(value["path"], name, own, Path())[0]
    if not {"X", "y"} <= set(value):
        raise InputError(
            f"{where}: a mapping needs X and y, data and target, or path; it has"
            f" {', '.join(map(str, value))}"
        )
    for key in value:
        if key not in _OWN_KEYS:
            raise InputError(f"{where}: {unknown_name('key', str(key), _OWN_KEYS)}")
    own = replace(roles, task=value["task"]) if value.get("task") else roles
    made = _of_pair(value["X"], value["y"], name, own, where)
    others = {
        key: given
        for key, given in value.items()
        if key not in ("X", "y", "task") and given is not None
    }
    for key in ("feature_names", "target_names"):
        if key in others:
            others[key] = tuple(str(each) for each in others[key])
    return replace(made, **others) if others else made


def _of_pair(X: Any, y: Any, name: str | None, roles: Roles, where: str) -> Dataset:
    """Make a dataset of features and target; groups, time and weights may be columns of the features."""
    if is_table(X):
        return _of_table_and_target(X, y, name, roles, where)
    named = [role for role in roles.named if role != "target"] + (["drop"] if roles.drop else [])
    if named:
        raise InputError(
            f"{where}: {named[0]} names a column, and an array has no names: give a table"
        )
    features = X if sparse.issparse(X) else _array(X, where)
    if getattr(features, "ndim", 2) != 2:
        raise InputError(f"{where}: X has {features.ndim} dimension(s), it is samples x features")
    values, task, word = target_values(_column(y, where), roles.task, f"{where}: y")
    if len(values) != features.shape[0]:
        raise InputError(f"{where}: X has {features.shape[0]} rows, y has {len(values)}")
    called = getattr(y, "name", None)
    target = (str(called),) if called is not None else ()
    return Dataset(
        name or "data",
        features,
        values,
        task,
        target_names=target,
        notes=(f"y holds {word}: {task}",),
    )


def _of_table_and_target(X: Any, y: Any, name: str | None, roles: Roles, where: str) -> Dataset:
    if isinstance(y, str):
        return dataset_of_table(X, name or "data", replace(roles, target=y), where=where)
    table = checked_table(X, where)
    target = str(getattr(y, "name", None) or "target")
    while target in table.columns:
        target += " (y)"
    column = _column(y, where)
    if len(column) != len(table):
        raise InputError(f"{where}: X has {len(table)} rows, y has {len(column)}")
    others = [role for role in roles.named if role != "target"]
    if not others and not roles.drop:
        values, task, word = target_values(column, roles.task, f"{where}: y")
        said = (f"y holds {word}: {task}", described_columns(table))
        return Dataset(name or "data", table, values, task, target_names=(target,), notes=said)
    whole = table.assign(**{target: column.array if hasattr(column, "array") else column})
    # A pair says which columns are features: none is left out as an id.
    return dataset_of_table(
        whole, name or "data", replace(roles, target=target, keep_ids=True), where=where
    )


def _column(y: Any, where: str) -> Any:
    if hasattr(y, "columns") and hasattr(y, "iloc"):
        if y.shape[1] != 1:
            raise InputError(f"{where}: y has {y.shape[1]} columns, one target is predicted")
        return y.iloc[:, 0]
    if hasattr(y, "to_numpy"):
        return y
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{where}: y has {array.ndim} dimension(s), it is one value per row")
    return array


def _array(X: Any, where: str) -> Any:
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InputError(f"{where}: rows of different lengths are no table ({error})") from error
    if array.dtype.kind in "OUS" and array.ndim == 2:
        raise InputError(f"{where}: X holds text: give a DataFrame, whose columns have types")
    return array


def _is_one(data: Mapping[Any, Any]) -> bool:
    keys = set(data)
    return bool(keys >= _BUNCH or {"X", "y"} <= keys <= set(_OWN_KEYS) or "path" in keys)


def _is_several(data: Any) -> bool:
    if (
        isinstance(data, (str, bytes, Path, Dataset, np.ndarray, Mapping))
        or is_table(data)
        or sparse.issparse(data)
    ):
        return False
    if isinstance(data, tuple):
        return not (len(data) == 2 and not isinstance(data[0], (str, Path, Dataset)))
    return isinstance(data, Iterable)


def _with_names(found: list[Dataset]) -> list[Dataset]:
    """Number the datasets that would be called the same."""
    names: list[str] = []
    for one in found:
        count = sum(name == one.name or name.startswith(f"{one.name} ") for name in names) + 1
        names.append(one.name if count == 1 else f"{one.name} {count}")
    return [
        one if one.name == name else replace(one, name=name)
        for one, name in zip(found, names, strict=True)
    ]
