"""Simplified, canonical and random formulas, and which of them are rejected."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.errors import InputError
from paragone.generate.expressions import Expression
from paragone.generate.formulas import Grammar, canonical, canonical_key, reason_to_reject, simplify
from paragone.generate.sets import digen_entries

ROWS = np.random.default_rng(5).normal(size=(300, 10))


def random_formulas(count: int, seed: int) -> list[Expression]:
    rng = np.random.default_rng(seed)
    grammars = (Grammar(), Grammar(constants="uniform"))
    return [grammars[i % 2].half_and_half(rng, 1, 5) for i in range(count)]


def finite_rows(expression: Expression, rows: np.ndarray) -> np.ndarray:
    return np.all([np.isfinite(branch.evaluate(rows)) for branch in expression.branches()], axis=0)


def test_a_simplified_formula_has_the_same_values_and_is_no_longer():
    shorter = 0
    rows = np.vstack([ROWS, np.random.default_rng(0).integers(-1, 2, size=(200, 10))])
    for expression in random_formulas(600, seed=1):
        simple = simplify(expression)
        good = finite_rows(expression, rows)
        assert (simple.evaluate(rows)[good] == expression.evaluate(rows)[good]).all(), str(
            expression
        )
        assert simple.size <= expression.size
        assert simplify(simple) == simple
        shorter += simple.size < expression.size
    assert shorter > 200


def test_simplified_by_rows_the_values_on_them_stay():
    for expression in random_formulas(400, seed=2):
        good = finite_rows(expression, ROWS)
        if good.all():
            assert (simplify(expression, ROWS).evaluate(ROWS) == expression.evaluate(ROWS)).all(), (
                str(expression)
            )


def test_the_canonical_spelling_keeps_values_and_ignores_the_order_of_operands():
    swapped = {"add": "add", "mul": "mul", "eq": "eq", "ne": "ne", "min": "min", "max": "max"} | {
        "lt": "gt", "gt": "lt", "le": "ge", "ge": "le",
    }  # fmt: skip
    changed = 0
    for expression in random_formulas(400, seed=3):
        good = finite_rows(expression, ROWS)
        assert (canonical(expression).evaluate(ROWS)[good] == expression.evaluate(ROWS)[good]).all()
        root = expression.tokens[0]
        if root in swapped:
            second = expression.subtree(expression.subtree(1).stop)
            turned = Expression(
                (
                    swapped[root],
                    *expression.tokens[second],
                    *expression.tokens[expression.subtree(1)],
                )
            )
            assert canonical_key(turned) == canonical_key(expression)
            changed += turned != expression
    assert changed > 100


def test_digen_formulas_simplify_to_what_a_reader_would_write():
    shown = {entry.number: str(simplify(entry.expression())) for entry in digen_entries()}
    assert shown[14] == "mul(X0, safeDiv(X9, X5))"
    assert shown[23] == "safeDiv(mul(X1, X7), X3)"
    assert shown[25] == "mul(safeDiv(X8, X6), X5)"
    assert shown[30] == "mul(mul(X6, X1), X0)"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([1.0, 2.0, 3.0, 4.0], None),
        ([1.0, np.nan, 3.0, 4.0], "non-finite"),
        ([1.0, np.inf, 3.0, 4.0], "non-finite"),
        ([2.0, 2.0, 2.0, 2.0], "constant"),
        ([0.0, 1.0, 1.0, 1.0], "tie at the threshold"),
        ([0.0, 0.0, 1.0, 1.0], None),
        ([5.0, 1.0, 3.0], None),
    ],
)
def test_a_formula_is_rejected_for_what_its_values_are(values, reason):
    assert reason_to_reject(np.array(values)) == reason
    if reason == "tie at the threshold":
        assert reason_to_reject(np.array(values), allow_ties=True) is None


def test_random_formulas_keep_their_bounds():
    rng = np.random.default_rng(4)
    grammar = Grammar(n_features=4, max_size=25)
    for _ in range(300):
        first, second = grammar.half_and_half(rng, 2, 3), grammar.half_and_half(rng, 2, 3)
        assert 2 <= first.height <= 3
        assert all(feature < 4 for feature in first.features)
        assert grammar.grow(rng, 2, 2, full=True).size == 7
        assert grammar.cross(rng, first, second).size <= 25
        assert grammar.mutate(rng, first).size <= 25
    assert grammar.cross(rng, Expression.parse("X0"), second) == Expression.parse("X0")


def test_a_crossed_formula_takes_its_branches_from_both_parents():
    rng = np.random.default_rng(9)
    a, b = Expression.parse("add(X0, mul(X0, X0))"), Expression.parse("sub(X1, sub(X1, X1))")
    children = {str(Grammar().cross(rng, a, b)) for _ in range(200)}
    # Two leaves and a branch of the first below its root, two kinds of branch of the second.
    assert children == {
        f"add({x}, mul({y}, {z}))" for s in ("X1", "sub(X1, X1)") for x, y, z in
        ((s, "X0", "X0"), ("X0", s, "X0"), ("X0", "X0", s))
    } | {"add(X0, X1)", "add(X0, sub(X1, X1))"}  # fmt: skip


def test_unknown_constants_are_refused():
    with pytest.raises(InputError, match="'quantile' or 'uniform'"):
        Grammar(constants="normal")
