"""Pair two sets of scores by key, never by row order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from paragone.errors import InputError, unknown_name
from paragone.metrics import base_name, named_metric
from paragone.stats.intake import is_summary, natural_order, numbers, spell, to_tidy
from paragone.stats.scores import duplicated_key, listed, one_run, select_metric, select_point
from paragone.ties import FloatArray


@dataclass(frozen=True)
class Paired:
    """Scores of two methods on the subjects (or folds) that both have, sorted by key.

    Attributes
    ----------
    keys : tuple of str
        The subjects.
    a, b : ndarray of shape (n,)
        Their scores.
    only_a, only_b : tuple of str
        Subjects left out because the other side has no finite score.
    warnings : tuple of str
        What was left out, in words.
    """

    keys: tuple[str, ...]
    a: FloatArray
    b: FloatArray
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    warnings: tuple[str, ...]


def pair_scores(a: Any, b: Any, *, name_a: str = "A", name_b: str = "B") -> Paired:
    """Pair the scores of two methods.

    Parameters
    ----------
    a, b : Series, mapping or array-like
        Series and mappings are paired by key. Plain arrays have no keys; they must be equally long and
        are paired by position.
    name_a, name_b : str
        Names for messages.

    Returns
    -------
    Paired
        Only complete pairs; the others are listed.

    Examples
    --------
    >>> import pandas as pd
    >>> pair_scores({"s1": 0.5, "s2": 0.6}, pd.Series([0.7, 0.4], index=["s2", "s1"])).b.tolist()
    [0.4, 0.7]
    """
    keyed = [isinstance(side, pd.Series | Mapping) for side in (a, b)]
    if keyed[0] != keyed[1]:
        raise InputError("one side has keys and the other has none: give two Series keyed by subject, or two arrays")
    if not keyed[0] and np.shape(a) != np.shape(b):
        raise InputError(
            f"{name_a} has {np.size(a)} scores and {name_b} has {np.size(b)}: without keys both must be equally long"
        )
    (first, summaries_a), (second, summaries_b) = _keyed(a, name_a), _keyed(b, name_b)
    finite_a, finite_b = _finite(first), _finite(second)
    common = sorted(set(finite_a) & set(finite_b), key=natural_order)
    if not common:
        raise InputError(f"{name_a} and {name_b} have no subject with a score in common: check the key column")
    only_a = tuple(sorted(set(finite_a) - set(finite_b), key=natural_order))
    only_b = tuple(sorted(set(finite_b) - set(finite_a), key=natural_order))
    neither = sorted((set(first) | set(second)) - set(finite_a) - set(finite_b), key=natural_order)
    warnings = [
        f"{len(names)} with a score of {name} only, left out: {listed(names)}."
        for names, name in ((only_a, name_a), (only_b, name_b))
        if names
    ]
    if neither:
        warnings.append(f"{len(neither)} without a finite score on either side, left out: {listed(neither)}.")
    if summaries := sorted({*summaries_a, *summaries_b}):
        warnings.append(f"Rows that sum up others were left out: {', '.join(summaries)}.")
    return Paired(
        tuple(common),
        np.array([finite_a[key] for key in common]),
        np.array([finite_b[key] for key in common]),
        only_a,
        only_b,
        tuple(warnings),
    )


def _keyed(side: Any, name: str) -> tuple[dict[str, float], list[str]]:
    """Return scores by key, and the keys of summary rows that were taken out."""
    if isinstance(side, Mapping):
        side = pd.Series(dict(side), dtype=object)
    if not isinstance(side, pd.Series):
        values = np.asarray(side)
        if values.ndim != 1 or values.size == 0:
            raise InputError(f"the scores of {name} must be a flat list with one or more numbers")
        side = pd.Series(values, index=range(1, values.size + 1))
    scores = numbers(side.reset_index(drop=True)).tolist()
    keys = [" ".join(map(spell, key)) if isinstance(key, tuple) else spell(key) for key in side.index]
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise InputError(f"the key {key!r} of {name} stands twice: keep one")
        seen.add(key)
    kept = {key: value for key, value in zip(keys, scores, strict=True) if not is_summary(key)}
    return kept, [key for key in keys if is_summary(key)]


def _finite(scores: dict[str, float]) -> dict[str, float]:
    return {key: value for key, value in scores.items() if np.isfinite(value)}


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
    known = column if metric is None and named_metric(column).higher_is_better is not None else metric
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
