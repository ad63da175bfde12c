"""Scaling against scikit-learn, fitted on train alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from paragone.data import fit_scaler, scale_split
from paragone.errors import InputError

VALUES = st.floats(-1e6, 1e6, allow_subnormal=False)


@settings(max_examples=100, deadline=None)
@given(train=arrays(float, (6, 4), elements=VALUES), test=arrays(float, (3, 4), elements=VALUES))
def test_minmax_is_scikit_learns_to_the_last_bit(train: np.ndarray, test: np.ndarray) -> None:
    train[:, 1] = train[0, 1]
    ours = scale_split(train, test, "minmax")
    theirs = MinMaxScaler().fit(train)
    np.testing.assert_array_equal(ours[0], theirs.transform(train))
    np.testing.assert_array_equal(ours[1], theirs.transform(test))


def test_zscore_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    train, test = rng.normal(50, 3, (30, 5)), rng.normal(50, 3, (9, 5))
    theirs = StandardScaler().fit(train)
    for ours, wanted in zip(
        scale_split(train, test, "zscore"), map(theirs.transform, (train, test)), strict=True
    ):
        np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("how", ["minmax", "zscore"])
def test_a_constant_train_column_is_exactly_zero_in_train_and_shifted_in_test(how: str) -> None:
    train = np.full((7, 1), 0.1)
    scaled, test = scale_split(train, [[0.1], [2.1]], how)  # type: ignore[arg-type]
    assert scaled.tolist() == [[0.0]] * 7
    np.testing.assert_allclose(test, [[0.0], [2.0]], rtol=1e-15)


@pytest.mark.parametrize("how", ["minmax", "zscore", "none"])
@pytest.mark.parametrize("shift", [0.0, -1.0])
def test_sparse_input_gives_the_same_dense_numbers(how: str, shift: float) -> None:
    rng = np.random.default_rng(2)
    train = np.where(rng.random((20, 6)) < 0.3, rng.random((20, 6)) + shift, 0.0)
    test = np.where(rng.random((5, 6)) < 0.3, rng.random((5, 6)), 0.0)
    thin = scale_split(sparse.csr_array(train), sparse.csr_array(test), how)  # type: ignore[arg-type]
    for ours, wanted in zip(thin, scale_split(train, test, how), strict=True):  # type: ignore[arg-type]
        assert isinstance(ours, np.ndarray)
        np.testing.assert_array_equal(ours, wanted)


def test_a_sparse_matrix_stays_sparse_where_no_column_is_shifted() -> None:
    X = sparse.csr_array(np.array([[0.0, 2.0], [4.0, 0.0]]))
    assert sparse.issparse(fit_scaler(X, "minmax").transform(X))
    shifted = sparse.csr_array(np.array([[-1.0, 2.0], [4.0, 0.0]]))
    assert not sparse.issparse(fit_scaler(shifted, "minmax").transform(shifted))


@settings(max_examples=30, deadline=None)
@given(arrays(float, (5, 3), elements=VALUES))
def test_test_rows_have_no_say_in_the_scaling(test: np.ndarray) -> None:
    train = np.arange(12.0).reshape(4, 3) ** 2
    for how in ("minmax", "zscore"):
        np.testing.assert_array_equal(
            scale_split(train, test, how)[0], scale_split(train, train, how)[0]
        )


def test_none_changes_nothing_and_unknown_names_are_refused() -> None:
    X = np.array([[1.0, 2.0], [3.0, 5.0]])
    np.testing.assert_array_equal(scale_split(X, X, "none")[0], X)
    with pytest.raises(InputError, match="did you mean 'zscore'"):
        fit_scaler(X, "z-score")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="fitted on 2 columns"):
        fit_scaler(X, "minmax").transform(X[:, :1])


@pytest.mark.parametrize("how", ["minmax", "zscore"])
def test_a_column_too_wide_for_a_float_is_named_instead_of_becoming_nothing(how: str) -> None:
    X = np.array([[1.0, -1.5e308], [2.0, 1.5e308], [3.0, 1.0]])
    with pytest.raises(
        InputError, match=r"column 1 goes from -1.5e\+308 to 1.5e\+308, too far apart to be scaled"
    ):
        scale_split(X, X, how)
