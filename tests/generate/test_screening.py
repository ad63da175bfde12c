"""Screening against the methods fitted one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from paragone.data import Dataset, SplitPlan
from paragone.errors import InputError
from paragone.generate.classifiers import BoundedSVC
from paragone.generate.methods import reference_method
from paragone.generate.screening import PortfolioScreen, Screening, candidate_batch
from paragone.lab.cells import SplitData
from paragone.methods.method import Method

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 4))
Y = np.column_stack(
    [X[:, 0] * X[:, 1] > 0, X[:, 0] + X[:, 2] > 0, X[:, 1] > X[:, 3] ** 2 - 1]
).astype(np.uint8)
DATA = SplitData(X[:200], Y[:200], X[200:], Y[200:])


def test_neighbours_are_screened_as_scikit_learn_scores_them():
    portfolio = reference_method("K").portfolio
    found = PortfolioScreen(KNeighborsClassifier(), portfolio).scores(DATA)
    for column in range(3):
        for position, params in enumerate(portfolio):
            model = KNeighborsClassifier(**params).fit(DATA.X_train, DATA.y_train[:, column])
            expected = roc_auc_score(DATA.y_test[:, column], model.predict_proba(DATA.X_test)[:, 1])
            assert found[column, position] == pytest.approx(expected, abs=1e-9)


def test_the_stand_in_of_the_svc_is_kernel_ridge():
    portfolio = reference_method("S").portfolio
    found = PortfolioScreen(BoundedSVC(), portfolio).scores(DATA)
    gamma = 1 / (4 * DATA.X_train.var())
    for column in range(3):
        for position, params in enumerate(portfolio):
            options = {key: params[key] for key in ("degree", "coef0") if key in params}
            model = KernelRidge(
                alpha=1 / params["C"], kernel=params["kernel"], gamma=gamma, **options
            )
            values = model.fit(DATA.X_train, 2.0 * DATA.y_train[:, column] - 1).predict(DATA.X_test)
            assert found[column, position] == pytest.approx(
                roc_auc_score(DATA.y_test[:, column], values), abs=1e-9
            )


def test_the_stand_in_scores_like_the_svc_itself():
    portfolio = reference_method("S").portfolio
    found = PortfolioScreen(BoundedSVC(), portfolio).scores(DATA).max(axis=1)
    for column in range(3):
        scores = []
        for params in portfolio:
            svc = BoundedSVC(**params).fit(DATA.X_train, DATA.y_train[:, column])
            scores.append(roc_auc_score(DATA.y_test[:, column], svc.decision_function(DATA.X_test)))
        assert found[column] == pytest.approx(max(scores), abs=0.03)


def test_other_methods_are_fitted_as_they_are():
    method = Method.declare(
        {"use": "sklearn.tree:DecisionTreeClassifier", "params": {"criterion": "entropy"}}
    )
    found = PortfolioScreen(method.build(), [{"max_depth": 3}], seed=5).scores(DATA)
    for column in range(3):
        model = Method(
            method.factory, {"criterion": "entropy", "max_depth": 3, "random_state": 5}
        ).build()
        values = model.fit(DATA.X_train, DATA.y_train[:, column]).predict_proba(DATA.X_test)[:, 1]
        assert found[column, 0] == pytest.approx(
            roc_auc_score(DATA.y_test[:, column], values), abs=1e-12
        )


def test_neighbours_with_parameters_of_their_own_are_not_batched():
    manhattan = PortfolioScreen(KNeighborsClassifier(p=1), [{"n_neighbors": 7}]).scores(DATA)
    model = KNeighborsClassifier(7, p=1).fit(DATA.X_train, DATA.y_train[:, 0])
    expected = roc_auc_score(DATA.y_test[:, 0], model.predict_proba(DATA.X_test)[:, 1])
    assert manhattan[0, 0] == pytest.approx(expected, abs=1e-12)


def test_a_batch_marks_its_train_rows_and_screening_wants_label_columns():
    batch = candidate_batch("b", X, [Y[:, 0], Y[:, 1]], 200)
    assert (batch.train_part.sum(), batch.train_part[:200].all(), batch.n_targets) == (200, True, 2)
    with pytest.raises(InputError, match="label columns"):
        Screening().tasks(Dataset("d", X, Y[:, 0], "classification"), SplitPlan(), 0)
