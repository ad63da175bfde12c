"""Experiments: the same bytes by every road, resumed work, reused fits, contained failures."""

from __future__ import annotations

import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from paragone import Experiment, Results, load, ranking_curve
from paragone.data import make_splits, scale_split
from paragone.errors import InputError
from paragone.methods.method import Method
from paragone.methods.rankers import DAGFS
from paragone.protocols import Curve, KGrid

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_files import write_lab

GOOD = {
    "DAGFS": 'use = "dagfs"\nparams = { max_iter = 5 }',
    "Random": 'use = "random"',
    "Global": 'use = "lab_methods:UsesGlobalRandomness"',
}


def contents(store: Path) -> list[tuple]:
    """Every scored, fitted and predicted byte of a store, without times."""
    connection = sqlite3.connect(store)
    tables = [
        "SELECT key, fit_key, status, notes, error FROM cells ORDER BY key",
        (
            "SELECT key, metric, grid, at, value FROM scores JOIN cells ON cells.id = cell_id "
            "JOIN measures ON measures.id = measure_id ORDER BY key, position"
        ),
        "SELECT key, payload FROM predictions JOIN cells ON cells.id = cell_id ORDER BY key",
        "SELECT fit_key, arrays, info FROM fits ORDER BY fit_key",
        "SELECT * FROM splits ORDER BY split_part",
    ]
    rows = [row for sql in tables for row in connection.execute(sql)]
    connection.close()
    return rows


def test_scores_are_tidy(tmp_path):
    results = Experiment.from_toml(write_lab(tmp_path, GOOD)).run(tmp_path / "a.sqlite", workers=0)
    scores = results.scores()
    assert list(scores.columns) == [
        "experiment",
        "protocol",
        "dataset",
        "fold",
        "method",
        "metric",
        "at",
        "value",
    ]
    assert len(scores) == 3 * 3 * 4 * 2
    assert set(scores["protocol"]) == {"curve"}
    assert set(results.scores("micro_f1")["metric"]) == {"micro_f1"}


def test_a_cell_is_what_the_parts_give_by_hand(tmp_path):
    experiment = Experiment.from_toml(write_lab(tmp_path, GOOD))
    results = experiment.run(tmp_path / "a.sqlite", workers=0)
    dataset = load("wine-traits")
    split = make_splits(dataset, experiment.split, 7)[1]
    X_train, X_test = scale_split(dataset.X[split.train], dataset.X[split.test], "minmax")
    ranking = results.reader().ranking("wine-traits", 1, "Random")
    by_hand = ranking_curve(
        ranking,
        X_train,
        dataset.y[split.train],
        X_test,
        dataset.y[split.test],
        [2, 4, 6, 8],
        metrics=["micro_f1"],
    )
    scores = results.scores("micro_f1").query("fold == 1 and method == 'Random'")
    assert scores["value"].tolist() == by_hand["micro_f1"].tolist()


def test_stored_predictions_give_the_scores_again(tmp_path):
    results = Experiment.from_toml(write_lab(tmp_path, GOOD)).run(tmp_path / "a.sqlite", workers=0)
    frame = results.reader().predictions("wine-traits", 2, "DAGFS", k=4)
    wrong = (frame["y_true"] != frame["y_pred"]).mean()
    scores = results.scores("hamming_loss").query("fold == 2 and method == 'DAGFS' and at == 4")
    assert scores["value"].item() == wrong
    assert ((frame["score"] >= 0.5) == (frame["y_pred"] == 1)).all()
    assert set(frame["label"]) == set(load("wine-traits").target_names)


@pytest.mark.parametrize("road", ["one worker", "two workers", "threads", "python"])
def test_every_road_gives_the_same_bytes(tmp_path, road):
    file = write_lab(tmp_path, GOOD)
    reference = tmp_path / "reference.sqlite"
    Experiment.from_toml(file).run(reference, workers=0)
    other = tmp_path / "other.sqlite"
    if road == "python":
        from lab_methods import UsesGlobalRandomness

        Experiment(
            data=["wine-traits"],
            methods={
                "DAGFS": DAGFS(max_iter=5),
                "Random": "random",
                "Global": UsesGlobalRandomness,
            },
            split={"folds": 3},
            protocol=Curve(k=KGrid(2, 8, 2), metrics=("micro_f1", "hamming_loss")),
            name="lab",
            seed=7,
        ).run(other, workers=0)
    elif road == "threads":
        with ThreadPoolExecutor(1) as pool:
            Experiment.from_toml(file).run(other, workers=1, executor=pool)
    else:
        Experiment.from_toml(file).run(other, workers=1 if road == "one worker" else 2)
    assert contents(other) == contents(reference)


def test_another_seed_gives_other_splits_and_other_rankings(tmp_path):
    one = Experiment.from_toml(write_lab(tmp_path, GOOD)).run(tmp_path / "a.sqlite", workers=0)
    file = write_lab(tmp_path, GOOD, top='name = "lab"\nseed = 8')
    other = Experiment.from_toml(file).run(tmp_path / "b.sqlite", workers=0)
    assert not np.array_equal(
        one.reader().ranking("wine-traits", 0, "Random"),
        other.reader().ranking("wine-traits", 0, "Random"),
    )


def test_folds_of_a_random_ranker_differ(tmp_path):
    results = Experiment.from_toml(write_lab(tmp_path, GOOD)).run(tmp_path / "a.sqlite", workers=0)
    rankings = {tuple(results.reader().ranking("wine-traits", fold, "Random")) for fold in range(3)}
    assert len(rankings) == 3


def test_a_second_run_does_nothing(tmp_path):
    file = write_lab(tmp_path, GOOD)
    Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=0)
    before = contents(tmp_path / "a.sqlite")
    forecast = Experiment.from_toml(file).forecast(tmp_path / "a.sqlite")
    assert (len(forecast.to_run), forecast.as_dict()["with_result"]) == (0, {"done": 9})
    Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=0)
    assert contents(tmp_path / "a.sqlite") == before


@pytest.mark.parametrize(
    "protocol",
    [
        'k = { min = 1, max = 9, step = 1 }\nmetrics = ["micro_f1", "hamming_loss"]',
        'k = { min = 2, max = 8, step = 2 }\nmetrics = ["macro_pr_auc"]',
        (
            'k = { min = 2, max = 8, step = 2 }\nevaluator = { use = "mlknn", params = {'
            " n_neighbors = 3 } }"
        ),
        "p = { min = 0.25, max = 0.75, step = 0.25, target = 0.5 }",
    ],
)
def test_another_grid_metric_or_evaluator_fits_nothing(tmp_path, protocol):
    Experiment.from_toml(write_lab(tmp_path, GOOD)).run(tmp_path / "a.sqlite", workers=0)
    changed = Experiment.from_toml(write_lab(tmp_path, GOOD, protocol=protocol))
    forecast = changed.forecast(tmp_path / "a.sqlite")
    assert forecast.as_dict() == {
        "cells": 9,
        "with_result": {},
        "to_run": 9,
        "to_fit": 0,
        "reused_fits": 9,
        "stale": {"protocol": 9},
    }
    fresh = changed.run(tmp_path / "fresh.sqlite", workers=0).scores()
    pd.testing.assert_frame_equal(changed.run(tmp_path / "a.sqlite", workers=0).scores(), fresh)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"data": 'sets = [{ path = "other.npz", name = "wine-traits" }]'}, "data"),
        ({"split": 'folds = 3\nscale = "zscore"'}, "split"),
        ({"methods": {**GOOD, "DAGFS": 'use = "dagfs"\nparams = { max_iter = 6 }'}}, "method"),
        ({"protocol": "k = { min = 2, max = 4, step = 2 }"}, "protocol"),
        ({"top": 'name = "lab"\nseed = 8'}, "split, seed"),
    ],
)
def test_status_says_why_a_cell_is_stale(tmp_path, change, part):
    from paragone.data import save_npz

    Experiment.from_toml(write_lab(tmp_path, GOOD)).run(tmp_path / "a.sqlite", workers=0)
    dataset = load("wine-traits")
    X = dataset.X.copy()
    X[0, 0] += 1
    save_npz(type(dataset)("other", X, dataset.y, dataset.task), tmp_path / "other.npz")
    change = dict(change)
    file = write_lab(tmp_path, change.pop("methods", GOOD), **change)
    forecast = Experiment.from_toml(file).forecast(tmp_path / "a.sqlite")
    assert part in forecast.as_dict()["stale"]


def test_a_changed_source_of_a_users_method_makes_it_stale(tmp_path, monkeypatch):
    import importlib

    (tmp_path / "mine.py").write_text(
        "from lab_methods import Still\nclass Mine(Still):\n    pass\n"
    )
    file = write_lab(tmp_path, {"Mine": 'use = "mine:Mine"'})
    Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=0)
    (tmp_path / "mine.py").write_text(
        "from lab_methods import Still\nclass Mine(Still):\n    other = 1\n"
    )
    importlib.reload(sys.modules["mine"])
    forecast = Experiment.from_toml(file).forecast(tmp_path / "a.sqlite")
    del sys.modules["mine"]
    assert forecast.as_dict()["stale"] == {"mine.py": 3}


def test_overwriting_one_method_leaves_the_others_alone(tmp_path):
    file = write_lab(tmp_path, GOOD)
    Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=0)
    forecast = Experiment.from_toml(file).forecast(tmp_path / "a.sqlite", overwrite="Random")
    assert {cell.method for cell in forecast.to_run} == {"Random"}
    assert forecast.reused_fits == 0
    before = contents(tmp_path / "a.sqlite")
    Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=0, overwrite=True)
    assert contents(tmp_path / "a.sqlite") == before
    with pytest.raises(InputError, match="unknown method 'Randon': did you mean 'Random'"):
        Experiment.from_toml(file).run(tmp_path / "a.sqlite", overwrite="Randon")


def test_two_names_for_one_content_are_one_piece_of_work(tmp_path):
    file = write_lab(tmp_path, {"A": 'use = "variance"', "B": 'use = "variance"'})
    experiment = Experiment.from_toml(file)
    assert len(experiment.forecast(tmp_path / "a.sqlite").to_run) == 3
    scores = experiment.run(tmp_path / "a.sqlite", workers=0).scores()
    by_method = [scores[scores["method"] == name]["value"].tolist() for name in "AB"]
    assert by_method[0] == by_method[1]
    assert len(by_method[0]) == 24


def test_both_grids_share_one_cell_and_are_told_apart(tmp_path):
    protocol = (
        "k = { min = 2, max = 4, step = 2 }\np = { min = 0.5, max = 1.0, step = 0.5, target ="
        " 0.5 }\n"
    )
    file = write_lab(
        tmp_path, {"V": 'use = "variance"'}, protocol=protocol + 'metrics = ["micro_f1"]'
    )
    scores = Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=0).scores()
    assert scores.groupby("protocol")["at"].unique().map(list).to_dict() == {
        "curve-k": [2.0, 4.0],
        "curve-p": [0.5, 1.0],
    }


BAD = {
    "Good": 'use = "lab_methods:Still"',
    "Raises": 'use = "lab_methods:Raises"',
    "Strange": 'use = "lab_methods:RaisesStrangely"',
    "NaN": 'use = "lab_methods:GivesNaN"',
    "NoPermutation": 'use = "lab_methods:GivesNoPermutation"',
    "Writes": 'use = "lab_methods:WritesIntoItsInput"',
    "Killed": 'use = "lab_methods:IsKilled"',
    "Hangs": 'use = "lab_methods:Hangs"',
    "HangsDeep": 'use = "lab_methods:HangsInNativeCode"',
}


def test_a_method_that_misbehaves_costs_its_own_cells_only(tmp_path):
    file = write_lab(tmp_path, BAD, split="folds = 2", limits="seconds = 4.0")
    results = Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=2)
    places = results.places().groupby("method")[["status", "why"]].agg(lambda column: set(column))
    assert places["status"].to_dict() == {
        "Good": {"done"},
        "Raises": {"failed"},
        "Strange": {"failed"},
        "NaN": {"failed"},
        "NoPermutation": {"failed"},
        "Writes": {"done"},
        "Killed": {"failed"},
        "Hangs": {"timeout"},
        "HangsDeep": {"timeout"},
    }
    why = {method: " ".join(reasons) for method, reasons in places["why"].items()}
    assert why["Raises"] == "ArithmeticError: the matrix is singular"
    assert why["Strange"] == "NeedsTwoWords: odd error"
    assert "1 NaN or infinite feature scores" in why["NaN"]
    assert "no permutation" in why["NoPermutation"]
    assert "worker process died" in why["Killed"]
    assert why["Hangs"] == "took longer than the limit of 4 s"
    raised = results.failures().query("method == 'Raises'")["traceback"].iloc[0]
    assert "lab_methods.py" in raised
    assert "ArithmeticError" in raised


def test_failed_cells_are_kept_until_they_are_asked_for_again(tmp_path):
    file = write_lab(tmp_path, {"Raises": 'use = "lab_methods:Raises"'})
    Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=0)
    assert Experiment.from_toml(file).forecast(tmp_path / "a.sqlite").to_run == ()
    assert (
        len(Experiment.from_toml(file).forecast(tmp_path / "a.sqlite", retry_failed=True).to_run)
        == 3
    )
    results = Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=0, retry_failed=True)
    assert len(results.failures()) == 3


def test_a_time_limit_without_processes_is_refused(tmp_path):
    experiment = Experiment(["wine-traits"], {"V": "variance"}, seconds_limit=1.0)
    with pytest.raises(
        InputError, match="a time or memory limit needs processes that can be ended"
    ):
        experiment.run(tmp_path / "a.sqlite", isolation="none")
    assert not (tmp_path / "a.sqlite").exists()


def test_a_class_of_the_script_itself_can_be_a_method(tmp_path):
    class Mine:
        def fit(self, X, Y):
            self.ranking_ = np.arange(X.shape[1])[::-1]
            return self

    results = Experiment(["wine-traits"], {"Mine": Mine}, {"folds": 2}).run(
        tmp_path / "a.sqlite", workers=1
    )
    assert results.reader().ranking("wine-traits", 0, "Mine")[0] == 10


def test_the_ranking_of_an_unknown_cell_is_refused(tmp_path):
    results = Experiment(["wine-traits"], {"V": "variance"}, {"folds": 2}).run(
        tmp_path / "a.sqlite", workers=0
    )
    with pytest.raises(InputError, match="no cell of method 'W'"):
        results.reader().ranking("wine-traits", 0, "W")
    with pytest.raises(
        InputError, match="unknown metric in this store 'mirco_f1': did you mean 'micro_f1'"
    ):
        results.scores("mirco_f1")


def test_nothing_declared_is_refused():
    with pytest.raises(InputError, match="no dataset"):
        Experiment([], {"V": "variance"})
    with pytest.raises(InputError, match="no method"):
        Experiment(["wine-traits"], {})


def test_results_can_be_read_while_nothing_ran_yet(tmp_path):
    from paragone.lab.store import Store

    Store(tmp_path / "a.sqlite", create=True).close()
    with Results.open(tmp_path / "a.sqlite") as results:
        assert results.scores().empty
        assert repr(results) == "Results of no experiment in a.sqlite: nothing planned"


def test_a_configured_estimator_and_its_declaration_are_the_same_method():
    assert (
        Method.declare(DAGFS(alpha=0.3)).identity()
        == Method.declare({"use": "dagfs", "params": {"alpha": 0.3}}).identity()
    )
