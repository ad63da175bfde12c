"""Races and the docket: what is raced, what a race decides, and that proofs steer nothing."""

from __future__ import annotations

import numpy as np
import pytest

from known_leads import InProcess
from paragone.generate.concepts import ConceptBook, EliteArchive, ScreenedFormula
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.expressions import Expression
from paragone.generate.proof import Evidence
from paragone.generate.proving import Prover

METHODS = {
    "LR": {"use": "paragone.generate.classifiers:PlainLogisticRegression"},
    "Tree": {"use": "sklearn.tree:DecisionTreeClassifier", "portfolio": [{"max_depth": 4}]},
}
SPEC = EvolveSpec(
    "p", n_train=300, n_test=400, n_features=3, looks=(4, 12), claims=4, evidence_rows=500, concepts=2, race_seeds=2,
    methods=METHODS,
)  # fmt: skip
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
    return Prover(SPEC, SPEC.contenders(), InProcess(tmp_path / "p.sqlite"), PAIRS)


def go(prover, kept, n):
    return prover.advance(kept, n, lambda: False)


def formulas(prover):
    return [entry.generator.formula for entry in prover.docket]


def test_a_winner_is_put_down_and_proves_its_pair(prover):
    assert go(prover, archive(candidate(SQUARE, 0.5, 1.0)), 1) == 1
    assert dict(prover.promised) == {(1, 0): 1}
    assert formulas(prover) == [SQUARE]
    assert prover.n_concepts == 1
    assert prover.measured() == ()
    verdict = prover.prove_next(lambda: False)
    (claim,) = verdict.item.claims
    assert (claim.up, claim.down, claim.holds, claim.share_won) == ("Tree", "LR", True, 1.0)
    assert len(claim.leads) == 12
    # All methods are shown on the samples of the first look.
    assert {name: len(values) for name, values in verdict.item.aurocs.items()} == {
        "LR": 4,
        "Tree": 4,
    }
    assert prover.proven() == ({("Tree", "LR")}, 1)
    assert prover.prove_next(lambda: False) is None


def test_a_candidate_whose_lead_was_luck_is_raced_once_and_never_put_down(prover):
    lucky = archive(candidate(SQUARE, 0.7, 0.6))
    assert go(prover, lucky, 3) == 1
    assert (prover.n_raced, prover.docket, dict(prover.promised)) == (1, [], {})
    # What failed at a lead of .1 is not tried again with less.
    assert go(prover, archive(candidate(PRODUCT, 0.69, 0.6)), 1) == 0
    assert go(prover, archive(candidate(PRODUCT, 0.72, 0.6)), 1) == 1


def test_nothing_is_raced_that_adds_neither_a_pair_nor_a_concept(prover):
    go(prover, archive(candidate(SQUARE, 0.5, 1.0)), 1)
    assert go(prover, archive(candidate("mul(X1, X1)", 0.5, 1.0)), 2) == 0
    assert go(prover, archive(candidate("max(mul(X0, X0), mul(X1, X1))", 0.5, 0.9)), 2) == 1
    assert prover.n_concepts == 2
    # Two concepts were asked for: a third one for a pair that is claimed already is not raced.
    assert go(prover, archive(candidate("min(mul(X0, X0), mul(X1, X1))", 0.5, 0.8)), 2) == 0


def test_time_stops_races_and_proofs(prover):
    kept = archive(candidate(SQUARE, 0.5, 1.0))
    assert prover.advance(kept, 2, lambda: True) == 0
    assert go(prover, kept, 1) == 1
    assert prover.prove_next(lambda: True) is None


def test_no_more_is_put_down_than_the_family_holds(prover):
    prover.spec = EvolveSpec(**{**vars(SPEC), "claims": 1})
    kept = archive(
        candidate(SQUARE, 0.5, 1.0), candidate("max(mul(X0, X0), mul(X1, X1))", 0.5, 0.9)
    )
    assert go(prover, kept, 2) == 1
    assert prover.room == 0


def test_a_dataset_claims_all_open_pairs_and_few_that_others_claim(prover):
    scored = ScreenedFormula(Expression.parse(SQUARE), np.array([0.5, 0.6, 0.75, 0.9]), (0,) * 4, 1)
    won = [(1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (3, 2)]
    assert set(prover._worth_claiming(scored, won)) == set(won)
    prover.promised.update({(1, 0): 1, (2, 0): 1, (3, 0): 2, (2, 1): 1, (3, 1): 1})
    # One is open; of those that one dataset claims, the two with the largest leads.
    assert prover._worth_claiming(scored, won) == ((3, 2), (3, 1), (2, 0))


def test_a_race_is_won_by_the_bound_that_the_last_look_would_have(prover):
    leads = np.array([0.40, 0.42, 0.38])
    race = Evidence(("LR", "Tree"), np.column_stack([leads, np.zeros(3)]))
    # Twelve samples with a variance of .0004 and one unseen one: Student's test at the last look's
    # level by hand.
    from scipy.stats import t

    low = prover._foreseen(race, (0, 1))
    squares, x = 0.0004 * 11, 0.4 - low
    mean, variance = (12 * x - 0.5) / 13, (squares + 12 / 13 * (x + 0.5) ** 2) / 12
    level = 0.05 / 4 * (1 - (4 / 12) ** 2) / 2
    assert mean / np.sqrt(variance / 13) == pytest.approx(t.ppf(1 - level, 12), rel=1e-9)
    assert prover._foreseen(race, (1, 0)) == pytest.approx(low - 0.8, abs=1e-12)


def test_what_the_proof_comes_to_steers_nothing(tmp_path):
    """Two searches, one of them proving as it goes: they race, put down and weigh the same."""
    from paragone.generate.evolution import Evolution

    spec = EvolveSpec(**{**vars(SPEC), "generations": 2, "batch": 8, "chunk": 8, "claims": 1})
    found = []
    for proves in (False, True):
        evolution = Evolution(spec, InProcess(tmp_path / f"{proves}.sqlite"))
        for _ in range(spec.generations):
            evolution.step()
            if proves:
                evolution.prove(lambda _: None, lambda: False)
        seen = evolution.breeder.counts, evolution.prover.n_raced, formulas(evolution.prover)
        found.append((seen, evolution._weights(), evolution.prover._bars))
        assert bool(evolution.prover.verdicts) == proves
    assert found[0] == found[1]
