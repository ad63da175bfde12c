"""Metrics over K as a chart: one panel a metric, one line a method with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.charts import PALETTE, from_rows, styled
from paragone.reporting.wording import Wording

if TYPE_CHECKING:
    import pandas as pd

WIDTH, HEIGHT, COLUMNS = 230, 180, 3


def topk_chart(scores: pd.DataFrame, dataset: str, wording: Wording, metric: str | None = None) -> Any:
    """Draw every metric against K for every method of a dataset, with 95 % intervals.

    Parameters
    ----------
    scores : DataFrame
        What `score_frame` gave.
    dataset : str
        Which dataset.
    wording : Wording
        Names to show.
    metric : str, optional
        Draw this one only.

    Returns
    -------
    altair chart
        One panel a metric; each has a scale of its own.
    """
    import altair as alt

    mine = scores[scores["dataset"] == dataset]
    methods = [wording.name(method) for method in dict.fromkeys(mine["method"])]
    colours = [PALETTE[place % len(PALETTE)] for place in range(len(methods))]
    legend = alt.Legend(symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=3)
    scale = alt.Scale(domain=methods, range=colours)
    colour = alt.Color("method:N", title="method", sort=methods, scale=scale, legend=legend)
    axis = alt.X("at:Q", title="K", axis=alt.Axis(values=sorted(set(mine["at"].tolist())), format="d"))
    panels = []
    for name in dict.fromkeys(mine["metric"]) if metric is None else (metric,):
        rows = [
            {
                "method": wording.name(row.method),
                "at": int(row.at),
                "value": float(row.value),
                "low": float(row.low),
                "high": float(row.high),
            }
            for row in mine[mine["metric"] == name].itertuples()
        ]
        base = from_rows(rows)
        band = base.mark_area(opacity=0.12).encode(
            x=axis, y=alt.Y("low:Q", title=name, scale=alt.Scale(zero=False)), y2=alt.Y2("high:Q"), color=colour
        )
        line = base.mark_line(point=alt.OverlayMarkDef(size=22), strokeWidth=1.6).encode(
            x=axis,
            y=alt.Y("value:Q", title=name, scale=alt.Scale(zero=False)),
            color=colour,
            tooltip=[
                alt.Tooltip("method:N"),
                alt.Tooltip("at:Q"),
                *(alt.Tooltip(f"{end}:Q", format=".4f") for end in ("value", "low", "high")),
            ],
        )
        panels.append((band + line).properties(width=WIDTH, height=HEIGHT))
    chart: Any = panels[0] if metric is not None else alt.concat(*panels, columns=COLUMNS)
    subtitle = "mean over test samples, band: 95 % interval, equal queries resampled together; axes do not begin at 0"
    return styled(chart, f"{metric or 'Metrics'} at K on {wording.name(dataset)}", subtitle)
