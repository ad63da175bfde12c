"""Columns: copies of labels, columns that determine one, scaled, constant and numbering columns."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from paragone.checks.columns import check_columns
from paragone.checks.features import COPIES, check_label_features, giveaways
from paragone.checks.material import columns_of
from paragone.checks.scaling import check_scaled
from paragone.data import Dataset, load

sys.path.insert(0, str(Path(__file__).parent))
from made_labs import found_by, halves, material


def cloud(n: int = 200, d: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def codes(check, dataset) -> dict[str, int]:
    return {
        f.code: f.count
        for f in found_by(check, material(dataset, halves(dataset.n_samples))).findings
    }


class TestLabels:
    def labels(self, n=200, seed=3) -> np.ndarray:
        return (np.random.default_rng(seed).random((n, 4)) < [0.5, 0.2, 0.05, 0.5]).astype(int)

    @pytest.mark.parametrize("copy", [lambda y: y, lambda y: 1 - y, lambda y: 7.0 - 3 * y])
    def test_a_copy_or_recoding_of_a_label_is_found(self, copy):
        X, Y = cloud(), self.labels()
        X[:, 2] = copy(Y[:, 1])
        assert codes(check_label_features, Dataset("made", X, Y, "multilabel")) == {"PG105": 1}

    def test_a_threshold_that_separates_is_found(self):
        X, Y = cloud(), self.labels()
        X[:, 4] = Y[:, 0] + 0.9 * np.random.default_rng(0).random(200)
        found = giveaways(columns_of(Dataset("made", X, Y, "multilabel")))
        assert [(g.feature, g.label, g.how, g.how in COPIES) for g in found] == [
            ("x4", "y0", "separates by a threshold", False)
        ]

    def test_a_code_of_many_values_with_one_label_each_is_found(self):
        X, Y = cloud(), self.labels()
        X[:, 0] = 2 * np.random.default_rng(0).integers(0, 5, 200) + Y[:, 3]
        found = giveaways(columns_of(Dataset("made", X, Y, "multilabel")))
        assert [(g.feature, g.label, g.how in COPIES) for g in found] == [("x0", "y3", False)]

    def test_missing_values_that_mark_a_label_are_found(self):
        X, Y = cloud(), self.labels()
        X[Y[:, 0] == 1, 5] = np.nan
        assert codes(check_label_features, Dataset("made", X, Y, "multilabel")) == {"PG106": 1}

    def test_chance_with_few_rows_does_not_count(self):
        # With 8 rows and 3000 features some feature always separates 3 of them.
        X, y = cloud(8, 3000), np.array([1, 1, 1, 0, 0, 0, 0, 0])
        assert any((X[:3, j].min() > X[3:, j].max()) for j in range(3000))
        assert codes(check_label_features, Dataset("made", X, y, "classification")) == {}

    def test_a_rare_label_met_by_chance_does_not_count(self):
        X, Y = cloud(300, 500), np.zeros((300, 2), dtype=int)
        Y[7, 0] = Y[[1, 2], 1] = 1
        assert codes(check_label_features, Dataset("made", X, Y, "multilabel")) == {}

    def test_features_without_bearing_are_silent(self):
        X = np.column_stack([cloud(), np.random.default_rng(4).integers(0, 2, (200, 5))])
        assert codes(check_label_features, Dataset("made", X, self.labels(), "multilabel")) == {}

    def test_a_label_that_nobody_or_everybody_has_is_silent(self):
        Y = np.zeros((200, 2), dtype=int)
        Y[:, 1] = 1
        assert codes(check_label_features, Dataset("made", cloud(), Y, "multilabel")) == {}

    def test_classes_recoded_are_a_copy_and_one_class_set_apart_is_determined(self):
        y = np.random.default_rng(0).choice(["a", "b", "c"], 150)
        X = cloud(150)
        X[:, 1] = [{"a": 3.0, "b": -1.0, "c": 8.0}[label] for label in y]
        assert codes(check_label_features, Dataset("made", X, y, "classification")) == {"PG105": 1}
        X[:, 1] = np.where(y == "b", 7.0, 2.0)
        (found,) = giveaways(columns_of(Dataset("made", X, y, "classification")))
        assert (found.how in COPIES, found.how) == (
            False,
            "separates by a threshold the class b of",
        )

    def test_measurements_that_set_one_class_of_several_apart_are_silent(self):
        iris = load("iris")
        assert iris.X[iris.y == "setosa", 2].max() < iris.X[iris.y != "setosa", 2].min()
        assert codes(check_label_features, iris) == {}

    @pytest.mark.parametrize("task", ["classification", "regression"])
    def test_rows_that_stand_there_twice_or_belong_to_a_group_count_once(self, task):
        rng = np.random.default_rng(0)
        X, y = (
            rng.normal(size=(60, 4)),
            rng.integers(0, 2, 60) if task == "classification" else rng.normal(size=60),
        )
        rows = rng.permutation(np.repeat(np.arange(60), 4))
        assert codes(check_label_features, Dataset("made", X[rows], y[rows], task)) == {}
        noisy = X[rows] + np.array([0.0, 1.0, 1.0, 1.0]) * rng.normal(size=(240, 4))
        declared = Dataset("made", noisy, y[rows], task, groups=rows)
        assert codes(check_label_features, declared) == {}
        hidden = Dataset("made", noisy, y[rows], task)
        assert codes(check_label_features, hidden) == {
            "PG106": 1
        }  # x0 knows who a row was measured on

    def test_a_copy_among_coarse_columns_is_found_though_rows_repeat(self):
        y = np.random.default_rng(0).integers(0, 2, 100)
        for others in (np.empty((100, 0)), np.random.default_rng(1).integers(0, 3, (100, 2))):
            X = np.column_stack([y, others]).astype(float)
            assert codes(check_label_features, Dataset("made", X, y, "classification")) == {
                "PG105": 1
            }

    def test_a_target_on_a_line_is_a_copy_and_a_rising_function_determines(self):
        X = cloud()
        y = np.random.default_rng(1).normal(size=200)
        X[:, 0], X[:, 1] = 3 - 2 * y, np.exp(y)
        found = giveaways(columns_of(Dataset("made", X, y, "regression")))
        assert [(g.feature, g.how in COPIES) for g in found] == [("x0", True), ("x1", False)]

    def test_an_id_of_groups_that_share_their_target_determines_it(self):
        group = np.repeat(np.arange(40), 5)
        X, y = cloud(), np.random.default_rng(2).normal(size=40)[group]
        X[:, 3] = np.random.default_rng(3).permutation(40)[group]
        found = giveaways(columns_of(Dataset("made", X, y, "regression")))
        assert [(g.feature, g.how in COPIES) for g in found] == [("x3", False)]

    def test_a_regression_without_giveaways_is_silent(self):
        assert codes(check_label_features, load("diabetes")) == {}


class TestColumns:
    def test_constant_and_numbering_columns_are_found(self):
        X = cloud()
        X[:, 0], X[:, 1], X[:, 2] = (
            4.0,
            np.arange(200),
            np.random.default_rng(0).permutation(200) + 17,
        )
        found = found_by(
            check_columns, material(Dataset("made", X, cloud()[:, 0], "regression"), halves(200))
        ).findings
        assert {f.code: f.count for f in found} == {"PG108": 1, "PG109": 2}
        assert (
            next(f for f in found if f.code == "PG109").examples[1]
            == "x2 holds every number from 17 to 216 once"
        )

    def test_plain_columns_are_silent(self):
        X = np.column_stack([cloud(), np.random.default_rng(0).integers(0, 200, 200)])
        assert codes(check_columns, Dataset("made", X, cloud()[:, 0], "regression")) == {}

    @pytest.mark.parametrize("ddof", [0, 1])
    def test_data_standardised_as_a_whole_are_found(self, ddof):
        X = cloud()
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=ddof)
        (found,) = found_by(
            check_scaled, material(Dataset("made", X, X[:, 0], "regression"), halves(200))
        ).findings
        assert (found.code, found.count, found.total) == ("PG107", 6, 6)

    def test_data_brought_to_the_unit_interval_as_a_whole_are_found(self):
        X = cloud()
        X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
        X /= X.max(axis=0)
        assert codes(check_scaled, Dataset("made", X, X[:, 0], "regression")) == {"PG107": 6}

    def test_data_scaled_on_train_alone_are_silent(self):
        X = cloud()
        train, held = halves(200)
        X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
        made = material(Dataset("made", X, X[:, 0], "regression"), (train, held))
        assert not found_by(check_scaled, made).findings

    def test_counts_and_indicators_are_not_taken_for_scaled(self):
        X = np.random.default_rng(0).integers(0, 2, (200, 8)).astype(float)
        assert codes(check_scaled, Dataset("made", X, cloud()[:, 0], "regression")) == {}


def test_names_that_are_all_different_do_not_rise_because_they_are_numbered_as_they_come():
    import pandas as pd

    names = [f"P{k:04d}" for k in np.random.default_rng(0).permutation(60)]
    for given, wanted in ((names, {}), (sorted(names), {"PG109": 1})):
        frame = pd.DataFrame({"id": given, "a": np.random.default_rng(1).normal(size=60)})
        assert (
            codes(check_columns, Dataset("d", frame, np.arange(60) % 2, "classification")) == wanted
        )
