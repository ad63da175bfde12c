"""Threshold: a formula's label on any row, with the cut that halves the population."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from paragone.data.digen import Expression
from paragone.errors import InputError
from paragone.validation import FloatArray

POPULATION_ROWS = 40_000
POPULATION_SEED = 20_240_229


@dataclass(frozen=True)
class Threshold:
    """Labels 1 above a value, and at it where ``inclusive``.

    Examples
    --------
    >>> Threshold.halving(np.array([0.0, 0.0, 0.0, 1.0]))
    Threshold(value=0.0, inclusive=False)
    >>> Threshold(0.5, inclusive=True).label(np.array([0.2, 0.5, 0.7]))
    array([0, 1, 1], dtype=uint8)
    """

    value: float
    inclusive: bool = True

    @classmethod
    def halving(cls, values: FloatArray, positive: float = 0.5) -> Self:
        """Cut at a quantile; a block of ties at the cut goes whole to the side that has more of it."""
        if not np.isfinite(values).all():
            raise InputError("the formula is not finite on every row: no threshold halves it")
        at = min(max(round(len(values) * (1 - positive)), 1), len(values) - 1)
        ordered = np.sort(values)
        low, high = ordered[at - 1], ordered[at]
        if low != high:
            return cls(float(low + (high - low) / 2) if low + (high - low) / 2 > low else float(high), True)
        above = int((ordered[at:] == high).sum())
        return cls(float(high), inclusive=above >= int((ordered[:at] == high).sum()))

    def label(self, values: FloatArray) -> NDArray[np.uint8]:
        """Return 0 or 1 for every value."""
        return (values >= self.value if self.inclusive else values > self.value).astype(np.uint8)


@cache
def population(n_features: int) -> FloatArray:
    """Return the fixed rows that stand for the population: standard normal features."""
    rows = np.asfortranarray(np.random.default_rng(POPULATION_SEED).normal(size=(POPULATION_ROWS, n_features)))
    rows.flags.writeable = False
    return rows


def halving_threshold(expression: Expression, n_features: int = 10) -> Threshold:
    """Return the threshold that halves the population of standard normal rows."""
    return Threshold.halving(expression.evaluate(population(n_features)))
