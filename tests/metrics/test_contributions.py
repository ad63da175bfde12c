"""Contributions of rows: against numerical derivatives of scikit-learn, DeLong's sums, laws, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from paragone.metrics import find_metric, find_scorers, metric_names, metric_slopes, metric_values
from paragone.metrics.contributions import area_slopes, average_precision_slopes
from paragone.testing import check_metric

CLASSES = np.array(["a", "b", "c"])


def numerical(value, n):
    """Return the derivative by every weight, from four values a row."""
    slopes = np.empty(n)
    for i in range(n):
        found = {}
        for step in (-2e-3, -1e-3, 1e-3, 2e-3):
            weights = np.ones(n)
            weights[i] += step
            found[step] = value(weights)
        slopes[i] = (8 * (found[1e-3] - found[-1e-3]) - (found[2e-3] - found[-2e-3])) / 12e-3
    return slopes


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.resize(CLASSES, 31))
    probabilities = rng.dirichlet(np.ones(3), 31).round(1) + (truth[:, None] == CLASSES) * 0.4
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return truth, CLASSES[probabilities.argmax(axis=1)], probabilities


@pytest.fixture
def two_classes():
    rng = np.random.default_rng(3)
    truth = (np.arange(27) % 3 == 0).astype(int)
    # Rounded, so that some rows are tied.
    positive = (rng.random(27) * 0.7 + 0.25 * truth).round(1).clip(0.05, 0.95)
    return truth, (positive > 0.5).astype(int), np.stack([1 - positive, positive], axis=1)


@pytest.fixture
def numbers():
    rng = np.random.default_rng(5)
    truth = rng.normal(5, 2, 23)
    return truth, truth + rng.standard_t(3, 23)


OF_LABELS = {
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "cohen_kappa": sk.cohen_kappa_score,
    "matthews_corrcoef": sk.matthews_corrcoef,
    **{
        f"{name}{end}": (function, average)
        for name, function in (
            ("f1", sk.f1_score),
            ("precision", sk.precision_score),
            ("recall", sk.recall_score),
            ("jaccard", sk.jaccard_score),
        )
        for end, average in (("", "weighted"), ("_macro", "macro"))
        if name != "jaccard" or not end
    },
}


@pytest.mark.parametrize("name", OF_LABELS)
def test_labels_move_a_value_as_scikit_learn_with_weights_does(name, three_classes):
    truth, predicted, _ = three_classes
    given = OF_LABELS[name]
    function, options = (
        (given[0], {"average": given[1]}) if isinstance(given, tuple) else (given, {})
    )
    expected = numerical(
        lambda w: function(truth, predicted, sample_weight=w, **options), len(truth)
    )
    found = metric_slopes(name, "classification", truth, predicted)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_the_quadratic_kappa_moves_as_scikit_learn_with_weights_does(three_classes):
    truth, predicted = (np.searchsorted(CLASSES, one) for one in three_classes[:2])
    expected = numerical(
        lambda w: sk.cohen_kappa_score(truth, predicted, weights="quadratic", sample_weight=w), 31
    )
    found = metric_slopes("quadratic_weighted_kappa", "classification", truth, predicted)
    np.testing.assert_allclose(found, expected, atol=1e-8)


SCORERS = {
    "classification": (
        *("accuracy", "balanced_accuracy", "f1", "f1_macro", "f1_micro", "f1_weighted"),
        *("precision", "recall", "jaccard", "matthews_corrcoef", "roc_auc", "average_precision"),
        *("neg_log_loss", "neg_brier_score"),
    ),
    "regression": (
        *("r2", "explained_variance", "neg_mean_squared_error", "neg_mean_absolute_error"),
        *("neg_root_mean_squared_error", "neg_mean_absolute_percentage_error"),
    ),
}


@pytest.mark.parametrize("name", SCORERS["classification"])
def test_scorers_of_two_classes_move_as_they_do_with_weights(name, two_classes):
    truth, predicted, probabilities = two_classes
    (metric,) = find_scorers([name], "classification")
    answer = predicted if metric.needs == "predictions" else probabilities[:, 1]
    expected = numerical(
        lambda w: (
            metric.scorer._sign * metric.function(truth, answer, sample_weight=w, **metric.options)
        ),
        len(truth),
    )
    found = metric_slopes(
        metric, "classification", truth, predicted, probabilities=probabilities, classes=[0, 1]
    )
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("name", SCORERS["regression"])
def test_scorers_of_numbers_move_as_they_do_with_weights(name, numbers):
    truth, predicted = numbers
    (metric,) = find_scorers([name], "regression")
    expected = numerical(
        lambda w: metric.scorer._sign * metric.function(truth, predicted, sample_weight=w), 23
    )
    np.testing.assert_allclose(
        metric_slopes(metric, "regression", truth, predicted), expected, atol=1e-8
    )


def test_pinball_loss_moves_as_it_does_with_weights(numbers):
    metric = find_metric(sk.make_scorer(sk.mean_pinball_loss, greater_is_better=False, alpha=0.1))
    truth, predicted = numbers
    expected = numerical(
        lambda w: -sk.mean_pinball_loss(truth, predicted, alpha=0.1, sample_weight=w), 23
    )
    np.testing.assert_allclose(
        metric_slopes(metric, "regression", truth, predicted), expected, atol=1e-8
    )


def test_log_loss_and_areas_of_three_classes_move_as_scikit_learn_with_weights_does(three_classes):
    truth, predicted, probabilities = three_classes

    def found(use):
        return metric_slopes(
            use, "classification", truth, predicted, probabilities=probabilities, classes=CLASSES
        )

    def one_against_rest(function):
        return numerical(
            lambda w: np.mean(
                [
                    function(truth == c, probabilities[:, at], sample_weight=w)
                    for at, c in enumerate(CLASSES)
                ]
            ),
            len(truth),
        )

    loss = numerical(lambda w: sk.log_loss(truth, probabilities, sample_weight=w), len(truth))
    np.testing.assert_allclose(found("log_loss"), loss, atol=1e-8)
    area = one_against_rest(sk.roc_auc_score)
    np.testing.assert_allclose(found("roc_auc"), area, atol=1e-8)
    (scorer,) = find_scorers(["roc_auc_ovr"], "classification")
    np.testing.assert_allclose(found(scorer), area, atol=1e-8)
    np.testing.assert_allclose(
        found("auprc"), one_against_rest(sk.average_precision_score), atol=1e-8
    )


def test_one_class_against_one_moves_as_its_pairs_of_classes_do(three_classes):
    truth, predicted, probabilities = three_classes
    (metric,) = find_scorers(["roc_auc_ovo"], "classification")

    def value(weights):
        areas = []
        for a in range(3):
            for b in range(3):
                if a != b:
                    rows = np.isin(truth, CLASSES[[a, b]])
                    areas.append(
                        sk.roc_auc_score(
                            truth[rows] == CLASSES[a],
                            probabilities[rows, a],
                            sample_weight=weights[rows],
                        )
                    )
        return np.mean(areas)

    own = metric(truth, probabilities, labels=CLASSES)
    assert value(np.ones(31)) == pytest.approx(own, abs=1e-12)
    found = metric_slopes(
        metric, "classification", truth, predicted, probabilities=probabilities, classes=CLASSES
    )
    np.testing.assert_allclose(found, numerical(value, 31), atol=1e-8)


@pytest.mark.parametrize(
    ("name", "average"), [("micro_f1", "micro"), ("macro_f1", "macro"), ("hamming_loss", None)]
)
def test_label_sets_move_as_scikit_learn_with_weights_does(name, average):
    rng = np.random.default_rng(7)
    truth = (rng.random((25, 4)) < 0.5).astype(np.uint8)
    predicted = truth ^ (rng.random((25, 4)) < 0.3)
    options = {} if average is None else {"average": average}
    function = sk.hamming_loss if average is None else sk.f1_score
    expected = numerical(lambda w: function(truth, predicted, sample_weight=w, **options), 25)
    np.testing.assert_allclose(
        metric_slopes(name, "multilabel", truth, predicted), expected, atol=1e-8
    )


@pytest.mark.parametrize("zero_division", [0, 1, "skip"])
def test_labels_that_nobody_has_count_as_the_convention_says(zero_division):
    truth = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0]], dtype=np.uint8)
    predicted = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 0]], dtype=np.uint8)

    def value(weights):
        both, counts = weights @ (truth & predicted), weights @ (truth.astype(int) + predicted)
        there = counts > 0
        of_labels = list(2 * both[there] / counts[there])
        return np.mean(of_labels + [zero_division] * (zero_division != "skip"))

    found = metric_slopes("macro_f1", "multilabel", truth, predicted, zero_division=zero_division)
    np.testing.assert_allclose(found, numerical(value, 4), atol=1e-9)


def delong(positive, score):
    """Return DeLong's components by comparing every positive with every negative."""
    wins = np.sign(score[positive][:, None] - score[~positive][None, :]) / 2 + 0.5
    slopes = np.empty(len(score))
    slopes[positive] = (wins.mean(axis=1) - wins.mean()) / positive.sum()
    slopes[~positive] = (wins.mean(axis=0) - wins.mean()) / (~positive).sum()
    return slopes


def precision_by_thresholds(weights, positive, score):
    value, whole = 0.0, weights @ positive
    for threshold in np.unique(score):
        at_least, here = score >= threshold, score == threshold
        share = weights @ (positive & here) / whole
        value += share * (weights @ (positive & at_least)) / (weights @ at_least)
    return value


SCORES = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=4, max_size=40).filter(
    lambda rows: 0 < sum(row[0] for row in rows) < len(rows)
)


@given(SCORES)
def test_areas_are_delongs_and_average_precisions_follow_their_definition(rows):
    positive, score = np.array([row[0] for row in rows]), np.array([row[1] / 8 for row in rows])
    np.testing.assert_allclose(area_slopes(positive, score), delong(positive, score), atol=1e-12)
    found = average_precision_slopes(positive, score)
    expected = numerical(lambda w: precision_by_thresholds(w, positive, score), len(rows))
    np.testing.assert_allclose(found, expected, atol=1e-8)
    assert abs(found.sum()) < 1e-12


def test_a_class_that_is_missing_has_no_contributions():
    one = np.zeros(3, dtype=bool)
    assert area_slopes(one, np.arange(3.0)) is None
    assert average_precision_slopes(~one, np.arange(3.0)) is None
    kept = {"probabilities": np.full((3, 2), 0.5), "classes": [0, 1]}
    assert metric_slopes("roc_auc", "classification", [1, 1, 1], [1, 1, 1], **kept) is None
    assert metric_slopes("roc_auc", "classification", [1, 0, 1], [1, 1, 1]) is None


def medians(y_true, y_pred, sample_weight=None):
    return sk.median_absolute_error(y_true, y_pred, sample_weight=sample_weight)


def root_mean(y_true, y_pred):
    return float(np.sqrt(np.mean(np.square(np.subtract(y_true, y_pred)))))


def test_a_metric_from_outside_is_tried_row_by_row():
    rng = np.random.default_rng(8)
    truth = rng.normal(size=60)
    predicted = truth + rng.normal(size=60)
    ours = metric_slopes("rmse", "regression", truth, predicted)
    found = metric_slopes(root_mean, "regression", truth, predicted)
    # Without a row, not with a little less of it.
    np.testing.assert_allclose(found, ours, atol=0.1 * np.abs(ours).max())
    assert abs(found.sum()) < 1e-12


def test_what_hangs_on_single_rows_or_would_take_too_long_is_not_told():
    rng = np.random.default_rng(9)
    truth = rng.normal(size=200)
    predicted = truth + rng.normal(size=200)
    for use in (medians, "max_error", "median_ae"):
        assert metric_slopes(use, "regression", truth, predicted) is None
    many = rng.normal(size=(2, 2000))
    assert metric_slopes(root_mean, "regression", *many) is None


def test_contributions_may_stand_beside_a_function():
    def gain(y_true, y_pred):
        return float(np.mean(np.equal(y_true, y_pred)))

    gain.higher_is_better = True
    gain.contributions = lambda y_true, y_pred: (
        (np.equal(y_true, y_pred) - gain(y_true, y_pred)) / len(y_true)
    )
    assert "derivative" in " ".join(check_metric(gain, task="classification"))
    wrong = find_metric(gain)
    gain.contributions = lambda y_true, y_pred: np.zeros(len(y_true))
    with pytest.raises(AssertionError, match="derivative of the value"):
        check_metric(gain, task="classification")
    assert pickle.loads(pickle.dumps(find_metric("f1").contributions)).unseen == "row"  # noqa: S301
    assert wrong.contributions is not None


@pytest.mark.parametrize("task", ["regression", "classification", "multilabel"])
def test_contributions_sum_to_nothing_and_go_with_their_rows(task):
    rng = np.random.default_rng(10)
    order = rng.permutation(40)
    for name in metric_names(task):
        metric = find_metric(name, task)
        if metric.contributions is None:
            continue
        if task == "regression":
            truth, given = rng.normal(size=40), {"predicted": rng.normal(size=40)}
        elif task == "multilabel":
            truth = (rng.random((40, 4)) < 0.5).astype(np.uint8)
            scores = rng.random((40, 4))
            given = {"predicted": (scores > 0.5).astype(np.uint8), "scores": scores}
        else:
            truth, probabilities = rng.choice(CLASSES, 40), rng.dirichlet(np.ones(3), 40)
            labels = CLASSES[probabilities.argmax(axis=1)]
            given = {"predicted": labels, "probabilities": probabilities}
        classes = {"classes": CLASSES} if task == "classification" else {}
        slopes = metric_slopes(metric, task, truth, **given, **classes)
        assert abs(slopes.sum()) < 1e-12, name
        moved = {key: value[order] for key, value in given.items()}
        again = metric_slopes(metric, task, truth[order], **moved, **classes)
        np.testing.assert_allclose(again, slopes[order], atol=1e-12, err_msg=name)
        assert np.isfinite(
            list(metric_values([metric], task, truth, **given, **classes).values())
        ).all()
