"""Means of the target over all rows in a feature: found by their exactness, and not where they are those of train."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import TargetEncoder

from paragone.checks.target_means import check_target_means
from paragone.data import Dataset

sys.path.insert(0, str(Path(__file__).parent))
from made_labs import found_by, halves, material

KINDS = ("two classes", "three classes", "a number", "counts")


def made(kind: str, n: int = 200, n_categories: int = 15, seed: int = 0):
    """Noise, a category without bearing on the target, and the target that is averaged."""
    rng = np.random.default_rng(seed)
    y = {
        "two classes": (rng.random(n) < 0.3).astype(int),
        "three classes": rng.integers(0, 3, n),
        "a number": rng.normal(size=n),
        "counts": rng.poisson(3, n),
    }[kind]
    task = "classification" if kind.endswith("classes") else "regression"
    averaged = (y == 1).astype(float) if kind.endswith("classes") else y.astype(float)
    return rng.normal(size=(n, 5)), rng.integers(0, n_categories, n), y, averaged, task


def findings(X, y, task, **more) -> list[tuple[str, int, tuple[str, ...]]]:
    data = Dataset("made", X, y, task, **more)
    return [
        (f.code, f.count, f.examples)
        for f in found_by(check_target_means, material(data, halves(data.n_samples))).findings
    ]


def naive_means(category, averaged, weight: float = 0.0) -> np.ndarray:
    prior = float(np.mean(averaged))
    values = []
    for one in category:
        mine = [t for t, other in zip(averaged, category, strict=True) if other == one]
        values.append((sum(mine) + weight * prior) / (len(mine) + weight))
    return np.array(values)


@pytest.mark.parametrize("n_categories", [8, 60])
@pytest.mark.parametrize("kind", KINDS)
class TestEncoders:
    def test_plain_and_weighted_means_of_all_rows(self, kind, n_categories):
        X, category, y, averaged, task = made(kind, n_categories=n_categories)
        for weight, how in ((0.0, "is the mean of"), (5.0, "is a mean with a fixed weight of")):
            X[:, 2] = naive_means(category, averaged, weight)
            ((code, count, examples),) = findings(X, y, task)
            assert (code, count) == ("PG122", 1)
            assert examples[0].startswith(f"x2 {how} ")

    def test_the_encoder_of_scikit_learn_fitted_on_all_rows(self, kind, n_categories):
        X, category, y, averaged, task = made(kind, n_categories=n_categories)
        encoder = TargetEncoder(target_type="binary" if task == "classification" else "continuous")
        X[:, 2] = encoder.fit(category[:, None], averaged).transform(category[:, None])[:, 0]
        assert findings(X, y, task)[0][:2] == ("PG122", 1)

    def test_means_of_train_are_silent(self, kind, n_categories):
        X, category, y, averaged, task = made(kind, n_categories=n_categories)
        train, _ = halves(200)
        encoder = TargetEncoder(
            target_type="binary" if task == "classification" else "continuous", smooth=0.0
        )
        X[:, 2] = encoder.fit(category[train, None], averaged[train]).transform(category[:, None])[
            :, 0
        ]
        assert findings(X, y, task) == []

    def test_the_mean_over_all_other_rows_beside_its_category(self, kind, n_categories):
        X, category, y, averaged, task = made(kind, n_categories=n_categories)
        counts = np.bincount(category)[category]
        X[:, 2] = (naive_means(category, averaged) * counts - averaged) / np.maximum(counts - 1, 1)
        names = np.array([f"town {one}" for one in range(n_categories)])[category]
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(5)]).assign(town=names)
        assert findings(frame, y, task)[0][:2] == ("PG122", 1)

    def test_categories_themselves_are_silent(self, kind, n_categories):
        X, category, y, _, task = made(kind, n_categories=n_categories)
        X[:, 2], X[:, 3] = category, np.random.default_rng(1).normal(size=n_categories)[category]
        assert findings(X, y, task) == []


def test_labels_are_each_looked_at_and_six_digits_are_enough():
    X, category, *_ = made("two classes", 400)
    Y = (np.random.default_rng(3).random((400, 6)) < 0.3).astype(int)
    X[:, 1] = naive_means(category, Y[:, 4].astype(float)).round(7)
    assert findings(X, Y, "multilabel")[0][2][0].startswith("x1 is the mean of y4")


def test_calibrated_probabilities_of_few_values_are_silent():
    # Levels of 0, 0.1, ... that say the true chance of the label: some of their means are met, not
    # all.
    for seed in range(200):
        rng = np.random.default_rng(seed)
        level = rng.integers(2, 9, 60) / 10
        y = (rng.random(60) < level).astype(int)
        assert findings(np.column_stack([level, rng.normal(size=60)]), y, "classification") == []


def test_a_copy_of_the_target_is_no_mean():
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)[rng.integers(0, 50, 200)]
    assert findings(np.column_stack([y, rng.normal(size=200)]), y, "regression") == []
