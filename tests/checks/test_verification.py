"""Scores recomputed from predictions: two derivations agree everywhere, and a spoiled store is found out."""

from __future__ import annotations

import io
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paragone
import score_oracles
from paragone import Experiment, Results
from paragone.checks.finding import Ledger
from paragone.checks.tuning import check_selection, check_tuning
from paragone.data.prescriptions import Prescriptions
from paragone.lab.store import Store
from paragone.lab.store.queries import pack, unpack
from paragone.lab.view import View
from paragone.metrics import metric_names, metric_values
from paragone.metrics.topk import topk_scores
from paragone.protocols.crossval.problem import choose
from paragone.protocols.crossval.reader import CrossvalReader

sys.path.insert(0, str(Path(__file__).parent))
from made_labs import crossval_experiments, topk_experiment

from score_oracles import CLASSIFICATION, REGRESSION, prediction_score, sample_values, selected

QUIET = {"canary": "none", "sample": 0, "in_process": True}


class TestMetricsAgree:
    @given(st.integers(0, 10**6), st.sampled_from([0, 1, "skip"]))
    @settings(max_examples=60, deadline=None)
    def test_multilabel_metrics_are_those_of_the_program_ties_included(self, seed, zero_division):
        rng = np.random.default_rng(seed)
        n, n_labels = rng.integers(1, 25), rng.integers(1, 7)
        Y = (rng.random((n, n_labels)) < rng.random(n_labels)).astype(np.uint8)
        scores = rng.integers(0, 5, (n, n_labels)) / 4.0
        labels = (scores >= 0.5).astype(np.uint8)
        buffer = io.BytesIO()
        np.savez(buffer, ks=np.array([3]), labels=labels[None], scores=scores[None])
        curve = score_oracles.StoredCurve(buffer.getvalue())
        ours = score_oracles.curve_scores(curve, Y, metric_names("multilabel"), zero_division)
        theirs = metric_values(
            metric_names("multilabel"),
            "multilabel",
            Y,
            labels,
            scores=scores,
            zero_division=zero_division,
        )
        for name, value in theirs.items():
            assert ours[3, name] == pytest.approx(value, abs=1e-12), name

    def test_every_metric_of_the_program_can_be_recomputed(self):
        assert set(metric_names("multilabel")) == set(score_oracles.OF_LABELS) | set(
            score_oracles.OF_ORDER
        )
        assert set(metric_names("regression")) == set(REGRESSION)
        assert set(metric_names("classification")) == set(CLASSIFICATION) | {
            "roc_auc",
            "log_loss",
            # Their second implementation is in tests/metrics.
            "auprc",
            "quadratic_weighted_kappa",
        }

    @given(st.integers(0, 10**6), st.integers(0, 1))
    @settings(max_examples=60, deadline=None)
    def test_regression_metrics_are_those_of_the_program(self, seed, ddof):
        rng = np.random.default_rng(seed)
        n = rng.integers(1, 30)
        y = rng.normal(size=n) if seed % 7 else np.full(n, 2.0)
        predicted = y + rng.normal(size=n) if seed % 5 else y.copy()
        theirs = metric_values(list(REGRESSION), "regression", y, predicted, ddof=ddof)
        for name, value in theirs.items():
            ours = prediction_score(name, "regression", y, predicted, ddof=ddof)
            assert ours == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True), name

    @given(st.integers(0, 10**6))
    @settings(max_examples=60, deadline=None)
    @pytest.mark.filterwarnings(
        "ignore::UserWarning", "ignore::sklearn.exceptions.UndefinedMetricWarning"
    )
    def test_classification_metrics_are_those_of_the_program(self, seed):
        rng = np.random.default_rng(seed)
        classes = np.array(["a", "b", "c", "d"][: rng.integers(2, 5)])
        n = rng.integers(1, 30)
        y, predicted = rng.choice(classes, n), rng.choice(classes, n)
        shares = rng.dirichlet(np.ones(len(classes)), n)
        names = [*CLASSIFICATION, "roc_auc", "log_loss"]
        theirs = metric_values(
            names, "classification", y, predicted, probabilities=shares, classes=classes
        )
        for name, value in theirs.items():
            ours = prediction_score(
                name, "classification", y, predicted, probabilities=shares, classes=classes
            )
            assert ours == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True), name

    @given(st.integers(0, 10**6))
    @settings(max_examples=40, deadline=None)
    def test_topk_metrics_are_those_of_the_program_in_every_convention(self, seed):
        rng = np.random.default_rng(seed)
        n_items, n = int(rng.integers(4, 12)), int(rng.integers(1, 12))
        truth = [rng.permutation(n_items)[: rng.integers(1, n_items)].tolist() for _ in range(n)]
        lists = [
            rng.permutation(n_items)[: rng.integers(1, n_items + 1)].tolist() for _ in range(n)
        ]
        metrics = [
            "precision",
            "precision[over=list]",
            "recall",
            "recall[over=min]",
            "f1",
            "rmrr",
            "hit_rate",
            "mrr",
        ]
        metrics += [
            "ndcg[idcg=min]",
            "ndcg[idcg=k]",
            "ndcg[idcg=hits]",
            "map[over=n]",
            "map[over=min]",
            "map[over=k]",
        ]
        ks = [1, 2, 4]
        theirs = topk_scores(lists, truth, k=ks, metrics=metrics, kind="lists", n_items=n_items)
        items = np.full((n, n_items), -1, dtype=np.int32)
        for row, listed in enumerate(lists):
            items[row, : len(listed)] = listed
        test = Prescriptions.from_rows([([0], items_) for items_ in truth], n_items=n_items)
        ours = sample_values(items, test, ks, list(theirs.per_sample))
        for name, values in theirs.per_sample.items():
            np.testing.assert_allclose(ours[name], values, atol=1e-12, err_msg=name)


def audit(store: Path, declaration: Experiment | None = None, **options):
    return paragone.audit(store, declaration=declaration, **{**QUIET, **options})


def verified(found) -> int:
    return sum(
        one.count for one in found.checked if one.check == "scores recomputed from predictions"
    )


class TestCurves:
    def test_points_of_a_p_grid_fall_on_the_features_that_the_program_took(self):
        from paragone.protocols import PGrid

        grid = PGrid(0.05, 0.5, 0.05)
        shares = score_oracles.declared_shares({"p": vars(grid)})
        for n_features in range(1, 1500):
            points = grid.points(n_features)
            ours = [score_oracles.features_at("p", at, n_features, shares) for at in points.at]
            assert ours == list(points.k)

    def test_an_untouched_store_verifies_clean_score_by_score(self, made_curve):
        found = audit(made_curve / "curves.sqlite")
        with Results.open(made_curve / "curves.sqlite") as results:
            assert verified(found) == len(results.scores(repeats=True))
        assert not found.of("PG301")
        assert not found.of("PG302")

    def test_a_score_changed_by_a_hair_is_named(self, curve_lab):
        store = curve_lab / "curves.sqlite"
        with sqlite3.connect(store) as db:
            cell, measure, position, value = db.execute(
                "SELECT cell_id, measure_id, position, value FROM scores WHERE value > 0.3 ORDER BY"
                " cell_id LIMIT 1"
            ).fetchone()
            db.execute(
                "UPDATE scores SET value = value + 1e-9 WHERE cell_id = ? AND measure_id = ? AND"
                " position = ?",
                (cell, measure, position),
            )
        (finding,) = audit(store).of("PG301")
        assert (finding.count, finding.severity) == (1, "error")
        assert repr(value + 1e-9) in finding.examples[0]

    def test_a_score_that_is_gone_is_named(self, curve_lab):
        store = curve_lab / "curves.sqlite"
        with sqlite3.connect(store) as db:
            db.execute("DELETE FROM scores WHERE cell_id = 2 AND position = 0")
        (finding,) = audit(store).of("PG301")
        assert (finding.count, "was predicted and has no score" in finding.examples[0]) == (1, True)

    def test_predictions_changed_in_one_place_are_found(self, curve_lab):
        store = curve_lab / "curves.sqlite"
        with sqlite3.connect(store) as db:
            payload = db.execute("SELECT payload FROM predictions WHERE cell_id = 1").fetchone()[0]
            with np.load(io.BytesIO(payload)) as archive:
                arrays = {name: archive[name].copy() for name in archive.files}
            arrays["counts"][0, :4] = (arrays["counts"][0, :4] + 5) % 11
            buffer = io.BytesIO()
            np.savez_compressed(buffer, **arrays)
            db.execute("UPDATE predictions SET payload = ? WHERE cell_id = 1", (buffer.getvalue(),))
        assert audit(store).of("PG301")

    def test_truth_changed_in_the_store_is_found_against_the_data(self, curve_lab):
        store = curve_lab / "curves.sqlite"
        with sqlite3.connect(store) as db:
            key, payload = db.execute(
                "SELECT truth_key, payload FROM truths WHERE truth_key LIKE '%/%'"
            ).fetchone()
            y = unpack(payload)["y"]
            y[0, 0] = 1 - y[0, 0]
            db.execute("UPDATE truths SET payload = ? WHERE truth_key = ?", (pack({"y": y}), key))
        found = audit(store)
        assert [f.count for f in found.of("PG302")] == [1]
        assert found.of("PG301"), "the scores do not follow from that truth either"

    def test_scores_without_predictions_are_said_not_to_be_checked(self, tmp_path):
        protocol = paragone.Curve(k=paragone.protocols.KGrid(2, 4, 2), keep_predictions=False)
        experiment = Experiment(
            ["wine-traits"], {"V": "variance"}, {"folds": 2}, protocol, name="bare"
        )
        experiment.run(tmp_path / "b.sqlite", workers=0).close()
        found = audit(tmp_path / "b.sqlite", experiment)
        assert verified(found) == 0
        (missed,) = [
            one for one in found.unchecked if one.check == "scores recomputed from predictions"
        ]
        assert missed.count == 2 * 2 * 3


class TestCrossvalidation:
    @pytest.mark.parametrize("which", ["numbers", "groups", "classes"])
    def test_two_derivations_of_every_score_agree(self, made_crossval, which):
        found = audit(made_crossval / f"{which}.sqlite", crossval_experiments()[which])
        assert not [f for f in found.findings if f.code in ("PG301", "PG302", "PG112")]
        with Results.open(made_crossval / f"{which}.sqlite") as results:
            wrong, count = score_oracles.differing_of_run(results.reader().crossval())
            assert (wrong, count >= 20) == ([], True)
            assert verified(found) == len(results.scores()) > 0

    def test_a_wrong_derivation_is_found(self, made_crossval, monkeypatch):
        from paragone.protocols.crossval import ledger as weights

        monkeypatch.setattr(weights, "SHIFT", 1.0)
        monkeypatch.setattr(
            "paragone.protocols.crossval.scores.fold_weights",
            lambda scores, **kw: (
                np.linspace(1, 2, len(scores)) / np.linspace(1, 2, len(scores)).sum()
            ),
        )
        with Results.open(made_crossval / "numbers.sqlite") as results:
            wrong, _ = score_oracles.differing_of_run(results.reader().crossval())
        assert "weights, fold 0" in " ".join(wrong) or "w_ens" in " ".join(wrong)

    @pytest.mark.parametrize("which", ["numbers", "groups", "classes"])
    def test_selection_is_that_of_the_program(self, made_crossval, which):
        with Results.open(made_crossval / f"{which}.sqlite") as results:
            run = results.reader().crossval()
            for problem in run.problems:
                assert selected([problem], run) == list(choose([problem], run.settings).variants)

    def test_a_refit_that_the_cross_validation_did_not_choose_is_found(self, made_crossval):
        with Results.open(made_crossval / "numbers.sqlite") as results:
            first, second = CrossvalReader(results).stage_choices(View(results, "numbers"))
            variants = list(results.reader().crossval().problems[0].chains)
        assert set(first.by_test) == set(variants)
        ledger = Ledger("lab")
        check_selection([first, second], ledger)
        assert not ledger.findings
        worst = next(variant for variant in variants if variant not in first.taken)
        check_selection([replace(first, taken=(worst, *first.taken[1:])), second], ledger)
        (finding,) = ledger.findings
        assert (finding.code, finding.dataset, finding.count) == ("PG112", first.dataset, 1)
        assert [one.count for one in ledger.checked] == [2, 2]
        best_on_test = first.by_test[: len(first.taken)]
        check_selection([replace(first, taken=best_on_test, chosen=(worst,))], ledger)
        assert ledger.findings[-1].message.endswith("; they are the best by test score")


class TestTuning:
    def test_parameters_that_are_best_by_inner_scores_are_silent(self, made_curve):
        found = audit(made_curve / "curves.sqlite")
        assert not found.of("PG112")
        assert [one.count for one in found.checked if one.unit == "tuned cells"] == [6]

    def test_parameters_that_are_not_best_by_inner_scores_are_found(self, curve_lab):
        import json

        store = curve_lab / "curves.sqlite"
        with sqlite3.connect(store) as db:
            key, info = next(
                (key, json.loads(info))
                for key, info in db.execute("SELECT fit_key, info FROM fits")
                if "candidates" in info
            )
            # Of equal candidates, one is the worse and the other the better: which does not matter.
            worse, *_, better = sorted(info["candidates"], key=lambda c: c["score"])
            better["score"] += 1e-6
            info["tuned"] = worse["params"]
            db.execute("UPDATE fits SET info = ? WHERE fit_key = ?", (json.dumps(info), key))
        (finding,) = audit(store).of("PG112")
        assert (finding.method, finding.count) == ("Tuned", 1)

    @pytest.mark.parametrize(
        ("epoch", "where", "wrong"), [(4, "validation", 0), (2, "validation", 1), (4, "test", 1)]
    )
    def test_an_epoch_is_checked_against_the_history_that_chose_it(
        self, topk_lab, epoch, where, wrong
    ):
        import json

        store = topk_lab / "garden.sqlite"
        values = {2: 0.2, 4: 0.5, 6: 0.4}
        history = [
            {"epoch": e, "set": where, "ks": [3], "metrics": {"recall": [v]}}
            for e, v in values.items()
        ]
        info = {"epoch": epoch, "chosen_by": f"recall@3 on {where}", "history": history}
        with sqlite3.connect(store) as db:
            key = db.execute("SELECT fit_key FROM fits LIMIT 1").fetchone()[0]
            db.execute("UPDATE fits SET info = ? WHERE fit_key = ?", (json.dumps(info), key))
        ledger = Ledger("garden")
        with Store(store) as opened:
            check_tuning(View(Results(opened), "garden"), ledger)
        assert len(ledger.findings) == wrong
        assert ledger.checked[0].count == 1


class TestRecommenders:
    def test_an_untouched_store_verifies_clean(self, made_topk):
        found = audit(made_topk / "garden.sqlite", topk_experiment())
        assert not [f for f in found.findings if f.code.startswith("PG3")]
        assert verified(found) == 5 * 9 * 3

    def test_a_changed_mean_is_found(self, topk_lab):
        with sqlite3.connect(topk_lab / "garden.sqlite") as db:
            db.execute("UPDATE scores SET value = value + 1e-7 WHERE cell_id = 3 AND position = 4")
        (finding,) = audit(topk_lab / "garden.sqlite", topk_experiment()).of("PG301")
        assert finding.count == 1

    def test_a_changed_list_is_found(self, topk_lab):
        with sqlite3.connect(topk_lab / "garden.sqlite") as db:
            key, payload = db.execute("SELECT fit_key, arrays FROM fits LIMIT 1").fetchone()
            arrays = unpack(payload)
            arrays["items"][:10] = arrays["items"][:10, ::-1]
            db.execute("UPDATE fits SET arrays = ? WHERE fit_key = ?", (pack(arrays), key))
        assert audit(topk_lab / "garden.sqlite", topk_experiment()).of("PG301")
