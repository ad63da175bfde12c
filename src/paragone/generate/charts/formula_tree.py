"""A formula drawn as a tree."""

from __future__ import annotations

from typing import Any

from paragone.charts import BLUE, GREY, VERMILION, from_rows, styled
from paragone.data.digen import Expression, Feature
from paragone.generate.trees import Node, to_tree

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
    import altair as alt

    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    _place(to_tree(expression), 0, [0], nodes, edges)
    n_leaves = sum(node["kind"] != "operator" for node in nodes)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.6, n_leaves - 0.4]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[expression.height + 0.4, -0.4]))
    lines = from_rows(edges or [{"x": 0, "y": 0, "x2": 0, "y2": 0}]).mark_rule(color=GREY)
    kinds = alt.Scale(domain=["operator", "feature", "constant"], range=["#000000", BLUE, VERMILION])
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
    tree: Node, depth: int, next_leaf: list[int], nodes: list[dict[str, Any]], edges: list[dict[str, Any]]
) -> float:
    """Put a branch's leaves side by side and its operator above their middle; return where that is."""
    if not isinstance(tree, tuple):
        at = float(next_leaf[0])
        next_leaf[0] += 1
        kind = "feature" if isinstance(tree, Feature) else "constant"
        nodes.append({"x": at, "y": depth, "text": str(tree) if kind == "feature" else f"{tree:g}", "kind": kind})
        return at
    below = [_place(operand, depth + 1, next_leaf, nodes, edges) for operand in tree[1:]]
    at = sum(below) / 2
    nodes.append({"x": at, "y": depth, "text": tree[0], "kind": "operator"})
    edges.extend({"x": at, "y": depth, "x2": end, "y2": depth + 1} for end in below)
    return at
