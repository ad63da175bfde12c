"""Formulas in mathematics: read back by a second reader, they give the same numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from paragone.generate.expressions import Expression
from paragone.generate.formulas import Grammar, feature_name, mathematics, rule_in_words
from paragone.generate.sampling import Threshold, halving_threshold
from paragone.generate.sets import digen_entries

DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


class Number(float):
    """A number of one row whose quotient by zero is 1, as in the formulas."""

    def __add__(self, other):
        return Number(float(self) + other)

    def __sub__(self, other):
        return Number(float(self) - other)

    def __mul__(self, other):
        return Number(float(self) * other)

    def __truediv__(self, other):
        return Number(1.0) if other == 0 else Number(float(self) / other)

    def __pow__(self, power):
        return Number(float(self) * float(self))

    def __neg__(self):
        return Number(-float(self))


def read_back(text: str, row: np.ndarray) -> float:
    """Compute a text in the usual notation for one row: Python's own rules of precedence are the second reader."""
    text = re.sub(r"X([₀-₉]+)", lambda found: f"f{found[1].translate(DIGITS)}", text).replace(
        "e−", "e-"
    )
    text = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?(?:e[+-]?\d+)?)", r"N(\1)", text)
    signs = {
        "·": "*",
        "−": "-",
        "²": "**2",
        "≥": ">=",
        "≤": "<=",
        "≠": "!=",
        " = ": " == ",
        "[": "I(",
        "]": ")",
    }
    for sign, python in signs.items():
        text = text.replace(sign, python)
    given = {f"f{place}": Number(value) for place, value in enumerate(row)}
    more = {"N": Number, "I": lambda held: Number(bool(held)), "min": min, "max": max}
    return float(eval(text, {"__builtins__": {}}, {**given, **more}))  # noqa: S307 - texts of our own


def texts() -> list[str]:
    grammar, rng = Grammar(4), np.random.default_rng(8)
    drawn = [str(grammar.half_and_half(rng)) for _ in range(60)]
    return [entry.formula for entry in digen_entries()] + drawn


def test_the_second_reader_reads():
    assert (
        read_back("X₀ / X₁ · (X₀ − 1.5) + [X₀² > max(X₁, −2)]", np.array([3.0, 2.0]))
        == 1.5 * 1.5 + 1
    )
    assert read_back("X₀ / X₁", np.array([3.0, 0.0])) == 1.0


def test_what_people_read_is_the_formula():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(20, 10))
    # Zeros and equal values: where quotients and comparisons are decided.
    rows[:4] = rng.integers(-1, 2, size=(4, 10))
    for text in texts():
        # Constants are shown to four digits: the same constants go into the oracle.
        rounded = re.sub(
            r"-?\d+\.\d+(e-?\d+)?", lambda found: repr(float(f"{float(found[0]):.4g}")), text
        )
        expression = Expression.parse(rounded)
        expected = expression.evaluate(rows) * np.ones(len(rows))
        shown = mathematics(expression)
        got = [read_back(shown, row) for row in rows]
        np.testing.assert_allclose(got, expected, rtol=1e-9, err_msg=f"{text} shown as {shown}")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mul(X0, mul(X1, X2))", "X₀ · X₁ · X₂"),
        ("mul(X0, safeDiv(X1, X2))", "X₀ · (X₁ / X₂)"),
        ("mul(mul(X0, X0), mul(X0, X0))", "(X₀²)²"),
        ("sub(X0, add(X1, X2))", "X₀ − (X₁ + X₂)"),
        ("safeDiv(X0, mul(X1, X1))", "X₀ / X₁²"),
    ],
)
def test_brackets_stand_where_they_are_needed(text, shown):
    assert mathematics(Expression.parse(text)) == shown


def test_the_rule_labels_rows_as_the_threshold_does():
    rows = np.random.default_rng(1).normal(size=(50, 2))
    for text in ("gt(X0, X1)", "mul(X0, X1)", "le(X0, 0.3)"):
        expression = Expression.parse(text)
        threshold = halving_threshold(expression, 2)
        rule = rule_in_words(expression, threshold).removeprefix("class 1 where ")
        said = [read_back(f"[{rule}]", row) for row in rows]
        np.testing.assert_array_equal(said, threshold.label(expression.evaluate(rows)))
    assert (
        rule_in_words(Expression.parse("gt(X0, X1)"), Threshold(2.0))
        == "class 1 where [X₀ > X₁] ≥ 2"
    )
    assert feature_name(3) == "X₃"
