"""Regression and classification metrics against known answers, scikit-learn and laws."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr
from sklearn import metrics as sk

from paragone.errors import InputError
from paragone.metrics import metric_names, metric_values, named_metric, ranking_metric


@pytest.fixture(scope="module")
def unit_oracles(data_folder):
    return json.loads((data_folder / "nirs" / "oracle" / "unit_oracles.json").read_text())


@pytest.mark.known_answer
def test_regression_metrics_meet_the_known_answers(unit_oracles):
    case = unit_oracles["regression_metrics"]
    values = metric_values(list(case["values"]), "regression", case["y_true"], case["y_pred"])
    assert values == pytest.approx(case["values"], rel=1e-12)


@pytest.mark.known_answer
def test_classification_metrics_meet_the_known_answers(unit_oracles):
    case = unit_oracles["classification_metrics"]
    expected = {name: value for name, value in case["values"].items() if name != "hamming_loss"}
    values = metric_values(list(expected), "classification", case["y_true"], case["y_pred"])
    assert values == pytest.approx(expected, rel=1e-12)
    assert (
        metric_values(["error_rate"], "classification", case["y_true"], case["y_pred"])[
            "error_rate"
        ]
        == 0.25
    )


@pytest.mark.known_answer
def test_directions_meet_the_known_answers(unit_oracles):
    known = unit_oracles["edge"]["higher_is_better"]
    for name in (*metric_names("regression"), *metric_names("classification")):
        if name in known and name != "bias":
            assert named_metric(name).higher_is_better is known[name]


@pytest.mark.known_answer
def test_edge_values_meet_the_known_answers(unit_oracles):
    edge = unit_oracles["edge"]
    assert np.isnan(metric_values(["rmse"], "regression", [], [])["rmse"])
    assert edge["rmse_empty"] == "nan"
    assert (
        metric_values(["rpd"], "regression", [1.0, 2.0], [1.0, 2.0])["rpd"]
        == np.inf
        == float(edge["rpd_perfect"])
    )
    assert (
        metric_values(["consistency"], "regression", [2.0, 2.0], [1.0, 3.0])["consistency"]
        == edge["consistency_const"]
    )


ROWS = st.lists(
    st.tuples(
        st.floats(-100, 100).map(lambda x: round(x, 3)),
        st.floats(-100, 100).map(lambda x: round(x, 3)),
    ),
    min_size=2,
    max_size=30,
)


@settings(deadline=None)
@given(ROWS)
def test_regression_metrics_agree_with_scikit_learn(rows):
    y, p = np.array(rows).T
    values = metric_values(metric_names("regression"), "regression", y, p)
    expected = {
        "rmse": sk.root_mean_squared_error(y, p),
        "mse": sk.mean_squared_error(y, p),
        "mae": sk.mean_absolute_error(y, p),
        "mape": sk.mean_absolute_percentage_error(y, p),
        "max_error": sk.max_error(y, p),
        "median_ae": sk.median_absolute_error(y, p),
    }
    if np.ptp(y) > 1e-6:
        expected["r2"] = sk.r2_score(y, p)
        expected["explained_variance"] = sk.explained_variance_score(y, p)
        if np.ptp(p) > 1e-6:
            expected["pearson_r"] = pearsonr(y, p).statistic
            expected["spearman_r"] = spearmanr(y, p).statistic
    assert {name: values[name] for name in expected} == pytest.approx(expected, rel=1e-7, abs=1e-7)


@settings(deadline=None)
@given(ROWS)
def test_mse_is_bias_squared_plus_sep_squared(rows):
    y, p = np.array(rows).T
    v = metric_values(("mse", "bias", "sep"), "regression", y, p)
    assert v["mse"] == pytest.approx(v["bias"] ** 2 + v["sep"] ** 2, rel=1e-9, abs=1e-9)


def test_ddof_one_divides_by_one_less():
    y, p = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])
    values = metric_values(("sep", "rpd"), "regression", y, p, ddof=1)
    assert values["sep"] == pytest.approx(np.std(p - y, ddof=1))
    assert values["rpd"] == pytest.approx(np.std(y, ddof=1) / np.std(p - y, ddof=1))
    assert np.isnan(metric_values(("sep",), "regression", [1.0], [2.0], ddof=1)["sep"])


def test_what_does_not_exist_is_nan_and_never_zero():
    constant = metric_values(
        ("r2", "explained_variance", "pearson_r", "nrmse", "nmse"),
        "regression",
        [2.0, 2.0],
        [1.0, 2.0],
    )
    assert all(np.isnan(value) for value in constant.values())
    assert np.isnan(metric_values(["accuracy"], "classification", [], [])["accuracy"])
    assert np.isnan(metric_values(["roc_auc"], "classification", [0, 1], [0, 1])["roc_auc"])
    one_class = metric_values(
        ["roc_auc"],
        "classification",
        [0, 0],
        [0, 0],
        probabilities=np.array([[0.9, 0.1], [0.8, 0.2]]),
        classes=[0, 1],
    )
    assert np.isnan(one_class["roc_auc"])


LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40)


@settings(deadline=None)
@given(LABELS, st.booleans())
def test_classification_metrics_agree_with_scikit_learn(rows, as_text):
    y, p = np.array(rows).T
    if as_text:
        y, p = (np.array([f"class {v}" for v in part]) for part in (y, p))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weighted = {"average": "weighted", "zero_division": 0}
        expected = {
            "accuracy": sk.accuracy_score(y, p),
            "balanced_accuracy": sk.balanced_accuracy_score(y, p),
            "f1": sk.f1_score(y, p, **weighted),
            "precision": sk.precision_score(y, p, **weighted),
            "recall": sk.recall_score(y, p, **weighted),
            "jaccard": sk.jaccard_score(y, p, **weighted),
            "matthews_corrcoef": sk.matthews_corrcoef(y, p),
            "f1_macro": sk.f1_score(y, p, average="macro", zero_division=0),
        }
        if len(np.unique(y)) > 1:
            expected["cohen_kappa"] = sk.cohen_kappa_score(y, p)
    assert metric_values(list(expected), "classification", y, p) == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probability_metrics_agree_with_scikit_learn(n_classes):
    rng = np.random.default_rng(n_classes)
    classes = np.array(["a", "b", "c"][:n_classes])
    y = classes[rng.integers(0, n_classes, 60)]
    P = rng.dirichlet(np.ones(n_classes), 60).round(2)
    P /= P.sum(axis=1, keepdims=True)
    values = metric_values(
        ["roc_auc", "log_loss"],
        "classification",
        y,
        classes[P.argmax(1)],
        probabilities=P,
        classes=classes,
    )
    auc = sk.roc_auc_score(y, P[:, 1] if n_classes == 2 else P, multi_class="ovr")
    assert values == pytest.approx({"roc_auc": auc, "log_loss": sk.log_loss(y, P)}, rel=1e-9)


def test_specificity_of_two_classes_is_the_recall_of_the_smaller_label():
    y, p = [0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0]
    assert metric_values(["specificity"], "classification", y, p)["specificity"] == 0.75


def test_an_unknown_metric_is_an_error_and_never_lower_is_better():
    with pytest.raises(InputError, match="did you mean 'rmse'"):
        metric_values(["rmsee"], "regression", [1.0], [1.0])
    with pytest.raises(InputError, match="unknown classification metric"):
        metric_values(["rmse"], "classification", [1], [1])
    with pytest.raises(InputError, match="has no better direction"):
        ranking_metric("bias", "regression")


def test_every_metric_declares_its_direction():
    undirected = {
        n
        for task in ("regression", "classification")
        for n in metric_names(task)
        if named_metric(n).higher_is_better is None
    }
    assert undirected == {"bias"}
