"""Neighbours depend on the set of the features alone: on no order, on no unit, and on no other row or point."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone import ranking_curve
from paragone.errors import InputError
from paragone.methods import MLkNN
from paragone.methods.neighbors import TIED, neighbor_label_counts
from paragone.metrics import metric_names
from paragone.protocols.curve.evaluate import predict_along

_oracle = importlib.util.spec_from_file_location(
    "mlknn_oracle", Path(__file__).parent / "test_mlknn.py"
)
oracle = importlib.util.module_from_spec(_oracle)
_oracle.loader.exec_module(oracle)

SETTINGS = settings(max_examples=30, deadline=None)


def words(rng, n, d):
    """Rows of unit length with few words each: most pairs share none and are equally far in exact arithmetic."""
    counts = rng.integers(0, 3, (n, d)) * (rng.random((n, d)) < 0.15)
    counts[np.arange(n), rng.integers(0, d, n)] += 1
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


KINDS = {
    "words": words,
    "words in six decimals": lambda rng, n, d: np.round(words(rng, n, d), 6),
    "words in float32": lambda rng, n, d: words(rng, n, d).astype(np.float32).astype(np.float64),
    "words scaled": lambda rng, n, d: words(rng, n, d) * rng.random(d),
    "tenths": lambda rng, n, d: np.round(rng.random((n, d)), 1),
    "real": lambda rng, n, d: rng.random((n, d)),
    "whole": lambda rng, n, d: rng.integers(-3, 4, (n, d)).astype(float),
}


def drawn(kind, seed, n=60, d=23, n_test=15):
    rng = np.random.default_rng(seed)
    X = KINDS[kind](rng, n + n_test, d)
    Y = (rng.random((n + n_test, 4)) < [0.5, 0.3, 0.1, 0.02]).astype(np.uint8)
    return rng, X[:n], Y[:n], X[n:], Y[n:]


def chosen(X_train, X_test, n_neighbors):
    """Return the neighbours of every test row: with one label per training row, the counts say which."""
    own = np.eye(len(X_train), dtype=np.uint8)
    grid = np.array([X_train.shape[1]])
    counts = neighbor_label_counts(
        X_test, np.ascontiguousarray(X_train.T), own, grid, n_neighbors, same=False
    )
    return [np.flatnonzero(row).tolist() for row in counts[0]]


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(seed=st.integers(0, 10**6))
def test_all_features_give_one_value_for_every_ranking(kind, seed):
    rng, *arrays = drawn(kind, seed)
    d = arrays[0].shape[1]
    metrics = metric_names("multilabel")
    one = ranking_curve(rng.permutation(d), *arrays, k=[3, 10, d], metrics=metrics).loc[[d]]
    other = ranking_curve(rng.permutation(d), *arrays, k=[d], metrics=metrics)
    pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(seed=st.integers(0, 10**6), k=st.integers(2, 22))
def test_a_prefix_in_another_order_gives_the_same_value_at_its_end(kind, seed, k):
    rng, X_train, Y_train, X_test, _ = drawn(kind, seed)
    ranking = rng.permutation(X_train.shape[1])
    shuffled = np.concatenate([rng.permutation(ranking[:k]), rng.permutation(ranking[k:])])
    one = predict_along(MLkNN(), ranking, [k, 23], X_train, Y_train, X_test)
    other = predict_along(MLkNN(), shuffled, range(1, k + 1), X_train, Y_train, X_test)
    np.testing.assert_array_equal(one.scores(0), other.scores(k - 1))


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(seed=st.integers(0, 10**6))
def test_mlknn_alone_does_not_see_the_order_of_the_columns_and_agrees_with_the_curve(kind, seed):
    rng, X_train, Y_train, X_test, _ = drawn(kind, seed)
    order = rng.permutation(X_train.shape[1])
    alone = MLkNN().fit(X_train, Y_train).predict_proba(X_test)
    permuted = MLkNN().fit(X_train[:, order], Y_train).predict_proba(X_test[:, order])
    np.testing.assert_array_equal(alone, permuted)
    np.testing.assert_array_equal(
        alone, predict_along(MLkNN(), order, [23], X_train, Y_train, X_test).scores(0)
    )


@pytest.mark.parametrize(("decimals", "largest"), [(1, 1), (2, 9), (6, 1)])
@SETTINGS
@given(seed=st.integers(0, 10**6))
def test_decimals_have_the_neighbours_of_whole_numbers(decimals, largest, seed):
    """Tenths tie as whole numbers do, although no tenth has an exact binary form."""
    rng = np.random.default_rng(seed)
    unit = 10**decimals
    whole = rng.integers(0, largest * unit + 1, (50, 12)) * (rng.random((50, 12)) < 0.3)
    train, test = whole[:40], whole[40:]
    distances = ((test[:, None, :] - train) ** 2).sum(axis=2)
    expected = [sorted(np.argsort(row, kind="stable")[:7].tolist()) for row in distances]
    assert chosen(train / unit, test / unit, 7) == expected
    assert chosen(train.astype(float), test.astype(float), 7) == expected


@pytest.mark.known_answer
def test_arts_has_the_values_of_whole_millionths(data_folder):
    X_train, Y_train, X_test, _ = oracle.official(data_folder, "arts", "none")
    assert np.array_equal(np.round(X_train * 1e6) / 1e6, X_train)
    decimal = MLkNN().fit(X_train, Y_train)
    train, test = np.round(X_train * 1e6), np.round(X_test * 1e6)
    np.testing.assert_array_equal(decimal.posteriors_, MLkNN().fit(train, Y_train).posteriors_)
    # Every product and sum is a whole number under 2^53, so that even the expanded form is exact.
    some = slice(0, 400)
    distances = (
        (test[some] ** 2).sum(axis=1)[:, None] + (train**2).sum(axis=1) - 2 * test[some] @ train.T
    )
    counts = Y_train[np.argsort(distances, axis=1, kind="stable")[:, :10]].sum(axis=1)
    expected = decimal.posteriors_[np.arange(Y_train.shape[1]), counts]
    np.testing.assert_array_equal(decimal.predict_proba(X_test[some]), expected)


@SETTINGS
@given(seed=st.integers(0, 10**6), bits=st.integers(1, 23), n_neighbors=st.integers(1, 9))
def test_whole_numbers_are_compared_exactly_up_to_the_last_unit(seed, bits, n_neighbors):
    """Distances of 10^13 that differ by 1 are not tied; those that do not differ are."""
    rng = np.random.default_rng(seed)
    base = rng.integers(-(2**bits), 2**bits, 3)
    train = base + rng.integers(-1, 2, (30, 3))
    test = rng.integers(-(2**bits), 2**bits, (6, 3))
    expected = []
    for query in test.tolist():
        exact = [
            sum((a - b) ** 2 for a, b in zip(query, row, strict=True)) for row in train.tolist()
        ]
        expected.append(
            sorted(sorted(range(30), key=lambda j, far=exact: (far[j], j))[:n_neighbors])
        )
    assert chosen(train.astype(float), test.astype(float), n_neighbors) == expected


def at_the_edge(seed, edge):
    """Rows whose distances are that of the last neighbour times ``edge``, to a few units in the last place."""
    rng = np.random.default_rng(seed)
    X = rng.random((40, 16)) + 0.1
    far = np.where(rng.random(40) < 0.5, 1.0, edge) * (1 + rng.integers(-6, 7, 40) * 2.0**-53)
    X *= np.sqrt(far / (X**2).sum(axis=1))[:, None]
    for _ in range(3):
        X *= np.sqrt(far / np.array([float(sum(Fraction(x) ** 2 for x in row)) for row in X]))[
            :, None
        ]
    return rng, X


@pytest.mark.parametrize("edge", [1 - TIED, 1 + TIED])
@pytest.mark.parametrize("seed", range(20))
def test_not_even_distances_at_the_very_edge_of_a_tie_are_decided_by_the_order(edge, seed):
    rng, X = at_the_edge(seed, edge)
    query = np.zeros((1, 16))
    found = {
        tuple(chosen(X[:, order], query, 10)[0])
        for order in (rng.permutation(16) for _ in range(25))
    }
    assert len(found) == 1


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), shift=st.integers(-1074, 1020))
def test_the_unit_of_the_features_does_not_matter_from_the_least_to_the_largest_float(seed, shift):
    """Whole numbers up to 7 times any power of two: squares of most of these overflow or vanish."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(0, 8, (40, 4)).astype(float)
    Y = (rng.random((30, 3)) < 0.4).astype(np.uint8)
    expected = MLkNN(n_neighbors=5).fit(whole[:30], Y).predict_proba(whole[30:])
    X = np.ldexp(whole, shift)
    np.testing.assert_array_equal(
        MLkNN(n_neighbors=5).fit(X[:30], Y).predict_proba(X[30:]), expected
    )


@pytest.mark.parametrize("size", [1e-320, 1e-160, 1e154, 1e200, 1e308])
def test_huge_and_tiny_features_have_the_neighbours_of_exact_arithmetic(size):
    rng = np.random.default_rng(3)
    X = (rng.random((40, 3)) - 0.5) * size
    expected = [sorted(row) for row in oracle.naive_neighbours(X[30:], X[:30], 6, same=False)]
    assert chosen(X[:30], X[30:], 6) == expected


def test_a_huge_feature_leaves_the_points_before_it_as_they_are():
    rng, X_train, Y_train, X_test, _ = drawn("real", 1)
    expected = predict_along(MLkNN(), np.arange(23), [4, 22], X_train, Y_train, X_test)
    X_train, X_test = X_train * 1e-10, X_test * 1e-10
    X_train[:, 22], X_test[:, 22] = rng.random(60) * 1e308, rng.random(15) * 1e308
    found = predict_along(MLkNN(), np.arange(23), [4, 22, 23], X_train, Y_train, X_test)
    for point in range(2):
        np.testing.assert_array_equal(found.scores(point), expected.scores(point))
    alone = MLkNN().fit(X_train[:, 22:], Y_train).predict_proba(X_test[:, 22:])
    np.testing.assert_array_equal(found.scores(2), alone)


def test_a_huge_test_row_is_equally_far_of_all_and_changes_no_other():
    _, X_train, Y_train, X_test, _ = drawn("real", 2)
    model = MLkNN().fit(X_train, Y_train)
    expected = model.predict_proba(X_test)
    huge = np.vstack([X_test, np.full(23, 1e308), np.full(23, -1.7e308)])
    found = model.predict_proba(huge)
    np.testing.assert_array_equal(found[:-2], expected)
    assert chosen(X_train, huge[-2:], 10) == [list(range(10))] * 2


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_without_a_distance_are_refused_in_one_sentence(value):
    _, X_train, Y_train, X_test, _ = drawn("real", 4)
    broken = X_test.copy()
    broken[2, 5] = value
    sentence = r"1 NaN or infinite value\(s\), the first at row 2, column 5"
    with pytest.raises(InputError, match=sentence):
        MLkNN().fit(X_train, Y_train).predict(broken)
    with pytest.raises(InputError, match=f"ML-kNN: X_test has {sentence}"):
        predict_along(MLkNN(), np.arange(23), [3], X_train, Y_train, broken)
    with pytest.raises(InputError, match=f"ML-kNN: X_train has {sentence}"):
        predict_along(MLkNN(), np.arange(23), [3], broken, Y_train[:15], X_train)
