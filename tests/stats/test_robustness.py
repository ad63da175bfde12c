from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.stats.corrections import holm
from paragone.stats.family import ComparisonSettings
from paragone.stats.registries import Test, tests
from paragone.stats.robustness import leave_one_unit_out
from paragone.stats.signed_rank import leave_one_out_p, signed_rank_of_settled


@settings(max_examples=60)
@given(
    st.lists(st.integers(-6, 6), min_size=2, max_size=25),
    st.sampled_from(["wilcox", "pratt", "split"]),
    st.sampled_from([50, 8]),
)
def test_leaving_out_equals_testing_the_rest_from_scratch(values, zeros, exact_up_to):
    difference = np.array(values, dtype=float)
    p, side = leave_one_out_p(difference, zeros, exact_up_to)
    for i in range(difference.size):
        rest = signed_rank_of_settled(np.delete(difference, i), zeros, exact_up_to=exact_up_to)
        assert p[i] == pytest.approx(rest.p, abs=1e-12)
        assert side[i] == np.sign(rest.w_plus - rest.w_minus)


def test_verdict_carried_by_one_dataset_is_found():
    firm = np.arange(1.0, 10.0)
    shaky = np.array([1.0, 2, 3, 4, -5, 6, 7, 8, 9])
    differences = np.stack([firm, shaky], axis=1)
    decided = leave_one_unit_out(
        differences, holm, tests.get("wilcoxon"), ComparisonSettings().options
    )
    assert (decided[:, 0] == 1).all()
    # Exact p is 20/512 with all nine; without a winner it is 20/256 or, below rank 5, 14/256.
    assert decided[:, 1].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    # A test without a quicker way is run anew without each dataset, to the same end.
    slow = Test("slow", "slow", signed_rank_of_settled)
    assert (leave_one_unit_out(differences, holm, slow, {}) == decided).all()
