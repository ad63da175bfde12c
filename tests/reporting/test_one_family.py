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
from paragone.reporting.boards import view_boards
from paragone.reporting.pages import answer, evidence_lines
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
    Experiment(data, methods, {"folds": 3}, Predict(metrics=("accuracy",)), name="lab").run(
        path, workers=0
    ).close()
    return path


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    methods = {"floor": DummyClassifier(), "bayes": GaussianNB(), "linear": LogisticRegression()}
    return run(tmp_path_factory.mktemp("lab") / "s.sqlite", methods)


TURNED = {"better": "worse", "worse": "better"}


@pytest.mark.parametrize("reference", [None, "bayes"])
def test_p_words_and_intervals_are_the_same_wherever_they_stand(store, reference):
    with Results.open(store) as results:
        view = View(results, reference=reference)
        (measure,) = view.measures
        (board,) = view_boards(view)
        told = evidence_lines(view)[0].blocks[0].lines
        shown = answer(view)[0].table
        written = json.loads(
            json.dumps(
                compare(results, metric="accuracy", reference=reference, bayes=False).to_dict()
            )
        )
        statistics = statistics_table(
            {"accuracy": measure.comparison}, measure.scores, view.wording
        )
    leader = reference or measure.comparison.leader
    pairs = {frozenset((pair["method"], pair["rival"])): pair for pair in written["pairs"]}
    footer = {
        column.name: cell.text for column, cell in zip(shown.columns, shown.rows[-1], strict=True)
    }
    place = [column.name for column in statistics.columns].index("Rival")
    latex = {row[place].text: row[-1].text for row in statistics.rows}
    for names, pair in pairs.items():
        if leader in names:
            (rival,) = names - {leader}
            assert footer[rival] == latex[rival] == format_p(pair["p"])
    # The leaderboard is about the best by its mean, which here is the best by its rank.
    assert board.compared_with == leader
    assert board.reference == (reference or "")
    assert list(told) == written["verdict"]
    for one in board.pairs:
        pair = pairs[frozenset((one.method, one.rival))]
        sign = 1 if pair["method"] == one.method else -1
        ends = sorted(sign * pair[f"here_{end}"] for end in ("low", "high"))
        assert one.word == (pair["here_word"] if sign > 0 else TURNED.get(pair["here_word"]))
        assert (one.difference, one.low, one.high) == (sign * pair["here_difference"], *ends)


def test_every_word_of_a_leaderboard_can_be_read_off_its_interval(store):
    with Results.open(store) as results:
        (board,) = view_boards(View(results))
    assert {pair.word for pair in board.pairs} > {"undecided"}
    for one in board.pairs:
        for pair in (one, board.seen_from(one.rival, one.method)):
            read = "better" if pair.low >= 0 else "worse" if pair.high <= 0 else "undecided"
            assert pair.word == read


def test_a_method_that_failed_is_left_out_of_both(tmp_path):
    methods = {"broken": Broken(), "bayes": GaussianNB(), "floor": DummyClassifier()}
    with Results.open(run(tmp_path / "s.sqlite", methods)) as results:
        view = View(results)
        (measure,) = view.measures
        shown = answer(view)[0].table
        assert measure.comparison.scores.methods == ("bayes", "floor")
        assert len(measure.comparison.scores.datasets) == 7
        (board,) = view_boards(view)
        assert [one.method for one in board.standings] == ["bayes", "floor", "broken"]
        assert board.standings[-1].failed == "3 of 21 fits failed"
        assert board.finding == "bayes is better than floor: 0.822 against 0.551; broken failed."
        assert board.notes[0] == "3 of 63 fits failed (broken)."
        footer = {
            column.name: cell.text
            for column, cell in zip(shown.columns, shown.rows[-1], strict=True)
        }
        assert footer["broken"] == "-"
        assert footer["floor"] == format_p(measure.comparison.pairs[0].p)
