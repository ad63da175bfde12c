"""Scalers, rotations and imputers fitted on all rows leave exact statistics; those fitted on train leave none."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom, kstest
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from paragone.checks.scaling import LEVEL, check_scaled, coincidence, scaled_as, unlikely
from paragone.data import Dataset

sys.path.insert(0, str(Path(__file__).parent))
from made_labs import found_by, halves, material

SCALERS = {
    "mean 0 and deviation 1": StandardScaler(),
    "deviation 1": StandardScaler(with_mean=False),
    "least 0 and greatest 1": MinMaxScaler(),
    "least -1 and greatest 1": MinMaxScaler((-1, 1)),
    "greatest size 1": MaxAbsScaler(),
    "median 0 and quartiles 1 apart": RobustScaler(),
    "evenly spaced ranks": QuantileTransformer(n_quantiles=1000),
    "ranks turned into normal scores": QuantileTransformer(
        n_quantiles=1000, output_distribution="normal"
    ),
    "correlations of 0 with each other": PCA(3),
    "right angles between them": TruncatedSVD(3),
}


def skewed(n: int, d: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(size=(n, d))) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))


def findings(X, **more) -> list[tuple[str, int, str]]:
    n = X.shape[0]
    data = Dataset("made", X, np.arange(n) % 2, "classification", **more)
    return [
        (f.code, f.count, f.message)
        for f in found_by(check_scaled, material(data, halves(n))).findings
    ]


@pytest.mark.filterwarnings("ignore:n_quantiles")
@pytest.mark.parametrize("n", [60, 2000])
@pytest.mark.parametrize("how", SCALERS)
def test_a_scaler_fitted_on_all_rows_is_found_and_one_fitted_on_train_is_not(how, n):
    X = skewed(n)
    scaled = SCALERS[how].fit_transform(X)
    ((code, count, message),) = findings(scaled)
    assert (code, count) == ("PG107", scaled.shape[1])
    assert f"have {how} over all rows" in message
    train, _ = halves(n)
    assert findings(SCALERS[how].fit(X[train]).transform(X)) == []
    assert findings(X) == []


def test_columns_of_length_one_and_power_transforms_are_found():
    X = skewed(200)
    assert "squares that sum to 1" in findings(X / np.linalg.norm(X, axis=0))[0][2]
    assert findings(PowerTransformer().fit_transform(X))[0][:2] == ("PG107", 5)


def test_one_scaled_column_among_others_is_found():
    X = skewed(200, 30)
    X[:, 4] = StandardScaler().fit_transform(X[:, [4]])[:, 0]
    assert findings(X)[0][:2] == ("PG107", 1)


def test_six_digits_in_a_file_are_enough():
    assert findings(np.round(StandardScaler().fit_transform(skewed(200)), 6))[0][:2] == ("PG107", 5)


def test_gaps_and_sparse_matrices_are_looked_at_too():
    X = skewed(200)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    assert findings(StandardScaler().fit_transform(X))[0][:2] == ("PG107", 5)
    counts = np.random.default_rng(0).poisson(3, (300, 20)) * np.random.default_rng(1).random(
        (300, 20)
    )
    assert findings(sparse.csr_array(MaxAbsScaler().fit_transform(counts)))[0][:2] == ("PG107", 20)
    assert findings(sparse.csr_array(counts)) == []


def test_columns_centred_in_groups_are_found_where_groups_stand_on_both_sides():
    rng = np.random.default_rng(0)
    X, group = skewed(200), rng.integers(0, 5, 200)
    for one in range(5):
        X[group == one] -= X[group == one].mean(axis=0)
    assert "mean 0 in every declared group" in findings(X, groups=group)[0][2]
    assert "mean 0 in every group of x5" in findings(np.column_stack([X, group]))[0][2]
    data = Dataset("made", X, np.arange(200) % 2, "classification", groups=group)
    by_group = material(data, (np.flatnonzero(group < 3), np.flatnonzero(group >= 3)))
    assert found_by(check_scaled, by_group).findings == []


@pytest.mark.parametrize("strategy", ["mean", "median"])
@pytest.mark.parametrize("kind", ["skewed", "counts"])
def test_gaps_filled_in_with_figures_of_all_rows_are_found(strategy, kind):
    rng = np.random.default_rng(0)
    X = skewed(301) if kind == "skewed" else rng.poisson(20, (301, 5)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    imputer = SimpleImputer(strategy=strategy)
    found = findings(imputer.fit_transform(X))
    if (strategy, kind) == ("median", "counts"):
        assert (
            found == []
        )  # The median of counts is one of them, and cannot be told from a measurement.
    else:
        assert found[0][:2] == ("PG124", 5)
        assert f"that is the {strategy} of the others" in found[0][2]
    train, _ = halves(301)
    assert findings(imputer.fit(X[train]).transform(X)) == []


@pytest.mark.parametrize(
    "made",
    [
        lambda rng: np.round(rng.random((1000, 12)), 2),
        lambda rng: np.clip(np.round(rng.normal(100, 90, (300, 20))), 0, 255) / 255,
        lambda rng: rng.poisson(0.8, (500, 20)) * rng.integers(1, 9, (500, 20)).astype(float),
        lambda rng: np.round(rng.beta(0.3, 0.3, (24, 6)), 3),
        lambda rng: np.clip(np.round(rng.normal(5, 3, (60, 12))), 0, 11),
        lambda rng: rng.random((200, 10)),
    ],
    ids=["two decimals", "pixels", "zeros", "tiny", "scale of 12", "uniform"],
)
def test_bounds_and_grids_of_nature_are_no_mark(made):
    assert [
        found for seed in range(20) for found in findings(made(np.random.default_rng(seed)))
    ] == []


def test_the_chance_of_a_column_is_not_below_what_draws_show():
    # Whole numbers of mean 0 and variance 2: how often is the mean of 30 of them 0, and how often
    # is it 0.1?
    sums = np.random.default_rng(0).integers(-2, 3, (20_000, 30)).sum(axis=1)
    bound = coincidence(1e-6, 1 / 30, np.sqrt(2 / 30))
    for aim in (0, 3):
        share = np.mean(sums == aim)
        assert share <= bound + 3 * np.sqrt(share / 20_000)
    assert np.mean(sums == 0) > bound / 1.1  # It is no loose bound either.


def test_the_chance_over_columns_bounds_the_binomial_tail():
    for measured in (3, 10, 50):
        for chance in (0.001, 0.01, 0.37):
            for k in range(1, measured + 1):
                found = unlikely(dict.fromkeys(range(k), chance), measured)
                if found:
                    assert binom.sf(k - 1, measured, chance) <= LEVEL


def test_even_ranks_have_the_chance_of_kolmogorovs_test():
    ordered = np.sort(np.random.default_rng(1).permutation(40) / 40 + 0.0125)
    assert scaled_as(ordered)["evenly spaced ranks"] == pytest.approx(
        1 - kstest(ordered, "uniform").pvalue, abs=1e-12
    )
