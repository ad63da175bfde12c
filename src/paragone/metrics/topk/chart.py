"""The chart of a top-K result: each metric over K with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paragone.metrics.topk.result import TopKResult


def result_chart(result: TopKResult) -> Any:
    """Return an Altair chart, one panel a metric, the interval as a band."""
    import altair as alt

    table = result.table()
    # Vega reads brackets in a field name as a path; the values are safe, the column names here have none.
    base = alt.Chart(table).encode(x=alt.X("at:O", title="K", axis=alt.Axis(labelAngle=0)))
    band = base.mark_errorbar(ticks=alt.MarkConfig(size=7)).encode(
        y=alt.Y("low:Q", title="value", scale=alt.Scale(zero=False)), y2="high:Q"
    )
    line = base.mark_line(point=True).encode(
        y=alt.Y("value:Q"), tooltip=["metric", "value", "low", "high", "tie_share"]
    )
    panels = alt.layer(line, band).properties(width=160, height=140)
    return panels.facet(facet=alt.Facet("name:N", title=None), columns=4).resolve_scale(y="independent")
