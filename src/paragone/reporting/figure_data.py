"""Chart specifications made small: rows become columns, numbers keep six figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

FIGURES = 6


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
