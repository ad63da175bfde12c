"""Thresholds: where a formula's values are cut into classes, and the rows that stand for the population there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from paragone.data import Expression, Feature
from paragone.errors import InputError
from paragone.validation import FloatArray, IntArray

POPULATION_ROWS = 40_000
POPULATION_SEED = 20_240_229
EVEN_ROWS, MOST_EVEN_COLUMNS = 2**16, 64
SETTLED_ERRORS = 3.0
"""A cut that is this many standard errors or fewer from 0, or from a whole number, is taken as that number."""
FEWEST_GAPS, WIDE_GAP, WIDER_THAN_NEXT = 50, 25.0, 3.0
"""A gap between neighbouring values near the cut is real where it is so many times the mean of at least so many gaps,
and so many times the next: the widest of some hundred gaps of an even density is less than ten times their mean."""


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
            return cls(
                float(low + (high - low) / 2) if low + (high - low) / 2 > low else float(high), True
            )
        # Splitting a block of ties would label equal values differently: pure noise.
        above = int((ordered[at:] == high).sum())
        return cls(float(high), inclusive=above >= int((ordered[:at] == high).sum()))

    @classmethod
    def settled(cls, values: FloatArray, positive: float = 0.5) -> Self:
        """Cut at a quantile, or at 0 or a whole number that is as good a quantile by the error of the rows.

        The middle of a parity is 0. A cut that is off by the error of some thousand rows lets
        features turn labels that cannot turn the sign.

        Examples
        --------
        >>> rows = population(2)
        >>> Threshold.settled(rows[:, 0] * rows[:, 1])
        Threshold(value=0.0, inclusive=True)
        """
        cut = cls.halving(values, positive)
        error = SETTLED_ERRORS * np.sqrt(positive * (1 - positive) / len(values))
        # The share of a rare class is known less well than to a fiftieth: it is not to be rounded
        # further than that.
        error = min(error, min(positive, 1 - positive) / 50)
        band = np.clip([1 - positive - error, 1 - positive + error], 0, 1)
        low, high = np.quantile(values, band, method="lower")
        whole = 0.0 if low <= 0 <= high else float(np.rint(cut.value))
        # A value that many rows have is a block, and which side it falls to is for `halving` to
        # say.
        if low < high and low <= whole <= high and (values == whole).sum() <= 1:
            return cls(whole, True)
        near = np.unique(values[(values >= low) & (values <= high)])
        gaps = np.sort(np.diff(near))
        if (
            len(gaps) > FEWEST_GAPS
            and gaps[-1] > WIDE_GAP * gaps.mean()
            and gaps[-1] > WIDER_THAN_NEXT * gaps[-2]
        ):
            # Between two heaps of values nothing happens: the cut is there, not in the tail of one
            # of them.
            at = int(np.diff(near).argmax())
            return cls(float(near[at] + gaps[-1] / 2), True)
        return cut

    def label(self, values: FloatArray) -> NDArray[np.uint8]:
        """Return 0 or 1 for every value."""
        return (values >= self.value if self.inclusive else values > self.value).astype(np.uint8)


@dataclass(frozen=True)
class TargetRule:
    """What turns a formula's values into a target: cuts between classes and their shares, or the scale of numbers.

    Parameters
    ----------
    cuts : tuple of Threshold
        Between each class and the next.
    shares : tuple of float
        Of the classes in the population.
    spread : float
        The standard deviation of the values, for regression.

    Examples
    --------
    >>> TargetRule((Threshold(0.0), Threshold(1.0))).classes(np.array([-0.5, 0.5, 1.5]))
    array([0, 1, 2])
    """

    cuts: tuple[Threshold, ...] = ()
    shares: tuple[float, ...] = ()
    spread: float = 0.0

    def classes(self, values: FloatArray) -> IntArray:
        """Return the class of every value."""
        return sum(
            (cut.label(values).astype(np.int64) for cut in self.cuts),
            np.zeros(len(values), dtype=np.int64),
        )


@cache
def population(n_features: int) -> FloatArray:
    """Return the fixed rows that stand for the population: standard normal features.

    Examples
    --------
    >>> population(3).shape
    (40000, 3)
    """
    rows = np.asfortranarray(
        np.random.default_rng(POPULATION_SEED).normal(size=(POPULATION_ROWS, n_features))
    )
    rows.flags.writeable = False
    return rows


def packed(expression: Expression) -> Expression:
    """Return the formula with its features numbered from 0 on, in their order.

    Examples
    --------
    >>> print(packed(Expression.parse("mul(X7, sub(X3, X7))")))
    mul(X1, sub(X0, X1))
    """
    places = {feature: Feature(place) for place, feature in enumerate(expression.features)}
    return Expression(
        tuple(places[t.index] if isinstance(t, Feature) else t for t in expression.tokens)
    )


@lru_cache(maxsize=8)
def _even_rows(n_features: int, correlation: float) -> FloatArray:
    """Return rows of a Sobol sequence: shares and quantiles come out ten times as exact as from random rows."""
    from scipy.stats import qmc

    drawn = qmc.Sobol(n_features + 1, rng=np.random.default_rng(POPULATION_SEED)).random(EVEN_ROWS)
    normal = ndtri(np.clip(drawn, 1e-12, 1 - 1e-12))
    rows = (
        np.sqrt(1 - correlation) * normal[:, :n_features]
        + np.sqrt(correlation) * normal[:, n_features:]
    )
    return np.asfortranarray(rows)


def even_values(expression: Expression, n_features: int, correlation: float = 0.0) -> FloatArray:
    """Return a formula's value on rows that stand evenly for the population.

    Examples
    --------
    >>> values = even_values(Expression.parse("gt(X0, X1)"), n_features=2)
    >>> round(float(values.mean()), 3)
    0.5
    """
    if n_features > MOST_EVEN_COLUMNS:
        # Only the columns that the formula uses are made, or a wide table would not fit into
        # memory.
        expression, n_features = packed(expression), len(expression.features)
    return expression.evaluate(_even_rows(n_features, correlation))


def halving_threshold(expression: Expression, n_features: int = 10) -> Threshold:
    """Return the threshold that halves the population of standard normal rows.

    Examples
    --------
    >>> halving_threshold(Expression.parse("mul(X0, mul(X1, X1))"))
    Threshold(value=0.0, inclusive=True)
    """
    return Threshold.settled(even_values(expression, n_features))
