"""What the guard does, and what happens without it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paragone.data import load, scale_split
from paragone.errors import GuardWarning, InputError
from paragone.methods.rankers import DAGFS, GRRO, LSMFS, RFSFS, SCNMF, SRFS
from paragone.methods.rankers.base import GuardedRanker, KeptFeatures, RankerOutcome
from paragone.methods.rankers.iteration import TallSolver, WideSolver, multiplicative_updates
from paragone.validation import FloatArray


def problem() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(4)
    return generator.random((20, 6)), (generator.random((20, 3)) < 0.5).astype(int)


class Broken(GuardedRanker):
    """Gives scores that are not finite."""

    def __init__(self, guard: bool = True) -> None:
        self.guard = guard

    def _outcome(self, X: FloatArray, Y: FloatArray, kept: KeptFeatures) -> RankerOutcome:
        scores = X.sum(axis=0)
        scores[[1, 3]] = np.nan, np.inf
        return RankerOutcome(scores, 1)


def test_scores_that_are_not_finite_raise_and_name_the_ranker() -> None:
    with pytest.raises(InputError, match="Broken gave 2 scores that are not finite"):
        Broken().fit(*problem())


def test_without_the_guard_they_are_counted_and_nan_ranks_last() -> None:
    fitted = Broken(guard=False).fit(*problem())
    assert fitted.diagnostics_["non_finite_scores"] == 2
    assert (fitted.ranking_[0], fitted.ranking_[-1]) == (3, 1)
    assert fitted.diagnostics_["guard_acted"] is False


def test_constants_rank_behind_negative_scores() -> None:
    X, Y = problem()
    X[:, 0] = 0.3

    class Negative(Broken):
        def _outcome(self, X: FloatArray, Y: FloatArray, kept: KeptFeatures) -> RankerOutcome:
            return RankerOutcome(-np.arange(X.shape[1], dtype=float), 1)

    fitted = Negative().fit(X, Y)
    assert fitted.ranking_.tolist() == [1, 2, 3, 4, 5, 0]
    assert fitted.diagnostics_["constants"] == 1
    assert Negative(guard=False).fit(X, Y).ranking_.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("guard", [True, False])
def test_a_runaway_update_keeps_its_last_finite_weights_only_under_guard(guard: bool) -> None:
    def terms(W: FloatArray, numerator: FloatArray, denominator: FloatArray) -> float:
        numerator[...], denominator[...] = 1e150, 1.0
        return 0.0

    with np.errstate(over="ignore"):
        run = multiplicative_updates(np.ones((2, 2)), terms, floor=0.1, max_iter=5, guard=guard)
    assert run.stopped_early is guard
    assert run.iterations == (2 if guard else 5)
    assert bool(np.isfinite(run.weights).all()) is guard


def test_the_guard_of_scnmf_puts_single_row_columns_between_the_others_and_the_constant_ones() -> (
    None
):
    generator = np.random.default_rng(0)
    X = (generator.random((30, 12)) < 0.3).astype(float)
    X[:, [2, 5, 9]] = 0.0
    X[7, 2], X[:, 9], X[3, 9] = 1.0, 1.0, 0.0
    Y = (generator.random((30, 3)) < 0.4).astype(int)
    fitted = SCNMF().fit(X, Y)
    assert set(fitted.ranking_[-3:-1].tolist()) == {2, 9}
    assert fitted.ranking_[-1] == 5
    assert (fitted.diagnostics_["constants"], fitted.diagnostics_["demoted"]) == (1, 2)
    assert SCNMF(guard=False).fit(X, Y).diagnostics_["demoted"] == 0


def test_the_guard_of_lsmfs_stops_a_runaway_at_the_least_objective() -> None:
    X, Y = problem()
    ones = {"alpha": 1.0, "beta": 1.0, "gamma": 1.0, "lambda_": 1.0}
    guarded, raw = LSMFS(**ones).fit(X, Y), LSMFS(**ones, guard=False).fit(X, Y)
    trace = raw.diagnostics_["objective"]
    assert trace[-1] > 100 * min(trace)
    assert guarded.diagnostics_["stopped_early"]
    assert guarded.diagnostics_["objective"] == trace[: len(guarded.diagnostics_["objective"])]
    kept = LSMFS(**ones, max_iter=trace.index(min(trace)) + 1, guard=False).fit(X, Y)
    np.testing.assert_array_equal(guarded.scores_, kept.scores_)


def single_row_problem() -> tuple[np.ndarray, np.ndarray]:
    X, Y = problem()
    X[:, :2] = 0.0
    X[3, 1] = 1.0
    return X, Y


def diverging_problem() -> tuple[np.ndarray, np.ndarray]:
    return problem()


ACTED = [
    (
        LSMFS(form="reference", alpha=1.0, beta=1.0),
        diverging_problem,
        ["the guard stopped the iteration after"],
    ),
    (
        SCNMF(),
        single_row_problem,
        ["the guard put 1 feature behind", "the guard set 1 constant feature"],
    ),
    (GRRO(), single_row_problem, ["the guard set 1 constant feature aside, at the end"]),
]


@pytest.mark.parametrize(("ranker", "data", "sentences"), ACTED)
def test_a_guard_that_acts_warns_of_it_and_one_that_does_not_is_silent(
    ranker, data, sentences
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = ranker.fit(*data())
    told = [str(one.message) for one in caught if one.category is GuardWarning]
    assert fitted.diagnostics_["guard_acted"]
    assert len(told) == len(sentences)
    assert all(one.startswith(start) for one, start in zip(told, sentences, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error", GuardWarning)
        assert not type(ranker)(guard=False).fit(*data()).diagnostics_["guard_acted"]
        assert not GRRO().fit(*problem()).diagnostics_["guard_acted"]


@pytest.mark.parametrize("guard", [True, False])
def test_diagnostics_are_strict_json_even_of_a_runaway(guard: bool) -> None:
    X, Y = problem()
    diagnostics = SRFS(guard=guard, alpha=1e308, gamma=1e308).fit(X, Y).diagnostics_
    assert json.loads(json.dumps(diagnostics, allow_nan=False)) == diagnostics
    assert {"iterations", "objective", "constants", "guard_acted"} <= set(diagnostics)


def test_scnmf_ranks_data_that_has_single_row_columns_only() -> None:
    assert sorted(SCNMF().fit(np.eye(5), [0, 1, 0, 1, 1]).ranking_.tolist()) == [0, 1, 2, 3, 4]


def test_equal_columns_tie_exactly_in_the_methods_without_randomness() -> None:
    X, Y = problem()
    X[:, 4] = X[:, 1]
    for ranker in (GRRO(), SCNMF()):
        scores = ranker.fit(X, Y).scores_
        assert scores[4] == scores[1]


REFUSED: list[tuple[Any, str]] = [
    (DAGFS(feature_lift="centre_split"), "did you mean 'center_split'"),  # type: ignore[arg-type]
    (DAGFS(W0=np.ones((6, 3))), r"shape \(12, 3\), it has \(6, 3\)"),
    (DAGFS(W0=-np.ones((12, 3))), "not negative"),
    (GRRO(variant="label-specific"), "did you mean 'label_specific'"),  # type: ignore[arg-type]
    (GRRO(k=0), "at least 1"),
    (LSMFS(form="paper"), "choose one of reference, consistent"),  # type: ignore[arg-type]
    (LSMFS(alpha=0), "above 0"),
]


@pytest.mark.parametrize(("ranker", "sentence"), REFUSED)
def test_parameters_that_make_no_sense_are_refused(ranker: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        ranker.fit(*problem())


@pytest.mark.parametrize("ranker", [SRFS(), RFSFS(), SCNMF(), DAGFS(feature_lift="none")], ids=repr)
def test_multiplicative_updates_refuse_negative_features_under_guard(ranker: Any) -> None:
    X, Y = problem()
    with pytest.raises(
        InputError, match=r"needs features that are not negative, the least is -0\.49"
    ):
        ranker.fit(X - 0.5, Y)
    ranker.set_params(guard=False).fit(X - 0.5, Y)


def test_the_lift_of_dagfs_takes_features_of_any_sign() -> None:
    X, Y = problem()
    np.testing.assert_allclose(
        DAGFS().fit(X - 0.5, Y).scores_, DAGFS().fit(X, Y).scores_, rtol=1e-9
    )


@pytest.mark.parametrize("solver", [TallSolver, WideSolver])
@pytest.mark.parametrize("size", [1e10, 1e160], ids=["indefinite", "overflowing"])
def test_a_system_that_rounding_broke_gives_no_finite_weights(solver: type, size: float) -> None:
    with np.errstate(over="ignore"):
        assert np.isnan(solver(np.full((3, 3), size)).solve(np.ones(3), np.ones((3, 1)))).all()


def test_given_first_weights_are_those_of_the_seed_when_equal_to_them() -> None:
    X, Y = problem()
    W0 = np.random.default_rng(9).random((12, 3))
    kept = W0.copy()
    np.testing.assert_array_equal(DAGFS(W0=W0).fit(X, Y).scores_, DAGFS(seed=9).fit(X, Y).scores_)
    np.testing.assert_array_equal(W0, kept)


def test_another_seed_gives_other_scores() -> None:
    X, Y = problem()
    assert (SRFS(seed=0).fit(X, Y).scores_ != SRFS(seed=1).fit(X, Y).scores_).any()


def test_grro_falls_back_to_a_general_solver_when_the_spectra_meet() -> None:
    X, Y = problem()
    fitted = GRRO(alpha=0.0, beta=5.0).fit(X, Y)
    assert np.isfinite(fitted.scores_).all()


SETS = [
    "arts",
    "business",
    "education",
    "emotions",
    "enron",
    "flags",
    "health",
    "medical",
    "scene",
    "science",
    "yeast",
]


@pytest.mark.known_answer
@pytest.mark.parametrize("name", SETS)
def test_lsmfs_converges_at_its_defaults_on_every_set(data_folder: Path, name: str) -> None:
    """The objective stands still to five digits after its twenty iterations, on the train part of every set."""
    dataset = load(data_folder / "multilabel" / name)
    train = dataset.train_part
    X, _ = scale_split(dataset.X[train], dataset.X[train][:1], "minmax")
    diagnostics = LSMFS().fit(X, dataset.y[train]).diagnostics_
    last, before = diagnostics["objective"][-1], diagnostics["objective"][-2]
    assert not diagnostics["stopped_early"]
    assert abs(last - before) < 1e-5 * last


@pytest.mark.parametrize("seed", range(5))
def test_lsmfs_converges_at_its_defaults_whatever_the_labels_are(seed: int) -> None:
    generator = np.random.default_rng(seed)
    X = generator.random((40, 90 if seed % 2 else 12)) * (
        generator.random((40, 90 if seed % 2 else 12)) < 0.4
    )
    Y = (generator.random((40, 9)) < generator.random(9)).astype(int)
    diagnostics = LSMFS(max_iter=200).fit(X, Y).diagnostics_
    assert not diagnostics["stopped_early"]
    last = diagnostics["objective"][-5:]
    assert max(last) <= (1 + 1e-6) * min(last)
