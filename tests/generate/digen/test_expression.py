"""Formulas: their text, their values against plain Python, and the errors of the parser."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import InputError
from paragone.generate.expressions import OPERATORS, Expression, Feature
from paragone.generate.formulas import Grammar

PLAIN = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "safeDiv": lambda a, b: 1.0 if b == 0 else a / b,
    "min": min,
    "max": max,
    "eq": lambda a, b: 1.0 if a == b else 0.0,
    "ne": lambda a, b: 1.0 if a != b else 0.0,
    "ge": lambda a, b: 1.0 if a >= b else 0.0,
    "gt": lambda a, b: 1.0 if a > b else 0.0,
    "le": lambda a, b: 1.0 if a <= b else 0.0,
    "lt": lambda a, b: 1.0 if a < b else 0.0,
}
AWKWARD = [0.0, -0.0, 1.0, -1.0, 5e-324, 1e308, -1e308, math.inf, -math.inf, math.nan, 2.5]


def python_values(expression: Expression, rows: np.ndarray) -> np.ndarray:
    """Evaluate the text with Python's own parser, row by row, on Python floats."""
    code = compile(str(expression), "formula", "eval")
    names = [f"X{j}" for j in range(rows.shape[1])]
    values = [eval(code, dict(PLAIN), dict(zip(names, row, strict=True))) for row in rows.tolist()]  # noqa: S307
    return np.array(values, dtype=np.float64)


def assert_same_bits(a: np.ndarray, b: np.ndarray) -> None:
    missing = np.isnan(a)
    np.testing.assert_array_equal(missing, np.isnan(b))
    np.testing.assert_array_equal(a[~missing].view(np.int64), b[~missing].view(np.int64))


def test_the_values_of_1000_random_trees_are_those_of_python_bit_for_bit():
    rng = np.random.default_rng(7)
    rows = np.vstack([rng.normal(size=(40, 10)), rng.choice(AWKWARD, size=(40, 10))])
    used: set[str] = set()
    for position in range(1000):
        grammar = Grammar(constants="uniform" if position % 2 else "quantile")
        expression = grammar.half_and_half(rng, 2, 6)
        used |= {token for token in expression.tokens if isinstance(token, str)}
        assert_same_bits(expression.evaluate(rows), python_values(expression, rows))
    assert used == set(OPERATORS)


def test_a_constant_formula_has_its_value_on_every_row():
    assert Expression.parse("safeDiv(3.0, 2.0)").evaluate(np.zeros((3, 1))).tolist() == [
        1.5,
        1.5,
        1.5,
    ]
    assert Expression.parse("safeDiv(3.0, 0.0)").evaluate(np.zeros((2, 1))).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("text", ["X1", "add(X1, 0.0)", "min(X1, X1)"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_values_are_never_a_view_of_the_rows(text, order):
    rows = np.asarray(np.arange(6.0).reshape(3, 2), order=order)
    values = Expression.parse(text).evaluate(rows)
    assert not np.shares_memory(values, rows)
    assert values.tolist() == [1.0, 3.0, 5.0]


def trees() -> st.SearchStrategy[Expression]:
    leaves = st.one_of(
        st.integers(0, 12).map(lambda index: (Feature(index),)),
        st.floats(allow_nan=False, allow_infinity=False).map(lambda value: (value,)),
    )
    joined = lambda inner: st.tuples(st.sampled_from(sorted(OPERATORS)), inner, inner).map(  # noqa: E731
        lambda parts: (parts[0], *parts[1], *parts[2])
    )
    return st.recursive(leaves, joined, max_leaves=20).map(Expression)


@given(trees())
def test_a_printed_formula_is_read_back_as_it_was(expression):
    again = Expression.parse(str(expression))
    assert again == expression
    assert str(again) == str(expression)


@given(trees())
def test_height_and_branches_are_those_of_the_printed_brackets(expression):
    depth = deepest = 0
    for sign in str(expression):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        deepest = max(deepest, depth)
    assert expression.height == deepest
    assert [branch.tokens[0] for branch in expression.branches()] == list(expression.tokens)
    assert all(str(branch) in str(expression) for branch in expression.branches())


def test_spaces_and_whole_numbers_are_read():
    assert str(Expression.parse("  add( X0 ,-2 )\n")) == "add(X0, -2.0)"
    assert str(Expression.parse("add(X0, 1e-3)")) == "add(X0, 0.001)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("add(X0, X1", "')' expected at position 11, found the end"),
        ("add(X0 X1)", "',' expected at position 8, found 'X1'"),
        ("add(X0, X1))", "the formula is complete, but there is ')' at position 12"),
        ("ad(X0, X1)", "unknown operator 'ad': did you mean 'add'? (at position 1)"),
        ("add(X0, )", "an operator, a feature or a number expected at position 9, found ')'"),
        ("", "an operator, a feature or a number expected at position 1, found the end"),
        ("add(X0, $)", "nothing begins with '$', at position 9"),
        ("add(X0, 1e999)", "the constant 1e999 at position 9 is not finite"),
        ("x0", "unknown operator 'x0'"),
        ("add", "'(' expected at position 4, found the end"),
        ("add(X0, X1, X2)", "')' expected at position 11, found ','"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_position(text, said):
    with pytest.raises(InputError) as error:
        Expression.parse(text)
    assert said in str(error.value)


def test_a_feature_that_is_not_there_is_an_error():
    with pytest.raises(InputError, match="uses X7, but there are 3 features"):
        Expression.parse("add(X7, X0)").evaluate(np.zeros((2, 3)))
    with pytest.raises(InputError, match="samples x features"):
        Expression.parse("X0").evaluate([1.0, 2.0])


@pytest.mark.parametrize("tokens", [("add", 1.0), (1.0, 2.0), (), ("power", 1.0, 2.0)])
def test_tokens_that_are_no_formula_are_refused(tokens):
    with pytest.raises(InputError, match="formula"):
        Expression(tokens)
