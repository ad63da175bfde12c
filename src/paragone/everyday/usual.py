"""The usual methods: a floor, a linear model, neighbours, a forest, boosting, and what else is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any


def usual_methods(task: str) -> dict[str, Any]:
    """Return the methods that anybody would try first, each at sound settings.

    They are scikit-learn's own; LightGBM, XGBoost and CatBoost join where they are installed. What
    a method needs done to the columns of a table, the predict protocol does.

    Parameters
    ----------
    task : {"classification", "regression"}
        What is predicted.

    Examples
    --------
    >>> list(usual_methods("regression"))[:5]
    ['floor', 'linear', 'neighbours', 'forest', 'boosting']
    """
    classes = task == "classification"
    found = _of_classes() if classes else _of_numbers()
    kind = "Classifier" if classes else "Regressor"
    for name, (package, use, params) in _OTHERS.items():
        if find_spec(package) is not None:
            found[name] = {"use": f"{use}{kind}", "params": params}
    return found


_OTHERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "lightgbm": ("lightgbm", "lightgbm:LGBM", {"verbose": -1, "n_jobs": 1}),
    "xgboost": ("xgboost", "xgboost:XGB", {"enable_categorical": True, "n_jobs": 1}),
    "catboost": (
        "catboost",
        "catboost:CatBoost",
        {"verbose": 0, "thread_count": 1, "allow_writing_files": False},
    ),
}


def _scaled(model: Any) -> Any:
    """Return a pipeline that centres and scales first: without it, distances and penalties follow the units."""
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    return Pipeline([("standardscaler", StandardScaler()), ("model", model)])


def _of_classes() -> dict[str, Any]:
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    return {
        "floor": DummyClassifier(strategy="prior"),
        "linear": _scaled(LogisticRegression(max_iter=5000)),
        "neighbours": _scaled(KNeighborsClassifier(n_neighbors=15)),
        "forest": RandomForestClassifier(n_estimators=200),
        "boosting": HistGradientBoostingClassifier(),
    }


def _of_numbers() -> dict[str, Any]:
    from sklearn.dummy import DummyRegressor
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.neighbors import KNeighborsRegressor

    return {
        "floor": DummyRegressor(),
        "linear": _scaled(RidgeCV()),
        "neighbours": _scaled(KNeighborsRegressor(n_neighbors=15)),
        "forest": RandomForestRegressor(n_estimators=200),
        "boosting": HistGradientBoostingRegressor(),
    }
