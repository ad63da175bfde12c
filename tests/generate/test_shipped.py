"""What is claimed of the collection in the package follows from its evidence, and can be measured again."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from known_leads import limits_by_bisection
from paragone.generate.collection import Collection
from paragone.generate.laboratory import Laboratory
from paragone.generate.methods import reference_method, reference_methods
from paragone.generate.proof import measure, tuned_fits
from paragone.generate.sets import evolved_entries, make_evolved
from paragone.generate.shipped import digen_measured, measured_again, read_fits, search_curve


@pytest.fixture(scope="module")
def shipped():
    return Collection.named("paragone-v1")


def test_it_proves_thirty_pairs_by_fifteen_concepts_on_enough_rows_and_samples(shipped):
    assert len(shipped.covered()) >= 30
    assert len({item.concept for item in shipped.sets}) >= 15
    assert shipped.evidence_rows >= 20_000
    assert shipped.margin == 0.05
    names = [method.name for method in reference_methods()]
    for item in shipped.sets:
        assert list(item.aurocs) == names
        assert min(map(len, item.aurocs.values())) >= 10
        assert item.evidence().proven(0.05), f"{item.name} proves nothing"


def test_a_bound_is_what_the_t_test_says(shipped):
    from scipy.stats import ttest_rel

    for item in shipped.sets:
        evidence = item.evidence()
        for up, down in evidence.proven(0.05):
            a, b = np.array(item.aurocs[up]), np.array(item.aurocs[down])
            test = ttest_rel(a, b + 0.05, alternative="greater")
            # Student's two-sided interval of 95 % lies above the margin where the one-sided p is
            # below .025.
            assert test.pvalue < 0.0250001


@pytest.mark.slow
def test_its_concepts_are_those_that_inspect_finds(shipped):
    found = shipped.inspect()
    assert found.n_concepts == len({item.concept for item in shipped.sets}) >= 15
    assert not found.duplicates
    assert (found.sets["ceiling"] == 1).all()
    assert len(found.open_pairs) == 56 - len(shipped.covered())


def test_the_population_gives_the_same_labels_as_the_stored_cut(shipped):
    for item, entry in list(zip(shipped.sets, evolved_entries("paragone-v1"), strict=True))[:5]:
        np.testing.assert_array_equal(item.load().y, make_evolved(entry).y)


@pytest.mark.slow
@pytest.mark.parametrize("position", [0, 1, -1])
def test_the_evidence_comes_out_again_for_every_method(shipped, position, tmp_path):
    item = shipped.sets[position]
    configured = [(reference_method(name), params) for name, params in item.parameters.items()]
    with Laboratory(tmp_path / "again.sqlite") as laboratory:
        sizes = {"n_train": item.n_rows, "n_fresh": shipped.evidence_rows, "n_seeds": 2}
        again = measure("again", item.generator(), configured, laboratory, **sizes)
    kept = np.array([item.aurocs[name][:2] for name in again.methods]).T
    np.testing.assert_allclose(again.aurocs, kept, atol=2e-6)


def test_the_search_took_less_than_an_hour_and_ends_with_what_is_shipped(shipped):
    curve = search_curve("paragone-v1")
    assert curve["seconds"].iloc[-1] < 3600
    assert curve["seconds"].is_monotonic_increasing
    assert curve["proven"].iloc[-1] == len(shipped.covered())


def test_digen_is_measured_the_same_way(shipped):
    measured = digen_measured()
    assert measured.evidence_rows == shipped.evidence_rows
    assert measured.margin == shipped.margin
    assert len(measured.sets) == 40
    assert {item.concept for item in measured.sets} == set(range(1, 21))
    assert 30 <= len(measured.covered()) < len(shipped.covered())
    assert min(len(values) for item in measured.sets for values in item.aurocs.values()) >= 10


@pytest.fixture(scope="module")
def tuned():
    return Collection.named("paragone-v2")


def test_the_tuned_collection_has_thirty_concepts_and_tells_how_hard_open_pairs_were_tried(tuned):
    names = [method.name for method in reference_methods()]
    concepts = Counter(item.concept for item in tuned.sets)
    assert len(concepts) >= 30
    assert max(concepts.values()) <= 3
    assert tuned.margin == 0.05
    # Every dataset has rows of its own.
    assert (
        len({item.x_hash for item in tuned.sets})
        == len({item.seed for item in tuned.sets})
        == len(tuned.sets)
    )
    assert all(list(item.aurocs) == names and item.proven(tuned.margin) for item in tuned.sets)
    # What is not proven is listed, and nothing else.
    opened = {(pair.up, pair.down) for pair in tuned.open}
    assert opened == set(permutations(names, 2)) - set(tuned.covered())
    assert all(pair.raced or not pair.tried for pair in tuned.open)
    assert tuned.surviving() == tuned.covered()


def test_every_interval_of_the_tuned_collection_follows_from_its_fits_by_a_second_way(tuned):
    fits, plan = read_fits("paragone-v2"), tuned.plan
    scores = {(row.formula, row.method, row.sample): row.score for row in fits.itertuples()}
    n_claims = 0
    for item in tuned.sets:
        for claim in item.claims:
            n = len(claim.leads)
            leads = [
                scores[item.formula, claim.up, i] - scores[item.formula, claim.down, i]
                for i in range(n)
            ]
            np.testing.assert_allclose(claim.leads, leads, atol=1e-6)
            low, high = limits_by_bisection(leads, plan)
            assert (claim.low, claim.high) == pytest.approx((low, high), abs=1e-6)
            assert (claim.holds or claim.ending == "not confirmed") == (low >= tuned.margin)
            n_claims += 1
    assert 80 <= n_claims <= plan.n_claims == 150
    # Tuning cannot do better than perfect, and every configuration is one of the method's own
    # space.
    assert fits["score"].between(0, 1).all()
    spaces = {method.name: set(method.space) for method in reference_methods()}
    for row in fits.itertuples():
        assert spaces[row.method] >= set(row.parameters) or row.parameters in portfolio_of(
            row.method
        )


def portfolio_of(name):
    return [dict(params) for params in reference_method(name).portfolio]


def test_no_row_of_the_evidence_is_shown_or_shared_by_two_datasets(tuned):
    fits = read_fits("paragone-v2")
    per_formula = fits.groupby("formula")["row_seed"].agg(set)
    # A sample is one seed, the same for all methods of a dataset, and never that of another
    # dataset.
    assert fits.groupby(["formula", "sample"])["row_seed"].nunique().max() == 1
    assert sum(map(len, per_formula)) == len(set().union(*per_formula))
    assert not {item.seed for item in tuned.sets} & set().union(*per_formula)


def test_the_claims_hold_when_a_second_script_measures_them_again(tuned):
    again = measured_again("paragone-v2").set_index(["dataset", "up", "down"])
    shown = {
        (item.name, c.up, c.down): c
        for item in tuned.sets
        for c in item.claims
        if c.low >= tuned.margin
    }
    assert set(again.index) == set(shown)
    assert again["samples"].min() >= 8
    assert (again["mean"] >= tuned.margin).mean() >= 0.95
    assert not (again["mean"] + 2 * again["se"] < 0).any()
    # What fell below the margin beyond noise is no longer claimed, and nothing else was taken back.
    lost = again["mean"] + 2 * again["se"] < tuned.margin
    assert {key: claim.holds for key, claim in shown.items()} == (~lost).to_dict()
    assert {claim.ending for key, claim in shown.items() if lost[key]} == {"not confirmed"}


@pytest.mark.slow
@pytest.mark.parametrize("position", [0, 7, -1])
def test_a_fit_of_the_tuned_collection_comes_out_again(tuned, position, tmp_path):
    """Rows, tuning and score follow from what is recorded, to the sixth decimal, on whatever machine."""
    item = tuned.sets[position]
    kept = (
        read_fits("paragone-v2").query("dataset == @item.name and sample == 0").set_index("method")
    )
    cheap = ["LogisticRegression", "DecisionTreeClassifier", "KNeighborsClassifier"]
    with Laboratory(tmp_path / "again.sqlite") as laboratory:
        methods = [reference_method(name) for name in cheap]
        fits = tuned_fits(
            item.generator(), methods, laboratory, tuned.plan, tuned.seed, [0], key=item.key
        )
    for name in cheap:
        assert fits[name, 0].row_seed == kept.loc[name, "row_seed"]
        assert fits[name, 0].score == pytest.approx(kept.loc[name, "score"], abs=2e-6)
