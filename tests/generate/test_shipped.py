"""What is claimed of the collection in the package follows from its evidence, and can be measured again."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.data.evolved import entries, make_evolved
from paragone.generate.collection import Collection
from paragone.generate.evidence import measure
from paragone.generate.laboratory import Laboratory
from paragone.generate.methods import reference_method, reference_methods
from paragone.generate.shipped import digen_measured, search_curve


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
            # Student's two-sided interval of 95 % lies above the margin where the one-sided p is below .025.
            assert test.pvalue < 0.0250001


@pytest.mark.slow
def test_its_concepts_are_those_that_inspect_finds(shipped):
    found = shipped.inspect()
    assert found.n_concepts == len({item.concept for item in shipped.sets}) >= 15
    assert not found.duplicates
    assert (found.sets["ceiling"] == 1).all()
    assert len(found.open_pairs) == 56 - len(shipped.covered())


def test_the_population_gives_the_same_labels_as_the_stored_cut(shipped):
    for item, entry in list(zip(shipped.sets, entries("paragone-v1"), strict=True))[:5]:
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
