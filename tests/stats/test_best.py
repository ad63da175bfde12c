"""Comparisons with the best against a naive loop, a worked example, simulation, and the pair that two methods are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from paragone.stats.best import Duels, against_best, beats_floor, duels_of, tail_of
from paragone.stats.rows import Pivots, plain_scale

ALPHA = 0.05


def pivots_of(means, variances, freedom=20.0, covariances=None):
    """Return the pairs and pivots of methods whose means have these variances, independent of each other."""
    pairs = list(combinations(range(len(means)), 2))
    lead = np.array([means[a] - means[b] for a, b in pairs])
    errors = np.sqrt([variances[a] + variances[b] for a, b in pairs])
    none = np.full(len(pairs), np.nan)
    freedoms = np.full((1, len(pairs)), freedom)
    return pairs, Pivots(lead, errors[None, :], freedoms, plain_scale(len(pairs)), none)


def judged(means, variances, freedom=20.0, margin=0.0):
    pairs, pivots = pivots_of(means, variances, freedom)
    return against_best(duels_of(len(means), pairs, pivots, ALPHA, margin), ALPHA)


def naive(means, variances, freedom):
    """Say which may be the best, and bound the distance to the best by supposing each of them to be it."""
    m = len(means)
    t = stats.t.ppf(1 - ALPHA / (2 * (m - 1)), freedom)

    def ends(i, j):
        half = t * (variances[i] + variances[j]) ** 0.5
        return means[i] - means[j] - half, means[i] - means[j] + half

    candidates = [i for i in range(m) if not any(ends(j, i)[0] >= 0 for j in range(m) if j != i)]
    found = []
    for i in range(m):
        lows, highs = [], []
        for best in candidates:
            if best == i:
                others = [ends(i, j) for j in range(m) if j != i]
                lows.append(max(0.0, min(low for low, _ in others)))
                highs.append(max(0.0, min(high for _, high in others)))
            else:
                low, high = ends(i, best)
                lows.append(min(0.0, low))
                highs.append(min(0.0, high))
        found.append((min(lows), max(highs)))
    return candidates, found


TABLES = st.lists(
    st.tuples(st.floats(-1, 1), st.floats(1e-4, 0.1)), min_size=2, max_size=7
)  # fmt: skip


@given(TABLES, st.floats(3, 500))
def test_a_naive_loop_says_the_same(table, freedom):
    means, variances = zip(*table, strict=True)
    candidates, limits = naive(means, variances, freedom)
    found = judged(means, variances, freedom)
    for place, (one, (low, high)) in enumerate(zip(found, limits, strict=True)):
        alone = candidates == [place]
        expected = "better" if alone else "undecided" if place in candidates else "worse"
        assert one.word == expected
        assert one.difference.low == pytest.approx(low, abs=1e-9)
        assert one.difference.high == pytest.approx(high, abs=1e-9)
        assert one.difference.estimate == pytest.approx(
            means[place] - max(other for j, other in enumerate(means) if j != place), abs=1e-12
        )


@given(TABLES, st.floats(3, 500), st.randoms())
def test_the_order_of_methods_changes_nothing_and_p_goes_with_the_word(table, freedom, random):
    order = list(range(len(table)))
    random.shuffle(order)
    found = judged(*zip(*table, strict=True), freedom)
    shuffled = judged(*zip(*[table[place] for place in order], strict=True), freedom)
    for now, before in zip(shuffled, [found[place] for place in order], strict=True):
        assert now.word == before.word
        assert now.difference.low == pytest.approx(before.difference.low)
    for one in found:
        if one.word == "worse":
            assert one.p <= ALPHA
            assert one.difference.high <= 0
        if one.word == "better":
            assert one.p <= ALPHA
            assert one.difference.low >= 0
        if one.word == "undecided":
            assert one.difference.low <= 0 <= one.difference.high


def test_two_methods_are_the_two_sided_test_of_their_pair():
    pairs, pivots = pivots_of([0.83, 0.8], [1e-4, 2e-4], freedom=17.0)
    for alpha in (0.05, 0.2):
        first, second = against_best(duels_of(2, pairs, pivots, alpha), alpha)
        p = 2 * stats.t.sf(0.03 / 3e-4**0.5, 17)
        assert first.p == pytest.approx(p)
        assert second.p == pytest.approx(p)
        half = stats.t.ppf(1 - alpha / 2, 17) * 3e-4**0.5
        assert first.difference.low == pytest.approx(0.03 - half)
        assert first.difference.high == pytest.approx(0.03 + half)
        assert second.difference.low == pytest.approx(-0.03 - half)
        assert (first.word == "better") == (p <= alpha)


def test_a_worked_example_with_unequal_variances():
    # t(1 - .05/6; 12) = 2.779473; errors of A-B .05, A-C .1, A-D .05, B-C sqrt(.0107),
    # B-D sqrt(.0032), C-D sqrt(.0107), from variances .0009, .0016, .0091, .0016.
    means, variances = [0.9, 0.85, 0.6, 0.7], [9e-4, 16e-4, 91e-4, 16e-4]
    assert stats.t.ppf(1 - 0.05 / 6, 12) == pytest.approx(2.779473, abs=1e-6)
    a, b, c, d = judged(means, variances, 12.0)
    assert [one.word for one in (a, b, c, d)] == ["undecided", "undecided", "worse", "worse"]
    # A: the best of the others is B; at most .05 + 2.779473 x .05 ahead, or as far behind.
    assert a.difference.low == pytest.approx(0.05 - 2.779473 * 0.05, abs=1e-6)
    assert a.difference.high == pytest.approx(0.05 + 2.779473 * 0.05, abs=1e-6)
    # C: behind A by .3 +- 2.779473 x .1; or, if B is the best, by .25 +- 2.779473 x .103441.
    assert c.difference.low == pytest.approx(-0.3 - 0.2779473, abs=1e-6)
    assert c.difference.high == 0.0
    # D: behind A by .2 +- 2.779473 x .05, or behind B by .15 +- 2.779473 x .056569.
    assert d.difference.low == pytest.approx(-0.2 - 0.1389737, abs=1e-6)
    assert d.difference.high == 0.0
    assert 0.15 - 2.779473 * 0.0032**0.5 < 0 < 0.2 - 2.779473 * 0.05
    # D is beaten by A: three times the two-sided p of t = 4, a finite sum for 12 degrees of freedom.
    square = 12 / 28
    terms = [1, 1 / 2, 3 / 8, 5 / 16, 35 / 128, 63 / 256]
    p = 1 - 4 / 28**0.5 * sum(term * square**power for power, term in enumerate(terms))
    assert d.p == pytest.approx(3 * p, rel=1e-9)
    assert d.rival == 0


def test_equivalence_to_the_best_and_the_floor():
    means, variances = [0.9, 0.899, 0.5], [1e-6, 1e-6, 1e-4]
    a, b, floor = judged(means, variances, 200.0, margin=0.02)
    assert (a.word, b.word, floor.word) == ("equivalent", "equivalent", "worse")
    # At two methods, the two one-sided tests of the pair.
    pairs, pivots = pivots_of(means[:2], variances[:2], 200.0)
    two = against_best(duels_of(2, pairs, pivots, ALPHA, 0.02), ALPHA)
    assert max(one.p_equal for one in two) == pytest.approx(float(pivots.p_equal(0.02)[0]))
    assert beats_floor([a, b, floor], [2])
    weak = judged([0.52, 0.51, 0.5], [1e-2] * 3)
    assert not beats_floor(weak, [2])


def test_what_is_not_known_shows_nothing():
    lead = np.array([[0.0, np.nan, 0.3], [np.nan, 0.0, np.nan], [-0.3, np.nan, 0.0]])
    p = np.where(np.isnan(lead), np.nan, 0.001)
    found = against_best(Duels(lead, p, lead - 0.1, lead + 0.1))
    assert [one.word for one in found] == ["undecided", "undecided", "worse"]
    assert np.isnan(found[1].difference.estimate)
    # How far the first may be behind nobody knows; ahead it is of the third by .4 at most.
    assert np.isnan(found[0].difference.low)
    assert found[0].difference.high == pytest.approx(0.4)
    (alone,) = against_best(Duels(*(np.zeros((1, 1)) for _ in range(4))))
    assert alone.word == "undecided"


TRUTHS = {
    "all equal": [0.0] * 6,
    "one worse": [0.0] * 5 + [-3.0],
    "many equal best, two behind": [0.0] * 4 + [-0.5, -2.0],
    "the best stands out by a little": [0.5] + [0.0] * 5,
    "all apart": [0.0, -0.7, -1.4, -2.1, -2.8, -3.5],
    "two methods": [0.0, 0.0],
}


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("unequal", [False, True])
def test_the_best_is_hardly_ever_called_worse_and_all_intervals_hold_together(name, unequal):
    """At 5 %: a best that was named before is called worse in 2.5 % at most, all intervals hold in 95 %."""
    truth = np.array(TRUTHS[name])
    generator = np.random.default_rng([31, len(name), unequal])
    variances = np.linspace(0.1, 2.0, len(truth)) if unequal else np.full(len(truth), 0.5)
    distance = np.array([truth[i] - np.delete(truth, i).max() for i in range(len(truth))])
    best = int(np.argmax(truth))
    n_runs, wrong, missed = 1500, 0, 0
    for _ in range(n_runs):
        found = judged(truth + generator.normal(size=len(truth)) * variances**0.5, variances, 1e6)
        wrong += found[best].word == "worse"
        missed += any(
            not one.difference.low - 1e-12 <= far <= one.difference.high + 1e-12
            for one, far in zip(found, distance, strict=True)
        )
    assert wrong / n_runs <= 0.025 + 3 * (0.025 * 0.975 / n_runs) ** 0.5
    assert missed / n_runs <= 0.05 + 3 * (0.05 * 0.95 / n_runs) ** 0.5


def test_more_methods_cost_little():
    halves = [stats.t.ppf(1 - tail_of(m, 0.05), 500) for m in (2, 7, 21)]
    all_pairs = stats.t.ppf(1 - 0.025 / 21, 500)
    assert halves[1] < 0.9 * all_pairs
    assert halves[2] < 1.6 * halves[0]
