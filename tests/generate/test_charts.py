"""Charts hold the numbers they are said to show."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.metrics import auc

from paragone.charts.save import chart_specification
from paragone.generate.charts import (
    clustered_order,
    duel_chart,
    formula_tree,
    heat_map,
    parallel_coordinates,
    pr_curves,
    roc_curves,
    score_boxes,
)
from paragone.generate.classifiers import auroc
from paragone.generate.inspection import duel_matrix
from paragone.generate.sets import find_digen

TABLE = pd.DataFrame(
    {"A": [0.9, 0.5, 0.91, 0.52], "B": [0.6, 0.7, 0.61, 0.72], "C": [0.9, 0.51, 0.9, 0.5]},
    index=["a", "b", "c", "d"],
)


def layers(chart):
    return chart_specification(chart)["layer"]


def test_the_heat_map_shows_every_score_and_puts_like_rows_together():
    chart = chart_specification(heat_map(TABLE))
    shown = {(row["dataset"], row["method"]): row["score"] for row in chart["data"]["values"]}
    assert shown == {(d, m): TABLE.loc[d, m] for d in TABLE.index for m in TABLE.columns}
    order = chart["layer"][0]["encoding"]["y"]["sort"]
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset("ac"), frozenset("bd")}
    assert clustered_order(TABLE.iloc[:2]) == [0, 1]


def test_parallel_coordinates_order_datasets_by_the_highlighted_method():
    first = layers(parallel_coordinates(TABLE, "B"))[0]
    assert first["encoding"]["x"]["sort"] == ["a", "c", "b", "d"]


def test_open_duels_say_none():
    counts = duel_matrix(TABLE.to_dict("records"), list(TABLE.columns))
    texts = {
        (row["row"], row["column"]): row["text"]
        for row in layers(duel_chart(counts, 0.05))[1]["data"]["values"]
    }
    assert texts["A", "B"] == "2"
    assert texts["A", "C"] == "none"
    assert len(texts) == 6


def test_the_area_under_the_drawn_roc_curve_is_the_auroc():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200)
    values = labels + rng.normal(size=200)
    drawn = layers(roc_curves({"d": (labels, values)}, "M"))[1]["data"]["values"]
    assert (
        abs(auc([row["x"] for row in drawn], [row["y"] for row in drawn]) - auroc(labels, values))
        < 1e-9
    )
    recall = [
        row["x"] for row in layers(pr_curves({"d": (labels, values)}, "M"))[1]["data"]["values"]
    ]
    assert recall == sorted(recall)


def test_boxes_hold_all_values():
    tidy = TABLE.melt(var_name="method", value_name="value")
    assert len(chart_specification(score_boxes(tidy, "datasets"))["data"]["values"]) == 12


def test_a_formula_tree_has_a_node_a_token_and_no_two_leaves_in_one_place():
    expression = find_digen("13").expression()
    lines, dots, _ = layers(formula_tree(expression))
    nodes = dots["data"]["values"]
    assert len(nodes) == expression.size
    assert len(lines["data"]["values"]) == expression.size - 1
    leaves = [node["x"] for node in nodes if node["kind"] != "operator"]
    assert sorted(leaves) == list(range(len(leaves)))
    assert max(node["y"] for node in nodes) == expression.height
    assert len(layers(formula_tree(expression.parse("X0")))[1]["data"]["values"]) == 1
