"""Box plots of the ranks of every method over the datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.charts import BLUE, VERMILION, from_rows, styled

if TYPE_CHECKING:
    from paragone.comparison.comparison import Comparison


def rank_boxes(comparison: Comparison) -> Any:
    """Draw how the ranks of every method spread over the datasets.

    Parameters
    ----------
    comparison : Comparison
        The result.

    Returns
    -------
    altair chart
        Boxes from the lower to the upper quartile, whiskers to the extremes, a dot at the average rank.
    """
    import altair as alt

    names = comparison.rank_table["method"].tolist()
    rows = [
        {"method": method, "rank": float(rank)}
        for column, method in enumerate(comparison.scores.methods)
        for rank in comparison.ranks[:, column]
    ]
    means = comparison.rank_table[["method", "average_rank"]].to_dict("records")
    y = alt.Y("method:N", sort=names, title=None)
    x = alt.X(
        "rank:Q",
        title="rank on a dataset (1 is best)",
        scale=alt.Scale(domain=[0.5, len(names) + 0.5], nice=False),
        axis=alt.Axis(values=list(range(1, len(names) + 1)), format="d"),
    )
    boxes = from_rows(rows).mark_boxplot(extent="min-max", size=12, color=BLUE, median={"color": "#FFFFFF"})
    dots = from_rows(means).mark_point(filled=True, color=VERMILION, size=45, opacity=1)
    chart = alt.layer(boxes.encode(x=x, y=y), dots.encode(x=alt.X("average_rank:Q"), y=y))
    chart = chart.properties(width=460, height=max(22 * len(names), 60))
    n = len(comparison.scores.datasets)
    text = f"Quartiles and extremes over {n} dataset{'s' * (n != 1)}; dots are average ranks"
    return styled(chart, "Ranks", text)
