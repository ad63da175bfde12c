"""Dataset: what it refuses, and what its fingerprint tells apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from paragone.data import Dataset
from paragone.errors import InputError

X = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        (["a", "b", "c"], "regression", "must hold numbers"),
        (np.zeros((3, 2, 2)), "regression", "one or two dimensions"),
        (np.eye(3), "classification", "one class per row"),
        (np.array([1.0, np.nan, 2.0]), "classification", "1 row\\(s\\) have no class"),
        (np.array(["a", None, "b"], dtype=object), "classification", "1 row\\(s\\) have no class"),
        ([1, 2, 3], "multilabel", "coded 0/1"),
        ([1, 2], "regression", "X has 3 rows, the target has 2"),
        ([1, 2, 3], "ranking", "task must be one of"),
    ],
)
def test_a_target_that_does_not_fit_its_task_is_refused(y: object, task: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Dataset("t", X, y, task=task)  # type: ignore[arg-type]


def test_a_regression_target_of_integers_is_the_same_data_as_one_of_floats() -> None:
    a = Dataset("t", X, np.array([1, 2, 3]), task="regression")
    b = Dataset("t", X, np.array([1.0, 2.0, 3.0]), task="regression")
    assert a.fingerprint == b.fingerprint


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], "2 groups given, 3 needed"),
        ([1.0, np.nan, 2.0], "no group"),
        (np.eye(3), "2 dimensions"),
    ],
)
def test_groups_that_do_not_fit_are_refused(groups: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Dataset("t", X, [1, 2, 3], task="regression", groups=groups)  # type: ignore[arg-type]


def test_a_column_of_classes_is_taken_as_a_list() -> None:
    assert Dataset("t", X, np.array([[1], [2], [1]]), task="classification").y.shape == (3,)


def test_the_fingerprint_sees_content_and_not_names() -> None:
    base = Dataset("t", X, np.array([0, 1, 0]), task="classification")
    same = Dataset(
        "u", X.copy(), np.array([0, 1, 0]), task="classification", feature_names=("p", "q")
    )
    assert base.fingerprint == same.fingerprint
    others = [
        Dataset("t", X + 1e-12, np.array([0, 1, 0]), task="classification"),
        Dataset("t", X, np.array([0, 1, 1]), task="classification"),
        Dataset("t", X, np.array([0, 1, 0]), task="regression"),
        Dataset("t", X, np.array([0, 1, 0]), task="classification", groups=np.array([1, 1, 2])),
        Dataset(
            "t",
            X,
            np.array([0, 1, 0]),
            task="classification",
            train_part=np.array([True, True, False]),
        ),
    ]
    assert len({base.fingerprint, *(other.fingerprint for other in others)}) == 6


def test_the_way_a_sparse_matrix_is_stored_does_not_change_its_fingerprint() -> None:
    thin = sparse.csr_array(X)
    explicit = sparse.csr_array(
        (np.append(thin.data, 0.0), ([0, 1, 1, 2, 2, 0], [1, 0, 1, 0, 1, 0])), shape=(3, 2)
    )
    y = np.eye(3, 2)
    assert (
        Dataset("t", thin, y, task="multilabel").fingerprint
        == Dataset("t", explicit, y, task="multilabel").fingerprint
    )
