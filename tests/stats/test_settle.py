from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from paragone import compare, pairwise
from paragone.stats.pairs import double_fails
from paragone.stats.ranks import method_ranks
from paragone.stats.signed_rank import signed_rank_of_settled, walsh_share, wilcoxon_signed_rank
from paragone.stats.t_tests import clustered_t, corrected_resampled_t, paired_t
from paragone.ties import merge_close, settle_differences, settled_mean


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=40), st.integers(0, 1000))
def test_thousandths_computed_in_floats_settle_as_whole_numbers_do(steps, base):
    a = np.full(len(steps), base / 1000)
    b = np.array([(base + step) / 1000 for step in steps])
    settled = settle_differences(a, b)
    exact = np.array(steps)
    assert ((settled == 0) == (exact == 0)).all()
    assert (np.sign(settled) == np.sign(exact)).all()
    same = np.abs(settled)[:, None] == np.abs(settled)[None, :]
    assert (same == (np.abs(exact)[:, None] == np.abs(exact)[None, :])).all()


def test_small_scores_beside_large_ones_keep_their_differences():
    settled = settle_differences([1e6, 1e-3], [1e6 + 1, 2e-3])
    assert settled[1] == 1e-3


def test_neighbours_that_straddle_a_decimal_are_still_tied():
    merged = merge_close([0.0625e-6 - 1e-20, 0.0625e-6 + 1e-20], 1e-12)
    assert merged[0] == merged[1]


def test_tolerance_zero_leaves_the_differences_alone():
    a, b = np.array([0.1, 0.2]), np.array([0.2, 0.3])
    assert (settle_differences(a, b, 0.0) == b - a).all()


def test_columns_are_settled_each_for_itself():
    values = np.array([[1.0, 5.0], [1.0 + 1e-13, 6.0]])
    merged = merge_close(values, 1e-9)
    assert merged[0, 0] == merged[1, 0]
    assert merged[0, 1] != merged[1, 1]


@given(st.lists(st.integers(-9, 9), min_size=5, max_size=12), st.data())
def test_the_last_bits_of_scores_change_no_test(steps, data):
    """Scores in tenths with their last bits moved give the p-values of the whole numbers, by exact and naive means."""
    base = data.draw(st.lists(st.integers(0, 20), min_size=len(steps), max_size=len(steps)))
    bits = data.draw(st.lists(st.integers(-3, 3), min_size=len(steps), max_size=len(steps)))
    a = np.array(base) / 10
    b = np.array([x + s for x, s in zip(base, steps, strict=True)]) / 10
    moved = b + np.array(bits) * np.spacing(np.abs(b))
    found = signed_rank_of_settled(settle_differences(a, moved, size=1.0))
    exact = signed_rank_of_settled(np.array(steps, dtype=float))
    assert (found.p, found.w_plus, found.n_zeros) == (exact.p, exact.w_plus, exact.n_zeros)
    two = np.column_stack([a, moved])
    assert method_ranks(two, size=1.0).tolist() == [
        [1.5, 1.5] if s == 0 else [2.0, 1.0] if s > 0 else [1.0, 2.0] for s in steps
    ]


def test_the_signed_rank_of_the_specification_ties_what_is_tied():
    a = np.arange(1, 9) / 10
    assert wilcoxon_signed_rank(a[:5], a[:5] + 0.1).p == 0.0625
    assert wilcoxon_signed_rank([0.8, 0.7], [0.9, 0.8]).w_plus == 3.0
    assert (
        wilcoxon_signed_rank([0.8, 0.9], [0.9, 0.8]).w_plus
        == wilcoxon_signed_rank([0.7, 0.9], [0.8, 0.8]).w_plus
    )


def test_scores_without_a_unit_are_tied_near_zero_as_they_are_near_one():
    """A constant classifier has a kappa of 0, computed as 0 here and as 1e-17 there: that is not a win."""
    frame = pd.DataFrame(
        {
            "dataset": list("abcdefgh"),
            "here": [0.0] * 8,
            "there": [1e-17, 2e-17, -1e-17, 3e-17, 1e-16, 2e-16, 1e-17, 0],
        }
    )
    found = compare(frame, metric="cohen_kappa")
    assert found.friedman.average_ranks == (1.5, 1.5)
    assert found.pairs[0].test.n_used == 0
    assert found.pairs[0].mean_difference == 0.0
    assert pairwise(frame["here"], frame["there"], metric="cohen_kappa").pairs[0].n_used == 0


def test_scores_in_an_unknown_unit_keep_their_differences_however_small():
    frame = pd.DataFrame(
        {"dataset": list("abcdef"), "A": np.arange(1, 7) * 1e-13, "B": np.arange(2, 8) * 1e-13}
    )
    found = compare(frame, metric="rmse", reference="A")
    assert len(found.pairs[0].won) == 6


def test_a_mean_of_differences_that_cancel_points_nowhere():
    for values in ([0.3, -0.1, -0.2], [-0.3, 0.1, 0.2], [0.1] * 3 + [-0.3]):
        assert settled_mean(np.array(values)) == 0.0
    assert settled_mean(np.array([0.3, -0.1, -0.1])) > 0


def test_differences_that_are_equal_but_for_rounding_have_no_spread():
    values = [0.9 - 0.8, 0.8 - 0.7, 0.3 - 0.2, 0.1]
    for test in (paired_t(values), corrected_resampled_t(values), clustered_t(values)):
        assert test.standard_error == 0.0
        assert np.isnan([test.t, test.p]).all()


def test_a_score_on_the_threshold_is_no_better_than_it_whatever_its_last_bits():
    on = np.array([0.3, 0.1 + 0.2, 0.3 - 5e-17])
    assert double_fails(np.stack([on, on[::-1]], axis=1), 0.3, higher_is_better=True).all()
    assert double_fails(np.stack([on, on[::-1]], axis=1), 0.3, higher_is_better=False).all()
    assert not double_fails(np.stack([on + 1e-3, on], axis=1), 0.3, higher_is_better=True).any()


def test_walsh_sums_that_cancel_but_for_rounding_count_half():
    assert walsh_share([0.9 - 0.8, -(0.8 - 0.7)]) == walsh_share([1.0, -1.0]) == 0.5
