"""Synthetic data: what is called relevant is, what is called irrelevant is not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from paragone.data import make_synthetic
from paragone.errors import InputError


def columns(dataset: object, kind: str) -> np.ndarray:
    return dataset.X[:, [name.startswith(kind + "_") for name in dataset.feature_names]]


def explained(X: np.ndarray, y: np.ndarray) -> float:
    return float(LinearRegression().fit(X, y).score(X, y))


def test_the_same_seed_gives_the_same_bytes_and_another_one_others() -> None:
    assert make_synthetic(seed=3).fingerprint == make_synthetic(seed=3).fingerprint
    assert make_synthetic(seed=3).fingerprint != make_synthetic(seed=4).fingerprint


def test_relevant_features_explain_the_labels_and_irrelevant_ones_do_not() -> None:
    dataset = make_synthetic(n_samples=4000, seed=1)
    for label in dataset.y.T.astype(float):
        assert explained(columns(dataset, "relevant"), label) > 0.4
        assert explained(columns(dataset, "irrelevant"), label) < 0.02


def test_redundant_features_follow_from_relevant_ones() -> None:
    dataset = make_synthetic(n_samples=2000, seed=1)
    for column in columns(dataset, "redundant").T:
        assert explained(columns(dataset, "relevant"), column) > 0.95


def test_every_label_has_the_asked_share_of_positives() -> None:
    dataset = make_synthetic(n_samples=400, density=0.15)
    assert dataset.y.sum(axis=0).tolist() == [60] * 6


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_samples": 0},
        {"n_redundant": -1},
        {"features_per_label": 13},
        {"density": 1.0},
        {"noise": -1.0},
    ],
)
def test_sizes_that_make_no_sense_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match="synthetic data"):
        make_synthetic(**wrong)
