"""What the shown columns say about the formula's value: probabilities of classes, or mean and spread of numbers.

A method sees categories for numbers, and gaps. What it can know is the distribution of the
formula's value given what is shown. All columns are normal; with correlation they share one normal
factor, and are independent given it. So the hidden values are integrated over their own intervals,
given the factor, by randomised quasi-Monte Carlo (Owen 1997): several independent scramblings of a
Sobol sequence give a mean and its standard error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from paragone.generate.sampling import GeneratorSpec, Part
from paragone.validation import FloatArray, IntArray

OUTER_ROWS = 2048
INNER_POINTS = 512
MOST_CELLS = 4096
CHUNK = 2**18
SMALLEST = 1e-12


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What can be known of the formula on rows that stand for all rows.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        How much of the population each row stands for; they add up to 1.
    known : ndarray of shape (n, n_classes) or (n, 2)
        The probability of every class without noise; for regression the mean of the value and that
        of its square.
    """

    weights: FloatArray
    known: FloatArray


def uniforms(n: int, columns: int, seed: int) -> FloatArray:
    """Return points of a scrambled Sobol sequence, never 0 or 1."""
    points = qmc.Sobol(max(columns, 1), rng=np.random.default_rng(seed)).random(n)
    return np.asarray(np.clip(points, SMALLEST, 1 - SMALLEST))


def hidden_columns(spec: GeneratorSpec) -> tuple[int, ...]:
    """Return the columns of the formula that methods do not see whole.

    Examples
    --------
    >>> hidden_columns(GeneratorSpec("mul(X0, X1)", categorical=(1, 2)))
    (1,)
    """
    return tuple(j for j in spec.expression.features if spec.missing or j in spec.categorical)


def is_enumerated(spec: GeneratorSpec) -> bool:
    """Whether what is shown of the formula's columns takes few enough values to go through all of them."""
    features = spec.expression.features
    states = spec.levels + bool(spec.missing)
    discrete = not spec.correlation and all(j in spec.categorical for j in features)
    return discrete and states ** len(features) <= MOST_CELLS


def beliefs(
    spec: GeneratorSpec, part: Part, seed: int, rows: int = OUTER_ROWS, points: int = INNER_POINTS
) -> Beliefs:
    """Return what can be known of the formula where the generator hides something.

    Examples
    --------
    >>> found = beliefs(GeneratorSpec("X0", n_features=1, categorical=(0,), positive=0.375), "train", seed=1)
    >>> (found.known[:, 1] * 100).round(0).tolist()
    [0.0, 0.0, 50.0, 100.0]
    """
    shift = spec.drift if part == "test" else 0.0
    inner = _Inner(spec, shift, seed, points)
    if is_enumerated(spec):
        return _enumerated(spec, inner)
    latent, states = _outer(spec, shift, seed, rows)
    return Beliefs(np.full(len(latent), 1 / len(latent)), inner.known(latent, states))


def _outer(spec: GeneratorSpec, shift: float, seed: int, n: int) -> tuple[FloatArray, IntArray]:
    """Return rows of all columns, and what is shown of each: -1 for its number, a level, or `levels` for a gap."""
    d = spec.n_features
    drawn = uniforms(n, 2 * d + 1, seed)
    latent = np.sqrt(1 - spec.correlation) * ndtri(drawn[:, :d]) + shift
    latent += np.sqrt(spec.correlation) * ndtri(drawn[:, 2 * d :])
    states = np.full((n, d), -1)
    for column in spec.categorical:
        states[:, column] = np.digitize(latent[:, column], spec.edges)
    if spec.missing:
        states[drawn[:, d : 2 * d] < spec.missing_chance(latent)] = spec.levels
    return latent, states


class _Inner:
    """Integrates a formula over what is hidden."""

    def __init__(self, spec: GeneratorSpec, shift: float, seed: int, points: int) -> None:
        self.spec, self.shift, self.points = spec, shift, points
        self.target = spec.resolved()
        self.used = spec.expression.features
        # Correlated columns tell of each other, whether the formula uses them or not.
        self.told = tuple(range(spec.n_features)) if spec.correlation else self.used
        self.drawn = uniforms(points, len(self.told) + 1, seed + 1)
        bounds = np.concatenate([[-np.inf], spec.edges, [np.inf]])
        # One interval per level, and the whole line for a gap.
        self.low = np.append(bounds[:-1], -np.inf)
        self.high = np.append(bounds[1:], np.inf)

    def known(self, latent: FloatArray, states: IntArray) -> FloatArray:
        """Return class probabilities, or the first two moments, for every row."""
        used = list(self.used)
        width = len(self.target.shares) or 2
        found = np.empty((len(latent), width))
        seen = (states[:, used] == -1).all(axis=1)
        if seen.any():
            found[seen] = self._summed(
                self.spec.expression.evaluate(latent[seen])[:, None], np.ones((1, 1))
            )
        hidden = np.flatnonzero(~seen)
        for some in _chunks(hidden, max(1, CHUNK // self.points)):
            columns, weights = self._nodes(latent[some], states[some])
            rows = np.zeros((len(some) * self.points, self.spec.n_features), order="F")
            for j in used:
                rows[:, j] = columns[j].ravel()
            values = self.spec.expression.evaluate(rows).reshape(len(some), self.points)
            found[some] = self._summed(values, weights)
        return found

    def _nodes(
        self, latent: FloatArray, states: IntArray
    ) -> tuple[dict[int, FloatArray], FloatArray]:
        """Return values of every told column, and weights, of shape (rows, points)."""
        rho, n = self.spec.correlation, len(latent)
        centre = np.full((n, self.points), self.shift)
        weights = np.ones((n, self.points))
        if rho:
            numbers = states == -1
            precision = 1 + numbers.sum(axis=1) * rho / (1 - rho)
            mean = (
                np.sqrt(rho) / (1 - rho) * ((latent - self.shift) * numbers).sum(axis=1) / precision
            )
            factor = mean[:, None] + ndtri(self.drawn[:, -1])[None] / np.sqrt(precision)[:, None]
            centre = centre + np.sqrt(rho) * factor
        columns = {}
        for place, j in enumerate(self.told):
            columns[j], likely = self._column(
                latent[:, j], states[:, j], centre, self.drawn[:, place]
            )
            weights *= likely
        return columns, weights

    def _column(
        self, latent: FloatArray, states: IntArray, centre: FloatArray, drawn: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return values of a column inside the intervals that are shown, and how likely what is shown is."""
        spread = np.sqrt(1 - self.spec.correlation)
        values = np.repeat(latent[:, None], self.points, axis=1)
        weights = np.ones_like(values)
        gap = self.spec.levels
        # Without correlation all rows with one state share their values.
        for state in np.unique(states[states >= 0]):
            rows = states == state
            middle = centre[rows] if self.spec.correlation else centre[:1]
            low, high = (
                _below(bound, middle, spread) for bound in (self.low[state], self.high[state])
            )
            inside = np.clip(low + (high - low) * drawn, SMALLEST, 1 - SMALLEST)
            value = middle + spread * ndtri(inside)
            likely = np.broadcast_to(high - low, value.shape)
            if self.spec.missing:
                chance = self.spec.missing_chance(value)
                likely = likely * (chance if state == gap else 1 - chance)
            values[rows], weights[rows] = value, likely
        return values, weights

    def _summed(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        total = np.broadcast_to(weights, values.shape).sum(axis=1)
        if not self.target.shares:
            return np.column_stack(
                [(values * weights).sum(axis=1) / total, (values**2 * weights).sum(axis=1) / total]
            )
        classes = self.target.classes(values.ravel()).reshape(values.shape)
        return np.column_stack(
            [((classes == k) * weights).sum(axis=1) / total for k in range(len(self.target.shares))]
        )

    def cells(self) -> tuple[IntArray, FloatArray]:
        """Return all states of the formula's columns, and the probability of each."""
        n_states = self.spec.levels + bool(self.spec.missing)
        centre = np.full((n_states, self.points), self.shift)
        chances = []
        for place, _ in enumerate(self.told):
            _, likely = self._column(
                np.zeros(n_states), np.arange(n_states), centre, self.drawn[:, place]
            )
            chances.append(likely.mean(axis=1))
        places = np.array(list(product(range(n_states), repeat=len(self.used))))
        weights = np.prod([chances[k][places[:, k]] for k in range(len(self.used))], axis=0)
        states = np.full((len(places), self.spec.n_features), -1)
        states[:, list(self.used)] = places
        return states, weights / weights.sum()


def _below(bound: float, middle: FloatArray, spread: float) -> FloatArray | float:
    """Return the chance of values below a bound; that of an infinite one costs nothing."""
    return float(bound > 0) if np.isinf(bound) else np.asarray(ndtr((bound - middle) / spread))


def _enumerated(spec: GeneratorSpec, inner: _Inner) -> Beliefs:
    states, weights = inner.cells()
    return Beliefs(weights, inner.known(np.zeros((len(states), spec.n_features)), states))


def _chunks(places: IntArray, size: int) -> Iterator[IntArray]:
    for begin in range(0, len(places), size):
        yield places[begin : begin + size]
