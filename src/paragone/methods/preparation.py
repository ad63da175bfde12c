"""The default preparation: tables into numbers for methods that need numbers, fitted on train inside the split.

It is made of scikit-learn's parts, so that what a method was given can be printed, taken out and
used elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone

from paragone.data.frames import column_kind, column_kinds, missing_values
from paragone.methods.method import Method
from paragone.methods.spaces import known_space

if TYPE_CHECKING:
    import pandas as pd

Preparation: TypeAlias = Literal["none", "numbers", "categories"]

MOST_CATEGORIES = 30
"""A column of text becomes at most this many 0/1 columns: the frequent values, and one for all others."""
MOST_LEVELS = 250
"""A method that takes categories itself is given at most this many per column; boosting bins 255 values."""
OTHERS = "(others)"


class ColumnsOfKind(BaseEstimator):
    """Names the columns of some kinds, as a `ColumnTransformer` asks for them.

    Parameters
    ----------
    kinds : tuple of str
        Of ``number``, ``boolean``, ``category``, ``text`` and ``date``.

    Examples
    --------
    >>> import pandas as pd
    >>> ColumnsOfKind(("text",))(pd.DataFrame({"a": [1.0], "b": ["x"]}))
    ['b']
    """

    def __init__(self, kinds: tuple[str, ...]) -> None:
        self.kinds = kinds

    def __call__(self, frame: pd.DataFrame) -> list[str]:
        """Return the names."""
        return [name for name, kind in column_kinds(frame).items() if kind in self.kinds]


class DateParts(TransformerMixin, BaseEstimator):
    """Dates as numbers: year, month, day, weekday, hour, and days since 1970.

    Examples
    --------
    >>> import pandas as pd
    >>> dates = pd.DataFrame({"on": pd.to_datetime(["2024-02-29", None])})
    >>> DateParts().fit_transform(dates).iloc[0].tolist()
    [2024.0, 2.0, 29.0, 3.0, 0.0, 19782.0]
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Remember the columns."""
        self.feature_names_in_ = np.asarray([str(name) for name in X.columns], dtype=object)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return six columns for every date; a gap stays a gap."""
        import pandas as pd

        columns = {}
        for name in X.columns:
            when = X[name].dt
            when = when.tz_convert("UTC").dt if when.tz is not None else when
            parts = (
                when.year,
                when.month,
                when.day,
                when.day_of_week,
                when.hour,
                self._days(X[name]),
            )
            for label, part in zip(PARTS, parts, strict=True):
                columns[f"{name} {label}"] = part.astype(float)
        return pd.DataFrame(columns, index=X.index)

    @staticmethod
    def _days(series: pd.Series[Any]) -> pd.Series[Any]:
        import pandas as pd

        plain = (
            series.dt.tz_convert("UTC").dt.tz_localize(None) if series.dt.tz is not None else series
        )
        return (plain - pd.Timestamp(1970, 1, 1)).dt.total_seconds() / 86_400

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns."""
        return np.asarray(
            [f"{name} {label}" for name in self.feature_names_in_ for label in PARTS], dtype=object
        )


PARTS = ("year", "month", "day", "weekday", "hour", "days")


class LevelsOfTrain(TransformerMixin, BaseEstimator):
    """Text, truth values and categories as categories whose levels are those of the train rows.

    A value that train does not have becomes a gap, and rare ones share a level where there are very
    many: no level of the test rows is known to the fit.

    Parameters
    ----------
    most : int, default=250
        How many levels a column may have.

    Examples
    --------
    >>> import pandas as pd
    >>> levels = LevelsOfTrain().fit(pd.DataFrame({"a": ["x", "y", "x"]}))
    >>> levels.transform(pd.DataFrame({"a": ["y", "z"]}))["a"].cat.codes.tolist()
    [1, -1]
    """

    def __init__(self, most: int = MOST_LEVELS) -> None:
        self.most = most

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Learn the levels."""
        self.feature_names_in_ = np.asarray([str(name) for name in X.columns], dtype=object)
        self.n_features_in_ = X.shape[1]
        self.levels_ = {}
        for name in X.columns:
            counts = _texts(X[name]).value_counts()
            frequent = sorted(
                counts.index[: self.most - 1] if len(counts) > self.most else counts.index
            )
            self.levels_[name] = [*frequent, OTHERS] if len(counts) > self.most else frequent
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the same columns as categories."""
        import pandas as pd

        columns = {}
        for name in X.columns:
            texts, levels = _texts(X[name]), self.levels_[name]
            if levels and levels[-1] == OTHERS:
                texts = texts.where(texts.isin(levels) | texts.isna(), OTHERS)
            columns[name] = pd.Categorical(texts.where(texts.isin(levels)), categories=levels)
        return pd.DataFrame(columns, index=X.index)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns."""
        return self.feature_names_in_


def _texts(series: pd.Series[Any]) -> pd.Series[Any]:
    return series.astype(object).map(str, na_action="ignore")


class TextColumns(TransformerMixin, BaseEstimator):
    """Text, truth values and categories as plain text, gaps as a value of their own, for encoders.

    Examples
    --------
    >>> import pandas as pd
    >>> TextColumns().fit_transform(pd.DataFrame({"a": ["x", None]}))["a"].tolist()
    ['x', '(missing)']
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Remember the columns."""
        self.feature_names_in_ = np.asarray([str(name) for name in X.columns], dtype=object)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the columns as text."""
        import pandas as pd

        columns = {name: _texts(X[name]).where(X[name].notna(), "(missing)") for name in X.columns}
        return pd.DataFrame(columns, index=X.index)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns."""
        return self.feature_names_in_


def into_numbers() -> Any:
    """Return the preparation for a method that needs numbers without gaps.

    Numbers: the median of train for gaps, with a 0/1 column that marks them, then centred and
    scaled. Text, categories and truth values: one 0/1 column per frequent value, one for the
    others. Dates: their parts, as numbers.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    def filled() -> list[Any]:
        return [
            SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
            StandardScaler(),
        ]

    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        max_categories=MOST_CATEGORIES,
        sparse_output=False,
        dtype=np.float64,
    )
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(*filled()), ColumnsOfKind(("number",))),
            (
                "categories",
                make_pipeline(TextColumns(), encoder),
                ColumnsOfKind(("text", "category", "boolean")),
            ),
            ("dates", make_pipeline(DateParts(), *filled()), ColumnsOfKind(("date",))),
        ],
        sparse_threshold=0.0,
    )


def into_categories() -> Any:
    """Return the preparation for a method that takes categories and gaps: levels of train, and parts of dates."""
    from sklearn.compose import ColumnTransformer

    parts = [
        ("numbers", "passthrough", ColumnsOfKind(("number",))),
        ("categories", LevelsOfTrain(), ColumnsOfKind(("text", "category", "boolean"))),
        ("dates", DateParts(), ColumnsOfKind(("date",))),
    ]
    return ColumnTransformer(parts, verbose_feature_names_out=False).set_output(transform="pandas")


def needed(estimator: Any, frame: pd.DataFrame) -> Preparation:
    """Say which preparation an estimator needs for a table.

    An estimator whose own first step chooses columns or encodes text is left alone, and so is one
    that scikit-learn's tags say takes what the table holds.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    frame : DataFrame
        The features.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> needed(LogisticRegression(), pd.DataFrame({"a": ["x", "y"]}))
    'numbers'
    >>> needed(LogisticRegression(), pd.DataFrame({"a": [1.0, 2.0]}))
    'none'
    """
    kinds = {column_kind(frame[name]) for name in frame.columns}
    strange, gaps = bool(kinds - {"number", "boolean"}), missing_values(frame) > 0
    if not strange and not gaps:
        return "none"
    if brings_own(estimator):
        return "none"
    if takes_categories(estimator):
        return "categories" if kinds & {"text", "date"} else "none"
    return "numbers" if strange or not takes_gaps(estimator) else "none"


class CodedClasses(ClassifierMixin, BaseEstimator):
    """A classifier that only knows the classes 0, 1, 2, ... given any: they are numbered before and named after.

    Parameters
    ----------
    estimator : classifier
        Such as XGBoost's.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> CodedClasses(GaussianNB()).fit([[0.0], [0.1], [1.0], [1.1]], list("aabb")).predict([[0.9]]).tolist()
    ['b']
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, **options: Any) -> Self:
        """Number the classes of train and fit."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.estimator_ = clone(self.estimator).fit(X, codes, **options)
        return self

    def predict(self, X: Any) -> Any:
        """Return the classes by their names."""
        return self.classes_[np.asarray(self.estimator_.predict(X), dtype=np.int64)]

    def predict_proba(self, X: Any) -> Any:
        """Return a column per class."""
        return self.estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = self.estimator.__sklearn_tags__().input_tags
        return tags


def coded(method: Method, y: Any) -> Method:
    """Return a method of XGBoost so that it takes classes of any name; every other as it is."""
    if "estimator" in method.params and isinstance(method.params["estimator"], Method):
        inner = coded(method.params["estimator"], y)
        if inner is method.params["estimator"]:
            return method
        given = method.params.get("space")
        space = known_space(method.params["estimator"].build()) if given is None else given
        within = {f"estimator__{name}": limits for name, limits in space.items()}
        return replace(method, params={**method.params, "estimator": inner, "space": within})
    if not method.label.startswith("xgboost.") or not method.factory.__name__.endswith(
        "Classifier"
    ):
        return method
    classes = np.unique(y)
    numbered = classes.dtype.kind in "iub" and np.array_equal(classes, np.arange(len(classes)))
    return method if numbered else Method(CodedClasses, {"estimator": method})


def prepared(method: Method, frame: pd.DataFrame) -> tuple[Method, Preparation]:
    """Return a method with the preparation that a table asks for, as one pipeline, and which preparation that is."""
    from sklearn.pipeline import Pipeline

    from paragone.methods.tuned_estimator import TunedEstimator

    if method.factory is TunedEstimator:
        return _tuned_around(method, frame)
    how = needed(method.build(), frame)
    if how == "none":
        return method, how
    step = Method.declare(into_numbers() if how == "numbers" else into_categories())
    return Method(Pipeline, {"steps": [("preparation", step), ("method", method)]}), how


def _tuned_around(method: Method, frame: pd.DataFrame) -> tuple[Method, Preparation]:
    """Put the preparation inside the tuning: it is fitted on the train part of every inner split."""
    inner, how = prepared(method.params["estimator"], frame)
    if how == "none":
        return method, how
    given = method.params.get("space")
    space = known_space(method.params["estimator"].build()) if given is None else given
    within = {f"method__{name}": limits for name, limits in space.items()}
    return replace(method, params={**method.params, "estimator": inner, "space": within}), how


def _inner(estimator: Any) -> Iterable[Any]:
    """Yield what an estimator hands its features to: of a search, a calibration, a stack or a vote."""
    for name in ("estimator", "base_estimator", "regressor", "classifier"):
        held = getattr(estimator, name, None)
        if hasattr(held, "fit"):
            yield held
    for entry in getattr(estimator, "estimators", None) or ():
        held = entry[-1] if isinstance(entry, (tuple, list)) else entry
        if hasattr(held, "fit"):
            yield held


def _steps(estimator: Any) -> list[Any]:
    return [
        step
        for _, step in getattr(estimator, "steps", ())
        if step is not None and not isinstance(step, str)
    ]


def brings_own(estimator: Any) -> bool:
    """Whether an estimator begins with a step of its own for columns or text."""
    steps = _steps(estimator)
    if steps:
        return brings_own(steps[0]) or _is_encoder(steps[0])
    if type(estimator).__module__ == "sklearn.dummy":
        # A floor does not look at the features at all.
        return True
    inner = list(_inner(estimator))
    return _is_encoder(estimator) or (bool(inner) and all(brings_own(held) for held in inner))


def _is_encoder(step: Any) -> bool:
    """Whether a step takes text or named columns: it chooses columns, or its tags say so, or nobody knows it."""
    if hasattr(step, "transformers") or hasattr(step, "transformer_list"):
        return True
    if not hasattr(step, "transform"):
        return False
    if not hasattr(step, "__sklearn_tags__") or type(step).__name__ == "FunctionTransformer":
        return True
    tags = step.__sklearn_tags__().input_tags
    return bool(tags.categorical or tags.string)


def takes_categories(estimator: Any) -> bool:
    """Whether an estimator takes categories and gaps itself."""
    if _steps(estimator):
        return False
    inner = list(_inner(estimator))
    if inner:
        return all(takes_categories(held) for held in inner)
    package = type(estimator).__module__.partition(".")[0]
    if package == "lightgbm":
        return True
    if package == "xgboost":
        return bool(getattr(estimator, "enable_categorical", False))
    # scikit-learn's boosting by histograms; its tags say nothing of categories.
    return getattr(estimator, "categorical_features", None) == "from_dtype"


def takes_gaps(estimator: Any) -> bool:
    """Whether an estimator takes missing values."""
    steps = _steps(estimator)
    for step in steps:
        if "Imputer" in type(step).__name__:
            return True
        if not takes_gaps(step):
            return False
    if steps:
        return True
    inner = list(_inner(estimator))
    if inner:
        return all(takes_gaps(held) for held in inner)
    if type(estimator).__module__.partition(".")[0] in ("lightgbm", "xgboost", "catboost"):
        return True
    tags = getattr(estimator, "__sklearn_tags__", None)
    return tags is not None and bool(tags().input_tags.allow_nan)
