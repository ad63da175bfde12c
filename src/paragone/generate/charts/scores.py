"""AUROC of methods over datasets: heat map, boxes, parallel coordinates, and the matrix of duels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.charts import BLUE, GREY, LIGHT_GREY, VERMILION, from_rows, styled
from paragone.charts.theme import colour_where
from paragone.ties import loss_order

if TYPE_CHECKING:
    import pandas as pd

ROW_HEIGHT = 15
COLUMN_WIDTH = 46
PLOT_WIDTH = 560
PLOT_HEIGHT = 300


def clustered_order(values: Any) -> list[int]:
    """Return rows in the order of a dendrogram (average linkage, Euclidean), so that like rows stand together.

    Examples
    --------
    >>> clustered_order([[0.0], [9.0], [0.1], [9.3]])
    [0, 2, 1, 3]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    array = np.asarray(values, dtype=np.float64)
    if len(array) < 3:
        return list(range(len(array)))
    return [int(leaf) for leaf in leaves_list(linkage(array, "average"))]


def heat_map(table: pd.DataFrame) -> Any:
    """Draw AUROC by dataset (down) and method (across), both clustered.

    Parameters
    ----------
    table : DataFrame
        Datasets down (index), methods across, no gaps.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.9, 0.6], "B": [0.7, 0.8]}, index=["one", "two"])
    >>> heat_map(table).to_dict()["title"]["text"]
    ['AUROC by dataset and method']
    """
    import altair as alt

    datasets = [str(table.index[i]) for i in clustered_order(table)]
    methods = [str(table.columns[j]) for j in clustered_order(table.T)]
    rows: list[dict[str, Any]] = [
        {"dataset": str(d), "method": str(m), "auroc": float(table.loc[d, m])}
        for d in table.index
        for m in table.columns
    ]
    base = from_rows(rows).encode(
        x=alt.X("method:N", sort=methods, axis=alt.Axis(orient="top", labelAngle=-40, title=None)),
        y=alt.Y("dataset:N", sort=datasets, axis=alt.Axis(title=None)),
    )
    colour = alt.Color("auroc:Q", scale=alt.Scale(scheme="viridis"), legend=alt.Legend(title="AUROC", format=".2f"))
    middle = (min(r["auroc"] for r in rows) + max(r["auroc"] for r in rows)) / 2
    ink = colour_where(f"datum.auroc < {middle}", "#FFFFFF", "#000000")
    chart = alt.layer(
        base.mark_rect().encode(color=colour),
        base.mark_text(fontSize=9).encode(text=alt.Text("auroc:Q", format=".2f"), color=ink),
    ).properties(width=COLUMN_WIDTH * len(methods), height=ROW_HEIGHT * len(datasets))
    return styled(chart, "AUROC by dataset and method", "Rows and columns in the order of their clusters")


def score_boxes(scores: pd.DataFrame, over: str) -> Any:
    """Draw each method's AUROC as a box over datasets or seeds.

    Parameters
    ----------
    scores : DataFrame
        Columns ``method`` and ``value``.
    over : str
        What the box is over, such as ``"datasets"``.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"method": ["A", "A", "B"], "value": [0.9, 0.8, 0.7]})
    >>> score_boxes(scores, "datasets").to_dict()["mark"]["type"]
    'boxplot'
    """
    import altair as alt

    order = _highest_first(scores.groupby("method", sort=False)["value"].median())
    rows = scores[["method", "value"]].to_dict("records")
    chart = (
        from_rows(rows)
        .mark_boxplot(extent=1.5, color=BLUE, size=18)
        .encode(
            x=alt.X("value:Q", title="AUROC", scale=alt.Scale(zero=False)),
            y=alt.Y("method:N", sort=order, axis=alt.Axis(title=None)),
        )
        .properties(width=PLOT_WIDTH, height=26 * len(order))
    )
    return styled(chart, f"AUROC over {over}", "Box: quartiles; whiskers: 1.5 times their distance; points beyond")


def _highest_first(values: pd.Series) -> list[str]:
    """Return the methods by their AUROC, the highest first, ties as they stand."""
    return [str(values.index[place]) for place in loss_order(-values, size=1.0)]


def seed_boxes(scores: pd.DataFrame, highlighted: str) -> Any:
    """Draw each method's AUROC on each dataset as a box over seeds; one method stands out.

    Parameters
    ----------
    scores : DataFrame
        Columns ``dataset``, ``method`` and ``value``, a row a seed.
    highlighted : str
        The method that stands out.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"dataset": ["one"] * 4, "method": ["A", "A", "B", "B"], "value": [0.9, 0.8, 0.7, 0.6]})
    >>> chart = seed_boxes(scores, "A").to_dict()
    >>> len(next(iter(chart["datasets"].values())) if "datasets" in chart else chart["data"]["values"])
    4
    """
    import altair as alt

    order = _highest_first(scores.groupby("method", sort=False)["value"].mean())
    colour = colour_where(f"datum.method == {json.dumps(highlighted)}", VERMILION, BLUE)
    chart = (
        from_rows(scores[["dataset", "method", "value"]].to_dict("records"))
        .mark_boxplot(extent="min-max", size=7)
        .encode(
            x=alt.X("value:Q", title="AUROC", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4)),
            y=alt.Y("method:N", sort=order, axis=alt.Axis(title=None)),
            color=colour,
        )
        .properties(width=170, height=12 * len(order))
        .facet(facet=alt.Facet("dataset:N", title=None, sort=list(dict.fromkeys(scores["dataset"]))), columns=3)
    )
    return styled(chart, f"AUROC over seeds; {highlighted} in red", "Box: quartiles; whiskers: smallest and largest")


def parallel_coordinates(table: pd.DataFrame, highlighted: str) -> Any:
    """Draw each method's AUROC over the datasets as a line; one method stands out.

    Parameters
    ----------
    table : DataFrame
        Datasets down (index), methods across.
    highlighted : str
        The method that stands out.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.9, 0.6], "B": [0.7, 0.8]}, index=["one", "two"])
    >>> len(parallel_coordinates(table, "A").to_dict()["layer"])
    2
    """
    import altair as alt

    order = [str(table.index[place]) for place in loss_order(table[highlighted], size=1.0)]
    rows: list[dict[str, Any]] = [
        {"dataset": str(d), "method": str(m), "auroc": float(table.loc[d, m])}
        for d in table.index
        for m in table.columns
    ]
    base = from_rows(rows).encode(
        x=alt.X("dataset:N", sort=order, axis=alt.Axis(title=None, labelAngle=-60)),
        y=alt.Y("auroc:Q", title="AUROC", scale=alt.Scale(zero=False)),
        detail="method:N",
        tooltip=["dataset:N", "method:N", alt.Tooltip("auroc:Q", format=".4f")],
    )
    named = json.dumps(highlighted)
    others = base.transform_filter(f"datum.method != {named}").mark_line(color=GREY, strokeWidth=1, opacity=0.55)
    own = base.transform_filter(f"datum.method == {named}").mark_line(
        color=VERMILION, strokeWidth=2.5, point=alt.OverlayMarkDef(color=VERMILION, size=22)
    )
    chart = alt.layer(others, own).properties(width=max(PLOT_WIDTH, 18 * len(order)), height=PLOT_HEIGHT)
    return styled(
        chart, f"{highlighted} (red) among the other methods (grey)", f"Datasets by the AUROC of {highlighted}"
    )


def duel_chart(counts: pd.DataFrame, margin: float, title: str = "Ordered duels") -> Any:
    """Draw on how many datasets the row's method beats the column's by the margin; open pairs are marked.

    Examples
    --------
    >>> import pandas as pd
    >>> counts = pd.DataFrame([[0, 3], [1, 0]], index=["A", "B"], columns=["A", "B"])
    >>> duel_chart(counts, 0.05).to_dict()["title"]["text"]
    ['Ordered duels']
    """
    import altair as alt

    names = [str(name) for name in counts.index]
    rows: list[dict[str, Any]] = [
        {"row": a, "column": b, "datasets": int(counts.loc[a, b]), "text": str(int(counts.loc[a, b]) or "none")}
        for a in names
        for b in names
        if a != b
    ]
    largest = max((row["datasets"] for row in rows), default=1) or 1
    x = alt.X("column:N", sort=names, axis=alt.Axis(orient="top", labelAngle=-40, title=None))
    y = alt.Y("row:N", sort=names, axis=alt.Axis(title=None))
    base = from_rows(rows).encode(x=x, y=y)
    scale = alt.Scale(domain=[0, largest], range=["#FFFFFF", BLUE], interpolate="rgb")
    ink = colour_where(f"datum.datasets > {0.6 * largest}", "#FFFFFF", "#000000")
    blank = from_rows([{"row": n, "column": n} for n in names]).mark_rect(color=GREY, opacity=0.15).encode(x=x, y=y)
    chart = alt.layer(
        blank,
        base.mark_rect(stroke=LIGHT_GREY).encode(color=alt.Color("datasets:Q", scale=scale, title="datasets")),
        base.mark_text(fontSize=10).encode(text="text:N", color=ink),
    ).properties(width=COLUMN_WIDTH * len(names), height=30 * len(names))
    return styled(chart, title, f"Datasets on which the row's method beats the column's by {margin:g} AUROC")
