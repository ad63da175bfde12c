"""The page of a collection: the matrix, the verdicts, the cards and the statement on all intervals, by second ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from paragone.generate import Collection, Evidence, GeneratedSet, GeneratorSpec
from paragone.generate.collection import ClaimRecord, OpenPair
from paragone.generate.pages import (
    collection_page,
    empty_page,
    family_statement,
    leads_table,
    pair_matrix,
    share_won,
    write_collection_page,
)
from paragone.generate.proof import ProofPlan
from paragone.page import Collapsible, words_of


def made(name, formula, aurocs, claims=()):
    evidence = Evidence(("A", "BClassifier"), np.array(aurocs))
    return GeneratedSet.of(
        name, GeneratorSpec(formula, n_features=4), 1, 7, 50, evidence, {}, claims
    )


@pytest.fixture(scope="module")
def collection():
    sure = made("product", "mul(X0, X1)", [[0.9, 0.7], [0.92, 0.71], [0.91, 0.70]])
    coin = made("sum", "add(X0, X1)", [[0.70, 0.69], [0.6, 0.95], [0.65, 0.95]])
    return Collection("two", 0.05, 100, (sure, coin))


def test_the_share_of_samples_won_is_counted_on_the_samples(collection):
    assert share_won(collection.sets[1], "A", "BClassifier") == pytest.approx(1 / 3)
    assert share_won(collection.sets[0], "A", "BClassifier") == 1
    record = ClaimRecord(
        "A", "BClassifier", 0.2, 0.1, 0.3, 0.75, True, "shown", (0.1, 0.2, -0.1, 0.3), (1, 2, 3, 4)
    )
    claimed = made("x", "mul(X0, X1)", [[0.9, 0.7]] * 2, (record,))
    assert share_won(claimed, "A", "BClassifier") == 0.75


def test_every_ordered_pair_has_its_best_lead_with_interval_and_verdict(collection):
    leads = leads_table(collection).set_index(["up", "down"])
    best = leads.loc[("A", "BClassifier")]
    differences = np.array([0.2, 0.21, 0.21])
    assert best["dataset"] == "product"
    assert best["mean"] == pytest.approx(differences.mean())
    # Student's two-sided 95 % limit with two degrees of freedom.
    assert best["low"] == pytest.approx(
        differences.mean() - 4.302653 * differences.std(ddof=1) / np.sqrt(3), abs=1e-6
    )
    assert best["verdict"] == "proven"
    assert leads.loc[("BClassifier", "A"), "verdict"] == "open"
    refuted = Collection("two", 0.05, 100, collection.sets, refuted=(("A", "BClassifier"),))
    assert leads_table(refuted)["verdict"].tolist() == ["not shown under tuning", "open"]


def test_a_proven_pair_that_is_a_coin_is_called_one():
    record = ClaimRecord(
        "A", "BClassifier", 0.2, 0.06, 0.3, 0.75, True, "shown", (0.4, 0.4, -0.1, 0.3), (1, 2, 3, 4)
    )
    item = made("x", "mul(X0, X1)", [[0.9, 0.7]] * 4, (record,))
    found = Collection("coins", 0.05, 100, (item,), ProofPlan(), 1)
    assert leads_table(found)["verdict"].iloc[0] == "proven, but a coin, not a margin"
    page = collection_page(found.inspect(), found)
    said = "\n".join(words_of(section.blocks) for section in page.sections)
    assert "A coin, not a margin: A over BClassifier on x, ahead on 75% of the samples." in said


def test_the_matrix_shows_leads_and_opens_to_their_samples(collection):
    sheet, behind = pair_matrix(collection)
    texts = [[cell.text for cell in row] for row in sheet.table.rows]
    assert texts[0] == ["A", "", "0.21 [0.19, 0.22]"]
    assert [column.name for column in sheet.table.columns] == ["ahead ↓ of →", "A", "B"]
    assert sheet.table.rows[0][2].bold
    details = behind["lead/A/BClassifier"]
    assert [value for _, value, _ in details.rows] == pytest.approx([0.2, 0.21, 0.21])
    assert "ahead on 100% of 3 samples" in details.title


def test_a_card_has_the_formula_in_mathematics_what_matters_and_what_it_proves(collection):
    page = collection_page(collection.inspect(), collection)
    section = next(one for one in page.sections if one.name == "datasets")
    card = next(
        block
        for block in section.blocks
        if isinstance(block, Collapsible) and block.title.startswith("product")
    )
    assert card.title == "product: class 1 where X₀ · X₁ ≥ 0"
    said = words_of(card.blocks)
    assert "2 of 4 columns matter, with these Shapley shares: X₀ 50%, X₁ 50%." in said
    assert "Family: parity" in said
    assert "A over BClassifier by 0.207 [0.192, 0.221], on 100% of samples." in said
    names = [figure.name for figure in page.figures()]
    assert {"formula_product", "duels"} <= set(names)


def test_a_refuted_pair_is_marked_wherever_it_is_shown(collection):
    refuted = Collection("two", 0.05, 100, collection.sets, refuted=(("A", "BClassifier"),))
    inspection = refuted.inspect()
    assert (
        inspection.findings()[-1]
        == "1 of these pairs, proven for fixed configurations, were not shown under tuning: A over"
        " BClassifier"
    )
    page = collection_page(inspection, refuted, beside=collection)
    said = {section.name: words_of(section.blocks) for section in page.sections}
    assert "were not shown under tuning: A over BClassifier" in said["holds"]
    assert "0.21 [0.19, 0.22]†" in [
        cell.text for row in pair_matrix(refuted)[0].table.rows for cell in row
    ]
    assert "0.207 [0.192, 0.221], on 100% of samples. Not shown under tuning." in said["datasets"]
    assert "1 of these pairs were not shown under tuning" in said["beside"]
    assert "were not shown when both methods were tuned: A over BClassifier" in said["how"]
    clean = collection_page(collection.inspect(), collection)
    assert not any("surviv" in words_of(section.blocks) for section in clean.sections)


def test_open_pairs_are_on_the_page_with_how_hard_each_was_tried(collection):
    tried = OpenPair(
        "BClassifier",
        "A",
        raced=7,
        raced_tuned=3,
        tried=2,
        mean=0.0123,
        low=-0.2,
        high=0.3,
        samples=8,
    )
    found = Collection("two", 0.05, 100, collection.sets, open=(tried,))
    page = collection_page(found.inspect(), found)
    fold = next(block for section in page.sections for block in section.blocks
                if isinstance(block, Collapsible) and block.title == "1 open pair")  # fmt: skip
    row = dict(
        zip(
            [c.name for c in fold.blocks[0].table.columns],
            fold.blocks[0].table.rows[0],
            strict=True,
        )
    )
    assert [row[name].text for name in ("up", "raced", "raced_tuned", "tried", "mean")] == [
        "BClassifier", "7", "3", "2", "0.012"
    ]  # fmt: skip
    assert str(tried).startswith(
        "BClassifier over A: raced 7 times, 3 of them tuned; put to proof 2 times, at best 0.012"
    )


def test_claims_that_were_measured_again_are_counted_by_their_means(collection):
    means, errors = [0.2, 0.05, 0.049, -0.01, -0.03], [0.01] * 5
    again = pd.DataFrame(
        {
            "dataset": ["product"] * 5, "up": ["A"] * 5, "down": ["BClassifier"] * 5, "printed_mean": [0.2] * 5,
            "printed_low": [0.06] * 5, "samples": [6, 6, 6, 6, 7], "mean": means, "se": errors, "share_won": [1.0] * 5,
        }
    )  # fmt: skip
    said = {
        s.name: words_of(s.blocks)
        for s in collection_page(collection.inspect(), collection, again=again).sections
    }
    assert (
        "measured again the 5 claims that had been shown, on 6 to 7 new samples each"
        in said["again"]
    )
    # A mean at the margin holds; one of two below 0 is so beyond noise.
    assert "2 of 5 mean leads are at or above 0.05 (40.0%), and 1 is below 0" in said["again"]
    assert (
        "2 of them lie below 0.05 by more than two standard errors: these claims are marked"
        in said["again"]
    )
    assert "again" not in {
        section.name for section in collection_page(collection.inspect(), collection).sections
    }


def test_the_statement_says_what_all_intervals_promise_together(collection):
    alone = " ".join(family_statement(collection))
    assert "no level for all of them together" in alone
    assert "of the 4 leads" in alone
    plan = ProofPlan(n_claims=40, looks=(6, 12, 24), trials=20)
    together = " ".join(family_statement(Collection("two", 0.05, 100, collection.sets, plan, 1)))
    assert "40 claims were allowed for" in together
    assert "at most 5%" in together


def test_a_search_that_proved_nothing_has_a_page_with_the_open_pairs(tmp_path):
    curve = pd.DataFrame(
        [{"seen": 1200, "fitted": 90, "raced": 4, "measured": 1, "failed": 2, "seconds": 90.0, "proven": 0,
          "covered": 1, "proven_concepts": 0, "pairs": 2}]
    )  # fmt: skip
    opened = pd.DataFrame({"up": ["A", "B"], "down": ["B", "A"], "tried": [1, 0]})
    nothing = Collection("none", 0.05, 100, ())
    said = words_of(empty_page(nothing, curve, opened).sections[0].blocks)
    assert "No dataset was found on which one of the methods beats another by 0.05 AUROC" in said
    assert (
        "1,200 formulas were looked at, 90 scored with the methods, 4 raced, 1 put to proof, in 1.5"
        " minutes." in said
    )
    assert "2 cells failed" in said
    page = write_collection_page(None, tmp_path / "page", nothing, curve, opened=opened)
    assert "The open pairs" in page.read_text()
