"""The compiled loops behind thousands of pairs against plain loops, and comparisons that take either way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.stats import compare, family, pairs
from paragone.stats.corrections import numbers_of_true_pairs
from paragone.stats.effects import vargha_delaney_a12
from paragone.stats.pair_kernels import doubled_wins, walsh_averages_at
from paragone.stats.signed_rank import leave_one_out_p, signed_rank_of_settled

VALUES = st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=1, max_size=60)


@settings(deadline=None)
@given(VALUES, st.integers(0, 6), st.data())
def test_a_place_among_walsh_averages_is_that_of_sorting_all(values, decimals, data):
    ordered = np.sort(np.round(values, decimals))
    every = np.sort((ordered[:, None] + ordered)[np.triu_indices(ordered.size)] / 2)
    places = np.array(data.draw(st.lists(st.integers(0, every.size - 1), min_size=1, max_size=4)))
    assert walsh_averages_at(ordered, places).tolist() == every[places].tolist()


@pytest.mark.parametrize("decimals", [0, 2, 12])
def test_many_averages_are_halved_down_to_the_same_place(decimals):
    ordered = np.sort(np.random.default_rng(decimals).normal(size=900).round(decimals))
    every = np.sort((ordered[:, None] + ordered)[np.triu_indices(900)] / 2)
    places = np.array([0, 1, 5000, every.size // 2, every.size - 1])
    assert walsh_averages_at(ordered, places).tolist() == every[places].tolist()


@pytest.mark.parametrize("tolerance", [1e-9, 0.05, 0.0])
@pytest.mark.parametrize("size", [0.0, 1.0])
def test_wins_over_all_pairings_are_those_of_pooled_ranks(tolerance, size):
    generator = np.random.default_rng(5)
    scores = generator.random((40, 4)).round(2) + generator.choice([0.0, 1e-12], (40, 4))
    first, second = np.array([0, 1, 2, 3]), np.array([1, 2, 0, 0])
    wins = doubled_wins(
        np.asfortranarray(np.sort(scores, axis=0)),
        first,
        second,
        size,
        tolerance,
        min(tolerance, 1e-9),
    )
    wanted = [
        vargha_delaney_a12(scores[:, b], scores[:, a], tolerance=tolerance, size=size)
        for a, b in zip(first, second, strict=True)
    ]
    assert [count / 2 / 40**2 for count in wins.tolist()] == wanted


def test_a_comparison_has_the_same_numbers_with_compiled_loops_and_without(monkeypatch):
    generator = np.random.default_rng(3)
    frame = pd.DataFrame(generator.random((60, 5)).round(2), columns=list("ABCDE"))
    frame.insert(0, "dataset", [f"d{place}" for place in range(60)])
    plain = compare(frame, metric="accuracy").table
    monkeypatch.setattr(pairs, "WORTH_COMPILING", 0)
    monkeypatch.setattr("paragone.stats.location.AT_ONCE", 0)
    pd.testing.assert_frame_equal(compare(frame, metric="accuracy").table, plain, check_exact=True)


@given(
    st.lists(st.integers(-6, 6), min_size=2, max_size=25),
    st.sampled_from(["wilcox", "pratt", "split"]),
)
def test_without_each_pair_is_the_test_of_the_others(values, zeros):
    differences = np.array(values) / 4
    for exact_up_to in (0, 500):
        p, _ = leave_one_out_p(differences, zeros, exact_up_to)
        for place in range(differences.size):
            left = np.delete(differences, place)
            assert p[place] == pytest.approx(
                signed_rank_of_settled(left, zeros, exact_up_to=exact_up_to).p, rel=1e-12
            )


@pytest.mark.parametrize("n_methods", range(1, 13))
def test_numbers_of_true_pairs_are_those_of_all_partitions(n_methods):
    def partitions(n, largest):
        if n == 0:
            yield ()
        for size in range(min(n, largest), 0, -1):
            yield from ((size, *rest) for rest in partitions(n - size, size))

    wanted = {
        sum(size * (size - 1) // 2 for size in part) for part in partitions(n_methods, n_methods)
    }
    assert numbers_of_true_pairs(n_methods).tolist() == sorted(wanted)


def test_where_all_pairs_would_be_too_many_the_leader_alone_is_tested_within_datasets_and_that_is_said(
    monkeypatch,
):
    generator = np.random.default_rng(1)
    rows = [
        {
            "dataset": f"d{d}",
            "repeat": 0,
            "fold": fold,
            "method": method,
            "value": place / 10 + generator.random() / 5,
        }
        for d in range(6)
        for fold in range(3)
        for place, method in enumerate("ABCD")
    ]
    whole = compare(pd.DataFrame(rows), metric="accuracy")
    assert "only" not in whole.choices["per dataset"]
    monkeypatch.setattr(family, "TESTS_WITHIN", 10)
    bounded = compare(pd.DataFrame(rows), metric="accuracy")
    assert set(bounded.per_dataset["method"]) == {bounded.leader}
    for dataset in whole.scores.datasets:
        left, right = whole.leader_on(dataset), bounded.leader_on(dataset)
        pd.testing.assert_frame_equal(
            left.reset_index(drop=True), right.reset_index(drop=True), check_exact=True
        )
    assert "of the leader against each other method only" in bounded.choices["per dataset"]
