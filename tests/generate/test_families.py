"""Families of concepts: formulas whose family is known by hand, other spellings, and the measures by second ways."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.generate.diagnosis import FAMILIES, MIXED, families, straightness, told_alone
from paragone.generate.expressions import Expression
from paragone.generate.sampling import population


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("mul(X0, X1)", {"parity", "sparse"}),
        ("mul(X0, mul(X1, X2))", {"parity"}),
        ("eq(lt(X9, X2), lt(X5, X0))", {"parity"}),
        ("safeDiv(X0, mul(X5, X2))", {"parity"}),
        ("min(X0, X1)", {"thresholds", "sparse"}),
        ("gt(X0, 0.3)", {"thresholds", "sparse"}),
        ("min(min(X0, X1), X2)", {"thresholds"}),
        ("add(X0, X1)", {"smooth", "sparse"}),
        ("add(add(X0, X1), sub(X2, X3))", {"smooth"}),
        ("add(mul(X0, X0), mul(X1, X1))", {"local", "sparse"}),
        ("add(add(mul(X0, X0), mul(X1, X1)), add(mul(X2, X2), mul(X3, X3)))", {"local"}),
        ("safeDiv(add(X0, 2.0), add(X1, 3.0))", {"ratios", "smooth", "sparse"}),
        ("mul(X3, mul(X8, add(X8, add(X6, X9))))", {MIXED}),
    ],
)
def test_formulas_of_a_known_family_are_of_it(formula, expected):
    assert set(families(Expression.parse(formula))) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mul(X0, mul(X1, X2))", "mul(mul(X7, sub(0.0, X3)), X5)"),
        ("mul(X0, mul(X1, X2))", "safeDiv(mul(X4, 3.0), safeDiv(X5, X6))"),
        ("add(X0, add(X1, X2))", "lt(sub(0.0, X4), add(X8, X2))"),
        ("min(X0, X1)", "sub(0.0, max(sub(0.0, X3), sub(0.0, X9)))"),
    ],
)
def test_another_spelling_of_a_function_is_of_the_same_families(one, other):
    assert families(Expression.parse(one)) == families(Expression.parse(other))


def test_the_measures_agree_with_what_is_known_by_calculation():
    rows = population(10)[:20_000]
    active = (0, 1)
    # The sign of a sum of normal features: its linear part has the weight 2 / pi, whatever the
    # coefficients.
    labels = (rows[:, 0] + 3 * rows[:, 1] > 0).astype(np.int64)
    assert straightness(rows, labels, active) == pytest.approx(2 / np.pi, abs=0.02)
    # Each feature alone says nothing of a product's sign; of a single sign it says everything.
    assert abs(told_alone(rows, (rows[:, 0] * rows[:, 1] > 0).astype(np.int64), active)) < 0.005
    assert told_alone(rows, (rows[:, 0] > 0).astype(np.int64), (0,)) == pytest.approx(1, abs=0.02)
    # For sign(a + b) of independent normals, E[label | a] = Phi(a), whose variance is 1/12: a third
    # of the label's.
    assert told_alone(rows, (rows[:, 0] + rows[:, 1] > 0).astype(np.int64), (0,)) == pytest.approx(
        1 / 3, abs=0.02
    )


def test_every_family_is_told_in_words():
    assert list(FAMILIES) == ["parity", "thresholds", "ratios", "smooth", "local", "sparse"]
    assert all(len(words) > 20 for words in FAMILIES.values())
