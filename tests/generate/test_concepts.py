"""Concepts: invariant under renaming, signs, flips and monotone transforms; what the DIGEN collection holds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from paragone.generate.concepts import (
    ConceptBook,
    active_features,
    agreements,
    group_concepts,
    signature,
)
from paragone.generate.expressions import Expression
from paragone.generate.inspection import (
    Specimen,
    duel_matrix,
    inspect_digen,
    inspect_sets,
    open_pairs,
)
from paragone.generate.sampling import Threshold
from paragone.generate.sets import digen_entries, digen_features


@pytest.fixture(scope="module")
def digen():
    return inspect_digen()


def parsed(text: str) -> Expression:
    return Expression.parse(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mul(X0, X1)", "mul(X7, X3)"),
        ("mul(X0, X1)", "safeDiv(X1, X0)"),
        ("mul(X0, mul(X1, X2))", "sub(1.0, safeDiv(X5, mul(X4, X3)))"),
        ("lt(X0, X1)", "add(X4, X9)"),
        ("max(X0, X1)", "min(X0, X1)"),
        ("mul(X3, X3)", "sub(0.0, mul(X6, X6))"),
    ],
)
def test_names_signs_flips_and_monotone_transforms_do_not_make_a_concept(one, other):
    assert signature(parsed(one)).agreement(signature(parsed(other))) > 0.98


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mul(X0, X1)", "add(X0, X1)"),
        ("mul(X0, X1)", "mul(X0, mul(X1, X2))"),
        ("X0", "mul(X0, X0)"),
    ],
)
def test_different_problems_are_different_concepts(one, other):
    assert signature(parsed(one)).agreement(signature(parsed(other))) < 0.9


def test_the_key_is_the_same_for_every_naming_sign_and_flip():
    texts = ("mul(X0, X1)", "mul(X7, X3)", "sub(0.0, mul(X2, X9))", "safeDiv(X1, X0)")
    assert len({signature(parsed(text), Threshold(0.0)).key for text in texts}) == 1
    assert (
        signature(parsed("add(X0, X1)"), Threshold(0.0)).key
        != signature(parsed(texts[0]), Threshold(0.0)).key
    )


def test_active_features_are_those_that_change_labels():
    assert active_features(parsed("add(X3, mul(0.0, X1))")) == (3,)
    assert sorted(active_features(parsed("lt(X0, gt(X1, 50.0))"))) == [0]
    assert active_features(parsed("add(mul(X2, 9.0), X5)")) == (2, 5)


def test_agreeing_chains_are_one_concept():
    thresholds = [Threshold(c) for c in (0.0, 0.035, 0.07)]
    chain = [signature(parsed("X0"), threshold) for threshold in thresholds]
    assert chain[0].agreement(chain[2]) < 0.98 < chain[0].agreement(chain[1])
    assert group_concepts(agreements(chain)) == (0, 0, 0)
    assert group_concepts(agreements([chain[0], chain[2]])) == (0, 1)


def test_a_block_of_ties_goes_to_the_side_that_has_more_of_it():
    assert Threshold.halving(np.array([0.0, 0.0, 0.0, 1.0])).label(
        np.array([0.0, 1.0])
    ).tolist() == [0, 1]
    assert Threshold.halving(np.array([0.0, 1.0, 1.0, 1.0])).label(
        np.array([0.0, 1.0])
    ).tolist() == [0, 1]
    assert Threshold.halving(np.array([1.0, 2.0, 3.0, 4.0])).value == 2.5
    near = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert Threshold.halving(near).label(near).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("min(mul(X0,X0),min(mul(X1,X1),min(mul(X2,X2),min(mul(X3,X3),min(mul(X4,X4),min(mul(X5,X5),mul(X6,X6)))))))",
         "min(mul(X9,X9),min(mul(X3,X3),min(mul(X7,X7),min(mul(X2,X2),min(mul(X8,X8),min(mul(X5,X5),mul(X4,X4)))))))"),
        ("mul(X0, mul(X1, mul(X2, mul(X3, mul(X4, X5)))))",
         "sub(0.0, mul(X9, mul(X8, mul(X7, mul(X6, mul(X3, X1))))))"),
        ("add(X0, add(X1, add(X2, add(X3, add(X4, mul(X5, X6))))))",
         "sub(mul(X3, X8), add(X9, add(X1, add(X2, add(X5, X0)))))"),
    ],
)  # fmt: skip
def test_many_features_are_placed_too(one, other):
    first, second = signature(parsed(one)), signature(parsed(other))
    assert first.is_wide
    assert first.agreement(second) > 0.98
    assert second.agreement(first) > 0.98
    book = ConceptBook(10)
    assert book.number(parsed(one)) == book.number(parsed(other))


def test_many_features_do_not_make_unlike_problems_alike():
    sums = signature(parsed("add(X0, add(X1, add(X2, add(X3, add(X4, X5)))))"))
    product = signature(parsed("mul(X0, mul(X1, mul(X2, mul(X3, mul(X4, X5)))))"))
    assert sums.agreement(product) < 0.9


def test_a_feature_that_hardly_matters_does_not_hide_agreement():
    plain, more = (
        signature(parsed(text)) for text in ("mul(X0, X1)", "mul(add(X0, mul(0.03, X2)), X1)")
    )
    assert len(more.placed) > len(plain.placed)
    assert plain.agreement(more) == more.agreement(plain) > 0.98


def test_the_forty_are_twenty_concepts(digen):
    assert digen.n_concepts == 20
    assert digen.concept_sizes == (14, 4, 3, 2, 2) + (1,) * 15


@pytest.mark.slow
def test_where_the_count_of_concepts_is_sensitive():
    own = agreements([signature(s.expression, s.threshold) for s in digen_specimens()])
    middle = agreements([signature(s.expression) for s in digen_specimens()])
    assert [
        len(set(group_concepts(own, least))) for least in (0.96, 0.97, 0.975, 0.98, 0.985, 0.99)
    ] == [
        19,
        19,
        20,
        20,
        20,
        23,
    ]
    assert [len(set(group_concepts(middle, least))) for least in (0.96, 0.97, 0.98, 0.99)] == [
        19,
        19,
        19,
        19,
    ]


def digen_specimens():
    return [
        Specimen.halved(e.name, e.expression(), digen_features(e.seed)) for e in digen_entries()
    ]


def test_every_set_names_the_other_that_it_agrees_with_most(digen):
    rows = digen.sets.set_index("dataset")
    for row in digen.sets.itertuples():
        assert row.nearest != row.dataset
        assert (rows.loc[row.nearest, "concept"] == row.concept) or row.agreement < 0.98
        assert 0.5 <= row.agreement <= 1


def test_one_formula_in_two_spellings_is_a_duplicate():
    X = np.random.default_rng(0).normal(size=(200, 3))
    texts = ["mul(X0, X1)", "add(X0, X1)", "mul(X1, X0)"]
    specimens = [Specimen.halved(f"s{i}", parsed(text), X) for i, text in enumerate(texts)]
    found = inspect_sets("three", specimens, pd.DataFrame(), basis="")
    assert found.duplicates == (("s0", "s2"),)
    assert any("several spellings: s0, s2" in said for said in found.findings())


def test_the_largest_concept_is_the_sign_parity_of_three_features(digen):
    concept = digen.sets["concept"].mode()[0]
    members = digen.sets.loc[digen.sets["concept"] == concept]
    parity = signature(parsed("mul(X0, mul(X1, X2))"))
    assert len(members) == 14
    assert all(signature(parsed(text)).agreement(parity) > 0.98 for text in members["formula"])


def test_label_noise_is_what_ties_decided(digen):
    noise = digen.sets.set_index("dataset")["noise"]
    assert noise["digen29_8322"] == 0.191
    assert noise["digen15_5311"] == 0.049
    assert noise["digen5_6949"] == 0.039
    assert (noise > 0).sum() == 14
    ceiling = digen.sets.set_index("dataset")["ceiling"]
    assert ((ceiling == 1) == (noise == 0)).all()


def test_the_published_scores_leave_seventeen_pairs_open(digen):
    assert digen.n_pairs == 56
    assert len(digen.open_pairs) == 17
    assert ("LogisticRegression", "SVC") in digen.open_pairs
    assert any("20 concepts" in finding for finding in digen.findings())


def test_the_duel_matrix_counts_wins_by_the_margin():
    scores = [{"A": 0.75, "B": 0.7, "C": 0.1}, {"A": 0.5, "B": 0.9, "C": 0.9}]
    expected = pd.DataFrame(
        [[0, 1, 1], [1, 0, 1], [1, 0, 0]], index=list("ABC"), columns=list("ABC")
    )
    pd.testing.assert_frame_equal(duel_matrix(scores, list("ABC")), expected)
    assert open_pairs(expected) == (("C", "B"),)
