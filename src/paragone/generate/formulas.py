"""Formulas as trees: simplified, spelled in one way, drawn at random, bred, refused, and as people write them.

What people read has brackets only where they are needed; `Expression` keeps the text that is parsed
and hashed. Comparisons are Iverson brackets: ``[a > b]`` is 1 where it holds and 0 elsewhere.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from paragone.errors import InputError
from paragone.generate.expressions import OPERATORS, Expression, Feature, Token
from paragone.generate.sampling import GeneratorSpec, Threshold
from paragone.validation import FloatArray

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


COMPARISONS = ("eq", "ne", "ge", "gt", "le", "lt")
OF_EQUALS: dict[str, float] = {
    "sub": 0.0, "safeDiv": 1.0, "eq": 1.0, "ge": 1.0, "le": 1.0, "ne": 0.0, "gt": 0.0, "lt": 0.0,
}  # fmt: skip
"""What an operator gives where both operands are the same finite value."""


def simplify(expression: Expression, sample: FloatArray | None = None) -> Expression:
    """Return a shorter formula with the same values.

    The values are equal on every row on which all branches of the given formula are finite (a zero
    may lose its sign). With ``sample``, branches that are constant on these rows become constants,
    and a branch that equals one of its operands on all of them is replaced by it; the values are
    then equal on these rows.

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
            expression = to_expression(
                _by_rows(to_tree(expression), np.asarray(sample, dtype=np.float64))[0]
            )
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
    if (operator in ("add", "sub") and second == 0.0) or (
        operator in ("mul", "safeDiv") and second == 1.0
    ):
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
    true = {
        "lt": below,
        "gt": above,
        "le": not_above,
        "ge": not_below,
        "ne": below or above,
        "eq": False,
    }
    false = {
        "lt": not_below,
        "gt": not_above,
        "le": above,
        "ge": below,
        "eq": below or above,
        "ne": False,
    }
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


def structure_key(expression: Expression) -> str:
    """Return the md5 of a formula's structure: equal for formulas that differ in spelling and names of features only.

    Constants that only shift or scale the whole value, and turned signs of features, do not count.

    Examples
    --------
    >>> texts = ("add(X0, add(X1, gt(X2, 0.5)))", "sub(1.0, add(lt(0.5, X7), add(sub(0.0, X4), X3)))")
    >>> len({structure_key(Expression.parse(text)) for text in texts})
    1
    """
    text = _named(_flattened(_unturned(_unscaled(to_tree(simplify(expression))))), {})
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _unscaled(tree: Node) -> Node:
    """Return the tree without constants that shift, scale or turn the whole value."""
    while isinstance(tree, tuple) and tree[0] in ("add", "sub", "mul"):
        constants = [
            isinstance(part, float) and (tree[0] != "mul" or part != 0.0) for part in tree[1:]
        ]
        if constants not in ([True, False], [False, True]):
            break
        tree = tree[2] if constants[0] else tree[1]
    return tree


def _unturned(tree: Node) -> Node:
    """Return the tree with features for their negatives, where they never occur without."""
    expressions = to_expression(tree)
    turned = [branch.tokens[2] for branch in expressions.branches() if _is_negative(branch.tokens)]
    always = {f for f in turned if expressions.tokens.count(f) == turned.count(f)}

    def walked(node: Node) -> Node:
        if not isinstance(node, tuple):
            return node
        if node[:2] == ("sub", 0.0) and node[2] in always:
            return node[2]
        return node[0], walked(node[1]), walked(node[2])

    return walked(tree)


def _is_negative(tokens: tuple[Token, ...]) -> bool:
    return len(tokens) == 3 and tokens[:2] == ("sub", 0.0) and isinstance(tokens[2], Feature)


Flat: TypeAlias = "Leaf | tuple[str, list[Flat]]"
ASSOCIATIVE = ("add", "mul", "min", "max")


def _flattened(tree: Node) -> Flat:
    """Return the tree with chains of one operator as one branch, and what may be swapped in the order of its shape."""
    if not isinstance(tree, tuple):
        return tree
    operator, first, second = tree
    if operator in MIRRORED:
        operator, first, second = MIRRORED[operator], second, first
    parts: list[Flat] = []
    for part in (_flattened(first), _flattened(second)):
        same = isinstance(part, tuple) and part[0] == operator and operator in ASSOCIATIVE
        parts += part[1] if isinstance(part, tuple) and same else [part]
    return operator, (
        sorted(parts, key=lambda part: _named(part, None)) if operator in COMMUTATIVE else parts
    )


def _named(tree: Flat, names: dict[int, str] | None) -> str:
    """Return the text with features named in the order of their appearance, or all alike where no names are kept."""
    if isinstance(tree, Feature):
        return "X" if names is None else names.setdefault(tree.index, f"X{len(names)}")
    if not isinstance(tree, tuple):
        return repr(tree)
    return f"{tree[0]}({', '.join(_named(part, names) for part in tree[1])})"


OPERATOR_NAMES = tuple(OPERATORS)
FOLDED = ("add", "mul", "min", "max")
EPHEMERAL_HIGH = 100.0
QUANTILE_DECIMALS = 2
CROSSOVER_SHARE = 0.7


@dataclass(frozen=True)
class Grammar:
    """What random formulas are made of.

    Parameters
    ----------
    n_features : int, default=10
        Features ``X0`` to ``X(n_features - 1)``.
    constants : {"quantile", "uniform"}, default="quantile"
        Random constants are standard-normal quantiles (the scale of the features), or U(0, 100) as
        in DIGEN, most of which lie beyond all data and make the branch constant.
    max_size : int, default=40
        Crossover and mutation that give more tokens leave the parent as it was.

    Examples
    --------
    >>> grammar = Grammar(n_features=3)
    >>> tree = grammar.half_and_half(np.random.default_rng(0), 2, 5)
    >>> 2 <= tree.height <= 5
    True
    """

    n_features: int = 10
    constants: str = "quantile"
    max_size: int = 40

    def __post_init__(self) -> None:
        if self.constants not in ("quantile", "uniform"):
            raise InputError(f"constants are 'quantile' or 'uniform', not {self.constants!r}")

    @property
    def n_terminals(self) -> int:
        """Features, the constants 0 and 1, and the random constant."""
        return self.n_features + 3

    def terminal(self, rng: np.random.Generator) -> Token:
        """Draw a leaf; every feature is as likely as each kind of constant."""
        drawn = int(rng.integers(self.n_terminals))
        if drawn < self.n_features:
            return Feature(drawn)
        if drawn < self.n_features + 2:
            return float(drawn - self.n_features)
        if self.constants == "uniform":
            return float(rng.uniform(0, EPHEMERAL_HIGH))
        return round(float(rng.normal()), QUANTILE_DECIMALS)

    def grow(self, rng: np.random.Generator, low: int, high: int, *, full: bool) -> Expression:
        """Draw a formula whose height is between bounds; a full one has all leaves at one depth."""
        height = int(rng.integers(low, high + 1))
        share = self.n_terminals / (self.n_terminals + len(OPERATOR_NAMES))
        tokens: list[Token] = []
        depths = [0]
        while depths:
            depth = depths.pop()
            early = not full and depth >= low and rng.random() < share
            if depth == height or early:
                tokens.append(self.terminal(rng))
            else:
                tokens.append(OPERATOR_NAMES[int(rng.integers(len(OPERATOR_NAMES)))])
                depths += [depth + 1, depth + 1]
        return Expression(tuple(tokens))

    def half_and_half(self, rng: np.random.Generator, low: int = 2, high: int = 5) -> Expression:
        """Draw a full formula or one that may end early, each half of the time."""
        return self.grow(rng, low, high, full=bool(rng.random() < 0.5))

    def fold(self, rng: np.random.Generator) -> Expression:
        """Draw one operator folded over several different features, each plain or changed a little.

        Sums, products and extremes of many features tell methods apart, and grown trees hardly ever
        are one.
        """
        n_terms = int(rng.integers(2, self.n_features + 1)) if self.n_features > 1 else 1
        operator = FOLDED[int(rng.integers(len(FOLDED)))]
        term = int(rng.integers(3))
        tokens: list[Token] = []
        for position, feature in enumerate(rng.permutation(self.n_features)[:n_terms].tolist()):
            if position < n_terms - 1:
                tokens.append(operator)
            if term == 1:
                tokens += ["mul", Feature(feature), Feature(feature)]
            elif term == 2 and rng.random() < 0.5:
                tokens += [
                    OPERATOR_NAMES[int(rng.integers(len(OPERATOR_NAMES)))],
                    Feature(feature),
                    self.terminal(rng),
                ]
            else:
                tokens.append(Feature(feature))
        return Expression(tuple(tokens))

    def cross(self, rng: np.random.Generator, first: Expression, second: Expression) -> Expression:
        """Put a random branch of the second formula in the place of one of the first."""
        if first.size < 2 or second.size < 2:
            return first
        taken_out = first.subtree(int(rng.integers(1, first.size)))
        put_in = second.subtree(int(rng.integers(1, second.size)))
        return self._spliced(first, taken_out, second.tokens[put_in])

    def mutate(self, rng: np.random.Generator, expression: Expression) -> Expression:
        """Put a random full formula of height 0 to 2 in the place of a random branch."""
        taken_out = expression.subtree(int(rng.integers(expression.size)))
        return self._spliced(expression, taken_out, self.grow(rng, 0, 2, full=True).tokens)

    def breed(self, rng: np.random.Generator, first: Expression, second: Expression) -> Expression:
        """Cross two formulas, or mutate the first."""
        return (
            self.cross(rng, first, second)
            if rng.random() < CROSSOVER_SHARE
            else self.mutate(rng, first)
        )

    def _spliced(self, expression: Expression, out: slice, tokens: tuple[Token, ...]) -> Expression:
        child = expression.tokens[: out.start] + tokens + expression.tokens[out.stop :]
        return expression if len(child) > self.max_size else Expression(child)


Reason: TypeAlias = Literal["non-finite", "constant", "tie at the threshold"]


def reason_to_reject(values: FloatArray, *, allow_ties: bool = False) -> Reason | None:
    """Say why a formula's values give no dataset by the half rule, or return None.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        The formula on every row.
    allow_ties : bool, default=False
        Whether a cut through equal values is accepted, as the published procedure does.

    Returns
    -------
    str or None
        ``"non-finite"``, ``"constant"``, ``"tie at the threshold"``, or None for a usable formula.

    Examples
    --------
    >>> reason_to_reject(np.array([1.0, 2.0, 3.0, 4.0])) is None
    True
    >>> reason_to_reject(np.array([0.0, 1.0, 1.0, 1.0]))
    'tie at the threshold'
    """
    if not np.isfinite(values).all():
        return "non-finite"
    if (values == values[0]).all():
        return "constant"
    half = len(values) // 2
    around = np.partition(values, (half - 1, half))
    if not allow_ties and around[half - 1] == around[half]:
        return "tie at the threshold"
    return None


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
