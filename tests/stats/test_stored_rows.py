"""Moments of rows from stored predictions: those of their contributions, or why there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paragone import Experiment
from paragone.lab.answers import SplitAnswers
from paragone.lab.view import View
from paragone.metrics import find_metric, find_scorers, metric_slopes, metric_values
from paragone.protocols import Predict
from paragone.stats.designs import Design
from paragone.stats.rows import RowMoments, combined, dataset_pieces, fold_pieces, scale_of
from paragone.stats.stored_rows import stored_moments

FIVE = Design(5, 1, 0.25)
CLASSES = np.array(["no", "yes"])
ACCURACY = find_metric("accuracy", "classification")


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    found = []
    for fold in range(5):
        rows = np.arange(fold, 60, 5)
        truth = CLASSES[(rows // 5) % 2]
        split = []
        for _ in range(2):
            chance = rng.random(12)
            split.append(
                SplitAnswers(
                    rows,
                    truth,
                    CLASSES[(chance > 0.5).astype(int)],
                    True,
                    CLASSES,
                    np.stack([1 - chance, chance], axis=1),
                )
            )
        found.append(split)
    return found


def scored(answers, name):
    return np.array(
        [
            [
                metric_values(
                    [name], "classification", one.truth, one.predicted,
                    probabilities=one.probabilities, classes=one.classes,
                )[name]
                for one in split
            ]
            for split in answers
        ]
    )  # fmt: skip


@pytest.mark.parametrize("name", ["accuracy", "roc_auc"])
def test_predictions_give_the_variance_of_their_rows(answers, name):
    scores = scored(answers, name)
    moments = stored_moments(answers, scores, FIVE, find_metric(name, "classification"))
    assert isinstance(moments, RowMoments)
    total = 0.0
    for c in CLASSES if name == "roc_auc" else [None]:
        squares = n = 0
        for one, other in answers:
            slopes = [
                metric_slopes(
                    name, "classification", a.truth, a.predicted,
                    probabilities=a.probabilities, classes=a.classes,
                )
                for a in (one, other)
            ]  # fmt: skip
            here = np.ones(12, dtype=bool) if c is None else one.truth == c
            squares += (((slopes[0] - slopes[1]) / 5)[here] ** 2).sum()
            n += here.sum()
        total += squares * n / (n - 5)
    assert moments.variance([(0, 1)])[0][0] - moments.unseen == pytest.approx(total, rel=1e-9)


def test_what_the_predictions_cannot_tell_has_a_reason(answers):
    scores = scored(answers, "accuracy")
    assert "do not give the scores" in stored_moments(answers, scores + 0.01, FIVE, ACCURACY)
    bare = [[replace(one, probabilities=None, classes=None) for one in split] for split in answers]
    area = find_metric("roc_auc", "classification")
    assert "is not known" in stored_moments(bare, scores, FIVE, area)
    torn = Design(5, 1, 0.25, torn_groups=True)
    assert "one group" in stored_moments(answers, scores, torn, ACCURACY)
    first, other = answers[0]
    odd = [[first, replace(other, rows=other.rows + 1)], *answers[1:]]
    assert "different rows" in stored_moments(odd, scores, FIVE, ACCURACY)


def test_groups_widen_what_copies_of_rows_would_narrow(answers):
    doubled = [
        [
            SplitAnswers(
                np.repeat(one.rows, 2) * 2 + np.tile([0, 1], 12),
                *(np.repeat(values, 2) for values in (one.truth, one.predicted)),
                True,
                CLASSES,
                np.repeat(one.probabilities, 2, axis=0),
            )
            for one in split
        ]
        for split in answers
    ]
    scores = scored(answers, "accuracy")
    plain = stored_moments(answers, scores, FIVE, ACCURACY)
    narrow = stored_moments(doubled, scores, FIVE, ACCURACY)
    groups = np.arange(120) // 2
    grouped = stored_moments(doubled, scores, FIVE, ACCURACY, groups)
    variances = [one.variance([(0, 1)])[0][0] for one in (plain, narrow, grouped)]
    assert variances[2] == pytest.approx(variances[0], rel=1e-9)
    assert variances[1] < 0.55 * variances[0]


def test_a_store_of_predictions_gives_narrower_intervals_inside_what_is_possible(tmp_path):
    methods = {
        "LDA": "sklearn.discriminant_analysis:LinearDiscriminantAnalysis",
        "Tree": {"use": "sklearn.tree:DecisionTreeClassifier", "params": {"max_depth": 1}},
        "Floor": "sklearn.dummy:DummyClassifier",
    }
    metrics = ("roc_auc", "neg_log_loss", "f1_macro")
    experiment = Experiment(["breast-cancer"], methods, {"folds": 5}, Predict(metrics=metrics))
    with experiment.run(tmp_path / "a.sqlite", 0) as results:
        view = View(results)
        (dataset,) = view.scores["dataset"].unique()
        answers = list(
            zip(*(list(view.reader.answers(view, dataset, m)) for m in methods), strict=True)
        )
        for name, shown in zip(metrics, ("roc_auc", "log_loss", "f1_macro"), strict=True):
            frame = view.scores[view.scores["metric"] == shown]
            scores = frame.pivot_table(index="fold", columns="method", values="value")
            scores = scores[list(methods)].to_numpy()
            (metric,) = find_scorers([name], "classification")
            design = view.designs[dataset]
            moments = stored_moments(answers, scores, design, metric)
            assert isinstance(moments, RowMoments), moments
            if name != "roc_auc":
                continue
            pairs = [(0, 1), (0, 2), (1, 2)]
            gaps = np.stack([scores[:, a] - scores[:, b] for a, b in pairs], axis=1)
            scale = scale_of([scores], [moments], pairs, 0.5, (0.0, 1.0))
            assert np.isfinite(scale.constant).tolist() == [False, True, True]
            by_rows = combined([dataset_pieces(gaps, design, moments, pairs)], scale)
            alone = combined([fold_pieces(gaps, design)], scale)
            assert (by_rows.half(0.05 / 6) < alone.half(0.05 / 6)).sum() >= 2
            low, high = by_rows.interval(0.001)
            assert (low >= -0.5).all()
            assert (high <= 0.5).all()
