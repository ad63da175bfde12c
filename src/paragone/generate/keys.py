"""Concept keys: one name for all formulas that are one problem under other names, signs and scales.

Two formulas are one concept when a renaming of features, turned signs, swapped classes and a
monotone transform of the value take one into the other. The key is therefore the least of the label
vectors that a formula gives on fixed rows under every placement of its features: all orders, all
signs, both names of the classes. The cut between the classes is a quantile over all these
placements, so that it is the same whichever spelling it is found from. For numbers as target the
value counts up to shift, scale and sign.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, product
from math import factorial, prod

import numpy as np

from paragone.data import Expression
from paragone.generate.formulas import structure_key
from paragone.generate.sampling import GeneratorSpec
from paragone.generate.thresholds import Threshold
from paragone.validation import FloatArray, IntArray

KEY_ROWS = 512
SYMMETRY_ROWS = 2048
KEY_SEED = 271_828
MOST_PLACEMENTS = 700_000
"""All placements of seven features; of more features where some may be exchanged or turned."""
ORBIT_VALUES = 2**20
CHUNK = 2**19
FIRST_ROWS = 8
DECIMALS = 6
LARGEST_STEP = 2.0**62
SAME = 1e-9
ELSEWHERE = 0.7316, 0.0917
"""Values of features that do not matter, first and step: all different, neither 0 nor 1, as normal values would be."""
MIDDLE = 0.01
"""A cut whose share of class 1 is this close to a half is the middle, off by an error of sampling."""


def concept_key(spec: GeneratorSpec, active: Sequence[int]) -> str:
    """Return the key of a generator's concept; noise, gaps and other circumstances do not count.

    Parameters
    ----------
    spec : GeneratorSpec
        The generator.
    active : sequence of int
        The features that matter; one that changes hardly any label may be left out.

    Returns
    -------
    str
        Twelve signs. Generators with equal keys are one concept. Generators of one concept have
        equal keys, except that formulas of more than seven features without enough symmetry are
        told by the structure of their text; their keys begin with ``w``.

    Examples
    --------
    >>> keys = [concept_key(GeneratorSpec(text), features) for text, features in
    ...         {"mul(X0, X1)": (0, 1), "sub(2.0, safeDiv(X7, X3))": (3, 7), "add(X0, X1)": (0, 1)}.items()]
    >>> keys[0] == keys[1], keys[0] == keys[2]
    (True, False)
    """
    wanted = _shares(spec)
    key = formula_key(spec.expression, active, spec.n_features, wanted)
    told = f"{spec.target} {[round(min(share, 1 - share), 2) for share in wanted]}"
    return ("w" * key.startswith("w") + hashlib.sha256((told + key).encode()).hexdigest())[:12]


def formula_key(
    expression: Expression,
    active: Sequence[int],
    n_features: int,
    above: tuple[float, ...] = (0.5,),
) -> str:
    """Return the key of a formula cut so that these shares of the population lie above each cut; see `concept_key`.

    Examples
    --------
    >>> formula_key(Expression.parse("X3"), (3,), 10) == formula_key(Expression.parse("sub(1.0, X0)"), (0,), 10)
    True
    """
    problem = _Problem(expression, tuple(sorted(active)), n_features)
    placements = problem.placements()
    if placements is None:
        return "w" + structure_key(expression)
    least = problem.least(placements, problem.scale(above, placements))
    return hashlib.sha256(f"{len(problem.active)} ".encode() + least.tobytes()).hexdigest()


def _shares(spec: GeneratorSpec) -> tuple[float, ...]:
    """Return the share of the population above every cut between classes."""
    if spec.target == "regression":
        return ()
    if spec.target == "multiclass":
        shares = spec.shares or (1 / spec.n_classes,) * spec.n_classes
        return tuple(1 - float(share) for share in np.cumsum(shares)[:-1])
    if spec.positive is not None:
        return (spec.positive,)
    share = spec.resolved().shares[1]
    # Without a share asked for, values that tie are cut as near to the middle as they let.
    return (0.5,) if spec.cut is None or abs(share - 0.5) < MIDDLE else (round(share, 2),)


Placements = tuple[IntArray, FloatArray]
"""For every placement the column that each feature takes, and its sign."""


@dataclass(frozen=True)
class _Scale:
    """What makes whole numbers of values: cuts between classes, or mean and standard deviation."""

    cuts: tuple[Threshold, ...]
    mean: float = 0.0
    spread: float = 1.0

    def labelled(self, values: FloatArray) -> IntArray:
        """Return classes, or standardised values to six decimals; the classes of turned values count backwards."""
        if self.cuts:
            return sum(
                (cut.label(values).astype(np.int64) for cut in self.cuts),
                np.zeros(values.shape, dtype=np.int64),
            )
        # Quotients may be larger than whole numbers are, in units of the spread: all of these are
        # alike.
        steps = np.nan_to_num((values - self.mean) / (self.spread or 1.0) * 10**DECIMALS)
        return np.asarray(np.rint(np.clip(steps, -LARGEST_STEP, LARGEST_STEP)), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Problem:
    expression: Expression
    active: tuple[int, ...]
    n_features: int

    def values(self, rows: FloatArray, orders: IntArray, signs: FloatArray) -> FloatArray:
        """Return the formula's value on every row under every placement, of shape (placements, rows)."""
        found = np.empty((len(orders), len(rows)))
        step = max(1, CHUNK // len(rows))
        for begin in range(0, len(orders), step):
            some = slice(begin, begin + step)
            n = len(orders[some])
            placed = np.empty((n * len(rows), self.n_features), order="F")
            placed[:] = ELSEWHERE[0] + ELSEWHERE[1] * np.arange(self.n_features)
            for k, feature in enumerate(self.active):
                placed[:, feature] = (rows.T[orders[some, k]] * signs[some, k, None]).ravel()
            found[some] = self.expression.evaluate(placed).reshape(n, len(rows))
        return found

    def placements(self) -> Placements | None:
        """Return all placements that may differ; None where they are too many."""
        turned, orders = self._turns(), self._orders()
        if orders is None or len(orders) * len(turned) > MOST_PLACEMENTS:
            return None
        return orders, turned

    def _same(self, order: Sequence[int], signs: Sequence[float], *, turned: bool) -> bool:
        """Whether this placement gives the same values, or those turned around a constant where that is enough."""
        places = np.array([np.arange(len(self.active)), order])
        turns = np.array([np.ones(len(order)), signs])
        # Most placements differ on the first rows; some only where a rare branch is taken.
        for rows in (_key_rows(len(self.active))[:32], _symmetry_rows(len(self.active))):
            before, after = self.values(rows, places, turns)
            size = np.abs(before).max() * SAME
            if np.abs(before - after).max() > size and not (
                turned and np.ptp(before + after) <= size
            ):
                return False
        return True

    def _turns(self) -> FloatArray:
        """Return one sign pattern of each class of patterns that give the same up to symmetry."""
        met: set[tuple[float, ...]] = set()
        kept = []
        for pattern in self._patterns:
            if pattern not in met:
                kept.append(pattern)
                met.update(
                    tuple(a * b for a, b in zip(pattern, other, strict=True))
                    for other in self._symmetric
                )
        return np.array(kept)

    @cached_property
    def _patterns(self) -> list[tuple[float, ...]]:
        return list(product((1.0, -1.0), repeat=len(self.active)))

    @cached_property
    def _symmetric(self) -> list[tuple[float, ...]]:
        """The sign patterns that give the same values, or those turned around a constant."""
        return [
            pattern
            for pattern in self._patterns
            if self._same(range(len(pattern)), pattern, turned=True)
        ]

    def _with_mirrored(self, turned: FloatArray) -> FloatArray:
        """Return patterns whose values are as spread as those of all patterns: none or half of these are mirrored."""
        for pattern in self._symmetric:
            if not self._same(range(len(pattern)), pattern, turned=False):
                return np.concatenate([turned, turned * np.array(pattern)])
        return turned

    def _orders(self) -> IntArray | None:
        """Return one order of each class of orders: features that may be exchanged take ascending columns."""
        m = len(self.active)
        leaders = list(range(m))
        for i, j in combinations(range(m), 2):
            if leaders[i] != leaders[j] and self._exchangeable(i, j):
                leaders = [leaders[i] if leader == leaders[j] else leader for leader in leaders]
        classes = [[i for i in range(m) if leaders[i] == leader] for leader in sorted(set(leaders))]
        count = factorial(m) // prod(factorial(len(members)) for members in classes)
        return _orders(m, classes) if count <= MOST_PLACEMENTS else None

    def _exchangeable(self, i: int, j: int) -> bool:
        order = list(range(len(self.active)))
        order[i], order[j] = j, i
        for first, second in product((1.0, -1.0), repeat=2):
            signs = [1.0] * len(order)
            signs[i], signs[j] = first, second
            # Turned values would leave the cut to one side: it is a quantile over orders that are
            # not exchangeable.
            if self._same(order, signs, turned=False):
                return True
        return False

    def scale(self, above: tuple[float, ...], placements: Placements) -> _Scale:
        """Return the cuts over all orders and signs; for numbers their mean and standard deviation."""
        m = len(self.active)
        orders, turned = placements
        if factorial(m) * 2**m <= MOST_PLACEMENTS:
            # All of them, so that the cut does not hang on which symmetries a spelling shows.
            orders, signs = _orders(m, [[i] for i in range(m)]), np.array(self._patterns)
        else:
            # Ten features have billions: one placement stands for all that give the same values.
            signs = self._with_mirrored(turned)
        n = max(1, min(4096, ORBIT_VALUES // (len(orders) * len(signs))))
        rows = np.random.default_rng(KEY_SEED + 1).normal(size=(n, m))
        places = np.repeat(np.arange(len(orders)), len(signs))
        values = self.values(rows, orders[places], np.tile(signs, (len(orders), 1))).ravel()
        if above:
            return _Scale(tuple(Threshold.halving(values, share) for share in above))
        # Sorted, so that the sums are of the same numbers in the same order for every spelling.
        ordered = np.sort(values)
        return _Scale((), float(ordered.mean()), float(ordered.std()))

    def least(self, placements: Placements, scale: _Scale) -> IntArray:
        """Return the least of the label vectors over all placements and both names of the classes."""
        orders, turned = placements
        places = np.repeat(np.arange(len(orders)), len(turned))
        turns = np.tile(np.arange(len(turned)), len(orders))
        flips = np.zeros(len(places), dtype=bool)
        places, turns = np.tile(places, 2), np.tile(turns, 2)
        flips = np.concatenate([flips, ~flips])
        rows = _key_rows(len(self.active))
        found: list[IntArray] = []
        begin, step = 0, FIRST_ROWS
        while begin < len(rows):
            some = rows[begin : begin + step]
            labels = scale.labelled(self.values(some, orders[places], turned[turns]))
            labels[flips] = len(scale.cuts) - labels[flips]
            for column in range(labels.shape[1]):
                kept = labels[:, column] == labels[:, column].min()
                labels, places, turns, flips = labels[kept], places[kept], turns[kept], flips[kept]
            found.append(labels[0])
            begin += step
            step = min(2 * step, 64)
        return np.concatenate(found)


def _orders(m: int, classes: Sequence[Sequence[int]]) -> IntArray:
    """Return the columns of all features for every way to share the columns among classes of features."""
    orders = np.zeros((1, m), dtype=np.int64)
    free = np.arange(m)[None]
    for members in classes:
        chosen = np.array(list(combinations(range(free.shape[1]), len(members))))
        orders = np.repeat(orders, len(chosen), axis=0)
        picked = np.tile(chosen, (len(free), 1))
        free = np.repeat(free, len(chosen), axis=0)
        orders[:, list(members)] = np.take_along_axis(free, picked, axis=1)
        left = np.ones(free.shape, dtype=bool)
        np.put_along_axis(left, picked, values=False, axis=1)
        free = free[left].reshape(len(free), -1)
    return orders


@cache
def _symmetry_rows(m: int) -> FloatArray:
    return np.random.default_rng(KEY_SEED + 2).normal(size=(SYMMETRY_ROWS, m))


@cache
def _key_rows(m: int) -> FloatArray:
    return np.random.default_rng(KEY_SEED).normal(size=(KEY_ROWS, m))
