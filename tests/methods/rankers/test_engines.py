"""The shared engines give what the plain algebra gives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve_sylvester
from transcriptions.lrdg import graph

from paragone.methods.rankers.graphs import (
    cosine_distance,
    cosine_similarity,
    distinct_columns,
    nearest,
    sample_graph,
)
from paragone.methods.rankers.grro import _solve, binary_information
from paragone.methods.rankers.iteration import (
    FactoredGram,
    FormedGram,
    SparseGram,
    TallSolver,
    WideSolver,
    gram_of,
)


@pytest.mark.parametrize("form", [FormedGram, FactoredGram, SparseGram])
def test_every_form_of_the_gram_matrix_applies_alike(form: type) -> None:
    generator = np.random.default_rng(0)
    X, W = generator.random((7, 5)) * (generator.random((7, 5)) < 0.5), generator.random((5, 3))
    np.testing.assert_allclose(form(X).apply(W, np.empty((5, 3))), X.T @ X @ W, rtol=1e-12)


def test_sparse_data_takes_the_sparse_form() -> None:
    X = np.zeros((300, 400))
    X[:, 0] = 1.0
    assert isinstance(gram_of(X, n_labels=5, applications=30), SparseGram)


@pytest.mark.parametrize("solver", [TallSolver, WideSolver])
@pytest.mark.parametrize("shape", [(12, 5), (5, 12)])
@pytest.mark.parametrize("with_rows", [True, False])
@pytest.mark.parametrize("with_features", [True, False])
def test_both_ridge_solvers_solve_the_weighted_equations(
    solver: type, shape: tuple[int, int], with_rows: bool, with_features: bool
) -> None:
    generator = np.random.default_rng(1)
    X, F = generator.random(shape), generator.random((shape[0], 2))
    P = generator.random(shape[1])
    Z = generator.random(shape[0]) if with_rows else None
    R = generator.random((shape[1], 2)) if with_features else None
    weights = np.diag(np.ones(shape[0]) if Z is None else Z)
    right = X.T @ weights @ F + (0 if R is None else R)
    expected = np.linalg.solve(X.T @ weights @ X + np.diag(1 / P), right)
    np.testing.assert_allclose(solver(X).solve(P, F, R=R, Z=Z), expected, rtol=1e-10)


@pytest.mark.parametrize("solver", [TallSolver, WideSolver])
def test_a_vanished_feature_stays_harmless(solver: type) -> None:
    generator = np.random.default_rng(2)
    X, F, P = generator.random((9, 4)), generator.random((9, 2)), np.array([1.0, 1e-16, 1.0, 1.0])
    expected = np.insert(
        np.linalg.solve(X[:, [0, 2, 3]].T @ X[:, [0, 2, 3]] + np.eye(3), X[:, [0, 2, 3]].T @ F),
        1,
        0.0,
        axis=0,
    )
    np.testing.assert_allclose(solver(X).solve(P, F), expected, atol=1e-12)


@pytest.mark.parametrize(("alpha", "beta"), [(100.0, 0.1), (0.01, 3.0)])
def test_the_eigenvector_solution_and_the_general_solver_agree(alpha: float, beta: float) -> None:
    generator = np.random.default_rng(3)
    A = generator.random((6, 6))
    redundancy, labels = (
        A @ A.T,
        beta * cosine_distance((generator.random((9, 4)) < 0.5).astype(float)),
    )
    relevance = generator.random((6, 4))
    expected = solve_sylvester(np.eye(6) + alpha * redundancy, labels, relevance)
    np.testing.assert_allclose(_solve(redundancy, labels, relevance, alpha), expected, rtol=1e-8)


def test_binary_information_is_zero_for_independent_and_entropy_for_equal_columns() -> None:
    A = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(binary_information(A, A), np.eye(2), atol=1e-15)


def test_a_label_without_positives_is_similar_to_none_and_at_no_distance_of_any() -> None:
    Y = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    assert (cosine_similarity(Y)[1] == 0).all()
    assert (cosine_distance(Y)[1] == 0).all()
    assert (cosine_distance(Y)[:, 1] == 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_are_the_first_of_a_stable_sort(seed: int) -> None:
    distances = np.random.default_rng(seed).integers(0, 4, (15, 15)).astype(float)
    for count in (1, 4, 15):
        chosen = nearest(distances, count)
        for row, marks in zip(distances, chosen, strict=True):
            assert sorted(np.argsort(row, kind="stable")[:count]) == np.flatnonzero(marks).tolist()


@pytest.mark.parametrize("kind", ["real", "tied"])
def test_the_graph_made_in_blocks_is_the_one_made_by_loops(kind: str) -> None:
    generator = np.random.default_rng(0)
    points = (
        generator.random((700, 3))
        if kind == "real"
        else generator.integers(0, 2, (700, 4)).astype(float)
    )
    np.testing.assert_allclose(sample_graph(points, 5).toarray(), graph(points, 5), atol=1e-14)


def test_the_graph_of_fewer_points_than_neighbours_joins_them_all() -> None:
    assert (sample_graph(np.array([[0.0], [1.0], [2.0]]), 5).toarray() > 0).all()


def test_signed_zeros_make_equal_columns() -> None:
    assert distinct_columns(np.array([[0.0, -0.0], [1.0, 1.0]])).group.tolist() == [0, 0]
