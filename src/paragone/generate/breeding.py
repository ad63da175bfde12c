"""Breeding: new candidates from random formulas and from elites; what is no dataset, or was met before, is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from paragone.data.digen import Expression
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.random_trees import Grammar
from paragone.generate.rejection import reason_to_reject
from paragone.generate.threshold import Threshold
from paragone.validation import FloatArray

CROSSOVER_SHARE = 0.7
FOLD_SHARE = 0.5
"""The share of random formulas that fold one operator over many features."""
MAX_DRAWS = 50
"""Draws a wanted candidate may take before a generation goes on with fewer."""

Parents = Callable[[np.random.Generator], tuple[Expression, Expression] | None]


@dataclass(frozen=True, eq=False)
class Child:
    """A formula with its labels on the rows of the search."""

    expression: Expression
    labels: NDArray[np.uint8]


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
    counts: dict[str, int] = field(default_factory=lambda: {"seen": 0, "rejected": 0, "duplicates": 0})
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

    def labelled(self, expression: Expression) -> tuple[NDArray[np.uint8] | None, str]:
        """Return a formula's labels, or the reason why it is no candidate."""
        values, n_train = expression.evaluate(self.X), self.spec.n_train
        if reason_to_reject(values[:n_train]) or not np.isfinite(values).all():
            return None, "rejected"
        labels = Threshold.halving(values[:n_train]).label(values)
        share = float(labels[n_train:].mean())
        if min(share, 1 - share) < self.spec.smallest_class:
            return None, "rejected"
        train = labels[:n_train]
        key = np.packbits(train ^ train[0]).tobytes()
        if key in self._met:
            return None, "duplicates"
        self._met.add(key)
        return labels, ""

    def _drawn(self, rng: np.random.Generator, parents: Parents) -> Expression:
        pair = None if rng.random() < self.spec.random_share else parents(rng)
        if pair is None:
            return self.grammar.fold(rng) if rng.random() < FOLD_SHARE else self.grammar.half_and_half(rng)
        if rng.random() < CROSSOVER_SHARE:
            return self.grammar.cross(rng, *pair)
        return self.grammar.mutate(rng, pair[0])
