"""Splits: partitions, groups, official parts, any splitter, and clear refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import model_selection

from paragone.data import (
    Dataset,
    Split,
    SplitPlan,
    describe_splits,
    iterative_stratification,
    load,
    make_splits,
)
from paragone.errors import InputError

NAMES = ["digits-traits", "wine-traits", "iris", "diabetes", "digits-by-writer", "diabetes-by-age"]


def tiny(n: int = 12, task: str = "regression", **more: object) -> Dataset:
    y = {
        "regression": np.arange(n),
        "classification": np.arange(n) % 2,
        "multilabel": np.eye(n, 3),
    }[task]
    return Dataset("tiny", np.arange(2.0 * n).reshape(n, 2), y, task=task, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "plan", [SplitPlan(folds=4), SplitPlan(folds=3, order=2), SplitPlan(stratify=False)]
)
def test_kfold_tests_every_row_once_and_trains_on_the_others(name: str, plan: SplitPlan) -> None:
    dataset = load(name)
    splits = make_splits(dataset, plan, seed=3)
    assert [split.fold for split in splits] == list(range(plan.n_folds))
    np.testing.assert_array_equal(
        np.sort(np.concatenate([s.test for s in splits])), np.arange(dataset.n_samples)
    )
    for split in splits:
        both = np.concatenate([split.train, split.test])
        np.testing.assert_array_equal(np.sort(both), np.arange(dataset.n_samples))
        assert split.train.dtype == split.test.dtype == np.int64


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["kfold", "holdout"])
def test_the_same_seed_gives_the_same_splits(name: str, kind: str) -> None:
    dataset, plan = load(name), SplitPlan(kind=kind, folds=3)
    assert make_splits(dataset, plan, seed=7) == make_splits(dataset, plan, seed=7)


@pytest.mark.parametrize("name", ["digits-traits", "iris", "diabetes", "digits-by-writer"])
def test_another_seed_gives_other_splits(name: str) -> None:
    dataset = load(name)
    assert make_splits(dataset, SplitPlan(), seed=1) != make_splits(dataset, SplitPlan(), seed=2)


@pytest.mark.parametrize("name", ["wine-traits", "iris", "diabetes"])
def test_fold_f_of_a_holdout_is_the_first_fold_of_seed_plus_f(name: str) -> None:
    dataset = load(name)
    many = make_splits(dataset, SplitPlan(kind="holdout", folds=4, test_size=0.3), seed=10)
    for f, split in enumerate(many):
        (alone,) = make_splits(
            dataset, SplitPlan(kind="holdout", folds=1, test_size=0.3), seed=10 + f
        )
        assert alone.fingerprint == split.fingerprint
        assert abs(len(split.test) - 0.3 * dataset.n_samples) <= 3


def test_multilabel_kfold_is_iterative_stratification_with_the_seed() -> None:
    dataset = load("wine-traits")
    folds = iterative_stratification(dataset.y, [1.0] * 5, np.random.default_rng(42), order=2)
    for split in make_splits(dataset, SplitPlan(order=2), seed=42):
        np.testing.assert_array_equal(split.test, np.flatnonzero(folds == split.fold))


def test_classes_are_split_by_scikit_learns_stratified_kfold() -> None:
    dataset = load("wine")
    wanted = model_selection.StratifiedKFold(5, shuffle=True, random_state=4).split(
        dataset.X, dataset.y
    )
    for split, (_, test) in zip(make_splits(dataset, SplitPlan(), seed=4), wanted, strict=True):
        np.testing.assert_array_equal(split.test, test)


@pytest.mark.parametrize("name", ["digits-by-writer", "diabetes-by-age"])
@pytest.mark.parametrize("kind", ["kfold", "holdout", "groups"])
def test_groups_are_never_torn_apart(name: str, kind: str) -> None:
    dataset = load(name)
    for split in make_splits(dataset, SplitPlan(kind=kind, folds=3), seed=0):
        assert not set(dataset.groups[split.train]) & set(dataset.groups[split.test])


def test_multilabel_groups_are_never_torn_apart() -> None:
    dataset = tiny(12, "multilabel", groups=np.arange(12) // 3)
    for split in make_splits(dataset, SplitPlan(folds=2), seed=0):
        assert not set(dataset.groups[split.train]) & set(dataset.groups[split.test])
    assert "groups kept together" in describe_splits(dataset, SplitPlan(folds=2))


@pytest.mark.parametrize("folds", [None, "all"])
def test_without_a_number_every_group_is_a_fold(folds: str | None) -> None:
    dataset = load("diabetes-by-age")
    splits = make_splits(dataset, SplitPlan(kind="groups", folds=folds), seed=0)  # type: ignore[arg-type]
    assert [set(dataset.groups[split.test]) for split in splits] == [
        {g} for g in np.unique(dataset.groups)
    ]


def test_official_uses_the_parts_of_the_dataset() -> None:
    part = np.array([False, True, True, False, True])
    (split,) = make_splits(tiny(5, train_part=part), SplitPlan(kind="official"), seed=0)
    assert (split.train.tolist(), split.test.tolist()) == ([1, 2, 4], [0, 3])


def test_a_splitter_of_scikit_learn_is_used_with_its_params_and_our_seed() -> None:
    dataset = load("iris")
    plan = SplitPlan(
        kind="sklearn.model_selection:ShuffleSplit", params={"n_splits": 2, "test_size": 0.4}
    )
    wanted = model_selection.ShuffleSplit(n_splits=2, test_size=0.4, random_state=9).split(
        dataset.X
    )
    for split, (train, test) in zip(make_splits(dataset, plan, seed=9), wanted, strict=True):
        assert split == Split(split.fold, np.sort(train), np.sort(test))
    own = SplitPlan(kind=plan.kind, params={**plan.params, "random_state": 1})
    assert make_splits(dataset, own, seed=9) == make_splits(dataset, own, seed=10)


@pytest.mark.parametrize(
    ("name", "params"),
    [("KFold", {}), ("KFold", {"shuffle": True}), ("LeaveOneOut", {}), ("TimeSeriesSplit", {})],
)
def test_splitters_with_and_without_randomness_work(name: str, params: dict) -> None:
    plan = SplitPlan(kind=f"sklearn.model_selection:{name}", params=params)
    assert len(make_splits(tiny(12), plan, seed=0)) >= 5


class Overlapping:
    """A splitter with a leak."""

    def split(self, X: object, y: object = None, groups: object = None) -> list:
        return [([0, 1, 2], [2, 3])]


def test_a_splitter_that_leaks_is_refused() -> None:
    with pytest.raises(InputError, match="rows in train and in test"):
        make_splits(tiny(), SplitPlan(kind=f"{__name__}:Overlapping"), seed=0)


@pytest.mark.parametrize(
    ("dataset", "plan", "message"),
    [
        (tiny(4), SplitPlan(folds=5), "5 folds need as many rows, it has 4"),
        (tiny(4), SplitPlan(kind="official"), "does not come in a train and a test part"),
        (tiny(4), SplitPlan(kind="groups"), "has no groups"),
        (tiny(6, "classification"), SplitPlan(folds=5), "cannot be split by 'kfold'"),
        (tiny(2, "multilabel"), SplitPlan(kind="holdout", test_size=0.01), "no test rows"),
        (tiny(4, train_part=np.ones(4, bool)), SplitPlan(kind="official"), "no test rows"),
        (tiny(4), SplitPlan(kind="sklearn.model_selection:KFolds"), "did you mean 'KFold'"),
        (
            tiny(4),
            SplitPlan(kind="nowhere:KFold"),
            "split 'nowhere:KFold': cannot import 'nowhere'",
        ),
        (
            tiny(4),
            SplitPlan(kind="sklearn.model_selection:KFold", params={"fold": 3}),
            "does not take these params",
        ),
        (tiny(4), SplitPlan(kind="builtins:dict"), "no split method"),
    ],
)
def test_what_cannot_be_split_is_refused_in_one_sentence(
    dataset: Dataset, plan: SplitPlan, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        make_splits(dataset, plan, seed=0)


@pytest.mark.parametrize(
    ("given_plan", "message"),
    [
        ({"kind": "kfolds"}, "did you mean 'kfold'"),
        ({"scale": "min-max"}, "did you mean 'minmax'"),
        ({"order": 3}, "order"),
        ({"test_size": 1.0}, "test_size"),
        ({"folds": 1}, "at least 2"),
        ({"folds": "all"}, "goes with groups"),
        ({"folds": True}, "whole number"),
        ({"folds": 2.5}, "whole number"),
        ({"kind": "official", "folds": 3}, "takes no folds"),
        ({"params": {"a": 1}}, "params belong to"),
    ],
)
def test_a_wrong_plan_is_refused(given_plan: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        SplitPlan(**given_plan)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InputError, match="seed"):
        make_splits(tiny(), SplitPlan(), seed=-1)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 50), min_size=1, unique=True),
    st.lists(st.integers(0, 50), min_size=1, unique=True),
)
def test_a_fingerprint_tells_indices_apart_and_the_fold_number_does_not_matter(
    a: list, b: list
) -> None:
    one, other = Split(0, np.array(a), np.array(b)), Split(1, np.array(a), np.array(b))
    assert one.fingerprint == other.fingerprint
    assert (Split(0, np.array(b), np.array(a)).fingerprint == one.fingerprint) == (a == b)


def test_a_fingerprint_says_where_train_ends() -> None:
    assert (
        Split(0, np.array([0, 1]), np.array([2])).fingerprint
        != Split(0, np.array([0]), np.array([1, 2])).fingerprint
    )
