"""Proving: what is raced, what a race decides, and that only full measurements count."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.data.digen import Expression
from paragone.generate.concepts import ConceptBook, EliteArchive, ScreenedFormula
from paragone.generate.evidence import Evidence
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.laboratory import Laboratory
from paragone.generate.proving import Prover

METHODS = {
    "LR": {"use": "paragone.generate.classifiers:PlainLogisticRegression"},
    "Tree": {"use": "sklearn.tree:DecisionTreeClassifier", "portfolio": [{"max_depth": 4}]},
}
SPEC = EvolveSpec(
    "p", n_train=300, n_test=400, n_features=3, evidence_seeds=4, evidence_rows=500, concepts=2, methods=METHODS
)
PAIRS = ((0, 1), (1, 0))
SQUARE, LINE, PRODUCT = "mul(X0, X0)", "add(X0, add(X1, X2))", "mul(X0, X1)"


def candidate(text, linear, tree):
    return ScreenedFormula(Expression.parse(text), np.array([linear, tree]), (0, 0), 1)


BOOK = ConceptBook(3)
"""One for all archives: numbers of concepts must mean the same in each."""


def archive(*candidates):
    kept = EliteArchive(2, BOOK)
    for one in candidates:
        kept.offer(one)
    return kept


@pytest.fixture
def prover(tmp_path):
    return Prover(SPEC, SPEC.contenders(), Laboratory(tmp_path / "p.sqlite"), PAIRS)


def go(prover, kept, n):
    return prover.advance(kept, n, lambda: False)


def test_a_winner_is_measured_and_proves_its_pair(prover):
    assert go(prover, archive(candidate(SQUARE, 0.5, 1.0)), 1) == 1
    assert dict(prover.proven) == {(1, 0): 1}
    assert [item.formula for item in prover.measured] == [SQUARE]
    assert prover.measured[0].aurocs["LR"] != prover.measured[0].aurocs["Tree"]
    assert len(prover.measured[0].aurocs["LR"]) == 4
    assert prover.n_concepts == 1


def test_a_candidate_whose_lead_was_luck_is_raced_once_and_never_measured(prover):
    lucky = archive(candidate(SQUARE, 0.7, 0.6))
    assert go(prover, lucky, 3) == 1
    assert (prover.n_raced, prover.measured, dict(prover.proven)) == (1, [], {})
    # What failed at a lead of .1 is not tried again with less.
    assert go(prover, archive(candidate(PRODUCT, 0.69, 0.6)), 1) == 0
    assert go(prover, archive(candidate(PRODUCT, 0.72, 0.6)), 1) == 1


def test_nothing_is_raced_that_adds_neither_a_pair_nor_a_concept(prover):
    go(prover, archive(candidate(SQUARE, 0.5, 1.0)), 1)
    assert go(prover, archive(candidate("mul(X1, X1)", 0.5, 1.0)), 2) == 0
    assert go(prover, archive(candidate("max(mul(X0, X0), mul(X1, X1))", 0.5, 0.9)), 2) == 1
    assert prover.n_concepts == 2
    # Two concepts were asked for: a third one for a proven pair is not measured.
    assert go(prover, archive(candidate("min(mul(X0, X0), mul(X1, X1))", 0.5, 0.8)), 2) == 0


def test_open_pairs_come_before_concepts_and_time_stops_everything(prover):
    kept = archive(candidate(SQUARE, 0.5, 1.0), candidate(LINE, 1.0, 0.9))
    assert prover.advance(kept, 2, lambda: True) == 0
    assert go(prover, kept, 2) == 2
    assert set(prover.proven) == set(PAIRS)


def test_a_race_is_won_by_the_bound_that_the_measurement_would_have(prover):
    leads = np.array([0.10, 0.12, 0.08])
    race = Evidence(("LR", "Tree"), np.column_stack([leads, np.zeros(3)]))
    # Student's quantile for 3 degrees of freedom, 3.182, and four samples.
    assert prover._foreseen(race, (0, 1)) == pytest.approx(0.1 - 3.182446 * 0.02 / 2, abs=1e-6)
    assert prover._foreseen(race, (1, 0)) == pytest.approx(-0.1 - 3.182446 * 0.02 / 2, abs=1e-6)
