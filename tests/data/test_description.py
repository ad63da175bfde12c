"""The description of a dataset, counted by hand on small ones."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from paragone.data import Dataset, describe

X = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 5.0], [0.0, 1.0, 5.0], [0.0, 1.0, 5.0], [3.0, 0.0, 5.0]])
Y = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_multilabel_counts_are_right_dense_and_sparse(form: type) -> None:
    part = np.array([True, True, False, False, False])
    d = describe(
        Dataset("t", form(X), Y, task="multilabel", target_names=("a", "b", "c"), train_part=part)
    )
    assert (d.n_samples, d.n_features, d.n_targets) == (5, 3, 3)
    assert d.feature_density == 10 / 15
    assert d.labels.cardinality == 1.0
    assert d.labels.density == pytest.approx(1 / 3)
    assert d.labels.distinct_sets == 4
    assert d.labels.rows_without_labels == 1
    assert d.labels.positives == {"a": 3, "b": 2, "c": 0}
    assert d.labels.without_positives == ("c",)
    assert d.duplicated_rows == 2
    assert d.constant_features == 1
    assert (d.n_train_part, d.n_test_part) == (2, 3)


def test_classes_and_groups_are_counted() -> None:
    d = describe(
        Dataset(
            "t", X, np.array(list("aabba")), task="classification", groups=np.array([1, 1, 2, 2, 9])
        )
    )
    assert d.class_counts == {"a": 3, "b": 2}
    assert d.n_groups == 3
    assert d.labels is None


def test_missing_values_and_ranges_of_regression_targets_are_counted() -> None:
    holes = X.copy()
    holes[0, 0] = holes[1, 2] = np.nan
    d = describe(Dataset("t", holes, np.array([1.0, np.nan, 3.0, 2.0, np.nan]), task="regression"))
    assert (d.missing_features, d.missing_targets) == (2, 2)
    assert d.target_ranges == {"y0": (1.0, 3.0)}


def test_zero_of_either_sign_is_the_same_value() -> None:
    d = describe(
        Dataset("t", np.array([[0.0, 1.0], [-0.0, 1.0]]), np.array([1.0, 2.0]), task="regression")
    )
    assert d.duplicated_rows == 1


def test_a_description_goes_into_json() -> None:
    d = describe(Dataset("t", X, Y, task="multilabel", notes=("seen",)))
    assert json.loads(json.dumps(d.to_dict()))["notes"] == ["seen"]
