"""What a dataset looks like: counts, balance, duplicates, constants, missing values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from paragone.data.dataset import Dataset, Task
from paragone.validation import IntArray


@dataclass(frozen=True)
class LabelSummary:
    """The label matrix of a multi-label dataset.

    Parameters
    ----------
    cardinality : float
        Mean number of labels a row.
    density : float
        Cardinality divided by the number of labels.
    distinct_sets : int
        Number of different label sets.
    rows_without_labels : int
        Rows with no label at all.
    positives : dict of str to int
        Positive rows of each label.
    without_positives : tuple of str
        Labels that no row has.
    """

    cardinality: float
    density: float
    distinct_sets: int
    rows_without_labels: int
    positives: dict[str, int]
    without_positives: tuple[str, ...]


@dataclass(frozen=True)
class DatasetDescription:
    """What a dataset looks like; made by `describe`.

    Parameters
    ----------
    name, task, n_samples, n_features, n_targets
        As in the dataset.
    target_names : tuple of str
        The labels or targets.
    storage : {"dense", "sparse"}
        How the features are held.
    feature_density : float
        Share of the feature values that are not 0.
    labels : LabelSummary, optional
        For multi-label data.
    class_counts : dict of str to int
        Rows of each class; empty for other tasks.
    target_ranges : dict of str to (float, float)
        Lowest and highest value of each regression target; empty for other tasks.
    n_groups : int, optional
        Number of groups, where there are any.
    duplicated_rows : int
        Rows whose features equal those of an earlier row exactly.
    constant_features : int
        Feature columns that hold a single value.
    missing_features, missing_targets : int
        NaN values in the features and in the targets.
    n_train_part, n_test_part : int, optional
        Rows of the two parts, where the dataset comes in two.
    fingerprint : str
        Hash of the content.
    notes : tuple of str
        What the reader changed or noticed.

    Examples
    --------
    >>> from paragone.data import load
    >>> described = describe(load("wine-traits"))
    >>> described.n_samples, described.n_features, described.labels.rows_without_labels
    (178, 11, 0)
    """

    name: str
    task: Task
    n_samples: int
    n_features: int
    n_targets: int
    target_names: tuple[str, ...]
    storage: str
    feature_density: float
    labels: LabelSummary | None
    class_counts: dict[str, int]
    target_ranges: dict[str, tuple[float, float]]
    n_groups: int | None
    duplicated_rows: int
    constant_features: int
    missing_features: int
    missing_targets: int
    n_train_part: int | None
    n_test_part: int | None
    fingerprint: str
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON.

        Examples
        --------
        >>> from paragone.data import load
        >>> describe(load("iris")).to_dict()["class_counts"]
        {'setosa': 50, 'versicolor': 50, 'virginica': 50}
        """
        return asdict(self)


def describe(dataset: Dataset) -> DatasetDescription:
    """Count what is worth knowing before a dataset is used.

    Examples
    --------
    >>> from paragone.data import load
    >>> description = describe(load("digits-traits"))
    >>> description.labels.distinct_sets, description.constant_features, description.duplicated_rows
    (10, 3, 0)
    """
    X: Any = dataset.X
    stored = X.data if sparse.issparse(X) else X
    part = dataset.train_part
    return DatasetDescription(
        name=dataset.name,
        task=dataset.task,
        n_samples=dataset.n_samples,
        n_features=dataset.n_features,
        n_targets=dataset.n_targets,
        target_names=dataset.target_names,
        storage="sparse" if sparse.issparse(X) else "dense",
        feature_density=float(np.count_nonzero(stored) / (dataset.n_samples * dataset.n_features)),
        labels=_labels(dataset) if dataset.task == "multilabel" else None,
        class_counts=_class_counts(dataset) if dataset.task == "classification" else {},
        target_ranges=_ranges(dataset) if dataset.task == "regression" else {},
        n_groups=None if dataset.groups is None else len(np.unique(dataset.groups)),
        duplicated_rows=_duplicates(X),
        constant_features=_constants(X),
        missing_features=int(np.isnan(stored).sum()),
        missing_targets=int(np.isnan(dataset.y).sum()) if dataset.task == "regression" else 0,
        n_train_part=None if part is None else int(np.sum(part)),
        n_test_part=None if part is None else int(np.sum(~part)),
        fingerprint=dataset.fingerprint,
        notes=dataset.notes,
    )


def _labels(dataset: Dataset) -> LabelSummary:
    Y = dataset.y
    positives: IntArray = Y.sum(axis=0, dtype=np.int64)
    sizes: IntArray = Y.sum(axis=1, dtype=np.int64)
    counts = {name: int(count) for name, count in zip(dataset.target_names, positives, strict=True)}
    return LabelSummary(
        cardinality=float(sizes.mean()),
        density=float(sizes.mean() / Y.shape[1]),
        distinct_sets=len({row.tobytes() for row in np.packbits(Y, axis=1)}),
        rows_without_labels=int((sizes == 0).sum()),
        positives=counts,
        without_positives=tuple(name for name, count in counts.items() if count == 0),
    )


def _class_counts(dataset: Dataset) -> dict[str, int]:
    classes, counts = np.unique(dataset.y, return_counts=True)
    return {str(name): int(count) for name, count in zip(classes, counts, strict=True)}


def _ranges(dataset: Dataset) -> dict[str, tuple[float, float]]:
    columns = dataset.y.reshape(dataset.n_samples, -1).T
    ranges = {}
    for name, column in zip(dataset.target_names, columns, strict=True):
        there = column[~np.isnan(column)]
        ranges[name] = (float(there.min()), float(there.max())) if there.size else (np.nan, np.nan)
    return ranges


def _duplicates(X: Any) -> int:
    """Count the rows that equal an earlier one; -0 equals 0, and NaN equals NaN."""
    if sparse.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        distinct = len({(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in bounds})
        return int(X.shape[0]) - distinct
    return len(X) - len({(row + 0.0).tobytes() for row in X})


def _constants(X: Any) -> int:
    if sparse.issparse(X):
        low, high = X.min(axis=0).toarray(), X.max(axis=0).toarray()
    else:
        low, high = X.min(axis=0), X.max(axis=0)
    return int(np.sum(low == high))
