"""Expression: a formula over the feature columns, as text, as a prefix program, and as values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np

from paragone.errors import InputError
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
        from paragone.data.digen.parsing import read_tokens

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

        Division overflows to infinity and invalid operations give NaN, silently: `rejection` looks at that.

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
            raise InputError(f"a formula is evaluated on samples x features, not on {rows.ndim} dimension(s)")
        if self.features and self.features[-1] >= rows.shape[1]:
            raise InputError(f"the formula uses X{self.features[-1]}, but there are {rows.shape[1]} features")
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
                stack.append(columns[token.index] if isinstance(token, Feature) else np.float64(token))
        return stack[0]
