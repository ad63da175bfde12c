"""Formulas as nested tuples, for rewriting: an operator with its two operands, or a leaf."""

from __future__ import annotations

from typing import TypeAlias

from paragone.data.digen import Expression, Feature, Token

Leaf: TypeAlias = Feature | float
Node: TypeAlias = "Leaf | tuple[str, Node, Node]"


def to_tree(expression: Expression) -> Node:
    """Return the nested form of a formula.

    Examples
    --------
    >>> to_tree(Expression.parse("add(X0, 1.0)"))
    ('add', Feature(index=0), 1.0)
    """
    stack: list[Node] = []
    for token in reversed(expression.tokens):
        if isinstance(token, str):
            first = stack.pop()
            stack.append((token, first, stack.pop()))
        else:
            stack.append(token)
    return stack[0]


def to_expression(tree: Node) -> Expression:
    """Return the formula of a nested form.

    Examples
    --------
    >>> print(to_expression(("add", Feature(0), 1.0)))
    add(X0, 1.0)
    """
    tokens: list[Token] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            tokens.append(node[0])
            waiting += [node[2], node[1]]
        else:
            tokens.append(node)
    return Expression(tuple(tokens))
