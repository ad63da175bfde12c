"""Terminal, JSON, verdict of a run and page name one leader, also where mean and average rank disagree."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from typer.testing import CliRunner

import paragone
from paragone import Dataset, Experiment
from paragone.cli import app
from paragone.cli.run import leading_ranking, show_verdict
from paragone.lab.results import Results
from paragone.lab.view import View
from paragone.page import words_of
from paragone.protocols import Crossval, Predict
from paragone.protocols.crossval import page as crossval_page
from paragone.reporting.boards import comparison_board, view_boards
from paragone.reporting.pages import page_of
from paragone.reporting.write import written_report

ROWS = 40


class Answer(ClassifierMixin, BaseEstimator):
    """Answer what a column says."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, self.column].astype(int)


def run(path, right, metric):
    """Run methods that are right on so many of 40 rows, by method and dataset; the names are not in order."""
    data, methods = answered(right)
    experiment = Experiment(data, methods, {"folds": 4}, Predict(metrics=(metric,)), name="lab")
    experiment.run(path, workers=0).close()
    return experiment


def answered(right):
    """Return datasets with a column of answers for every method, and the methods."""
    rng = np.random.default_rng(0)
    data = []
    for place in range(len(next(iter(right.values())))):
        y = np.arange(ROWS) % 2
        columns = []
        for counts in right.values():
            wrong = rng.permutation(ROWS)[: ROWS - counts[place]]
            columns.append(np.where(np.isin(np.arange(ROWS), wrong), 1 - y, y))
        # What belongs to no method keeps the rows apart.
        data.append(
            Dataset(
                f"set {place}",
                np.column_stack([*columns, rng.normal(size=ROWS)]),
                y,
                "classification",
            )
        )
    return data, {name: Answer(column) for column, name in enumerate(right)}


def leaders(path, experiment, tmp_path, capsys):
    """Return whom every surface names first, by surface."""
    found = {}
    outcome = CliRunner().invoke(app, ["compare", str(path), "--details"])
    assert outcome.exit_code == 0, outcome.output
    found["compare finding"] = re.search(r"zeta|alpha|mid", outcome.output).group()
    found["compare table"] = re.search(r"^> (\w+)", outcome.output, re.MULTILINE).group(1)
    told = json.loads(CliRunner().invoke(app, ["compare", str(path), "--json"]).stdout)
    found["JSON"], found["JSON ranks"] = told["leader"], told["ranks"][0]["method"]
    found["JSON finding"] = re.search(r"zeta|alpha|mid", told["finding"]).group()
    capsys.readouterr()
    show_verdict(experiment, path)
    said = capsys.readouterr().out
    found["run finding"] = re.search(r"zeta|alpha|mid", said).group()
    found["run table"] = re.search(r"^ *(?:\d\S*) +(zeta|alpha|mid)\b", said, re.MULTILINE).group(1)
    with Results.open(path) as results:
        view = View(results)
        ranking, (board,) = leading_ranking(view), view_boards(view)
        written_report(view, tmp_path / "report")
    for name, first, said in (
        ("ranking", ranking.rows[0].method, ranking.finding),
        ("board", board.standings[0].method, board.finding),
    ):
        found[name], found[f"{name} finding"] = first, re.search(r"zeta|alpha|mid", said)[0]
    found["difference to"] = board.compared_with
    html = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert board.finding in html
    return found


# Of equals the first by name leads: scores of a store come in the order of names, however the
# methods were declared.
CASES = {
    "one huge win": (
        {"zeta": [32, 32, 32, 38], "alpha": [34, 34, 34, 18], "mid": [30, 30, 30, 20]},
        "zeta",
    ),
    "one huge loss": ({"zeta": [34, 34, 34, 10], "alpha": [32, 32, 32, 32]}, "alpha"),
    "equal means": (
        {"zeta": [32, 32, 32, 38], "alpha": [34, 34, 34, 32], "mid": [20] * 4},
        "alpha",
    ),
    "one dataset": ({"zeta": [30], "alpha": [36], "mid": [20]}, "alpha"),
    "one dataset, equal": ({"zeta": [30], "alpha": [30], "mid": [20]}, "alpha"),
}


@pytest.mark.parametrize("metric", ["accuracy", "error_rate"])
@pytest.mark.parametrize("case", CASES)
def test_every_surface_names_the_same_leader(tmp_path, capsys, case, metric):
    right, leader = CASES[case]
    experiment = run(tmp_path / "s.sqlite", right, metric)
    found = leaders(tmp_path / "s.sqlite", experiment, tmp_path, capsys)
    assert found == dict.fromkeys(found, leader)


@pytest.mark.parametrize("higher", [True, False])
def test_a_table_without_folds_has_the_leader_of_its_means(higher):
    """With a dataset as the unit the other may be better: that is said, and the leader stays the leader."""
    many = [0.6 + 0.01 * place for place in range(12)]
    few = [value - 0.02 - 0.001 * place for place, value in enumerate(many)]
    few[0] = 0.999
    scores = pd.DataFrame({"dataset": [f"d{n}" for n in range(12)], "often": many, "huge": few})
    if not higher:
        scores[["often", "huge"]] = 1 - scores[["often", "huge"]]
    found = paragone.compare(
        scores, metric="accuracy" if higher else "error_rate", higher_is_better=higher
    )
    board = comparison_board(found, "answer")
    assert found.friedman.average_ranks[found.scores.methods.index("often")] < 1.5
    names = (
        found.leader,
        found.ordered[0],
        found.rank_table["method"][0],
        board.standings[0].method,
    )
    assert {*names, board.compared_with, found.to_dict()["leader"]} == {"huge"}
    assert {pair.method for pair in found.leading_pairs} == {"huge"}
    assert board.finding.startswith("huge has the best mean, yet is worse than often") == (
        found.leading_pairs[0].word == "worse"
    )


def test_a_method_that_failed_somewhere_never_leads():
    scores = pd.DataFrame(
        {"dataset": list("abcd"), "whole": [0.7, 0.8, 0.7, 0.6], "part": [0.9, 0.9, None, 0.9]}
    )
    found = paragone.compare(scores, metric="accuracy", missing="worst")
    board = comparison_board(found, "answer")
    assert found.leader == board.standings[0].method == board.compared_with == "whole"
    assert found.rank_table["method"].tolist() == ["whole", "part"]


def test_the_tests_within_datasets_are_of_the_leader():
    """The leader's rows are found also where a rival has the better average rank."""
    rng = np.random.default_rng(1)
    rows = [
        (f"d{d}", fold, method, value + 0.01 * rng.normal())
        for d in range(4)
        for fold in range(5)
        for method, value in (("often", 0.7), ("huge", 0.68 if d else 0.99))
    ]
    found = paragone.compare(
        pd.DataFrame(rows, columns=["dataset", "fold", "method", "value"]), metric="accuracy"
    )
    assert found.leader == "huge"
    assert [len(found.leader_on(f"d{d}")) for d in range(4)] == [1, 1, 1, 1]


def cross_validated(path, right, metric="accuracy"):
    """Cross-validate methods that are right on so many of 40 rows of every dataset."""
    data, methods = answered(right)
    Experiment(data, methods, {"folds": 4}, Crossval(metric=metric), name="lab").run(
        path, workers=0
    ).close()


def lead_of(path, metric=None):
    """Return what the page says over all problems, and its first screen's leader where it ranks the pipelines."""
    with Results.open(path) as results:
        page = page_of(View(results, metric=metric))
    boards = page.boards()
    name = "evidence" if boards else "verdict"
    words = words_of(next(section for section in page.sections if section.name == name).blocks)
    return (
        re.search(r"Over \d+ problems, .*?\.(?= On (?:no|every|\d+) problem)", words).group(),
        boards,
    )


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy"])
def test_a_cross_validation_names_the_leader_and_beside_it_who_has_the_best_average_rank(
    tmp_path, metric
):
    right, leader = CASES["one huge win"]
    cross_validated(tmp_path / "s.sqlite", right, metric)
    said, (board,) = lead_of(tmp_path / "s.sqlite")
    assert board.standings[0].method == board.compared_with == leader == "zeta"
    # On three of the four datasets alpha is first and zeta second: its average rank is (1 + 1 + 1 +
    # 3) / 4.
    assert (
        said == "Over 4 problems, zeta has the best mean; it is the best on 1. "
        "alpha has the best average rank, 1.50 of 3; it is the best on 3."
    )


def test_a_leader_that_shares_the_best_average_rank_has_it(tmp_path):
    cross_validated(tmp_path / "s.sqlite", {"zeta": [30, 38], "alpha": [34, 36]})
    said, (board,) = lead_of(tmp_path / "s.sqlite")
    assert board.compared_with == "alpha"
    assert (
        said
        == "Over 2 problems, alpha has the best mean and the best average rank, 1.50 of 2; it is"
        " the best on 1."
    )


def test_the_leader_is_the_same_where_pipelines_are_too_many_to_rank_or_another_metric_is_asked_for(
    tmp_path, monkeypatch
):
    right, leader = CASES["one huge win"]
    cross_validated(tmp_path / "s.sqlite", right)
    said, _ = lead_of(tmp_path / "s.sqlite")
    by_other, boards = lead_of(tmp_path / "s.sqlite", "balanced_accuracy")
    assert not boards
    assert f"{leader} has the best mean" in by_other
    monkeypatch.setattr(crossval_page, "MOST_RANKED", 2)
    of_many, boards = lead_of(tmp_path / "s.sqlite")
    assert not boards
    assert of_many == said
