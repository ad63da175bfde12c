from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from paragone.errors import InputError
from paragone.stats.ranks import (
    bonferroni_dunn,
    bonferroni_dunn_critical_difference,
    friedman,
    method_ranks,
    nemenyi,
    nemenyi_critical_difference,
    rank_standard_error,
    rank_z,
)

TABLES = arrays(np.int64, st.tuples(st.integers(2, 12), st.integers(3, 6)), elements=st.integers(0, 4))


@given(TABLES)
def test_tie_corrected_chi2_is_that_of_scipy(table):
    result = friedman(table)
    if (table == table[:, :1]).all():
        assert (result.chi2, result.p) == (0.0, 1.0)
    else:
        expected = stats.friedmanchisquare(*table.T)
        assert result.chi2 == pytest.approx(expected.statistic, abs=1e-9)
        assert result.p == pytest.approx(expected.pvalue, abs=1e-9)


@given(TABLES, st.randoms())
def test_order_of_datasets_and_methods_changes_nothing(table, random):
    rows, columns = list(range(len(table))), list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    first, second = friedman(table), friedman(table[np.ix_(rows, columns)])
    assert second.chi2 == pytest.approx(first.chi2, abs=1e-9)
    assert second.average_ranks == pytest.approx([first.average_ranks[c] for c in columns])


@given(TABLES)
def test_monotone_transform_of_the_scores_changes_nothing(table):
    assert friedman(table) == friedman(np.exp(table.astype(float)))


@given(TABLES)
def test_turning_the_direction_mirrors_the_ranks(table):
    up, down = method_ranks(table), method_ranks(table, higher_is_better=False)
    assert (up + down == table.shape[1] + 1).all()


def test_ranks_that_agree_everywhere_give_an_infinite_f():
    result = friedman([[3, 2, 1]] * 4)
    assert result.chi2 == pytest.approx(8)
    assert (result.f, result.p_f) == (float("inf"), 0.0)


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
    corrected, plain = oracle["friedman"]["tie_corrected"], oracle["friedman"]["uncorrected"]
    assert (result.chi2, result.p) == pytest.approx((corrected["chi2"], corrected["p_chi2"]), abs=1e-9)
    assert (result.f, result.p_f) == pytest.approx((corrected["F_iman_davenport"], corrected["p_F"]), abs=1e-9)
    assert result.chi2_uncorrected == pytest.approx(plain["chi2"], abs=1e-9)
    assert result.p_uncorrected == pytest.approx(plain["p_chi2"], abs=1e-9)
    assert result.f_uncorrected == pytest.approx(plain["F_iman_davenport"], abs=1e-9)
    assert result.p_f_uncorrected == pytest.approx(plain["p_F"], abs=1e-9)
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
    assert nemenyi(ranks, 14)[upper] == pytest.approx(family["p_nemenyi_studentized_range"], abs=1e-9)
    control = oracle["control_C4.5_rank_z"]
    assert bonferroni_dunn(ranks, 14, 0)[1:] == pytest.approx(control["p_bonferroni_dunn"], abs=1e-9)
    for alpha, critical in oracle["nemenyi_cd"].items():
        assert nemenyi_critical_difference(4, 14, float(alpha)) == pytest.approx(critical, abs=1e-9)
    for alpha, critical in oracle["bonferroni_dunn_cd"].items():
        assert bonferroni_dunn_critical_difference(4, 14, float(alpha)) == pytest.approx(critical, abs=1e-9)


def test_nemenyi_p_is_alpha_at_the_critical_difference():
    critical = nemenyi_critical_difference(6, 20)
    ranks = [1.0, 1.0 + critical, 3.0, 3.0, 3.0, 3.0]
    assert nemenyi(ranks, 20)[0, 1] == pytest.approx(0.05, abs=1e-9)
