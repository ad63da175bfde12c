"""Columns chosen by the target on all rows have a sharp edge; those chosen on train, or by nobody, do not."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr
from sklearn.feature_selection import SelectKBest, f_classif, f_regression

from paragone.checks.selection import _strengths, check_chosen, edge_chance, edge_of
from paragone.data import Dataset

sys.path.insert(0, str(Path(__file__).parent))
from made_labs import found_by, halves, material


def made(kind: str, n: int = 100, d: int = 2000, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = {
        "a number": rng.normal(size=n),
        "two": rng.integers(0, 2, n),
        "four": rng.integers(0, 4, n),
    }[kind]
    return X, y, "regression" if kind == "a number" else "classification"


def codes(X, y, task, *sides) -> list[str]:
    data = Dataset("made", X, y, task)
    return [
        f.code
        for f in found_by(check_chosen, material(data, *(sides or (halves(len(y)),)))).findings
    ]


@pytest.mark.parametrize("kind", ["a number", "two", "four"])
def test_selection_on_all_rows_is_found_and_on_train_or_by_nobody_is_not(kind):
    X, y, task = made(kind)
    select = SelectKBest(f_regression if task == "regression" else f_classif, k=40)
    assert codes(select.fit_transform(X, y), y, task) == ["PG123"]
    train, held = halves(100)
    assert codes(select.fit(X[train], y[train]).transform(X), y, task, (train, held)) == []
    assert codes(X[:, :40], y, task) == []


def test_true_signals_among_the_chosen_do_not_hide_them():
    X, y, task = made("a number")
    X[:, :8] += y[:, None]
    assert codes(SelectKBest(f_regression, k=40).fit_transform(X, y), y, task) == ["PG123"]


def test_columns_that_are_all_strong_were_not_chosen():
    rng = np.random.default_rng(0)
    for seed in range(20):
        y = rng.normal(size=200)
        assert codes(rng.normal(size=(200, 30)) + 0.3 * y[:, None], y, "regression") == [], seed


def test_columns_of_one_trait_share_their_errors_and_are_not_taken_for_chosen():
    rng = np.random.default_rng(0)
    for seed in range(20):
        trait = rng.normal(size=(150, 1))
        y = trait[:, 0] + 0.5 * rng.normal(size=150)
        assert codes(trait + 0.5 * rng.normal(size=(150, 40)), y, "regression") == [], seed


def test_gaps_text_and_columns_too_many_are_counted_as_left_out():
    X, y, _ = made("two", d=320)
    X[3, 5] = np.nan
    ledger = found_by(check_chosen, material(Dataset("made", X, y, "classification"), halves(100)))
    assert [one.count for one in ledger.checked] == [299]
    assert [one.count for one in ledger.unchecked] == [21]


def test_strengths_are_fishers_z():
    X, y, _ = made("a number", d=5)
    strengths, left = _strengths(X, y[:, None])
    for j in range(5):
        assert strengths[j] == pytest.approx(abs(np.arctanh(pearsonr(X[:, j], y)[0])) * np.sqrt(97))
    assert np.abs(left.T @ (y - y.mean())).max() < 1e-10


@pytest.mark.parametrize("freedom", [1, 3])
def test_the_chance_bounds_what_draws_show_for_every_strength_of_effect(freedom):
    rng = np.random.default_rng(0)
    k, middle = 12, 5
    errors = rng.normal(size=(100_000, k, freedom))
    effects = {
        "none": np.zeros(k),
        "equal": np.full(k, 4.0),
        "two strengths": np.where(np.arange(k) < 6, 3.0, 6.0),
        "any": rng.exponential(3.0, size=(100_000, k)),
    }
    for name, effect in effects.items():
        shifted = errors.copy()
        shifted[:, :, 0] += effect
        strengths = np.sort(np.sqrt((shifted**2).sum(axis=2)), axis=1)
        for to_middle in (0.5, 0.8):
            met = (strengths[:, 0] >= 1.0) & (strengths[:, middle] - strengths[:, 0] <= to_middle)
            bound = edge_chance(k, 1.0, to_middle, freedom)
            assert met.mean() <= bound * 1.02 + 3 * np.sqrt(bound / 100_000), name
            if name == "equal":
                assert met.mean() > bound / 3, "the bound is nearly reached"


def test_few_columns_or_a_weak_one_have_no_edge():
    X, y, _ = made("a number", d=9)
    assert edge_of(X + y[:, None], y[:, None])[0] is None
    X, y, _ = made("a number", d=30)
    assert edge_of(X, y[:, None])[0] is None
