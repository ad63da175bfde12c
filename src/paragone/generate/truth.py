"""Truth sheets: what is true of a generator, whatever a method finds.

A method sees categories for numbers, and gaps. What it can know is the distribution of the
formula's value given what is shown. All columns are normal; with correlation they share one normal
factor, and are independent given it. So the hidden values are integrated over their own intervals,
given the factor, by randomised quasi-Monte Carlo (Owen 1997): several independent scramblings of a
Sobol sequence give a mean and its standard error.

The best score that any method can reach on fresh rows, the features that matter and how much, and
the concept. Scores of the best rule follow from what can be known of a row (`beliefs`): in closed
form where methods see all that the formula uses, over all cells where they see categories only,
else over rows of a randomised Sobol sequence. Where a number is estimated its standard error, from
independent scramblings, stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri, xlogy
from scipy.stats import qmc

from paragone.errors import InputError
from paragone.generate.concepts import concept_key
from paragone.generate.sampling import GeneratorSpec, Part, TargetRule, Threshold, changed_target
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


SCRAMBLINGS = 16
WHOLE_ROWS = 2**13
REDRAWN_ROWS = 2**12
SHAPLEY_SCRAMBLINGS = 8
SHAPLEY_EVALUATIONS = 2**22
MOST_EXACT = 10
"""Up to so many active features Shapley shares go over all subsets; beyond, over random orders."""
ORDERS = 24
RARE = 1e-4
TIED = 1e-9


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error; 0 where it is exact.

    Examples
    --------
    >>> print(Estimate(0.87031, 0.00042), Estimate(0.9))
    0.8703 (SE 0.0004) 0.9
    """

    value: float
    error: float = 0.0

    def __str__(self) -> str:
        if not self.error:
            return f"{self.value:.6g}"
        return (
            f"{self.value:.4f} (SE {self.error:.4f})"
            if self.error >= 0.00005
            else f"{self.value:.4f} (SE < 0.0001)"
        )

    def as_dict(self) -> dict[str, float | None]:
        """Return both as plain values; None for what is not defined, such as an AUROC where one class is left."""
        return {key: found if np.isfinite(found) else None for key, found in asdict(self).items()}

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """Return the mean of independent estimates with its standard error."""
        found = np.asarray(values, dtype=np.float64)
        error = float(found.std(ddof=1) / np.sqrt(len(found)))
        # Scramblings that agree to the last digits are exact, up to rounding.
        return cls(float(found.mean()), 0.0 if error <= TIED else error)


@dataclass(frozen=True)
class FeatureTruth:
    """How much a feature matters to the true function.

    Parameters
    ----------
    feature : int
        The column.
    influence : Estimate
        The chance that the class changes when the feature is drawn again, given the others; for
        regression the part of the variance that goes with it (the total Sobol index).
    shapley : Estimate
        The feature's Shapley effect (Owen 2014): its fair part of the variance that the features
        explain together. The shares of all active features add up to 1.
    """

    feature: int
    influence: Estimate
    shapley: Estimate


@dataclass(frozen=True)
class TruthSheet:
    """What is true of a generator.

    Parameters
    ----------
    part : {"train", "test"}
        The rows that the scores are for; they differ where there is drift.
    scores : mapping of str to Estimate
        The best that any method can reach on fresh rows: ``roc_auc`` (classes one against the
        rest), ``accuracy``, ``balanced_accuracy`` and ``log_loss``, or ``r2`` and ``rmse``.
    shares : tuple of float
        Of the classes in the train part, noise or not.
    features : tuple of FeatureTruth
        The active features, the largest Shapley share first.
    inactive : tuple of int
        Features that occur in the formula and never change the target.
    concept : str
        Equal for generators whose formulas are one problem under other names, signs and scales.
    how : str
        How the scores were found.

    Examples
    --------
    >>> sheet = truth_sheet(GeneratorSpec("mul(X0, X1)", noise=0.2))
    >>> sheet.scores["roc_auc"], sheet.active
    (Estimate(value=0.9, error=0.0), (0, 1))
    """

    part: Part
    scores: Mapping[str, Estimate]
    shares: tuple[float, ...]
    features: tuple[FeatureTruth, ...]
    inactive: tuple[int, ...]
    concept: str
    how: str

    @property
    def active(self) -> tuple[int, ...]:
        """The columns that matter, in order: the truth for feature selection."""
        return tuple(sorted(found.feature for found in self.features))

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "part": self.part,
            "bayes": {name: score.as_dict() for name, score in self.scores.items()},
            "bayes_by": self.how,
            "class_shares": list(self.shares),
            "active": list(self.active),
            "inactive_in_formula": list(self.inactive),
            "features": [
                {
                    "feature": found.feature,
                    "influence": found.influence.as_dict(),
                    "shapley": found.shapley.as_dict(),
                }
                for found in self.features
            ],
            "concept": self.concept,
        }

    def table(self) -> pd.DataFrame:
        """Return the active features with influence and Shapley share."""
        rows = [
            (
                f"X{f.feature}",
                f.influence.value,
                f.influence.error,
                f.shapley.value,
                f.shapley.error,
            )
            for f in self.features
        ]
        return pd.DataFrame(
            rows, columns=["feature", "influence", "influence SE", "Shapley share", "Shapley SE"]
        )

    def sentences(self) -> tuple[str, ...]:
        """Return what is worth knowing, a sentence each."""
        names = {"roc_auc": "AUROC", "accuracy": "accuracy", "balanced_accuracy": "balanced accuracy",
                 "log_loss": "log loss", "r2": "R2", "rmse": "RMSE"}  # fmt: skip
        scores = ", ".join(f"{names[name]} {score}" for name, score in self.scores.items())
        said = [
            f"the best that any method can reach on fresh {self.part} rows: {scores} ({self.how})"
        ]
        if self.shares:
            said.append("class shares: " + ", ".join(f"{share:.3f}" for share in self.shares))
        said.append(
            "active features: " + (", ".join(f"X{feature}" for feature in self.active) or "none")
        )
        if self.inactive:
            said.append(
                "in the formula, but without effect on the target: "
                + ", ".join(f"X{feature}" for feature in self.inactive)
            )
        said.append(f"concept {self.concept}")
        return tuple(said)


@lru_cache(maxsize=256)
def truth_sheet(spec: GeneratorSpec, part: Part = "test") -> TruthSheet:
    """Find out what is true of a generator.

    Parameters
    ----------
    spec : GeneratorSpec
        The generator.
    part : {"train", "test"}, default="test"
        The rows that scores are for. Groups change nothing: the scores are for groups that were not
        trained on.

    Returns
    -------
    TruthSheet
        Scores, features and concept.

    Examples
    --------
    >>> sheet = truth_sheet(GeneratorSpec("add(X0, X0)", n_features=2, target="regression", noise=0.5))
    >>> round(sheet.scores["r2"].value, 3), [(f.feature, f.shapley.value) for f in sheet.features]
    (0.8, [(0, 1.0)])
    """
    scores, how = bayes_scores(spec, part)
    target = settled_target(spec)
    influence, active = feature_influences(spec, target), active_columns(spec)
    shapley = shapley_shares(spec, target, active)
    features = [FeatureTruth(j, influence[j], shapley[j]) for j in active]
    features.sort(key=lambda found: (-round(found.shapley.value, 3), found.feature))
    inactive = tuple(j for j in spec.expression.features if j not in active)
    shares = spec.resolved().shares
    return TruthSheet(part, scores, shares, tuple(features), inactive, key_of(spec), how)


def key_of(spec: GeneratorSpec) -> str:
    """Return the key of a generator's concept; see `concept_key`.

    Examples
    --------
    >>> key_of(GeneratorSpec("mul(X0, X1)")) == key_of(GeneratorSpec("sub(2.0, safeDiv(X7, X3))", noise=0.1))
    True
    """
    influence = feature_influences(spec, settled_target(spec))
    # Whether a feature of almost no influence is met on the rows looked at is chance, and a key is
    # not to depend on it.
    return concept_key(spec, [j for j, found in influence.items() if found.value > RARE])


# Scores


@lru_cache(maxsize=1024)
def bayes_scores(spec: GeneratorSpec, part: Part = "test") -> tuple[Mapping[str, Estimate], str]:
    """Return the best scores on fresh rows that any method can reach, and how they were found.

    Examples
    --------
    >>> scores, how = bayes_scores(GeneratorSpec("gt(X0, 1.0)", noise=0.2))
    >>> scores["roc_auc"].value, how
    (0.9, 'closed form')
    """
    if part not in ("train", "test"):
        raise InputError(f"part is 'train' or 'test', not {part!r}")
    if hidden_columns(spec):
        found = [_scored(spec, beliefs(spec, part, 2 * seed)) for seed in range(SCRAMBLINGS)]
        how = (
            "all cells of the shown categories" if is_enumerated(spec) else "randomised Sobol rows"
        )
    elif spec.target != "regression" and not (spec.noise and spec.drift and part == "test"):
        # All rows of one class are alike, and the shares of the classes are those of the generator.
        shares = np.array(spec.resolved().shares)
        exact = _scored(spec, Beliefs(shares, np.eye(len(shares))))
        return {name: Estimate(round(value, 12)) for name, value in exact.items()}, "closed form"
    else:
        found = [_scored(spec, _whole(spec, part, seed)) for seed in range(SCRAMBLINGS)]
        what = "variance" if spec.target == "regression" else "class shares"
        how = f"closed form, {what} from randomised Sobol rows"
    return {name: Estimate.of([scores[name] for scores in found]) for name in found[0]}, how


def _whole(spec: GeneratorSpec, part: Part, seed: int) -> Beliefs:
    """Return what is known where methods see all that the formula uses: its value."""
    d = spec.n_features
    drawn = ndtri(uniforms(WHOLE_ROWS, d + 1, seed))
    rows = np.sqrt(1 - spec.correlation) * drawn[:, :d] + np.sqrt(spec.correlation) * drawn[:, d:]
    values = spec.expression.evaluate(rows + (spec.drift if part == "test" else 0.0))
    target = spec.resolved()
    if spec.target == "regression":
        return Beliefs(np.full(len(values), 1 / len(values)), np.column_stack([values, values**2]))
    # Rows of one class are all alike: one cell each.
    n_classes = len(target.shares)
    return Beliefs(
        np.bincount(target.classes(values), minlength=n_classes) / len(values), np.eye(n_classes)
    )


def _scored(spec: GeneratorSpec, found: Beliefs) -> dict[str, float]:
    target = spec.resolved()
    if spec.target == "regression":
        return number_scores(found.weights, found.known, spec.noise * target.spread)
    chances = (1 - spec.noise) * found.known + spec.noise * np.array(target.shares)
    return class_scores(found.weights, chances)


def class_scores(weights: FloatArray, chances: FloatArray) -> dict[str, float]:
    """Return the scores of the best rule where rows have these probabilities of the classes.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        How much of the population each row stands for; they add up to 1.
    chances : ndarray of shape (n, n_classes)
        The true probability of every class.

    Examples
    --------
    >>> scores = class_scores(np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> round(scores["roc_auc"], 6), round(scores["accuracy"], 6)
    (0.9, 0.9)
    """
    shares = weights @ chances
    # With two classes the areas of both are the same; a class that has no rows in a drifted part
    # has none.
    classes = [k for k in range(len(shares)) if 0 < shares[k] < 1][-1 if len(shares) == 2 else 0 :]
    areas = [_area(weights, chances[:, k]) for k in classes]
    there = shares > 0
    return {
        "roc_auc": float(np.mean(areas)) if areas else np.nan,
        "accuracy": float(weights @ chances.max(axis=1)),
        "balanced_accuracy": float(
            weights @ (chances[:, there] / shares[there]).max(axis=1) / there.sum()
        ),
        "log_loss": float(-weights @ xlogy(chances, chances).sum(axis=1)),
    }


def _area(weights: FloatArray, chance: FloatArray) -> float:
    """Return the share of pairs of unlike classes that the true probability puts in order; ties count half."""
    steps, place = np.unique(np.round(chance, 12), return_inverse=True)
    positive = np.bincount(place, weights * chance, minlength=len(steps))
    negative = np.bincount(place, weights * (1 - chance), minlength=len(steps))
    below = np.cumsum(negative) - negative
    return float(positive @ (below + negative / 2) / (positive.sum() * negative.sum()))


def number_scores(weights: FloatArray, moments: FloatArray, noise: float) -> dict[str, float]:
    """Return R2 and RMSE of the best prediction where the value has these means and mean squares.

    Examples
    --------
    >>> number_scores(np.array([0.5, 0.5]), np.array([[1.0, 2.0], [-1.0, 2.0]]), noise=0.0)
    {'r2': 0.5, 'rmse': 1.0}
    """
    left = float(weights @ np.maximum(moments[:, 1] - moments[:, 0] ** 2, 0)) + noise**2
    whole = float(weights @ moments[:, 1] - (weights @ moments[:, 0]) ** 2) + noise**2
    return {"r2": 1 - left / whole, "rmse": float(np.sqrt(left))}


# Features


def settled_target(spec: GeneratorSpec) -> TargetRule:
    """Return the target with cuts that stand where the formula's own are, not a sampling error beside them.

    A dataset may be cut at the middle of some thousand rows. Whether a feature matters is asked of
    the formula.
    """
    found = spec.resolved()
    if spec.cut is None:
        return found
    return TargetRule((Threshold.settled(spec.population_values(), found.shares[1]),), found.shares)


def active_columns(spec: GeneratorSpec) -> tuple[int, ...]:
    """Return the columns of the formula that change the target, in order.

    Examples
    --------
    >>> from dataclasses import replace
    >>> product = GeneratorSpec("mul(X3, mul(X1, X1))")
    >>> active_columns(product), active_columns(replace(product, positive=0.2))
    ((3,), (1, 3))
    """
    return tuple(
        j for j, found in feature_influences(spec, settled_target(spec)).items() if found.value > 0
    )


@lru_cache(maxsize=256)
def feature_influences(spec: GeneratorSpec, target: TargetRule) -> Mapping[int, Estimate]:
    """Return how often the class changes when a feature of the formula is drawn again, given all others.

    For regression it is the part of the variance that goes with the feature. A feature whose value
    never changed the target on more than 60,000 rows has influence 0.

    Examples
    --------
    >>> spec = GeneratorSpec("mul(X0, mul(X1, X1))", n_features=3)
    >>> {j: round(found.value, 3) for j, found in feature_influences(spec, spec.resolved()).items()}
    {0: 0.5, 1: 0.0}
    """
    d, rho = spec.n_features, spec.correlation
    found: dict[int, list[float]] = {j: [] for j in spec.expression.features}
    for seed in range(SCRAMBLINGS):
        drawn = ndtri(uniforms(REDRAWN_ROWS, d + 2, seed))
        rows = np.asfortranarray(
            np.sqrt(1 - rho) * drawn[:, :d] + np.sqrt(rho) * drawn[:, d : d + 1]
        )
        values = spec.expression.evaluate(rows)
        for j in found:
            given, spread = _given_others(rows, j, rho)
            again = rows.copy(order="F")
            again[:, j] = given + spread * drawn[:, d + 1]
            found[j].append(changed_target(target, values, spec.expression.evaluate(again)))
    return {j: Estimate.of(values) for j, values in found.items()}


def _given_others(rows: FloatArray, j: int, rho: float) -> tuple[FloatArray, float]:
    """Return mean and standard deviation of a column given all others."""
    d = rows.shape[1]
    others = 1 + (d - 2) * rho if d > 1 else 1.0
    mean = rho * (rows.sum(axis=1) - rows[:, j]) / others
    return mean, float(np.sqrt(1 - (d - 1) * rho**2 / others))


def shapley_shares(
    spec: GeneratorSpec, target: TargetRule, active: Sequence[int]
) -> dict[int, Estimate]:
    """Return the Shapley effect of every active feature on the true function; together they are 1.

    The worth of a set of features is the variance of the mean given them (of class memberships, or
    of the value). It is found from two rows that share these features and have all others drawn
    anew, given them.

    Examples
    --------
    >>> spec = GeneratorSpec("add(mul(X0, 2.0), X1)", n_features=2, target="regression")
    >>> {j: round(share.value, 2) for j, share in shapley_shares(spec, spec.resolved(), (0, 1)).items()}
    {0: 0.8, 1: 0.2}
    """
    players = tuple(active)
    if len(players) < 2:
        return {j: Estimate(1.0) for j in players}
    exact = len(players) <= MOST_EXACT
    found = [
        _shares(spec, target, players, seed, exact=exact) for seed in range(SHAPLEY_SCRAMBLINGS)
    ]
    return {j: Estimate.of([shares[place] for shares in found]) for place, j in enumerate(players)}


def _shares(
    spec: GeneratorSpec, target: TargetRule, players: tuple[int, ...], seed: int, *, exact: bool
) -> FloatArray:
    m = len(players)
    n_sets = 2**m if exact else ORDERS * m
    n = int(
        np.clip(
            2 ** int(np.log2(SHAPLEY_EVALUATIONS / (n_sets * SHAPLEY_SCRAMBLINGS))), 2**9, 2**14
        )
    )
    worth = _worth(
        spec, target, players, uniforms(n, 2 * (len(spec.expression.features) + 1), seed)
    )
    gains = np.zeros(m)
    if exact:
        known = [worth(subset) for subset in range(2**m)]
        for place in range(m):
            for subset in range(2**m):
                if not subset >> place & 1:
                    weight = 1 / (m * comb(m - 1, subset.bit_count()))
                    gains[place] += weight * (known[subset | 1 << place] - known[subset])
    else:
        rng = np.random.default_rng(seed)
        for _ in range(ORDERS):
            subset, before = 0, worth(0)
            for place in rng.permutation(m).tolist():
                subset |= 1 << place
                after = worth(subset)
                gains[place] += (after - before) / ORDERS
                before = after
    return np.asarray(gains / gains.sum())


def _worth(
    spec: GeneratorSpec, target: TargetRule, players: tuple[int, ...], drawn: FloatArray
) -> Callable[[int], float]:
    """Return a function that gives the worth of a set of players, as bits, up to a constant."""
    used, rho = spec.expression.features, spec.correlation
    normal = ndtri(drawn)
    first, second = normal[:, : len(used) + 1], normal[:, len(used) + 1 :]
    own = np.sqrt(1 - rho)
    columns = {j: own * first[:, k] + np.sqrt(rho) * first[:, -1] for k, j in enumerate(used)}

    def evaluated(values: Mapping[int, FloatArray]) -> FloatArray:
        rows = np.zeros((len(normal), spec.n_features), order="F")
        for j, column in values.items():
            rows[:, j] = column
        return spec.expression.evaluate(rows)

    before = evaluated(columns)

    def worth(subset: int) -> float:
        kept = [j for place, j in enumerate(players) if subset >> place & 1]
        # Given the kept columns the common factor is normal, and all other columns are independent
        # given the factor.
        precision = 1 + len(kept) * rho / (1 - rho)
        known = sum((columns[j] for j in kept), np.zeros(len(normal)))
        factor = np.sqrt(rho) / (1 - rho) * known / precision + second[:, -1] / np.sqrt(precision)
        fresh = {j: own * second[:, k] + np.sqrt(rho) * factor for k, j in enumerate(used)}
        after = evaluated({j: columns[j] if j in kept else fresh[j] for j in used})
        if target.shares:
            return float((target.classes(before) == target.classes(after)).mean())
        return float(-((before - after) ** 2).mean() / 2)

    return worth
