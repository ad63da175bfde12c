"""Concepts: formulas that are one classification problem under other names, signs and scales.

Two formulas are the same concept when their labels agree, up to renaming features, turning features' signs, swapping
the classes and any monotone transform of the value. On standard normal features none of these changes how hard the
problem is for a method that is fair to features and signs, so a collection of one concept is one dataset many times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from paragone.data.digen import Expression
from paragone.generate.threshold import Threshold, halving_threshold, population
from paragone.validation import FloatArray

PROBE_ROWS = 4096
PROBE_SEED = 314_159
MAX_PLACED = 5
AGREEMENT = 0.98
"""Sets of 1000 rows are cut up to 2 % beside the population's middle, so that one concept agrees to about 98 %.

The count of concepts depends on it, and on the cut. The DIGEN sets with their own cuts are 20 concepts from .975 to
.985, 19 from .96 to .97 and 23 at .99. Cut at the population's middle they are 19 from .96 to .99: two of them differ
in nothing but where 1000 rows happened to be cut."""
NEGLIGIBLE = 0.005
"""A feature whose exchange changes a smaller share of the labels than this takes no place in a signature."""


@dataclass(frozen=True, eq=False)
class Signature:
    """A formula's labels on the probe rows, for every placement of its features.

    Parameters
    ----------
    placed : tuple of int
        The features that are permuted and turned: those that matter, at most five, most influential first.
    labels : ndarray of shape (n_placements, n_rows)
        Labels -1 and 1.
    """

    placed: tuple[int, ...]
    labels: NDArray[np.int8]

    @property
    def key(self) -> bytes:
        """The lexicographic minimum of the packed labels over placements and the label flip."""
        packed = np.packbits(np.vstack([self.labels > 0, self.labels < 0]), axis=1)
        return min(bytes(row.tobytes()) for row in packed)

    def agreement(self, other: Signature) -> float:
        """Return the largest share of probe rows on which the labels agree, over all placements of one of them."""
        # A feature more that hardly matters must not hide that two formulas agree, so that the formula with more
        # features takes all places, and the other one stays in its own.
        fewer, more = (self, other) if len(self.placed) <= len(other.placed) else (other, self)
        products = more.labels.astype(np.float32) @ fewer.labels[0].astype(np.float32)
        return float(np.abs(products).max() / self.labels.shape[1] + 1) / 2


def active_features(
    expression: Expression, threshold: Threshold | None = None, n_features: int = 10, *, negligible: float = 0.0
) -> tuple[int, ...]:
    """Return the features that change a label when they are drawn anew, most influential first.

    Examples
    --------
    >>> active_features(Expression.parse("add(X3, mul(0.0, X1))"))
    (3,)
    """
    rows = population(n_features)
    threshold = threshold or halving_threshold(expression, n_features)
    labels = threshold.label(expression.evaluate(rows))
    changed: dict[int, float] = {}
    for feature in expression.features:
        drawn = rows.copy(order="F")
        drawn[:, feature] = np.roll(rows[:, feature], 1)
        changed[feature] = float((threshold.label(expression.evaluate(drawn)) != labels).mean())
    kept = [feature for feature in changed if changed[feature] > negligible]
    return tuple(sorted(kept, key=lambda feature: (-changed[feature], feature)))


def signature(
    expression: Expression, threshold: Threshold | None = None, n_features: int = 10, *, n_rows: int = PROBE_ROWS
) -> Signature:
    """Return a formula's labels on the probe for all placements of its features.

    Parameters
    ----------
    expression : Expression
        The formula.
    threshold : Threshold, optional
        Where it is cut; the population's middle where it is not given.
    n_features : int, default=10
        The number of features.
    n_rows : int, default=PROBE_ROWS
        How many of the probe rows are looked at.

    Returns
    -------
    Signature
        The labels, a row a placement; the first row has every feature in its own place.

    Examples
    --------
    >>> signature(Expression.parse("mul(X4, X2)")).labels.shape
    (8, 4096)
    """
    threshold = threshold or halving_threshold(expression, n_features)
    placed = active_features(expression, threshold, n_features, negligible=NEGLIGIBLE)[:MAX_PLACED]
    shown, rest = (columns[:n_rows] for columns in _probe(n_features))
    labels = np.empty((math.factorial(len(placed)) * 2 ** len(placed), n_rows), dtype=np.int8)
    rows = rest.copy(order="F")
    orders = permutations(range(len(placed)))
    signs = list(product((1.0, -1.0), repeat=len(placed)))
    for position, (order, turned) in enumerate(product(orders, signs)):
        for feature, column, sign in zip(placed, order, turned, strict=True):
            rows[:, feature] = sign * shown[:, column]
        labels[position] = _signed(threshold, expression.evaluate(rows))
    return Signature(placed, labels)


def agreements(signatures: Sequence[Signature]) -> FloatArray:
    """Return the agreement of every two formulas; 1 on the diagonal.

    Examples
    --------
    >>> texts = ["mul(X0, X1)", "mul(X4, X2)"]
    >>> agreements([signature(Expression.parse(text)) for text in texts]).min() > 0.98
    np.True_
    """
    table = np.eye(len(signatures))
    for later, candidate in enumerate(signatures):
        for earlier in range(later):
            table[later, earlier] = table[earlier, later] = candidate.agreement(signatures[earlier])
    return table


def group_concepts(agreement: FloatArray, least: float = AGREEMENT) -> tuple[int, ...]:
    """Return the concept of every formula: the position of the first formula of the same concept.

    Formulas that agree are of one concept, and so are those that a chain of agreeing formulas links.

    Parameters
    ----------
    agreement : ndarray of shape (n_formulas, n_formulas)
        See `agreements`.
    least : float, default=AGREEMENT
        From where on two formulas agree.

    Examples
    --------
    >>> texts = ["mul(X0, X1)", "safeDiv(X7, X3)", "add(X0, X1)"]
    >>> group_concepts(agreements([signature(Expression.parse(text)) for text in texts]))
    (0, 0, 2)
    """
    from scipy.sparse.csgraph import connected_components

    _, groups = connected_components(agreement >= least, directed=False)
    leaders: dict[int, int] = {}
    return tuple(leaders.setdefault(int(group), position) for position, group in enumerate(groups))


@cache
def _probe(n_features: int) -> tuple[FloatArray, FloatArray]:
    """Return the columns that placed features take, and rows for the features that are not placed."""
    rng = np.random.default_rng(PROBE_SEED)
    # Columns laid out one after another, since placements exchange whole columns.
    placed, rest = rng.normal(size=(PROBE_ROWS, MAX_PLACED)), rng.normal(size=(PROBE_ROWS, n_features))
    return np.asfortranarray(placed), np.asfortranarray(rest)


def _signed(threshold: Threshold, values: FloatArray) -> NDArray[np.int8]:
    return (2 * threshold.label(values).astype(np.int8) - 1).astype(np.int8)
