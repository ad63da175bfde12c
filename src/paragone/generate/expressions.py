"""Formulas over features: expressions in prefix form, their evaluation, and reading them from text."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.validation import FloatArray

Values: TypeAlias = Any
"""A column of float64, or one float64 where a branch holds constants only."""


@dataclass(frozen=True)
class Feature:
    """A feature column, printed as ``X3``.

    Examples
    --------
    >>> str(Feature(3))
    'X3'
    """

    index: int

    def __str__(self) -> str:
        return f"X{self.index}"


Token: TypeAlias = str | Feature | float
"""An operator's name, a feature or a constant."""


def _safe_divide(a: Values, b: Values) -> Values:
    quotient = np.divide(a, b)
    zero = np.equal(b, 0.0)
    # Zeros are rare in columns of numbers: to look for them costs less than to choose on every row.
    return np.where(zero, 1.0, quotient) if np.count_nonzero(zero) else quotient


def _minimum(a: Values, b: Values) -> Values:
    return np.where(b < a, b, a)


def _maximum(a: Values, b: Values) -> Values:
    return np.where(b > a, b, a)


def _as_float(compare: Callable[[Values, Values], Values]) -> Callable[[Values, Values], Values]:
    return lambda a, b: compare(a, b).astype(np.float64)


OPERATORS: dict[str, Callable[[Values, Values], Values]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "safeDiv": _safe_divide,
    "eq": _as_float(np.equal),
    "ne": _as_float(np.not_equal),
    "ge": _as_float(np.greater_equal),
    "gt": _as_float(np.greater),
    "le": _as_float(np.less_equal),
    "lt": _as_float(np.less),
    "min": _minimum,
    "max": _maximum,
}
"""The binary operators. Comparisons give 1.0 or 0.0; safeDiv(a, b) is 1 where b is 0; min and max keep
the first operand unless the second is strictly smaller or larger, as Python's own do."""


@dataclass(frozen=True)
class Expression:
    """A formula: binary operators over features ``X0, X1, ...`` and constants.

    Parameters
    ----------
    tokens : tuple
        The formula in prefix order: operator names, `Feature` s and floats.

    Examples
    --------
    >>> formula = Expression.parse("mul(safeDiv(X4, X2), sub(X6, 1.0))")
    >>> print(formula)
    mul(safeDiv(X4, X2), sub(X6, 1.0))
    >>> formula.features
    (2, 4, 6)
    >>> formula.evaluate([[0, 0, 2, 0, 6, 0, 3]])
    array([6.])
    """

    tokens: tuple[Token, ...]

    def __post_init__(self) -> None:
        open_places = 1
        for position, token in enumerate(self.tokens):
            if open_places == 0:
                raise InputError(f"the formula ends before its token {position + 1} ({token})")
            if isinstance(token, str) and token not in OPERATORS:
                raise InputError(f"the formula holds an unknown operator {token!r}")
            open_places += 1 if isinstance(token, str) else -1
        if open_places:
            raise InputError("the formula is not complete: an operand is missing at its end")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a formula from its text; an error names the position."""
        return cls(read_tokens(text))

    def __str__(self) -> str:
        stack: list[str] = []
        for token in reversed(self.tokens):
            if isinstance(token, str):
                first, second = stack.pop(), stack.pop()
                stack.append(f"{token}({first}, {second})")
            else:
                stack.append(repr(token) if isinstance(token, float) else str(token))
        return stack[0]

    @property
    def md5(self) -> str:
        """The md5 of the text: the hash under which a formula is published."""
        return hashlib.md5(str(self).encode(), usedforsecurity=False).hexdigest()

    @cached_property
    def features(self) -> tuple[int, ...]:
        """The features that occur, in order; not all of them need matter."""
        return tuple(sorted({token.index for token in self.tokens if isinstance(token, Feature)}))

    @property
    def size(self) -> int:
        """Number of tokens."""
        return len(self.tokens)

    @property
    def height(self) -> int:
        """Operators on the longest way from the root to a leaf."""
        stack: list[int] = []
        for token in reversed(self.tokens):
            stack.append(1 + max(stack.pop(), stack.pop()) if isinstance(token, str) else 0)
        return stack[0]

    def subtree(self, begin: int) -> slice:
        """Return where the branch that begins at a token stands."""
        end, open_places = begin, 1
        while open_places:
            open_places += 1 if isinstance(self.tokens[end], str) else -1
            end += 1
        return slice(begin, end)

    def branches(self) -> Iterator[Expression]:
        """Go through the branches in prefix order, the whole formula first."""
        for begin in range(len(self.tokens)):
            yield Expression(self.tokens[self.subtree(begin)])

    def evaluate(self, X: Any) -> FloatArray:
        """Return the value on every row, bit for bit what a loop over rows of Python floats gives.

        Division overflows to infinity and invalid operations give NaN, silently: `rejection` looks
        at that.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Float64; other numbers are converted.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values.
        """
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2:
            raise InputError(
                f"a formula is evaluated on samples x features, not on {rows.ndim} dimension(s)"
            )
        if self.features and self.features[-1] >= rows.shape[1]:
            raise InputError(
                f"the formula uses X{self.features[-1]}, but there are {rows.shape[1]} features"
            )
        with np.errstate(all="ignore"):
            # Columns laid out one after another: a strided column is read again in every operator.
            value = self._run({j: np.ascontiguousarray(rows[:, j]) for j in self.features})
        if len(self.tokens) == 1:
            # A lone leaf is a constant or a column of the caller's own.
            return np.full(rows.shape[0], value)
        return value if np.ndim(value) else np.full(rows.shape[0], value)

    def _run(self, columns: Mapping[int, FloatArray]) -> Values:
        stack: list[Values] = []
        for token in reversed(self.tokens):
            if isinstance(token, str):
                first = stack.pop()
                stack.append(OPERATORS[token](first, stack.pop()))
            else:
                stack.append(
                    columns[token.index] if isinstance(token, Feature) else np.float64(token)
                )
        return stack[0]


LEXEME = re.compile(
    r"\s*(?:(?P<feature>X\d+\b)|(?P<operator>[A-Za-z_]\w*)"
    r"|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<mark>[(),]))"
)


def read_tokens(text: str) -> tuple[Token, ...]:
    """Return the prefix tokens of a formula.

    Examples
    --------
    >>> read_tokens("add(X0, 1)")
    ('add', Feature(index=0), 1.0)
    >>> read_tokens("add(X0 1)")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: formula 'add(X0 1)': ',' expected at position 8, found '1'
    """
    reader = _Reader(text)
    tokens = reader.read_all()
    kind, found = reader.peek()
    if kind != "end":
        raise reader.wrong(
            f"the formula is complete, but there is {found!r} at position {reader.position}"
        )
    return tuple(tokens)


class _Reader:
    """Walks through the text; a stack of open operators instead of recursion, so depth is no limit."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._at = 0

    @property
    def position(self) -> int:
        """The position of the next sign, counted from 1."""
        return len(self.text) - len(self.text[self._at :].lstrip()) + 1

    def wrong(self, sentence: str) -> InputError:
        shown = self.text if len(self.text) <= 80 else f"{self.text[:77]}..."
        return InputError(f"formula {shown!r}: {sentence}")

    def peek(self) -> tuple[str, str]:
        if not self.text[self._at :].strip():
            return "end", "the end"
        match = LEXEME.match(self.text, self._at)
        if match is None:
            raise self.wrong(
                f"nothing begins with {self.text[self.position - 1]!r}, at position {self.position}"
            )
        return str(match.lastgroup), match[str(match.lastgroup)]

    def step(self) -> None:
        match = LEXEME.match(self.text, self._at)
        if match is not None:
            self._at = match.end()

    def expect(self, mark: str) -> None:
        _, found = self.peek()
        if found != mark:
            shown = found if found == "the end" else repr(found)
            raise self.wrong(f"{mark!r} expected at position {self.position}, found {shown}")
        self.step()

    def read_all(self) -> list[Token]:
        tokens: list[Token] = []
        operands_left: list[int] = []
        while True:
            token = self._token()
            tokens.append(token)
            if isinstance(token, str):
                self.expect("(")
                operands_left.append(2)
                continue
            while operands_left and operands_left[-1] == 1:
                self.expect(")")
                operands_left.pop()
            if not operands_left:
                return tokens
            operands_left[-1] -= 1
            self.expect(",")

    def _token(self) -> Token:
        kind, found = self.peek()
        if kind == "feature":
            token: Token = Feature(int(found[1:]))
        elif kind == "number":
            token = float(found)
            if not math.isfinite(token):
                raise self.wrong(f"the constant {found} at position {self.position} is not finite")
        elif kind == "operator":
            if found not in OPERATORS:
                hint = unknown_name("operator", found, OPERATORS)
                raise self.wrong(f"{hint} (at position {self.position})")
            token = found
        else:
            shown = found if kind == "end" else repr(found)
            raise self.wrong(
                f"an operator, a feature or a number expected at position {self.position}, found"
                f" {shown}"
            )
        self.step()
        return token
