"""Charts of generated data: scores over datasets, leads, matrices, curves, what came over time, and formulas."""

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

PLOT_WIDTH = 560
ROW_HEIGHT, COLUMN_WIDTH = 20, 46
SIDE = 310
"""Of a square of curves: two of them stand beside each other on a page."""
MOST_POINTS = 400
"""More points than these of one curve are not seen apart: every so many of them are drawn."""
LINES_OF_SETS = "One line per dataset, on its test rows"
LINES = {
    "proven": "pairs proven",
    "covered": "pairs screened",
    "proven_concepts": "concepts that prove",
}
CEILING = "best possible"
SHORT_SEARCH = 2.0
"""A search of fewer minutes is drawn over seconds."""


def short_names(methods: Sequence[str]) -> list[str]:
    """Return names without what all methods share, as long as they stay different: eight must stand side by side.

    Examples
    --------
    >>> short_names(["LGBMClassifier", "SVC"]), short_names(["RidgeClassifier", "Ridge"])
    (['LGBM', 'SVC'], ['RidgeClassifier', 'Ridge'])
    """
    short = [
        method.removesuffix("Classifier").removesuffix("Regressor") or method for method in methods
    ]
    return short if len(set(short)) == len(short) else list(methods)


# Over time and rows


def coverage_curve(curve: pd.DataFrame) -> Plot:
    """Return proven pairs, promised pairs and proving concepts over minutes.

    Examples
    --------
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


def search_chart(curve: Sequence[tuple[float, float, float]], names: Sequence[str]) -> Plot:
    """Return the best lead that a search had found, in both directions, over its minutes."""
    last = curve[-1][0] if curve else 0.0
    unit, factor = ("minutes", 1) if last >= SHORT_SEARCH else ("seconds", 60)
    moments = [(0.0, 0.0, 0.0), *curve]
    series = {
        name: tuple((float(factor * one[0]), float(one[place])) for one in moments)
        for place, name in enumerate(names, start=1)
    }
    said = (
        "The largest lead of each method over the other so far, without tuning: it proposes, and"
        " proves nothing"
    )
    title = "How the search went"
    return Plot("lines", title, unit, "best lead in screening", series, said, steps=True)


def learning_chart(curve: pd.DataFrame, names: Sequence[str], ceiling: float, metric: str) -> Plot:
    """Return the learning curves of two methods with their intervals and the best score that there is."""
    columns = ["rows", "mean", "low", "high"]
    found = {str(name): rows[columns] for name, rows in curve.groupby("method", sort=False)}
    series = {
        name: tuple(map(tuple, found[name].to_numpy(dtype=float).tolist()))
        for name in names
        if name in found
    }
    sizes = sorted(float(size) for size in curve["rows"].unique())
    # The ceiling is a line among the others, so that every drawing of the chart has it.
    series[CEILING] = tuple((size, *[float(ceiling)] * 3) for size in sizes)
    said = "Both tuned at every size, mean over samples; band: 95 % interval"
    return Plot(
        "lines", "Learning curves", "training rows", f"{metric} on fresh rows", series, said
    )


# Leads


def lead_chart(
    leads: pd.DataFrame,
    margin: float,
    colours: Mapping[str, str],
    title: str,
    said: str,
    *,
    x: str = "difference",
    width: int = 420,
) -> Any:
    """Draw leads with their intervals, and the margin.

    Parameters
    ----------
    leads : DataFrame
        Columns ``label``, ``kind``, ``mean``, ``low``, ``high`` and ``proven``: pale where it is
        not.
    margin : float
        Where the dashed line stands.
    colours : mapping
        By kind.
    title, said, x : str
        Of the chart, below it, and of the axis.
    width : int, default=420
        Of the plot.
    """
    # A lead of R2 that few samples do not bound has no limits: it is drawn as wide as all others.
    ends = np.abs(leads[["mean", "low", "high"]].to_numpy(dtype=float))
    reach = max(1.0, float(ends[np.isfinite(ends)].max(initial=0.0)))
    shown = leads.assign(
        low=leads["low"].clip(lower=-reach),
        high=leads["high"].clip(upper=reach),
        shade=np.where(leads["proven"], 1.0, 0.35),
    )
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    base = from_rows(shown.to_dict("records")).encode(
        y=alt.Y("label:N", sort=None, axis=alt.Axis(title=None, labelLimit=340)),
        color=alt.Color(
            "kind:N", scale=scale, legend=alt.Legend(title=None, orient="bottom", columns=1)
        ),
        opacity=alt.Opacity("shade:Q", scale=None),
    )
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=x), x2="high:Q")
    tips = ["label:N", alt.Tooltip("mean:Q", format=".4f"), alt.Tooltip("low:Q", format=".4f")]
    dots = base.mark_circle(size=40).encode(x="mean:Q", tooltip=tips)
    rules = from_rows([{"at": 0.0}, {"at": margin}])
    lines = rules.mark_rule(color=LIGHT_GREY, strokeDash=[4, 4]).encode(x="at:Q")
    chart = alt.layer(lines, bars, dots).properties(width=width, height=max(60, 20 * len(shown)))
    return styled(chart, title, said)


# Matrices


def clustered_order(values: Any) -> list[int]:
    """Return rows in the order of a dendrogram (average linkage, Euclidean), so that similar rows are neighbours.

    Examples
    --------
    >>> clustered_order([[0.0], [5.0], [0.1]])
    [1, 0, 2]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    array = np.asarray(values, dtype=np.float64)
    if len(array) < 3:
        return list(range(len(array)))
    return [int(leaf) for leaf in leaves_list(linkage(array, "average"))]


def _matrix_axes(rows: Sequence[str], columns: Sequence[str], row: str, column: str) -> Any:
    top = alt.Axis(orient="top", labelAngle=-40, title=None)
    return {
        "x": alt.X(f"{column}:N", sort=list(columns), axis=top),
        "y": alt.Y(f"{row}:N", sort=list(rows), axis=alt.Axis(title=None)),
    }


def _score_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one row per dataset and method."""
    return [
        {"dataset": str(d), "method": str(m), "score": float(table.loc[d, m])}
        for d in table.index
        for m in table.columns
    ]


def heat_map(table: pd.DataFrame, metric: str = "AUROC") -> Any:
    """Draw scores by dataset (down) and method (across), both clustered."""
    table = table.set_axis(short_names([str(name) for name in table.columns]), axis=1)
    datasets = [str(table.index[i]) for i in clustered_order(table)]
    methods = [str(table.columns[j]) for j in clustered_order(table.T)]
    rows = _score_rows(table)
    base = from_rows(rows).encode(**_matrix_axes(datasets, methods, "dataset", "method"))
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


def duel_chart(
    counts: pd.DataFrame, margin: float, title: str = "Ordered duels", *, metric: str = "AUROC"
) -> Any:
    """Draw on how many datasets the row's method beats the column's by the margin; open pairs are marked."""
    names = short_names([str(name) for name in counts.index])
    counts = counts.set_axis(names, axis=0).set_axis(names, axis=1)
    rows: list[dict[str, Any]] = []
    for a in names:
        for b in names:
            n = int(counts.loc[a, b])
            if a != b:
                rows.append({"row": a, "column": b, "datasets": n, "text": str(n or "none")})
    largest = max((row["datasets"] for row in rows), default=1) or 1
    axes = _matrix_axes(names, names, "row", "column")
    base = from_rows(rows).encode(**axes)
    scale = alt.Scale(domain=[0, largest], range=["#FFFFFF", BLUE], interpolate="rgb")
    ink = colour_where(f"datum.datasets > {0.6 * largest}", "#FFFFFF", "#000000")
    diagonal = from_rows([{"row": n, "column": n} for n in names]).encode(**axes)
    # Every cell says its number: a legend would say it again.
    colour = alt.Color("datasets:Q", scale=scale, legend=None)
    chart = alt.layer(
        diagonal.mark_rect(color=GREY, opacity=0.15),
        base.mark_rect(stroke=LIGHT_GREY).encode(color=colour),
        base.mark_text(fontSize=12).encode(text="text:N", color=ink),
    ).properties(width=COLUMN_WIDTH * len(names), height=30 * len(names))
    said = f"Datasets on which the row's method beats the column's by {margin:g} {metric}"
    return styled(chart, title, said)


def map_chart(points: pd.DataFrame, reach: float, axis: str, title: str, said: str) -> Any:
    """Draw leads by training rows and one other thing: blue above 0, orange below, framed where sure.

    Parameters
    ----------
    points : DataFrame
        Columns ``rows``, ``value``, ``lead`` (NaN where a fit failed) and ``sure``.
    reach : float
        The lead of the strongest colour.
    axis : str
        What the other thing is called.
    title, said : str
        Of the chart, and below it.
    """
    rows = []
    for row in points.to_dict("records"):
        lead = row["lead"]
        # Zero has no sign for a reader.
        text = f"{round(lead, 2) + 0.0:+.2f}".replace("-", "−") if lead == lead else "failed"
        named = {"rows": str(row["rows"]), "value": f"{row['value']:g}", "text": text}
        rows.append({**named, "lead": round(lead, 4) if lead == lead else 0.0, "sure": row["sure"]})
    sizes = [str(size) for size in sorted(set(points["rows"]))]
    values = [f"{value:g}" for value in sorted(set(points["value"]), reverse=True)]
    shades = alt.Scale(
        domain=[-reach, 0, reach], range=[VERMILION, "#FFFFFF", BLUE], interpolate="rgb"
    )
    base = from_rows(rows).encode(
        x=alt.X("rows:O", sort=sizes, title="training rows", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("value:O", sort=values, title=axis),
    )
    cells = base.mark_rect(stroke="#FFFFFF", strokeWidth=2).encode(
        color=alt.Color("lead:Q", scale=shades, legend=None)
    )
    texts = base.mark_text(fontSize=12).encode(text="text:N", color=alt.value("#000000"))
    frames = base.transform_filter("datum.sure").mark_rect(
        filled=False, stroke="#000000", strokeWidth=1.5
    )
    chart = alt.layer(cells, frames, texts).properties(
        width=64 * len(sizes), height=44 * max(len(values), 3)
    )
    return styled(chart, title, said)


# Boxes and lines


def score_boxes(
    scores: pd.DataFrame, over: str, *, metric: str = "AUROC", highlighted: str | None = None
) -> Any:
    """Draw each method's scores as a box over datasets; with a method highlighted, over seeds, dataset by dataset."""
    medians = scores.groupby("method", sort=False)["value"].median()
    order = [str(medians.index[place]) for place in loss_order(-medians, size=1.0)]
    x = alt.X("value:Q", title=metric, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4))
    y = alt.Y("method:N", sort=order, axis=alt.Axis(title=None))
    if highlighted is None:
        base = from_rows(scores[["method", "value"]].to_dict("records")).encode(x=x, y=y)
        chart = base.mark_boxplot(extent=1.5, color=BLUE, size=18).properties(
            width=PLOT_WIDTH, height=26 * len(order)
        )
        said = "Box: quartiles; whiskers: 1.5 times their distance; points beyond"
        return styled(chart, f"{metric} over {over}", said)
    colour = colour_where(f"datum.method == {json.dumps(highlighted)}", VERMILION, BLUE)
    sets = list(dict.fromkeys(scores["dataset"]))
    facet = alt.Facet("dataset:N", title=None, header=alt.Header(labelFontSize=12), sort=sets)
    base = from_rows(scores[["dataset", "method", "value"]].to_dict("records")).encode(x=x, y=y)
    chart = (
        base.mark_boxplot(extent="min-max", size=7)
        .encode(color=colour)
        .properties(width=170, height=12 * len(order))
        .facet(facet=facet, columns=3)
    )
    title = f"{metric} over {over}; {highlighted} in red"
    return styled(chart, title, "Box: quartiles; whiskers: smallest and largest")


def parallel_coordinates(table: pd.DataFrame, highlighted: str, *, metric: str = "AUROC") -> Any:
    """Draw each method's score over the datasets as a line; one method is highlighted."""
    order = [str(table.index[place]) for place in loss_order(table[highlighted], size=1.0)]
    base = from_rows(_score_rows(table)).encode(
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
    width = max(PLOT_WIDTH, 18 * len(order))
    chart = alt.layer(others, own).properties(width=width, height=300)
    title = f"{highlighted} (red) among the other methods (grey)"
    return styled(chart, title, f"Datasets by the {metric} of {highlighted}")


def roc_curves(
    predictions: Mapping[str, tuple[Any, Any]], method: str, *, lines: str = LINES_OF_SETS
) -> Any:
    """Draw the ROC curve of every dataset."""
    from sklearn.metrics import roc_curve

    rows = []
    for dataset, (labels, values) in predictions.items():
        false, true, _ = roc_curve(labels, values)
        area = auroc(np.asarray(labels), np.asarray(values))
        rows += _line(dataset, false, true, f"AUROC {area:.3f}")
    axes = "false positive rate", "true positive rate"
    return _curves(rows, (0.0, 1.0), axes, f"ROC curves of {method}", lines)


def pr_curves(predictions: Mapping[str, tuple[Any, Any]], method: str) -> Any:
    """Draw the precision-recall curve of every dataset."""
    from sklearn.metrics import average_precision_score, precision_recall_curve

    rows, shares = [], []
    for dataset, (labels, values) in predictions.items():
        precision, recall, _ = precision_recall_curve(labels, values)
        area = float(average_precision_score(labels, values))
        rows += _line(dataset, recall[::-1], precision[::-1], f"AUPRC {area:.3f}")
        shares.append(float(np.mean(labels)))
    # A classifier that guesses has the share of class 1 as its precision at every recall.
    chance = float(np.mean(shares))
    title = f"Precision-recall curves of {method}"
    return _curves(rows, (chance, chance), ("recall", "precision"), title, LINES_OF_SETS)


def _line(dataset: str, x: Any, y: Any, area: str) -> list[dict[str, Any]]:
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).round().astype(int))
    points = zip(x[kept].tolist(), y[kept].tolist(), strict=True)
    return [
        {"dataset": dataset, "x": a, "y": b, "order": i, "area": area}
        for i, (a, b) in enumerate(points)
    ]


def _curves(
    rows: list[dict[str, Any]],
    chance: tuple[float, float],
    axes: tuple[str, str],
    title: str,
    lines: str,
) -> Any:
    x, y = (
        kind(f"{name}:Q", title=called, scale=alt.Scale(domain=[0, 1]))
        for kind, name, called in zip((alt.X, alt.Y), "xy", axes, strict=True)
    )
    curves = (
        from_rows(rows)
        .mark_line(color=BLUE, opacity=0.55, strokeWidth=1.2)
        .encode(x=x, y=y, detail="dataset:N", order="order:Q", tooltip=["dataset:N", "area:N"])
    )
    ends = [{"x": at, "y": value} for at, value in zip((0.0, 1.0), chance, strict=True)]
    guess = from_rows(ends).mark_line(color=GREY, strokeDash=[4, 4]).encode(x="x:Q", y="y:Q")
    chart = alt.layer(guess, curves).properties(width=SIDE, height=SIDE)
    return styled(chart, title, f"{lines}; dashed: guessing")


# Formulas


def formula_tree(expression: Expression, title: str = "") -> Any:
    """Draw a formula: operators as branches, features and constants as leaves."""
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
    base = from_rows(nodes).encode(x=x, y=y)
    dots = base.mark_circle(size=700, color="#FFFFFF", opacity=1)
    colour = alt.Color("kind:N", scale=kinds, legend=None)
    texts = base.mark_text(fontSize=12).encode(text="text:N", color=colour)
    chart = alt.layer(lines.encode(x=x, y=y, x2="x2:Q", y2="y2:Q"), dots, texts).properties(
        width=max(120, 64 * n_leaves), height=52 * (expression.height + 1)
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
        is_feature = isinstance(tree, Feature)
        kind, text = ("feature", str(tree)) if is_feature else ("constant", f"{tree:g}")
        nodes.append({"x": at, "y": depth, "text": text, "kind": kind})
        return at
    below = [_place(operand, depth + 1, next_leaf, nodes, edges) for operand in tree[1:]]
    at = sum(below) / 2
    nodes.append({"x": at, "y": depth, "text": tree[0], "kind": "operator"})
    edges.extend({"x": at, "y": depth, "x2": end, "y2": depth + 1} for end in below)
    return at
