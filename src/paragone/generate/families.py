"""Families of concepts: why a formula is hard, told by what its labels do, not by how it is spelled.

A formula may be of several families, or of none, which is called mixed. The rules look at the
labels of a fixed sample of the population, so that two spellings of one function are of the same
families; only for ratios the spelling counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from paragone.data import Expression
from paragone.generate.concepts import NEGLIGIBLE, active_features
from paragone.generate.formulas import Node, to_expression, to_tree
from paragone.generate.sampling import GeneratorSpec, TargetKind
from paragone.generate.thresholds import TargetRule, Threshold, halving_threshold, population
from paragone.generate.truth import changed_target
from paragone.validation import FloatArray, IntArray

FAMILIES: Mapping[str, str] = {
    "parity": "no feature tells anything alone: only together do they give the label",
    "thresholds": "a tree of at most 16 leaves gives the label: a few cuts through single features",
    "ratios": "a quotient counts by its size: a product in its place would give other labels",
    "smooth": "one nearly straight border: a sum of features gives most of the label",
    "local": (
        "only the sizes of the features count, not their signs: a class lies around the middle"
    ),
    "sparse": "at most a fifth of the columns matter",
}
"""The families, each with its rule in words."""
NUMBER_FAMILIES: Mapping[str, str] = {
    "parity": "no feature explains anything of the number alone: only together do they",
    "thresholds": (
        "a tree of at most 16 leaves gives the number: a few cuts through single features"
    ),
    "ratios": "a quotient counts by its size: a product in its place would give other numbers",
    "smooth": "nearly straight: a sum of features gives most of the number",
    "local": "only the sizes of the features count, not their signs",
    "sparse": "at most a fifth of the columns matter",
}
"""The same families where the target is a number."""
CLASS_FAMILIES: Mapping[str, str] = {
    "parity": "no feature tells anything alone, of any class: only together do they give the class",
    "thresholds": "a tree of at most 16 leaves gives the class: a few cuts through single features",
    "ratios": "a quotient counts by its size: a product in its place would give other classes",
    "smooth": "nearly straight borders: a sum of features gives most of the class",
    "local": "only the sizes of the features count, not their signs",
    "sparse": "at most a fifth of the columns matter",
}
"""The same families where there are several classes."""
MIXED = "mixed"
"""A formula of none of them."""

ROWS = 20_000
BINS = 20
ALONE = 0.05
"""Features that explain less than this share of the label, each alone and added up, tell nothing alone."""
LEAVES = 16
BY_CUTS = 0.985
"""The agreement of a small tree from which on cuts give the label; a straight slant border reaches .97."""
CHANGED = 0.05
"""Labels that change by more than this share have noticed."""
STRAIGHT = 0.5
"""The share of the label that linear terms carry. The sign of any sum of normal features has 2/pi = .64."""
STRAIGHT_NUMBERS = 0.8
"""The same for numbers, where linear terms may carry everything: .5 of .64. For several classes it is this share of
what linear terms carry where a sum of features is cut into the same classes."""
FEW = 0.2


def family_rules(target: TargetKind) -> Mapping[str, str]:
    """Return the families with their rules in the words of a target.

    Examples
    --------
    >>> family_rules("regression")["smooth"]
    'nearly straight: a sum of features gives most of the number'
    """
    return {"binary": FAMILIES, "multiclass": CLASS_FAMILIES, "regression": NUMBER_FAMILIES}[target]


def families(
    expression: Expression, threshold: Threshold | None = None, n_features: int = 10
) -> tuple[str, ...]:
    """Return the families of a formula, in the order of `FAMILIES`; ``mixed`` where it is of none.

    Parameters
    ----------
    expression : Expression
        The formula.
    threshold : Threshold, optional
        Where it is cut; the middle of the population where it is not given.
    n_features : int, default=10
        The columns.

    Examples
    --------
    >>> families(Expression.parse("mul(X0, mul(X1, X2))"))
    ('parity',)
    >>> families(Expression.parse("add(mul(X0, X0), mul(X1, X1))"))
    ('local', 'sparse')
    """
    return _families(expression, threshold or halving_threshold(expression, n_features), n_features)


def generator_families(generator: GeneratorSpec) -> tuple[str, ...]:
    """Return the families of a generator's formula with the target that it has.

    The rules are those of two classes, in the terms of the target. What features tell of several
    classes is added up over the classes, each against the rest: a product of features says nothing
    of the order of three classes, and yet a small factor gives the middle one away. Borders are
    straight or not by the number of the class, lowest values first. Of numbers, variance is
    explained, and correlation is what agreement is of labels.

    Examples
    --------
    >>> generator_families(GeneratorSpec("mul(X0, mul(X1, X2))", target="regression"))
    ('parity',)
    >>> generator_families(GeneratorSpec("mul(X0, mul(X1, X2))", target="multiclass"))
    ('mixed',)
    >>> generator_families(GeneratorSpec("add(X0, sub(X1, X2))", target="multiclass"))
    ('smooth',)
    """
    if generator.target == "binary":
        return families(generator.expression, generator.threshold(), generator.n_features)
    return _number_families(generator.expression, generator.resolved(), generator.n_features)


@lru_cache(maxsize=512)
def _number_families(expression: Expression, rule: TargetRule, n_features: int) -> tuple[str, ...]:
    rows = population(n_features)[:ROWS]
    values = expression.evaluate(rows)
    active = active_features(expression, rule, n_features, negligible=NEGLIGIBLE)
    if not active or not np.isfinite(values).all():
        return (MIXED,)
    holds = {
        "parity": len(active) > 1 and _told_of_all(rows, values, rule, active) < ALONE,
        "thresholds": False,
        "ratios": _ratio_counts_in_numbers(expression, rows, values, rule),
        "smooth": len(active) > 1 and _is_straight(rows, values, rule, active),
        "local": all(
            changed_target(rule, values, expression.evaluate(_turned(rows, feature))) <= CHANGED
            for feature in active
        ),
        "sparse": len(active) <= FEW * n_features,
    }
    agreed = (
        agreement_of_a_tree(rows, rule.classes(values))
        if rule.shares
        else fit_of_a_tree(rows, values)
    )
    holds["thresholds"] = not holds["parity"] and agreed >= BY_CUTS
    return tuple(name for name in FAMILIES if holds[name]) or (MIXED,)


def _told_of_all(
    rows: FloatArray, values: FloatArray, rule: TargetRule, active: tuple[int, ...]
) -> float:
    """Return what features explain one by one: of the number, or of all classes, each weighted by its variance."""
    if not rule.shares:
        return told_alone(rows, values, active)
    classes = rule.classes(values)
    memberships = [(classes == number).astype(np.int64) for number in np.unique(classes)]
    if len(memberships) < 2:
        return 0.0
    weights = np.array([member.var() for member in memberships])
    told = np.array([told_alone(rows, member, active) for member in memberships])
    return float(weights @ told / weights.sum())


def _is_straight(
    rows: FloatArray, values: FloatArray, rule: TargetRule, active: tuple[int, ...]
) -> bool:
    if not rule.shares:
        return straightness(rows, values, active) >= STRAIGHT_NUMBERS
    classes = rule.classes(values)
    if not np.ptp(classes):
        return False
    # The most that linear terms can carry depends on the cuts: a straight value with as many rows
    # in every class.
    straight = np.sort(classes)[np.argsort(np.argsort(rows[:, 0]))]
    return straightness(rows, classes, active) >= STRAIGHT_NUMBERS * straightness(
        rows, straight, (0,)
    )


def _ratio_counts_in_numbers(
    expression: Expression, rows: FloatArray, values: FloatArray, rule: TargetRule
) -> bool:
    if "safeDiv" not in expression.tokens:
        return False
    others = to_expression(_multiplied(to_tree(expression))).evaluate(rows)
    if not np.isfinite(others).all() or np.ptp(others) == 0:
        return True
    if not rule.shares:
        agreement = (1 + abs(float(np.corrcoef(others, values)[0, 1]))) / 2
        return 1 - agreement > CHANGED
    classes = rule.classes(values)
    # By ranks, so that the classes have the shares that they have with the quotient; in either
    # order, since a product that falls where the quotient rises tells as much.
    ends = np.cumsum(np.bincount(classes, minlength=len(rule.shares)))[:-1] / len(classes)
    recut = [
        np.searchsorted(np.quantile(turned, ends), turned, side="right")
        for turned in (others, -others)
    ]
    return min(float((found != classes).mean()) for found in recut) > CHANGED


def fit_of_a_tree(rows: FloatArray, values: FloatArray) -> float:
    """Return the R2 of a small regression tree on rows that it has not seen."""
    from sklearn.tree import DecisionTreeRegressor

    half = len(rows) // 2
    tree = DecisionTreeRegressor(max_leaf_nodes=LEAVES, random_state=0).fit(
        rows[:half], values[:half]
    )
    return float(tree.score(rows[half:], values[half:]))


@lru_cache(maxsize=512)
def _families(expression: Expression, threshold: Threshold, n_features: int) -> tuple[str, ...]:
    rows = population(n_features)[:ROWS]
    labels = threshold.label(expression.evaluate(rows)).astype(np.int64)
    active = active_features(expression, threshold, n_features, negligible=NEGLIGIBLE)
    if not active:
        return (MIXED,)
    holds = {
        "parity": len(active) > 1 and told_alone(rows, labels, active) < ALONE,
        "thresholds": False,
        "ratios": _ratio_counts(expression, rows, labels),
        "smooth": len(active) > 1 and straightness(rows, labels, active) >= STRAIGHT,
        "local": _signs_do_not_count(expression, threshold, rows, labels, active),
        "sparse": len(active) <= FEW * n_features,
    }
    # A parity of two is four boxes too, which a greedy tree finds by luck only: it is told by the
    # harder rule.
    holds["thresholds"] = not holds["parity"] and agreement_of_a_tree(rows, labels) >= BY_CUTS
    return tuple(name for name in FAMILIES if holds[name]) or (MIXED,)


def told_alone(rows: FloatArray, labels: IntArray | FloatArray, active: tuple[int, ...]) -> float:
    """Return the share of the label's variance that features explain one by one, added up."""
    variance = float(labels.var())
    explained = 0.0
    for feature in active:
        edges = np.quantile(rows[:, feature], np.arange(1, BINS) / BINS)
        place = np.searchsorted(edges, rows[:, feature])
        counts = np.bincount(place, minlength=BINS)
        means = np.bincount(place, labels, BINS) / counts
        # Means of few rows differ by chance: that part is taken off.
        explained += float((counts * (means - labels.mean()) ** 2).sum() / len(labels)) / variance
        explained -= (BINS - 1) / len(labels)
    return explained


def straightness(rows: FloatArray, labels: IntArray | FloatArray, active: tuple[int, ...]) -> float:
    """Return the share of the label's variance that linear terms of standard normal features carry."""
    centred = labels - labels.mean()
    return float(
        sum(float(np.mean(centred * rows[:, feature])) ** 2 for feature in active) / labels.var()
    )


def agreement_of_a_tree(rows: FloatArray, labels: IntArray) -> float:
    """Return on how many rows that it has not seen a small decision tree gives the label."""
    from sklearn.tree import DecisionTreeClassifier

    half = len(rows) // 2
    tree = DecisionTreeClassifier(max_leaf_nodes=LEAVES, random_state=0).fit(
        rows[:half], labels[:half]
    )
    return float((tree.predict(rows[half:]) == labels[half:]).mean())


def _ratio_counts(expression: Expression, rows: FloatArray, labels: IntArray) -> bool:
    if "safeDiv" not in expression.tokens:
        return False
    multiplied = to_expression(_multiplied(to_tree(expression)))
    values = multiplied.evaluate(rows)
    if not np.isfinite(values).all() or np.ptp(values) == 0:
        return True
    other = Threshold.halving(values).label(values)
    differ = float((other != labels).mean())
    return min(differ, 1 - differ) > CHANGED


def _multiplied(tree: Node) -> Node:
    """Return a tree with products in the place of quotients: the same signs, other sizes."""
    if not isinstance(tree, tuple):
        return tree
    return ("mul" if tree[0] == "safeDiv" else tree[0], _multiplied(tree[1]), _multiplied(tree[2]))


def _signs_do_not_count(
    expression: Expression,
    threshold: Threshold,
    rows: FloatArray,
    labels: IntArray,
    active: tuple[int, ...],
) -> bool:
    for feature in active:
        if (
            float((threshold.label(expression.evaluate(_turned(rows, feature))) != labels).mean())
            > CHANGED
        ):
            return False
    return True


def _turned(rows: FloatArray, feature: int) -> FloatArray:
    """Return rows with the sign of one feature turned."""
    turned = rows.copy()
    turned[:, feature] *= -1
    return turned
