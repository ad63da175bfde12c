"""Ties: the expectation is the mean over all orders, the bounds are reached and never passed."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from paragone.metrics.topk import topk_scores
from paragone.metrics.topk.ties import cheapest_assignment

KS = (1, 2, 4)


def all_orders(scores):
    """Every order of the items that falls in score."""
    levels = sorted(set(scores), reverse=True)
    groups = [[item for item, score in enumerate(scores) if score == level] for level in levels]
    orders = [[]]
    for group in groups:
        orders = [order + list(rest) for order in orders for rest in permutations(group)]
    return orders


@settings(max_examples=60, deadline=None)
@given(
    scores=st.lists(st.integers(0, 2), min_size=3, max_size=6),
    chosen=st.permutations(range(6)),
    n=st.integers(1, 5),
)
def test_expectation_and_bounds_are_those_of_all_orders(naive, all_metrics, scores, chosen, n):
    truth = [item for item in chosen if item < len(scores)][:n]
    orders = [[naive(order, truth, k, KS[-1]) for k in KS] for order in all_orders(scores)]
    for ties, summary in (("expected", np.mean), ("optimistic", np.max), ("pessimistic", np.min)):
        result = topk_scores(
            np.array([scores], dtype=float), [truth], k=KS, metrics=all_metrics, ties=ties
        )
        for name in all_metrics:
            for cut, k in enumerate(KS):
                expected = summary([order[cut][name] for order in orders])
                assert result.per_sample[name][0, cut] == pytest.approx(expected, abs=1e-12), (
                    ties,
                    name,
                    k,
                )


def test_the_expectation_is_the_mean_of_two_thousand_random_orders(all_metrics):
    rng = np.random.default_rng(0)
    n_items, ks, draws = 60, (5, 10, 15, 20), 2000
    scores = rng.integers(0, 4, n_items).astype(float)
    truth = rng.permutation(n_items)[:9].tolist()
    expected = topk_scores(scores[None, :], [truth], k=ks, metrics=all_metrics, ties="expected")
    # A random order of the tied: equal scores are told apart by noise too small to reorder the
    # others.
    shuffled = scores + rng.random((draws, n_items)) / 2
    drawn = topk_scores(shuffled, [truth] * draws, k=ks, metrics=all_metrics)
    for name in all_metrics:
        error = drawn.per_sample[name].std(axis=0, ddof=1) / np.sqrt(draws)
        distance = np.abs(drawn.means[name] - expected.means[name])
        assert (distance <= 3 * error + 1e-12).all(), name


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), levels=st.integers(1, 6))
def test_optimistic_is_at_least_expected_is_at_least_pessimistic(all_metrics, seed, levels):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (6, 40)).astype(float)
    truth = [rng.permutation(40)[: rng.integers(1, 15)].tolist() for _ in range(6)]
    low, by_id, middle, high = (
        topk_scores(scores, truth, metrics=all_metrics, ties=ties).per_sample
        for ties in ("pessimistic", "id", "expected", "optimistic")
    )
    for name in all_metrics:
        for inside in (by_id, middle):
            assert (high[name] >= inside[name] - 1e-12).all(), name
            assert (inside[name] >= low[name] - 1e-12).all(), name


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 7), more=st.integers(0, 6))
def test_our_assignment_costs_what_scipys_costs(seed, rows, more):
    cost = np.random.default_rng(seed).normal(size=(rows, rows + more))
    assert cheapest_assignment(cost) == pytest.approx(
        cost[linear_sum_assignment(cost)].sum(), abs=1e-12
    )


def test_without_ties_all_rules_agree(all_metrics):
    rng = np.random.default_rng(1)
    scores = rng.permutation(400).reshape(10, 40).astype(float)
    truth = [rng.permutation(40)[:5].tolist() for _ in range(10)]
    by_id = topk_scores(scores, truth, metrics=all_metrics).per_sample
    for ties in ("expected", "optimistic", "pessimistic", "reverse_id"):
        other = topk_scores(scores, truth, metrics=all_metrics, ties=ties).per_sample
        for name in all_metrics:
            np.testing.assert_array_equal(other[name], by_id[name])


def test_reversed_ids_come_first_on_request():
    result = topk_scores(
        np.array([[1.0, 1.0, 2.0, 1.0]]), [[3]], k=2, metrics=("recall",), ties="reverse_id"
    )
    assert result.ranking.items.tolist() == [[2, 3]]
    assert result.value("recall", 2) == 1.0


def test_the_share_of_samples_with_a_tie_across_each_cut_is_reported():
    scores = np.array([[3.0, 2.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0]])
    result = topk_scores(scores, [[0], [0]], k=(1, 2, 3, 4), metrics=("recall",))
    assert result.tie_share.tolist() == [0.0, 0.5, 0.0, 0.0]
    assert "50.00 % at 2" in repr(result)


def test_the_interval_of_ties_is_shown_where_ties_are_many_and_only_there():
    result = topk_scores(np.array([[1.0, 1.0, 0.0]]), [[1]], k=(1, 2), metrics=("recall",))
    table = result.table().set_index("at")
    assert table.loc[1, ["tie_low", "tie_high"]].tolist() == [0.0, 1.0]
    assert table.loc[2, ["tie_low", "tie_high"]].isna().all()


def test_a_masked_item_is_no_candidate_even_in_a_tie():
    exclude = np.array([[True, False, False, False]])
    result = topk_scores(
        np.ones((1, 4)), [[2]], k=1, metrics=("recall",), ties="expected", exclude=exclude
    )
    assert result.value("recall", 1) == pytest.approx(1 / 3)
