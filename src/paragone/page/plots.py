"""Charts as the page itself draws them, and how they are read off the specification of a chart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Plot:
    """A chart as the page itself draws it.

    Attributes
    ----------
    kind : {"lines", "points", "dots", "matrix"}
        Lines over x, labelled at their ends; points of x and y; a row of dots with their mean for
        every series; a table of numbers, tinted.
    x, y : str
        What the axes are called; of a matrix, the columns and the rows.
    series : mapping of str to tuple of points
        By name: (x, y), (x, y, low, high) with a band; of dots (value,); of a matrix a row of
        (value, share), the share from 0 to 1 being the tint.
    columns : tuple of str
        Of a matrix.
    guide : {"", "diagonal", "zero"}
        A line to compare with.
    steps : bool
        Whether lines keep a value until the next point: what was counted over time did not rise in
        between.
    """

    kind: str
    x: str
    y: str
    series: Mapping[str, tuple[tuple[float, ...], ...]]
    columns: tuple[str, ...] = ()
    guide: str = ""
    steps: bool = False


def plot_of(specification: Mapping[str, Any]) -> Plot | None:
    """Return what the page draws itself of a Vega-Lite chart; None where it is of no kind that it draws.

    Examples
    --------
    >>> rows = [{"at": 1, "value": 0.5, "method": "A"}, {"at": 2, "value": 0.7, "method": "A"}]
    >>> encoding = {"x": {"field": "at", "type": "quantitative"}, "y": {"field": "value", "type": "quantitative"}}
    >>> encoding["color"] = {"field": "method", "type": "nominal"}
    >>> dict(plot_of({"data": {"values": rows}, "mark": "line", "encoding": encoding}).series)
    {'A': ((1.0, 0.5), (2.0, 0.7))}
    """
    if any(name in specification for name in ("hconcat", "vconcat", "concat", "facet")):
        return None
    layers = [
        _Layer.of(part, specification) for part in specification.get("layer", [specification])
    ]
    for kind, read in (("rect", _matrix), ("line", _lines), ("point", _points)):
        drawn = [layer for layer in layers if layer.mark == kind]
        plot = read(drawn[0], layers) if drawn else None
        if plot is not None:
            return plot
    return None


@dataclass(frozen=True)
class _Layer:
    mark: str
    encoding: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]
    steps: bool = False

    @classmethod
    def of(cls, part: Mapping[str, Any], whole: Mapping[str, Any]) -> _Layer:
        mark = part.get("mark", "")
        data = part.get("data") or whole.get("data") or {}
        values = data.get("values") or whole.get("datasets", {}).get(data.get("name"), ())
        kind = str(mark.get("type", "") if isinstance(mark, Mapping) else mark)
        encoding = {**whole.get("encoding", {}), **part.get("encoding", {})}
        steps = isinstance(mark, Mapping) and mark.get("interpolate") == "step-after"
        rows = tuple(values) if isinstance(values, list) else ()
        return cls("point" if kind == "circle" else kind, encoding, rows, steps)

    def field(self, channel: str) -> str:
        return str(self.encoding.get(channel, {}).get("field", ""))

    def title(self, channel: str) -> str:
        words = self.encoding.get(channel, {}).get("title")
        return join_words(words) if words else self.field(channel)

    def is_number(self, channel: str) -> bool:
        return bool(self.encoding.get(channel, {}).get("type") == "quantitative")

    def number(self, row: Mapping[str, Any], name: str) -> float:
        value = row.get(name)
        return math.nan if value is None else float(value)


def _by_series(
    layer: _Layer, names: tuple[str, ...], fields: tuple[str, ...]
) -> dict[str, tuple[tuple[float, ...], ...]]:
    found: dict[str, list[tuple[float, ...]]] = {}
    for row in layer.rows:
        label = ", ".join(str(row[name]) for name in names)
        found.setdefault(label, []).append(tuple(layer.number(row, name) for name in fields))
    return {label: tuple(points) for label, points in found.items()}


def _lines(layer: _Layer, layers: list[_Layer]) -> Plot | None:
    """Lines over x, with a band where a layer has one of the same rows."""
    x, y = layer.field("x"), layer.field("y")
    if not (layer.is_number("x") and layer.is_number("y") and layer.field("color")):
        return None
    band = next((one for one in layers if one.mark == "area" and one.field("y2")), None)
    ends = () if band is None else (band.field("y"), band.field("y2"))
    names = tuple(
        dict.fromkeys(name for name in (layer.field("color"), layer.field("strokeDash")) if name)
    )
    series = _by_series(layer, names, (x, y, *ends))
    return Plot("lines", layer.title("x"), layer.title("y"), series, steps=layer.steps)


def _points(layer: _Layer, layers: list[_Layer]) -> Plot | None:
    if not (layer.is_number("x") and layer.is_number("y")):
        return None
    x, y = layer.field("x"), layer.field("y")
    marks = {one.mark for one in layers}
    guide = "diagonal" if "line" in marks else "zero" if "rule" in marks else ""
    names = (layer.field("color"),) if layer.field("color") else ()
    return Plot(
        "points", layer.title("x"), layer.title("y"), _by_series(layer, names, (x, y)), guide=guide
    )


def _matrix(layer: _Layer, layers: list[_Layer]) -> Plot | None:
    text = next((one for one in layers if one.mark == "text"), None)
    if text is None or layer.is_number("x") or layer.is_number("y"):
        return None
    across, down = layer.field("x"), layer.field("y")
    order = layer.encoding.get("y", {}).get("sort")
    present = [str(row[down]) for row in layer.rows]
    names = (
        [name for name in order if name in present]
        if isinstance(order, list)
        else list(dict.fromkeys(present))
    )
    columns = tuple(dict.fromkeys(str(row[across]) for row in layer.rows))
    cells = {
        (str(row[down]), str(row[across])): (
            layer.number(row, text.field("text")),
            layer.number(row, layer.field("color")),
        )
        for row in layer.rows
    }
    nothing = (math.nan, math.nan)
    series = {
        name: tuple(cells.get((name, column), nothing) for column in columns) for name in names
    }
    return Plot("matrix", layer.title("x"), layer.title("y"), series, columns)


def join_words(text: Any) -> str:
    """Return a chart's title as one line.

    Examples
    --------
    >>> join_words(["Micro-F1", "on emotions"]), join_words("Ranks")
    ('Micro-F1 on emotions', 'Ranks')
    """
    return " ".join(text) if isinstance(text, list) else str(text)
