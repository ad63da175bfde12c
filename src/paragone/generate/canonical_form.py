"""One spelling for formulas that say the same in another order."""

from __future__ import annotations

from paragone.data.digen import Expression
from paragone.generate.simplification import simplify
from paragone.generate.trees import Node, to_expression, to_tree

COMMUTATIVE = ("add", "mul", "eq", "ne", "min", "max")
MIRRORED = {"gt": "lt", "ge": "le"}


def canonical(expression: Expression) -> Expression:
    """Return the simplified formula in its one spelling: operands that may be swapped are in order.

    Examples
    --------
    >>> print(canonical(Expression.parse("mul(X2, add(X1, X0))")))
    mul(add(X0, X1), X2)
    >>> print(canonical(Expression.parse("gt(X1, X0)")))
    lt(X0, X1)
    """
    return to_expression(_ordered(to_tree(simplify(expression))))


def canonical_key(expression: Expression) -> str:
    """Return the md5 of the canonical spelling: equal for formulas that differ in spelling only.

    Examples
    --------
    >>> key = canonical_key(Expression.parse("ge(add(X1, 0.0), X0)"))
    >>> key == canonical_key(Expression.parse("le(X0, X1)"))
    True
    """
    return canonical(expression).md5


def _ordered(tree: Node) -> Node:
    if not isinstance(tree, tuple):
        return tree
    operator, first, second = tree[0], _ordered(tree[1]), _ordered(tree[2])
    if operator in MIRRORED:
        return (MIRRORED[operator], second, first)
    if operator in COMMUTATIVE and _rank(second) < _rank(first):
        first, second = second, first
    return (operator, first, second)


def _rank(tree: Node) -> tuple[bool, int, str]:
    """Branches first, by size and text; then leaves."""
    expression = to_expression(tree)
    return (not isinstance(tree, tuple), -expression.size, str(expression))
