"""The methods that a collection is made for, with their search spaces: the eight references, or any classifiers."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.hashing import digest
from paragone.methods import SEED_PARAMETERS, Method, check_space, new_study, suggest
from paragone.reading import read_toml

_SEED_KINDS = (int, np.integer, np.random.RandomState, np.random.Generator)

NONE = "none"
"""Stands for None among choices, which TOML cannot write."""


def read_space(path: str | Path) -> dict[str, dict[str, Any]]:
    """Read a space from a TOML file: one table per parameter.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "space.toml"
    ...     _ = file.write_text("max_depth = {low = 2, high = 9}")
    ...     read_space(file)
    {'max_depth': {'low': 2, 'high': 9}}
    """
    path = Path(path)
    space = read_toml(path)
    check_space(space, f"--space {path}")
    return space


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with None for the word none.

    Examples
    --------
    >>> plain_params({"max_features": "none", "max_depth": 3})
    {'max_features': None, 'max_depth': 3}
    """
    return {name: None if value == NONE else value for name, value in params.items()}


SCOUTS: Mapping[str, tuple[str, tuple[Mapping[str, Any], ...]]] = {
    "boosting": (
        "paragone.generate.scouts:BoostingScout",
        (
            {"n_trees": 60, "depth": 4, "rate": 0.25},
            {"n_trees": 40, "depth": 8, "rate": 0.25, "penalty": 5.0},
        ),
    ),
    "forest": (
        "paragone.generate.scouts:ForestScout",
        ({"n_trees": 25}, {"n_trees": 25, "every_feature": True}),
    ),
}


DIGEN_V1_SVC = {"max_iter": -1}
"""The published procedure lets the SVC run on; a time limit on the cell guards against hours."""


@dataclass(frozen=True)
class Contender:
    """A classifier that takes part: how it is built, searched and screened.

    Parameters
    ----------
    name : str
        What tables call it.
    use : str
        An alias or ``module:Class``.
    fixed : mapping
        Parameters that are always set.
    space : mapping
        The search space of tuning; empty for a method that is not tuned.
    portfolio : tuple of mappings
        The configurations of screening; the best counts.
    letter : str
        One letter for compact tables.
    scout : str
        The cheap classifier that scores candidates first, see `SCOUTS`; empty for a method that
        does so itself.

    Examples
    --------
    >>> tree = Contender("Tree", "sklearn.tree:DecisionTreeClassifier", portfolio=({"max_depth": 3}, {"max_depth": 8}))
    >>> tree.configured({"max_depth": 3}).build()
    DecisionTreeClassifier(max_depth=3)
    """

    name: str
    use: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    space: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    portfolio: tuple[Mapping[str, Any], ...] = ({},)
    letter: str = ""
    scout: str = ""

    def __post_init__(self) -> None:
        if self.scout and self.scout not in SCOUTS:
            raise unknown_name(f"scout of method {self.name!r}", self.scout, SCOUTS)
        check_space(self.space, f"the space of {self.name!r}")
        # Built once here, so that a misspelt parameter is refused before a search of hours begins.
        for params in (dict.fromkeys(self.space), *self.portfolio):
            self.configured(params)

    def configured(self, params: Mapping[str, Any]) -> Method:
        """Return the classifier with parameters; an unknown one is refused."""
        return configured(Method.declare(self.declared()), params, kind=f"method {self.name!r}")

    def declared(self) -> dict[str, Any]:
        """Return the classifier with its fixed parameters, as an experiment declares a method."""
        return {"use": self.use, "params": plain_params(self.fixed)}

    def table(self) -> dict[str, Any]:
        """Return everything but the name, as a spec file has it; see `contenders`."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name != "name"}


def configured(method: Method, params: Mapping[str, Any], *, kind: str = "classifier") -> Method:
    """Return a method with other parameters; an unknown parameter is refused.

    A parameter of a step is written as scikit-learn does, ``svc__C``.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import LinearSVC
    >>> pipeline = Method.declare(make_pipeline(StandardScaler(), LinearSVC()))
    >>> configured(pipeline, {"linearsvc__C": 0.5}).build().get_params()["linearsvc__C"]
    0.5
    """
    plain = plain_params(params)
    own = {name: value for name, value in plain.items() if "__" not in name}
    changed = replace(method, params={**method.params, **own})
    for name, value in plain.items():
        step, _, inner = name.partition("__")
        if inner:
            changed = _with_step(changed, step, {inner: value}, kind)
    changed.check_params(kind)
    return changed


def _with_step(method: Method, step: str, params: Mapping[str, Any], kind: str) -> Method:
    """Return a method with other parameters of what it holds: an estimator alone, or the step of a list by its name."""
    held = method.params.get(step)
    if isinstance(held, Method):
        return replace(method, params={**method.params, step: configured(held, params, kind=kind)})
    names: list[str] = []
    for parameter, items in method.params.items():
        # Lists of (name, estimator) are what pipelines, unions and stacks hold.
        if isinstance(items, (list, tuple)) and all(
            isinstance(i, (list, tuple)) and len(i) >= 2 for i in items
        ):
            found = [str(item[0]) for item in items]
            if step in found and isinstance(items[found.index(step)][1], Method):
                place = found.index(step)
                one = items[place]
                changed = (one[0], configured(one[1], params, kind=kind), *one[2:])
                several = [*items[:place], changed, *items[place + 1 :]]
                return replace(method, params={**method.params, parameter: several})
            names += found
    raise unknown_name(f"step of {kind}", step, names)


def reseeded(estimator: Any, seed: int) -> Any:
    """Give every seed of an estimator a new value, those inside it and those that somebody set included.

    Parameters
    ----------
    estimator : estimator
        Changed in place; one without ``get_params`` stays as it is.
    seed : int
        What the seeds are drawn from, each by its own name: two copies of an estimator get equal
        ones.

    Returns
    -------
    estimator
        The same.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.tree import ExtraTreeClassifier
    >>> tree = reseeded(make_pipeline(ExtraTreeClassifier(random_state=0)), 7)
    >>> tree.get_params()["extratreeclassifier__random_state"]
    111047854
    """
    if not hasattr(estimator, "get_params"):
        return estimator
    held = estimator.get_params(deep=True)
    names = [name for name in held if name.rpartition("__")[2] in SEED_PARAMETERS]
    # A seed is a whole number, a generator or open; a parameter of that name with another meaning
    # is left alone.
    seeds = [name for name in names if held[name] is None or isinstance(held[name], _SEED_KINDS)]
    if seeds:
        estimator.set_params(**{name: int(digest([seed, name])[:8], 16) >> 1 for name in seeds})
    return estimator


@cache
def reference_methods() -> tuple[Contender, ...]:
    """Return the eight reference methods.

    Examples
    --------
    >>> "".join(sorted(method.letter for method in reference_methods()))
    'DFGKLRSX'
    """
    text = files("paragone.generate").joinpath("methods.toml").read_text(encoding="utf-8")
    return contenders(tomllib.loads(text))


def contenders(tables: Mapping[str, Mapping[str, Any]]) -> tuple[Contender, ...]:
    """Make contenders of tables, one per method, as in a spec file."""
    known = [item.name for item in fields(Contender) if item.name != "name"]
    made = []
    for name, table in tables.items():
        for key in table:
            if key not in known:
                raise unknown_name(f"key of method {name!r}", key, known)
        if "use" not in table:
            raise InputError(
                f"method {name!r}: the key 'use' is missing; name a class as module:Class"
            )
        made.append(Contender(name, **{**table, "portfolio": tuple(table.get("portfolio", ({},)))}))
    return tuple(made)


def reference_method(name: str) -> Contender:
    """Return a reference method by its name or letter.

    Examples
    --------
    >>> reference_method("X").name
    'XGBClassifier'
    """
    for method in reference_methods():
        if name in (method.name, method.letter):
            return method
    raise unknown_name("method", name, [method.name for method in reference_methods()])


@cache
def digen_tuned() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the published tuned parameters: by dataset, by method, in today's spelling.

    Examples
    --------
    >>> digen_tuned()["digen8_4426"]["KNeighborsClassifier"]
    {'metric': 'euclidean', 'n_neighbors': 8, 'weights': 'distance'}
    """
    text = files("paragone.generate").joinpath("digen_tuned.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return found


def drawn_configurations(contender: Contender, n: int, seed: int) -> tuple[Mapping[str, Any], ...]:
    """Return a contender's own configurations, and draws of its space up to a number of them.

    Examples
    --------
    >>> own = Contender("NB", "sklearn.naive_bayes:GaussianNB", space={"var_smoothing": {"low": 1e-9, "high": 1e-1}})
    >>> len(drawn_configurations(own, 4, seed=0)), drawn_configurations(own, 4, seed=0)[0]
    (4, {})
    """
    found = list(contender.portfolio)[:n]
    if not contender.space:
        return tuple(found[:1])
    study = new_study(seed)
    while len(found) < n:
        found.append(suggest(study.ask(), contender.space))
    return tuple(found)
