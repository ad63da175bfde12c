from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paragone.comparison.settle import settle_differences
from paragone.ties import merge_close


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
