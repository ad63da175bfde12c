"""The headline of a comparison: one scope, whose pairs are drawn, and words that its intervals bear out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from paragone import compare
from paragone.page import Leaderboard, Standing
from paragone.reporting.boards import comparison_board, cost_words, panels_of, pareto, where_words
from paragone.stats.headlines import headline_of


def folds(levels: dict[str, float], n_datasets: int, spread: float, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (f"set {dataset}", fold, method, level + 0.05 * np.sin(dataset) + rng.normal(0, spread))
        for dataset in range(n_datasets)
        for fold in range(5)
        for method, level in levels.items()
    ]
    return pd.DataFrame(rows, columns=["dataset", "fold", "method", "value"])


def test_few_datasets_with_folds_are_told_on_these_datasets():
    found = headline_of(
        compare(folds({"A": 0.9, "B": 0.7}, 3, 0.01), metric="accuracy", bayes=False)
    )
    assert (found.scope, found.text) == ("On these 3 datasets", "A is better than B.")
    assert (found.beside, found.beside_text) == (
        "On datasets like these",
        "Not shown yet: 3 datasets are too few for a pair. At least 6 are needed.",
    )


def test_one_dataset_cannot_speak_for_others():
    found = headline_of(
        compare(folds({"A": 0.9, "B": 0.7}, 1, 0.01), metric="accuracy", bayes=False), ["C"]
    )
    assert (found.scope, found.text) == ("On set 0", "A is better than B; C failed.")
    assert found.beside_text == "One dataset cannot speak for others."


def test_scores_without_folds_are_told_on_datasets_like_these():
    frame = pd.DataFrame(
        {"dataset": range(9), "A": np.linspace(0.8, 0.9, 9), "B": np.linspace(0.7, 0.82, 9)}
    )
    comparison = compare(frame, metric="accuracy", bayes=False)
    found = headline_of(comparison)
    assert (found.scope, found.text) == ("On datasets like these", "A is better than B.")
    assert found.pairs == comparison.pairs


def test_too_few_scores_are_told_as_they_stand_and_nothing_is_claimed():
    frame = pd.DataFrame({"dataset": range(3), "A": [0.9, 0.8, 0.7], "B": [0.8, 0.7, 0.6]})
    found = headline_of(compare(frame, metric="accuracy", bayes=False))
    assert found.text == "A leads with 0.800 against 0.700 of B, and nothing is shown."
    assert "too few" in found.beside_text


@pytest.mark.parametrize("higher", [True, False])
def test_the_best_is_the_best_by_the_metric(higher):
    frame = folds({"A": 0.9, "B": 0.7, "C": 0.5}, 4, 0.01)
    found = headline_of(compare(frame, higher_is_better=higher, bayes=False))
    assert found.text == f"{'A' if higher else 'C'} is best: better than both others."


def test_a_reference_that_is_not_the_best_is_what_the_headline_is_about():
    frame = folds({"A": 0.9, "B": 0.7, "C": 0.5}, 4, 0.01)
    found = headline_of(compare(frame, metric="accuracy", reference="B", bayes=False))
    assert found.text == "Against B: A is better, and C is worse."


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
