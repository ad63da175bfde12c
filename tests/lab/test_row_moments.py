"""What stored predictions say of chance: groups, dice, one test set, pipelines, and stores that leave it open."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from paragone import Dataset, Experiment
from paragone.lab.method_seeds import throws_dice
from paragone.lab.results import Results
from paragone.lab.view import View
from paragone.methods.method import Method
from paragone.protocols import Predict
from paragone.stats import compare

LDA = "sklearn.discriminant_analysis:LinearDiscriminantAnalysis"
TREE = {"use": "sklearn.tree:DecisionTreeClassifier", "params": {"max_depth": 2}}
METHODS = {"LDA": LDA, "Tree": TREE}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    X, noise = rng.normal(size=(90, 4)), rng.normal(size=90)
    y = np.where(X @ [1.0, 1.0, 0.5, 0.0] + noise > 0, "yes", "no")
    return X, y


def run(folder, dataset, split, protocol=None, methods=None):
    chosen = Predict(metrics=("accuracy",)) if protocol is None else protocol
    experiment = Experiment([dataset], methods or METHODS, split, chosen)
    experiment.run(folder / "a.sqlite", 0).close()
    return Results.open(folder / "a.sqlite")


def test_rows_of_one_group_count_as_one(tmp_path, data):
    X, y = (np.repeat(one, 3, axis=0) for one in data)
    groups = np.repeat(np.arange(90), 3)
    with run(
        tmp_path, Dataset("g", X, y, "classification", groups=groups), {"folds": 5}
    ) as results:
        told = results.stored_rows("accuracy")["g"]
    assert told.moments.of_groups
    assert told.moments.sizes.tolist() == [90]


def test_a_method_with_a_seed_of_no_ensemble_throws_dice(tmp_path, data):
    methods = {**METHODS, "Extra": "sklearn.tree:ExtraTreeClassifier"}
    with run(
        tmp_path, Dataset("d", *data, "classification"), {"folds": 5}, methods=methods
    ) as results:
        told = results.stored_rows("accuracy")["d"]
        found = compare(results, reference="LDA", correction="bonferroni", bayes=False)
        bare = compare(
            results.scores(), reference="LDA", correction="bonferroni", bayes=False,
            designs=results.designs(),
        )  # fmt: skip
    assert told.with_dice == {"Extra"}
    (known,), (alone,) = (one.learners_of("LDA", ["Extra"]) for one in (found, bare))
    assert known.p_raw >= alone.p_raw * (1 - 1e-9)


@pytest.mark.parametrize(
    ("use", "params", "throws"),
    [
        ("sklearn.linear_model:LogisticRegression", {}, False),
        ("sklearn.ensemble:RandomForestClassifier", {}, False),
        ("sklearn.tree:DecisionTreeClassifier", {}, False),
        ("sklearn.tree:DecisionTreeClassifier", {"max_features": 2}, True),
        ("sklearn.neural_network:MLPRegressor", {"random_state": 1}, True),
        ("sklearn.neighbors:KNeighborsClassifier", {}, False),
    ],
)
def test_who_throws_dice(use, params, throws):
    assert throws_dice(Method.declare({"use": use, "params": params})) == throws


def test_one_test_set_speaks_of_the_fitted_models_by_the_exact_test(tmp_path, data):
    with run(tmp_path, Dataset("d", *data, "classification"), 0.5) as results:
        found = compare(results, bayes=False)
        one, other = (
            next(iter(View(results).reader.answers(View(results), "d", name)))
            for name in ("LDA", "Tree")
        )
    right = [answered.predicted == answered.truth for answered in (one, other)]
    won, lost = (right[0] & ~right[1]).sum(), (right[1] & ~right[0]).sum()
    (pair,) = found.learners
    assert pair.unit == "row"
    assert pair.p_raw == pytest.approx(binomtest(won, won + lost).pvalue, rel=1e-9)
    assert "these fitted models and new rows like these" in found.finding


def test_a_cross_validation_of_pipelines_has_rows_too(tmp_path, data):
    from paragone.protocols import Crossval

    X = data[0]
    y = X @ [1.0, 1.0, 0.5, 0.0] + np.random.default_rng(1).normal(size=90)
    methods = {
        "Ridge": "sklearn.linear_model:Ridge",
        "Mean": "sklearn.dummy:DummyRegressor",
    }
    dataset = Dataset("v", X, y, task="regression")
    with run(tmp_path, dataset, {"folds": 5}, Crossval(metric="rmse"), methods) as results:
        direct = compare(results, metric="rmse", bayes=False)
        page = View(results, metric="rmse").comparison
    assert {one.unit for one in direct.learners} == {"row"}
    assert repr(direct.learners) == repr(page.learners)
    assert direct.leading_learners[0].word == "better"


def test_a_store_that_does_not_say_which_rows_belong_together_leaves_the_folds(tmp_path, data):
    with run(tmp_path, Dataset("d", *data, "classification"), {"folds": 5}) as results:
        view = View(results)
        view.described = {name: told for name, told in view.described.items() if name != "rows"}
        assert view.stored_rows("accuracy") == {}
        (pair,) = view.comparison.learners
    assert pair.unit == "fold"


def test_a_class_with_too_few_rows_per_fold_is_said(tmp_path, data):
    X, _ = data
    y = np.where(np.arange(90) < 8, "rare", "usual")
    metrics = Predict(metrics=("balanced_accuracy",))
    with run(tmp_path, Dataset("d", X, y, "classification"), {"folds": 5}, metrics) as results:
        found = compare(results, bayes=False)
    assert any("fewer than 3 rows per fold" in line for line in found.warnings)
    assert found.learners[0].unit == "fold"
