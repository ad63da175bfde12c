"""The rule of ties: rounding decides nothing, and nothing that means something is lost."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paragone.ties import (
    TOLERANCE,
    best_losses,
    least_loss,
    loss_order,
    rank_losses,
    settle,
    slack_of,
)

ANY = st.floats(allow_nan=True, allow_infinity=True)
FINITE = st.floats(-1e12, 1e12).map(lambda value: 0.0 if abs(value) < 1e-12 else value)
# Thousandths: far apart where they differ at all, and easily computed along several roads.
THOUSANDTHS = st.lists(st.integers(-2000, 2000), min_size=1, max_size=30)
NAN = math.nan


def groups_by_closure(values: list[float], size: float = 0.0) -> set[frozenset[int]]:
    """Join every two numbers within a billionth of their size, then all that hang together: exact, and naive."""
    reach = {i: {i} for i in range(len(values))}
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            close = a == b or (
                math.isfinite(a)
                and math.isfinite(b)
                and abs(Fraction(a) - Fraction(b))
                <= Fraction(TOLERANCE) * Fraction(max(abs(a), abs(b), size))
            )
            if close:
                joined = reach[i] | reach[j]
                for member in joined:
                    reach[member] = joined
    return {frozenset(group) for group in reach.values()}


def groups_of(settled: np.ndarray) -> set[frozenset[int]]:
    """Return the places that hold equal values; NaN is alone."""
    found: dict[object, set[int]] = {}
    for place, value in enumerate(settled.tolist()):
        found.setdefault(place if math.isnan(value) else ("value", value), set()).add(place)
    return {frozenset(group) for group in found.values()}


def nearly(values: list[int], draw_bits: list[int]) -> np.ndarray:
    """Return thousandths, each moved by a few of its last bits."""
    exact = np.array(values) / 1000
    return exact + np.array(draw_bits) * np.spacing(np.abs(exact))


@given(
    st.lists(
        st.one_of(ANY, st.sampled_from([0.3, 0.1 + 0.2, 1.0, 1 + 1e-9, 1 + 2e-9])),
        min_size=1,
        max_size=12,
    )
)
def test_ties_are_the_closure_of_being_within_a_billionth(values):
    # The edge itself is rounded, like every number: pairs that lie on it are left out.
    for a in values:
        for b in values:
            if math.isfinite(a) and math.isfinite(b) and a != b:
                ratio = abs(Fraction(a) - Fraction(b)) / (
                    Fraction(TOLERANCE) * Fraction(max(abs(a), abs(b)))
                )
                assume(not Fraction(999, 1000) < ratio < Fraction(1001, 1000))
    assume(all(v == 0 or abs(v) > 1e-290 for v in values if not math.isnan(v)))
    assert groups_of(settle(values)) == groups_by_closure(values)


@given(THOUSANDTHS, st.data())
def test_numbers_that_differ_by_a_few_last_bits_are_ranked_as_the_exact_ones_are(values, data):
    bits = data.draw(st.lists(st.integers(-8, 8), min_size=len(values), max_size=len(values)))
    moved, exact = nearly(values, bits), np.array(values, dtype=float)
    assert rank_losses(moved, size=1.0).tolist() == rank_losses(exact).tolist()
    assert loss_order(moved, size=1.0).tolist() == sorted(
        range(len(values)), key=lambda i: values[i]
    )
    assert best_losses(moved, size=1.0).tolist() == [value == min(values) for value in values]
    assert least_loss(moved, size=1.0) == values.index(min(values))


@given(THOUSANDTHS)
def test_what_is_well_separated_keeps_its_own_bits(values):
    exact = np.array(values) / 1000
    assert settle(exact).tolist() == exact.tolist()


@given(st.lists(FINITE, min_size=1, max_size=15), st.randoms(use_true_random=False))
def test_the_order_in_which_numbers_come_changes_no_tie(values, random):
    shuffled = list(range(len(values)))
    random.shuffle(shuffled)
    there = settle([values[place] for place in shuffled])
    assert there.tolist() == [settle(values)[place] for place in shuffled]


@given(st.lists(FINITE, min_size=1, max_size=15), st.integers(-30, 30))
def test_ties_are_the_same_in_every_unit_and_in_both_directions(values, power):
    array = np.array(values)
    assert groups_of(settle(array * 2.0**power)) == groups_of(settle(array))
    assert groups_of(settle(-array)) == groups_of(settle(array))


@given(st.lists(ANY, min_size=1, max_size=15))
def test_what_is_settled_stays_as_it_is(values):
    once = settle(values)
    assert np.array_equal(settle(once), once, equal_nan=True)


@given(st.lists(ANY, min_size=1, max_size=15))
def test_order_ranks_and_best_say_the_same(values):
    order, ranks, best = loss_order(values), rank_losses(values), best_losses(values)
    assert sorted(order.tolist()) == list(range(len(values)))
    known = [place for place in order if not math.isnan(values[place])]
    assert order.tolist()[: len(known)] == known, "what is not a number comes last"
    assert all(ranks[a] <= ranks[b] for a, b in pairwise(known))
    assert all(a < b for a, b in pairwise(known) if ranks[a] == ranks[b]), "declared order"
    assert np.flatnonzero(best).tolist() == [
        i for i in range(len(values)) if known and ranks[i] == ranks[known[0]]
    ]
    assert np.isnan(ranks).tolist() == [math.isnan(value) for value in values]
    assert least_loss(values) == order[0]


def test_a_chain_of_neighbours_is_one_tie_whichever_end_it_is_entered_from():
    chain = 1.0 + 0.9e-9 * np.arange(5)
    assert len(set(settle(chain))) == len(set(settle(chain[::-1]))) == 1
    assert len(set(settle([1.0, chain[-1]]))) == 2, (
        "without what lies between them its ends are apart"
    )


def test_infinities_are_equal_to_themselves_only_and_nan_to_nothing():
    assert rank_losses([math.inf, 1e300, math.inf, -math.inf, NAN]).tolist()[:4] == [
        3.5,
        2.0,
        3.5,
        1.0,
    ]
    assert best_losses([math.inf, math.inf, NAN]).tolist() == [True, True, False]
    assert best_losses([NAN, NAN]).tolist() == [False, False]
    assert loss_order([NAN, 2.0, NAN, 1.0]).tolist() == [3, 1, 0, 2]
    assert settle([1.7e308, -1.7e308]).tolist() == [
        1.7e308,
        -1.7e308,
    ], "a gap that overflows is a gap"


def test_near_zero_the_size_of_what_the_numbers_were_made_from_decides():
    kappas = [1.3e-17, 0.0, -2.2e-16]
    assert best_losses(kappas, size=1.0).all()
    assert best_losses(kappas).tolist() == [
        False,
        False,
        True,
    ], "in an unknown unit 1e-17 may be much"
    assert best_losses([3e-10, 5e-10]).tolist() == [True, False]


def test_a_method_that_diverged_ties_nobody_else():
    assert rank_losses([0.5, 0.6, 1e30]).tolist() == [1.0, 2.0, 3.0]


def test_a_wider_tolerance_for_scores_says_nothing_about_rounding():
    assert slack_of(0.0, 1.0, 0.05) == TOLERANCE
    assert slack_of(2.0, 1.0, 0.05) == 0.1
    assert slack_of(2.0, 1.0, 0.0) == 0.0, "with tolerance 0 only equal numbers are equal"


def test_columns_are_settled_each_for_itself():
    values = np.array([[0.3, 5.0], [0.1 + 0.2, 6.0], [NAN, 5.0]])
    assert best_losses(values).tolist() == [[True, True], [True, False], [False, True]]


@pytest.mark.parametrize("call", [settle, rank_losses, loss_order, best_losses])
def test_nothing_has_no_ties(call):
    assert call([]).shape == (0,)
