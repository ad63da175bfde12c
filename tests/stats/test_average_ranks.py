"""Ranks with ties, against SciPy's."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import chi2, f, rankdata

from paragone.stats.ranks import friedman_of_ranks
from paragone.stats.signed_rank import leave_one_out_p, signed_rank_of_settled
from paragone.ties import average_ranks

FEW_VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6))


@given(arrays.arrays(np.float64, arrays.array_shapes(max_dims=2, max_side=12), elements=FEW_VALUES))
def test_ranks_are_those_of_scipy_to_the_last_bit(values: np.ndarray) -> None:
    assert np.array_equal(average_ranks(values), rankdata(values, axis=-1))


def test_nothing_has_no_ranks() -> None:
    assert average_ranks(np.empty(0)).shape == (0,)
    assert average_ranks(np.empty((0, 3))).shape == (0, 3)


@given(
    arrays.arrays(np.float64, st.integers(2, 70), elements=st.integers(-20, 30).map(float)),
    st.sampled_from(["wilcox", "pratt", "split"]),
    st.sampled_from([0, 5, 50]),
)
def test_leaving_out_a_pair_gives_what_the_test_gives_without_it(
    difference, zeros, exact_up_to
) -> None:
    p, side = leave_one_out_p(difference, zeros, exact_up_to)
    for place in range(difference.size):
        without = signed_rank_of_settled(
            np.delete(difference, place), zeros, exact_up_to=exact_up_to
        )
        assert np.isclose(p[place], without.p, rtol=1e-12, atol=0)
        assert side[place] == np.sign(without.w_plus - without.w_minus)


@given(
    arrays.arrays(np.float64, st.tuples(st.integers(2, 9), st.integers(2, 6)), elements=FEW_VALUES)
)
def test_friedmans_p_are_those_of_the_distributions_to_the_last_bit(scores: np.ndarray) -> None:
    result = friedman_of_ranks(average_ranks(scores))
    assert result.p_chi2 == chi2.sf(result.chi2, result.df[0])
    assert np.array_equal(result.p_f, f.sf(result.f, *result.df), equal_nan=True)
    assert result.p_f != 0
