"""The laws of the published rankers, on small problems of every shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.methods import rankers
from paragone.methods.rankers.scnmf import feature_similarity

PUBLISHED = ("DAGFS", "LRMFS", "GRRO", "SRFS", "SCNMF", "LSMFS", "LRDG", "RFSFS")
SETTINGS = settings(max_examples=25, deadline=None)
every_method = pytest.mark.parametrize("name", PUBLISHED)


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Features in [0, 1], dense or sparse, tall or wide; every label has both classes."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, n_labels = draw(st.integers(8, 16)), draw(st.integers(3, 24)), draw(st.integers(1, 4))
    X = generator.random((n, d))
    if draw(st.booleans()):
        X = (X < 0.4).astype(float)
    X[0], X[1] = 0.0, 1.0
    Y = (generator.random((n, n_labels)) < 0.5).astype(int)
    Y[0], Y[1] = 0, 1
    return X, Y


def make(name: str, **params: Any) -> rankers.Ranker:
    """Build a ranker, with few iterations where rounding takes over on problems as small as these.

    LRDG is chaotic. LRMFS comes to fit single rows exactly, whose weight is then one over a
    rounding error.
    """
    few = {"LRDG": 2, "LRMFS": 3}
    if name in few:
        params.setdefault("max_iter", few[name])
    ranker: rankers.Ranker = getattr(rankers, name)(**params)
    return ranker


def starting_from(ranker: rankers.Ranker, rows: np.ndarray, samples: np.ndarray) -> rankers.Ranker:
    """Let a random ranker start from given rows (and samples) of the draws it would make itself."""
    if isinstance(ranker, rankers.DAGFS):
        return ranker
    draw = getattr(ranker, "_draw", None)
    if draw is not None:

        def drawn(*shape: int) -> Any:
            if len(shape) == 2:
                return draw(1 + int(rows.max()), shape[1])[rows]
            *by_sample, by_feature = draw(1 + int(samples.max()), 1 + int(rows.max()), shape[2])
            return (*(array[samples] for array in by_sample), by_feature[rows])

        object.__setattr__(ranker, "_draw", drawn)
    return ranker


def lifted_start(rows: np.ndarray, n_labels: int) -> np.ndarray:
    whole = np.random.default_rng(0).random((2, 1 + int(rows.max()), n_labels))
    return np.concatenate([whole[0, rows], whole[1, rows]])


def assert_close(one: np.ndarray, other: np.ndarray, tolerance: float = 1e-6) -> None:
    np.testing.assert_allclose(
        one, other, rtol=tolerance, atol=tolerance * max(np.abs(other).max(), 1e-9)
    )


@every_method
@given(problem=problems(), seed=st.integers(0, 100))
@SETTINGS
def test_permuting_the_features_permutes_the_scores(
    name: str, problem: tuple[np.ndarray, np.ndarray], seed: int
) -> None:
    """The first weights are permuted alike: by W0 in DAGFS, through the draw of the others."""
    X, Y = problem
    order, samples = np.random.default_rng(seed).permutation(X.shape[1]), np.arange(len(X))
    plain, permuted = make(name), starting_from(make(name), order, samples)
    if name == "DAGFS":
        plain.set_params(W0=lifted_start(np.arange(X.shape[1]), Y.shape[1]))
        permuted.set_params(W0=lifted_start(order, Y.shape[1]))
    expected = plain.fit(X, Y).scores_[order]
    assert_close(permuted.fit(X[:, order], Y).scores_, expected)


@every_method
@given(problem=problems(), value=st.sampled_from([0.0, 0.5, 1.0]))
@SETTINGS
def test_a_further_constant_column_changes_no_guarded_score_of_the_others(
    name: str, problem: tuple[np.ndarray, np.ndarray], value: float
) -> None:
    """Not one bit: it never reaches the formulas.

    Appended last it leaves the first weights of the others alone too, but in DAGFS, whose start is
    published as one draw of both blocks: there W0 is given.
    """
    X, Y = problem
    longer = np.column_stack([X, np.full(len(X), value)])
    plain, further = make(name), make(name)
    if name == "DAGFS":
        rows = np.arange(longer.shape[1])
        plain.set_params(W0=lifted_start(rows[:-1], Y.shape[1]))
        whole = lifted_start(rows, Y.shape[1]).reshape(2, -1, Y.shape[1])
        whole[:, :-1] = lifted_start(rows[:-1], Y.shape[1]).reshape(2, -1, Y.shape[1])
        further.set_params(W0=whole.reshape(-1, Y.shape[1]))
    plain.fit(X, Y)
    further.fit(longer, Y)
    assert further.scores_[:-1].tobytes() == plain.scores_.tobytes()
    assert further.ranking_.tolist() == [*plain.ranking_.tolist(), X.shape[1]]
    assert further.diagnostics_["constants"] == plain.diagnostics_["constants"] + 1
    assert further.diagnostics_["guard_acted"]


DOUBLED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    # Frequencies enter DAGFS as counts plus one, so both of their exponents are switched off.
    "DAGFS": (
        {"alpha": 0.2, "beta": 0.2, "rarity_gamma": 0, "tau_dir": 0},
        {"alpha": 0.1, "beta": 0.1, "rarity_gamma": 0, "tau_dir": 0},
    ),
    "SRFS": ({"alpha": 0.2, "beta": 0.2, "gamma": 0.2}, {"alpha": 0.1, "beta": 0.1, "gamma": 0.1}),
    "RFSFS": ({"alpha": 0.2, "beta": 0.2, "gamma": 0.2}, {"alpha": 0.1, "beta": 0.1, "gamma": 0.1}),
    "LRMFS": (
        {"alpha": 0.2, "lambda_": 2, "tolerance": 0},
        {"alpha": 0.1, "lambda_": 1, "tolerance": 0},
    ),
    # What the guard of LSMFS takes for a runaway depends on all terms of its objective.
    "LSMFS": (
        {"gamma": 2, "lambda_": 2, "tolerance": 0, "max_iter": 4, "guard": False},
        {"gamma": 1, "lambda_": 1, "tolerance": 0, "max_iter": 4, "guard": False},
    ),
    "GRRO": ({}, {}),
}


@pytest.mark.parametrize("name", DOUBLED)
@given(problem=problems())
@SETTINGS
def test_doubling_every_row_is_halving_every_penalty(
    name: str, problem: tuple[np.ndarray, np.ndarray]
) -> None:
    """The loss is a sum over rows, the penalties are not; GRRO knows shares of rows only."""
    X, Y = problem
    rows, twice = np.arange(X.shape[1]), np.repeat(np.arange(len(X)), 2)
    doubled = starting_from(make(name, **DOUBLED[name][0]), rows, twice)
    single = make(name, **DOUBLED[name][1])
    assert_close(doubled.fit(X[twice], Y[twice]).scores_, single.fit(X, Y).scores_, 1e-5)


@given(problem=problems())
@SETTINGS
def test_doubling_every_row_leaves_the_similarity_of_scnmf_alone(
    problem: tuple[np.ndarray, np.ndarray],
) -> None:
    """All distances grow alike, and so does their mean. Its row sparsity has no weight that could be halved."""
    X = np.unique(problem[0], axis=1)
    one = np.ones(X.shape[1])
    assert_close(feature_similarity(np.repeat(X, 2, axis=0), one), feature_similarity(X, one))


@every_method
@given(problem=problems())
@SETTINGS
def test_the_objective_of_descent_methods_falls(
    name: str, problem: tuple[np.ndarray, np.ndarray]
) -> None:
    fitted = make(name).fit(*problem)
    trace = np.array(fitted.diagnostics_["objective"])
    assert np.isfinite(trace).all()
    if name in ("DAGFS", "SRFS", "RFSFS"):
        assert len(trace) == fitted.diagnostics_["iterations"]
        assert (np.diff(trace) <= 1e-9 * np.abs(trace[:-1])).all()
