"""A hold-out scores two classes whatever they are called: text, numbers, truth values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from paragone import Experiment, compare
from paragone.data import SplitPlan, load, make_splits
from paragone.errors import InputError
from paragone.generate import Contender, GeneratorSpec
from paragone.generate.laboratory import METRICS, Holdout, Laboratory, parted
from paragone.generate.screening import Screening, screen_of
from paragone.generate.tuned import TunedClassifier
from paragone.lab.cells import Fitted, SplitData
from paragone.metrics import named_metric
from paragone.reporting import report
from paragone.testing import check_protocol


class HardLabels(BaseEstimator):
    """Gives labels and nothing else, not even its classes."""

    def fit(self, X, y):
        self.high_, self.low_ = y[np.argmax(X[:, 0])], y[np.argmin(X[:, 0])]
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0, self.high_, self.low_)


def data_of(labels, *, n_train=80):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 2))
    high = X[:, 0] + rng.normal(size=120) > 0
    y = np.where(high, labels[1], labels[0])
    return SplitData(X[:n_train], y[:n_train], X[n_train:], y[n_train:], "classification")


def values_of(protocol, model, data):
    """Return the scores of a fresh fit, in the order of the protocol's metrics."""
    return [score.value for score in protocol.scores(protocol.fit(clone(model), data), data).scores]


def test_every_cell_of_a_dataset_with_text_classes_is_scored_as_scikit_learn_scores_it(tmp_path):
    data = load("breast-cancer")
    assert data.y.dtype.kind in "UO"
    methods = {"NB": GaussianNB(), "Ridge": RidgeClassifier()}
    plan = SplitPlan(kind="holdout", folds=2, scale="none")
    experiment = Experiment([data], methods, plan, Holdout(), seed=1)
    with experiment.run(tmp_path / "a.sqlite", workers=0) as results:
        assert len(results.failures()) == 0
        frame = results.scores()
    assert len(frame) == 2 * 2 * len(METRICS)
    splits = make_splits(data, plan, seed=1)
    positive = np.sort(np.unique(data.y))[-1]
    for (fold, name), scores in frame.groupby(["fold", "method"]):
        train, test = splits[fold].train, splits[fold].test
        model = clone(methods[name]).fit(data.X[train], data.y[train])
        truth = data.y[test] == positive
        told = (
            model.predict_proba(data.X[test])[:, 1]
            if name == "NB"
            else model.decision_function(data.X[test])
        )
        expected = {
            "auroc": roc_auc_score(truth, told),
            "auprc": average_precision_score(truth, told),
            "f1": f1_score(truth, model.predict(data.X[test]) == positive),
        }
        assert dict(zip(scores["metric"], scores["value"], strict=True)) == pytest.approx(
            expected, abs=1e-12
        )


@pytest.mark.parametrize(
    "labels", [("benign", "malignant"), (False, True), (-1, 1), (2, 7)], ids=str
)
@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        RidgeClassifier(),
        HardLabels(),
        TunedClassifier("sklearn.naive_bayes:GaussianNB"),
        TunedClassifier(
            "sklearn.tree:DecisionTreeClassifier",
            space={"max_depth": {"low": 1, "high": 3}},
            trials=2,
            folds=3,
            scoring="hard",
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_the_classes_are_called_changes_no_score(model, labels):
    np.testing.assert_array_equal(
        values_of(Holdout(), model, data_of(labels)), values_of(Holdout(), model, data_of((0, 1)))
    )


def test_a_test_part_of_one_class_is_not_scored_as_if_it_were_the_other():
    data = data_of(("benign", "malignant"))
    negative = data.y_test == "benign"
    part = SplitData(
        data.X_train, data.y_train, data.X_test[negative], data.y_test[negative], "classification"
    )
    found = values_of(Holdout(metrics=("auroc", "f1")), LogisticRegression(), part)
    assert np.isnan(found[0])
    assert found[1] == 0.0


@pytest.mark.parametrize(
    "model", [GaussianNB(), RidgeClassifier(), HardLabels(), DecisionTreeClassifier(max_depth=2)]
)
def test_the_order_of_the_values_gives_their_scores_to_the_last_bit(model):
    data = data_of((0, 1))
    short, whole = Holdout(keep_values=False), Holdout()
    assert values_of(short, model, data) == values_of(whole, model, data)
    kept = short.fit(clone(model), data).arrays
    assert "values" not in kept
    assert kept["order"].dtype == np.uint8


def test_auroc_alone_does_without_hard_labels():
    class NoLabels(GaussianNB):
        def predict(self, X):
            raise AssertionError("nobody asked for labels")

    data, auroc_alone = data_of((0, 1)), Holdout(metrics=("auroc",))
    assert values_of(auroc_alone, NoLabels(), data) == values_of(Holdout(), GaussianNB(), data)[:1]


def test_a_classifier_that_gives_nan_fails_and_says_so():
    class NoNumbers(GaussianNB):
        def predict_proba(self, X):
            return np.full((len(X), 2), np.nan)

    with pytest.raises(InputError, match="a classifier gave NaN for some row"):
        Holdout().fit(NoNumbers(), data_of((0, 1)))


@pytest.mark.parametrize(
    "protocol", [Holdout(), Holdout(keep_values=False, metrics=("auroc",))], ids=["all", "auroc"]
)
def test_a_hold_out_keeps_the_laws_of_protocols(protocol):
    tuned = TunedClassifier(
        "sklearn.tree:DecisionTreeClassifier",
        space={"max_depth": {"low": 1, "high": 3}},
        trials=2,
        folds=3,
    )
    methods = {"NB": GaussianNB(), "Ridge": RidgeClassifier(), "Hard": HardLabels, "Tuned": tuned}
    laws = check_protocol(protocol, "breast-cancer", methods)
    assert "what a fit gives follows from the train rows alone, the same every time" in laws


def test_screening_keeps_the_laws_of_protocols():
    tree = Contender(
        "Tree",
        "sklearn.tree:DecisionTreeClassifier",
        portfolio=({"max_depth": 2}, {"max_depth": 4}),
    )
    assert check_protocol(Screening(), "wine-traits", dict([screen_of(tree)]))


class FirstHoldout(Holdout):
    """As the first release wrote it: the fit keeps scores, and no labels."""

    def fit(self, estimator, data):
        fitted = super().fit(estimator, data)
        scores = np.array([score.value for score in self.scores(fitted, data).scores])
        return Fitted({"scores": scores, "values": fitted.arrays["values"]}, fitted.info)


def test_a_store_of_the_first_release_is_reported_and_goes_on_without_a_new_fit(tmp_path):
    store = tmp_path / "old.sqlite"
    methods = {
        "NB": "sklearn.naive_bayes:GaussianNB",
        "Ridge": "sklearn.linear_model:RidgeClassifier",
    }
    data = parted(
        GeneratorSpec("add(X0, X1)", n_features=3).sample(200, seed=1, name="a-sum"), range(100)
    )
    with Laboratory(store) as laboratory:
        old = laboratory.run("first", [data], methods, FirstHoldout(), seed=3)
        assert any(
            file.name == "report.html" for file in report(store, tmp_path / "paper", charts=False)
        )
        found = laboratory.run("first", [data], methods, Holdout(), seed=3)
    assert {place: one.scores for place, one in found.items()} == {
        place: one.scores for place, one in old.items()
    }
    assert all(
        set(one.scores) == set(METRICS) and set(one.arrays) == {"scores", "values"}
        for one in found.values()
    )


def test_every_metric_of_a_hold_out_has_a_direction_and_can_be_compared():
    assert all(named_metric(name).higher_is_better is True for name in METRICS)
    rng = np.random.default_rng(0)
    rows = [
        {
            "dataset": f"d{d}",
            "method": m,
            "metric": "auprc",
            "value": 0.5 + 0.3 * (m == "B") + 0.01 * rng.random(),
        }
        for d in range(8)
        for m in ("A", "B")
    ]
    assert compare(pd.DataFrame(rows), metric="auprc").scores.higher_is_better is True
