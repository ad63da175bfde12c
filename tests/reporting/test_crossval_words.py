"""What a page says of a cross-validation is what was done: its folds, its repeats, and the rule that chose."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from paragone import Crossval, Dataset, Experiment
from paragone.lab.view import View
from paragone.protocols.crossval.problem import choose
from paragone.protocols.crossval.scores import Criterion
from paragone.protocols.crossval.tables import final_table
from paragone.protocols.crossval.words import (
    crossval_paragraph,
    crossval_views,
    problem_headline,
    rule_in_words,
)
from paragone.tables import to_text

PLS = "sklearn.cross_decomposition:PLSRegression"


@pytest.fixture
def lake():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 6))
    return Dataset(
        "lake", X, X @ [1.0, 2.0, 0, 0, 0.1, -1.0] + 0.4 * rng.normal(size=60), "regression"
    )


@pytest.fixture
def trees():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 4)) + np.repeat(np.eye(2, 4), 30, axis=0)
    return Dataset("trees", X, np.repeat(["ash", "oak"], 30), "classification")


@pytest.fixture
def told(tmp_path):
    """Run, and return the paragraph, the headline of the first problem and its view."""

    def tell(data, methods, split=None, **protocol):
        experiment = Experiment(
            [data], methods, split or {"folds": 5}, Crossval(**protocol), name="cv", seed=2
        )
        with experiment.run(tmp_path / "a.sqlite", workers=0) as results:
            views = crossval_views(results.reader().crossval())
            return crossval_paragraph(View(results), views), problem_headline(views[0]), views[0]

    return tell


def test_five_folds_drawn_twice_are_not_ten_folds(told, lake):
    paragraph, _, _ = told(lake, {"R": Ridge(), "M": DummyRegressor()}, repeats=2)
    assert "cross-validation in 5 folds x 2 repeats" in paragraph
    assert "10 folds" not in paragraph


def test_one_draw_is_said_as_it_is(told, lake):
    assert "cross-validation in 5 folds" in told(lake, {"R": Ridge(), "M": DummyRegressor()})[0]


def test_hold_outs_drawn_again_are_no_folds(told, lake):
    split = {"kind": "holdout", "folds": 7, "test_size": 0.3}
    paragraph, _, _ = told(lake, {"R": Ridge(), "M": DummyRegressor()}, split)
    assert "7 splits whose validation parts overlap" in paragraph


@pytest.mark.parametrize("metric", [None, "accuracy"])
def test_nothing_of_a_classifier_is_called_rmsecv(told, trees, metric):
    methods = {"L": LogisticRegression(), "M": DummyClassifier()}
    paragraph, words, view = told(trees, methods, metric=metric, test=0.2)
    table = to_text(final_table(view.problem, view.run))
    for text in (paragraph, words, table):
        assert "rmse" not in text.lower()
    assert (
        f"the best cross-validated {(metric or 'balanced_accuracy').replace('_', ' ')}" in paragraph
    )
    assert "chosen by cv_score" in words


def test_regression_by_another_metric_is_no_rmsecv_either(told, lake):
    paragraph, words, _ = told(lake, {"R": Ridge(), "M": DummyRegressor()}, metric="mae", test=0.2)
    assert "the best cross-validated mae" in paragraph
    assert "rmse" not in (paragraph + words).lower()


def test_each_refitted_chain_is_credited_to_the_rules_that_would_choose_it_alone(told, lake):
    """Oracle: every criterion asked by itself."""
    methods = {"PLS": {"use": PLS, "grid": {"n_components": [6, 5, 4, 3, 2, 1]}}}
    select = [{"ranking": "rmsecv"}, {"ranking": "one_se"}]
    paragraph, words, view = told(lake, methods, select=select, test=0.2)
    settings = view.run.settings
    alone = {}
    for criterion in settings.select:
        (choice,) = choose(
            [view.problem], type(settings)(select=(criterion,), variants=settings.variants)
        ).choices
        alone.setdefault(choice.variant, []).append(criterion.ranking)
    assert len(alone) == 2
    for variant, rules in alone.items():
        assert f"{variant} (chosen by {' and '.join(rules)})" in words
    assert "the best RMSECV" in paragraph
    assert (
        "the simplest within one standard error of the best mean rmse over folds (one_se)"
        in paragraph
    )
    assert "took its next best" not in paragraph


def test_a_rule_whose_choice_was_taken_is_not_said_to_have_chosen_its_next_best(told, lake):
    """Ridge is so far ahead that both rules choose it; the second then takes what it would never choose."""
    select = [{"ranking": "rmsecv"}, {"ranking": "one_se"}]
    paragraph, words, _ = told(lake, {"R": Ridge(), "M": DummyRegressor()}, select=select, test=0.2)
    assert "R (chosen by rmsecv and one_se)" in words
    assert "M (the next best by one_se)" in words
    assert "Where an earlier rule had taken its choice, a rule took its next best." in paragraph


def test_only_one_se_is_named_where_it_alone_chooses(told, lake):
    methods = {"PLS": {"use": PLS, "grid": {"n_components": [3, 2, 1]}}}
    paragraph, words, _ = told(lake, methods, select=[{"ranking": "one_se"}], test=0.2)
    assert "Of each problem's pipelines, the simplest within one standard error" in paragraph
    assert "(chosen by one_se)" in words
    assert "chosen by rmsecv" not in words


def test_a_criterion_that_takes_several_says_how_many():
    assert rule_in_words(Criterion("rmsecv", 3), "rmse") == "the 3 best by RMSECV"
    assert (
        rule_in_words(Criterion("mean_val"), "f1") == "the one with the best mean over folds of f1"
    )
