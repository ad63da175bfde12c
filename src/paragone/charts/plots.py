"""A chart as rows: the page's script draws them, and Altair draws them for files and notebooks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from paragone.charts.save import chart_specification
from paragone.charts.theme import (
    GREY,
    PALETTE,
    colour_where,
    from_rows,
    legend_columns,
    styled,
    unchecked,
    wrap,
)

Points = tuple[tuple[float, ...], ...]

WIDTH, HEIGHT = 420, 280
SQUARE = 320
CELL = 46
STEP = 20
MOST_TICKS = 12
"""More whole numbers than these stand too close on an axis."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
"""Lines beyond as many as there are colours are told apart by these."""
TITLE_WIDTH = 70


@dataclass(frozen=True, eq=False)
class Plot:
    """A chart as rows.

    Parameters
    ----------
    kind : {"lines", "points", "dots", "matrix"}
        Lines over x, labelled at their ends; points of x and y; a row of dots with their mean for
        every series; a table of numbers, tinted.
    title : str
        What it shows, for those who see it and for those who do not.
    x, y : str
        What the axes are called; of a matrix, the columns and the rows.
    series : mapping of str to tuple of points
        By name: (x, y), (x, y, low, high) with a band; of dots (value,); of a matrix a row of
        (value, share), the share from 0 to 1 being the tint.
    subtitle : str
        How it was measured.
    columns : tuple of str
        Of a matrix.
    guide : {"", "diagonal", "zero"}
        A line to compare with.
    steps : bool
        Whether lines keep a value until the next point: what was counted over time did not rise in
        between.
    percent : bool
        Whether x is a share.

    Examples
    --------
    >>> plot = Plot("lines", "Scores", "k", "F1", {"A": ((10.0, 0.5), (20.0, 0.75))})
    >>> plot.specification["data"]["values"][1]
    {'series': 'A', 'x': 20.0, 'y': 0.75}
    """

    kind: str
    title: str
    x: str
    y: str
    series: Mapping[str, Points]
    subtitle: str = ""
    columns: tuple[str, ...] = ()
    guide: str = ""
    steps: bool = False
    percent: bool = field(default=False, kw_only=True)

    @property
    def fields(self) -> tuple[str, ...]:
        """What the numbers of a point are called in `rows`."""
        known = {"dots": ("x",), "matrix": ("value", "share")}
        return known.get(self.kind, ("x", "y", "low", "high"))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A mapping for every point: the name of its series, its numbers, and of a matrix its column."""
        found = []
        for name, points in self.series.items():
            for place, point in enumerate(points):
                row: dict[str, Any] = {"series": name}
                row |= dict(zip(self.fields, point, strict=False))
                if self.columns:
                    row |= {"column": self.columns[place], "text": _short(point[0])}
                found.append(row)
        return found

    @cached_property
    def specification(self) -> dict[str, Any]:
        """The chart in Vega-Lite."""
        with unchecked():
            if self.kind == "lines":
                return self._filled_lines()
            draw = {"points": _points, "dots": _dots, "matrix": _matrix}[self.kind]
            return chart_specification(styled(draw(self), self.title, self.subtitle))

    def _filled_lines(self) -> dict[str, Any]:
        # A page has the same chart for every dataset, with other rows: Altair takes longer to build
        # one than a reader to look at it.
        points = [point for points in self.series.values() for point in points]
        places = sorted({float(point[0]) for point in points})
        whole = all(place.is_integer() for place in places)
        axis: list[tuple[str, Any]] = []
        if self.percent or whole:
            axis.append(("format", "%" if self.percent else "d"))
        # Between whole numbers, such as counts of components, there is nothing to mark.
        if whole and len(places) <= MOST_TICKS:
            axis.append(("values", tuple(places)))
        banded = any(len(point) > 2 for point in points)
        names = tuple(self.series)
        frame = _lines_frame(names, self.x, self.y, tuple(axis), banded, self.steps)
        title = {**frame["title"], "text": wrap(self.title, TITLE_WIDTH)}
        if self.subtitle:
            title["subtitle"] = wrap(self.subtitle)
        return {**frame, "title": title, "data": {"values": self.rows}}


def _short(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _colour(names: Sequence[str], symbol: str = "circle") -> Any:
    import altair as alt

    colours = [PALETTE[place % len(PALETTE)] for place in range(len(names))]
    legend: Any = alt.Legend(
        title=None,
        orient="bottom",
        columns=legend_columns(list(names)),
        symbolType=symbol,
        symbolOpacity=1,
        symbolStrokeWidth=3 if symbol == "stroke" else 0,
    )
    if len(names) == 1 and not names[0]:
        legend = None
    scale = alt.Scale(domain=list(names), range=colours)
    return alt.Color("series:N", sort=list(names), scale=scale, legend=legend)


@lru_cache(maxsize=64)
def _lines_frame(
    names: tuple[str, ...],
    x: str,
    y: str,
    axis: tuple[tuple[str, Any], ...],
    banded: bool,
    steps: bool,
) -> dict[str, Any]:
    """Return the specification of lines, without their rows."""
    import altair as alt

    scale = alt.Scale(zero=False)
    place = alt.X(
        "x:Q", title=x, axis=alt.Axis(**dict(axis)), scale=alt.Scale(zero=False, nice=False)
    )
    dashes = [DASHES[(at // len(PALETTE)) % len(DASHES)] for at in range(len(names))]
    base = from_rows([]).encode(x=place, color=_colour(names, "stroke"))
    mark: dict[str, Any] = {"interpolate": "step-after"} if steps else {}
    if not steps:
        mark["point"] = alt.OverlayMarkDef(size=18)
    line = base.mark_line(strokeWidth=1.8, **mark).encode(
        y=alt.Y("y:Q", title=y, scale=scale),
        strokeDash=alt.StrokeDash(
            "series:N", legend=None, scale=alt.Scale(domain=list(names), range=dashes)
        ),
        tooltip=["series:N", "x:Q", alt.Tooltip("y:Q", format=".4f")],
    )
    layers = [line]
    if banded:
        ends = {"y": alt.Y("low:Q", title=y, scale=scale), "y2": alt.Y2("high:Q")}
        layers.insert(0, base.mark_area(opacity=0.13).encode(**ends))
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return chart_specification(styled(chart, "-"))


def _points(plot: Plot) -> Any:
    import altair as alt

    ends: list[dict[str, float]] = []
    values = {name: [row[name] for row in plot.rows] for name in ("x", "y")}
    scales = {name: alt.Scale(zero=False) for name in values}
    width, height = WIDTH, HEIGHT - 40
    if plot.guide == "diagonal":
        low, high = min(map(min, values.values())), max(map(max, values.values()))
        room = 0.04 * (high - low or 1.0)
        ends = [{"x": end, "y": end} for end in (low - room, high + room)]
        square = alt.Scale(domain=[low - room, high + room], nice=False, zero=False)
        scales = dict.fromkeys(values, square)
        width = height = SQUARE
    elif plot.guide == "zero":
        ends = [{"x": end, "y": 0.0} for end in (min(values["x"]), max(values["x"]))]
    marks = from_rows(plot.rows).mark_point(filled=True, size=38, opacity=0.75)
    chart = marks.encode(
        x=alt.X("x:Q", title=plot.x, scale=scales["x"], axis=alt.Axis(labelFlush=False)),
        y=alt.Y("y:Q", title=plot.y, scale=scales["y"]),
        color=_colour(list(plot.series)),
        tooltip=["series:N", "x:Q", "y:Q"],
    )
    if ends:
        guide = from_rows(ends).mark_line(color=GREY, strokeDash=[5, 3])
        chart = guide.encode(x="x:Q", y="y:Q") + chart
    return chart.properties(width=width, height=height)


def _dots(plot: Plot) -> Any:
    import altair as alt

    names = list(plot.series)
    base = from_rows(plot.rows).encode(y=alt.Y("series:N", title=None, sort=names))
    axis = alt.X("x:Q", title=plot.x, scale=alt.Scale(zero=False))
    dots = base.mark_point(filled=True, size=38, opacity=0.6).encode(
        x=axis, color=alt.Color("series:N", sort=names, legend=None)
    )
    mean = base.mark_tick(thickness=2, size=STEP - 4, color="black").encode(x="mean(x):Q")
    return (dots + mean).properties(width=WIDTH, height=alt.Step(STEP))


def _matrix(plot: Plot) -> Any:
    import altair as alt

    rows, across = list(plot.series), list(plot.columns)
    upright = any(len(name) > 6 for name in across)
    base = from_rows(plot.rows).encode(
        x=alt.X(
            "column:N", title=plot.x, sort=across, axis=alt.Axis(labelAngle=-30 if upright else 0)
        ),
        y=alt.Y("series:N", title=plot.y, sort=rows),
        tooltip=["series:N", "column:N", "value:Q"],
    )
    # What is many times worse than the best must not wash out the others.
    scale = alt.Scale(scheme="blues", domain=[0, 1], clamp=True)
    tiles = base.mark_rect().encode(color=alt.Color("share:Q", scale=scale, legend=None))
    ink = colour_where("datum.share > 0.55", "white", "black")
    texts = base.mark_text(fontSize=12).encode(text="text:N", color=ink)
    return (tiles + texts).properties(width=alt.Step(CELL), height=alt.Step(STEP))
