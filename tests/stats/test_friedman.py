from __future__ import annotations

import json
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
from paragone.stats.blocks import N_PERMUTATIONS, exact_spread_p, random_spread_p
from paragone.stats.ranks import (
    bonferroni_dunn,
    friedman,
    method_ranks,
    nemenyi,
    nemenyi_critical_difference,
    rank_standard_error,
    rank_z,
)

TABLES = arrays(
    np.int64, st.tuples(st.integers(2, 12), st.integers(3, 6)), elements=st.integers(0, 4)
)


@settings(max_examples=40)
@given(TABLES)
def test_tie_corrected_chi2_is_that_of_scipy(table):
    result = friedman(table)
    if (table == table[:, :1]).all():
        assert (result.chi2, result.p_chi2, result.p) == (0.0, 1.0, 1.0)
    else:
        expected = stats.friedmanchisquare(*table.T)
        assert result.chi2 == pytest.approx(expected.statistic, abs=1e-9)
        assert result.p_chi2 == pytest.approx(expected.pvalue, abs=1e-9)


@settings(max_examples=40)
@given(TABLES, st.randoms())
def test_order_of_datasets_and_methods_changes_nothing(table, random):
    rows, columns = list(range(len(table))), list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    first, second = friedman(table), friedman(table[np.ix_(rows, columns)])
    assert second.chi2 == pytest.approx(first.chi2, abs=1e-9)
    assert second.average_ranks == pytest.approx([first.average_ranks[c] for c in columns])


@settings(max_examples=30)
@given(TABLES)
def test_monotone_transform_of_the_scores_changes_nothing(table):
    assert friedman(table) == friedman(np.exp(table.astype(float)))


@given(TABLES)
def test_turning_the_direction_mirrors_the_ranks(table):
    up, down = method_ranks(table), method_ranks(table, higher_is_better=False)
    assert (up + down == table.shape[1] + 1).all()


def enumerated_p(ranks):
    """Go through every table that permuting within rows can give."""
    observed = np.square(ranks.sum(axis=0)).sum()
    sums = [
        np.square(np.sum(table, axis=0)).sum()
        for table in product(*(permutations(row) for row in ranks))
    ]
    return np.mean(np.array(sums) >= observed - 1e-9)


@settings(max_examples=25, deadline=None)
@given(
    arrays(
        np.int64,
        st.sampled_from([(2, 2), (7, 2), (2, 3), (5, 3), (3, 4), (2, 5)]),
        elements=st.integers(0, 4),
    )
)
def test_small_tables_have_the_p_of_full_enumeration(table):
    result = friedman(table)
    assert result.kind == "exact"
    assert result.p == pytest.approx(enumerated_p(method_ranks(table)), rel=1e-12)


@pytest.mark.parametrize(("n", "k"), [(14, 4), (8, 5), (40, 3)])
def test_counted_p_lies_within_the_error_of_random_permutations(n, k):
    generator = np.random.default_rng(k)
    values = np.rint(2 * method_ranks(generator.normal(size=(n, k)) + 0.3 * np.arange(k))).astype(
        int
    )
    exact, drawn = exact_spread_p(values), random_spread_p(values, seed=1)
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact / N_PERMUTATIONS))


def test_two_methods_have_the_p_of_the_sign_test():
    for wins, n in ((12, 12), (9, 12), (30, 45)):
        table = np.where(np.arange(n)[:, None] < wins, [[1, 0]], [[0, 1]])
        assert friedman(table).p == pytest.approx(stats.binomtest(wins, n).pvalue, rel=1e-10)


def test_d6_ranks_that_agree_everywhere_have_no_f_and_no_p_of_zero():
    result = friedman([[3, 2, 1]] * 4)
    assert result.chi2 == pytest.approx(8)
    assert np.isnan(result.f)
    assert np.isnan(result.p_f)
    assert result.p == pytest.approx(1 / 216)
    assert friedman([[0.8, 0.7], [0.7, 0.6]]).p == 0.5
    assert friedman([[0.8, 0.7]] * 12).p == pytest.approx(2.0**-11)
    many = friedman(np.arange(30.0) + np.zeros((60, 1)))
    assert 0 < many.p < 1e-300


def test_d6_the_caption_of_two_datasets_says_the_exact_p():
    frame = pd.DataFrame({"dataset": ["a", "b"], "A": [0.8, 0.7], "B": [0.7, 0.6]})
    text = compare(frame, metric="accuracy").details
    assert "p = 0.500 (exact)" in text.split("Pairs:")[0]
    assert "inf" not in text.split("Pairs:")[0]


def test_larger_tables_are_permuted_and_large_ones_approximated():
    generator = np.random.default_rng(0)
    kinds = [
        friedman(generator.normal(size=shape)).kind
        for shape in ((10, 4), (10, 9), (19, 20), (40, 9))
    ]
    assert kinds == ["exact", "permutation", "approximate", "approximate"]
    table = generator.normal(size=(12, 9)) + 0.1 * np.arange(9)
    result = friedman(table)
    assert result == friedman(table)
    assert result.p == pytest.approx(result.p_f, rel=0.1)


def test_one_dataset_has_no_f():
    assert np.isnan(friedman([[1, 2, 3]]).f)


def test_scores_that_differ_by_noise_share_a_rank():
    assert method_ranks([[0.1 + 0.2, 0.3, 0.0]]).tolist() == [[1.5, 1.5, 3.0]]


@pytest.mark.parametrize("bad", [[[1.0]], [1.0, 2.0], [[1.0, np.nan]]])
def test_unusable_tables_are_refused(bad):
    with pytest.raises(InputError):
        friedman(bad)


@pytest.mark.known_answer
@pytest.mark.parametrize("variant", ["rounded_table", "untied_variant_matching_paper"])
def test_known_answers_of_the_demsar_table(data_folder, variant):
    table = json.loads((data_folder / "stats" / "demsar2006_table6.json").read_text())
    oracle = json.loads((data_folder / "stats" / "oracle_reference.json").read_text())[variant]
    scores = np.array(table["auc" if variant == "rounded_table" else "auc_untied"])
    result = friedman(scores)
    assert result.average_ranks == pytest.approx(list(oracle["average_ranks"].values()), abs=1e-9)
    corrected = oracle["friedman"]["tie_corrected"]
    assert (result.chi2, result.p_chi2) == pytest.approx(
        (corrected["chi2"], corrected["p_chi2"]), abs=1e-9
    )
    assert (result.f, result.p_f) == pytest.approx(
        (corrected["F_iman_davenport"], corrected["p_F"]), abs=1e-9
    )
    assert result.df == (3, 39)


@pytest.mark.known_answer
@pytest.mark.parametrize("variant", ["rounded_table", "untied_variant_matching_paper"])
def test_known_rank_family_of_the_demsar_table(data_folder, variant):
    oracle = json.loads((data_folder / "stats" / "oracle_reference.json").read_text())[variant]
    ranks = list(oracle["average_ranks"].values())
    upper = np.triu_indices(4, 1)
    family = oracle["pairwise_rank_z"]
    assert rank_standard_error(4, 14) == pytest.approx(oracle["rank_SE"], abs=1e-12)
    assert rank_z(ranks, 14)[upper] == pytest.approx(family["z"], abs=1e-9)
    assert nemenyi(ranks, 14)[upper] == pytest.approx(
        family["p_nemenyi_studentized_range"], abs=1e-9
    )
    control = oracle["control_C4.5_rank_z"]
    assert bonferroni_dunn(ranks, 14, 0)[1:] == pytest.approx(
        control["p_bonferroni_dunn"], abs=1e-9
    )
    for alpha, critical in oracle["nemenyi_cd"].items():
        assert nemenyi_critical_difference(4, 14, float(alpha)) == pytest.approx(critical, abs=1e-9)


def test_nemenyi_p_is_alpha_at_the_critical_difference():
    critical = nemenyi_critical_difference(6, 20)
    ranks = [1.0, 1.0 + critical, 3.0, 3.0, 3.0, 3.0]
    assert nemenyi(ranks, 20)[0, 1] == pytest.approx(0.05, abs=1e-9)
