"""Tests of all methods at once against full enumeration, another formula and the pairwise tests that they contain."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from paragone.errors import InputError
from paragone.stats import compare
from paragone.stats.overall import aligned_ranks, overall_tests, quade
from paragone.stats.ranks import friedman
from paragone.stats.signed_rank import wilcoxon_signed_rank

SMALL = arrays(np.int64, st.sampled_from([(2, 3), (4, 3), (3, 4)]), elements=st.integers(0, 9))


def quade_f(scores):
    """The formula of Conover's textbook, term by term."""
    n, k = scores.shape
    weight = stats.rankdata(np.ptp(scores, axis=1))
    s = weight[:, None] * (stats.rankdata(scores, axis=1) - (k + 1) / 2)
    a, b = (s**2).sum(), (s.sum(axis=0) ** 2).sum() / n
    return (n - 1) * b / (a - b) if a - b > 1e-9 else np.inf


def aligned_t(scores):
    """Garcia et al. (2010), with the squares of the ranks that are there."""
    n, k = scores.shape
    ranks = stats.rankdata(np.round(scores - scores.mean(axis=1, keepdims=True), 10)).reshape(n, k)
    columns, rows = (ranks.sum(axis=0) ** 2).sum(), (ranks.sum(axis=1) ** 2).sum()
    below = (ranks**2).sum() - rows / k
    return (k - 1) * (columns - k * n**2 / 4 * (k * n + 1) ** 2) / below if below > 1e-9 else 0.0


@pytest.mark.parametrize(("test", "formula"), [(quade, quade_f), (aligned_ranks, aligned_t)])
@settings(max_examples=6, deadline=None)
@given(table=SMALL)
def test_small_tables_have_the_p_of_all_orders_within_datasets(test, formula, table):
    found, observed = test(table), formula(table)
    if np.isfinite(observed):
        assert found.statistic == pytest.approx(observed, abs=1e-9)
    else:
        assert np.isnan(found.statistic) or not np.ptp(table, axis=1).any()
    every = [
        formula(np.array(other))
        for other in product(*(permutations(row) for row in table.tolist()))
    ]
    assert found.kind == "exact"
    assert found.p == pytest.approx(np.mean(np.array(every) >= observed - 1e-9), rel=1e-9)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=40))
def test_quade_of_two_methods_is_the_signed_rank_test_with_zeros_ranked(values):
    table = np.c_[np.zeros(len(values)), values]
    assert quade(table).p == pytest.approx(wilcoxon_signed_rank(values, zeros="pratt").p, rel=1e-9)


@given(SMALL, st.sampled_from(["friedman", "quade", "aligned-ranks"]))
def test_direction_order_and_scale_change_no_p(table, name):
    test = overall_tests.get(name)
    found = test(table / 8)
    for other in (
        test(table / 8, higher_is_better=False),
        test(table[::-1, ::-1] / 8),
        test(table * 4.0),
    ):
        assert other.p == pytest.approx(found.p, rel=1e-12)


def test_they_are_asked_for_by_name_on_a_comparison():
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(generator.uniform(size=(8, 3)), columns=list("ABC"))
    result = compare(
        frame.assign(dataset=[f"d{i}" for i in range(8)]), metric="accuracy", bayes=False
    )
    assert result.overall("quade").p == quade(frame.to_numpy()).p
    assert result.overall("friedman").p == friedman(frame.to_numpy()).p == result.friedman.p
    assert "Quade: F(2, 14)" in result.overall("quade").words()
    with pytest.raises(InputError, match="did you mean 'quade'"):
        result.overall("quad")
