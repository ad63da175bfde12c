"""The curve on arrays against a naive double loop, and its laws."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from paragone import ranking_curve
from paragone.errors import InputError
from paragone.methods import MLkNN
from paragone.metrics import metric_names, metric_values

_oracle = importlib.util.spec_from_file_location(
    "mlknn_oracle", Path(__file__).parents[1] / "methods" / "test_mlknn.py"
)
oracle = importlib.util.module_from_spec(_oracle)
_oracle.loader.exec_module(oracle)


def problem(kind: str, seed: int = 0, n: int = 60, d: int = 9):
    rng = np.random.default_rng(seed)
    X = {
        "real": lambda: rng.random((n, d)),
        "rounded": lambda: np.round(rng.random((n, d)), 1),
        "integer": lambda: rng.integers(0, 3, (n, d)).astype(float),
        "binary": lambda: (rng.random((n, d)) < 0.2).astype(float),
        "duplicated rows": lambda: np.repeat(rng.random((n // 4, d)), 4, axis=0)[
            rng.permutation(n)
        ],
    }[kind]()
    Y = (rng.random((n, 4)) < [0.5, 0.2, 0.05, 0.0]).astype(np.uint8)
    half = 2 * n // 3
    return rng.permutation(d), X[:half], Y[:half], X[half:], Y[half:]


@pytest.mark.parametrize("kind", ["real", "rounded", "integer", "binary", "duplicated rows"])
@pytest.mark.parametrize("seed", range(3))
def test_every_point_and_metric_equals_a_naive_double_loop(kind, seed):
    ranking, X_train, Y_train, X_test, Y_test = problem(kind, seed)
    ks = [1, 2, 5, 9]
    curve = ranking_curve(
        ranking, X_train, Y_train, X_test, Y_test, k=ks, metrics=metric_names("multilabel")
    )
    for k in ks:
        used = ranking[:k]
        scores = oracle.naive_mlknn(X_train[:, used], Y_train, X_test[:, used])
        labels = (scores >= 0.5).astype(np.uint8)
        expected = metric_values(
            metric_names("multilabel"), "multilabel", Y_test, labels, scores=scores
        )
        assert curve.loc[k].to_dict() == pytest.approx(expected, abs=1e-12)


def test_all_features_give_the_same_point_for_any_ranking():
    ranking, *arrays = problem("integer", 5)
    forwards = ranking_curve(ranking, *arrays, k=[9])
    backwards = ranking_curve(ranking[::-1], *arrays, k=[9])
    pd.testing.assert_frame_equal(forwards, backwards)


def test_a_point_does_not_depend_on_the_rest_of_the_grid():
    ranking, *arrays = problem("binary", 6)
    whole = ranking_curve(ranking, *arrays, k=list(range(1, 10)))
    for k in (1, 4, 9):
        pd.testing.assert_frame_equal(whole.loc[[k]], ranking_curve(ranking, *arrays, k=[k]))


def test_points_come_back_in_the_order_asked_for():
    ranking, *arrays = problem("real", 7)
    assert list(ranking_curve(ranking, *arrays, k=[5, 2, 5]).index) == [5, 2, 5]


@pytest.mark.parametrize(
    "evaluator",
    [
        OneVsRestClassifier(LogisticRegression()),
        OneVsRestClassifier(LinearSVC()),
        RandomForestClassifier(n_estimators=20, random_state=3),
        MLkNN(n_neighbors=4, smooth=0.5),
    ],
)
@pytest.mark.filterwarnings("ignore:Label")
def test_any_multilabel_classifier_is_fitted_on_the_first_k_features(evaluator):
    ranking, X_train, Y_train, X_test, Y_test = problem("real", 8)
    Y_train = Y_train.copy()
    Y_train[0, 3] = 1
    curve = ranking_curve(
        ranking,
        X_train,
        Y_train,
        X_test,
        Y_test,
        k=[3],
        evaluator=evaluator,
        metrics=["hamming_loss"],
    )
    predicted = evaluator.fit(X_train[:, ranking[:3]], Y_train).predict(X_test[:, ranking[:3]])
    assert curve.hamming_loss[3] == np.mean(predicted != Y_test)


def test_forest_probabilities_of_one_class_labels_are_what_was_seen():
    ranking, X_train, Y_train, X_test, Y_test = problem("real", 9)
    Y_train = Y_train.copy()
    Y_train[:, 3] = 1
    forest = RandomForestClassifier(n_estimators=5, random_state=0)
    curve = ranking_curve(
        ranking, X_train, Y_train, X_test, Y_test, k=[4], evaluator=forest, metrics=["one_error"]
    )
    # Label 3 has score 1 everywhere and is the first best label unless an earlier one also reaches
    # 1.
    assert 0.0 <= curve.one_error[4] <= 1.0
    assert curve.one_error[4] > 0.5


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"k": [10]}, "k = 10 is outside 1..9, the number of features"),
        ({"k": [0]}, "k = 0 is outside 1..9"),
        ({"k": []}, "k is empty"),
        ({"k": [1.5]}, "k must hold whole numbers"),
        ({"ranking": [0, 1, 2, 3, 4, 5, 6, 7, 7]}, "no permutation of 0..8: index 7 stands twice"),
        ({"ranking": range(8)}, "no permutation of 0..8: index 8 is missing"),
        ({"ranking": range(1, 10)}, "index 9 is out of range"),
        ({"X_test": np.full((20, 9), np.nan)}, "X_test has 180 NaN or infinite"),
        ({"X_test": np.zeros((20, 8))}, "X_train has 9 features, X_test has 8"),
        ({"Y_train": np.full((40, 4), 2)}, "Y_train must hold labels coded 0/1 or -1/"),
        ({"Y_test": np.zeros((20, 3))}, "Y_train has 4 labels, Y_test has 3"),
        ({"evaluator": "mlkn"}, "unknown evaluator 'mlkn': did you mean 'mlknn'"),
        ({"metrics": ["f1"]}, "unknown metric 'f1'"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(change, sentence):
    ranking, X_train, Y_train, X_test, Y_test = problem("real", 10)
    given = {
        "ranking": ranking,
        "X_train": X_train,
        "Y_train": Y_train,
        "X_test": X_test,
        "Y_test": Y_test,
        "k": [3],
    }
    with pytest.raises(InputError, match=sentence.replace("+", r"\+")):
        ranking_curve(**{**given, **change})
