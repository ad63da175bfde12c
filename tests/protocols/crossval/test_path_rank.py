"""One PLS fit serves a whole grid only as far as its features have rank; beyond it every member is its own fit."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.cross_decomposition import PLSRegression

from paragone import Dataset
from paragone.lab.cells import FitContext, SplitData
from paragone.lab.protocol import fit_in
from paragone.protocols import Crossval
from paragone.protocols.crossval.variants import expand

from .conftest import PLS


def low_rank(rng, n, p, rank):
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p))


def both_roads(X, y, sizes, *, scale, n_fit):
    """Yield for each number of components what is shared, what scikit-learn fits alone, and the notes."""
    data = SplitData(X[:n_fit], y[:n_fit], X[n_fit:], y[n_fit:], "regression")
    protocol = Crossval()
    for variant in expand(
        {"P": {"use": PLS, "params": {"scale": scale}, "grid": {"n_components": sizes}}}
    ).values():
        size = variant.params["n_components"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alone = PLSRegression(size, scale=scale).fit(X[:n_fit], y[:n_fit])
            fitted = fit_in(protocol, replace(data, context=FitContext(variant)))
        notes = protocol.scores(fitted, data).notes
        yield (
            size,
            fitted.arrays["y"],
            np.concatenate([alone.predict(part) for part in (X[:n_fit], X[n_fit:])]),
            notes,
        )


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    rank=st.integers(1, 8),
    beyond=st.integers(0, 5),
    scale=st.booleans(),
    targets=st.integers(1, 2),
)
def test_every_member_of_a_path_is_its_own_fit_whatever_the_rank(
    seed, rank, beyond, scale, targets
):
    rng = np.random.default_rng(seed)
    X = low_rank(rng, 30, 20, rank) + rng.normal(size=20)
    # Scaling a feature that hardly varies blows its rounding up to a direction of its own.
    spread = X[:24].std(axis=0)
    assume(not scale or spread.min() > 1e-2 * spread.max())
    y = X[:, :targets] + 0.3 * rng.normal(size=(30, targets))
    sizes = list(range(1, rank + beyond + 1))
    for size, shared, alone, notes in both_roads(
        X, y if targets > 1 else y[:, 0], sizes, scale=scale, n_fit=24
    ):
        np.testing.assert_allclose(
            shared, alone.reshape(shared.shape), rtol=0, atol=1e-10 * y.std()
        )
        told = [note for note in notes if "numerical rank" in note]
        assert told == [
            f"has {size} components, but its features have numerical rank {rank}: what is beyond it"
            " is decided by rounding"
        ] * (size > rank)


@pytest.mark.parametrize("scale", [True, False])
def test_features_whose_rank_fades_out_do_not_poison_the_first_components(scale):
    """Powers of one variable: no sharp rank, each component a tenth of the last; all were wrong once the last was."""
    X = np.vander(np.linspace(0.05, 1, 40), 15)
    y = np.random.default_rng(0).normal(size=40)
    for size, shared, alone, _ in both_roads(X, y, list(range(1, 16)), scale=scale, n_fit=32):
        np.testing.assert_allclose(
            shared, alone.reshape(shared.shape), rtol=0, atol=1e-10 * y.std(), err_msg=str(size)
        )


def test_a_target_that_is_explained_early_ends_the_path_there():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 12))
    X[:, 1:] = 0.0
    for _, shared, alone, _ in both_roads(X, X[:, 0] * 2, [1, 2, 5], scale=False, n_fit=24):
        np.testing.assert_allclose(shared, alone.reshape(shared.shape), rtol=0, atol=1e-10)


def test_constant_features_and_a_constant_target_are_no_special_case():
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=(30, 3)), np.ones((30, 2))])
    for y in (X[:, 0] + X[:, 1], np.ones(30)):
        for _, shared, alone, _ in both_roads(X, y, [1, 2, 3, 4], scale=True, n_fit=24):
            np.testing.assert_allclose(shared, alone.reshape(shared.shape), rtol=0, atol=1e-10)


def test_a_run_shared_or_not_gives_the_same_ledger_beyond_the_rank_and_says_which_cells_are_there(
    crossvalidate,
):
    rng = np.random.default_rng(6)
    X = low_rank(rng, 40, 30, 4)
    data = Dataset("flat", X, X[:, 0] + 0.2 * rng.normal(size=40), "regression")
    methods = {
        "PLS": {"use": PLS, "grid": {"n_components": [1, 4, 5, 9]}, "steps": [["raw", "center"]]}
    }
    shared = crossvalidate(data, methods, store="shared")
    alone = crossvalidate(data, methods, store="alone", share=False)
    gap = np.abs(shared.reader().ledger()["y_pred"] - alone.reader().ledger()["y_pred"])
    assert gap.max() < 1e-10 * data.y.std()
    for results in (shared, alone):
        places = results.places()
        told = places["notes"].fillna("").str.contains("numerical rank 4")
        assert (told == places["method"].str.contains("=5|=9")).all()
        results.close()
