"""The simple rankers against scikit-learn and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import chi2, f_classif
from sklearn.metrics import mutual_info_score

from paragone.errors import InputError
from paragone.methods.rankers import Chi2, FClassif, MutualInfo, RandomOrder, ReliefF, Variance
from paragone.methods.rankers.floors import equal_frequency_bins

LABELWISE = (Chi2, FClassif, MutualInfo, ReliefF)


def draw(seed: int, n: int = 25, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    X = generator.random((n, d)).round(1)
    return X, (generator.random((n, 3)) + X[:, :1] > 1).astype(int)


@pytest.mark.parametrize("over", ["mean", "max"])
@pytest.mark.parametrize(("ours", "theirs"), [(Chi2, chi2), (FClassif, f_classif)])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_chi2_and_f_equal_those_of_scikit_learn(
    ours: type, theirs: object, over: str, seed: int
) -> None:
    X, Y = draw(seed)
    expected = np.array([theirs(X, y)[0] if 0 < y.sum() < len(y) else np.zeros(6) for y in Y.T])  # type: ignore[operator]
    np.testing.assert_allclose(
        ours(over=over).fit(X, Y).scores_, getattr(expected, over)(axis=0), rtol=1e-9, atol=1e-12
    )


@given(seed=st.integers(0, 10_000), n_bins=st.integers(2, 6))
@settings(max_examples=20, deadline=None)
def test_mutual_information_equals_that_of_scikit_learn_on_the_same_bins(
    seed: int, n_bins: int
) -> None:
    X, Y = draw(seed)
    bins = equal_frequency_bins(X, n_bins)
    expected = [
        np.mean([mutual_info_score(column, y) for y in Y.T]) / np.log(2) for column in bins.T
    ]
    np.testing.assert_allclose(MutualInfo(n_bins=n_bins).fit(X, Y).scores_, expected, atol=1e-12)


@given(seed=st.integers(0, 10_000), n_bins=st.integers(2, 6), n=st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_a_bin_is_the_number_of_distinct_cuts_strictly_below(
    seed: int, n_bins: int, n: int
) -> None:
    values = np.random.default_rng(seed).integers(0, 8, n).astype(float)
    ordered = sorted(values)
    cuts = {ordered[max(int(np.floor(k * n / n_bins + 0.5)), 1) - 1] for k in range(1, n_bins + 1)}
    expected = [sum(cut < value for cut in cuts) for value in values]
    assert equal_frequency_bins(values[:, None], n_bins).ravel().tolist() == expected


def relieff_by_loops(X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    scaled = (X - X.min(0)) / (X.max(0) - X.min(0))
    weights = np.zeros(X.shape[1])
    for i in range(len(X)):
        distance = [np.abs(scaled[i] - other).sum() for other in scaled]
        others = sorted((j for j in range(len(X)) if j != i), key=lambda j: distance[j])
        for same, sign in ((True, -1), (False, 1)):
            near = [j for j in others if (y[j] == y[i]) == same][:k]
            if near:
                weights += (
                    sign * np.mean([np.abs(scaled[i] - scaled[j]) for j in near], axis=0) / len(X)
                )
    return weights


@pytest.mark.parametrize("over", ["mean", "max"])
@pytest.mark.parametrize("seed", range(4))
def test_relieff_equals_plain_loops(seed: int, over: str) -> None:
    generator = np.random.default_rng(seed)
    X, Y = generator.random((20, 5)), (generator.random((20, 3)) < 0.3).astype(int)
    Y[:, 2] = 0
    Y[3, 2] = 1
    expected = np.array([relieff_by_loops(X, y, 4) for y in Y.T])
    fitted = ReliefF(over=over, n_neighbors=4).fit(X, Y)
    np.testing.assert_allclose(
        fitted.scores_, getattr(expected, over)(axis=0), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("ranker", LABELWISE)
def test_constant_features_and_labels_of_one_class_score_zero_and_are_counted(ranker: type) -> None:
    X, Y = draw(0)
    X[:, 2] = 0.0
    plain = ranker().fit(X, Y)
    padded = ranker().fit(X, np.column_stack([Y, np.zeros(len(Y)), np.ones(len(Y))]))
    assert plain.scores_[2] == 0.0
    assert (plain.diagnostics_["constants"], plain.diagnostics_["labels_of_one_class"]) == (1, 0)
    assert padded.diagnostics_["labels_of_one_class"] == 2
    np.testing.assert_allclose(padded.scores_, plain.scores_ * 3 / 5)
    bare = ranker().fit(X, np.zeros((len(X), 2)))
    assert bare.ranking_.tolist() == list(range(6))


def test_a_feature_that_separates_a_label_perfectly_comes_first_with_a_finite_score() -> None:
    X = np.column_stack([np.random.default_rng(0).random(10), np.repeat([0.0, 1.0], 5)])
    fitted = FClassif().fit(X, np.repeat([0, 1], 5))
    assert fitted.ranking_[0] == 1
    assert np.isfinite(fitted.scores_).all()


@pytest.mark.parametrize("ranker", LABELWISE)
def test_an_unknown_pooling_is_refused_with_the_nearest(ranker: type) -> None:
    with pytest.raises(InputError, match="did you mean 'mean'"):
        ranker(over="men").fit(*draw(0))


def test_numbers_of_bins_and_neighbours_below_their_least_are_refused() -> None:
    with pytest.raises(InputError, match="n_bins"):
        MutualInfo(n_bins=1).fit(*draw(0))
    with pytest.raises(InputError, match="n_neighbors"):
        ReliefF(n_neighbors=0).fit(*draw(0))


def test_chi2_refuses_negative_features() -> None:
    X, Y = draw(0)
    with pytest.raises(InputError, match="not negative"):
        Chi2().fit(X - 1, Y)


def test_variance_is_that_of_numpy_and_random_follows_its_seed() -> None:
    X, Y = draw(0)
    np.testing.assert_allclose(Variance().fit(X, Y).scores_, np.var(X, axis=0))
    rankings = {tuple(RandomOrder(seed=seed).fit(X, Y).ranking_) for seed in range(20)}
    assert len(rankings) > 15
