"""A duel of two methods: every number of its proofs by a second way, the honest sentence, going on where it stopped."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from paragone.data import load
from paragone.errors import InputError
from paragone.generate import Collection, Contender, GeneratorSpec, Laboratory
from paragone.generate.charts import learning_chart, search_chart
from paragone.generate.duels import (
    STORE,
    DuelPlan,
    DuelResult,
    ProvenSet,
    Raced,
    distinct_names,
    duel,
    learning_curves,
    proven_sets,
    shown_seed,
)
from paragone.generate.pages import (
    claims_chart,
    coin_sentence,
    crossing,
    duel_page,
    fits_table,
    write_duel,
)
from paragone.generate.proof import LeadClaim, Proof, TunedFit
from paragone.generate.truth import truth_sheet
from paragone.stats import Interval

LINEAR = Contender("Linear", "sklearn.linear_model:LogisticRegression")
TREE = Contender("Tree", "sklearn.tree:DecisionTreeClassifier", {"max_depth": 4})
SMALL = DuelPlan(
    minutes=0.02,
    seed=3,
    rows=80,
    features=3,
    trials=1,
    folds=2,
    finalists=1,
    looks=(12,),
    fresh=200,
    batch=6,
)


@pytest.fixture(scope="module")
def fought(tmp_path_factory):
    """A fight whose minutes are over after the first generation, with races and proofs as if there were time."""
    folder = tmp_path_factory.mktemp("fight") / "linear-tree"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("paragone.generate.duels.PROOF_SHARE", 1e9)
        result = duel(LINEAR, TREE, folder, SMALL)
        with Laboratory(folder / STORE) as laboratory:
            shown = proven_sets(result, laboratory, "duel")
        write_duel(result, shown, folder, "duel")
    return folder, result, shown


def test_every_score_of_a_proof_is_what_a_plain_fit_gives_on_the_recorded_rows(fought):
    _, result, _ = fought
    assert result.proofs
    for proof in result.proofs:
        scores = {}
        for fit in proof.fits:
            data = proof.claim.generator.parts(SMALL.rows, SMALL.fresh, fit.row_seed)
            train = data.train_part
            model = {"Linear": LINEAR, "Tree": TREE}[fit.method].configured(fit.params).build(0)
            if fit.method == "Linear":
                values = model.fit(data.X[train], data.y[train]).predict_proba(data.X[~train])[:, 1]
                assert fit.score == pytest.approx(roc_auc_score(data.y[~train], values), abs=1e-9)
            scores[fit.method, fit.sample] = fit.score
        leads = [
            scores[proof.claim.up, i] - scores[proof.claim.down, i] for i in range(proof.stopped_at)
        ]
        assert leads == pytest.approx(proof.leads)
        assert proof.interval.estimate == pytest.approx(np.mean(leads))
        assert proof.holds == (proof.interval.low >= SMALL.margin)


def test_rows_of_race_proof_and_dataset_are_never_the_same(fought):
    _, result, shown = fought
    proof = result.proofs[0]
    written = [tuple(row) for picture in shown for row in np.asarray(picture.data.X)]
    for fit in proof.fits[:4]:
        rows = proof.claim.generator.parts(SMALL.rows, SMALL.fresh, fit.row_seed).X
        assert not {tuple(row) for row in np.asarray(rows)} & set(written)


def test_the_tree_is_proven_to_beat_the_linear_model_and_the_folder_holds_it(fought):
    folder, result, shown = fought
    held = result.proven("Tree", "Linear")
    assert held
    assert "Tree beats Linear by 0.05 AUROC or more on 1 proven dataset" in result.sentence(
        "Tree", "Linear"
    )
    page = (folder / "report.html").read_text()
    for said in (
        "Linear against Tree",
        "Where Tree beats Linear",
        "The best that any method can reach",
        "Learning curves",
        "collection.json:1",
    ):
        assert said in page, said
    # One line loads it; the table and the manifest hold the same rows.
    data = load(f"{folder}/collection.json:1")
    frame = pd.read_csv(folder / "data" / "duel-1.csv")
    np.testing.assert_array_equal(frame.drop(columns="target").to_numpy(), data.X)
    np.testing.assert_array_equal(data.X, shown[0].data.X)
    np.testing.assert_array_equal(data.y, shown[0].data.y)
    collection = Collection.read(folder)
    record = collection.sets[0].claims[0]
    assert (record.up, record.down, record.holds) == (held[0].claim.up, held[0].claim.down, True)
    assert len(pd.read_csv(folder / "fits.csv")) == sum(len(proof.fits) for proof in result.proofs)
    assert json.loads(fits_table(result)["parameters"].iloc[0]) == {}


def test_a_card_shows_the_formula_as_a_picture(fought):
    folder, result, shown = fought
    page = duel_page(result, shown, folder)
    trees = [figure for figure in page.figures() if figure.name.startswith("formula_")]
    assert [figure.name for figure in trees] == [f"formula_{item.name}" for item in shown]


def cells(folder):
    with sqlite3.connect(folder / STORE) as store:
        return store.execute("select count(*) from cells").fetchone()[0]


def test_the_same_fight_again_decides_the_same_and_runs_nothing(fought, monkeypatch):
    folder, result, _ = fought
    monkeypatch.setattr("paragone.generate.duels.PROOF_SHARE", 1e9)
    before = cells(folder)
    again = duel(LINEAR, TREE, folder, SMALL)
    assert cells(folder) == before
    assert [proof.leads for proof in again.proofs] == [proof.leads for proof in result.proofs]
    assert (again.curve, again.seconds) == (result.curve, result.seconds)


def test_a_fight_that_had_no_time_for_proofs_says_so_and_goes_on_with_more(fought, tmp_path):
    hasty = duel(LINEAR, TREE, tmp_path, replace(SMALL, minutes=0.0001))
    assert hasty.proofs == ()
    assert "no dataset was found on which Tree beats Linear by 0.05 AUROC" in hasty.sentence(
        "Tree", "Linear"
    )
    page = write_duel(hasty, (), tmp_path, "hasty")
    assert "No dataset was found on which Linear beats Tree" in page.read_text()
    opened = pd.read_csv(tmp_path / "open_pairs.csv")
    assert opened[["up", "down"]].to_numpy().tolist() == [["Linear", "Tree"], ["Tree", "Linear"]]


def test_a_method_against_itself_ends_in_the_honest_sentence(tmp_path):
    twice = distinct_names(TREE, TREE)
    assert [one.name for one in twice] == ["Tree", "Tree (second)"]
    found = duel(TREE, TREE, tmp_path, replace(SMALL, minutes=5, batch=4))
    # Given up long before the minutes: no formula led at all.
    assert (
        found.ended_by
        == "after 8 generations no formula led by a fifth of the margin in either direction"
    )
    assert (found.raced, found.proofs) == ((), ())
    for up, down in found.directions:
        assert "no dataset was found" in found.sentence(up, down)


def test_kinds_of_data_are_in_races_and_proofs():
    noisy = replace(SMALL, kinds={"noise": 0.2, "irrelevant": 4})
    generator = noisy.generator("mul(X0, X1)")
    assert (generator.noise, generator.irrelevant) == (0.2, 4)
    assert noisy.key((LINEAR, TREE)) != SMALL.key((LINEAR, TREE))
    # More minutes and another proof go on with the same search.
    assert replace(SMALL, minutes=9, trials=5).key((LINEAR, TREE)) == SMALL.key((LINEAR, TREE))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"minutes": 0}, "minutes must be more than 0"),
        ({"margin": 2}, "margin must lie between 0 and 1"),
        ({"rows": 10}, "rows must be at least 50"),
        ({"kinds": {"n_classes": 4}}, "a number of classes is for a multiclass target"),
        ({"kinds": {"noise": 7}}, "noise must be from 0 to 1"),
        ({"looks": ()}, "look"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(change, said):
    with pytest.raises(InputError, match=said):
        replace(SMALL, **change)


def a_proof(leads, low=0.1):
    claim = LeadClaim("Tree", "Linear", GeneratorSpec("mul(X0, X1)", n_features=3))
    return Proof(
        claim, tuple(leads), Interval(float(np.mean(leads)), low, 1.0), low >= 0.05, "shown"
    )


def a_picture(curve):
    proof = a_proof([0.3] * 12)
    generator = proof.claim.generator
    return ProvenSet("d-1", proof, generator.sample(50, 1), None, curve)


def test_a_lead_that_is_a_coin_is_called_one():
    assert coin_sentence(a_proof([0.45, 0.01, 0.3])).startswith(
        "A coin, not a margin: the lead is 0.450 on the best"
    )


def test_the_crossing_of_two_curves_is_told_as_far_as_they_show():
    def curve(*means):
        rows = [
            (m, size, v, v, v)
            for size, pair in zip((50, 100, 200), means, strict=True)
            for m, v in pair.items()
        ]
        return pd.DataFrame(rows, columns=["method", "rows", "mean", "low", "high"])

    below, above = {"Tree": 0.6, "Linear": 0.7}, {"Tree": 0.8, "Linear": 0.7}
    told = [
        ((below, above, above), "Tree overtakes Linear between 50 and 100 training rows"),
        ((above, above, above), "Tree is ahead at every size from 50 to 200 training rows"),
        ((above, above, below), "Linear is ahead at 200 training rows"),
    ]
    for means, said in told:
        assert said in crossing(a_picture(curve(*means)), "Tree", "Linear")


def test_learning_curves_are_means_of_the_fits(fought):
    folder, result, shown = fought
    drawn = next(picture for picture in shown if picture.curve is not None)
    with Laboratory(folder / STORE) as laboratory:
        again = learning_curves(result, drawn.generator, laboratory)
    pd.testing.assert_frame_equal(again, drawn.curve)
    assert again["rows"].unique().tolist() == [40, 80, 160]
    assert ((again["low"] <= again["mean"]) & (again["mean"] <= again["high"])).all()
    chart = learning_chart(again, result.names, drawn.ceiling, drawn.metric)
    assert chart.title == "Learning curves"


def test_the_sentence_of_an_unproven_direction_tells_how_hard_it_was_tried():
    proof = replace(a_proof([0.2] * 12, low=0.02), holds=False)
    raced = (Raced("Tree", "Linear", "mul(X0, X1)", 0.3, (0.2, 0.1, 0.3)),)
    result = DuelResult(
        (LINEAR, TREE), SMALL, raced, (proof,), ((1.0, 0.0, 0.3),), 1234, 60, 0, 90.0, "time"
    )
    said = result.sentence("Tree", "Linear")
    for part in (
        "1,234 formulas",
        "1 of them raced",
        "led by 0.200",
        "1 put to proof",
        "lower limit was 0.020",
        "1.5 minutes",
    ):
        assert part in said, part
    assert "its proof did not fit into the time" in replace_proofs(result, ()).sentence(
        "Tree", "Linear"
    )
    assert len(claims_chart(result).to_dict()["layer"]) == 3
    # The page keeps a lead until the next generation: nothing rose in between.
    assert search_chart(result.curve, result.names).steps
    page = duel_page(result, (), "somewhere")
    assert page.title == "Linear against Tree"
    # A direction without a proven dataset is told in the finding, and has no empty section.
    assert [section.title for section in page.sections] == [
        "The finding",
        "What was tried",
        "How it was done",
    ]


def test_a_short_search_is_drawn_over_seconds_and_a_long_one_over_minutes():
    def drawn(minutes):
        curve = ((minutes / 2, 0.0, 0.1), (minutes, 0.2, 0.3))
        result = DuelResult((LINEAR, TREE), SMALL, (), (), curve, 10, 5, 0, 60 * minutes, "time")
        return search_chart(result.curve, result.names)

    for minutes, unit, last in ((0.5, "seconds", 30.0), (8.0, "minutes", 8.0)):
        plot = drawn(minutes)
        assert plot.x == unit
        assert {name: line[-1] for name, line in plot.series.items()} == {
            "Linear": (last, 0.2),
            "Tree": (last, 0.3),
        }


def replace_proofs(result, proofs):
    return DuelResult(
        result.methods, result.plan, result.raced, proofs, result.curve, result.n_formulas, result.n_screened,
        result.n_failed, result.seconds, result.ended_by,
    )  # fmt: skip


def test_a_dataset_with_kinds_of_data_is_loaded_from_its_table(tmp_path):
    noisy = replace(SMALL, kinds={"noise": 0.2, "irrelevant": 2, "missing": 0.1})
    generator = noisy.generator("mul(X0, X1)")
    fits = tuple(
        TunedFit(method, sample, sample, {}, 0.5, score)
        for sample in range(12)
        for method, score in (("Tree", 0.9), ("Linear", 0.5))
    )
    proof = replace(a_proof([0.4] * 12), claim=LeadClaim("Tree", "Linear", generator), fits=fits)
    result = DuelResult(
        (LINEAR, TREE), noisy, (), (proof,), ((1.0, 0.0, 0.3),), 9, 6, 0, 90.0, "time"
    )
    data = generator.sample(noisy.rows, shown_seed(noisy, generator), name="kinds-1")
    picture = ProvenSet("kinds-1", proof, data, truth_sheet(generator))
    write_duel(result, (picture,), tmp_path, "kinds")
    found = load(f"{tmp_path}/collection.json:1")
    np.testing.assert_array_equal(found.X, data.X)
    np.testing.assert_array_equal(found.y, data.y)
    assert np.isnan(found.X).any()
    table = tmp_path / "data" / "kinds-1.csv"
    table.write_text(table.read_text().replace("target\n", "target\n", 1).replace("0.", "0.9", 1))
    with pytest.raises(InputError, match="hash"):
        load(f"{tmp_path}:1")
    table.unlink()
    with pytest.raises(InputError, match="there is no"):
        load(f"{tmp_path}:1")
