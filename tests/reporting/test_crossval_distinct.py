"""Methods of a cross-validation are told apart by one test whose level holds: samples are the unit, not rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from paragone.protocols.crossval.problem import FoldRows, Settings, Truth, make_problem
from paragone.protocols.crossval.tables import ALPHA, distinction_words, distinguish, losses
from paragone.stats.corrections import holm
from paragone.stats.registries import find_correction
from paragone.stats.t_tests import corrected_sample_t

NONE = np.empty(0, dtype=np.int64)


def least_squares(X, y, X_new):
    """Ridge with the smallest penalty, by the normal equations."""
    mean = y.mean()
    return mean + X_new @ np.linalg.solve(X.T @ X + 0.1 * np.eye(X.shape[1]), X.T @ (y - mean))


def by(model):
    return lambda X, y, X_new: model.fit(X, y).predict(X_new)


def equal_methods(
    rng,
    n_samples,
    n_replicates,
    n_methods=2,
    n_features=5,
    fit=least_squares,
    n_folds=5,
    repeats=1,
    grouped=True,
):
    """A cross-validation of equally good methods: each sees features of its own that tell as much of the target.

    Replicates of a sample share its target and most of their noise, as repeated scans of one flask
    do.
    """
    truth = rng.normal(size=n_samples)
    y = np.repeat(truth + 0.3 * rng.normal(size=n_samples), n_replicates)
    samples = np.repeat(np.arange(n_samples), n_replicates)
    seen = [
        (0.7 * truth[:, None] + rng.normal(size=(n_samples, n_features)))[samples]
        + 0.3 * rng.normal(size=(len(samples), n_features))
        for _ in range(n_methods)
    ]
    folds = []
    for _ in range(repeats):
        fold_of = rng.permutation(n_samples) % n_folds
        held = [np.flatnonzero(fold_of[samples] == fold) for fold in range(n_folds)]
        folds += [FoldRows(np.setdiff1d(np.arange(len(y)), val), val, NONE) for val in held]
    predicted = {
        (f"m{i}", k): {"y": np.concatenate([y[f.train], fit(X[f.train], y[f.train], X[f.val])])}
        for i, X in enumerate(seen)
        for k, f in enumerate(folds)
    }
    truths = Truth(y, groups=samples if grouped and n_replicates > 1 else None)
    names = [f"m{i}" for i in range(n_methods)]
    return make_problem("null", "y", truths, folds, None, names, lambda v, k: predicted.get((v, k)))


def told_apart(problem):
    found = distinguish(problem, problem.scores(Settings().scoring(problem.truth.task)))
    return any(pair.word != "undecided" for pair in found.pairs)


def assert_level_holds(n_experiments, **how):
    rng = np.random.default_rng(7)
    rate = np.mean([told_apart(equal_methods(rng, **how)) for _ in range(n_experiments)])
    assert rate <= ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / n_experiments), rate


@pytest.mark.parametrize(
    "how",
    [
        {"n_samples": 30, "n_replicates": 5},
        {"n_samples": 30, "n_replicates": 1},
        {"n_samples": 30, "n_replicates": 1, "repeats": 3},
        {"n_samples": 30, "n_replicates": 2, "n_methods": 8},
        {"n_samples": 40, "n_replicates": 1, "n_folds": 10, "n_features": 10},
    ],
    ids=str,
)
def test_equal_methods_are_told_apart_in_at_most_five_of_a_hundred_experiments(how):
    assert_level_holds(200, **how)


@pytest.mark.slow
@pytest.mark.parametrize("n_replicates", [5, 1])
@pytest.mark.parametrize(
    ("fit", "n_experiments"),
    [
        (least_squares, 4000),
        (by(Ridge()), 1000),
        (by(KNeighborsRegressor(3)), 1000),
        (by(DecisionTreeRegressor(random_state=0)), 1000),
    ],
    ids=["least squares", "ridge", "neighbours", "tree"],
)
@pytest.mark.parametrize("n_features", [5, 10])
def test_the_level_holds_for_stable_and_unstable_learners(
    n_replicates, fit, n_experiments, n_features
):
    assert_level_holds(
        n_experiments, n_samples=30, n_replicates=n_replicates, fit=fit, n_features=n_features
    )


def test_replicates_that_are_copies_change_nothing():
    """What five identical scans of a sample say is what one of them says."""
    rng = np.random.default_rng(0)
    once = equal_methods(rng, 24, 1, n_methods=3)
    n, times = 24, 5
    spread = [FoldRows(*(np.repeat(rows, times) * times + np.tile(np.arange(times), len(rows)) for rows in (
        fold.train, fold.val, fold.test))) for fold in once.folds]  # fmt: skip
    arrays = {
        (v, k): {"y": np.repeat(np.concatenate([f.train.y_pred, f.val.y_pred]), times)}
        for v, chain in once.chains.items()
        for k, f in enumerate(chain.folds)
    }
    truth = Truth(np.repeat(once.truth.y, times), groups=np.repeat(np.arange(n), times))
    copied = make_problem(
        "null", "y", truth, spread, None, list(once.chains), lambda v, k: arrays.get((v, k))
    )
    scoring = Settings().scoring("regression")
    one, other = (distinguish(problem, problem.scores(scoring)) for problem in (once, copied))
    assert [pair.rival for pair in other.pairs] == [pair.rival for pair in one.pairs]
    assert [pair.p for pair in other.pairs] == pytest.approx(
        [pair.p for pair in one.pairs], rel=1e-9
    )
    assert (one.units, other.units, one.pairs[0].n, other.pairs[0].n) == ("samples", "groups", n, n)


def test_losses_are_means_of_replicates_of_means_of_repeats():
    problem = equal_methods(np.random.default_rng(1), 10, 3, n_methods=2, repeats=2)
    chain = problem.chains["m0"]
    by_hand = []
    for sample in range(10):
        rows = []
        for row in np.flatnonzero(problem.truth.groups == sample):
            seen = [
                abs(f.val.y_pred[f.val.samples == row] - problem.truth.y[row]) for f in chain.folds
            ]
            rows.append(np.mean(np.concatenate(seen)))
        by_hand.append(np.mean(rows))
    np.testing.assert_allclose(losses(chain, problem.truth.groups), by_hand, rtol=1e-12)


@pytest.mark.parametrize("n_folds", [2, 5, 10])
def test_the_test_is_the_corrected_resampled_t_with_its_variance_taken_from_samples(n_folds):
    d = np.random.default_rng(2).normal(0.3, 1.0, size=40)
    n, m, n_train = 40, 40 / n_folds, 40 * (n_folds - 1) / n_folds
    plain = stats.ttest_1samp(d, 0.0)
    factor = (1 / m) * (1 / n_folds + m / n_train) / (1 / n)
    expected = 2 * stats.t.sf(abs(plain.statistic) / np.sqrt(factor), n - 1)
    found = corrected_sample_t(d, n_train=n_train).p
    assert found == pytest.approx(expected, rel=1e-10)
    assert found > plain.pvalue


def test_the_correction_is_holms_with_the_pairs_that_are_not_tested_at_one():
    p = np.array([0.004, 0.0001, 0.03, 0.2])
    padded = np.concatenate([p, np.ones(41)])
    np.testing.assert_allclose(
        find_correction("holm").adjust_among(p, 45), holm(padded)[:4], rtol=1e-12
    )


def test_a_clearly_worse_method_is_told_from_the_best_and_with_too_few_samples_nothing_is():
    rng = np.random.default_rng(4)
    problem = equal_methods(rng, 30, 3, n_methods=2)
    poor = {
        k: fold.val.y_true + 4 * rng.normal(size=len(fold.val))
        for k, fold in enumerate(problem.chains["m0"].folds)
    }
    arrays = {
        (v, k): {
            "y": np.concatenate([fold.train.y_pred, poor[k] if v == "poor" else fold.val.y_pred])
        }
        for v in ("m0", "poor")
        for k, fold in enumerate(problem.chains["m0"].folds)
    }
    both = make_problem(
        "d",
        "y",
        problem.truth,
        problem.folds,
        None,
        ["m0", "poor"],
        lambda v, k: arrays.get((v, k)),
    )
    assert told_apart(both)
    found = distinguish(both, both.scores(Settings().scoring("regression")))
    assert "30 groups" in distinction_words(found)
    one = make_problem(
        "d",
        "y",
        Truth(both.truth.y, groups=np.zeros(90)),
        both.folds,
        None,
        ["m0", "poor"],
        lambda v, k: arrays.get((v, k)),
    )
    assert not told_apart(one)
