"""How charts look, and how they are made of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

BLUE = "#0072B2"
ORANGE = "#E69F00"
VERMILION = "#D55E00"
GREEN = "#009E73"
PINK = "#CC79A7"
SKY = "#56B4E9"
GREY = "#7F7F7F"
LIGHT_GREY = "#D9D9D9"
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""Fonts of one width: drawings are laid out with the first, and no text outgrows its place where another is shown."""
PALETTE = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, "#332288", "#999933", "#882255", "#000000")


def styled(chart: Any, title: str = "", subtitle: str = "") -> Any:
    """Return the chart with title, fonts and uncut labels.

    Parameters
    ----------
    chart : altair chart
        Any top-level chart.
    title, subtitle : str
        What it shows, and how it was measured. Long subtitles are broken into lines.

    Returns
    -------
    altair chart
        The same chart, configured.

    Examples
    --------
    >>> import altair as alt
    >>> styled(alt.Chart({"values": []}).mark_point(), "Ranks").to_dict()["config"]["axis"]["labelLimit"]
    0
    """
    import altair as alt

    # Set on one copy: Altair copies the whole chart, rows and all, for each of its own configure
    # calls.
    made = chart.copy(deep=False)
    if title:
        lines = wrap(subtitle)
        heading = wrap(title, 70)
        made.title = alt.TitleParams(heading, subtitle=lines) if lines else alt.TitleParams(heading)
    made.config = alt.Config(
        font=FONT,
        # Labels at the ends stay at their ticks, and those that would touch a neighbour go.
        axis=alt.AxisConfig(
            labelLimit=0,
            titleLimit=0,
            labelFontSize=11,
            titleFontSize=12,
            gridColor="#EEEEEE",
            labelFlush=False,
            labelSeparation=8,
        ),
        legend=alt.LegendConfig(labelLimit=0, titleLimit=0, labelFontSize=11, titleFontSize=11),
        title=alt.TitleConfig(
            fontSize=13, subtitleFontSize=11, anchor="start", limit=0, subtitleColor="#555555"
        ),
        view=alt.ViewConfig(stroke=None),
    )
    return made


def colour_where(test: str, colour: str, otherwise: str) -> Any:
    """Return the colour of marks where a test of their row holds, and of the others.

    The same as `alt.condition`, which takes ten milliseconds each time.

    Examples
    --------
    >>> colour_where("datum.x > 1", "#FFFFFF", "#000000").to_dict()
    {'condition': {'test': 'datum.x > 1', 'value': '#FFFFFF'}, 'value': '#000000'}
    """
    import altair as alt

    value: Any = alt.ColorValue
    return value(otherwise, condition={"test": test, "value": colour})


def legend_columns(labels: list[str], width: int = 70) -> int:
    """Return in how many columns a legend fits under a chart: one for long labels.

    Examples
    --------
    >>> legend_columns(["a", "b", "c"]), legend_columns(["x" * 40, "y" * 40])
    (3, 1)
    """
    longest = max((len(label) for label in labels), default=1)
    return max(1, min(len(labels), width // (longest + 4)))


def wrap(text: str, width: int = 90) -> list[str]:
    """Break a text into lines of about ``width`` characters.

    Examples
    --------
    >>> wrap("one two three", 8)
    ['one two', 'three']
    """
    from textwrap import wrap as break_lines

    return break_lines(text, width)


def from_rows(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return an empty chart over rows of plain values.

    Parameters
    ----------
    rows : sequence of mapping
        One mapping a row.

    Returns
    -------
    altair chart
        To be given a mark and encodings with explicit types.

    Examples
    --------
    >>> from_rows([{"x": 1}]).mark_point().encode(x="x:Q").to_dict()["data"]
    {'values': [{'x': 1}]}
    """
    import altair as alt

    chart: Any = alt.Chart
    data: Any = alt.Data
    # A tuple: Altair copies lists, row by row, with every step of a chart.
    return chart(data(values=tuple(dict(row) for row in rows)))


@contextmanager
def unchecked() -> Iterator[None]:
    """Build charts in half the time: a page has hundreds, all of kinds that tests build with the check on.

    Examples
    --------
    >>> import altair as alt
    >>> with unchecked():
    ...     chart = alt.Chart(alt.Data(values=[])).mark_point()
    """
    from altair.utils import schemapi

    with schemapi.debug_mode(False):
        yield


LEAST_TEXT = 12
"""Pixels below which text on a screen is hard to read."""
_SIZES = ("fontSize", "labelFontSize", "titleFontSize", "subtitleFontSize")


def with_readable_text(part: Any) -> Any:
    """Return a specification of a chart in which no text is smaller than 12 px, for a screen.

    Examples
    --------
    >>> with_readable_text({"mark": {"type": "text", "fontSize": 9}, "title": {"fontSize": 13}})
    {'mark': {'type': 'text', 'fontSize': 12}, 'title': {'fontSize': 13}}
    """
    if isinstance(part, Mapping):
        return {
            key: (
                max(LEAST_TEXT, value)
                if key in _SIZES and isinstance(value, (int, float))
                else with_readable_text(value)
            )
            for key, value in part.items()
        }
    return [with_readable_text(one) for one in part] if isinstance(part, (list, tuple)) else part
