"""Targets: what two classes, several classes or numbers mean for a search: the score, its protocol, and the methods.

Two classes are scored by AUROC, several by the mean AUROC of each against the rest, numbers by R2.
The usual methods of each are in files of one form: `methods.toml`, `multiclass.toml` (where it
differs), `regressors.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from paragone.errors import InputError
from paragone.generate.laboratory import FreshRows, Holdout
from paragone.generate.methods import Contender, contenders, reference_methods
from paragone.generate.sampling import TargetKind
from paragone.methods import Method

METRICS: Mapping[TargetKind, str] = {"binary": "AUROC", "multiclass": "AUROC", "regression": "R2"}
"""What scores are called where people read them."""
CEILINGS: Mapping[TargetKind, str] = {
    "binary": "roc_auc",
    "multiclass": "roc_auc",
    "regression": "r2",
}
"""What the truth sheet calls the best score that any method can reach."""
SCORED_BY: Mapping[TargetKind, str] = {
    "binary": "AUROC",
    "multiclass": "the mean AUROC of each class against the rest",
    "regression": "R2",
}
"""What the score of a target is, told in full."""
TARGET_WORDS: Mapping[TargetKind, str] = {
    "binary": "two classes",
    "multiclass": "several classes",
    "regression": "numbers",
}
"""What there is to predict."""


def target_of(kinds: Mapping[str, Any]) -> TargetKind:
    """Return the target that declared kinds of data have.

    Examples
    --------
    >>> target_of({"noise": 0.1}), target_of({"target": "regression"})
    ('binary', 'regression')
    """
    target: TargetKind = kinds.get("target", "binary")
    return target


def common_target(targets: Sequence[tuple[str, TargetKind]]) -> TargetKind:
    """Return the target that all collections of a report have; several are refused.

    Scores of two targets have nothing in common: a mean of AUROC and R2 is neither, and no method
    predicts both.

    Parameters
    ----------
    targets : sequence of (str, str)
        Every collection with what is to be predicted there.

    Examples
    --------
    >>> common_target([("one", "regression"), ("two", "regression")])
    'regression'
    >>> common_target([("digen", "binary"), ("own", "regression")])
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: 'digen' has two classes to predict and 'own' numbers: make a report
    of each
    """
    (name, target), *others = targets
    for other, own in others:
        if own != target:
            has, has_not = TARGET_WORDS[target], TARGET_WORDS[own]
            raise InputError(
                f"{name!r} has {has} to predict and {other!r} {has_not}: make a report of each"
            )
    return target


def fresh_protocol(target: TargetKind) -> tuple[Holdout | FreshRows, str]:
    """Return how methods are measured on fresh rows of a target, and the metric that counts.

    Examples
    --------
    >>> fresh_protocol("regression")[1], fresh_protocol("binary")[0].kind
    ('r2', 'holdout')
    """
    if target == "binary":
        return Holdout(keep_values=False, metrics=("auroc",)), "auroc"
    metric = "r2" if target == "regression" else "auroc"
    return FreshRows(metric="r2" if metric == "r2" else "auroc"), metric


@cache
def regressors() -> tuple[Contender, ...]:
    """Return the usual regressors; those with a letter first.

    Examples
    --------
    >>> "".join(sorted(method.letter for method in regressors()))
    'DFGKLRSX'
    """
    return contenders(_tables("regressors.toml"))


@cache
def usual_methods(target: TargetKind = "binary") -> tuple[Contender, ...]:
    """Return the eight methods that a search takes which names none, in the form that fits the target.

    Examples
    --------
    >>> [method.name for method in usual_methods("regression")][:3]
    ['Ridge', 'KNeighborsRegressor', 'DecisionTreeRegressor']
    """
    if target == "regression":
        return tuple(method for method in regressors() if method.letter)
    if target == "multiclass":
        changed = {method.name: method for method in contenders(_tables("multiclass.toml"))}
        return tuple(changed.get(method.name, method) for method in reference_methods())
    return reference_methods()


def _tables(name: str) -> dict[str, Any]:
    return tomllib.loads(files("paragone.generate").joinpath(name).read_text(encoding="utf-8"))


def check_methods(methods: Iterable[Contender], target: TargetKind) -> None:
    """Refuse a classifier for numbers, and a regressor for several classes.

    A regressor for two classes is scored by the order of its values; what does not say what it is
    may be either.

    Examples
    --------
    >>> check_methods([Contender("Tree", "sklearn.tree:DecisionTreeClassifier")], "regression")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: method 'Tree' is a classifier, and the target is a number: name a
    regressor
    """
    if target == "binary":
        return
    from sklearn.base import is_classifier, is_regressor

    for method in methods:
        built = Method.declare(method.declared()).build()
        if not hasattr(built, "__sklearn_tags__"):
            continue
        if target == "regression" and is_classifier(built):
            raise InputError(
                f"method {method.name!r} is a classifier, and the target is a number: name a"
                " regressor"
            )
        if target == "multiclass" and is_regressor(built):
            raise InputError(
                f"method {method.name!r} is a regressor, and the target is a class: name a"
                " classifier"
            )
