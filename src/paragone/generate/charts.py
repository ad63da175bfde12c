"""Charts of generated data: scores over datasets, duels, curves, coverage over time and formulas."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from paragone.charts import BLUE, GREY, LIGHT_GREY, VERMILION, Plot, from_rows, styled
from paragone.charts.theme import colour_where
from paragone.generate.classifiers import auroc
from paragone.generate.expressions import Expression, Feature
from paragone.generate.formulas import Node, to_tree
from paragone.ties import loss_order

__all__ = [
    "clustered_order",
    "coverage_curve",
    "duel_chart",
    "formula_tree",
    "heat_map",
    "lead_chart",
    "parallel_coordinates",
    "pr_curves",
    "roc_curves",
    "score_boxes",
    "seed_boxes",
    "short_names",
]

WIDTH, HEIGHT = 560, 260
LINES = {
    "proven": "pairs proven",
    "covered": "pairs screened",
    "proven_concepts": "concepts that prove",
}


def coverage_curve(curve: pd.DataFrame) -> Plot:
    """Return proven pairs, promised pairs and proving concepts over minutes.

    Parameters
    ----------
    curve : DataFrame
        Columns ``seconds``, ``proven``, ``covered``, ``proven_concepts`` and ``pairs``, one row per
        moment.

    Examples
    --------
    >>> import pandas as pd
    >>> curve = pd.DataFrame({"seconds": [60], "proven": [3], "covered": [5], "proven_concepts": [2], "pairs": [12]})
    >>> coverage_curve(curve).subtitle
    'There are 12 ordered pairs; screening promises a pair before it is proven'
    """
    # The curves begin at zero: before the first generation nothing is proven.
    moments = [dict.fromkeys([*LINES, "seconds"], 0), *curve.to_dict("records")]
    series = {
        label: tuple((float(row["seconds"]) / 60, float(row[name])) for row in moments)
        for name, label in LINES.items()
    }
    n_pairs = int(curve["pairs"].max()) if len(curve) else 0
    subtitle = f"There are {n_pairs} ordered pairs; screening promises a pair before it is proven"
    axes = ("minutes of search and proof", "count")
    return Plot("lines", "Coverage over time", *axes, series, subtitle, steps=True)


def lead_chart(
    leads: pd.DataFrame, margin: float, limits: str = "95 % interval", metric: str = "AUROC"
) -> Any:
    """Draw every ordered pair's best difference with its interval; those beyond the margin are proven.

    Parameters
    ----------
    leads : DataFrame
        Columns ``up``, ``down``, ``mean``, ``low``, ``high`` and ``proven``.
    margin : float
        The difference that counts.
    limits : str
        What the interval is.
    metric : str, default="AUROC"
        What the scores are called.

    Examples
    --------
    >>> import pandas as pd
    >>> lead = {"up": "A", "down": "B", "mean": 0.1, "low": 0.06, "high": 0.14, "proven": True}
    >>> lead_chart(pd.DataFrame([lead]), 0.05).to_dict()["title"]["text"]
    ['Every lead and its interval']
    """
    names = list(dict.fromkeys([*map(str, leads["up"]), *map(str, leads["down"])]))
    short = dict(zip(names, short_names(names), strict=True))
    # A lead of R2 that few samples do not bound has no limits: it is drawn as wide as all others.
    ends = np.abs(leads[["mean", "low", "high"]].to_numpy(dtype=float))
    reach = max(1.0, float(ends[np.isfinite(ends)].max(initial=0.0)))
    rows: list[dict[str, Any]] = [
        {
            "pair": f"{short[row['up']]} over {short[row['down']]}",
            "mean": float(row["mean"]),
            "low": max(float(row["low"]), -reach),
            "high": min(float(row["high"]), reach),
            "verdict": "proven" if row["proven"] else "open",
        }
        for row in leads.iloc[loss_order(-leads["low"].clip(-reach, reach), size=1.0)].to_dict(
            "records"
        )
    ]
    order = [row["pair"] for row in rows]
    colours = alt.Scale(domain=["proven", "open"], range=[BLUE, VERMILION])
    y = alt.Y("pair:N", sort=order, axis=alt.Axis(title=None, labelLimit=340))
    base = from_rows(rows).encode(
        y=y, color=alt.Color("verdict:N", scale=colours, legend=alt.Legend(title=None))
    )
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=f"difference in {metric}"), x2="high:Q"
    )
    dots = base.mark_circle(size=30, opacity=1).encode(
        x="mean:Q",
        tooltip=["pair:N", alt.Tooltip("mean:Q", format=".4f"), alt.Tooltip("low:Q", format=".4f")],
    )
    line = (
        from_rows([{"margin": margin}])
        .mark_rule(color=GREY, strokeDash=[4, 4])
        .encode(x="margin:Q")
    )
    chart = alt.layer(line, bars, dots).properties(width=420, height=18 * len(rows))
    return styled(
        chart, "Every lead and its interval", f"Mean difference, {limits}; dashed: {margin:g}"
    )


SIDE = 310
"""Of a square of curves: two of them stand beside each other on a page."""


MOST_POINTS = 400
"""More points than these of one curve are not seen apart: every so many of them are drawn."""
LINES_OF_SETS = "One line per dataset, on its test rows"


def roc_curves(
    predictions: Mapping[str, tuple[Any, Any]], method: str, *, lines: str = LINES_OF_SETS
) -> Any:
    """Draw the ROC curve of every dataset.

    Parameters
    ----------
    predictions : mapping of str to (labels, values)
        Labels 0/1 and the method's values on the test rows, by dataset.
    method : str
        The method.
    lines : str
        What a line is.

    Examples
    --------
    >>> roc_curves({"one": ([0, 1, 1], [0.2, 0.6, 0.9])}, "A").to_dict()["title"]["text"]
    ['ROC curves of A']
    """
    from sklearn.metrics import roc_curve

    rows = []
    for dataset, (labels, values) in predictions.items():
        false, true, _ = roc_curve(labels, values)
        rows += _line(
            dataset, false, true, f"AUROC {auroc(np.asarray(labels), np.asarray(values)):.3f}"
        )
    diagonal = [{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}]
    return _drawn(
        rows,
        diagonal,
        "false positive rate",
        "true positive rate",
        f"ROC curves of {method}",
        lines,
    )


def pr_curves(predictions: Mapping[str, tuple[Any, Any]], method: str) -> Any:
    """Draw the precision-recall curve of every dataset.

    Examples
    --------
    >>> pr_curves({"one": ([0, 1, 1], [0.2, 0.6, 0.9])}, "A").to_dict()["title"]["text"]
    ['Precision-recall curves of A']
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

    rows, shares = [], []
    for dataset, (labels, values) in predictions.items():
        precision, recall, _ = precision_recall_curve(labels, values)
        area = float(average_precision_score(labels, values))
        rows += _line(dataset, recall[::-1], precision[::-1], f"AUPRC {area:.3f}")
        shares.append(float(np.mean(labels)))
    # A classifier that guesses has the share of class 1 as its precision at every recall.
    chance = [{"x": at, "y": float(np.mean(shares))} for at in (0.0, 1.0)]
    return _drawn(rows, chance, "recall", "precision", f"Precision-recall curves of {method}")


def _line(dataset: str, x: Any, y: Any, area: str) -> list[dict[str, Any]]:
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).round().astype(int))
    points = zip(x[kept].tolist(), y[kept].tolist(), strict=True)
    return [
        {"dataset": dataset, "x": a, "y": b, "order": i, "area": area}
        for i, (a, b) in enumerate(points)
    ]


def _drawn(
    rows: list[dict[str, Any]],
    chance: list[dict[str, float]],
    x: str,
    y: str,
    title: str,
    lines: str = LINES_OF_SETS,
) -> Any:

    curves = (
        from_rows(rows)
        .mark_line(color=BLUE, opacity=0.55, strokeWidth=1.2)
        .encode(
            x=alt.X("x:Q", title=x, scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("y:Q", title=y, scale=alt.Scale(domain=[0, 1])),
            detail="dataset:N",
            order="order:Q",
            tooltip=["dataset:N", "area:N"],
        )
    )
    guess = from_rows(chance).mark_line(color=GREY, strokeDash=[4, 4]).encode(x="x:Q", y="y:Q")
    chart = alt.layer(guess, curves).properties(width=SIDE, height=SIDE)
    return styled(chart, title, f"{lines}; dashed: guessing")


LEAF_WIDTH = 64
LEVEL_HEIGHT = 52


def formula_tree(expression: Expression, title: str = "") -> Any:
    """Draw a formula: operators as branches, features and constants as leaves.

    Parameters
    ----------
    expression : Expression
        The formula.
    title : str, optional
        The text above it; the formula where it is not given.

    Examples
    --------
    >>> formula_tree(Expression.parse("mul(X0, X1)")).to_dict()["title"]["text"]
    ['mul(X0, X1)']
    """
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    _place(to_tree(expression), 0, [0], nodes, edges)
    n_leaves = sum(node["kind"] != "operator" for node in nodes)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.6, n_leaves - 0.4]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[expression.height + 0.4, -0.4]))
    lines = from_rows(edges or [{"x": 0, "y": 0, "x2": 0, "y2": 0}]).mark_rule(color=GREY)
    kinds = alt.Scale(
        domain=["operator", "feature", "constant"], range=["#000000", BLUE, VERMILION]
    )
    dots = from_rows(nodes).mark_circle(size=700, color="#FFFFFF", opacity=1).encode(x=x, y=y)
    texts = (
        from_rows(nodes)
        .mark_text(fontSize=12)
        .encode(x=x, y=y, text="text:N", color=alt.Color("kind:N", scale=kinds, legend=None))
    )
    chart = alt.layer(lines.encode(x=x, y=y, x2="x2:Q", y2="y2:Q"), dots, texts).properties(
        width=max(120, LEAF_WIDTH * n_leaves), height=LEVEL_HEIGHT * (expression.height + 1)
    )
    return styled(chart, title or str(expression))


def _place(
    tree: Node,
    depth: int,
    next_leaf: list[int],
    nodes: list[dict[str, Any]],
    edges: list[dict[str, Any]],
) -> float:
    """Put a branch's leaves side by side and its operator above their middle; return where that is."""
    if not isinstance(tree, tuple):
        at = float(next_leaf[0])
        next_leaf[0] += 1
        kind = "feature" if isinstance(tree, Feature) else "constant"
        nodes.append(
            {
                "x": at,
                "y": depth,
                "text": str(tree) if kind == "feature" else f"{tree:g}",
                "kind": kind,
            }
        )
        return at
    below = [_place(operand, depth + 1, next_leaf, nodes, edges) for operand in tree[1:]]
    at = sum(below) / 2
    nodes.append({"x": at, "y": depth, "text": tree[0], "kind": "operator"})
    edges.extend({"x": at, "y": depth, "x2": end, "y2": depth + 1} for end in below)
    return at


def short_names(methods: Sequence[str]) -> list[str]:
    """Return names without what all methods share, as long as they stay different: eight must stand side by side.

    Examples
    --------
    >>> short_names(["SVC", "XGBClassifier"]), short_names(["Tree", "TreeClassifier"])
    (['SVC', 'XGB'], ['Tree', 'TreeClassifier'])
    """
    short = [
        method.removesuffix("Classifier").removesuffix("Regressor") or method for method in methods
    ]
    return short if len(set(short)) == len(short) else list(methods)


ROW_HEIGHT = 20
COLUMN_WIDTH = 46
PLOT_WIDTH = 560
PLOT_HEIGHT = 300


def clustered_order(values: Any) -> list[int]:
    """Return rows in the order of a dendrogram (average linkage, Euclidean), so that similar rows are neighbours.

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


def _score_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one row per dataset and method."""
    return [
        {"dataset": str(d), "method": str(m), "score": float(table.loc[d, m])}
        for d in table.index
        for m in table.columns
    ]


def heat_map(table: pd.DataFrame, metric: str = "AUROC") -> Any:
    """Draw scores by dataset (down) and method (across), both clustered.

    Parameters
    ----------
    table : DataFrame
        Datasets down (index), methods across, no gaps.
    metric : str, default="AUROC"
        What the scores are called.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.9, 0.6], "B": [0.7, 0.8]}, index=["one", "two"])
    >>> heat_map(table).to_dict()["title"]["text"]
    ['AUROC by dataset and method']
    """
    table = table.set_axis(short_names([str(name) for name in table.columns]), axis=1)
    datasets = [str(table.index[i]) for i in clustered_order(table)]
    methods = [str(table.columns[j]) for j in clustered_order(table.T)]
    rows = _score_rows(table)
    base = from_rows(rows).encode(
        x=alt.X("method:N", sort=methods, axis=alt.Axis(orient="top", labelAngle=-40, title=None)),
        y=alt.Y("dataset:N", sort=datasets, axis=alt.Axis(title=None)),
    )
    lowest, highest = (float(end(row["score"] for row in rows)) for end in (min, max))
    order = "Rows and columns in the order of their clusters"
    scale = alt.Scale(scheme="viridis")
    if metric == "R2" and lowest < 0 < highest:
        # R2 has no lower end: one method that fails badly would leave one colour to all others.
        lowest, order = 0.0, f"{order}; all below 0 in the colour of 0"
        scale = alt.Scale(scheme="viridis", domain=[lowest, highest], clamp=True)
    colour = alt.Color("score:Q", scale=scale, legend=alt.Legend(title=metric, format=".2f"))
    # White letters on the dark half of the colours, black ones on the light half.
    ink = colour_where(f"datum.score < {(lowest + highest) / 2}", "#FFFFFF", "#000000")
    chart = alt.layer(
        base.mark_rect().encode(color=colour),
        base.mark_text(fontSize=12).encode(text=alt.Text("score:Q", format=".2f"), color=ink),
    ).properties(width=COLUMN_WIDTH * len(methods), height=ROW_HEIGHT * len(datasets))
    return styled(chart, f"{metric} by dataset and method", order)


def score_boxes(scores: pd.DataFrame, over: str, *, metric: str = "AUROC") -> Any:
    """Draw each method's scores as a box over datasets or seeds.

    Parameters
    ----------
    scores : DataFrame
        Columns ``method`` and ``value``.
    over : str
        What the box is over, such as ``"datasets"``.
    metric : str, default="AUROC"
        What the scores are called.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"method": ["A", "A", "B"], "value": [0.9, 0.8, 0.7]})
    >>> score_boxes(scores, "datasets").to_dict()["mark"]["type"]
    'boxplot'
    """
    order = _highest_first(scores.groupby("method", sort=False)["value"].median())
    boxes = _boxes(scores[["method", "value"]], order, metric, extent=1.5, color=BLUE, size=18)
    chart = boxes.properties(width=PLOT_WIDTH, height=26 * len(order))
    return styled(
        chart,
        f"{metric} over {over}",
        "Box: quartiles; whiskers: 1.5 times their distance; points beyond",
    )


def _boxes(
    scores: pd.DataFrame, order: list[str], metric: str, axis: Any = None, **mark: Any
) -> Any:

    x = alt.X("value:Q", title=metric, scale=alt.Scale(zero=False), axis=axis or alt.Undefined)
    y = alt.Y("method:N", sort=order, axis=alt.Axis(title=None))
    return from_rows(scores.to_dict("records")).mark_boxplot(**mark).encode(x=x, y=y)


def _highest_first(values: pd.Series) -> list[str]:
    """Return the methods by their scores, the highest first, ties as they stand."""
    return [str(values.index[place]) for place in loss_order(-values, size=1.0)]


def seed_boxes(scores: pd.DataFrame, highlighted: str, *, metric: str = "AUROC") -> Any:
    """Draw each method's score on each dataset as a box over seeds; one method is highlighted.

    Parameters
    ----------
    scores : DataFrame
        Columns ``dataset``, ``method`` and ``value``, one row per seed.
    highlighted : str
        The method that is highlighted.
    metric : str, default="AUROC"
        What the scores are called.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"dataset": ["one"] * 4, "method": ["A", "A", "B", "B"], "value": [0.9, 0.8, 0.7, 0.6]})
    >>> chart = seed_boxes(scores, "A").to_dict()
    >>> len(next(iter(chart["datasets"].values())) if "datasets" in chart else chart["data"]["values"])
    4
    """
    order = _highest_first(scores.groupby("method", sort=False)["value"].mean())
    colour = colour_where(f"datum.method == {json.dumps(highlighted)}", VERMILION, BLUE)
    drawn, axis = scores[["dataset", "method", "value"]], alt.Axis(tickCount=4)
    boxes = _boxes(drawn, order, metric, axis, extent="min-max", size=7)
    header = alt.Header(labelFontSize=12)
    facet = alt.Facet(
        "dataset:N", title=None, header=header, sort=list(dict.fromkeys(scores["dataset"]))
    )
    chart = (
        boxes.encode(color=colour)
        .properties(width=170, height=12 * len(order))
        .facet(facet=facet, columns=3)
    )
    return styled(
        chart,
        f"{metric} over seeds; {highlighted} in red",
        "Box: quartiles; whiskers: smallest and largest",
    )


def parallel_coordinates(table: pd.DataFrame, highlighted: str, *, metric: str = "AUROC") -> Any:
    """Draw each method's score over the datasets as a line; one method is highlighted.

    Parameters
    ----------
    table : DataFrame
        Datasets down (index), methods across.
    highlighted : str
        The method that is highlighted.
    metric : str, default="AUROC"
        What the scores are called.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.9, 0.6], "B": [0.7, 0.8]}, index=["one", "two"])
    >>> len(parallel_coordinates(table, "A").to_dict()["layer"])
    2
    """
    order = [str(table.index[place]) for place in loss_order(table[highlighted], size=1.0)]
    rows = _score_rows(table)
    base = from_rows(rows).encode(
        x=alt.X("dataset:N", sort=order, axis=alt.Axis(title=None, labelAngle=-60)),
        y=alt.Y("score:Q", title=metric, scale=alt.Scale(zero=False)),
        detail="method:N",
        tooltip=["dataset:N", "method:N", alt.Tooltip("score:Q", title=metric, format=".4f")],
    )
    named = json.dumps(highlighted)
    others = base.transform_filter(f"datum.method != {named}").mark_line(
        color=GREY, strokeWidth=1, opacity=0.55
    )
    own = base.transform_filter(f"datum.method == {named}").mark_line(
        color=VERMILION, strokeWidth=2.5, point=alt.OverlayMarkDef(color=VERMILION, size=22)
    )
    chart = alt.layer(others, own).properties(
        width=max(PLOT_WIDTH, 18 * len(order)), height=PLOT_HEIGHT
    )
    return styled(
        chart,
        f"{highlighted} (red) among the other methods (grey)",
        f"Datasets by the {metric} of {highlighted}",
    )


def duel_chart(
    counts: pd.DataFrame, margin: float, title: str = "Ordered duels", *, metric: str = "AUROC"
) -> Any:
    """Draw on how many datasets the row's method beats the column's by the margin; open pairs are marked.

    Examples
    --------
    >>> import pandas as pd
    >>> counts = pd.DataFrame([[0, 3], [1, 0]], index=["A", "B"], columns=["A", "B"])
    >>> duel_chart(counts, 0.05).to_dict()["title"]["text"]
    ['Ordered duels']
    """
    names = short_names([str(name) for name in counts.index])
    counts = counts.set_axis(names, axis=0).set_axis(names, axis=1)
    rows: list[dict[str, Any]] = [
        {
            "row": a,
            "column": b,
            "datasets": int(counts.loc[a, b]),
            "text": str(int(counts.loc[a, b]) or "none"),
        }
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
    blank = (
        from_rows([{"row": n, "column": n} for n in names])
        .mark_rect(color=GREY, opacity=0.15)
        .encode(x=x, y=y)
    )
    chart = alt.layer(
        blank,
        # Every cell says its number: a legend would say it again.
        base.mark_rect(stroke=LIGHT_GREY).encode(
            color=alt.Color("datasets:Q", scale=scale, legend=None)
        ),
        base.mark_text(fontSize=12).encode(text="text:N", color=ink),
    ).properties(width=COLUMN_WIDTH * len(names), height=30 * len(names))
    return styled(
        chart,
        title,
        f"Datasets on which the row's method beats the column's by {margin:g} {metric}",
    )
