"""Stored predictions of ML-kNN: the codes that stand for scores keep their order, however many there are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import (
    coverage_error,
    label_ranking_average_precision_score,
    label_ranking_loss,
)

import score_oracles
from paragone.metrics import find_metric, metric_names, metric_values
from paragone.protocols.curve.evaluate import TablePredictions

OF_SCORES = [name for name in metric_names("multilabel") if find_metric(name).needs == "scores"]


def distinct_tables(n_labels: int, n_levels: int, seed: int = 0):
    """Draw posteriors of 10 neighbours with exactly ``n_levels`` distinct values, of which the rows meet the lot."""
    rng = np.random.default_rng(seed)
    values = np.resize(rng.permutation(n_levels), n_labels * 11) / n_levels
    tables = values.reshape(1, n_labels, 11)
    counts = rng.integers(0, 11, (1, 12, n_labels)).astype(np.uint8)
    Y = (
        rng.random((12, n_labels)) < 0.01 + 0.5 * tables[0][np.arange(n_labels), counts[0]] ** 4
    ).astype(np.uint8)
    return TablePredictions(np.array([5]), counts, tables), Y


# Sixteen bits hold 65,536 codes; the values on both sides of that and far above it.
@pytest.mark.parametrize(
    ("n_labels", "n_levels"), [(30, 200), (30, 300), (6000, 65_536), (6000, 65_537), (8000, 88_000)]
)
def test_codes_are_the_ranks_of_the_scores_however_many_levels_there_are(n_labels, n_levels):
    predictions, _ = distinct_tables(n_labels, n_levels)
    scores, codes = predictions.scores(0), predictions.ordering(0)
    levels, ranks = np.unique(predictions.tables[0], return_inverse=True)
    assert len(levels) == n_levels
    expected = ranks.reshape(predictions.tables[0].shape)[
        np.arange(n_labels), predictions.counts[0]
    ]
    np.testing.assert_array_equal(codes.astype(np.int64), expected)
    np.testing.assert_array_equal(
        np.argsort(codes, axis=None, kind="stable"), np.argsort(scores, axis=None, kind="stable")
    )


@pytest.mark.parametrize("n_levels", [65_536, 65_537, 88_000])
def test_score_metrics_of_thousands_of_labels_are_those_of_the_scores_themselves(n_levels):
    predictions, Y = distinct_tables(8000, n_levels)
    scores = predictions.scores(0)
    by_codes = metric_values(
        OF_SCORES, "multilabel", Y, predictions.labels(0), scores=predictions.ordering(0)
    )
    by_scores = metric_values(OF_SCORES, "multilabel", Y, predictions.labels(0), scores=scores)
    assert by_codes == by_scores
    assert by_codes["ranking_loss"] == pytest.approx(label_ranking_loss(Y, scores), abs=1e-12)
    assert by_codes["coverage"] == pytest.approx(coverage_error(Y, scores), abs=1e-12)


def test_average_precision_of_distinct_scores_is_scikit_learns():
    predictions, Y = distinct_tables(8000, 88_000)
    values = metric_values(
        ["avg_precision"], "multilabel", Y, predictions.labels(0), scores=predictions.ordering(0)
    )
    expected = label_ranking_average_precision_score(Y, predictions.scores(0))
    assert values["avg_precision"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_levels", [65_536, 65_537, 88_000])
def test_the_audit_recomputes_the_same_values_by_its_own_way(n_levels):
    predictions, Y = distinct_tables(8000, n_levels)
    recomputed = score_oracles.curve_scores(
        score_oracles.StoredCurve(predictions.to_bytes()), Y, OF_SCORES, zero_division=0
    )
    expected = metric_values(
        OF_SCORES, "multilabel", Y, predictions.labels(0), scores=predictions.scores(0)
    )
    for name, value in expected.items():
        assert recomputed[5, name] == pytest.approx(value, abs=1e-12), name
