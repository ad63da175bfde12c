"""Corrections against statsmodels, against brute force over hypotheses, and their laws."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from paragone.errors import InputError
from paragone.stats import corrections
from paragone.stats.corrections import exhaustive_sets, shaffer_factors

ANY_FAMILY = ["bonferroni", "holm", "hochberg", "hommel", "benjamini_hochberg"]
ALL_PAIRS = ["shaffer", "bergmann_hommel"]
STATSMODELS = {
    "bonferroni": "bonferroni",
    "holm": "holm",
    "hochberg": "simes-hochberg",
    "hommel": "hommel",
    "benjamini_hochberg": "fdr_bh",
}
P_VALUE = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.02, 0.05, 1.0]))
FAMILY = st.lists(P_VALUE, min_size=1, max_size=15)
PAIRS = st.integers(2, 6).flatmap(
    lambda k: st.lists(P_VALUE, min_size=k * (k - 1) // 2, max_size=k * (k - 1) // 2)
)


def n_methods(p):
    return next(k for k in range(2, 20) if k * (k - 1) // 2 == len(p))


def groupings(methods):
    """Yield all ways to put the methods into groups of equals, by adding one method at a time."""
    if not methods:
        yield []
        return
    head, *rest = methods
    for grouping in groupings(rest):
        yield [[head], *grouping]
        for i, group in enumerate(grouping):
            yield [*grouping[:i], [head, *group], *grouping[i + 1 :]]


def sets_that_can_be_true(k):
    pairs = list(combinations(range(k), 2))
    found = set()
    for grouping in groupings(list(range(k))):
        where = {m: g for g, group in enumerate(grouping) for m in group}
        found.add(frozenset(i for i, (a, b) in enumerate(pairs) if where[a] == where[b]))
    return found - {frozenset()}


def brute_bergmann_hommel(p):
    p = np.asarray(p)
    raw = np.zeros(p.size)
    for true_set in sets_that_can_be_true(n_methods(p)):
        members = sorted(true_set)
        raw[members] = np.maximum(raw[members], len(members) * p[members].min())
    return np.array([min(1.0, raw[p <= own].max()) for own in p])


def brute_shaffer(p):
    """Step down; at each step ask how many of the pairs could be true if those before are false."""
    p = np.asarray(p)
    sizes = {len(s) for s in sets_that_can_be_true(n_methods(p))} | {0}
    order, adjusted, highest = np.argsort(p, kind="stable"), np.empty(p.size), 0.0
    for step, index in enumerate(order):
        possible = max(size for size in sizes if size <= p.size - step)
        highest = max(highest, possible * p[index])
        adjusted[index] = min(1.0, highest)
    return adjusted


@pytest.mark.parametrize("name", ANY_FAMILY)
@given(FAMILY)
def test_statsmodels_agrees(name, p):
    expected = multipletests(p, method=STATSMODELS[name])[1]
    assert getattr(corrections, name)(p) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(PAIRS)
def test_shaffer_equals_brute_force_over_hypotheses(p):
    assert corrections.shaffer(p) == pytest.approx(brute_shaffer(p), abs=1e-12)


@settings(max_examples=40)
@given(PAIRS)
def test_bergmann_hommel_equals_brute_force_over_hypotheses(p):
    assert corrections.bergmann_hommel(p) == pytest.approx(brute_bergmann_hommel(p), abs=1e-12)


@pytest.mark.parametrize("k", range(2, 8))
def test_exhaustive_sets_are_those_of_brute_force(k):
    ours = {frozenset(np.flatnonzero(row).tolist()) for row in exhaustive_sets(k)}
    assert len(ours) == len(exhaustive_sets(k))
    assert ours == sets_that_can_be_true(k)


@pytest.mark.parametrize("name", ANY_FAMILY + ALL_PAIRS)
@given(PAIRS)
def test_adjusted_p_is_never_below_raw_and_keeps_the_order(name, p):
    raw, adjusted = np.asarray(p), getattr(corrections, name)(p)
    assert (adjusted >= raw - 1e-15).all()
    assert (adjusted <= 1).all()
    order = np.argsort(raw, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


@pytest.mark.parametrize("name", [*ANY_FAMILY, "shaffer"])
@given(PAIRS, st.randoms())
def test_order_of_the_tests_changes_nothing(name, p, random):
    places = list(range(len(p)))
    random.shuffle(places)
    correct = getattr(corrections, name)
    assert (correct([p[i] for i in places]) == correct(p)[places]).all()


@given(PAIRS, st.randoms())
def test_names_of_the_methods_do_not_matter_to_bergmann_hommel(p, random):
    k = n_methods(p)
    pairs = list(combinations(range(k), 2))
    renamed = list(range(k))
    random.shuffle(renamed)
    place = [pairs.index(tuple(sorted((renamed[a], renamed[b])))) for a, b in pairs]
    moved = np.empty(len(p))
    moved[place] = p
    assert corrections.bergmann_hommel(moved)[place] == pytest.approx(
        corrections.bergmann_hommel(p)
    )


@given(PAIRS)
def test_stronger_corrections_never_give_larger_p(p):
    by = {name: getattr(corrections, name)(p) for name in ANY_FAMILY + ALL_PAIRS}
    slack = 1e-12
    assert (by["holm"] <= by["bonferroni"] + slack).all()
    assert (by["hochberg"] <= by["holm"] + slack).all()
    assert (by["hommel"] <= by["hochberg"] + slack).all()
    assert (by["shaffer"] <= by["holm"] + slack).all()
    assert (by["bergmann_hommel"] <= by["shaffer"] + slack).all()
    assert (by["benjamini_hochberg"] <= by["hommel"] + slack).all()


@pytest.mark.known_answer
@pytest.mark.parametrize("variant", ["rounded_table", "untied_variant_matching_paper"])
@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("bonferroni", "p_bonferroni"),
        ("holm", "p_holm"),
        ("hochberg", "p_hochberg"),
        ("hommel", "p_hommel"),
        ("shaffer", "p_shaffer_static"),
        ("bergmann_hommel", "p_bergmann_hommel"),
    ],
)
def test_known_answers_of_the_rank_family(data_folder, variant, name, key):
    oracle = json.loads((data_folder / "stats" / "oracle_reference.json").read_text())[variant]
    family = oracle["pairwise_rank_z"]
    assert getattr(corrections, name)(family["p_raw"]) == pytest.approx(family[key], abs=1e-9)
    assert list(shaffer_factors(4)) == family["shaffer_t"]
    assert len(exhaustive_sets(4)) == family["n_exhaustive_sets"]
    control = oracle["control_C4.5_rank_z"]
    if key in control:
        assert getattr(corrections, name)(control["p_raw"]) == pytest.approx(control[key], abs=1e-9)


@pytest.mark.known_answer
def test_holm_of_the_exact_wilcoxon_p_values(data_folder):
    oracle = json.loads((data_folder / "stats" / "oracle_reference.json").read_text())[
        "rounded_table"
    ]
    for zeros in oracle["wilcoxon_rounded_differences"].values():
        raw = [answer["p_two_sided"] for answer in zeros["exact_conditional"]]
        assert corrections.holm(raw) == pytest.approx(zeros["exact_p_holm"], abs=1e-12)


def test_families_that_are_not_all_pairs_are_refused():
    with pytest.raises(InputError, match="all pairs"):
        corrections.shaffer([0.1, 0.2])
    with pytest.raises(InputError, match="at most 9"):
        corrections.bergmann_hommel(np.full(45, 0.5))


@pytest.mark.parametrize("bad", [[], [1.2], [-0.1], [float("nan")], [[0.1]]])
def test_values_that_are_no_p_values_are_refused(bad):
    with pytest.raises(InputError, match="between 0 and 1"):
        corrections.holm(bad)
