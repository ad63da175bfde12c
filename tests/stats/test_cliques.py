from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import InputError
from paragone.stats.ranks import rank_cliques


def symmetric(k, entries):
    p = np.full((k, k), 0.001)
    for (i, j), value in entries.items():
        p[i, j] = p[j, i] = value
    np.fill_diagonal(p, 1.0)
    return p


def test_no_bar_covers_a_method_that_differs():
    p = symmetric(4, {(0, 2): 0.30, (0, 1): 0.01, (1, 2): 0.02})
    cliques = rank_cliques([1.5, 2.2, 2.6, 3.7], p, ("A", "B", "C", "D"))
    assert cliques.bars == ()
    assert cliques.reason is not None
    assert (
        "A and C do not differ significantly, but B, which ranks between them, differs from A and C"
        in cliques.reason
    )


def test_interval_cliques_become_bars():
    p = symmetric(4, {(0, 1): 0.5, (1, 2): 0.3, (2, 3): 0.2, (1, 3): 0.1})
    cliques = rank_cliques([1.0, 2.0, 3.0, 4.0], p, ("A", "B", "C", "D"))
    assert cliques.bars == ((0, 1), (1, 2, 3))


def test_inner_pair_that_differs_is_found():
    p = symmetric(4, {(0, 1): 0.5, (0, 2): 0.5, (0, 3): 0.5, (1, 3): 0.5, (2, 3): 0.5})
    reason = rank_cliques([1.0, 2.0, 3.0, 4.0], p, ("A", "B", "C", "D")).reason
    assert (
        reason
        == "A and D do not differ significantly, but B and C, which rank between them, differ"
    )


def maximal_cliques(alike):
    k = len(alike)
    found = [
        set(group)
        for size in range(2, k + 1)
        for group in combinations(range(k), size)
        if all(alike[i, j] for i, j in combinations(group, 2))
    ]
    return [group for group in found if not any(group < other for other in found)]


@given(
    st.integers(2, 6).flatmap(
        lambda k: st.tuples(st.just(k), st.lists(st.booleans(), min_size=15, max_size=15))
    )
)
def test_bars_are_all_maximal_cliques_or_one_of_these_is_no_interval(case):
    k, flags = case
    p = symmetric(
        k,
        {pair: 0.5 for pair, alike in zip(combinations(range(k), 2), flags, strict=False) if alike},
    )
    cliques = rank_cliques(np.arange(1.0, k + 1), p, tuple("ABCDEF"[:k]))
    truth = maximal_cliques(p > 0.05)
    intervals = all(max(group) - min(group) + 1 == len(group) for group in truth)
    assert (cliques.reason is None) == intervals
    if intervals:
        assert sorted(map(set, cliques.bars), key=min) == sorted(truth, key=min)


def test_matrix_that_is_not_symmetric_is_refused():
    with pytest.raises(InputError, match="symmetric"):
        rank_cliques([1.0, 2.0], [[1.0, 0.2], [0.3, 1.0]], ("A", "B"))
