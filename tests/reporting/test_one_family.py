"""A predict page has one family of tests: its finding, ranked table, answer table, LaTeX and JSON show the same."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from paragone import Dataset, Experiment, compare
from paragone.lab.results import Results
from paragone.lab.view import View
from paragone.protocols import Predict
from paragone.reporting.pages import answer
from paragone.reporting.ranked import finding_section, ranking_of
from paragone.reporting.tables import statistics_table
from paragone.tables import format_p


class Broken(GaussianNB):
    """A method that fails on one of the datasets."""

    def fit(self, X, y, sample_weight=None):
        if len(X) < 40:
            raise ValueError("too few rows")
        return super().fit(X, y)


def run(path, methods):
    rng = np.random.default_rng(3)
    data = []
    for place in range(7):
        X = rng.normal(size=(90 if place else 45, 3))
        y = np.where(X[:, 0] + 0.8 * rng.normal(size=len(X)) > 0, "a", "b")
        data.append(Dataset(f"set {place}", X, y, "classification"))
    Experiment(data, methods, {"folds": 3}, Predict(metrics=("accuracy",)), name="lab").run(path, workers=0).close()
    return path


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    methods = {"floor": DummyClassifier(), "bayes": GaussianNB(), "linear": LogisticRegression()}
    return run(tmp_path_factory.mktemp("lab") / "s.sqlite", methods)


@pytest.mark.parametrize("reference", [None, "bayes"])
def test_p_and_words_are_the_same_wherever_they_stand(store, reference):
    with Results.open(store) as results:
        view = View(results, reference=reference)
        (measure,) = view.measures
        ranking = ranking_of(view, measure)
        shown = answer(view)[0].table
        finding = next(block for block in finding_section(view).blocks if getattr(block, "kind", "") == "finding")
        written = json.loads(
            json.dumps(compare(results, metric="accuracy", reference=reference, bayes=False).to_dict())
        )
        statistics = statistics_table({"accuracy": measure.comparison}, measure.scores, view.wording)
    assert ranking.comparison is measure.comparison
    leader = reference or measure.comparison.leader
    pairs = {frozenset((pair["method"], pair["rival"])): pair for pair in written["pairs"] if leader in pair.values()}
    footer = {column.name: cell.text for column, cell in zip(shown.columns, shown.rows[-1], strict=True)}
    place = [column.name for column in statistics.columns].index("Rival")
    latex = {row[place].text: row[-1].text for row in statistics.rows}
    for names, pair in pairs.items():
        (rival,) = names - {leader}
        assert footer[rival] == latex[rival] == format_p(pair["p_adjusted"])
    # The ranked table is about the best by its mean, which here is the best by its rank.
    assert ranking.reference == reference
    assert (reference or ranking.rows[0].method) == leader
    for row in ranking.rows:
        if row.method != leader:
            pair = pairs[frozenset((row.method, leader))]
            word = pair["on_these_datasets"]
            turned = {"better": "worse", "worse": "better"}.get(word, word)
            assert row.against.verdict == (word if pair["method"] == row.method else turned)
            assert row.against.p_adjusted == pair["on_these_p_adjusted"]
    assert str(measure.comparison.finding_of(leader)) == finding.paragraphs[0] == written["finding"]


def test_a_method_that_failed_is_left_out_of_both(tmp_path):
    methods = {"broken": Broken(), "bayes": GaussianNB(), "floor": DummyClassifier()}
    with Results.open(run(tmp_path / "s.sqlite", methods)) as results:
        view = View(results)
        (measure,) = view.measures
        shown = answer(view)[0].table
        assert measure.comparison.scores.methods == ("bayes", "floor")
        assert len(measure.comparison.scores.datasets) == 7
        assert ranking_of(view, measure).comparison is measure.comparison
        footer = {column.name: cell.text for column, cell in zip(shown.columns, shown.rows[-1], strict=True)}
        assert footer["broken"] == "-"
        assert footer["floor"] == format_p(measure.comparison.pairs[0].p_adjusted)
