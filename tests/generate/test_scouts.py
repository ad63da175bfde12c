"""Scouts: trees that split where scikit-learn splits, ensembles that rank candidates as the libraries do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor

from paragone.errors import InputError
from paragone.generate.classifiers import auroc, confidence
from paragone.generate.formulas import Grammar, reason_to_reject
from paragone.generate.methods import contenders, reference_method
from paragone.generate.sampling import Threshold
from paragone.generate.scouts import (
    BINS,
    BoostingScout,
    ForestScout,
    add_tree,
    bin_edges,
    grow_tree,
    to_bins,
)
from paragone.generate.screening import screen_of


def grown(bins, target, weights=None, *, depth=4, least=5, penalty=0.0):
    n = len(target)
    tree, values, shown = np.empty((2 * n, 4), dtype=np.int64), np.empty(2 * n), np.zeros(n)
    ones = np.ones(n) if weights is None else weights
    rng = np.random.default_rng(0)
    grow_tree(
        bins,
        -target * ones,
        ones,
        np.arange(n),
        (depth, least, penalty, bins.shape[1]),
        rng,
        tree,
        values,
    )
    add_tree(bins, tree, values, 1.0, shown)
    return shown


@pytest.mark.parametrize("seed", range(5))
def test_a_tree_is_that_of_scikit_learn_on_the_same_bins(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4))
    target = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=300)
    bins = to_bins(X, bin_edges(X))
    theirs = (
        DecisionTreeRegressor(max_depth=4, min_samples_leaf=5, random_state=0)
        .fit(bins, target)
        .predict(bins)
    )
    np.testing.assert_allclose(grown(bins, target), theirs, atol=1e-9)


def test_a_penalty_shrinks_leaves_and_constant_columns_are_never_split():
    bins = np.zeros((10, 2), dtype=np.uint8)
    target = np.arange(10.0)
    np.testing.assert_allclose(grown(bins, target), np.full(10, 4.5))
    np.testing.assert_allclose(grown(bins, target, penalty=10.0), np.full(10, 45 / 20))


def test_bins_hold_equal_shares_and_unseen_rows_fall_into_the_outer_ones():
    X = np.random.default_rng(0).normal(size=(6400, 1))
    bins = to_bins(X, bin_edges(X))
    counts = np.bincount(bins[:, 0], minlength=BINS)
    assert counts.min() >= 99
    assert counts.max() <= 101
    assert to_bins(np.array([[-99.0], [99.0]]), bin_edges(X))[:, 0].tolist() == [0, BINS - 1]


@pytest.mark.parametrize("scout", [BoostingScout(n_trees=10), ForestScout(n_trees=10)])
def test_a_scout_repeats_itself_and_follows_the_labels(scout):
    X = np.random.default_rng(1).normal(size=(400, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    first, again, flipped = (
        clone(scout).fit(X, labels).decision_function(X) for labels in (y, y, 1 - y)
    )
    np.testing.assert_array_equal(first, again)
    assert auroc(y, first) > 0.95
    np.testing.assert_allclose(flipped, -first, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("letter", "least"), [("X", 0.95), ("L", 0.95), ("G", 0.9), ("F", 0.95)])
def test_scouts_order_candidates_as_the_methods_do_that_they_stand_in_for(letter, least):
    rng = np.random.default_rng(4)
    X, grammar, pairs = rng.normal(size=(2000, 10)), Grammar(), []
    method = reference_method(letter)
    declared = screen_of(method, by_scout=True)[1]["params"]
    scout = {"boosting": BoostingScout, "forest": ForestScout}[method.scout]
    while len(pairs) < 20:
        values = grammar.half_and_half(rng, 3, 5).evaluate(X)
        if reason_to_reject(values[:1000]):
            continue
        y = Threshold.halving(values[:1000]).label(values)
        if not 0.3 < y[1000:].mean() < 0.7:
            continue
        cheap = [scout(**params) for params in declared["portfolio"]]
        real = [method.configured(params).build(0) for params in method.portfolio]
        pairs.append([max(_score(model, X, y) for model in models) for models in (cheap, real)])
    assert spearmanr(np.array(pairs)).statistic > least


def _score(model, X, y):
    return auroc(y[1000:], confidence(model.fit(X[:1000], y[:1000]), X[1000:]).values)


def test_methods_with_one_scout_share_it_and_an_unknown_one_is_refused():
    one, other, alone = (screen_of(reference_method(name), by_scout=True) for name in "XLK")
    assert one == other
    assert alone[0] == "KNeighborsClassifier"
    with pytest.raises(InputError, match="did you mean 'forest'"):
        contenders({"A": {"use": "sklearn.tree:DecisionTreeClassifier", "scout": "forrest"}})
