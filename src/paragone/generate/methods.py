"""The methods that a collection is made for, with their search spaces: the eight references, or any classifiers.

Targets: what two classes, several classes or numbers mean for a search: the score, its protocol, and the methods.

Two classes are scored by AUROC, several by the mean AUROC of each against the rest, numbers by R2.
The usual methods of each are in files of one form: `methods.toml`, `multiclass.toml` (where it
differs), `regressors.toml`.

Opponents: whatever a person writes for a method, as a contender that can be searched with, tuned and measured.
"""

from __future__ import annotations

import inspect
import json
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from tomllib import loads
from typing import Any, Literal

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.generate.classifiers import TrialScoring
from paragone.generate.sampling import TargetKind
from paragone.hashing import digest
from paragone.methods import SEED_PARAMETERS, Method, check_space, known_space, new_study, suggest
from paragone.reading import read_toml
from paragone.registry import imported

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


_BOOSTING, _FOREST = (
    "paragone.generate.scouts:BoostingScout",
    "paragone.generate.scouts:ForestScout",
)
SCOUTS: Mapping[str, Mapping[str, tuple[str, tuple[Mapping[str, Any], ...]]]] = {
    "boosting": {
        "binary": (
            _BOOSTING,
            (
                {"n_trees": 60, "depth": 4, "rate": 0.25},
                {"n_trees": 40, "depth": 8, "rate": 0.25, "penalty": 5.0},
            ),
        ),
        "regression": (
            _BOOSTING,
            (
                {"n_trees": 60, "depth": 4, "rate": 0.25, "least": 3, "numbers": True},
                {
                    "n_trees": 40,
                    "depth": 7,
                    "rate": 0.25,
                    "least": 3,
                    "penalty": 5.0,
                    "numbers": True,
                },
            ),
        ),
    },
    "forest": {
        "binary": (_FOREST, ({"n_trees": 25}, {"n_trees": 25, "every_feature": True})),
        "regression": (
            _FOREST,
            (
                {"n_trees": 25, "every_feature": True, "numbers": True},
                {"n_trees": 25, "numbers": True},
            ),
        ),
    },
}
"""The cheap stand-ins that look candidates over first, by name and target; several classes have none."""
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


METRICS: Mapping[TargetKind, str] = {"binary": "AUROC", "multiclass": "AUROC", "regression": "R2"}
"""What scores are called where people read them."""
CEILINGS: Mapping[TargetKind, str] = {
    "binary": "roc_auc",
    "multiclass": "roc_auc",
    "regression": "r2",
}
"""What the truth sheet calls the best score that any method can reach."""
SCORING: Mapping[TargetKind, TrialScoring] = {
    "binary": "auroc",
    "multiclass": "classes",
    "regression": "r2",
}
"""What tuning looks at, and what claims are about: AUROC, its mean over classes against the rest, or R2."""
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


def metric_of(target: TargetKind) -> Literal["auroc", "r2"]:
    """Return the metric that counts, by its name.

    Examples
    --------
    >>> metric_of("multiclass"), metric_of("regression")
    ('auroc', 'r2')
    """
    return "r2" if target == "regression" else "auroc"


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
