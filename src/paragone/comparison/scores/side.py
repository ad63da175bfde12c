"""One method's scores out of a table, as a Series keyed by subject, fold or dataset."""

from __future__ import annotations

import pandas as pd

from paragone.comparison.scores.keys import spell
from paragone.comparison.scores.select import duplicated_key, one_run, select_metric, select_point
from paragone.comparison.scores.tidy import numbers, to_tidy
from paragone.directions import base_name, higher_is_better
from paragone.errors import InputError, unknown_name

_KEYS = ("subject", "participant", "id", "fold", "dataset", "name")


def one_side(
    frame: pd.DataFrame,
    name: str | None = None,
    *,
    metric: str | None = None,
    key: str | None = None,
    at: float | None = None,
) -> tuple[pd.Series, str | None]:
    """Return the scores of one method, and the metric they are.

    Parameters
    ----------
    frame : DataFrame
        Tidy scores with a ``method`` column, or a plain table with a key column and columns of scores.
    name : str, optional
        The method (tidy) or the column (plain).
    metric : str, optional
        The metric: a value of the ``metric`` column (tidy), or a column (plain).
    key : str, optional
        The key column of a plain table; by default subject, participant, id, fold, dataset, name or the
        first column of text.
    at : float, optional
        Point of the grid.

    Returns
    -------
    scores : Series
        Indexed by key; the index is called ``fold`` where the pairs are folds of one dataset.
    metric : str or None
        The metric's name, where it is known.

    Examples
    --------
    >>> import pandas as pd
    >>> one_side(pd.DataFrame({"subject": ["s1", "s2"], "accuracy": [0.4, 0.5]}))[0].tolist()
    [0.4, 0.5]
    """
    names = {str(column).strip().lower() for column in frame.columns}
    if {"method", "value"} <= names and (name is None or name not in frame.columns):
        return _tidy_side(frame, name, metric, at)
    return _plain_side(frame.set_axis([str(c).strip() for c in frame.columns], axis=1), name, metric, key)


def _tidy_side(
    frame: pd.DataFrame, name: str | None, metric: str | None, at: float | None
) -> tuple[pd.Series, str | None]:
    rows, chosen = select_metric(one_run(to_tidy(frame).frame), metric)
    methods = sorted(set(rows["method"]))
    if name is None and len(methods) > 1:
        raise InputError(f"the scores hold {len(methods)} methods: choose one with ::NAME ({', '.join(methods)})")
    method = methods[0] if name is None else name
    if method not in methods:
        raise unknown_name("method", method, methods)
    rows, _ = select_point(rows[rows["method"] == method], at)
    doubled = rows.duplicated(["dataset", "fold"])
    if doubled.any():
        raise duplicated_key(rows[doubled].iloc[0])
    if rows["dataset"].nunique() == 1 and rows["fold"].nunique() > 1:
        return rows.set_index("fold")["value"].rename(method), chosen
    means = rows.sort_values(["dataset", "fold"]).groupby("dataset")["value"].agg(lambda v: v.to_numpy().mean())
    return means.rename(method), chosen


def _plain_side(
    frame: pd.DataFrame, name: str | None, metric: str | None, key: str | None
) -> tuple[pd.Series, str | None]:
    key_column = _key_column(frame, key, name)
    values = [column for column in frame.columns if column != key_column]
    column = _value_column(frame, values, name, metric)
    known = column if metric is None and higher_is_better(column) is not None else metric
    series = pd.Series(
        numbers(frame[column]).to_numpy(),
        index=pd.Index([spell(label) for label in frame[key_column]], name=key_column.lower()),
        name=name or column,
    )
    return series, known


def _key_column(frame: pd.DataFrame, key: str | None, value: str | None) -> str:
    columns = [str(column) for column in frame.columns]
    if key is not None:
        match = next((column for column in columns if column.lower() == key.lower()), None)
        if match is None:
            raise unknown_name("key column", key, columns)
        return match
    by_name = {column.lower(): column for column in columns}
    for known in _KEYS:
        if known in by_name:
            return by_name[known]
    text = [c for c in columns if not pd.api.types.is_numeric_dtype(frame[c]) and c != value]
    if not text:
        raise InputError(f"no column names the pairs: choose the key column with --key ({', '.join(columns)})")
    return text[0]


def _value_column(frame: pd.DataFrame, values: list[str], name: str | None, metric: str | None) -> str:
    if name is not None:
        if name not in values:
            raise unknown_name("column", name, values)
        return name
    if metric is not None:
        match = [column for column in values if base_name(column) == base_name(metric)]
        if match:
            return match[0]
    numeric = [column for column in values if pd.api.types.is_numeric_dtype(frame[column])]
    if len(numeric) > 1:
        raise InputError(
            f"there are several columns of scores: choose one with --metric or ::NAME ({', '.join(numeric)})"
        )
    if len(values) == 1:
        return values[0]
    if not numeric:
        raise InputError(f"no column holds numbers: {', '.join(values) or 'the table has only a key'}")
    return numeric[0]
