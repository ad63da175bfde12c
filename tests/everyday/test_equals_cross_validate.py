"""Scores are those of scikit-learn's cross_validate, to the last bit: same estimators, splits, scorers and seeds."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from paragone import Dataset, Experiment, Predict

ROWS = 150
RNG = np.random.default_rng(0)


def _binary():
    X, y = load_breast_cancer(return_X_y=True)
    rows = RNG.choice(len(y), ROWS, replace=False)
    return X[rows][:, :8], y[rows]


def _words():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def _table():
    X, y = _binary()
    table = pd.DataFrame(X[:, :3], columns=["a", "β", "c d"])
    table["plan"] = RNG.choice(["basic", "plus", "pro"], len(y))
    table["city"] = pd.Categorical(RNG.choice(["Rome", "Bari"], len(y)))
    table.loc[::7, "a"] = np.nan
    table.loc[::11, "plan"] = None
    return table, np.where(y == 1, "yes", "no")


def _gaps():
    X, y = _binary()
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    return table.mask(RNG.random(X.shape) < 0.3), y


def _thin():
    X, y = _binary()
    return sparse.csr_matrix(np.where(RNG.random(X.shape) < 0.6, 0.0, X)), y


def _numbers():
    X, y = load_diabetes(return_X_y=True)
    return X[:ROWS], y[:ROWS]


def scaled(model):
    return make_pipeline(StandardScaler(), model)


def encoded(model):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return make_pipeline(
        make_column_transformer(
            (numbers, make_column_selector(dtype_include="number")),
            (OneHotEncoder(handle_unknown="ignore"), ["plan", "city"]),
        ),
        model,
    )


LOGISTIC = LogisticRegression(max_iter=2000)
TREE = DecisionTreeClassifier(random_state=0)
PLAIN = {
    "tree": DecisionTreeClassifier(random_state=1),
    "forest": RandomForestClassifier(8, random_state=2),
    "pipeline": scaled(LOGISTIC),
    "bayes": GaussianNB(),
    "neighbours": scaled(KNeighborsClassifier()),
    "vectors": scaled(SVC(probability=False)),
    "margin": scaled(LinearSVC(random_state=0)),
    "descent": scaled(SGDClassifier(random_state=5)),
    "stack": StackingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier(random_state=0))], LOGISTIC, cv=3),
    "vote": VotingClassifier([("a", GaussianNB()), ("b", scaled(LOGISTIC))], voting="soft"),
    "calibrated": CalibratedClassifierCV(GaussianNB(), cv=3),
    "search": GridSearchCV(scaled(LOGISTIC), {"logisticregression__C": [0.1, 1.0]}, cv=3),
    "random search": RandomizedSearchCV(TREE, {"max_depth": [2, 3, 4]}, n_iter=2, cv=3, random_state=0),
    "function": make_pipeline(FunctionTransformer(np.abs), GaussianNB()),
    "floor": DummyClassifier(strategy="prior"),
}  # fmt: skip
REGRESSORS = {
    "ridge": scaled(Ridge()),
    "forest": RandomForestRegressor(8, random_state=3),
    "boosting": HistGradientBoostingRegressor(max_iter=20, random_state=0),
    "neighbours": KNeighborsRegressor(),
    "tree": DecisionTreeRegressor(random_state=0),
    "floor": DummyRegressor(),
}
OF_TABLES = {
    "encoded": encoded(LOGISTIC),
    "encoded forest": encoded(RandomForestClassifier(8, random_state=1)),
    "encoded search": GridSearchCV(encoded(LOGISTIC), {"logisticregression__C": [0.1, 1.0]}, cv=3),
}
OF_GAPS = {
    "boosting": HistGradientBoostingClassifier(max_iter=20, random_state=0),
    "forest": RandomForestClassifier(8, random_state=2),
    "imputed": make_pipeline(SimpleImputer(), LOGISTIC),
}
OF_THIN = {
    "logistic": LOGISTIC,
    "forest": RandomForestClassifier(8, random_state=2),
    "scaled": make_pipeline(StandardScaler(with_mean=False), LOGISTIC),
    "margin": LinearSVC(random_state=0),
}
BINARY = (
    "accuracy",
    "roc_auc",
    "f1",
    "balanced_accuracy",
    "neg_log_loss",
    "average_precision",
    "matthews_corrcoef",
)
CLASSES = ("accuracy", "f1_macro", "roc_auc_ovr", "neg_log_loss")
WORDS = ("accuracy", "f1_macro", "balanced_accuracy", "neg_log_loss")
VALUES = ("r2", "neg_root_mean_squared_error", "neg_mean_absolute_error", "neg_max_error")

OF_PROBABILITIES = ("neg_log_loss", "roc_auc_ovr")
GROUPS = np.arange(ROWS) // 5
CASES = {
    "binary, stratified": (_binary, PLAIN, BINARY, StratifiedKFold(3, shuffle=True, random_state=0)),
    "binary, shuffled": (_binary, PLAIN, BINARY, ShuffleSplit(2, test_size=0.3, random_state=1)),
    "binary, repeated": (_binary, PLAIN, BINARY, RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=3)),
    "binary, groups": (_binary, PLAIN, BINARY, GroupKFold(3)),
    "binary, folds": (_binary, PLAIN, BINARY, KFold(3, shuffle=True, random_state=6)),
    "binary, in time": (_binary, PLAIN, BINARY, TimeSeriesSplit(2)),
    "words, groups": (_words, PLAIN, WORDS, GroupKFold(3)),
    "words, repeated": (_words, PLAIN, CLASSES, RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=1)),
    "words, stratified": (_words, PLAIN, CLASSES, StratifiedKFold(3)),
    "words, a share": (_words, PLAIN, CLASSES, StratifiedShuffleSplit(2, test_size=0.4, random_state=2)),
    "words, predefined": (_words, PLAIN, WORDS, PredefinedSplit(np.arange(ROWS) % 3)),
    "table, stratified": (_table, OF_TABLES, WORDS, StratifiedKFold(3)),
    "table, shuffled": (_table, OF_TABLES, WORDS, StratifiedShuffleSplit(2, random_state=0)),
    "gaps, stratified": (_gaps, OF_GAPS, BINARY, StratifiedKFold(3)),
    "gaps, shuffled": (_gaps, OF_GAPS, BINARY, ShuffleSplit(2, random_state=0)),
    "sparse, stratified": (_thin, OF_THIN, ("accuracy", "roc_auc", "f1"), StratifiedKFold(3)),
    "sparse, shuffled": (_thin, OF_THIN, ("accuracy", "roc_auc", "f1"), ShuffleSplit(2, random_state=0)),
    "numbers, folds": (_numbers, REGRESSORS, VALUES, KFold(3, shuffle=True, random_state=0)),
    "numbers, in time": (_numbers, REGRESSORS, VALUES, TimeSeriesSplit(3)),
    "numbers, shuffled": (_numbers, REGRESSORS, VALUES, ShuffleSplit(2, random_state=4)),
    "numbers, groups": (_numbers, REGRESSORS, VALUES, GroupKFold(3)),
}  # fmt: skip


def expected(estimator, X, y, splitter, groups, scorers, **fit):
    # A scorer of probabilities cannot be asked of a model without; cross_validate raises there.
    asked = [
        name
        for name in scorers
        if hasattr(estimator, "predict_proba") or name not in OF_PROBABILITIES
    ]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        found = cross_validate(
            estimator, X, y, cv=splitter, groups=groups, scoring=asked, params=fit or None
        )
    return {name: found[f"test_{name}"] for name in asked}


def ours(dataset, methods, splitter, scorers, tmp_path, **options):
    experiment = Experiment([dataset], methods, splitter, Predict(metrics=scorers))
    with experiment.run(tmp_path / "a.sqlite", 0, **options) as results:
        assert results.failures().empty, results.failures()["error"].tolist()
        return results.scores()


def assert_equal(scores, methods, scorers, wanted):
    by = {}
    for row in scores.itertuples():
        by.setdefault((row.method, row.metric), {})[row.fold] = row.value
    n_compared = 0
    for method in methods:
        for scorer in scorers:
            if scorer not in wanted[method]:
                assert (method, scorer) not in by
                continue
            found = np.array([by[method, scorer][fold] for fold in sorted(by[method, scorer])])
            np.testing.assert_array_equal(
                found, wanted[method][scorer], err_msg=f"{method}, {scorer}"
            )
            n_compared += 1
    return n_compared


def test_there_are_at_least_two_hundred_combinations():
    # Estimators on data by splitter; every one is compared by several scorers and in every fold.
    assert sum(len(methods) for _, methods, _, _ in CASES.values()) >= 200
    assert sum(len(methods) * len(scorers) for _, methods, scorers, _ in CASES.values()) >= 600


@pytest.mark.parametrize("case", CASES)
def test_scores_are_those_of_cross_validate(case, tmp_path):
    make, methods, scorers, splitter = CASES[case]
    X, y = make()
    groups = GROUPS if "groups" in case else None
    task = "regression" if "numbers" in case else "classification"
    dataset = Dataset("d", X, y, task, groups=groups)
    found = ours(dataset, methods, splitter, scorers, tmp_path, isolation="none")
    wanted = {name: expected(one, X, y, splitter, groups, scorers) for name, one in methods.items()}
    assert assert_equal(found, methods, scorers, wanted) >= len(methods)


def test_weights_reach_fits_as_in_cross_validate(tmp_path):
    X, y = _binary()
    weights = RNG.random(ROWS) + 0.1
    methods = {name: PLAIN[name] for name in ("tree", "forest", "bayes")}
    splitter, scorers = StratifiedKFold(3), ("accuracy", "roc_auc")
    dataset = Dataset("d", X, y, "classification", weights=weights)
    found = ours(dataset, methods, splitter, scorers, tmp_path, isolation="none")
    wanted = {
        n: expected(m, X, y, splitter, None, scorers, sample_weight=weights)
        for n, m in methods.items()
    }
    assert assert_equal(found, methods, scorers, wanted) == 6
    without = {n: expected(m, X, y, splitter, None, scorers) for n, m in methods.items()}
    assert any((wanted[n]["roc_auc"] != without[n]["roc_auc"]).any() for n in methods)


def test_processes_of_their_own_change_nothing(tmp_path):
    X, y = _table()
    methods = {**OF_TABLES, "boosting": HistGradientBoostingClassifier(max_iter=10, random_state=0)}
    dataset = Dataset("d", X, y, "classification")
    alone = ours(dataset, methods, StratifiedKFold(3), WORDS, tmp_path)
    (tmp_path / "b").mkdir()
    together = ours(dataset, methods, StratifiedKFold(3), WORDS, tmp_path / "b", isolation="none")
    pd.testing.assert_frame_equal(alone, together, check_exact=True)
