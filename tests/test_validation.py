"""What users hand over becomes checked arrays, or a sentence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from paragone.errors import InputError, unknown_name
from paragone.validation import check_features, check_indicator, check_ranking


@given(st.permutations(list(range(6))))
def test_every_permutation_is_a_ranking(order):
    assert check_ranking(order, 6).tolist() == list(order)


@given(st.lists(st.integers(-2, 7), max_size=8))
def test_what_is_no_permutation_is_refused(order):
    if sorted(order) != list(range(6)):
        with pytest.raises(InputError, match="no permutation"):
            check_ranking(order, 6)


def test_rankings_of_fractions_and_tables_are_refused():
    with pytest.raises(InputError, match="whole feature indices"):
        check_ranking([0.5, 1.0], 2)
    with pytest.raises(InputError, match="flat list"):
        check_ranking([[0, 1]], 2)
    assert check_ranking([1.0, 0.0], 2).tolist() == [1, 0]


@pytest.mark.parametrize(
    "coding", [lambda Y: Y, lambda Y: 2 * Y - 1, lambda Y: Y.astype(bool), sparse.csr_array]
)
def test_every_coding_of_labels_means_the_same(coding):
    Y = np.array([[1, 0], [0, 0], [1, 1]])
    assert check_indicator(coding(Y)).tolist() == Y.tolist()


@pytest.mark.parametrize(
    ("Y", "sentence"),
    [
        ([[0, 2]], "it holds 2"),
        ([[0.5, 1]], "it holds 0.5"),
        ([["a", "b"]], "it holds 'a'"),
        ([[0, -1]], "both 0 and -1"),
        ([[float("nan"), 1]], "it holds nan"),
        (np.zeros((0, 2)), "is empty"),
        (np.zeros((2, 2, 2)), "two dimensions"),
    ],
)
def test_other_labels_are_refused(Y, sentence):
    with pytest.raises(InputError, match=sentence):
        check_indicator(Y)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ([["a"]], "is not numeric"),
        ([1, 2], "two dimensions"),
        (np.zeros((0, 3)), "is empty"),
        (
            [[1.0, np.inf], [np.nan, 0.0]],
            "2 NaN or infinite value.s., the first at row 0, column 1",
        ),
    ],
)
def test_features_that_are_no_numbers_are_refused(X, sentence):
    with pytest.raises(InputError, match=sentence):
        check_features(X)


def test_the_nearest_name_is_named_in_its_own_case():
    assert "did you mean 'DAGFS'?" in str(unknown_name("method", "dagf", ["DAGFS", "Random"]))
    assert "choose one of a, b" in str(unknown_name("method", "zzz", ["a", "b"]))
