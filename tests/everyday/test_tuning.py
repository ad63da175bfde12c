"""Tuning: the same number of trials for every method, on inner splits of train only, told in full."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GroupKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from everyday.tables_people_have import churn
from paragone import InputError, evaluate
from paragone.methods.method import Method
from paragone.methods.preparation import prepared
from paragone.methods.spaces import known_space
from paragone.methods.tuned_estimator import TunedEstimator

X, Y = load_wine(return_X_y=True)


def test_the_inner_score_is_that_of_cross_val_score():
    tuned = TunedEstimator(
        KNeighborsClassifier(), trials=6, folds=3, scoring="accuracy", random_state=4
    ).fit(X, Y)
    splits = StratifiedKFold(3, shuffle=True, random_state=4)
    wanted = cross_val_score(KNeighborsClassifier(), X, Y, cv=splits, scoring="accuracy").mean()
    assert tuned.best_after_[0] == pytest.approx(wanted, abs=1e-15)
    chosen = KNeighborsClassifier(**tuned.best_params_)
    assert tuned.best_score_ == pytest.approx(
        cross_val_score(chosen, X, Y, cv=splits, scoring="accuracy").mean()
    )
    assert tuned.best_after_ == sorted(tuned.best_after_)
    np.testing.assert_array_equal(tuned.predict(X), chosen.fit(X, Y).predict(X))


@pytest.mark.parametrize(
    ("estimator", "splitter", "scoring"),
    [(KNeighborsClassifier(1), StratifiedGroupKFold, "accuracy"), (Ridge(), GroupKFold, "r2")],
)
def test_inner_folds_keep_groups_together(estimator, splitter, scoring):
    groups = np.arange(len(Y)) % 30
    tuned = TunedEstimator(estimator, trials=1, folds=3, scoring=scoring, random_state=4).fit(
        X, Y, groups=groups
    )
    splits = splitter(3, shuffle=True, random_state=4)
    wanted = cross_val_score(estimator, X, Y, groups=groups, cv=splits, scoring=scoring).mean()
    assert tuned.best_score_ == pytest.approx(wanted, abs=1e-15)


@pytest.mark.parametrize("workers", [0, 1])
def test_tuning_within_a_run_keeps_the_groups_of_the_data_together(tmp_path, workers):
    # Rows of a group are copies of each other with a label of chance: who sees one knows the
    # others.
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    features = np.repeat(rng.normal(size=(40, 3)), 5, axis=0)
    labels = np.repeat(rng.integers(0, 2, 40), 5)
    frame = pd.DataFrame(features, columns=list("abc")).assign(patient=groups, ill=labels)
    answer = evaluate(
        {"nearest": KNeighborsClassifier(1)},
        frame,
        target="ill",
        groups="patient",
        metrics="accuracy",
        tune=3,
        store=tmp_path / "a.sqlite",
        workers=workers,
        verbose=False,
    )
    assert answer.tuning()["best_after"].map(max).max() < 0.8


def test_one_group_cannot_be_tuned_on():
    with pytest.raises(InputError, match="two groups at least"):
        TunedEstimator(Ridge(), trials=2).fit(X, Y, groups=np.zeros(len(Y)))


def test_the_same_seed_gives_the_same_choice():
    first, second = (
        TunedEstimator(LogisticRegression(max_iter=50), trials=4, random_state=1).fit(X, Y)
        for _ in "ab"
    )
    assert first.best_params_ == second.best_params_
    assert get_scorer("accuracy")(first, X, Y) == get_scorer("accuracy")(second, X, Y)


class Seen(ClassifierMixin, BaseEstimator):
    """Remembers the rows that it was fitted or asked on."""

    rows: set[float] = set()  # noqa: RUF012  shared on purpose: clones are made of it

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        type(self).rows |= set(np.asarray(X)[:, 0].tolist())
        return self

    def predict(self, X):
        type(self).rows |= set(np.asarray(X)[:, 0].tolist())
        return np.full(len(X), self.classes_[0])


def test_no_row_beside_train_is_looked_at():
    numbered = np.arange(100.0)[:, None]
    Seen.rows = set()
    TunedEstimator(Seen(), {"C": {"low": 0.1, "high": 1.0}}, trials=3).fit(
        numbered[:60], np.arange(60) % 2
    )
    assert Seen.rows == set(range(60))


def test_the_preparation_is_fitted_inside_the_inner_splits():
    table = churn(120)
    method = Method(
        TunedEstimator, {"estimator": Method.declare(KNeighborsClassifier()), "trials": 2}
    )
    inside, how = prepared(method, table.drop(columns="churned"))
    assert how == "numbers"
    assert inside.factory is TunedEstimator
    assert [name for name, _ in inside.build().estimator.steps] == ["preparation", "method"]
    assert set(inside.params["space"]) == {"method__n_neighbors", "method__weights"}


def test_every_method_with_a_space_gets_the_same_trials(tmp_path):
    methods = {
        "lr": make_pipeline(StandardScaler(), LogisticRegression()),
        "knn": KNeighborsClassifier(),
        "floor": DummyClassifier(),
        "own": Seen(),
    }
    answer = evaluate(methods, (X, Y), tune=3, spaces={"own": {"C": {"low": 0.1, "high": 1.0}}}, split=2,
                      metrics=["accuracy"], store=tmp_path / "a.sqlite", workers=0, verbose=False)  # fmt: skip
    told = answer.tuning()
    assert set(told["method"]) == {"lr", "knn", "own"}
    assert (told["trials"] == 3).all()
    assert (told["best_after"].map(len) == 3).all()


def test_a_trial_that_cannot_be_fitted_is_the_worst_of_all():
    space = {"n_neighbors": {"choices": [-1, 3]}}
    tuned = TunedEstimator(KNeighborsClassifier(), space, trials=8, random_state=0).fit(X, Y)
    assert tuned.n_failed_ > 0
    assert tuned.best_params_.get("n_neighbors") != -1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tune": 0}, "whole number of trials"),
        ({"tune": 2.5}, "whole number of trials"),
        ({"tune": 2, "spaces": {"rl": {}}}, "method in spaces"),
        ({"spaces": {"lr": {}}}, "say tune=20"),
        ({"tune": 2, "spaces": {"lr": {"C": {"low": 1.0}}}}, "needs low and high"),
    ],
)
def test_wrong_tuning_is_refused_in_one_sentence(options, words, tmp_path):
    with pytest.raises(InputError, match=words):
        evaluate(
            {"lr": LogisticRegression()},
            (X, Y),
            store=tmp_path / "a.sqlite",
            workers=0,
            verbose=False,
            **options,
        )


def test_spaces_reach_into_pipelines():
    assert list(known_space(make_pipeline(StandardScaler(), Ridge()))) == ["ridge__alpha"]
    assert known_space(DummyClassifier()) == {}


def test_small_errors_in_a_unit_are_not_tied():
    X = np.linspace(0, 1, 120)[:, None]
    y = 1e-6 * X[:, 0]
    tuned = TunedEstimator(
        Ridge(alpha=1e6), trials=6, scoring="neg_mean_squared_error", random_state=0
    ).fit(X, y)
    # Every error here is below 1e-11: as shares of one they would all be equal, and the first would
    # be kept.
    assert tuned.best_params_
    assert tuned.best_score_ == max(tuned.best_after_)
