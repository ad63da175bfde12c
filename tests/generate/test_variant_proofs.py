"""Claims put to proof on variants: a family of their own, on rows of their own, kept in the collection's file."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.stats
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from known_leads import InProcess
from paragone.errors import InputError
from paragone.generate import (
    Collection,
    Contender,
    Evidence,
    GeneratedSet,
    GeneratorSpec,
    ProofPlan,
    prove_variants,
)
from paragone.generate.collection import ClaimRecord, variant_table
from paragone.generate.pages import collection_page
from paragone.generate.proof import row_seed
from paragone.generate.sampling import VariantGenerator
from paragone.generate.sets import VARIANTS
from paragone.page import words_of

METHODS = [
    Contender("NB", "sklearn.naive_bayes:GaussianNB"),
    Contender("Stump", "sklearn.tree:DecisionTreeClassifier", {"max_depth": 1}),
]
PLAN = ProofPlan(n_train=300, n_fresh=400, looks=(4, 24), n_claims=9)


@pytest.fixture(scope="module")
def collection():
    evidence = Evidence(("NB", "Stump"), np.array([[0.99, 0.7], [0.99, 0.7]]))
    held = ClaimRecord("NB", "Stump", 0.3, 0.2, 0.4, 1.0, True, "shown", (0.3, 0.3), (1, 2))
    lost = ClaimRecord(
        "Stump", "NB", -0.3, -0.4, -0.2, 0.0, False, "hopeless", (-0.3, -0.3), (1, 2)
    )
    line = GeneratorSpec("add(X0, sub(X1, X2))", n_features=3)
    item = GeneratedSet.of("one-1", line, 1, 7, 300, evidence, {}, (held, lost))
    return Collection("one", 0.05, 400, (item,), PLAN, seed=3)


@pytest.fixture(scope="module")
def proven(collection, tmp_path_factory):
    laboratory = InProcess(tmp_path_factory.mktemp("variants") / "v.sqlite")
    return (
        prove_variants(collection, laboratory, ["noisy", "small", "noisy"], methods=METHODS),
        laboratory,
    )


def test_what_holds_is_put_to_proof_on_every_variant_and_nothing_else(proven):
    found, _ = proven
    assert [(of.dataset, of.variant, of.bayes) for of in found.variants] == [
        ("one-1", "noisy", 0.95), ("one-1", "small", 1.0)
    ]  # fmt: skip
    assert [(c.up, c.down, c.holds) for of in found.variants for c in of.claims] == [
        ("NB", "Stump", True)
    ] * 2


def test_the_interval_is_that_of_a_family_of_its_own(proven):
    """Student's test with one unseen sample at half the level of the look, shared by the two claims."""
    for of in proven[0].variants:
        (claim,) = of.claims
        n = len(claim.leads)
        share = {4: (4 / 24) ** 2, 24: 1 - (4 / 24) ** 2}[n]
        values = np.array([*(np.array(claim.leads) - claim.low), -PLAN.unseen])
        found = scipy.stats.ttest_1samp(values, 0.0, alternative="greater")
        assert found.pvalue == pytest.approx(share * PLAN.alpha / 2 / 2, rel=1e-3)


def test_a_lead_is_that_of_fits_by_hand_on_the_variant_s_own_rows(collection, proven):
    item = collection.sets[0]
    for of in proven[0].variants:
        variant = VARIANTS[of.variant]
        generator = VariantGenerator.of_variant(item.generator(), variant)
        seed = row_seed("evidence", 3, f"{item.key}:{of.variant}", 0)
        assert of.claims[0].row_seeds[0] == seed != row_seed("evidence", 3, item.key, 0)
        data = generator.parts(variant.n_rows or PLAN.n_train, PLAN.n_fresh, seed)
        train = data.train_part
        assert train.sum() == (200 if of.variant == "small" else 300)
        scores = []
        for model in (GaussianNB(), DecisionTreeClassifier(max_depth=1, random_state=0)):
            model.fit(data.X[train], data.y[train])
            scores.append(roc_auc_score(data.y[~train], model.predict_proba(data.X[~train])[:, 1]))
        assert of.claims[0].leads[0] == pytest.approx(scores[0] - scores[1], abs=1e-6)


def test_a_proof_that_was_stopped_goes_on_and_ends_the_same(collection, proven, tmp_path):
    laboratory = InProcess(tmp_path / "v.sqlite")
    asked = []
    stopped = prove_variants(
        collection,
        laboratory,
        ["noisy", "small"],
        methods=METHODS,
        over=lambda: asked.append(1) or len(asked) > 1,
    )
    assert [len(of.claims) for of in stopped.variants] == [1, 0]
    assert len(stopped.variants[0].claims[0].leads) == 4
    assert prove_variants(collection, laboratory, ["noisy", "small"], methods=METHODS) == proven[0]


def test_it_is_kept_in_the_file_and_told_on_the_page(collection, proven, tmp_path):
    found, _ = proven
    found.write(tmp_path / "c.json")
    assert Collection.read(tmp_path / "c.json") == found
    collection.write(tmp_path / "plain.json")
    assert "variants" not in json.loads((tmp_path / "plain.json").read_text())
    assert len(variant_table(found.variants)) == 2
    for shown, n_proven in ((found, True), (collection, False)):
        page = collection_page(shown.inspect(), shown)
        said = next(
            words_of(section.blocks) for section in page.sections if section.name == "variants"
        )
        assert "Nothing is claimed of a variant that was not put to proof itself." in said
        assert ("noisy: 1 of 1 claims that were put to proof hold." in said) == n_proven


def test_what_cannot_be_proven_is_refused_in_a_sentence(collection, tmp_path):
    laboratory = InProcess(tmp_path / "v.sqlite")
    for which, variants, said in (
        (Collection.named("paragone-v1"), ["noisy"], "was not proven under tuning"),
        (collection, ["noizy"], "unknown variant 'noizy': did you mean 'noisy'"),
        (collection, [], "name at least one variant"),
        (collection, ["noisy"], "unknown method in a claim 'NB'"),
    ):
        with pytest.raises(InputError, match=said):
            prove_variants(which, laboratory, variants)


def test_variants_are_written_with_their_truth_and_their_note(collection, tmp_path):
    for name in VARIANTS:
        *_, manifest = collection.write_data(tmp_path / name, variant=name)
        (entry,) = json.loads(manifest.read_text())["sets"]
        table = np.loadtxt(tmp_path / name / f"one-1-{name}.csv", delimiter=",", skiprows=1)
        made = collection.sets[0].variant(name)
        np.testing.assert_array_equal(table[:, -1], made.y)
        assert (entry["variant"], entry["variant_of"], entry["n_rows"]) == (
            name,
            "one-1",
            len(table),
        )
        assert "nothing is claimed of this variant" in entry["note"]
        assert entry["truth"]["active"] == [0, 1, 2]
        noise = 0.1 if name == "noisy" else 0.0
        # Of a tenth of labels drawn anew by two even classes, a twentieth is wrong.
        assert entry["truth"]["bayes"]["roc_auc"]["value"] == pytest.approx(1 - noise / 2)
        assert entry["truth"]["bayes"]["accuracy"]["value"] == pytest.approx(
            1 - noise / 2, abs=1e-3
        )
        shares = {"balanced": [0.5, 0.5], "imbalanced": [0.9, 0.1]}.get(name)
        if shares:
            assert entry["truth"]["class_shares"] == shares
