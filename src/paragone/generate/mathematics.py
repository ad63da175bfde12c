"""Formulas as people write them: products, fractions, brackets only where they are needed.

The text is for reading; `Expression` keeps the one that is parsed and hashed. Comparisons are
Iverson brackets: ``[a > b]`` is 1 where it holds and 0 elsewhere.
"""

from __future__ import annotations

import numpy as np

from paragone.data import Expression, Feature
from paragone.generate.formulas import Node, to_tree
from paragone.generate.sampling import GeneratorSpec
from paragone.generate.thresholds import Threshold

SUM, PRODUCT, POWER, WHOLE = range(4)
"""How tightly a text holds together: a looser one inside a tighter one stands in brackets."""

_COMPARISONS = {"eq": "=", "ne": "≠", "ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def mathematics(expression: Expression) -> str:
    """Return a formula in the usual notation.

    Parameters
    ----------
    expression : Expression
        The formula; a quotient by zero counts as 1 in it.

    Returns
    -------
    str
        One line.

    Examples
    --------
    >>> mathematics(Expression.parse("mul(safeDiv(X4, X2), sub(X6, 1.0))"))
    'X₄ / X₂ · (X₆ − 1)'
    >>> mathematics(Expression.parse("gt(mul(X0, X0), max(X1, 0.5))"))
    '[X₀² > max(X₁, 0.5)]'
    """
    return _written(to_tree(expression))[0]


def rule_in_words(expression: Expression, threshold: Threshold) -> str:
    """Say when a row is of class 1.

    Examples
    --------
    >>> rule_in_words(Expression.parse("mul(X0, X1)"), Threshold(0.0))
    'class 1 where X₀ · X₁ ≥ 0'
    >>> rule_in_words(Expression.parse("gt(X0, X1)"), Threshold(0.0, inclusive=False))
    'class 1 where X₀ > X₁'
    """
    text, tree = mathematics(expression), to_tree(expression)
    # A comparison is 0 or 1: a cut between the two says no more than the comparison itself.
    if (
        isinstance(tree, tuple)
        and tree[0] in _COMPARISONS
        and threshold.label(np.array([0.0, 1.0])).tolist() == [0, 1]
    ):
        return f"class 1 where {text[1:-1]}"
    return f"class 1 where {text} {'≥' if threshold.inclusive else '>'} {_number(threshold.value)}"


def target_in_words(expression: Expression, generator: GeneratorSpec) -> str:
    """Say what a generator makes of a formula that has its values, such as the simplified one.

    Examples
    --------
    >>> product = Expression.parse("mul(X0, X1)")
    >>> target_in_words(product, GeneratorSpec("mul(X0, X1)", target="regression"))
    'the number X₀ · X₁'
    >>> target_in_words(product, GeneratorSpec("mul(X0, X1)", target="multiclass", n_classes=3))
    '3 classes by X₀ · X₁, cut at −0.1867 and 0.1865'
    """
    if generator.target == "binary":
        return rule_in_words(expression, generator.threshold())
    text = mathematics(expression)
    if generator.target == "regression":
        return f"the number {text}"
    cuts = [_number(cut.value) for cut in generator.resolved().cuts]
    listed = " and ".join([", ".join(cuts[:-1]), cuts[-1]]) if len(cuts) > 1 else cuts[0]
    return f"{len(cuts) + 1} classes by {text}, cut at {listed}"


def feature_name(feature: int) -> str:
    """Return a feature with its number below.

    Examples
    --------
    >>> feature_name(12)
    'X₁₂'
    """
    return "X" + str(feature).translate(_SUBSCRIPTS)


def _number(value: float) -> str:
    """Return a constant to four digits: nobody reads more, and the exact one stands in the file."""
    return f"{value:.4g}".replace("-", "−")


def _written(tree: Node) -> tuple[str, int]:
    """Return the text of a tree, and how tightly it holds together."""
    if isinstance(tree, Feature):
        return feature_name(tree.index), WHOLE
    if not isinstance(tree, tuple):
        return _number(float(tree)), WHOLE if float(tree) >= 0 else SUM
    operator, first, second = tree
    if operator in _COMPARISONS:
        return f"[{_written(first)[0]} {_COMPARISONS[operator]} {_written(second)[0]}]", WHOLE
    if operator in ("min", "max"):
        return f"{operator}({_written(first)[0]}, {_written(second)[0]})", WHOLE
    if operator == "add":
        return f"{_within(first, SUM)} + {_within(second, SUM)}", SUM
    if operator == "sub":
        return f"{_within(first, SUM)} − {_within(second, PRODUCT)}", SUM
    if operator == "mul" and first == second:
        return f"{_within(first, WHOLE)}²", POWER
    if operator == "mul":
        # A quotient behind the dot keeps its brackets: by zero it counts as 1, which is not the
        # same without them.
        is_product = isinstance(second, tuple) and second[0] == "mul"
        return (
            f"{_within(first, PRODUCT)} · {_within(second, PRODUCT if is_product else POWER)}",
            PRODUCT,
        )
    return f"{_within(first, PRODUCT)} / {_within(second, POWER)}", PRODUCT


def _within(tree: Node, least: int) -> str:
    text, tightness = _written(tree)
    return text if tightness >= least else f"({text})"
