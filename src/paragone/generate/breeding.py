"""Breeding: the candidates of a search with their targets on its rows; what is of no use or known is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.data import Dataset, Expression
from paragone.errors import InputError
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.formulas import Grammar, reason_to_reject
from paragone.generate.thresholds import Threshold
from paragone.validation import FloatArray

FOLD_SHARE = 0.5
"""The share of random formulas that fold one operator over many features."""
MOST_SQUARES = 0.5
"""Where one row of a part holds so much of the sum of squares, R2 is about that row."""
MAX_DRAWS = 50
"""Draws per wanted candidate before a generation continues with fewer."""


def searched_rows(spec: EvolveSpec, formula: str) -> Dataset:
    """Return the rows of the search with the labels of a formula, of the kind of data that a spec declares.

    The features are the same for every formula. Redundant columns, which follow from the formula,
    come with the races.

    Examples
    --------
    >>> spec = EvolveSpec("noisy", n_train=60, n_test=60, n_features=3, data={"noise": 0.2, "irrelevant": 2})
    >>> searched_rows(spec, "mul(X0, X1)").X.shape
    (120, 5)
    """
    generator = replace(spec.generator(formula), redundant=0)
    return generator.parts(spec.n_train, spec.n_test, spec.seed)


Parents = Callable[[np.random.Generator], tuple[Expression, Expression] | None]


@dataclass(frozen=True, eq=False)
class Child:
    """A formula with its target on the rows of the search: labels, or numbers."""

    expression: Expression
    labels: NDArray[Any]


@dataclass(eq=False)
class Breeder:
    """Makes the candidates of a search.

    Parameters
    ----------
    spec : EvolveSpec
        Sizes, shares and the grammar.
    X : ndarray
        The rows of the search; train rows first.
    """

    spec: EvolveSpec
    X: FloatArray
    counts: dict[str, int] = field(
        default_factory=lambda: {"seen": 0, "rejected": 0, "duplicates": 0}
    )
    _met: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.grammar = Grammar(self.spec.n_features, self.spec.constants, self.spec.max_size)

    def children(self, rng: np.random.Generator, parents: Parents) -> list[Child]:
        """Draw until a batch of usable, new candidates is there."""
        children: list[Child] = []
        for _ in range(MAX_DRAWS * self.spec.batch):
            if len(children) == self.spec.batch:
                break
            expression = self._drawn(rng, parents)
            self.counts["seen"] += 1
            labels, fate = self.labelled(expression)
            if labels is None:
                self.counts[fate] += 1
            else:
                children.append(Child(expression, labels))
        return children

    def labelled(self, expression: Expression) -> tuple[NDArray[Any] | None, str]:
        """Return a formula's labels or numbers, or the reason why it is not a candidate."""
        n_train = self.spec.n_train
        labels = self._declared_labels(expression) if self.spec.data else self._halved(expression)
        if labels is None or not self._is_usable(labels):
            return None, "rejected"
        key = same_target_key(labels[:n_train])
        if key in self._met:
            return None, "duplicates"
        self._met.add(key)
        return labels, ""

    def _is_usable(self, labels: NDArray[Any]) -> bool:
        """Say whether every class has its rows; of numbers, whether no row alone decides how they are scored."""
        n_train, least = self.spec.n_train, self.spec.smallest_class
        if self.spec.target == "binary":
            share = float(labels[n_train:].mean())
            return min(share, 1 - share) >= least
        if self.spec.target == "regression":
            return (
                max(_largest_square(labels[:n_train]), _largest_square(labels[n_train:]))
                < MOST_SQUARES
            )
        generator = self.spec.generator("X0")
        wanted = np.array(generator.shares or (1 / generator.n_classes,) * generator.n_classes)
        shares = np.bincount(labels[n_train:], minlength=len(wanted)) / len(labels[n_train:])
        return bool((shares >= 2 * least * wanted).all())

    def _halved(self, expression: Expression) -> NDArray[np.uint8] | None:
        """Cut a formula in the middle of the train rows, the quick way for noise-free balanced data."""
        values, n_train = expression.evaluate(self.X), self.spec.n_train
        if reason_to_reject(values[:n_train]) or not np.isfinite(values).all():
            return None
        return Threshold.halving(values[:n_train]).label(values)

    def _declared_labels(self, expression: Expression) -> NDArray[Any] | None:
        """Label the rows of the search as the declared kind of data does; None where a formula cannot be made so."""
        try:
            made = searched_rows(self.spec, str(expression)).y
        except InputError:
            return None
        return np.asarray(made, dtype=np.float64 if self.spec.target == "regression" else np.uint8)

    def _drawn(self, rng: np.random.Generator, parents: Parents) -> Expression:
        pair = None if rng.random() < self.spec.random_share else parents(rng)
        if pair is None:
            return (
                self.grammar.fold(rng)
                if rng.random() < FOLD_SHARE
                else self.grammar.half_and_half(rng)
            )
        return self.grammar.breed(rng, *pair)


DECIMALS = 6


def same_target_key(target: NDArray[Any]) -> bytes:
    """Return what two formulas have in common that are one candidate: equal labels up to the names of the classes.

    Numbers count to six decimals, up to shift, scale and sign.

    Examples
    --------
    >>> same_target_key(np.array([0, 1, 1], dtype=np.uint8)) == same_target_key(np.array([1, 0, 0], dtype=np.uint8))
    True
    >>> same_target_key(np.array([0.0, 1.0, 3.0])) == same_target_key(np.array([5.0, 3.0, -1.0]))
    True
    """
    if target.dtype == np.float64:
        centred = target - target.mean()
        steps = np.rint(centred / float(np.sqrt(np.mean(centred**2))) * 10**DECIMALS).astype(
            np.int64
        )
        turned = steps[np.flatnonzero(steps)[0]] < 0
        return bytes((-steps if turned else steps).tobytes())
    if target.max() < 2:
        return np.packbits(target ^ target[0]).tobytes()
    # Classes are numbered in the order in which they are met.
    classes, first, place = np.unique(target, return_index=True, return_inverse=True)
    numbers = np.empty(len(classes), dtype=np.uint8)
    numbers[np.argsort(first)] = np.arange(len(classes))
    return bytes(numbers[place].tobytes())


def _largest_square(values: FloatArray) -> float:
    """Return the part of the sum of squares that one row holds; 1 where all rows are alike."""
    squares = (values - values.mean()) ** 2
    return float(squares.max() / squares.sum()) if squares.sum() > 0 else 1.0
