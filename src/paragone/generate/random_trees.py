"""Random formulas, and the crossover and mutation of formulas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paragone.data.digen import OPERATORS, Expression, Feature, Token
from paragone.errors import InputError

OPERATOR_NAMES = tuple(OPERATORS)
FOLDED = ("add", "mul", "min", "max")
EPHEMERAL_HIGH = 100.0
QUANTILE_DECIMALS = 2


@dataclass(frozen=True)
class Grammar:
    """What random formulas are made of.

    Parameters
    ----------
    n_features : int, default=10
        Features ``X0`` to ``X(n_features - 1)``.
    constants : {"quantile", "uniform"}, default="quantile"
        Random constants are standard-normal quantiles (the scale of the features), or U(0, 100) as in DIGEN, most
        of which lie beyond all data and make the branch constant.
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

        Sums, products and extremes of many features tell methods apart, and grown trees hardly ever are one.
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
                tokens += [OPERATOR_NAMES[int(rng.integers(len(OPERATOR_NAMES)))], Feature(feature), self.terminal(rng)]
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

    def _spliced(self, expression: Expression, out: slice, tokens: tuple[Token, ...]) -> Expression:
        child = expression.tokens[: out.start] + tokens + expression.tokens[out.stop :]
        return expression if len(child) > self.max_size else Expression(child)
