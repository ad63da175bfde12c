"""Findings: which scope leads, whose pairs are drawn beside it, and the sentences, which golden files hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from answers import words_of_superiority
from paragone import compare
from paragone.page import Leaderboard, Standing
from paragone.reporting.boards import (
    comparison_board,
    cost_words,
    headline_of,
    panels_of,
    pareto,
    where_words,
)


def folds(levels: dict[str, float], n_datasets: int, spread: float, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (f"set {dataset}", fold, method, level + 0.05 * np.sin(dataset) + rng.normal(0, spread))
        for dataset in range(n_datasets)
        for fold in range(5)
        for method, level in levels.items()
    ]
    return pd.DataFrame(rows, columns=["dataset", "fold", "method", "value"])


def told(frame: pd.DataFrame, **options):
    return compare(frame, **{"metric": "accuracy", "bayes": False, **options})


def test_few_datasets_with_folds_are_told_on_this_data():
    found = told(folds({"A": 0.9, "B": 0.7}, 3, 0.01)).findings
    assert found.shown == "this data"
    assert found.untold["new datasets"] == "For new datasets, 3 are too few: at least 6 are needed."


def test_one_dataset_cannot_speak_for_others():
    comparison = told(folds({"A": 0.9, "B": 0.7}, 1, 0.01))
    assert set(comparison.findings.scopes) == {"this data"}
    assert headline_of(comparison.findings, ["C"]).text.endswith("; C failed.")


def test_scores_without_folds_are_told_on_new_datasets():
    frame = pd.DataFrame(
        {"dataset": range(9), "A": np.linspace(0.8, 0.9, 9), "B": np.linspace(0.7, 0.82, 9)}
    )
    comparison = told(frame)
    assert comparison.findings.shown == "new datasets"
    assert comparison.findings.pairs == comparison.pairs


def test_one_score_of_each_is_told_as_it_stands():
    frame = pd.DataFrame({"dataset": ["d"], "A": [0.9], "B": [0.8]})
    comparison = told(frame)
    assert (comparison.findings.shown, comparison.pairs) == (None, ())
    assert words_of_superiority(repr(comparison)) == []


@pytest.mark.parametrize("higher", [True, False])
def test_the_best_is_the_best_by_the_metric(higher):
    frame = folds({"A": 0.9, "B": 0.7, "C": 0.5}, 4, 0.01)
    found = told(frame, metric=None, higher_is_better=higher).findings
    assert found.leader == found.best == ("A" if higher else "C")
    assert {pair.word for pair in found.pairs} == {"better"}


def test_a_reference_that_is_not_the_best_is_what_the_finding_is_about():
    frame = folds({"A": 0.9, "B": 0.7, "C": 0.5}, 4, 0.01)
    found = told(frame, reference="B").findings
    assert (found.leader, found.best) == ("B", "A")
    assert {pair.rival: pair.word for pair in found.pairs} == {"A": "worse", "C": "better"}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("spread", [0.005, 0.05])
def test_steps_behind_the_best_give_back_every_score(seed, spread):
    comparison = compare(
        folds({"A": 0.9, "B": 0.89, "C": 0.8}, 4, spread, seed), metric="accuracy", bayes=False
    )
    board, table = comparison_board(comparison, "b"), comparison.scores
    for one, steps in zip(board.standings, board.behind, strict=True):
        column = table.values[:, table.methods.index(one.method)]
        np.testing.assert_allclose(np.add(board.best, steps), column, atol=1e-12)
        assert one.mean == pytest.approx(column.mean(), abs=1e-12)
    assert (np.array(board.behind).max(axis=0) == 0).all()
    title, _ = where_words(board)
    spans = np.ptp(table.values, axis=1)
    assert title.startswith(f"{table.datasets[int(np.argmax(spans))]} separates the methods most")
    assert {panel.kind for panel in panels_of(board)} == {"where", "pairs"}


def test_the_line_of_costs_joins_what_no_other_beats_in_both():
    costs = {
        "A": (0.9, 10.0),
        "B": (0.89, 1.0),
        "C": (0.88, 5.0),
        "D": (0.5, 0.1),
        "E": (0.4, 100.0),
    }
    standings = tuple(
        Standing(name, place, float(place + 1), mean, seconds)
        for place, (name, (mean, seconds)) in enumerate(costs.items())
    )
    board = Leaderboard("b", "accuracy", "", "", standings)
    naive = [
        a
        for a, (mean, seconds) in costs.items()
        if not any(m >= mean and s <= seconds for b, (m, s) in costs.items() if b != a)
    ]
    assert sorted(pareto(board)) == sorted(naive) == ["A", "B", "D"]
    assert cost_words(board)[0] == "E costs 10 times as much as A and scores no better"


def test_times_of_milliseconds_are_no_finding_about_cost():
    standings = tuple(
        Standing(name, place, float(place + 1), mean, seconds)
        for place, (name, mean, seconds) in enumerate((("A", 0.9, 0.0001), ("B", 0.8, 0.0052)))
    )
    board = Leaderboard("b", "accuracy", "", "", standings)
    assert (
        cost_words(board)[0]
        == "Every method fits in less than 0.01 s: too little to compare costs by"
    )
