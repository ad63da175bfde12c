"""What several charts are put together from: lines through points, words, a rule, colours with their legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from paragone.charts.theme import from_rows, legend_columns, styled

Row = dict[str, Any]
Path = Sequence[tuple[float, float]]

DARK = "#333333"


def layered(title: str, subtitle: str, *layers: Any, **properties: Any) -> Any:
    """Return layers as one chart with a title; properties are width, height and the like.

    Examples
    --------
    >>> chart = layered("Ranks", "", rule(0.0), width=100)
    >>> chart.to_dict()["width"], len(chart.layer)
    (100, 1)
    """
    import altair as alt

    return styled(alt.layer(*layers).properties(**properties), title, subtitle)


def height_of(n_rows: int) -> int:
    """Return how high so many rows of bars or intervals are drawn.

    Examples
    --------
    >>> height_of(1), height_of(10)
    (60, 220)
    """
    return max(22 * n_rows, 60)


def colour_by(field: str, colours: Mapping[str, str], rows: Sequence[Row], **legend: Any) -> Any:
    """Return the colour of marks by a field, with those values in the legend that occur.

    Examples
    --------
    >>> rows = [{"word": "worse"}, {"word": "better"}]
    >>> found = colour_by("word", {"better": "blue", "equal": "grey", "worse": "red"}, rows).to_dict()
    >>> found["scale"], found["legend"]["columns"]
    ({'domain': ['better', 'worse'], 'range': ['blue', 'red']}, 2)
    """
    import altair as alt

    there = {row[field] for row in rows}
    seen = [name for name in colours if name in there]
    options = {"title": None, "columns": legend_columns(legend.get("values", seen)), **legend}
    scale = alt.Scale(domain=seen, range=[colours[name] for name in seen])
    return alt.Color(f"{field}:N", scale=scale, legend=alt.Legend(orient="bottom", **options))


def rule(at: float, *, color: str = DARK, **mark: Any) -> Any:
    """Draw a line up the chart at a place of its x-axis.

    Examples
    --------
    >>> rule(0.0).to_dict()["data"]["values"]
    [{'at': 0.0}]
    """
    return from_rows([{"at": at}]).mark_rule(color=color, **mark).encode(x="at:Q")


def lines(paths: Sequence[Path], x: Any, y: Any, *, color: str = DARK, **mark: Any) -> Any:
    """Draw lines through points, in the order of the points; the channels ``x`` and ``y`` are fields of that name.

    Examples
    --------
    >>> lines([[(0, 0), (0, 1)], [(1, 1), (2, 2)]], "x:Q", "y:Q").to_dict()["data"]["values"][-1]
    {'x': 2, 'y': 2, 'line': 1, 'step': 1}
    """
    rows = (
        [
            {"x": across, "y": up, "line": number, "step": step}
            for step, (across, up) in enumerate(path)
        ]
        for number, path in enumerate(paths)
    )
    drawn = from_rows(list(chain.from_iterable(rows))).mark_line(color=color, **mark)
    return drawn.encode(x=x, y=y, detail="line:N", order="step:Q")


def words(rows: Sequence[Row], x: Any, y: Any, **mark: Any) -> Any:
    """Write the ``text`` of each row at its place.

    Examples
    --------
    >>> words([{"x": 0, "y": 0, "text": "A"}], "x:Q", "y:Q", dx=3).to_dict()["mark"]["dx"]
    3
    """
    drawn = from_rows(rows).mark_text(fontSize=12, limit=0, **mark)
    return drawn.encode(x=x, y=y, text="text:N")
