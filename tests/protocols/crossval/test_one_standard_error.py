"""The one-standard-error rule takes the simplest variant in reach of the best, and repeats are no new samples."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import RepeatedKFold, ShuffleSplit
from sklearn.pipeline import Pipeline

from paragone.protocols.crossval.ledger import Chain, FoldLedger, Predictions
from paragone.protocols.crossval.scores import Criterion, Scoring, chain_scores, select
from paragone.protocols.crossval.variants import expand, simplicity
from score_oracles import selected

from .conftest import PLS, RIDGE

NONE = Predictions(np.empty(0, dtype=int), np.empty(0), np.empty(0))


def scores_of(name, validations, errors):
    """A chain whose fold k errs by errors[k] on every row that it validates."""
    parts = [
        Predictions(rows, np.zeros(len(rows)), np.full(len(rows), e))
        for rows, e in zip(validations, errors, strict=True)
    ]
    folds = tuple(FoldLedger(str(k), 0, NONE, part, NONE) for k, part in enumerate(parts))
    return chain_scores(Chain(name, "regression", folds), Scoring("regression", "rmse"))


def described(methods):
    return {name: variant.described() for name, variant in expand(methods).items()}


def simplest_first(methods):
    places = simplicity(described(methods))
    return sorted(places, key=places.__getitem__)


def test_fewest_components_are_simplest_whatever_the_steps_and_the_order_of_declaration():
    grid = {"n_components": [5, 2, 9]}
    assert simplest_first({"P": {"use": PLS, "grid": grid, "steps": [["autoscale", "raw"]]}}) == [
        "P(raw, n_components=2)",
        "P(autoscale, n_components=2)",
        "P(raw, n_components=5)",
        "P(autoscale, n_components=5)",
        "P(raw, n_components=9)",
        "P(autoscale, n_components=9)",
    ]


@pytest.mark.parametrize(
    ("use", "name", "listed", "simplest"),
    [
        (RIDGE, "alpha", [0.1, 10.0, 1.0], [10.0, 1.0, 0.1]),
        ("sklearn.neighbors:KNeighborsRegressor", "n_neighbors", [1, 9, 3], [9, 3, 1]),
        ("sklearn.tree:DecisionTreeRegressor", "max_depth", [None, 2, 8], [2, 8, None]),
        ("sklearn.svm:SVR", "C", [10.0, 0.1], [0.1, 10.0]),
        ("sklearn.svm:SVR", "kernel", ["rbf", "linear"], ["rbf", "linear"]),
        ("sklearn.tree:DecisionTreeRegressor", "ccp_alpha", [0.0, 0.1], [0.0, 0.1]),
    ],
)
def test_known_parameters_order_by_their_meaning_and_unknown_ones_as_declared(
    use, name, listed, simplest
):
    found = simplest_first({"M": {"use": use, "grid": {name: listed}}})
    assert found == [f"M({name}={value})" for value in simplest]


def test_a_parameter_inside_a_composed_model_counts_too():
    model = Pipeline([("pls", PLSRegression())])
    found = simplest_first({"M": {"use": "sklearn.pipeline:Pipeline", "params": {"steps": model.steps},
                                  "grid": {"pls__n_components": [3, 1]}}})  # fmt: skip
    assert found == ["M(pls__n_components=1)", "M(pls__n_components=3)"]


def test_methods_of_different_classes_stay_as_declared():
    methods = {
        "R": {"use": RIDGE, "grid": {"alpha": [1.0, 5.0]}},
        "P": {"use": PLS, "grid": {"n_components": [3, 1]}},
    }
    assert simplest_first(methods) == [
        "R(alpha=5.0)",
        "R(alpha=1.0)",
        "P(n_components=1)",
        "P(n_components=3)",
    ]


def test_one_se_takes_the_simplest_in_reach_not_the_first_declared():
    """By hand: the best is p3 with mean 1.0 and standard error 0.1; p5, p2 lie within, p1 does not."""
    pair = [np.array([0]), np.array([1])]
    errors = {"p5": [1.0, 1.1], "p3": [0.9, 1.1], "p2": [1.09, 1.09], "p1": [1.2, 1.2]}
    rows = [scores_of(name, pair, folds) for name, folds in errors.items()]
    places = simplicity(
        {name: {"use": PLS, "params": {"n_components": int(name[1])}} for name in errors}
    )
    assert select([Criterion("one_se", 4)], [rows], places).variants == ("p2", "p3", "p5", "p1")


@pytest.mark.parametrize("repeats", [1, 2, 10, 50])
def test_repeats_do_not_shrink_the_standard_error(repeats):
    """By hand: fold scores 0.9 and 1.1 have a standard error of 0.1, or of 0.07 with the variance known ever better.

    A rule that counted every fold of 50 repeats as a sample of its own would reach no further than
    1.01.
    """
    validations = [np.arange(5), np.arange(5, 10)] * repeats
    best = scores_of("complex", validations, [0.9, 1.1] * repeats)
    near = scores_of("simple", validations, [1.069, 1.069] * repeats)
    far = scores_of("simpler", validations, [1.11, 1.11] * repeats)
    places = {"simpler": 0, "simple": 1, "complex": 2}
    assert select([Criterion("one_se")], [[best, near, far]], places).variants == ("simple",)


@pytest.mark.parametrize(
    ("splitter", "side_by_side"),
    [
        (RepeatedKFold(n_splits=4, n_repeats=1, random_state=0), 4),
        (RepeatedKFold(n_splits=4, n_repeats=25, random_state=0), 4),
        (ShuffleSplit(n_splits=200, test_size=0.2, random_state=0), 5),
    ],
)
def test_as_many_folds_count_as_fit_side_by_side_into_the_samples(splitter, side_by_side):
    validations = [val for _, val in splitter.split(np.zeros((40, 1)))]
    errors = np.random.default_rng(1).uniform(0.8, 1.2, size=len(validations))
    reach = errors.mean() + errors.std(ddof=1) / np.sqrt(side_by_side)
    best = scores_of("best", validations, errors)
    for name, value, chosen in (
        ("within", reach - 1e-6, "within"),
        ("beyond", reach + 1e-6, "best"),
    ):
        other = scores_of(name, validations, np.full(len(errors), value))
        assert select([Criterion("one_se")], [[best, other]], {name: 0, "best": 1}).variants == (
            chosen,
        )


def test_a_run_refits_the_simplest_and_the_audit_recomputes_the_same_choice(
    crossvalidate, regression
):
    methods = {
        "PLS": {
            "use": PLS,
            "grid": {"n_components": [6, 5, 4, 3, 2, 1]},
            "steps": [["raw", "autoscale", "minmax"]],
        }
    }
    results = crossvalidate(regression, methods, select=[{"ranking": "one_se"}], repeats=2)
    folds = results.reader().fold_scores()
    folds = folds[folds["fold"].str.isdigit()]
    each = folds.groupby("variant")["val_score"]
    best = each.mean().idxmin()
    reach = each.mean()[best] + each.std(ddof=1)[best] / np.sqrt(4)
    within = each.mean()[each.mean() <= reach].index
    fewest = min(int(name.rpartition("=")[2].rstrip(")")) for name in within)
    (chosen,) = results.reader().final_scores()["variant"]
    assert chosen.endswith(f"n_components={fewest})")
    assert len(within) > 1
    assert fewest < 6
    run = results.reader().crossval()
    assert selected(run.problems, run) == [chosen]
    results.close()
