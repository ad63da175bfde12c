"""Tuning on inner splits: the winner is the winner, and nothing outside train is seen."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from paragone import Experiment, ranking_curve
from paragone.data import Dataset, SplitPlan, load, make_splits, scale_split
from paragone.errors import InputError
from paragone.methods.rankers import DAGFS
from paragone.protocols.curve.tuning import TunedRanker

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_files import write_lab


class Chosen:
    """Ranks the one feature it is told to first."""

    def __init__(self, first=0, remark=""):
        self.first = first
        self.remark = remark

    def fit(self, X, Y):
        self.ranking_ = np.r_[self.first, np.delete(np.arange(X.shape[1]), self.first)]
        return self


def one_telling_feature():
    rng = np.random.default_rng(0)
    X = rng.random((120, 5))
    return X, (X[:, [3]] > 0.5).astype(int)


def test_the_best_candidate_wins_by_the_metrics_own_direction():
    X, Y = one_telling_feature()
    for metric in ("micro_f1", "hamming_loss"):
        tuned = TunedRanker(Chosen(), grid={"first": [0, 1, 2, 3, 4]}, metric=metric).fit(X, Y)
        assert tuned.best_params_ == {"first": 3}
        assert tuned.ranking_[0] == 3
        assert tuned.diagnostics_["tuned"] == {"first": 3}


def test_ties_go_to_the_candidate_declared_first():
    X, Y = one_telling_feature()
    for order in (["a", "b"], ["b", "a"]):
        tuned = TunedRanker(Chosen(3), grid={"remark": order}).fit(X, Y)
        assert tuned.candidates_[0]["score"] == tuned.candidates_[1]["score"]
        assert tuned.best_params_ == {"remark": order[0]}


def test_a_candidates_score_is_that_of_the_inner_folds_by_hand():
    dataset = load("wine-traits")
    tuned = TunedRanker(DAGFS(max_iter=5), grid={"alpha": [0.5]}, folds=3, p=0.5, seed=4).fit(
        dataset.X, dataset.y
    )
    values = []
    for split in make_splits(
        Dataset("x", dataset.X, dataset.y, "multilabel"), SplitPlan(folds=3), 4
    ):
        X_train, X_test = scale_split(dataset.X[split.train], dataset.X[split.test], "minmax")
        Y_train, Y_test = dataset.y[split.train], dataset.y[split.test]
        ranking = DAGFS(alpha=0.5, max_iter=5, seed=4).fit(X_train, Y_train).ranking_
        k = round(0.5 * dataset.n_features)
        values.append(ranking_curve(ranking, X_train, Y_train, X_test, Y_test, [k])["micro_f1"][k])
    assert tuned.candidates_[0]["score"] == pytest.approx(np.mean(values), abs=1e-15)


def test_a_space_is_searched_with_optuna_and_repeats_itself():
    X, Y = one_telling_feature()
    space = {"first": {"low": 0, "high": 4}}
    one, two = (TunedRanker(Chosen(), space=space, trials=12, seed=1).fit(X, Y) for _ in range(2))
    assert one.candidates_ == two.candidates_
    assert one.best_params_ == {"first": 3}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "either a grid or a space"),
        (
            {"grid": {"first": [1]}, "space": {"first": {"low": 0, "high": 1}}},
            "either a grid or a space",
        ),
        ({"grid": {"frist": [1]}}, "did you mean 'first'"),
        ({"space": {"first": {"lo": 0}}}, "needs low and high"),
        ({"grid": {"first": [1]}, "metric": "f1"}, "unknown metric"),
    ],
)
def test_impossible_tuning_is_refused(options, sentence):
    X, Y = one_telling_feature()
    with pytest.raises(InputError, match=sentence):
        TunedRanker(Chosen(), **options).fit(X, Y)


def test_an_experiment_file_tunes_inside_train_and_keeps_what_was_chosen(tmp_path):
    body = (
        'use = "dagfs"\nparams = { max_iter = 3 }\n[methods.Tuned.tune]\ngrid = { alpha = [0.1,'
        " 10.0] }\nfolds = 2"
    )
    file = write_lab(tmp_path, {"Tuned": body}, split="folds = 2")
    results = Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=0)
    for fold in range(2):
        diagnostics = results.diagnostics("wine-traits", fold, "Tuned")
        assert set(diagnostics["tuned"]) == {"alpha"}
        assert len(diagnostics["candidates"]) == 2


def test_scrambled_test_labels_do_not_change_what_is_chosen(tmp_path):
    dataset = load("wine-traits")
    split = make_splits(dataset, SplitPlan(folds=2), 0)[0]
    scrambled = dataset.y.copy()
    scrambled[split.test] = 1 - scrambled[split.test]
    chosen = []
    for y in (dataset.y, scrambled):
        tuned = TunedRanker(DAGFS(max_iter=3), grid={"alpha": [0.1, 1.0, 10.0]}, folds=2)
        chosen.append(tuned.fit(dataset.X[split.train], y[split.train]).candidates_)
    assert chosen[0] == chosen[1]


def test_a_repeated_method_has_a_cell_a_seed_and_its_mean_in_the_scores(tmp_path):
    methods = {"Random": 'use = "random"\nseeds = 3', "Variance": 'use = "variance"'}
    results = Experiment.from_toml(write_lab(tmp_path, methods)).run(
        tmp_path / "a.sqlite", workers=0
    )
    every = results.scores("micro_f1", repeats=True)
    assert len(every) == 3 * 4 * (3 + 1)
    assert every.groupby("method")["repeat"].nunique().to_dict() == {"Random": 3, "Variance": 1}
    means = (
        results.scores("micro_f1")
        .query("method == 'Random' and fold == 1 and at == 4")["value"]
        .item()
    )
    wanted = every.query("method == 'Random' and fold == 1 and at == 4")["value"].mean()
    assert means == pytest.approx(wanted)
    assert (
        len(
            {
                tuple(results.reader().ranking("wine-traits", 0, "Random", repeat=r))
                for r in range(3)
            }
        )
        == 3
    )


def test_raising_the_number_of_seeds_keeps_what_is_there(tmp_path):
    file = write_lab(tmp_path, {"Random": 'use = "random"'})
    Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=0)
    file = write_lab(tmp_path, {"Random": 'use = "random"\nseeds = 3'})
    assert len(Experiment.from_toml(file).forecast(tmp_path / "a.sqlite").to_run) == 6
