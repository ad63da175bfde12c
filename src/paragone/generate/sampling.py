"""GeneratorSpec: a formula as a source of unlimited rows, cut at a threshold of its population."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paragone.data import Dataset
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
        # Splitting a block of ties would label equal values differently: pure noise.
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


TargetKind: TypeAlias = Literal["binary", "multiclass", "regression"]


@dataclass(frozen=True)
class GeneratorSpec:
    """A formula and all that turns it into a dataset.

    Parameters
    ----------
    formula : str
        Over the features ``X0 .. X(n_features - 1)``.
    n_features : int, default=10
        Columns that the formula may use, standard normal.
    correlation : float, default=0.0
        The correlation of every two of these columns, 0 up to below 1.
    irrelevant : int, default=0
        Independent standard normal columns added behind.
    noise : float, default=0.0
        The share of labels that are drawn again among the classes; for regression the standard deviation of normal
        noise, in units of the value's own.
    positive : float, default=0.5
        The share of class 1 in the population.
    n_classes : int, default=3
        Classes of a multiclass target: equal parts of the population by the formula's value.
    target : {"binary", "multiclass", "regression"}, default="binary"
        What the value becomes.
    categorical : tuple of int
        Columns shown as the number of their quarter (0 to 3) in the population; the label follows from the uncut value.
    missing : float, default=0.0
        The share of entries that are shown as NaN.

    Examples
    --------
    >>> spec = GeneratorSpec("mul(X0, X1)", n_features=2)
    >>> spec.sample(500, seed=1)
    Dataset 'mul(X0, X1)': 500 samples x 2 features, classification, 2 classes
    >>> spec.bayes_auroc
    1.0
    """

    formula: str
    n_features: int = 10
    correlation: float = 0.0
    irrelevant: int = 0
    noise: float = 0.0
    positive: float = 0.5
    n_classes: int = 3
    target: TargetKind = "binary"
    categorical: tuple[int, ...] = field(default=())
    missing: float = 0.0

    def __post_init__(self) -> None:
        expression = Expression.parse(self.formula)
        if expression.features and expression.features[-1] >= self.n_features:
            raise InputError(f"the formula uses X{expression.features[-1]}, but n_features is {self.n_features}")
        for name, low, high in (("correlation", 0, 1), ("missing", 0, 1)):
            if not low <= getattr(self, name) < high:
                raise InputError(f"{name} must be from {low} to below {high}, it is {getattr(self, name)}")
        if self.noise < 0 or (self.noise > 1 and self.target != "regression"):
            raise InputError(f"noise must be from 0 to 1, it is {self.noise}")
        if not 0 < self.positive < 1:
            raise InputError(f"positive must lie between 0 and 1, it is {self.positive}")
        if self.n_classes < 2:
            raise InputError(f"n_classes must be at least 2, it is {self.n_classes}")
        if self.target not in ("binary", "multiclass", "regression"):
            raise InputError(f"target is 'binary', 'multiclass' or 'regression', not {self.target!r}")
        wrong = [column for column in self.categorical if not 0 <= column < self.n_features]
        if wrong:
            raise InputError(f"categorical column {wrong[0]} is not among the {self.n_features} features")

    @property
    def expression(self) -> Expression:
        """The formula."""
        return Expression.parse(self.formula)

    @property
    def bayes_auroc(self) -> float:
        """The AUROC of the true formula on the population: below 1 only where labels are noisy (binary targets)."""
        # A label drawn again is wrong half of the time; two rows of unlike labels are then in the right order unless
        # noise swapped them, which the rates of the two classes give.
        if self.target != "binary":
            raise InputError("the Bayes AUROC is defined for a binary target")
        p, wrong = self.positive, self.noise / 2
        observed = p * (1 - wrong) + (1 - p) * wrong
        hit = p * (1 - wrong) / observed
        false = p * wrong / (1 - observed)
        return hit * (1 - false) + 0.5 * (hit * false + (1 - hit) * (1 - false))

    def features(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw rows of the columns that the formula may use."""
        rows = rng.normal(size=(n, self.n_features))
        if self.correlation:
            shared = rng.normal(size=(n, 1))
            rows = np.sqrt(1 - self.correlation) * rows + np.sqrt(self.correlation) * shared
        return rows

    def _population(self) -> FloatArray:
        values = self.expression.evaluate(self.features(POPULATION_ROWS, np.random.default_rng(POPULATION_SEED)))
        if not np.isfinite(values).all():
            raise InputError(f"the formula {self.formula} is not finite on every row of the population")
        return values

    def threshold(self) -> Threshold:
        """Return the cut that gives class 1 its share of the population."""
        return Threshold.halving(self._population(), self.positive)

    def sample(self, n: int, seed: int, *, name: str | None = None) -> Dataset:
        """Draw a dataset of fresh rows.

        Parameters
        ----------
        n : int
            Rows.
        seed : int
            The same seed gives the same rows.
        name : str, optional
            The dataset's name; the formula where it is not given.
        """
        if n < 1:
            raise InputError(f"n must be at least 1, it is {n}")
        rng = np.random.default_rng(seed)
        rows = self.features(n, rng)
        y = self._labelled(self.expression.evaluate(rows), rng)
        shown = np.hstack([self._binned(rows), rng.normal(size=(n, self.irrelevant))])
        if self.missing:
            shown[rng.random(shown.shape) < self.missing] = np.nan
        task: Any = "regression" if self.target == "regression" else "classification"
        names = tuple(f"X{j}" for j in range(shown.shape[1]))
        return Dataset(name or self.formula, shown, y, task, feature_names=names, target_names=("target",))

    def _binned(self, rows: FloatArray) -> FloatArray:
        from scipy.stats import norm

        shown = rows.copy()
        for column in self.categorical:
            shown[:, column] = np.digitize(rows[:, column], norm.ppf([0.25, 0.5, 0.75]))
        return shown

    def _labelled(self, values: FloatArray, rng: np.random.Generator) -> NDArray[Any]:
        if self.target == "regression":
            return values + self.noise * float(self._population().std()) * rng.normal(size=len(values))
        if self.target == "binary":
            labels, n_classes = self.threshold().label(values).astype(np.int64), 2
        else:
            cuts = np.quantile(self._population(), np.arange(1, self.n_classes) / self.n_classes)
            labels, n_classes = np.searchsorted(cuts, values, side="right"), self.n_classes
        redrawn = rng.random(len(values)) < self.noise
        return np.where(redrawn, rng.integers(0, n_classes, len(values)), labels)
