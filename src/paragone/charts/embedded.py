"""Put a chart into HTML as a picture: no script, no network, no name that could clash with another chart's."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import Any

from paragone.charts.save import chart_specification, draw_svg


def embedded(chart: Any, description: str) -> str:
    """Return an HTML image that holds the chart as SVG.

    As an image it runs nothing and loads nothing, whatever a method is called, and notebooks show it without being
    trusted first. Its background stays white, since axes and labels are dark.

    Parameters
    ----------
    chart : altair chart
        What is drawn.
    description : str
        What it shows, for those who do not see it.

    Returns
    -------
    str
        An ``img`` element.

    Examples
    --------
    >>> import altair as alt
    >>> chart = alt.Chart({"values": [{"x": 1}]}).mark_point().encode(x="x:Q")
    >>> embedded(chart, "one <point>")[:60]
    '<img alt="one &lt;point&gt;" style="max-width:100%;backgroun'
    """
    drawing = b64encode(draw_svg(chart_specification(chart)).encode()).decode()
    style = "max-width:100%;background:#fff"
    return f'<img alt="{escape(description)}" style="{style}" src="data:image/svg+xml;base64,{drawing}">'
