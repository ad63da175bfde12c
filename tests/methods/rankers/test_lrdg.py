"""LRDG is chaotic, so every single update is checked instead of the end of fifty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest
from transcriptions import modes
from transcriptions.lrdg import graph
from transcriptions.sets import Problem

from paragone.methods.rankers import LRDG
from paragone.methods.rankers.graphs import heat_graph, squared_distances
from paragone.methods.rankers.lrdg import LABEL_NEIGHBOURS, _Problem


def iterates(problem: Problem, ranker: LRDG) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield latent labels and weights after 0, 1, 2, ... updates."""
    Y = problem.Y.astype(float)
    V, S = ranker._draw(len(Y), problem.X.shape[1], Y.shape[1])
    prepared = _Problem.of(problem.X, Y, ranker)
    for _ in range(ranker.max_iter):
        yield V, S
        between = V.T @ V
        labels = heat_graph(squared_distances(between), LABEL_NEIGHBOURS)
        fitted = prepared.X @ S
        following = prepared.latent(V, between, fitted)
        S = prepared.weights(S, following, fitted, labels)
        V = following
    yield V, S


def assert_quotient(
    after: np.ndarray, before: np.ndarray, top: list[np.ndarray], bottom: list[np.ndarray]
) -> None:
    """Check after · Σ bottom = before · Σ top, within rounding of the single terms.

    The terms cancel, so the quotient itself may be wrong in many digits and still be all that can
    be had.
    """
    left, right = after * sum(bottom), before * sum(top)
    size = np.abs(after) * sum(map(np.abs, bottom)) + np.abs(before) * sum(map(np.abs, top))
    assert (np.abs(left - right) <= 1e-9 * size).all()


@pytest.mark.known_answer
@pytest.mark.parametrize("set_name", ["emotions", "medical"])
def test_every_update_of_the_whole_course_follows_the_formulas(
    real: Callable[[str], Problem], set_name: str
) -> None:
    X, Y = np.ascontiguousarray(real(set_name).X), real(set_name).Y
    H = np.eye(len(X)) - 1 / len(X)
    AX, AY = graph(X, 5), graph(Y.astype(float), 5)
    PY = np.diag(AY.sum(1))
    course = list(iterates(Problem(X, Y), LRDG()))
    for (V, S), (V_next, S_next) in pairwise(course):
        AV = graph(V.T, 3)
        fitted = H @ (X @ S)
        assert_quotient(
            V_next,
            V,
            [fitted, Y, 2 * AX @ V, AY @ V],
            [V, -V.mean(0) + 0 * V, V, 2 * V @ (V.T @ V), PY @ V],
        )
        raised = [np.maximum(X.T @ V_next, 0), X.T @ (H @ V_next) - np.maximum(X.T @ V_next, 0)]
        assert_quotient(S_next, S, [*raised, S @ AV], [X.T @ fitted, S @ np.diag(AV.sum(1))])
    np.testing.assert_array_equal(LRDG(guard=False).fit(X, Y).scores_, (course[-1][1] ** 2).sum(1))


@pytest.mark.known_answer
def test_the_first_updates_equal_the_transcription(real: Callable[[str], Problem]) -> None:
    X, Y = real("emotions")
    for updates, tolerance in ((1, 1e-9), (2, 1e-8), (3, 1e-6)):
        found = modes.scores("lrdg", X, Y.astype(float), T=updates)
        fitted = LRDG(max_iter=updates).fit(X, Y)
        np.testing.assert_allclose(fitted.scores_, found, rtol=tolerance)
        assert fitted.ranking_.tolist() == modes.ranking(found)


@pytest.mark.known_answer
def test_the_formulas_themselves_forget_where_they_started(real: Callable[[str], Problem]) -> None:
    """The reason for this file: the transcription disagrees with itself when X is scaled by one last bit."""
    X, Y = real("emotions")
    plain = modes.scores("lrdg", X, Y.astype(float))
    nudged = modes.scores("lrdg", X * (1 + 2e-16), Y.astype(float))
    assert modes.ranking(plain) != modes.ranking(nudged)


def test_the_guard_keeps_the_last_finite_iterate() -> None:
    generator = np.random.default_rng(0)
    X, Y = generator.random((12, 5)), (generator.random((12, 3)) < 0.5).astype(int)
    X[:, 4] *= 1e200
    guarded, raw = LRDG().fit(X, Y), LRDG(guard=False).fit(X, Y)
    assert np.isfinite(guarded.scores_).all()
    assert guarded.diagnostics_["stopped_early"]
    assert guarded.diagnostics_["guard_acted"]
    assert raw.diagnostics_["non_finite_scores"] == 5
    assert not raw.diagnostics_["guard_acted"]
