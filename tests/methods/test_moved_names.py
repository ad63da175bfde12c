"""Names of earlier releases: they are found where they are now, and identities do not change by a move."""

from __future__ import annotations

import pytest

from paragone.hashing import digest
from paragone.methods.method import Method, methods, resolve
from paragone.registry import MOVED, first_name, present_name

RELEASED = (
    "paragone.generate.classifiers:BoundedSVC",
    "paragone.generate.classifiers:PlainLogisticRegression",
    "paragone.generate.scouts:BoostingScout",
    "paragone.generate.scouts:ForestScout",
    "paragone.generate.screening:PortfolioScreen",
    "paragone.generate.tuned:TunedClassifier",
    "paragone.models.mlknn:MLkNN",
    "paragone.models.pls:PLS",
    "paragone.models.presets:Logistic",
    "paragone.models.recommenders.ease:EASE",
    "paragone.models.recommenders.popularity:Popularity",
    "paragone.models.recommenders.ridge:Ridge",
    "paragone.models.recommenders.smgcn.model:SMGCN",
    "paragone.rankers.base:Ranker",
    "paragone.rankers.chi2:Chi2",
    "paragone.rankers.dagfs:DAGFS",
    "paragone.rankers.imported:ImportedRanking",
    "paragone.rankers.random_order:RandomOrder",
    "paragone.rankers.relieff:ReliefF",
    "paragone.rankers.variance:Variance",
    "paragone.protocols.tuning:TunedRanker",
)


@pytest.mark.parametrize("name", RELEASED)
def test_a_name_of_an_earlier_release_is_found_and_identifies_its_class_as_before(
    name: str,
) -> None:
    found = resolve(name)
    assert found.__qualname__ == name.partition(":")[2]
    assert Method(found, {"a": 1}).identity() == digest({"class": name, "params": {"a": 1}})


def test_the_door_of_an_earlier_release_is_found() -> None:
    assert resolve("paragone.rankers:DAGFS") is resolve("dagfs")
    assert resolve("paragone.models:MLkNN") is resolve("mlknn")


def test_every_name_of_ours_goes_back_and_forth() -> None:
    for path in methods.paths().values():
        assert present_name(first_name(path)) == path
    for old in MOVED:
        assert first_name(present_name(old)) == old


def test_names_of_others_stay() -> None:
    for name in ("sklearn.svm:LinearSVC", "mine:Mine", "paragone_extras.rankers:Thing"):
        assert present_name(name) == first_name(name) == name
