"""Opponents: whatever a person writes for a method, as a contender that can be searched with, tuned and measured."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from tomllib import loads
from typing import Any

from paragone.errors import InputError, unknown_name
from paragone.generate.methods import Contender, contenders, drawn_configurations
from paragone.generate.sampling import TargetKind
from paragone.generate.targets import check_methods, regressors, usual_methods
from paragone.methods import Method, known_space
from paragone.registry import imported

SHORT_NAMES = {
    "logistic": "LogisticRegression",
    "knn": "KNeighborsClassifier",
    "tree": "DecisionTreeClassifier",
    "svm": "SVC",
    "forest": "RandomForestClassifier",
    "gradient-boosting": "GradientBoostingClassifier",
    "xgboost": "XGBClassifier",
    "lightgbm": "LGBMClassifier",
}
"""What people call the reference methods."""
CONFIGURATIONS = 4
"""A method of one's own is searched with in its defaults and three draws of its space."""
REGRESSOR_NAMES = {
    "linear": "Ridge",
    "ridge": "Ridge",
    "knn": "KNeighborsRegressor",
    "tree": "DecisionTreeRegressor",
    "svm": "SVR",
    "forest": "RandomForestRegressor",
    "gradient-boosting": "GradientBoostingRegressor",
    "xgboost": "XGBRegressor",
    "lightgbm": "LGBMRegressor",
}
"""What people call the usual regressors."""


@cache
def known_opponents(target: TargetKind = "binary") -> dict[str, Contender]:
    """Return the methods that have a short name, by that name: the eight references and some that people argue about.

    Examples
    --------
    >>> sorted(known_opponents())[:4]
    ['bayes', 'boosting', 'extra-trees', 'forest']
    >>> known_opponents("regression")["forest"].name
    'RandomForestRegressor'
    """
    if target == "regression":
        named = {method.name: method for method in regressors()}
        numbers = {short: named[name] for short, name in REGRESSOR_NAMES.items()}
        return numbers | {name: method for name, method in named.items() if not method.letter}
    text = files("paragone.generate").joinpath("opponents.toml").read_text(encoding="utf-8")
    references = {method.name: method for method in usual_methods(target)}
    more = {method.name: method for method in contenders(loads(text))}
    return {short: references[name] for short, name in SHORT_NAMES.items()} | more


def opponent(
    written: str,
    *,
    name: str | None = None,
    space: Mapping[str, Mapping[str, Any]] | None = None,
    target: TargetKind = "binary",
) -> Contender:
    """Return the contender that a person means.

    Parameters
    ----------
    written : str
        A short name (``forest``), a class (``sklearn.svm:NuSVC``), an estimator or pipeline in a
        module (``mine:model``), or either in a file (``mine.py:Poly``). Modules are looked for in
        the working folder too.
    name : str, optional
        What to call it; its own name where it is not given.
    space : mapping, optional
        Its search space. Without one the usual ranges of a known class are taken; a class that
        nobody knows is measured as it is.
    target : {"binary", "multiclass", "regression"}, default="binary"
        What it is to predict: with numbers a short name is a regressor, and a classifier is
        refused.

    Returns
    -------
    Contender
        With its space and the configurations that a search tries.

    Examples
    --------
    >>> opponent("forest").name, opponent("sklearn.svm:LinearSVC").space["C"]["high"]
    ('RandomForestClassifier', 100.0)
    >>> opponent("forrest")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown method 'forrest': did you mean 'forest'?
    """
    known = _known(written, target)
    found = _of_code(written, target) if known is None else known
    check_methods([found], target)
    if space is not None:
        found = _looked_over(replace(found, space=dict(space), portfolio=({},)))
    return found if name is None else replace(found, name=name)


def _known(written: str, target: TargetKind) -> Contender | None:
    if ":" in written or "." in written:
        return None
    for short, method in known_opponents(target).items():
        if written in (short, method.name) or (method.letter and written == method.letter):
            return method
    other: TargetKind = "binary" if target == "regression" else "regression"
    if written in known_opponents(other):
        what = "numbers" if target == "regression" else "classes"
        names = ", ".join(known_opponents(target))
        raise InputError(f"method {written!r} does not predict {what}: choose one of {names}")
    refused = unknown_name("method", written, known_opponents(target))
    is_near = "did you mean" in str(refused)
    raise (
        refused
        if is_near
        else InputError(f"{refused} (or write a class as module:Class, or FILE.py:Class)")
    )


def _of_code(written: str, target: TargetKind) -> Contender:
    use = _importable(written)
    kind = f"method {written!r}"
    thing = imported(use, "method")
    if not (inspect.isclass(thing) or inspect.isfunction(thing) or hasattr(thing, "fit")):
        raise InputError(
            f"{kind} is neither a class, nor an estimator, nor a function that makes one"
        )
    method = Method.declare(thing, kind=kind)
    called = use.rpartition(":")[2]
    same = None if method.params else _same_class(method, target)
    if same is not None:
        return replace(same, name=called)
    built = method.build()
    if not hasattr(built, "fit"):
        raise InputError(
            f"{kind} has no fit: name a {'regressor' if target == 'regression' else 'classifier'}"
        )
    # An object is told by what it is made of: a module may be edited, and another process builds it
    # anew.
    label = method.label if method.params or not inspect.isfunction(thing) else use
    return _looked_over(Contender(called, label, dict(method.params), known_space(built)))


def _looked_over(method: Contender) -> Contender:
    """Return a method with a few configurations of its space: by defaults alone a search would miss where it wins."""
    return replace(method, portfolio=drawn_configurations(method, CONFIGURATIONS, seed=0))


def _same_class(method: Method, target: TargetKind) -> Contender | None:
    """Return the known method of this very class, whichever module it was named by."""
    for known in known_opponents(target).values():
        # By the name first: a library that nobody asked for is not imported.
        is_alike = (known.letter or not known.fixed) and known.use.rpartition(":")[2] == getattr(
            method.factory, "__name__", ""
        )
        if is_alike and Method.declare(known.use).factory is method.factory:
            return known
    return None


def _importable(written: str) -> str:
    """Return ``module:Name`` for a name that may stand in a file; its folder, or this one, is looked in from now on."""
    place, colon, name = written.rpartition(":")
    if not colon:
        place, _, name = written.rpartition(".")
    if not place or not name:
        raise InputError(f"method {written!r}: write a class as module:Class, or FILE.py:Class")
    path = Path(place)
    folder = Path.cwd()
    if path.suffix == ".py":
        if not path.is_file():
            raise InputError(f"method {written!r}: there is no file {path}")
        if not path.stem.isidentifier():
            raise InputError(
                f"method {written!r}: {path.name} cannot be imported: name the file with letters"
                " and _"
            )
        folder, place = path.resolve().parent, path.stem
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    return f"{place}:{name}"
