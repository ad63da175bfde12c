"""Chart specifications made small: rows become columns, numbers keep six figures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

FIGURES = 6
WORTH_SHARING = 100
"""Parts of a specification that take fewer characters stay where they are."""


def share(specifications: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, dict[str, Any]], list[Any]]:
    """Take the parts that several specifications have in common out of them, to stand once.

    Parameters
    ----------
    specifications : mapping of str to specification
        By the name of their chart.

    Returns
    -------
    dict, list
        The specifications, in which ``{"shared": n}`` stands for the n-th part of the list; and that list.

    Examples
    --------
    >>> long = {"mark": "x" * 200}
    >>> small, parts = share({"a": {"layer": long, "width": 1}, "b": {"layer": long, "width": 2}})
    >>> small["b"], parts == [long]
    ({'layer': {'shared': 0}, 'width': 2}, True)
    """
    texts = {
        (chart, part): json.dumps(value, sort_keys=True)
        for chart, specification in specifications.items()
        for part, value in specification.items()
    }
    common = {text for text, n in Counter(texts.values()).items() if n > 1 and len(text) >= WORTH_SHARING}
    places: dict[str, int] = {}
    parts: list[Any] = []
    small: dict[str, dict[str, Any]] = {}
    for chart, specification in specifications.items():
        small[chart] = {}
        for part, value in specification.items():
            text = texts[chart, part]
            if text in common and text not in places:
                places[text] = len(parts)
                parts.append(value)
            small[chart][part] = {"shared": places[text]} if text in common else value
    return small, parts


def compact(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification with every list of rows as ``{"columns": [...], "rows": [[...], ...]}``.

    A page of two hundred charts repeats the names of its fields a hundred thousand times otherwise. Rows with
    other fields than the first keep their form.

    Examples
    --------
    >>> compact({"data": {"values": [{"x": 1, "y": 0.123456789}, {"x": 2, "y": 0.5}]}, "mark": "line"})
    {'data': {'values': {'columns': ['x', 'y'], 'rows': [[1, 0.123457], [2, 0.5]]}}, 'mark': 'line'}
    """
    return {name: _compact(name, value) for name, value in specification.items()}


def _compact(name: str, value: Any) -> Any:
    if name == "datasets":
        return {key: _columns(rows) for key, rows in value.items()}
    if name == "values" and isinstance(value, list):
        return _columns(value)
    if isinstance(value, Mapping):
        return compact(value)
    if isinstance(value, list):
        return [compact(part) if isinstance(part, Mapping) else part for part in value]
    return value


def _columns(rows: Sequence[Any]) -> Any:
    if not rows or not all(isinstance(row, Mapping) and row.keys() == rows[0].keys() for row in rows):
        return rows
    columns = list(rows[0])
    return {"columns": columns, "rows": [[_shorter(row[column]) for column in columns] for row in rows]}


def _shorter(value: Any) -> Any:
    return float(f"{value:.{FIGURES}g}") if isinstance(value, float) else value
