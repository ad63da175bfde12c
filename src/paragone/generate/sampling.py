"""GeneratorSpec: a formula as a source of unlimited rows, of all kinds of data that it can be made into.

Thresholds say where a formula's values are cut into classes, on rows that stand for the population.
A variant of a dataset is a source without end too, for truth sheets and for proofs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, lru_cache
from itertools import chain, combinations, repeat
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from typing_extensions import override

from paragone.data import Dataset
from paragone.errors import InputError, unknown_name
from paragone.generate.expressions import Expression, Feature
from paragone.generate.sets import DatasetVariant, draw_variant, variant_named
from paragone.hashing import digest
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


SAME_VALUE = 1e-9


def changed_target(target: TargetRule, values: FloatArray, again: FloatArray) -> float:
    """Return the share of changed classes, or half of the mean squared change in units of the variance.

    Examples
    --------
    >>> changed_target(TargetRule((Threshold(0.5),), (0.5, 0.5)), np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    0.5
    """
    if target.shares:
        return float((target.classes(values) != target.classes(again)).mean())
    moved = (values - again) / target.spread
    # What differs in rounding only is the same value.
    return float(np.where(np.abs(moved) > SAME_VALUE, moved, 0.0).var() / 2)


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


MOST_ENTRIES = 500_000_000
"""Of one sample: 4 GB."""
SHARE_TOLERANCE = 0.02
"""How far a class may be from its declared share, where values of the formula tie; at most half of the share."""
SMALLEST_SHARE = 0.01
"""A class with a smaller share of the population is not one to learn, where no share was asked for."""
LARGEST_SQUARE = 0.2
"""Where one row of the population holds a larger part of the sum of squares, the variance is not known, or infinite."""


@lru_cache(maxsize=4096)
def _parsed(formula: str) -> Expression:
    """Read a formula once: truth sheets ask for it thousands of times."""
    return Expression.parse(formula)


TargetKind: TypeAlias = Literal["binary", "multiclass", "regression"]
Part: TypeAlias = Literal["train", "test"]
Role: TypeAlias = Literal["formula", "redundant", "irrelevant"]


class Drawn(NamedTuple):
    """Rows of a generator: what a method is shown, the target, and the groups where there are some."""

    X: FloatArray
    y: NDArray[Any]
    groups: IntArray | None


@dataclass(frozen=True)
class GeneratorSpec:
    """A formula and all that turns it into a dataset. Search, proof, duel and `sample` take the same one.

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
        The share of labels that are drawn again, with the shares of the classes, so that the shares
        stay what they are. For regression the standard deviation of normal noise, in units of the
        value's own.
    positive : float, optional
        The share of class 1 in the population. Without it the values are cut in the middle or,
        where they tie there, as near to it as the ties let.
    n_classes : int, default=3
        Classes of a multiclass target: parts of the population by the formula's value.
    target : {"binary", "multiclass", "regression"}, default="binary"
        What the value becomes.
    categorical : tuple of int
        Columns shown as the number of a level: parts of the population of equal size. The label
        follows from the value itself, so that a category hides something.
    missing : float, default=0.0
        The share of entries that are shown as NaN.
    shares : tuple of float
        The shares of the classes of a multiclass target, lowest values first; equal where none are
        given.
    redundant : int, default=0
        Columns added behind those of the formula that follow from two of them (their sum or
        difference): they say nothing new, and are missing where one of the two is.
    levels : int, default=4
        Of every categorical column.
    nominal : bool, default=False
        Whether the numbers of levels are shuffled, so that their order says nothing.
    missing_by : {"chance", "value"}, default="chance"
        Whether every entry has the same chance to be missing, or larger values are missing more
        often (not at random): the chance is then ``2 * missing * Phi(value)``.
    drift : float, default=0.0
        How far the columns of the formula are shifted, in standard deviations, in the test part.
        The formula and its cuts stay.
    group_size : int, default=0
        Rows of each group; 0 for no groups. Train and test part have no group in common.
    group_share : float, default=0.5
        The part of the variance that rows of a group share: of their features, and of the noise of
        their target.
    cut : float, optional
        Cut the values of a binary target here, whatever share that gives.
    inclusive : bool, default=True
        Whether values at this ``cut`` are of class 1.

    Examples
    --------
    >>> spec = GeneratorSpec("mul(X0, X1)", n_features=2)
    >>> spec.sample(500, seed=1)
    Dataset 'mul(X0, X1)': 500 samples x 2 features, classification, 2 classes
    >>> GeneratorSpec("gt(X0, X1)", positive=0.1).sample(500, seed=1)
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: gt(X0, X1) cannot be cut into classes of 0.9 and 0.1: equal values
    are not split, ...
    """

    formula: str
    n_features: int = 10
    correlation: float = 0.0
    irrelevant: int = 0
    noise: float = 0.0
    positive: float | None = None
    n_classes: int = 3
    target: TargetKind = "binary"
    categorical: tuple[int, ...] = field(default=())
    missing: float = 0.0
    shares: tuple[float, ...] = field(default=())
    redundant: int = 0
    levels: int = 4
    nominal: bool = False
    missing_by: Literal["chance", "value"] = "chance"
    drift: float = 0.0
    group_size: int = 0
    group_share: float = 0.5
    cut: float | None = None
    inclusive: bool = True

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "categorical", tuple(sorted(set(self.categorical))))
        set_field(self, "shares", tuple(map(float, self.shares)))
        features = self.expression.features
        if features and features[-1] >= self.n_features:
            raise InputError(
                f"the formula uses X{features[-1]}, but n_features is {self.n_features}"
            )
        for name, low, high in (("correlation", 0, 1), ("missing", 0, 1), ("group_share", 0, 1)):
            if not low <= getattr(self, name) < high:
                raise InputError(
                    f"{name} must be from {low} to below {high}, it is {getattr(self, name)}"
                )
        for name, least in (("n_features", 1), ("irrelevant", 0), ("redundant", 0), ("levels", 2), ("group_size", 0),
                            ("n_classes", 2)):  # fmt: skip
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, it is {getattr(self, name)}")
        if self.target not in ("binary", "multiclass", "regression"):
            raise InputError(
                f"target is 'binary', 'multiclass' or 'regression', not {self.target!r}"
            )
        if (
            not np.isfinite(self.noise)
            or self.noise < 0
            or (self.noise > 1 and self.target != "regression")
        ):
            raise InputError(f"noise must be from 0 to 1, it is {self.noise}")
        if self.missing_by not in ("chance", "value"):
            raise InputError(f"missing_by is 'chance' or 'value', not {self.missing_by!r}")
        if self.missing_by == "value" and self.missing > 0.5:
            raise InputError(
                f"missing by value reaches at most half of the entries, not {self.missing}"
            )
        if not np.isfinite(self.drift):
            raise InputError(f"drift must be a number, it is {self.drift}")
        wrong = [column for column in self.categorical if not 0 <= column < self.n_features]
        if wrong:
            raise InputError(
                f"categorical column {wrong[0]} is not among the {self.n_features} features"
            )
        if self.redundant and not self._sources:
            raise InputError(
                "redundant columns follow from columns of numbers, and every column here is a"
                " category"
            )
        self._check_classes()

    def _check_classes(self) -> None:
        if self.positive is not None and not 0 < self.positive < 1:
            raise InputError(f"positive must lie between 0 and 1, it is {self.positive}")
        for name, given in (("positive", self.positive is not None), ("cut", self.cut is not None)):
            if given and self.target != "binary":
                raise InputError(f"{name} is for a binary target, this one is {self.target}")
        if self.positive is not None and self.cut is not None:
            raise InputError("positive and cut say the same thing twice: give one of them")
        if self.shares and self.target != "multiclass":
            raise InputError(
                f"shares are of the classes of a multiclass target, this one is {self.target}"
            )
        if self.shares and len(self.shares) != self.n_classes:
            raise InputError(f"{len(self.shares)} shares are given for {self.n_classes} classes")
        if self.shares and not (min(self.shares) > 0 and abs(sum(self.shares) - 1) < 1e-9):
            raise InputError(
                f"shares are positive and add up to 1; these add up to {sum(self.shares):g}"
            )

    @classmethod
    def of(cls, declared: Mapping[str, Any]) -> Self:
        """Read a declaration as `declaration` gives it, or as it stands in a file.

        Examples
        --------
        >>> GeneratorSpec.of({"formula": "X0", "categorical": [0]}).categorical
        (0,)
        """
        known = [item.name for item in fields(cls)]
        for key in declared:
            if key not in known:
                raise unknown_name("key of a generator", key, known)
        if "formula" not in declared:
            raise InputError("a generator needs a formula")
        values: dict[str, Any] = {
            key: tuple(v) if isinstance(v, list) else v for key, v in declared.items()
        }
        return cls(**values)

    def declaration(self) -> dict[str, Any]:
        """Return what differs from the defaults, as plain values; the formula comes first.

        Examples
        --------
        >>> GeneratorSpec("X0", n_features=3, noise=0.1).declaration()
        {'formula': 'X0', 'n_features': 3, 'noise': 0.1}
        """
        changed = {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if getattr(self, item.name) != item.default
        }
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in changed.items()
        }

    @property
    def identity(self) -> str:
        """A hash of the declaration: equal for equal generators, on any machine.

        Examples
        --------
        >>> GeneratorSpec("X0").identity == GeneratorSpec("X0", noise=0.0).identity != GeneratorSpec("X1").identity
        True
        """
        return digest({**asdict(self), "formula": str(self.expression)})[:16]

    @property
    def expression(self) -> Expression:
        """The formula."""
        return _parsed(self.formula)

    @property
    def roles(self) -> tuple[Role, ...]:
        """What every column of a sample is: of the formula, redundant or irrelevant."""
        counts: tuple[tuple[Role, int], ...] = (
            ("formula", self.n_features),
            ("redundant", self.redundant),
            ("irrelevant", self.irrelevant),
        )
        return tuple(chain.from_iterable(repeat(role, count) for role, count in counts))

    def resolved(self) -> TargetRule:
        """Return cuts and shares of the classes, or the spread of numbers; refuse what cannot be made."""
        return _resolved(self)

    def threshold(self) -> Threshold:
        """Return the cut of a binary target."""
        if self.target != "binary":
            raise InputError(f"one threshold is for a binary target, this one is {self.target}")
        return self.resolved().cuts[0]

    def population_values(self) -> FloatArray:
        """Return the formula's value on rows that stand evenly for the population; refuse a formula without any."""
        values = even_values(self.expression, self.n_features, self.correlation)
        if not np.isfinite(values).all():
            raise InputError(
                f"the formula {self.formula} is not finite on every row of the population"
            )
        if np.ptp(values) == 0:
            raise InputError(
                f"the formula {self.formula} is {values[0]:g} on every row: there is nothing to"
                " learn"
            )
        return values

    def sample(
        self, n: int, seed: int, *, name: str | None = None, part: Part = "train"
    ) -> Dataset:
        """Draw a dataset of fresh rows.

        Parameters
        ----------
        n : int
            Rows. Those of a smaller sample come first in a larger one.
        seed : int
            The same seed gives the same rows. What is changed about the generator changes nothing
            else: with more noise the features are the same, with more irrelevant columns the labels
            are.
        name : str, optional
            The dataset's name; the formula where it is not given.
        part : {"train", "test"}, default="train"
            Rows of the two parts are independent; those of the test part have drifted, where there
            is drift.

        Returns
        -------
        Dataset
            With ``X``, ``y`` and, where there are groups, ``groups``.
        """
        return self._dataset(self.draw(n, seed, part), name, ())

    def parts(self, n_train: int, n_test: int, seed: int, *, name: str | None = None) -> Dataset:
        """Draw one dataset whose first rows are its train part, and the rest its test part.

        Examples
        --------
        >>> both = GeneratorSpec("X0", drift=2.0).parts(500, 500, seed=1)
        >>> bool(both.X[~both.train_part].mean() > both.X[both.train_part].mean() + 1.9)
        True
        """
        if n_test < 1:
            raise InputError(f"n_test must be at least 1, it is {n_test}")
        drawn = self._drawn(n_train, n_test, seed, stream=0)
        return self._dataset(drawn, name, np.arange(n_train + n_test) < n_train)

    def draw(self, n: int, seed: int, part: Part = "train") -> Drawn:
        """Draw rows as arrays; see `sample`.

        Examples
        --------
        >>> X, y, groups = GeneratorSpec("X0", n_features=2, group_size=5).draw(20, seed=1)
        >>> X.shape, y.shape, len(set(groups.tolist()))
        ((20, 2), (20,), 4)
        """
        if part not in ("train", "test"):
            raise InputError(f"part is 'train' or 'test', not {part!r}")
        return (
            self._drawn(n, 0, seed, stream=0)
            if part == "train"
            else self._drawn(0, n, seed, stream=1)
        )

    def _drawn(self, n_train: int, n_test: int, seed: int, stream: int) -> Drawn:
        n = n_train + n_test
        if n < 1:
            raise InputError(f"n must be at least 1, it is {n}")
        width = self.n_features + self.redundant + self.irrelevant
        if n * width > MOST_ENTRIES:
            raise InputError(
                f"{n:,} rows of {width:,} columns are more than {MOST_ENTRIES:,} entries"
            )

        # Each thing about a row has a stream of its own, so that rows stay the same when another
        # thing changes.
        def stream_of(*what: int) -> np.random.Generator:
            return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream, *what)))

        groups = self._groups(n_train, n_test)
        # Groups of the test part have negative numbers: here they come after those of the train
        # part.
        places = None if groups is None else np.where(groups < 0, groups.max() - groups, groups)

        def normals(rng: np.random.Generator, columns: int, what: int) -> FloatArray:
            own = rng.normal(size=(n, columns))
            if places is None:
                return own
            common = stream_of(what).normal(size=(int(places.max()) + 1, columns))[places]
            return np.asarray(
                np.sqrt(1 - self.group_share) * own + np.sqrt(self.group_share) * common
            )

        rows = normals(
            np.random.default_rng(seed) if stream == 0 else stream_of(0), self.n_features, 1
        )
        if self.correlation:
            rows = np.sqrt(1 - self.correlation) * rows + np.sqrt(self.correlation) * normals(
                stream_of(2), 1, 3
            )
        rows[n_train:] += self.drift
        y = self._labelled(self.expression.evaluate(rows), normals(stream_of(4), 2, 5))
        chances = [stream_of(6, j) for j in range(self.n_features + self.irrelevant)]
        irrelevant = [stream_of(7, j).normal(size=n) for j in range(self.irrelevant)]
        return Drawn(
            self._shown(rows, np.reshape(irrelevant, (self.irrelevant, n)).T, chances), y, groups
        )

    def _groups(self, n_train: int, n_test: int) -> IntArray | None:
        if not self.group_size:
            return None
        # Groups of the test part count down from -1: the two parts never share one.
        return np.concatenate(
            [np.arange(n_train) // self.group_size, -1 - np.arange(n_test) // self.group_size]
        )

    def _labelled(self, values: FloatArray, noise: FloatArray) -> NDArray[Any]:
        found = self.resolved()
        if not np.isfinite(values).all():
            raise InputError(f"the formula {self.formula} is not finite on every row of the sample")
        if self.target == "regression":
            return values + self.noise * found.spread * noise[:, 0]
        labels = found.classes(values)
        if self.noise:
            # A label drawn with the shares of the classes leaves the shares as they are; a uniform
            # one does not.
            drawn = np.searchsorted(np.cumsum(found.shares)[:-1], ndtr(noise[:, 1]), side="right")
            labels = np.where(ndtr(noise[:, 0]) < self.noise, drawn, labels)
        return labels

    def _shown(
        self, rows: FloatArray, irrelevant: FloatArray, chances: Sequence[np.random.Generator]
    ) -> FloatArray:
        shown = np.hstack([rows, irrelevant])
        for column in self.categorical:
            shown[:, column] = self.codes(column)[np.digitize(rows[:, column], self.edges)]
        if self.missing:
            chance = self.missing_chance(np.hstack([rows, irrelevant]))
            for column, rng in enumerate(chances):
                shown[rng.random(len(rows)) < chance[:, column], column] = np.nan
        shown, irrelevant = shown[:, : self.n_features], shown[:, self.n_features :]
        redundant = [
            (shown[:, a] + sign * shown[:, b]) / np.sqrt(2)
            for a, b, sign in self.redundant_sources()
        ]
        return np.column_stack([shown, *redundant, irrelevant])

    @property
    def edges(self) -> FloatArray:
        """Where a column of numbers is cut into levels."""
        return np.asarray(ndtri(np.arange(1, self.levels) / self.levels))

    def codes(self, column: int) -> FloatArray:
        """Return the number under which each level of a column is shown, lowest values first."""
        if not self.nominal:
            return np.arange(self.levels, dtype=np.float64)
        return (
            np.random.default_rng([POPULATION_SEED, column])
            .permutation(self.levels)
            .astype(np.float64)
        )

    def missing_chance(self, values: FloatArray) -> FloatArray:
        """Return the chance of entries with these values to be missing."""
        return (
            np.full(np.shape(values), self.missing)
            if self.missing_by == "chance"
            else 2 * self.missing * ndtr(values)
        )

    @property
    def _sources(self) -> list[int]:
        """Columns that redundant ones follow from: numbers that the formula uses, or numbers at all."""
        used = [column for column in self.expression.features if column not in self.categorical]
        return used or [
            column for column in range(self.n_features) if column not in self.categorical
        ]

    def redundant_sources(self) -> tuple[tuple[int, int, float], ...]:
        """Return, for every redundant column, the two columns that it is made of and the sign of the second.

        Examples
        --------
        >>> GeneratorSpec("mul(X0, X2)", redundant=2).redundant_sources()
        ((0, 2, 1.0), (0, 2, -1.0))
        """
        sources = self._sources if self.redundant else [0]
        pairs = list(combinations(sources, 2)) or [(sources[0], sources[0])]
        found = []
        for place in range(self.redundant):
            a, b = pairs[place // 2 % len(pairs)]
            # Of one column alone the difference is nothing.
            found.append((a, b, 1.0 if place % 2 == 0 or a == b else -1.0))
        return tuple(found)

    def _dataset(self, drawn: Drawn, name: str | None, train: Any) -> Dataset:
        task: Any = "regression" if self.target == "regression" else "classification"
        expected = len(self.resolved().shares)
        if expected and len(np.unique(drawn.y)) < expected:
            shares = ", ".join(f"{share:.3g}" for share in self.resolved().shares)
            raise InputError(
                f"{len(drawn.y)} rows do not hold all {expected} classes of shares {shares}: draw"
                " more rows"
            )
        names = tuple(f"X{j}" for j in range(drawn.X.shape[1]))
        return Dataset(
            name or self.formula,
            drawn.X,
            drawn.y,
            task,
            groups=drawn.groups,
            feature_names=names,
            target_names=("target",),
            train_part=np.asarray(train) if len(train) else None,
        )


@lru_cache(maxsize=1024)
def _resolved(spec: GeneratorSpec) -> TargetRule:
    values = spec.population_values()
    if spec.target == "regression":
        return TargetRule(spread=_spread(spec, values))
    cuts, wanted = _cuts(spec, values)
    target = TargetRule(cuts)
    counts = np.bincount(target.classes(values), minlength=len(cuts) + 1)
    shares = tuple(float(count) / len(values) for count in counts)
    if wanted:
        off = [
            abs(got - asked) > min(SHARE_TOLERANCE, asked / 2)
            for got, asked in zip(shares, wanted, strict=True)
        ]
        if any(off):
            raise InputError(
                f"{spec.formula} cannot be cut into classes of {_listed(wanted)}: equal values are"
                f" not split, and the nearest cut gives {_listed(shares)}"
            )
    elif min(shares) < SMALLEST_SHARE and spec.cut is None:
        raise InputError(
            f"{spec.formula} has no middle to be cut at: the classes would have shares of"
            f" {_listed(shares)}"
        )
    if min(shares) == 0:
        raise InputError(f"{spec.formula} cut at {spec.cut:g} has one class only")
    return TargetRule(cuts, shares)


def _cuts(
    spec: GeneratorSpec, values: FloatArray
) -> tuple[tuple[Threshold, ...], tuple[float, ...]]:
    """Return the cuts between the classes, and the shares that were asked for."""
    if spec.target == "multiclass":
        wanted = spec.shares or (1 / spec.n_classes,) * spec.n_classes
        above = 1 - np.cumsum(wanted)[:-1]
        return tuple(Threshold.settled(values, float(share)) for share in above), wanted
    if spec.cut is not None:
        return (Threshold(spec.cut, spec.inclusive),), ()
    if spec.positive is None:
        return (Threshold.settled(values),), ()
    return (Threshold.settled(values, spec.positive),), (1 - spec.positive, spec.positive)


def _spread(spec: GeneratorSpec, values: FloatArray) -> float:
    squares = (values - values.mean()) ** 2
    largest = float(squares.max() / squares.sum())
    if largest > LARGEST_SQUARE:
        raise InputError(
            f"{spec.formula} makes no regression: one of {len(values):,} rows holds {largest:.0%}"
            " of the sum of squares, so that scores would be about that row; bound it by min"
            " and max"
        )
    return float(values.std())


def _listed(shares: tuple[float, ...]) -> str:
    shown = [f"{share:.3g}" for share in shares]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


@dataclass(frozen=True)
class VariantGenerator(GeneratorSpec):
    """A formula whose rows are those of a variant: the same cut, other shares of the classes or noisy labels.

    Parameters
    ----------
    variant : str
        Its name; see `paragone.data.VARIANTS`.

    Examples
    --------
    >>> product = GeneratorSpec("mul(X0, X1)", n_features=2, cut=0.5)
    >>> half = VariantGenerator.of_variant(product, variant_named("balanced"))
    >>> float(half.parts(100, 50, seed=1).y.mean()), half.resolved().shares
    (0.5, (0.5, 0.5))
    """

    variant: str = ""

    @classmethod
    def of_variant(cls, generator: GeneratorSpec, variant: DatasetVariant) -> VariantGenerator:
        """Return the source of a variant's rows; one of other targets or with kinds of data of its own has none."""
        if generator.target != "binary":
            raise InputError(
                f"{generator.formula} has a {generator.target} target: variants are for two classes"
                " only"
            )
        cut = generator.threshold()
        plain = GeneratorSpec(
            generator.formula, generator.n_features, cut=cut.value, inclusive=cut.inclusive
        )
        kinds = [key for key in generator.declaration() if key not in plain.declaration()]
        if kinds:
            raise InputError(
                f"{generator.formula} has kinds of data of its own ({', '.join(kinds)}), and so no"
                " variants"
            )
        return cls(
            generator.formula,
            generator.n_features,
            noise=variant.noise,
            cut=cut.value,
            inclusive=cut.inclusive,
            variant=variant.name,
        )

    @override
    def resolved(self) -> TargetRule:
        found, positive = super().resolved(), variant_named(self.variant).positive
        return found if positive is None else replace(found, shares=(1 - positive, positive))

    @override
    def _drawn(self, n_train: int, n_test: int, seed: int, stream: int) -> Drawn:
        # The train part has the seed itself, so that a sample of it is the dataset that
        # `paragone.load` makes.
        drawn = [
            draw_variant(
                self.expression,
                (self.threshold().value, self.threshold().inclusive),
                (n, self.n_features),
                variant_named(self.variant),
                np.random.SeedSequence(seed, spawn_key=spawn_key),
            )
            for n, spawn_key in ((n_train, ()), (n_test, (1,)))
            if n
        ]
        if not drawn:
            raise InputError("n must be at least 1, it is 0")
        return Drawn(
            np.vstack([X for X, _ in drawn]),
            np.concatenate([y for _, y in drawn]).astype(np.int64),
            None,
        )
