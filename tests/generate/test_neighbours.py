"""Batched nearest neighbours against scikit-learn's, one label column at a time."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from paragone.errors import InputError
from paragone.generate.screening import NeighbourVotes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 10))
Y = RNG.integers(0, 2, size=(300, 7))


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize(("n_neighbors", "p"), [(1, 2), (5, 1), (36, 3), (60, 2), (100, 5)])
def test_probabilities_are_those_of_scikit_learn(weights, n_neighbors, p):
    queries = RNG.normal(size=(80, 10))
    votes = NeighbourVotes(queries, X, 100, p=p)
    found = votes.probabilities(Y, n_neighbors, weights)
    for column in range(Y.shape[1]):
        model = KNeighborsClassifier(n_neighbors, weights=weights, p=p).fit(X, Y[:, column])
        np.testing.assert_allclose(
            found[:, column], model.predict_proba(queries)[:, 1], rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_in_every_fold_rows_are_predicted_as_scikit_learn_predicts_them(weights):
    for train, test in StratifiedKFold(10, shuffle=True, random_state=4).split(X, Y[:, 0]):
        found = NeighbourVotes(X[test], X[train], 30).probabilities(Y[train], 30, weights)
        for column in range(Y.shape[1]):
            model = KNeighborsClassifier(30, weights=weights).fit(X[train], Y[train, column])
            np.testing.assert_allclose(
                found[:, column], model.predict_proba(X[test])[:, 1], rtol=0, atol=1e-12
            )


def test_rows_that_coincide_with_the_query_alone_count():
    rows = np.array([[0.0], [0.0], [1.0], [2.0]])
    votes = NeighbourVotes(np.array([[0.0], [1.5]]), rows, 4)
    labels = np.array([[1], [0], [1], [1]])
    expected = (
        KNeighborsClassifier(4, weights="distance")
        .fit(rows, labels[:, 0])
        .predict_proba([[0.0], [1.5]])[:, 1]
    )
    np.testing.assert_allclose(
        votes.probabilities(labels, 4, "distance")[:, 0], expected, atol=1e-12
    )


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_where_all_neighbours_agree_the_probability_is_exactly_0_or_1(weights):
    votes = NeighbourVotes(RNG.normal(size=(200, 10)), X, 60)
    everywhere = np.column_stack([np.ones(300), np.zeros(300)])
    for n_neighbors in (1, 3, 7, 60):
        found = votes.probabilities(everywhere, n_neighbors, weights)
        assert (found == [1.0, 0.0]).all()


def test_equal_distances_are_taken_by_row_number():
    votes = NeighbourVotes(np.array([[0.0]]), np.array([[1.0], [-1.0], [1.0]]), 2)
    assert votes.probabilities(np.eye(3), 2).tolist() == [[0.5, 0.5, 0.0]]


def test_too_many_neighbours_and_unknown_weights_are_refused():
    with pytest.raises(InputError, match="301 neighbours asked for, but there are 300"):
        NeighbourVotes(X, X, 301)
    votes = NeighbourVotes(X, X, 5)
    with pytest.raises(InputError, match="n_neighbors must be 1 to 5"):
        votes.probabilities(Y, 6)
    with pytest.raises(InputError, match="'uniform' or 'distance'"):
        votes.probabilities(Y, 5, "square")
