"""Figures of R, made by r_figures.R beside this file, against ours: at most 1e-9 apart."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from paragone.stats.location import hodges_lehmann, shifted_p
from paragone.stats.ranks import friedman
from paragone.stats.sign_tests import mcnemar
from paragone.stats.signed_rank import wilcoxon_signed_rank
from paragone.stats.t_tests import clustered_t

FIGURES = json.loads(Path(__file__).with_name("r_figures.json").read_text(encoding="utf-8"))


def cases(name):
    return [pytest.param(case, id=f"{name}-{place}") for place, case in enumerate(FIGURES[name])]


def differences(case):
    return np.array(case["d"]) / 64


@pytest.mark.parametrize("case", cases("signed_rank"))
def test_signed_rank_p_with_ties_and_zeros_is_coins(case):
    values = differences(case)
    for zeros in ("wilcox", "pratt"):
        found = wilcoxon_signed_rank(values, zeros=zeros)
        assert found.exact
        assert found.p == pytest.approx(case[zeros], rel=1e-9, abs=1e-12)


def test_the_figures_reach_five_hundred_pairs_and_hold_ties_and_zeros():
    largest = [np.array(case["d"]) for case in FIGURES["signed_rank"] if len(case["d"]) == 500]
    assert largest
    assert all((one == 0).any() and np.unique(np.abs(one)).size < one.size for one in largest)


@pytest.mark.parametrize("case", cases("hodges_lehmann"))
def test_hodges_lehmann_interval_is_that_of_wilcox_test_and_wilcox_exact(case):
    found = hodges_lehmann(differences(case), level=case["level"], zeros="pratt")
    assert found.estimate == pytest.approx(case["estimate"], abs=1e-9)
    assert found.estimate == pytest.approx(case["exact_estimate"], abs=1e-9)
    if case["achieved"] < case["level"]:
        # R gives the whole range where the level cannot be reached, and says so; ours has no end.
        assert not np.isfinite(found.low)
    else:
        assert (found.low, found.high) == pytest.approx(tuple(case["interval"]), abs=1e-9)
        assert (found.low, found.high) == pytest.approx(tuple(case["exact_interval"]), abs=1e-9)


@pytest.mark.parametrize("case", cases("tied_interval"))
def test_with_ties_the_interval_is_that_of_coins_test_of_every_cell(case):
    found = hodges_lehmann(differences(case), zeros="pratt")
    low, high = case["low"], case["high"]
    if wilcoxon_signed_rank(differences(case), zeros="pratt").p > 0.05:
        low, high = min(low, 0.0), max(high, 0.0)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize("case", cases("tost"))
def test_two_one_sided_p_at_a_margin_are_those_of_wilcox_exact(case):
    values, margin = differences(case), case["margin"]
    assert shifted_p(values, -margin, "greater") == pytest.approx(case["greater"], abs=1e-9)
    assert shifted_p(values, margin, "less") == pytest.approx(case["less"], abs=1e-9)


@pytest.mark.parametrize("case", cases("friedman"))
def test_friedman_is_coins_by_formula_and_by_permutation(case):
    found = friedman(np.array(case["scores"]))
    assert (found.chi2, found.p_chi2) == pytest.approx((case["chi2"], case["p_chi2"]), abs=1e-9)
    assert found.kind == "exact"
    error = np.sqrt(found.p * (1 - found.p) / case["n_drawn"])
    assert case["p_drawn"] == pytest.approx(found.p, abs=4 * error + 1e-9)


@pytest.mark.parametrize("case", cases("mcnemar"))
def test_mcnemar_is_the_binomial_test_of_r(case):
    values = np.r_[np.ones(case["won"]), -np.ones(case["lost"]), np.zeros(10)]
    assert mcnemar(values).p == pytest.approx(case["p"], abs=1e-9)


@pytest.mark.parametrize("case", cases("clusters"))
def test_clustered_t_is_that_of_clubsandwich_and_sandwich(case):
    values = differences(case)
    found = clustered_t(values, case["cluster"])
    assert (found.mean, found.standard_error) == pytest.approx(
        (case["mean"], case["error"]), abs=1e-9
    )
    assert (found.df, found.p) == pytest.approx((case["df"], case["p"]), abs=1e-9)
    balanced = clustered_t(values[: len(case["balanced"])], case["balanced"])
    assert balanced.standard_error == pytest.approx(case["balanced_error"], abs=1e-9)
