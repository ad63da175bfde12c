from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from paragone.errors import InputError
from paragone.stats.effects import cliffs_delta, rank_biserial, vargha_delaney_a12

SCORES = st.lists(st.integers(0, 9), min_size=1, max_size=20)


@given(SCORES, SCORES)
def test_a12_and_delta_count_all_pairings(a, b):
    wins = np.mean([y > x for x in a for y in b])
    ties = np.mean([y == x for x in a for y in b])
    assert vargha_delaney_a12(a, b) == pytest.approx(wins + ties / 2)
    assert cliffs_delta(a, b) == pytest.approx(2 * (wins + ties / 2) - 1)


@given(SCORES, SCORES)
def test_a12_is_mann_whitney_over_the_number_of_pairings(a, b):
    expected = stats.mannwhitneyu(b, a).statistic / (len(a) * len(b))
    assert vargha_delaney_a12(a, b) == pytest.approx(expected)


@given(SCORES, SCORES)
def test_swapping_the_methods_mirrors_the_effect(a, b):
    assert cliffs_delta(a, b) == pytest.approx(-cliffs_delta(b, a))
    assert vargha_delaney_a12(a, b) == pytest.approx(1 - vargha_delaney_a12(b, a))


def test_noise_is_no_effect():
    assert vargha_delaney_a12([0.3], [0.1 + 0.2]) == 0.5


def test_rank_biserial_is_one_where_every_pair_agrees_and_zero_where_all_tie():
    assert rank_biserial([1, 2, 3], [2, 3, 5]) == 1.0
    assert rank_biserial([1, 2, 3], [1, 2, 3]) == 0.0
    assert rank_biserial([1, 2, 3], [0, 0, 0]) == -1.0


def test_empty_sides_are_refused():
    with pytest.raises(InputError, match="both sides"):
        cliffs_delta([], [1])
