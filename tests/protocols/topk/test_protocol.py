"""The topk protocol: the same numbers as the evaluator alone, floors, validation rows, guards, reuse, bad input."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from paragone import Experiment, Results
from paragone.data import Dataset, prescription_dataset, prescriptions_of
from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError
from paragone.methods.recommenders import make_recommender
from paragone.methods.recommenders.base import Recommender
from paragone.methods.recommenders.floors import Popularity
from paragone.metrics.topk import topk_scores
from paragone.protocols import TopK

FLOORS = ["popularity", "conditional", "set-knn", "ridge"]
SMALL_SMGCN = {
    "widths": [4, 6, 8],
    "batch_size": 32,
    "max_epochs": 6,
    "evaluate_every": 2,
    "ks": [1, 3],
    "choose_by": "recall@3",
}


class Backwards(Popularity):
    """Recommends what is rarest."""

    def _score(self, queries):
        return -super()._score(queries)


class Remembers(Recommender):
    """Says which rows it was given."""

    def _fit(self, train, validation):
        self.diagnostics_ = {
            "train": train.fingerprint,
            "validation": None if validation is None else validation.fingerprint,
        }

    def _score(self, queries):
        return np.zeros((queries.shape[0], self.n_items_))


def first_is_relevant(recommended, relevant, k):
    return float(recommended[0] in relevant)


def always_fails(recommended, relevant, k):
    raise ZeroDivisionError("no luck")


def run(tmp_path, data, methods, protocol, name="a", **options):
    experiment = Experiment([data], methods, protocol=protocol, **options)
    return experiment.run(tmp_path / f"{name}.sqlite", workers=0)


def parts(rows: Prescriptions):
    validation = np.arange(0, 150, 6)
    train = rows.take(np.setdiff1d(np.arange(150), validation))
    return train, rows.take(validation), rows.take(np.arange(150, 200))


@pytest.mark.parametrize("ties", ["id", "expected", "optimistic", "pessimistic", "reverse_id"])
def test_scores_are_those_of_the_evaluator_alone(tmp_path, rows, herbs, ties):
    train, validation, test = parts(rows)
    protocol = TopK(
        k=(1, 3, 7), metrics=("precision", "rmrr", "ndcg[idcg=hits]", "f1_of_means"), ties=ties
    )
    with run(tmp_path, herbs, {"EASE": "ease"}, protocol) as results:
        scores = results.scores()
        assert list(dict.fromkeys(scores["method"])) == ["EASE", *FLOORS]
        samples = results.reader().sample_scores()
        for name in ("ease", *FLOORS):
            made = make_recommender(name).fit(train, validation)
            expected = topk_scores(
                made.score(test.queries),
                test.truth,
                k=(1, 3, 7),
                metrics=protocol.metrics,
                ties=ties,
            )
            mine = scores[scores["method"] == {"ease": "EASE"}.get(name, name)]
            for row in mine.itertuples():
                assert row.value == pytest.approx(
                    expected.value(row.metric, int(row.at)), abs=1e-12
                )
            assert len(mine) == 4 * 3
            one = samples[
                (samples["method"] == mine["method"].iloc[0]) & (samples["metric"] == "rmrr")
            ]
            np.testing.assert_allclose(
                one["value"].to_numpy().reshape(50, 3), expected.per_sample["rmrr"], atol=1e-12
            )
            assert one["sample"].unique().tolist() == list(range(150, 200))


def test_train_validation_and_test_are_disjoint_and_as_declared(tmp_path, rows, herbs):
    train, validation, _ = parts(rows)
    whole = rows.take(np.arange(150))
    told = {}
    for validation_rule in ("file", "none", 0.2):
        protocol = TopK(k=(1,), validation=validation_rule, floors=False)
        with run(tmp_path, herbs, {"R": Remembers}, protocol, str(validation_rule)) as results:
            told[validation_rule] = results.diagnostics("herbs", 0, "R")
            run_rows = results.reader().topk().rows(results.reader().topk().cells[0])
            n_validation = 0 if run_rows.validation is None else run_rows.validation.n_rows
            assert (run_rows.train.n_rows + n_validation, run_rows.test.n_rows) == (150, 50)
    assert told["file"]["train"] == train.fingerprint
    assert told["file"]["validation"] == validation.fingerprint
    assert told["none"]["train"] == whole.fingerprint
    assert told["none"]["validation"] is None
    assert told[0.2]["validation"] not in (None, validation.fingerprint)


def test_a_share_is_drawn_with_the_seed(herbs):
    def drawn(seed):
        layout = Experiment(
            [herbs], {"R": Remembers}, protocol=TopK(validation=0.1), seed=seed
        ).layout
        return layout.arrangements["herbs"].splits[0].validation.tolist()

    assert drawn(1) == drawn(1) != drawn(2)
    assert len(drawn(1)) == 15


def test_folds_of_one_set_of_rows(tmp_path, rows):
    data = prescription_dataset("all", rows)
    protocol = TopK(k=(3,), metrics=("recall",), validation=0.1)
    with run(
        tmp_path, data, {"mine": "ridge"}, protocol, split={"kind": "kfold", "folds": 4}
    ) as results:
        samples = results.reader().sample_scores()
        mine = samples[samples["method"] == "mine"]
        assert sorted(mine["sample"]) == list(range(200))
        assert results.scores()["fold"].nunique() == 4


def test_floors_can_be_declared_anew_or_switched_off(herbs):
    own = Experiment(
        [herbs], {"ridge": {"use": "ridge", "params": {"penalty": 3.0}}}, protocol=TopK()
    )
    assert list(own.methods) == ["ridge", "popularity", "conditional", "set-knn"]
    assert own.methods["ridge"].params == {"penalty": 3.0}
    assert list(Experiment([herbs], {"mine": "ease"}, protocol=TopK(floors=False)).methods) == [
        "mine"
    ]


def test_a_method_below_popularity_is_noted_and_popularity_itself_is_not(tmp_path, herbs):
    with run(
        tmp_path, herbs, {"Backwards": Backwards}, TopK(k=(5,), metrics=("precision",))
    ) as results:
        notes = results.reader().topk().notes
        popularity = results.scores().set_index("method")["value"]["popularity"]
    below = [note for note in notes if "below popularity" in note]
    assert len(below) == 1
    assert below[0].startswith("Backwards on herbs: below popularity: precision@5 0.")
    assert f"against {popularity:.4f}" in below[0]


def test_rows_of_test_in_train_or_validation_and_items_never_seen_are_noted(rows):
    train, test = rows.take(np.arange(100)), rows.take(np.arange(90, 110))
    leaky = prescription_dataset("leaky", train, test, validation=[98, 99])
    notes = " ".join(Experiment([leaky], {"mine": "ease"}, protocol=TopK()).notes)
    assert "of 20 evaluation rows stand in train" in notes
    assert "the epoch was chosen on" in notes
    rare = Prescriptions.from_rows([([0], [0]), ([1], [1])], n_items=4, n_tokens=2)
    asked = Prescriptions.from_rows([([0], [3])], n_items=4, n_tokens=2)
    notes = " ".join(
        Experiment(
            [prescription_dataset("rare", rare, asked)],
            {"m": "ease"},
            protocol=TopK(validation="none"),
        ).notes
    )
    assert "1 of 1 relevant items (1 distinct) never occur in train" in notes


def test_other_cut_offs_and_metrics_reuse_the_training(tmp_path, herbs):
    methods = {"mine": {"use": "ease", "params": {"penalty": 5.0}}}
    run(tmp_path, herbs, methods, TopK(k=(3, 5))).close()
    other = Experiment(
        [herbs], methods, protocol=TopK(k=(1, 20), metrics=("ndcg",), ties="expected")
    )
    forecast = other.forecast(tmp_path / "a.sqlite")
    assert len(forecast.to_run) == 5
    assert "fit" in str(forecast)
    with other.run(tmp_path / "a.sqlite", workers=0) as again:
        alone = run(
            tmp_path, herbs, methods, TopK(k=(1, 20), metrics=("ndcg",), ties="expected"), "b"
        )
        assert again.scores().equals(alone.scores())
    longer = Experiment([herbs], methods, protocol=TopK(k=(3, 60)))
    assert {c.fit_key for c in longer.cells()}.isdisjoint({c.fit_key for c in other.cells()})


def test_a_metric_that_fails_is_told_and_the_others_are_given(tmp_path, herbs):
    protocol = TopK(k=(2, 4), metrics=("recall", first_is_relevant, always_fails), floors=False)
    with run(tmp_path, herbs, {"mine": "ridge"}, protocol) as results:
        scores = results.scores()
        assert set(scores["metric"]) == {"recall", "first_is_relevant"}
        notes = results.reader().topk().notes
        assert any("metric always_fails failed: " in note and "no luck" in note for note in notes)
        own = results.reader().topk_result("herbs", "mine").means["first_is_relevant"]
        assert own.tolist() == scores[scores["metric"] == "first_is_relevant"]["value"].tolist()


def test_presets_bring_their_metrics_and_ties():
    protocol = TopK(preset="smgcn")
    assert protocol.metric_names == ("precision", "recall", "f1", "rmrr", "ndcg[idcg=hits]")
    assert TopK(preset="trec_eval").ties == "reverse_id"
    assert TopK(preset="trec_eval", ties="id").ties == "id"


def test_lists_come_back_as_a_table(tmp_path, rows, herbs):
    train, validation, test = parts(rows)
    with run(tmp_path, herbs, {"mine": "ridge"}, TopK(k=(5,))) as results:
        lists = results.reader().recommendations("herbs", "mine")
    scores = make_recommender("ridge").fit(train, validation).score(test.queries)
    first = lists[lists["sample"] == 150]
    assert first["item"].tolist() == np.argsort(-scores[0], kind="stable").tolist()
    assert first.loc[first["relevant"], "item"].tolist() == [
        i for i in first["item"] if i in test.items[: test.indptr[1]]
    ]


def test_seeds_are_trained_apart_and_averaged(tmp_path, herbs):
    methods = {"SMGCN": {"use": "smgcn", "params": SMALL_SMGCN}}
    protocol = TopK(k=(1, 3), metrics=("recall",), floors=False)
    with run(tmp_path, herbs, methods, protocol, repeats={"SMGCN": 2}) as results:
        each = results.scores(repeats=True)
        assert each.groupby("repeat")["value"].first().nunique() == 2
        samples = results.reader().sample_scores(at=3)
        mean = each[each["at"] == 3]["value"].mean()
        assert samples["value"].mean() == pytest.approx(mean)
        told = results.diagnostics("herbs", 0, "SMGCN")
        assert told["chosen_by"] == "recall@3 on validation"
        assert told["epoch"] in (2, 4, 6)
        values = [entry["metrics"]["recall"][1] for entry in told["history"]]
        assert told["epoch"] == told["history"][int(np.argmax(values))]["epoch"]


class StoppedError(RuntimeError):
    """Stands for a kill."""


def test_an_interrupted_fit_goes_on_from_its_scratch_folder(tmp_path, rows, monkeypatch):
    from paragone.lab.cells import FitContext, SplitData
    from paragone.lab.protocol import fit_in
    from paragone.methods.recommenders.smgcn import SMGCN
    from paragone.methods.recommenders.smgcn.training import Trainer

    sets = [prescription_dataset("x", part) for part in parts(rows)]
    train, validation, test = [(data.X, data.y) for data in sets]
    data = SplitData(*train, *test, "topk", *validation)
    protocol = TopK(k=(1, 3))
    method = protocol.declare({"SMGCN": {"use": "smgcn", "params": SMALL_SMGCN}})["SMGCN"]
    assert method.factory is SMGCN
    whole = fit_in(protocol, replace(data, context=FitContext(method, 7, 1)))
    train_epoch, trained = Trainer.train_epoch, []

    def stops_at_three(self, epoch):
        trained.append(epoch)
        if len(trained) == 4:
            raise StoppedError
        return train_epoch(self, epoch)

    monkeypatch.setattr(Trainer, "train_epoch", stops_at_three)
    with pytest.raises(StoppedError):
        fit_in(protocol, replace(data, context=FitContext(method, 7, 1, tmp_path / "progress")))
    resumed = fit_in(
        protocol, replace(data, context=FitContext(method, 7, 1, tmp_path / "progress"))
    )
    assert trained == [0, 1, 2, 3, 2, 3, 4, 5]
    assert resumed.info == whole.info
    for name, array in whole.arrays.items():
        assert array.tobytes() == resumed.arrays[name].tobytes(), name


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": (0, 5)}, "k must be at least 1"),
        ({"k": (10, 5)}, "k must rise"),
        ({"metrics": ("precison",)}, "did you mean 'precision'"),
        ({"ties": "ids"}, "did you mean 'id'"),
        ({"preset": "smgcm"}, "did you mean 'smgcn'"),
        ({"validation": "files"}, "did you mean 'file'"),
        ({"validation": 1.5}, "between 0 and 1"),
        ({"empty": "skipp"}, "did you mean 'skip'"),
    ],
)
def test_settings_that_make_no_sense_are_explained(options, words):
    with pytest.raises(InputError, match=words):
        TopK(**options)


@pytest.mark.parametrize(
    ("use", "words"),
    [
        ("popularty", "did you mean 'popularity'"),
        ("mlknn", "is no recommender"),
        ("sklearn.svm:SVC", "is no recommender"),
    ],
)
def test_what_is_no_recommender_is_refused_before_the_run(herbs, use, words):
    with pytest.raises(InputError, match=words):
        Experiment([herbs], {"mine": use}, protocol=TopK()).cells()


def test_data_and_splits_that_do_not_fit_are_refused(herbs, rows):
    table = Dataset("table", np.eye(4), np.eye(4, 2), "multilabel")
    with pytest.raises(InputError, match=r"folder with train\.txt and test\.txt"):
        Experiment([table], {"m": "ease"}, protocol=TopK()).cells()
    with pytest.raises(InputError, match="makes no sense for sets"):
        Experiment([herbs], {"m": "ease"}, split={"scale": "minmax"}, protocol=TopK()).cells()
    with pytest.raises(InputError, match="sets no validation rows aside"):
        Experiment([prescription_dataset("x", rows)], {"m": "ease"}, protocol=TopK()).cells()
    everything = replace(herbs, validation_part=np.ones(200, dtype=bool))
    with pytest.raises(InputError, match="no train rows are left"):
        Experiment([everything], {"m": "ease"}, protocol=TopK()).cells()
    from paragone.protocols import Curve

    with pytest.raises(InputError, match="is for topk"):
        Experiment([herbs], {"m": "variance"}, protocol=Curve()).cells()


def test_without_torch_nothing_is_begun_and_the_way_to_get_it_is_told(tmp_path, herbs, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        InputError, match=r"needs torch, which is not installed: pip install 'paragone\[recsys\]'"
    ):
        run(tmp_path, herbs, {"SMGCN": "smgcn"}, TopK())
    assert not (tmp_path / "a.sqlite").exists()


def test_scores_that_are_no_numbers_fail_their_cell_alone(tmp_path, herbs):
    class Broken(Popularity):
        def _score(self, queries):
            return super()._score(queries) * np.nan

    with run(tmp_path, herbs, {"Broken": Broken}, TopK(k=(1,))) as results:
        failures = results.failures()
        assert failures["method"].tolist() == ["Broken"]
        assert "is nan: scores must be finite" in failures["error"].iloc[0]
        assert set(results.scores()["method"]) == set(FLOORS)


KNOWN = {
    ("popularity", "precision", 5): 0.22428,
    ("popularity", "recall", 20): 0.34719,
    ("set-knn", "precision", 5): 0.29149,
    ("set-knn", "recall", 20): 0.47763,
    ("set-knn", "f1", 5): 0.22621,
    ("set-knn", "rmrr", 20): 0.14665,
    ("set-knn", "ndcg[idcg=min]", 20): 0.3960,
    ("ridge", "precision", 5): 0.2868,
    ("ridge", "recall", 20): 0.4677,
}


@pytest.mark.known_answer
def test_the_floors_on_the_herb_data_have_their_known_values(tmp_path, data_folder):
    protocol = TopK(metrics=("precision", "recall", "f1", "rmrr", "ndcg"), validation="none")
    experiment = Experiment([data_folder / "herb"], {"popularity": "popularity"}, protocol=protocol)
    assert not any("evaluation rows stand in train" in note for note in experiment.notes)
    with experiment.run(tmp_path / "a.sqlite", workers=0) as results:
        values = results.scores().set_index(["method", "metric", "at"])["value"]
    for key, known in KNOWN.items():
        digits = (
            5
            if key[0] == "popularity" or (key[0] == "set-knn" and key[1] != "ndcg[idcg=min]")
            else 4
        )
        assert round(values[key], digits) == known


@pytest.mark.known_answer
def test_the_leak_guard_counts_the_validation_rows_inside_train(data_folder):
    from paragone.data import load

    herb = load(data_folder / "herb")
    rows = prescriptions_of(herb.X, herb.y)
    validation = np.flatnonzero(herb.validation_part)
    leaky = prescription_dataset("leaky", rows.take(herb.train_part), rows.take(validation))
    notes = Experiment([leaky], {"m": "popularity"}, protocol=TopK(validation="none")).notes
    assert any("1162 of 1162 evaluation rows stand in train" in note for note in notes)


def test_results_of_other_kinds_have_no_topk(tmp_path):
    from paragone.lab.store import Store

    Store(tmp_path / "a.sqlite", create=True).close()
    with (
        Results.open(tmp_path / "a.sqlite") as results,
        pytest.raises(InputError, match="has no sample scores"),
    ):
        results.reader(having="sample_scores")
