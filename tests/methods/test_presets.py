"""The preset evaluators: plain scikit-learn where labels vary, a quiet constant where they do not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from paragone import Experiment, load, ranking_curve
from paragone.data import SplitPlan, make_splits, scale_split
from paragone.errors import InputError
from paragone.methods.method import Method
from paragone.methods.presets import SUREST, Logistic, OneVsRestLinearSVC, RandomForest
from paragone.protocols import Curve, KGrid
from paragone.protocols.curve.evaluate import label_scores

ALIASES = {"logistic": Logistic, "linear-svc": OneVsRestLinearSVC, "random-forest": RandomForest}
PRESETS = list(ALIASES.values())
PLAIN = {
    Logistic: OneVsRestClassifier(LogisticRegression(C=1.0, max_iter=1000)),
    OneVsRestLinearSVC: OneVsRestClassifier(
        LinearSVC(C=1.0, max_iter=10_000, dual="auto", random_state=3)
    ),
    RandomForest: RandomForestClassifier(n_estimators=100, random_state=3),
}


@pytest.fixture(scope="module")
def parts():
    dataset = load("wine-traits")
    split = make_splits(dataset, SplitPlan(folds=3), seed=0)[0]
    X_train, X_test = scale_split(dataset.X[split.train], dataset.X[split.test], "minmax")
    return X_train, dataset.y[split.train], X_test


@pytest.mark.parametrize("preset", PRESETS)
def test_predictions_and_scores_are_those_of_plain_scikit_learn(preset, parts):
    X, Y, X_test = parts
    ours, plain = preset(random_state=3).fit(X, Y), clone(PLAIN[preset]).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X_test), plain.predict(X_test))
    np.testing.assert_allclose(
        label_scores(ours, X_test, Y), label_scores(plain, X_test, Y), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_a_constant_label_is_predicted_without_a_word_and_surest_of_all(preset, parts):
    X, Y, X_test = parts
    Y = np.column_stack([Y[:, 0], np.zeros(len(Y)), np.ones(len(Y))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = preset(random_state=0).fit(X, Y)
        labels, scores = model.predict(X_test), label_scores(model, X_test, Y)
    np.testing.assert_array_equal(labels[:, 1:], np.tile([0, 1], (len(X_test), 1)))
    assert (scores[:, 1] <= scores.min(axis=1)).all()
    assert (scores[:, 2] >= scores.max(axis=1)).all()
    assert np.isfinite(scores).all()
    low, high = (-SUREST, SUREST) if preset is OneVsRestLinearSVC else (0.0, 1.0)
    assert (scores[:, 1] == low).all()
    assert (scores[:, 2] == high).all()


# The trees of a forest see all labels at once, so only the others have a classifier of its own for
# every label.
@pytest.mark.parametrize("preset", [Logistic, OneVsRestLinearSVC])
def test_a_constant_label_changes_no_other_label(preset, parts):
    X, Y, X_test = parts
    alone = preset(random_state=0).fit(X, Y)
    beside = preset(random_state=0).fit(X, np.column_stack([Y, np.zeros(len(Y))]))
    np.testing.assert_array_equal(beside.predict(X_test)[:, :-1], alone.predict(X_test))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("labels", [1, 0], ids=["varying", "constant"])
def test_a_single_label_keeps_its_column(preset, labels, parts):
    X, Y, X_test = parts
    model = preset(random_state=0).fit(X, Y[:, :1] * labels)
    assert model.predict(X_test).shape == (len(X_test), 1)
    assert label_scores(model, X_test, Y[:, :1] * labels).shape == (len(X_test), 1)


@pytest.mark.parametrize("preset", PRESETS)
def test_coding_of_the_labels_does_not_matter(preset, parts):
    X, Y, X_test = parts
    coded = preset(random_state=0).fit(X, 2.0 * Y - 1.0)
    np.testing.assert_array_equal(
        coded.predict(X_test), preset(random_state=0).fit(X, Y).predict(X_test)
    )


def test_the_forest_follows_its_seed(parts):
    X, Y, X_test = parts
    scores = [
        RandomForest(n_estimators=20, random_state=s).fit(X, Y).predict_proba(X_test)
        for s in (0, 0, 1)
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert (scores[0] != scores[2]).any()


@pytest.mark.parametrize("preset", PRESETS)
def test_other_features_are_refused(preset, parts):
    X, Y, X_test = parts
    with pytest.raises(InputError, match="features, X has 2"):
        preset(random_state=0).fit(X, Y).predict(X_test[:, :2])


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_names_a_preset_that_takes_the_seed(alias):
    method = Method.declare(alias, kind="evaluator")
    assert method.factory is ALIASES[alias]
    assert method.build(seed=11).random_state == 11


@pytest.mark.parametrize("alias", ALIASES)
def test_a_preset_scores_an_experiment_with_every_metric(alias, tmp_path):
    metrics = (
        "micro_f1",
        "macro_f1",
        "hamming_loss",
        "micro_pr_auc",
        "macro_pr_auc",
        "avg_precision",
        "one_error",
    )
    params = {"n_estimators": 10} if alias == "random-forest" else {}
    evaluator = Method.declare({"use": alias, "params": params})
    protocol = Curve(KGrid(4, 8, 4), evaluator=evaluator, metrics=metrics)
    experiment = Experiment(["wine-traits"], {"V": "variance"}, {"folds": 2}, protocol)
    results = experiment.run(tmp_path / "a.sqlite", workers=0)
    assert set(results.places()["status"]) == {"done"}
    scores = results.scores("avg_precision")
    assert scores["value"].between(0.6, 1.0).all()


def test_a_curve_of_a_preset_is_that_of_plain_scikit_learn(parts):
    X, Y, _ = parts
    args = (np.arange(X.shape[1]), X[::2], Y[::2], X[1::2], Y[1::2], [3, 6])
    ours = ranking_curve(*args, evaluator="logistic", metrics=["micro_f1", "one_error"])
    plain = ranking_curve(*args, evaluator=PLAIN[Logistic], metrics=["micro_f1", "one_error"])
    np.testing.assert_allclose(ours, plain, rtol=0, atol=1e-12)
