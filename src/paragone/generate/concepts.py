"""Concepts: formulas that are one problem under other names, signs and scales; keys, agreement, the best of each.

A key is one name for all formulas of a concept. Two formulas are one concept when a renaming of
features, turned signs, swapped classes and a monotone transform of the value take one into the
other. The key is therefore the least of the label vectors that a formula gives on fixed rows under
every placement of its features: all orders, all signs, both names of the classes. The cut between
the classes is a quantile over all these placements, so that it is the same whichever spelling it is
found from. For numbers as target the value counts up to shift, scale and sign.

Where a cut or a feature hardly matters two keys differ, and agreement is asked for: two formulas
are then the same concept when their labels agree on nearly all rows. On standard normal features
none of these changes how hard the problem is for a method that is fair to features and signs, so a
collection of one concept is one dataset many times. The archive of a search therefore keeps, for
every ordered pair of methods, one formula per concept.

Several classes and numbers are compared in the same way: what agrees is then the number of the
class, or the value up to shift, scale and sign. Labels of -1 and 1 that agree on a share a of the
rows have the correlation 2 a - 1, so that one measure serves all targets: numbers that correlate by
r agree by (1 + r) / 2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations, permutations, product
from math import factorial, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paragone.generate.expressions import Expression
from paragone.generate.formulas import structure_key
from paragone.generate.sampling import (
    GeneratorSpec,
    TargetRule,
    Threshold,
    changed_target,
    halving_threshold,
    population,
)
from paragone.ties import least_loss, loss_order
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


PROBE_ROWS = 4096
PROBE_SEED = 314_159
MAX_PLACED = 5
AGREEMENT = 0.98
"""Sets of 1000 rows are cut up to 2 % away from the population's middle, so that one concept agrees to about 98 %.

The count of concepts depends on it, and on the cut. The DIGEN sets with their own cuts are 20
concepts from .975 to .985, 19 from .96 to .97 and 23 at .99. Cut at the population's middle they
are 19 from .96 to .99: two of them differ
in nothing but where 1000 rows happened to be cut."""
UNLIKE = 0.05
"""Formulas whose features differ by more in their influence, the first with the first and so on, are not one concept:
their placements are not searched."""
NEGLIGIBLE = 0.005
"""A feature whose exchange changes a smaller share of the labels than this is left out of a signature."""

Rule: TypeAlias = Threshold | TargetRule
"""What makes a target of values: the cut between two classes; or several cuts, or the scale of numbers."""


def concept_rule(generator: GeneratorSpec) -> TargetRule | None:
    """Return by what a generator's formula is compared with others; None for two classes, which are cut in the middle.

    Examples
    --------
    >>> concept_rule(GeneratorSpec("X0")), len(concept_rule(GeneratorSpec("X0", target="multiclass")).cuts)
    (None, 2)
    """
    return None if generator.target == "binary" else generator.resolved()


@dataclass(frozen=True, eq=False)
class Signature:
    """A formula's labels on the probe rows, for the placements of its features.

    Parameters
    ----------
    expression, threshold
        The formula and its cut; for several classes or numbers the rule of its target.
    n_features : int
        The number of features.
    placed : tuple of int
        The features that are permuted and turned: those that matter, most influential first.
    influence : ndarray
        The share of labels that change when each of them is drawn again.
    labels : ndarray of shape (n_placements, n_rows)
        Labels -1 and 1: every placement of up to five features, else the first placement alone.
        Numbers of classes and values have mean 0 and standard deviation 1.
    """

    expression: Expression
    threshold: Rule
    n_features: int
    placed: tuple[int, ...]
    influence: FloatArray
    labels: NDArray[Any]

    @property
    def is_wide(self) -> bool:
        """Whether there are too many features to go through all their placements."""
        return len(self.placed) > MAX_PLACED

    @cached_property
    def key(self) -> str:
        """The key of the formula cut in its middle, or as its target is made; see `concept_key`."""
        if isinstance(self.threshold, Threshold):
            return formula_key(self.expression, self.placed, self.n_features)
        above = tuple(1 - float(share) for share in np.cumsum(self.threshold.shares)[:-1])
        return formula_key(self.expression, self.placed, self.n_features, above)

    def placed_labels(self, order: Sequence[int], signs: Sequence[float]) -> NDArray[Any]:
        """Return the labels with the features on these columns of the probe, turned by these signs."""
        shown, rest = (columns[: self.labels.shape[1]] for columns in _probe(self.n_features))
        rows = rest.copy(order="F")
        for feature, column, sign in zip(self.placed, order, signs, strict=True):
            rows[:, feature] = sign * shown[:, column]
        return _marked(self.threshold, self.expression.evaluate(rows))

    def agreement(self, other: Signature) -> float:
        """Return the largest share of probe rows on which the labels agree, over all placements of one of them.

        With more than five features not all placements are tried: a search by exchanges and turns
        begins with the features in the order of their influence. What it finds is a lower bound.
        """
        # A feature more that hardly matters must not hide that two formulas agree, so that the
        # formula with more features takes all places, and the other one stays in its own.
        fewer, more = (self, other) if len(self.placed) <= len(other.placed) else (other, self)
        if more.is_wide:
            return _searched_agreement(fewer, more)
        products = more.labels.astype(np.float32) @ fewer.labels[0].astype(np.float32)
        return float(np.abs(products).max() / self.labels.shape[1] + 1) / 2


def active_features(
    expression: Expression,
    threshold: Rule | None = None,
    n_features: int = 10,
    *,
    negligible: float = 0.0,
) -> tuple[int, ...]:
    """Return the features that change a label, or a number, when they are drawn again, most influential first.

    Without a threshold the formula is cut where its own middle is. A dataset's cut is the middle of
    some rows: with it, a feature that occurs only squared seems to turn signs.

    Examples
    --------
    >>> active_features(Expression.parse("add(X3, mul(0.0, X1))"))
    (3,)
    >>> active_features(Expression.parse("mul(X3, mul(X1, X1))"))
    (3,)
    """
    changed = influences(
        expression, threshold or halving_threshold(expression, n_features), n_features
    )
    return _above(changed, negligible)


def _above(influence: Mapping[int, float], least: float) -> tuple[int, ...]:
    """Return the features whose influence exceeds a share, most influential first."""
    features = [feature for feature in influence if influence[feature] > least]
    return tuple(sorted(features, key=lambda feature: (-influence[feature], feature)))


def influences(expression: Expression, threshold: Rule, n_features: int = 10) -> dict[int, float]:
    """Return the share of labels that change when a feature of the formula is drawn again, by feature.

    For numbers it is the part of the variance that goes with the feature; see `changed_target`.
    """
    rows = population(n_features)
    values = expression.evaluate(rows)
    labels = threshold.label(values) if isinstance(threshold, Threshold) else None
    changed: dict[int, float] = {}
    for feature in expression.features:
        drawn = rows.copy(order="F")
        # Rolled, not drawn: another row's value is as good as a new one, and costs nothing.
        drawn[:, feature] = np.roll(rows[:, feature], 1)
        again = expression.evaluate(drawn)
        if isinstance(threshold, Threshold):
            changed[feature] = float((threshold.label(again) != labels).mean())
        else:
            changed[feature] = changed_target(threshold, values, again)
    return changed


def signature(
    expression: Expression,
    threshold: Rule | None = None,
    n_features: int = 10,
    *,
    n_rows: int = PROBE_ROWS,
) -> Signature:
    """Return a formula's labels on the probe for all placements of its features.

    Parameters
    ----------
    expression : Expression
        The formula.
    threshold : Threshold or TargetRule, optional
        Where it is cut, the population's middle where it is not given; the rule of several classes
        or numbers.
    n_features : int, default=10
        The number of features.
    n_rows : int, default=PROBE_ROWS
        How many of the probe rows are looked at.

    Returns
    -------
    Signature
        The labels, one row per placement; the first row has every feature in its own place.

    Examples
    --------
    >>> signature(Expression.parse("mul(X4, X2)")).labels.shape
    (8, 4096)
    >>> cube, line = (GeneratorSpec(text, target="regression") for text in ("mul(X0, mul(X0, X0))", "sub(3.0, X4)"))
    >>> marks = [signature(spec.expression, concept_rule(spec)) for spec in (cube, line)]
    >>> round(marks[0].agreement(marks[1]), 1)
    0.9
    """
    threshold = threshold or halving_threshold(expression, n_features)
    changed = influences(expression, threshold, n_features)
    placed = _above(changed, NEGLIGIBLE)
    influence = np.array([changed[feature] for feature in placed])
    empty = np.empty((0, n_rows), dtype=np.int8)
    bare = Signature(expression, threshold, n_features, placed, influence, empty)
    orders = [tuple(range(len(placed)))] if bare.is_wide else permutations(range(len(placed)))
    signs = [(1.0,) * len(placed)] if bare.is_wide else product((1.0, -1.0), repeat=len(placed))
    placements = product(orders, signs)
    return replace(
        bare, labels=np.array([bare.placed_labels(order, turned) for order, turned in placements])
    )


def _searched_agreement(fewer: Signature, more: Signature) -> float:
    """Return the agreement under the best placement that exchanges and turns of features find."""
    is_cut = isinstance(fewer.threshold, Threshold)
    fixed = fewer.labels[0].astype(np.int64 if is_cut else np.float64)
    if is_cut and fewer.key == more.key:
        # One function: only the places of the two cuts can differ, and the names of the classes.
        shares = [abs(float(labels.mean())) for labels in (fixed, more.labels[0])]
        return 1 - abs(shares[0] - shares[1]) / 2

    def agreed(order: Sequence[int], signs: Sequence[float]) -> float:
        return float(abs(fixed @ more.placed_labels(order, signs)) / len(fixed) + 1) / 2

    n = len(more.placed)
    order, signs = list(range(n)), [1.0] * n
    best = agreed(order, signs)
    padded = np.zeros(n)
    padded[: len(fewer.influence)] = fewer.influence
    if np.abs(padded - more.influence).max() > UNLIKE:
        return best
    # A key goes through hundreds of thousands of placements: it is asked for where the influences
    # leave it open.
    if not is_cut and fewer.key == more.key:
        return 1.0
    while best < 1:
        moves = [(_exchanged(order, i, j), signs) for i, j in combinations(range(n), 2)]
        moves += [
            (order, [-sign if i == j else sign for j, sign in enumerate(signs)]) for i in range(n)
        ]
        values = [agreed(*move) for move in moves]
        if max(values) <= best:
            break
        best = max(values)
        order, signs = moves[values.index(best)]
    return best


def _exchanged(order: list[int], i: int, j: int) -> list[int]:
    changed = list(order)
    changed[i], changed[j] = changed[j], changed[i]
    return changed


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

    Formulas that agree are of one concept, and so are those that a chain of agreeing formulas
    links.

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


def numbered_concepts(agreement: FloatArray) -> list[int]:
    """Return the concepts of formulas as numbers from 1, in the order of their first formulas."""
    leaders = group_concepts(agreement)
    numbers = {leader: number for number, leader in enumerate(sorted(set(leaders)), start=1)}
    return [numbers[leader] for leader in leaders]


@cache
def _probe(n_features: int) -> tuple[FloatArray, FloatArray]:
    """Return the columns that placed features take, and rows for the features that are not placed."""
    rng = np.random.default_rng(PROBE_SEED)
    # Columns laid out one after another, since placements exchange whole columns.
    placed, rest = (
        rng.normal(size=(PROBE_ROWS, MAX_PLACED)),
        rng.normal(size=(PROBE_ROWS, n_features)),
    )
    more = rng.normal(size=(PROBE_ROWS, n_features))
    return np.asfortranarray(np.hstack([placed, more])), np.asfortranarray(rest)


def _marked(threshold: Rule, values: FloatArray) -> NDArray[Any]:
    """Return labels -1 and 1, or numbers of classes or values with mean 0 and standard deviation 1."""
    if isinstance(threshold, Threshold):
        return (2 * threshold.label(values).astype(np.int8) - 1).astype(np.int8)
    found = threshold.classes(values).astype(np.float64) if threshold.shares else values
    centred = found - found.mean()
    spread = float(np.sqrt(np.mean(centred**2)))
    return np.asarray(centred / spread if spread > 0 else centred, dtype=np.float32)


BOOK_ROWS = 1024


@dataclass(frozen=True, eq=False)
class ScreenedFormula:
    """A formula with the screened score of every method, and each method's best configuration."""

    expression: Expression
    scores: FloatArray
    configurations: tuple[int, ...]
    generation: int

    def lead(self, pair: tuple[int, int]) -> float:
        """By how much the pair's first method beats its second."""
        return float(self.scores[pair[0]] - self.scores[pair[1]])


class ConceptBook:
    """Concepts met so far, numbered in the order of meeting.

    A formula is of a known concept when some placement of its features agrees with it; see
    `concepts`. The book looks at fewer probe rows than `inspect` does, since every candidate is
    looked up.

    Parameters
    ----------
    n_features : int
        Features of the formulas.
    rule_of : callable, optional
        Gives the rule of a formula's target, for several classes or numbers; without it formulas
        are cut in the middle.
    """

    def __init__(
        self, n_features: int, rule_of: Callable[[Expression], TargetRule | None] | None = None
    ) -> None:
        self.n_features = n_features
        self._rule_of = rule_of or (lambda _: None)
        self._known: dict[str, int] = {}
        self._labels = np.zeros((0, BOOK_ROWS), dtype=np.float32)
        self._placed: list[int] = []
        self._wide: dict[int, Signature] = {}

    def number(self, expression: Expression) -> int:
        """Return the concept of a formula: a known one that agrees with it, or a new one."""
        text = str(expression)
        if text not in self._known:
            rule = self._rule_of(expression)
            self._known[text] = self._found(
                signature(expression, rule, self.n_features, n_rows=BOOK_ROWS)
            )
        return self._known[text]

    def _found(self, mine: Signature) -> int:
        if mine.is_wide:
            alike = (
                number for number, known in self._wide.items() if known.agreement(mine) >= AGREEMENT
            )
            concept = next(alike, len(self._placed))
            if concept == len(self._placed):
                self._wide[concept] = mine
                self._add(mine)
            return concept
        shared = (
            np.abs(self._labels @ mine.labels.T.astype(np.float32)).max(axis=1, initial=0)
            / BOOK_ROWS
        )
        # Only the first placement of a known concept is kept: one with more features cannot be
        # moved onto fewer.
        fits = (shared + 1) / 2 >= AGREEMENT
        for concept in map(int, np.flatnonzero(fits)):
            if self._placed[concept] <= len(mine.placed):
                return concept
        self._add(mine)
        return len(self._placed) - 1

    def _add(self, mine: Signature) -> None:
        self._labels = np.vstack([self._labels, mine.labels[:1].astype(np.float32)])
        self._placed.append(len(mine.placed))


class EliteArchive:
    """Keeps, for every ordered pair of methods, the best candidate of each of the best concepts.

    Parameters
    ----------
    n_methods : int
        Methods; there are ``n_methods * (n_methods - 1)`` ordered pairs.
    concepts : ConceptBook
        Tells concepts apart.
    depth : int, default=6
        How many concepts a pair keeps.
    floor : float, default=0.0
        Leads up to this are not kept.
    """

    def __init__(
        self, n_methods: int, concepts: ConceptBook, depth: int = 6, floor: float = 0.0
    ) -> None:
        self.pairs = tuple(permutations(range(n_methods), 2))
        self.concepts = concepts
        self.depth = depth
        self.floor = floor
        self.niches: dict[tuple[int, int], dict[int, ScreenedFormula]] = {
            pair: {} for pair in self.pairs
        }

    def offer(self, candidate: ScreenedFormula) -> int:
        """Put a candidate into every niche where it is the best; return how many."""
        wanted = [pair for pair in self.pairs if self._could_enter(pair, candidate)]
        if not wanted:
            return 0
        concept = self.concepts.number(candidate.expression)
        return sum(self._enter(pair, concept, candidate) for pair in wanted)

    def promise(
        self, candidate: ScreenedFormula, weights: Mapping[tuple[int, int], float]
    ) -> float:
        """Return the weight of the pairs whose niches the candidate may enter, whatever its concept."""
        return sum(weight for pair, weight in weights.items() if self._could_enter(pair, candidate))

    def _could_enter(self, pair: tuple[int, int], candidate: ScreenedFormula) -> bool:
        niche, lead = self.niches[pair], candidate.lead(pair)
        if lead <= self.floor:
            return False
        return len(niche) < self.depth or lead > min(member.lead(pair) for member in niche.values())

    def _enter(self, pair: tuple[int, int], concept: int, candidate: ScreenedFormula) -> bool:
        niche = self.niches[pair]
        held = niche.get(concept)
        if held is not None and held.lead(pair) >= candidate.lead(pair):
            return False
        niche[concept] = candidate
        if len(niche) > self.depth:
            # Of concepts with equal leads the one that was met last leaves.
            numbers = sorted(niche, reverse=True)
            del niche[
                numbers[least_loss([niche[number].lead(pair) for number in numbers], size=1.0)]
            ]
        return niche.get(concept) is candidate

    def best(self, pair: tuple[int, int]) -> Sequence[tuple[int, ScreenedFormula]]:
        """Return the pair's concepts and candidates, largest lead first."""
        held = sorted(self.niches[pair].items())
        return [held[place] for place in loss_order([-one.lead(pair) for _, one in held], size=1.0)]

    @property
    def n_filled(self) -> int:
        """Niches that hold a candidate."""
        return sum(map(len, self.niches.values()))

    def covered(self, margin: float) -> tuple[tuple[int, int], ...]:
        """Return the pairs whose best screened lead reaches the margin."""
        return tuple(
            p for p in self.pairs if any(c.lead(p) >= margin for c in self.niches[p].values())
        )
