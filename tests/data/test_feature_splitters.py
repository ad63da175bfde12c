"""A splitter is given what the dataset holds: its features, dense or sparse, its target and its groups."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from paragone import Crossval, Experiment, InputError
from paragone.data import Dataset, SplitPlan, make_splits

from . import feature_splitters as own

HERE = own.__name__


def parts(dataset, name, **params):
    splits = make_splits(dataset, SplitPlan(kind=f"{HERE}:{name}", params=params), seed=5)
    return [(split.train.tolist(), split.test.tolist()) for split in splits]


def blobs(*, as_sparse=False):
    """Three far blobs whose rows are mixed, so that no split by place finds them."""
    X, blob = make_blobs(60, 4, centers=np.eye(3, 4) * 50, random_state=2)
    return Dataset("blobs", sparse.csr_array(X) if as_sparse else X, X[:, 0], "regression"), blob


@pytest.mark.parametrize("as_sparse", [False, True])
def test_folds_by_k_means_are_the_blobs(as_sparse):
    dataset, blob = blobs(as_sparse=as_sparse)
    found = parts(dataset, "KMeansFolds", n_splits=3)
    assert sorted(test for _, test in found) == sorted(
        np.flatnonzero(blob == b).tolist() for b in range(3)
    )


@pytest.mark.parametrize("as_sparse", [False, True])
def test_kennard_stone_takes_the_ends_then_what_is_furthest_from_all_taken(as_sparse):
    """By hand: of 0, 1, 3, 7, 15 the ends first, then 7 (7 from 0), then 3 (3 from 0; 1 is 1 from it)."""
    X = np.array([[3.0], [0.0], [15.0], [1.0], [7.0]])
    dataset = Dataset("line", sparse.csr_array(X) if as_sparse else X, np.arange(5), "regression")
    assert parts(dataset, "KennardStone", n_train=0.8) == [([0, 1, 2, 4], [3])]
    assert parts(dataset, "KennardStone", n_train=0.6) == [([1, 2, 4], [0, 3])]


def test_spxy_looks_at_the_target_too():
    """By hand: with the same features everywhere it is Kennard-Stone on the target, here the line of before."""
    line = np.array([3.0, 0.0, 15.0, 1.0, 7.0])
    by_target = Dataset("flat", np.ones((5, 2)), line, "regression")
    assert parts(by_target, "SPXY", n_train=0.6) == [([1, 2, 4], [0, 3])]
    by_features = Dataset("line", line[:, None], np.ones(5), "regression")
    assert parts(by_features, "SPXY", n_train=0.6) == [([1, 2, 4], [0, 3])]


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("groups", [None, np.repeat(["a", "b"], 4)])
def test_a_splitter_sees_exactly_what_the_dataset_holds(as_sparse, groups):
    X = np.random.default_rng(0).normal(size=(8, 3))
    X[0, 0] = np.nan
    y = np.array(["no", "yes"] * 4)
    dataset = Dataset(
        "d", sparse.csr_array(X) if as_sparse else X, y, "classification", groups=groups
    )
    own.Witness.saw.clear()
    parts(dataset, "Witness")
    ((seen, target, grouped),) = own.Witness.saw
    assert sparse.issparse(seen) is as_sparse
    np.testing.assert_array_equal(own.dense(seen), X)
    np.testing.assert_array_equal(target, y)
    assert (grouped is None) if groups is None else (grouped == groups).all()


@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_splitter_that_writes_into_its_arrays_changes_nothing_for_anybody_else(as_sparse):
    X = np.random.default_rng(0).normal(size=(8, 3))
    dataset = Dataset(
        "d",
        sparse.csr_array(X) if as_sparse else X,
        np.arange(8.0),
        "regression",
        np.arange(8) // 2,
    )
    before = Dataset(
        "d", dataset.X.copy(), dataset.y.copy(), "regression", dataset.groups.copy()
    ).fingerprint
    parts(dataset, "Vandal")
    assert Dataset("d", dataset.X, dataset.y, "regression", dataset.groups).fingerprint == before


def test_scikit_learns_own_splitters_take_sparse_and_missing_values():
    X = np.random.default_rng(0).normal(size=(12, 3))
    X[3] = np.nan
    y = np.arange(12) % 2
    plans = [
        SplitPlan(folds=3),
        SplitPlan(kind="holdout", folds=2),
        SplitPlan(folds=3, shuffle=False),
    ]
    for plan in plans:
        whole = make_splits(Dataset("d", X, y, "classification"), plan, seed=0)
        assert (
            make_splits(Dataset("d", sparse.csr_array(X), y, "classification"), plan, seed=0)
            == whole
        )


def test_a_splitter_that_fails_is_refused_in_one_sentence():
    dataset, _ = blobs()
    with pytest.raises(
        InputError, match=r"dataset 'blobs' cannot be split by .*Failing.*list index out of range"
    ):
        parts(dataset, "Failing")
    with pytest.raises(InputError, match=r"cannot be split by .*KMeansFolds"):
        parts(dataset, "KMeansFolds", n_splits=61)


def test_a_cross_validation_shows_its_splitter_the_train_rows_and_never_the_test_rows():
    dataset, _ = blobs()
    own.Witness.saw.clear()
    tested = [0, 7, 31]
    experiment = Experiment(
        [dataset],
        {"M": "sklearn.dummy:DummyRegressor"},
        {"kind": f"{HERE}:Witness"},
        Crossval(test=tested),
    )
    assert experiment.cells()
    ((seen, target, _),) = own.Witness.saw
    kept = np.setdiff1d(np.arange(60), tested)
    np.testing.assert_array_equal(seen, dataset.X[kept])
    np.testing.assert_array_equal(target, dataset.y[kept])


def test_a_file_and_python_split_by_the_features_alike(tmp_path):
    dataset, blob = blobs()
    columns = ",".join([*(f"x{j}" for j in range(4)), "y"])
    table = np.column_stack([dataset.X, dataset.y])
    np.savetxt(
        tmp_path / "blobs.csv", table, delimiter=",", header=columns, comments="", fmt="%.17g"
    )
    (tmp_path / "splitters_of_mine.py").write_text(
        f"from {HERE} import KMeansFolds as ByCluster\n", encoding="utf-8"
    )
    (tmp_path / "lab.toml").write_text(
        'name = "clusters"\nseed = 5\n[[data.sets]]\npath = "blobs.csv"\ntarget = "y"\ntask ='
        ' "regression"\n[split]\nkind = "splitters_of_mine:ByCluster"\nparams = { n_splits = 3'
        ' }\n[protocol]\nkind = "crossval"\n[methods.Mean]\nuse = "sklearn.dummy:DummyRegressor"\n',
        encoding="utf-8",
    )
    with Experiment.from_toml(tmp_path / "lab.toml").run(
        tmp_path / "a.sqlite", workers=0
    ) as results:
        by_file = results.reader().ledger()
    plan = {"kind": f"{HERE}:KMeansFolds", "params": {"n_splits": 3}}
    experiment = Experiment(
        [dataset], {"Mean": "sklearn.dummy:DummyRegressor"}, plan, Crossval(), seed=5
    )
    with experiment.run(tmp_path / "b.sqlite", workers=0) as results:
        by_python = results.reader().ledger()
    for ledger in (by_file, by_python):
        validated = ledger[ledger["role"] == "val"]
        folds = {frozenset(rows["sample"]) for _, rows in validated.groupby("fold")}
        assert folds == {frozenset(np.flatnonzero(blob == b)) for b in range(3)}
    np.testing.assert_array_equal(by_file["y_pred"], by_python["y_pred"])
