"""Moments of rows from stored predictions: those of their contributions, or why there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paragone import Experiment
from paragone.lab.answers import SplitAnswers
from paragone.lab.results import Results
from paragone.lab.view import View
from paragone.metrics import find_metric, metric_slopes, metric_values
from paragone.protocols import Predict
from paragone.stats import compare
from paragone.stats.best import against_best, duels_of
from paragone.stats.designs import Design
from paragone.stats.rows import RowMoments
from paragone.stats.scopes import learners_of
from paragone.stats.stored_rows import StoredRows, mean_slopes, slopes_of, stored_moments

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


def sloped(answers, metric=ACCURACY):
    return [[slopes_of(metric, one) for one in split] for split in answers]


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
    metric = find_metric(name, "classification")
    moments = stored_moments(sloped(answers, metric), FIVE, metric)
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
    area = find_metric("roc_auc", "classification")
    assert slopes_of(area, replace(answers[0][0], probabilities=None, classes=None)) is None
    torn = Design(5, 1, 0.25, torn_groups=True)
    assert "one group" in stored_moments(sloped(answers), torn, ACCURACY)
    first, other = answers[0]
    odd = [[first, replace(other, rows=other.rows + 1)], *answers[1:]]
    assert "different rows" in stored_moments(sloped(odd), FIVE, ACCURACY)


def test_moments_belong_to_their_scores_and_methods_alone(answers):
    scores = scored(answers, "accuracy")
    told = StoredRows(("A", "B"), scores, stored_moments(sloped(answers), FIVE, ACCURACY))
    turned = told.of(("B", "A"), scores[:, ::-1], logarithms=False)
    assert turned.grams[0, 0, 0] == told.moments.grams[0, 1, 1]
    assert turned.variance([(0, 1)])[0] == told.moments.variance([(0, 1)])[0]
    assert told.of(("A", "C"), scores, logarithms=False) is None
    assert told.of(("A", "B"), scores + 0.01, logarithms=False) is None
    assert told.of(("A", "B"), scores[:4], logarithms=False) is None
    assert told.of(("A", "B"), np.log(scores), logarithms=True) is None


def test_seeds_of_a_method_are_averaged_row_by_row(answers):
    one, other = (slopes_of(ACCURACY, answered) for answered in answers[0])
    both = mean_slopes([one, other])
    assert both.value == pytest.approx((one.value + other.value) / 2)
    np.testing.assert_allclose(both.slopes, (one.slopes + other.slopes) / 2)


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
    plain = stored_moments(sloped(answers), FIVE, ACCURACY)
    narrow = stored_moments(sloped(doubled), FIVE, ACCURACY)
    groups = np.arange(120) // 2
    grouped = stored_moments(sloped(doubled), FIVE, ACCURACY, groups)
    variances = [one.variance([(0, 1)])[0][0] for one in (plain, narrow, grouped)]
    assert variances[2] == pytest.approx(variances[0], rel=1e-9)
    assert variances[1] < 0.55 * variances[0]


def test_logarithms_have_the_moments_of_relative_changes(answers):
    area = find_metric("roc_auc", "classification")
    slopes = sloped(answers, area)
    moments = stored_moments(slopes, FIVE, area, logarithms=True)
    relative = [
        [replace(one, slopes=one.slopes / one.value, value=1.0) for one in split]
        for split in slopes
    ]
    other = stored_moments(relative, FIVE, area)
    np.testing.assert_allclose(moments.grams, other.grams)


@pytest.fixture(scope="module")
def cancer(tmp_path_factory):
    methods = {
        "LDA": "sklearn.discriminant_analysis:LinearDiscriminantAnalysis",
        "Tree": {"use": "sklearn.tree:DecisionTreeClassifier", "params": {"max_depth": 1}},
        "Floor": "sklearn.dummy:DummyClassifier",
    }
    metrics = ("roc_auc", "neg_log_loss", "f1_macro")
    experiment = Experiment(["breast-cancer"], methods, {"folds": 5}, Predict(metrics=metrics))
    store = tmp_path_factory.mktemp("cancer") / "a.sqlite"
    experiment.run(store, 0).close()
    return store


def test_a_store_of_predictions_gives_intervals_of_rows_inside_what_is_possible(cancer):
    with Results.open(cancer) as results:
        asked = {"metric": "roc_auc", "correction": "bonferroni", "bayes": False}
        found, alone = (compare(one, **asked) for one in (results, results.scores("roc_auc")))
    mine, theirs = ({p.rival: p for p in one.leading_learners} for one in (found, alone))
    assert {one.unit for one in mine.values()} == {"row"}
    assert {one.unit for one in theirs.values()} == {"fold"}
    floor = mine["Floor"].difference
    assert floor.high <= 0.5
    assert floor.estimate == theirs["Floor"].difference.estimate
    assert mine["Floor"].word == "better"


@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss", "f1_macro"])
def test_every_surface_has_the_same_interval(cancer, metric):
    with Results.open(cancer) as results:
        direct = compare(results, metric=metric, bayes=False)
        page = View(results, metric=metric).comparison
    assert repr(direct.learners) == repr(page.learners)
    assert {one.unit for one in direct.learners} == {"row"}


def test_the_family_is_the_best_unless_all_pairs_are_asked_for(cancer):
    with Results.open(cancer) as results:
        best = compare(results, metric="neg_log_loss", bayes=False)
        pairs = compare(results, metric="neg_log_loss", correction="shaffer", bayes=False)
    assert best.family.with_best
    assert not pairs.family.with_best
    rows = learners_of(best.scores)
    places = [(0, 1), (0, 2), (1, 2)]
    table = duels_of(3, places, rows.pivots(places, best.settings))
    told = dict(zip(best.scores.methods, against_best(table), strict=True))
    for one in best.leading_learners:
        assert one.p == told[one.rival].p
        assert one.difference.low == pytest.approx(-told[one.rival].difference.high)
    (other,) = pairs.learners_of("Tree", ["Floor"])
    assert repr(best.learners_of("Tree", ["Floor"])) == repr((other,))
