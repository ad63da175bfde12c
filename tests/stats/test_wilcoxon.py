"""The signed-rank test against full enumeration, SciPy where SciPy is right, and its own laws."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from paragone.errors import InputError
from paragone.stats.signed_rank import EXACT_UP_TO, wilcoxon_signed_rank

ZEROS = ["wilcox", "pratt", "split"]


def enumerated_p(difference, zeros, alternative="two-sided"):
    """Count all sign patterns of the non-zero differences: slow, and nothing to get wrong."""
    if zeros == "wilcox":
        difference = difference[difference != 0]
    rank = stats.rankdata(np.abs(difference))[difference != 0]
    sign = np.sign(difference[difference != 0])
    observed = rank[sign > 0].sum()
    sums = np.array([sum(r for r, s in zip(rank, pattern, strict=True) if s) for pattern in
                     product([0, 1], repeat=rank.size)])  # fmt: skip
    upper, lower = np.mean(sums >= observed - 1e-9), np.mean(sums <= observed + 1e-9)
    if alternative == "two-sided":
        return min(1.0, 2 * min(upper, lower))
    return upper if alternative == "greater" else lower


@pytest.mark.parametrize("zeros", ZEROS)
@pytest.mark.parametrize("n", range(1, 13))
def test_exact_p_equals_full_enumeration_with_ties_and_zeros(n, zeros):
    generator = np.random.default_rng(100 * n)
    for _ in range(6 if n < 10 else 2):
        difference = generator.integers(-4, 5, size=n).astype(float)
        assert wilcoxon_signed_rank(difference, zeros=zeros).p == pytest.approx(
            enumerated_p(difference, zeros), abs=1e-12
        )


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_sided_p_equals_full_enumeration(alternative):
    generator = np.random.default_rng(5)
    for _ in range(10):
        difference = generator.integers(-4, 6, size=8).astype(float)
        result = wilcoxon_signed_rank(difference, alternative=alternative)
        assert result.p == pytest.approx(enumerated_p(difference, "wilcox", alternative), abs=1e-12)


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=30), st.sampled_from(ZEROS))
def test_swapping_the_methods_keeps_p_and_swaps_the_rank_sums(values, zeros):
    b = np.array(values) / 7
    a = np.zeros_like(b)
    forth, back = wilcoxon_signed_rank(a, b, zeros=zeros), wilcoxon_signed_rank(b, a, zeros=zeros)
    assert forth.p == back.p
    assert (forth.w_plus, forth.w_minus) == (back.w_minus, back.w_plus)


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=60), st.randoms(), st.sampled_from(ZEROS))
def test_order_of_the_pairs_changes_nothing(values, random, zeros):
    shuffled = list(values)
    random.shuffle(shuffled)
    first = wilcoxon_signed_rank(np.array(values) / 7, zeros=zeros)
    second = wilcoxon_signed_rank(np.array(shuffled) / 7, zeros=zeros)
    assert first == second


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=40))
def test_odd_monotone_transform_of_the_differences_changes_nothing(values):
    difference = np.array(values, dtype=float)
    assert wilcoxon_signed_rank(difference).p == wilcoxon_signed_rank(difference**3).p


@pytest.mark.parametrize("n", [5, 12, 30, 50, 200])
def test_without_ties_scipy_exact_agrees(n):
    difference = np.random.default_rng(n).normal(0.3, 1, size=n)
    assert wilcoxon_signed_rank(difference).p == pytest.approx(
        stats.wilcoxon(difference, method="exact").pvalue, rel=1e-12
    )


@pytest.mark.parametrize("zeros", ["wilcox", "pratt"])
def test_beyond_the_exact_range_scipy_approx_agrees(zeros):
    difference = np.random.default_rng(3).integers(-9, 11, size=700).astype(float)
    ours = wilcoxon_signed_rank(difference, zeros=zeros)
    assert not ours.exact
    scipy = stats.wilcoxon(difference, zero_method=zeros, method="approx", correction=True)
    assert ours.p == pytest.approx(scipy.pvalue, rel=1e-12)


def counted_p(difference):
    """Count patterns with whole numbers of any size: the oracle of the counts in floats."""
    difference = difference[difference != 0]
    doubled = np.rint(2 * stats.rankdata(np.abs(difference))).astype(int)
    plus = int(doubled[difference > 0].sum())
    bound = min(plus, int(doubled.sum()) - plus)
    step = int(np.gcd.reduce(doubled))
    # One whole number holds all counts, 2 ** n at the most each, side by side in its bytes.
    width = difference.size // 8 + 1
    counts, places = 1, bound // step + 1
    mask = (1 << 8 * width * places) - 1
    for rank in (doubled // step).tolist():
        counts = (counts + (counts << 8 * width * rank)) & mask
    held = counts.to_bytes(width * places, "little")
    total = sum(
        int.from_bytes(held[width * place : width * (place + 1)], "little")
        for place in range(places)
    )
    return min(Fraction(1), Fraction(2 * total, 2**difference.size))


@pytest.mark.parametrize(
    ("n", "levels", "shift"),
    [(60, 2, 0.05), (100, 7, 0.3), (150, 7, 0.05), (250, 40, 0.1), (400, 10_000, 0.2)],
)
def test_counts_in_floats_keep_their_error_bound_against_whole_numbers(n, levels, shift):
    generator = np.random.default_rng(n * levels)
    magnitude = np.arange(1, n + 1) if levels > n else generator.integers(1, levels + 1, n)
    difference = np.sign(generator.normal(shift, 0.5, n)) * magnitude
    exact = counted_p(difference)
    error = abs(Fraction(wilcoxon_signed_rank(difference).p) / exact - 1)
    assert error <= Fraction(n + 64, 2**53)


def test_d5_equal_magnitudes_are_binomial_at_any_size():
    sixty_to_forty = np.r_[np.full(60, 0.1), np.full(40, -0.1)]
    assert wilcoxon_signed_rank(sixty_to_forty).p == pytest.approx(0.056887933640981, rel=1e-12)
    for wins, losses in ((30, 21), (60, 40), (280, 230), (5200, 5000)):
        found = wilcoxon_signed_rank(np.r_[np.full(wins, 1.0), np.full(losses, -1.0)])
        assert found.exact
        assert found.p == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-10)


def test_d5_one_more_pair_beyond_fifty_does_not_change_the_kind_of_p():
    p = [wilcoxon_signed_rank(np.arange(1.0, n + 1)).p for n in (50, 51, 500)]
    assert p == [2.0**-49, 2.0**-50, 2.0**-499]


@pytest.mark.parametrize("levels", [3, 10, 10_000])
def test_at_the_switch_the_approximation_is_near(levels):
    """At most 3 % of a p from .2 to .001, which is .0005 at p = .05 with three magnitudes."""
    generator = np.random.default_rng(levels)
    magnitude = generator.integers(1, levels + 1, EXACT_UP_TO).astype(float)
    for share in (0.53, 0.545, 0.555):
        difference = magnitude * np.where(np.arange(EXACT_UP_TO) < share * EXACT_UP_TO, 1, -1)
        exact, near = (
            wilcoxon_signed_rank(difference, exact_up_to=limit).p for limit in (EXACT_UP_TO, 0)
        )
        assert 0.001 < exact < 0.2
        assert near == pytest.approx(exact, rel=0.03)


def test_no_p_is_zero():
    assert wilcoxon_signed_rank(np.arange(1.0, 20_001)).p > 0


def test_scipy_exact_is_wrong_with_ties_and_ours_is_not():
    difference = np.array([1.0, 1.0, 1.0, 1.0, 2.0, 2.0, -1.0])
    right = enumerated_p(difference, "wilcox")
    assert wilcoxon_signed_rank(difference).p == pytest.approx(right, abs=1e-15)
    assert abs(stats.wilcoxon(difference, method="exact").pvalue - right) > 0.01


def test_scipy_exact_pratt_depends_on_argument_order_and_ours_does_not():
    a, b = np.array([1.0, 2, 3, 4, 5, 6, 7]), np.array([1.0, 3, 5, 3.5, 9, 8, 7])
    scipy_forth = stats.wilcoxon(b, a, zero_method="pratt", method="exact").pvalue
    scipy_back = stats.wilcoxon(a, b, zero_method="pratt", method="exact").pvalue
    assert scipy_forth != scipy_back
    assert (
        wilcoxon_signed_rank(a, b, zeros="pratt").p == wilcoxon_signed_rank(b, a, zeros="pratt").p
    )


def test_float_noise_does_not_break_ties():
    a = np.arange(1, 9) / 10
    step = np.array([1, 1, 1, 1, 1, 1, -1, -1]) / 10
    noisy = wilcoxon_signed_rank(a, a + step)
    clean = wilcoxon_signed_rank(step * 10)
    raw = enumerated_p((a + step) - a, "wilcox")
    assert noisy.p == clean.p == enumerated_p(step * 10, "wilcox")
    assert raw != clean.p


def test_five_pairs_cannot_be_significant_and_the_result_knows():
    result = wilcoxon_signed_rank([1.0, 2.0, 3.0, 4.0, 5.0])
    assert result.p == result.smallest_p == 0.0625


def test_all_differences_zero_give_p_one():
    result = wilcoxon_signed_rank([0.3, 0.4], [0.3, 0.4])
    assert (result.p, result.n_used, result.n_zeros) == (1.0, 0, 2)


@pytest.mark.parametrize("bad", [[], [np.nan, 1.0], [[1.0, 2.0]]])
def test_unusable_differences_are_refused(bad):
    with pytest.raises(InputError, match="finite paired differences"):
        wilcoxon_signed_rank(bad)


def test_unknown_choices_are_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'pratt'"):
        wilcoxon_signed_rank([1.0], zeros="prat")
    with pytest.raises(InputError, match="alternative"):
        wilcoxon_signed_rank([1.0], alternative="twosided!")
    with pytest.raises(InputError, match="1000"):
        wilcoxon_signed_rank([1.0], exact_up_to=1001)


@settings(max_examples=30)
@given(st.integers(1, 120))
def test_total_mass_of_the_null_distribution_is_one(n):
    difference = np.arange(1.0, n + 1)
    upper = wilcoxon_signed_rank(difference, alternative="less").p
    assert upper == 1.0


@pytest.mark.known_answer
@pytest.mark.parametrize("variant", ["rounded_table", "untied_variant_matching_paper"])
@pytest.mark.parametrize(
    ("zeros", "name"), [("wilcox", "wilcox"), ("pratt", "pratt"), ("split", "zsplit")]
)
def test_known_answers_of_the_demsar_table(data_folder, variant, zeros, name):
    table = json.loads((data_folder / "stats" / "demsar2006_table6.json").read_text())
    oracle = json.loads((data_folder / "stats" / "oracle_reference.json").read_text())[variant]
    scores = np.array(table["auc" if variant == "rounded_table" else "auc_untied"])
    expected = oracle["wilcoxon_rounded_differences"][name]["exact_conditional"]
    for (i, j), answer in zip(combinations(range(4), 2), expected, strict=True):
        result = wilcoxon_signed_rank(scores[:, i], scores[:, j], zeros=zeros)
        assert result.p == pytest.approx(answer["p_two_sided"], abs=1e-12)
        assert result.n_used == answer["n_used"]
        assert (result.w_plus, result.w_minus) == (answer["W_plus"], answer["W_minus"])
