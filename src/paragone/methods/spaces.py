"""Search spaces: what values a parameter may take, drawn by Optuna; and the spaces of methods that everybody tunes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, TypeAlias

from paragone.errors import InputError, unknown_name

SPACE_KEYS = ("low", "high", "log", "step", "choices", "when")


def check_space(space: Mapping[str, Any], where: str) -> None:
    """Refuse a space that cannot be drawn from.

    Examples
    --------
    >>> check_space({"C": {"low": 1.0}}, "space")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: space: parameter 'C' needs low and high (log, step), or choices
    """
    for name, given in space.items():
        limits = given if isinstance(given, Mapping) else {}
        for key in limits:
            if key not in SPACE_KEYS:
                raise unknown_name(f"key in {where}, parameter {name!r}", key, SPACE_KEYS)
        if not ({"low", "high"} <= set(limits) or limits.get("choices")):
            raise InputError(
                f"{where}: parameter {name!r} needs low and high (log, step), or choices"
            )
        if "low" in limits and not limits["low"] <= limits["high"]:
            raise InputError(
                f"{where}: parameter {name!r}: low {limits['low']} is above high {limits['high']}"
            )
        for other in limits.get("when", {}):
            if other not in space:
                raise unknown_name(f"parameter in {where}, {name!r}, when", other, space)


def suggest(trial: Any, space: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Draw a value of every parameter whose condition holds.

    Examples
    --------
    >>> trial = new_study(seed=0).ask()
    >>> suggest(trial, {"C": {"low": 0.1, "high": 10.0, "log": True}})["C"] < 10
    True
    """
    params: dict[str, Any] = {}
    for name, limits in space.items():
        if all(params.get(other) in allowed for other, allowed in limits.get("when", {}).items()):
            params[name] = _suggested(trial, name, limits)
    return params


def _suggested(trial: Any, name: str, limits: Mapping[str, Any]) -> Any:
    if "choices" in limits:
        return trial.suggest_categorical(name, list(limits["choices"]))
    whole = isinstance(limits["low"], int) and isinstance(limits["high"], int)
    options = {key: limits[key] for key in ("log", "step") if key in limits}
    draw = trial.suggest_int if whole else trial.suggest_float
    return draw(name, limits["low"], limits["high"], **options)


def new_study(seed: int) -> Any:
    """Open a search for a maximum, in memory.

    Examples
    --------
    >>> study = new_study(seed=0)
    >>> trial = study.ask()
    >>> study.tell(trial, 0.9).value
    0.9
    """
    try:
        import optuna
    except ImportError as error:
        raise InputError("tuning needs Optuna: pip install 'paragone[boost]'") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed)
    return optuna.create_study(direction="maximize", sampler=sampler)


def finished_trial(
    params: Mapping[str, Any], space: Mapping[str, Mapping[str, Any]], value: float
) -> Any:
    """Return a configuration that was scored already, for a study to learn from what lies in the space.

    Examples
    --------
    >>> trial = finished_trial({"C": 2.0, "tol": 0.1}, {"C": {"low": 1.0, "high": 9.0}}, 0.8)
    >>> trial.params, trial.user_attrs["params"]
    ({'C': 2.0}, {'C': 2.0, 'tol': 0.1})
    """
    import optuna

    limits = {name: _distribution(space[name]) for name in params if name in space}
    inside = {name: limit for name, limit in limits.items() if _lies_in(params[name], limit)}
    return optuna.trial.create_trial(
        value=value,
        params={name: params[name] for name in inside},
        distributions=inside,
        user_attrs={"params": dict(params)},
    )


def _distribution(limits: Mapping[str, Any]) -> Any:
    import optuna

    if "choices" in limits:
        return optuna.distributions.CategoricalDistribution(list(limits["choices"]))
    whole = isinstance(limits["low"], int) and isinstance(limits["high"], int)
    kind = optuna.distributions.IntDistribution if whole else optuna.distributions.FloatDistribution
    options = {key: limits[key] for key in ("log", "step") if key in limits}
    return kind(limits["low"], limits["high"], **options)


def _lies_in(value: Any, limits: Any) -> bool:
    # A None among choices is written as a word, which only whoever wrote the space can tell.
    choices = getattr(limits, "choices", None)
    if choices is not None:
        return value in choices
    return isinstance(value, (int, float)) and bool(limits.low <= value <= limits.high)


Space: TypeAlias = Mapping[str, Mapping[str, Any]]
_TREES: Space = {
    "max_features": {"low": 0.1, "high": 1.0},
    "min_samples_leaf": {"low": 1, "high": 20, "log": True},
}
_LEAVES: Space = {"learning_rate": {"low": 0.01, "high": 0.3, "log": True}}
_BOOSTING: Space = {
    **_LEAVES,
    "max_leaf_nodes": {"low": 7, "high": 127, "log": True},
    "l2_regularization": {"low": 1e-6, "high": 10.0, "log": True},
    "min_samples_leaf": {"low": 5, "high": 60, "log": True},
}
_LIGHT: Space = {
    **_LEAVES,
    "num_leaves": {"low": 7, "high": 127, "log": True},
    "min_child_samples": {"low": 5, "high": 60, "log": True},
    "reg_lambda": {"low": 1e-6, "high": 10.0, "log": True},
}
_EXTREME: Space = {
    **_LEAVES,
    "max_depth": {"low": 2, "high": 10},
    "subsample": {"low": 0.5, "high": 1.0},
    "colsample_bytree": {"low": 0.5, "high": 1.0},
    "reg_lambda": {"low": 1e-3, "high": 10.0, "log": True},
}
_NEIGHBOURS: Space = {
    "n_neighbors": {"low": 1, "high": 60, "log": True},
    "weights": {"choices": ["uniform", "distance"]},
}
_KERNEL: Space = {
    "C": {"low": 1e-2, "high": 1e3, "log": True},
    "gamma": {"low": 1e-4, "high": 10.0, "log": True},
}
_OF_BOTH: Mapping[str, Space] = {
    "KNeighbors": _NEIGHBOURS,
    "RandomForest": _TREES,
    "ExtraTrees": _TREES,
    "HistGradientBoosting": _BOOSTING,
    "LGBM": _LIGHT,
    "XGB": _EXTREME,
}
_KINDS = ("Classifier", "Regressor")
KNOWN_SPACES: Mapping[str, Space] = {
    "LogisticRegression": {"C": {"low": 1e-4, "high": 1e3, "log": True}},
    "Ridge": {"alpha": {"low": 1e-4, "high": 1e4, "log": True}},
    "Lasso": {"alpha": {"low": 1e-5, "high": 1e2, "log": True}},
    "ElasticNet": {
        "alpha": {"low": 1e-5, "high": 1e2, "log": True},
        "l1_ratio": {"low": 0.0, "high": 1.0},
    },
    "LinearSVC": {"C": {"low": 1e-4, "high": 1e2, "log": True}},
    "SVC": _KERNEL,
    "SVR": _KERNEL,
    **{f"{name}{kind}": space for (name, space), kind in product(_OF_BOTH.items(), _KINDS)},
    "DecisionTreeClassifier": {"ccp_alpha": {"low": 1e-6, "high": 1e-1, "log": True}},
    "DecisionTreeRegressor": {"min_samples_leaf": {"low": 1, "high": 60, "log": True}},
}
"""Ranges in which everybody looks, by the name of the class."""


def known_space(estimator: Any) -> dict[str, Mapping[str, Any]]:
    """Return the space of an estimator or of a pipeline's last step; empty where none is known.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.linear_model import Ridge
    >>> list(known_space(make_pipeline(StandardScaler(), Ridge())))
    ['ridge__alpha']
    """
    steps = getattr(estimator, "steps", None)
    if steps:
        name, last = steps[-1]
        return {f"{name}__{key}": limits for key, limits in known_space(last).items()}
    return dict(KNOWN_SPACES.get(type(estimator).__name__, {}))
