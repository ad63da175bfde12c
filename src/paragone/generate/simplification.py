"""Simplify a formula without changing its values, by rules and, where rows are given, by looking at them."""

from __future__ import annotations

import math

import numpy as np

from paragone.data.digen import OPERATORS, Expression
from paragone.generate.trees import Leaf, Node, to_expression, to_tree
from paragone.validation import FloatArray

COMPARISONS = ("eq", "ne", "ge", "gt", "le", "lt")
OF_EQUALS: dict[str, float] = {
    "sub": 0.0, "safeDiv": 1.0, "eq": 1.0, "ge": 1.0, "le": 1.0, "ne": 0.0, "gt": 0.0, "lt": 0.0,
}  # fmt: skip
"""What an operator gives where both operands are the same finite value."""


def simplify(expression: Expression, sample: FloatArray | None = None) -> Expression:
    """Return a shorter formula with the same values.

    The values are equal on every row on which all branches of the given formula are finite (a zero may lose
    its sign). With ``sample``, branches that are constant on these rows become constants, and a branch that equals
    one of its operands on all of them is replaced by it; the values are then equal on these rows.

    Parameters
    ----------
    expression : Expression
        The formula.
    sample : ndarray of shape (n_samples, n_features), optional
        Rows to look at.

    Returns
    -------
    Expression
        The shorter formula, or the same.

    Examples
    --------
    >>> print(simplify(Expression.parse("add(mul(X1, 1.0), sub(X2, X2))")))
    X1
    >>> print(simplify(Expression.parse("mul(X0, lt(90.1, ge(X3, X2)))")))
    0.0
    >>> rows = np.random.default_rng(0).normal(size=(1000, 3))
    >>> print(simplify(Expression.parse("min(58.9, X2)"), rows))
    X2
    """
    if sample is not None:
        with np.errstate(all="ignore"):
            expression = to_expression(_by_rows(to_tree(expression), np.asarray(sample, dtype=np.float64))[0])
    while True:
        shorter = to_expression(_by_rules(to_tree(expression)))
        if shorter == expression:
            return shorter
        expression = shorter


def _by_rules(tree: Node) -> Node:
    if not isinstance(tree, tuple):
        return tree
    operator, first, second = tree[0], _by_rules(tree[1]), _by_rules(tree[2])
    if isinstance(first, float) and isinstance(second, float):
        return _folded(operator, first, second)
    if first == second:
        if operator in OF_EQUALS:
            return OF_EQUALS[operator]
        if operator in ("min", "max"):
            return first
    neutral = _neutral(operator, first, second)
    if neutral is not None:
        return neutral
    decided = _decided(operator, _range(first), _range(second))
    if decided is not None:
        return decided
    return (operator, first, second)


def _folded(operator: str, first: float, second: float) -> Node:
    with np.errstate(all="ignore"):
        value = float(OPERATORS[operator](np.float64(first), np.float64(second)))
    # A constant that cannot be written stays a branch.
    return value if math.isfinite(value) else (operator, first, second)


def _neutral(operator: str, first: Node, second: Node) -> Node | None:
    """Return what remains beside a neutral or an absorbing operand."""
    if (operator in ("add", "sub") and second == 0.0) or (operator in ("mul", "safeDiv") and second == 1.0):
        return first
    if (operator == "add" and first == 0.0) or (operator == "mul" and first == 1.0):
        return second
    if operator == "mul" and 0.0 in (first, second):
        return 0.0
    if operator == "safeDiv" and second == 0.0:
        return 1.0
    return None


def _range(tree: Node) -> tuple[float, float]:
    """Return bounds of a branch's values that hold whatever the features are."""
    if isinstance(tree, float):
        return tree, tree
    if not isinstance(tree, tuple):
        return -math.inf, math.inf
    if tree[0] in COMPARISONS:
        return 0.0, 1.0
    if tree[0] in ("min", "max"):
        pick = min if tree[0] == "min" else max
        (low, high), (other_low, other_high) = _range(tree[1]), _range(tree[2])
        return pick(low, other_low), pick(high, other_high)
    return -math.inf, math.inf


def _decided(operator: str, first: tuple[float, float], second: tuple[float, float]) -> Leaf | None:
    """Return the outcome of a comparison that the bounds of its operands decide."""
    below, above = first[1] < second[0], first[0] > second[1]
    not_above, not_below = first[1] <= second[0], first[0] >= second[1]
    true = {"lt": below, "gt": above, "le": not_above, "ge": not_below, "ne": below or above, "eq": False}
    false = {"lt": not_below, "gt": not_above, "le": above, "ge": below, "eq": below or above, "ne": False}
    if true.get(operator, False):
        return 1.0
    return 0.0 if false.get(operator, False) else None


def _by_rows(tree: Node, rows: FloatArray) -> tuple[Node, FloatArray]:
    if not isinstance(tree, tuple):
        return tree, to_expression(tree).evaluate(rows)
    first, first_values = _by_rows(tree[1], rows)
    second, second_values = _by_rows(tree[2], rows)
    values = OPERATORS[tree[0]](first_values, second_values)
    if (values == values[0]).all() and math.isfinite(values[0]):
        return float(values[0]), values
    for operand, operand_values in ((first, first_values), (second, second_values)):
        if np.array_equal(values, operand_values):
            return operand, values
    return (tree[0], first, second), values
