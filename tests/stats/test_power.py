from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import InputError
from paragone.stats.signed_rank import (
    pairs_for_power,
    pairs_needed,
    smallest_p,
    walsh_share,
    wilcoxon_signed_rank,
)


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=25))
def test_walsh_share_counts_all_pairs(values):
    sums = [x + y for i, x in enumerate(values) for y in values[i + 1 :]]
    assert walsh_share(values) == pytest.approx(np.mean([(s > 0) + 0.5 * (s == 0) for s in sums]))


@pytest.mark.parametrize("n", range(1, 20))
def test_smallest_p_is_reached_where_every_pair_agrees(n):
    assert wilcoxon_signed_rank(np.arange(1.0, n + 1)).p == smallest_p(n)


@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01, 0.05 / 28])
def test_pairs_needed_are_the_fewest_that_can_be_significant(alpha):
    n = pairs_needed(alpha)
    assert smallest_p(n) <= alpha < smallest_p(n - 1)


@pytest.mark.parametrize("shift", [0.3, 0.5])
def test_recommended_number_of_pairs_gives_about_the_power_promised(shift):
    generator = np.random.default_rng(11)
    n = pairs_for_power(generator.normal(shift, 1, size=20_000)[:4000])
    rejected = [
        wilcoxon_signed_rank(generator.normal(shift, 1, size=n)).p <= 0.05 for _ in range(1500)
    ]
    assert np.mean(rejected) == pytest.approx(0.8, abs=0.05)


def test_no_effect_needs_no_number():
    assert pairs_for_power([1.0, -1.0, 2.0, -2.0]) is None


def test_never_fewer_pairs_than_can_be_significant():
    assert pairs_for_power([1.0, 2.0, 3.0], alpha=0.001) >= pairs_needed(0.001)


def test_levels_outside_the_unit_interval_are_refused():
    with pytest.raises(InputError, match="between 0 and 1"):
        pairs_for_power([1.0, 2.0], alpha=5)
    with pytest.raises(InputError, match="between 0 and 1"):
        pairs_needed(0)
    with pytest.raises(InputError, match="negative"):
        smallest_p(-1)
