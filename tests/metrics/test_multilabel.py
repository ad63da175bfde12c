"""Multi-label metrics against scikit-learn, naive loops and their laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from paragone.errors import InputError
from paragone.metrics import find_metric, find_metrics, metric_names, metric_values
from paragone.metrics.multilabel import macro_f1, n_pr_auc_labels

NEEDS_LABELS = [name for name in metric_names("multilabel") if find_metric(name).needs == "labels"]
NEEDS_SCORES = [name for name in metric_names("multilabel") if find_metric(name).needs == "scores"]


@st.composite
def problems(draw):
    """Truth, labels and scores with many ties, empty and full rows, empty and full labels."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, n_labels = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    Y = (rng.random((n, n_labels)) < draw(st.sampled_from([0.1, 0.5, 0.9]))).astype(np.uint8)
    labels = (rng.random((n, n_labels)) < 0.5).astype(np.uint8)
    scores = rng.integers(0, draw(st.integers(2, 8)), (n, n_labels)) / 8
    return Y, labels, scores


def naive_average_precision(truth, scores):
    order = sorted(range(len(truth)), key=lambda i: (-scores[i], i))
    hits, precisions = 0, []
    for rank, i in enumerate(order, start=1):
        if truth[i]:
            hits += 1
            precisions.append(hits / rank)
    return sum(precisions) / len(precisions) if precisions else 0.0


def naive(name, Y, labels, scores):
    n, n_labels = Y.shape
    if name == "micro_pr_auc":
        return naive_average_precision(list(Y.T.ravel()), list(scores.T.ravel()))
    if name == "macro_pr_auc":
        used = [j for j in range(n_labels) if 0 < Y[:, j].sum() < n]
        values = [naive_average_precision(list(Y[:, j]), list(scores[:, j])) for j in used]
        return sum(values) / len(values) if values else 0.0
    if name == "avg_precision":
        return sum(naive_average_precision(list(Y[i]), list(scores[i])) for i in range(n)) / n
    if name == "one_error":
        return sum(1 - Y[i, list(scores[i]).index(max(scores[i]))] for i in range(n)) / n
    if name == "ranking_loss":
        return sk.label_ranking_loss(Y, scores) if n_labels > 1 else 0.0
    if name == "coverage":
        return sk.coverage_error(Y, scores) if n_labels > 1 else float(Y.mean())
    if name == "micro_f1":
        return sk.f1_score(Y.ravel(), labels.ravel(), zero_division=0)
    if name == "macro_f1":
        columns = [sk.f1_score(Y[:, j], labels[:, j], zero_division=0) for j in range(n_labels)]
        return float(np.mean(columns))
    if name == "hamming_loss":
        return sk.hamming_loss(Y, labels)
    return sk.accuracy_score(Y, labels)


@pytest.mark.parametrize("name", metric_names("multilabel"))
@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_every_metric_equals_a_second_implementation(name, problem):
    Y, labels, scores = problem
    assert metric_values([name], "multilabel", Y, labels, scores=scores)[name] == pytest.approx(
        naive(name, Y, labels, scores), abs=1e-12
    )


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_ranking_metrics_look_at_the_order_of_scores_alone(problem):
    Y, labels, scores = problem
    _, codes = np.unique(scores, return_inverse=True)
    codes = codes.reshape(scores.shape).astype(np.uint16)
    for other in (np.exp(scores), codes):
        assert metric_values(NEEDS_SCORES, "multilabel", Y, labels, scores=other) == metric_values(
            NEEDS_SCORES, "multilabel", Y, labels, scores=scores
        )


@settings(max_examples=40, deadline=None)
@given(problem=problems(), seed=st.integers(0, 100))
def test_row_order_does_not_matter_to_label_metrics(problem, seed):
    Y, labels, _ = problem
    rows = np.random.default_rng(seed).permutation(len(Y))
    shuffled = metric_values(NEEDS_LABELS, "multilabel", Y[rows], labels[rows])
    assert shuffled == metric_values(NEEDS_LABELS, "multilabel", Y, labels)


@settings(max_examples=40, deadline=None)
@given(problem=problems())
def test_a_perfect_prediction_is_perfect(problem):
    Y, _, _ = problem
    values = metric_values(
        ["hamming_loss", "subset_accuracy"], "multilabel", Y, Y, scores=Y.astype(float)
    )
    assert values == {"hamming_loss": 0.0, "subset_accuracy": 1.0}
    assert metric_values(["micro_f1"], "multilabel", Y, Y)["micro_f1"] == (1.0 if Y.any() else 0.0)


def test_a_label_neither_present_nor_predicted_counts_as_chosen():
    Y = np.array([[1, 0], [0, 0]], dtype=np.uint8)
    assert macro_f1(Y, Y, 0) == 0.5
    assert macro_f1(Y, Y, 1) == 1.0
    assert macro_f1(Y, Y, "skip") == 1.0


def test_no_usable_label_gives_zero():
    Y = np.zeros((3, 2), dtype=np.uint8)
    assert macro_f1(Y, Y, "skip") == 0.0
    assert metric_values(
        ["micro_pr_auc", "macro_pr_auc"], "multilabel", Y, Y, scores=Y.astype(float)
    ) == {
        "micro_pr_auc": 0.0,
        "macro_pr_auc": 0.0,
    }
    assert n_pr_auc_labels(Y) == 0


def test_unknown_doubled_and_absent_metrics_are_refused():
    with pytest.raises(InputError, match="unknown metric 'mirco-f1': did you mean 'micro_f1'"):
        find_metrics(["mirco-f1"], "multilabel")
    with pytest.raises(InputError, match="'micro_f1' is named twice"):
        find_metrics(["micro_f1", "micro_f1"], "multilabel")
    with pytest.raises(InputError, match="no metric named"):
        find_metrics([], "multilabel")


def test_score_metrics_without_scores_are_refused():
    Y = np.ones((2, 2), dtype=np.uint8)
    with pytest.raises(InputError, match="'one_error' needs label scores"):
        metric_values(["one_error"], "multilabel", Y, Y)
