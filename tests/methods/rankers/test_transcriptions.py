"""Every published ranker against a straight transcription of its formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from transcriptions import modes
from transcriptions.grro import two_bins
from transcriptions.sets import Problem

from paragone.methods import rankers

METHODS = ("dagfs", "srfs", "rfsfs", "scnmf", "grro", "lrmfs", "lsmfs")
LONG_ON_MEDICAL = ("scnmf", "grro", "lrmfs", "lsmfs")
QUICK_ON_MEDICAL = [name for name in METHODS if name not in LONG_ON_MEDICAL]
both_modes = pytest.mark.parametrize("guard", [True, False], ids=["guarded", "unguarded"])


def make(name: str, **params: Any) -> rankers.Ranker:
    ranker: rankers.Ranker = getattr(rankers, name.upper())(**params)
    return ranker


def tied(found: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
    """Give equal columns the score of the first that has one."""
    scores = found.copy()
    if columns is not None:
        first: dict[bytes, float] = {}
        for number in np.flatnonzero(~np.isnan(found)):
            scores[number] = first.setdefault(columns[:, number].tobytes(), found[number])
    return scores


def assert_same(
    ranker: rankers.Ranker,
    problem: Problem,
    found: np.ndarray,
    equal: np.ndarray | None,
    rounding: float = 0.0,
) -> None:
    """Compare scores to 1e-8 and the rankings exactly.

    Two things are beyond any order of summation and are settled before the rankings are compared.
    Equal columns have equal scores by symmetry where nothing is random, but an eigendecomposition
    or a BLAS kernel gives them different last digits: each gets the score of the first. And weights
    1e-13 of the largest and below (scores are squares) are what is left of zero by rounding, as
    those of the constant columns in an unguarded LSMFS (1e-58 against 1e9): they count as zero.

    SCNMF on medical has a third: single-row columns of different rows converge to one and the same
    weights (one common label and those without positives; the rest is below 1e-30), so they tie to
    the last digits. There each place of our ranking must hold a feature whose transcribed score is
    that of the place, to ``rounding``.
    """
    ranker.fit(problem.X, problem.Y)
    scored = ~np.isnan(found)
    largest = np.abs(found[scored]).max()
    np.testing.assert_allclose(
        ranker.scores_[scored], found[scored], rtol=1e-8, atol=1e-13 * largest
    )
    ours, theirs = ranker.scores_.copy(), tied(found, equal)
    ours[~scored] = np.nan
    assert modes.ranking(ours) == ranker.ranking_.tolist()
    for scores in (ours, theirs):
        scores[np.abs(scores) < 1e-26 * largest] = 0.0
    ranked, expected = np.array(modes.ranking(ours)), np.array(modes.ranking(theirs))
    moved = ranked != expected
    gaps = np.abs(theirs[ranked[moved]] - theirs[expected[moved]]) / np.abs(theirs[expected[moved]])
    assert gaps.size == 0 or (rounding > 0 and gaps.max() <= rounding)


def equals(name: str, problem: Problem) -> np.ndarray | None:
    """Return the columns that must tie where they are equal, for the methods without randomness."""
    return {"scnmf": problem.X, "grro": two_bins(problem.X)}.get(name)


def compare(name: str, problem: Problem, guard: bool, rounding: float = 0.0) -> None:
    found = modes.scores(name, problem.X, problem.Y.astype(float), guard=guard)
    if guard:
        constant = np.flatnonzero(np.isnan(found)).tolist()
        assert (
            make(name).fit(problem.X, problem.Y).ranking_.tolist()[len(found) - len(constant) :]
            == constant
        )
    assert_same(make(name, guard=guard), problem, found, equals(name, problem), rounding)


@pytest.mark.known_answer
@both_modes
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("set_name", ["emotions", "yeast"])
def test_scores_and_ranking_equal_the_transcription(
    real: Callable[[str], Problem], set_name: str, name: str, guard: bool
) -> None:
    compare(name, real(set_name), guard)


@pytest.mark.known_answer
@pytest.mark.parametrize("name", QUICK_ON_MEDICAL)
def test_they_are_equal_where_features_outnumber_samples_and_many_are_constant(
    real: Callable[[str], Problem], name: str
) -> None:
    compare(name, real("medical"), guard=True)


@pytest.mark.known_answer
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "guard"),
    [*((name, True) for name in LONG_ON_MEDICAL), *((name, False) for name in METHODS)],
)
def test_the_longer_ones_are_equal_there_and_all_of_them_without_the_guard(
    real: Callable[[str], Problem], name: str, guard: bool
) -> None:
    compare(name, real("medical"), guard, rounding=1e-13 if name == "scnmf" else 0.0)


VARIANTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("dagfs", {"feature_lift": "none"}, {"lift": False}),
    ("dagfs", {"paired_penalty": False}, {"paired": False}),
    (
        "dagfs",
        {"top_k": 3, "kappa": 4, "s_max": 2, "seed": 5},
        {"topK": 3, "kappa": 4, "s_max": 2, "seed": 5},
    ),
    ("dagfs", {"top_k": 0, "rarity_gamma": 1, "tau_dir": 1}, {"topK": 0, "gamma": 1, "tau": 1}),
    ("dagfs", {"alpha": 2, "beta": 0.5, "max_iter": 7}, {"alpha": 2, "beta": 0.5, "T": 7}),
    (
        "srfs",
        {"alpha": 1, "beta": 0.3, "gamma": 0.01, "seed": 3},
        {"alpha": 1, "beta": 0.3, "gamma": 0.01, "seed": 3},
    ),
    ("rfsfs", {"alpha": 1, "beta": 0.3, "gamma": 0.01}, {"alpha": 1, "beta": 0.3, "gamma": 0.01}),
    ("scnmf", {"lambda_1": 1e-4, "lambda_2": 0.01}, {"lambda1": 1e-4, "lambda2": 0.01}),
    ("grro", {"alpha": 3, "beta": 1}, {"alpha": 3, "beta": 1}),
    ("grro", {"variant": "label_specific"}, {"keep": 5}),
    ("grro", {"variant": "label_specific", "k": 2}, {"keep": 2}),
    ("lrmfs", {"alpha": 0.5, "lambda_": 0.1, "seed": 2}, {"alpha": 0.5, "lam": 0.1, "seed": 2}),
    ("lsmfs", {"form": "consistent"}, {"consistent": True}),
    (
        "lsmfs",
        {"alpha": 1, "beta": 1, "gamma": 1, "lambda_": 1},
        {"alpha": 1, "beta": 1, "gamma": 1, "lam": 1},
    ),
    (
        "lsmfs",
        {"alpha": 3, "beta": 0.1, "gamma": 2, "lambda_": 0.5},
        {"alpha": 3, "beta": 0.1, "gamma": 2, "lam": 0.5},
    ),
]


@pytest.mark.known_answer
@pytest.mark.parametrize(("name", "params", "formula"), VARIANTS)
def test_other_parameters_reach_the_formulas(
    real: Callable[[str], Problem], name: str, params: dict[str, Any], formula: dict[str, Any]
) -> None:
    problem = real("emotions")
    found = modes.scores(name, problem.X, problem.Y.astype(float), **formula)
    assert_same(make(name, **params), problem, found, equals(name, problem))


@pytest.mark.parametrize("name", METHODS)
@both_modes
def test_wide_data_with_constant_equal_and_single_row_columns_is_ranked_as_transcribed(
    name: str, guard: bool
) -> None:
    generator = np.random.default_rng(11)
    X = (generator.random((24, 60)) < 0.15).astype(float)
    X[:, [3, 40]] = 0.0
    X[:, 7], X[:, 8] = X[:, 9], 0.0
    X[5, 8] = 1.0
    Y = (generator.random((24, 4)) < 0.4).astype(int)
    Y[:, 2] = 0
    compare(name, Problem(X, Y), guard)


@both_modes
def test_the_label_graph_of_lsmfs_loses_half_an_edge_between_coinciding_labels_only_without_the_guard(
    guard: bool,
) -> None:
    generator = np.random.default_rng(3)
    X, Y = generator.random((30, 5)), (generator.random((30, 6)) < 0.4).astype(float)
    Y[:, 2], Y[:, 4:] = Y[:, 0], 0.0
    params = {"alpha": 4, "beta": 1, "gamma": 1}
    found = modes.scores("lsmfs", X, Y, guard=guard, **params)
    ranker = make("lsmfs", guard=guard, **params).fit(X, Y)
    np.testing.assert_allclose(ranker.scores_, found, rtol=1e-8)
    assert ranker.diagnostics_["coinciding_labels"] == 2
    other = modes.scores("lsmfs", X, Y, guard=not guard, **params)
    assert np.abs(other / found - 1).max() > 1e-3
