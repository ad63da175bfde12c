"""Dataset: a named table and its target, checked and fingerprinted, and a description of what it looks like."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data.frames import as_numbers, checked_table, is_table, missing_values, table_digest
from paragone.errors import InputError
from paragone.validation import FloatArray, IntArray, check_indicator

Task: TypeAlias = Literal["multilabel", "classification", "regression", "topk"]
Features: TypeAlias = Any
"""A float64 array, a sparse ``csr_array``, or a DataFrame whose columns keep their types."""
Target: TypeAlias = NDArray[Any] | sparse.csr_array


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Named features and target; frozen, with a fingerprint of its content.

    Parameters
    ----------
    name : str
        What tables and files call it.
    X : ndarray, csr_array or DataFrame of shape (n_samples, n_features)
        The features: float64, or a table whose columns are numbers, truth values, categories, text
        or dates, with gaps.
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The target: a 0/1 indicator matrix (``multilabel``), class labels as the user's own values
        (``classification``) or numbers, one column a target (``regression``). For ``topk`` a sparse
        matrix of samples x items that holds the place, counted from 1, of every relevant item in
        its sample's list.
    task : {"multilabel", "classification", "regression", "topk"}
        Declared, never guessed from ``y``.
    groups : ndarray of shape (n_samples,), optional
        Who or what a row was measured on; rows of one group move together.
    feature_names, target_names : tuple of str
        One name per column; made up (``x0``, ``y0``) where none are given.
    train_part : ndarray of bool of shape (n_samples,), optional
        True for the rows of the official train part, where the data come in two parts.
    validation_part : ndarray of bool of shape (n_samples,), optional
        True for the rows that the data set aside to choose on, such as the number of epochs.
    notes : tuple of str
        What the reader changed or noticed, such as a dropped id column. Shown to the user.
    stored_splits : tuple of (train, test), optional
        Row numbers of the folds that the data came in. Such data may hold one sample in several
        rows, so it is split by these folds and in no other way.
    weights : ndarray of shape (n_samples,), optional
        How much a row counts when a method is fitted: not negative.
    time : ndarray of shape (n_samples,), optional
        When a row was measured: numbers or dates. Rows are then split in its order, the later ones
        tested on.

    Examples
    --------
    >>> import numpy as np
    >>> Dataset("tiny", np.eye(3), np.eye(3, 2), task="multilabel")
    Dataset 'tiny': 3 samples x 3 features, multilabel, 2 labels
    """

    name: str
    X: Features
    y: Target
    task: Task
    groups: NDArray[Any] | None = None
    feature_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()
    train_part: NDArray[np.bool_] | None = None
    notes: tuple[str, ...] = field(default=())
    stored_splits: tuple[tuple[IntArray, IntArray], ...] | None = None
    validation_part: NDArray[np.bool_] | None = None
    weights: FloatArray | None = None
    time: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if self.task not in get_args(Task):
            raise InputError(
                f"dataset {self.name!r}: task must be one of {', '.join(get_args(Task))}"
            )
        X = _checked_features(self.X, f"dataset {self.name!r}")
        if X.ndim != 2 or 0 in X.shape:
            raise InputError(f"dataset {self.name!r}: X must be samples x features and not empty")
        y = _checked_target(self.y, self.task, f"dataset {self.name!r}")
        if y.shape[0] != X.shape[0]:
            raise InputError(
                f"dataset {self.name!r}: X has {X.shape[0]} rows, the target has {y.shape[0]}"
            )
        n_targets = 1 if y.ndim == 1 else y.shape[1]
        set_field = object.__setattr__
        if self.groups is not None:
            set_field(self, "groups", _checked_groups(self.groups, f"dataset {self.name!r}"))
        for part in ("train_part", "validation_part"):
            if getattr(self, part) is not None:
                set_field(self, part, np.asarray(getattr(self, part), dtype=bool))
        if self.stored_splits is not None:
            set_field(
                self, "stored_splits", _checked_splits(self.stored_splits, f"dataset {self.name!r}")
            )
        if self.weights is not None:
            set_field(self, "weights", _checked_weights(self.weights, f"dataset {self.name!r}"))
        if self.time is not None:
            set_field(self, "time", _checked_time(self.time, f"dataset {self.name!r}"))
        set_field(self, "X", X)
        set_field(self, "y", y)
        if not self.feature_names:
            # Made up only where none are given: a sparse file of a few bytes may claim a great many
            # columns.
            columns = map(str, X.columns) if is_table(X) else (f"x{j}" for j in range(X.shape[1]))
            set_field(self, "feature_names", tuple(columns))
        set_field(
            self, "target_names", self.target_names or tuple(f"y{j}" for j in range(n_targets))
        )
        for what, given, wanted in (
            ("feature names", len(self.feature_names), X.shape[1]),
            ("target names", len(self.target_names), n_targets),
            ("groups", X.shape[0] if self.groups is None else len(self.groups), X.shape[0]),
            (
                "part marks",
                X.shape[0] if self.train_part is None else len(self.train_part),
                X.shape[0],
            ),
            (
                "validation marks",
                X.shape[0] if self.validation_part is None else len(self.validation_part),
                X.shape[0],
            ),
            ("weights", X.shape[0] if self.weights is None else len(self.weights), X.shape[0]),
            ("times", X.shape[0] if self.time is None else len(self.time), X.shape[0]),
        ):
            if given != wanted:
                raise InputError(f"dataset {self.name!r}: {given} {what} given, {wanted} needed")

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of feature columns."""
        return int(self.X.shape[1])

    @property
    def n_targets(self) -> int:
        """Number of labels or target columns."""
        return 1 if self.y.ndim == 1 else int(self.y.shape[1])

    @property
    def is_table(self) -> bool:
        """Whether the features are a table with typed columns."""
        return is_table(self.X)

    @cached_property
    def numbers(self) -> Any:
        """The features as numbers, for checks that compare values: of a table, text and categories by their place."""
        return as_numbers(self.X) if self.is_table else self.X

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the content: features, target, task, groups, parts and stored folds; not of the names."""
        digest = hashlib.sha256(self.task.encode())
        if isinstance(self.X, sparse.csr_array):
            canonical = self.X.copy()
            canonical.sum_duplicates()
            canonical.eliminate_zeros()
            arrays: list[Any] = [canonical.data, canonical.indices, canonical.indptr]
        elif self.is_table:
            digest.update(table_digest(self.X).encode())
            arrays = []
        else:
            arrays = [self.X]
        arrays += [self.y] if isinstance(self.y, np.ndarray) else _sparse_parts(self.y)
        arrays += [self.groups, self.train_part]
        arrays += [rows for pair in self.stored_splits or () for rows in pair]
        arrays += [
            part for part in (self.validation_part, self.weights, self.time) if part is not None
        ]
        digest.update(repr(self.X.shape).encode())
        for array in arrays:
            _update(digest, array)
        return digest.hexdigest()

    def __repr__(self) -> str:
        targets = {"multilabel": "labels", "regression": "targets", "topk": "items"}.get(self.task)
        if targets is None:
            end = f"{len(np.unique(self.y))} classes"
        else:
            end = f"{self.n_targets} {targets if self.n_targets != 1 else targets[:-1]}"
        groups = "" if self.groups is None else f", {len(np.unique(self.groups))} groups"
        return (
            f"Dataset {self.name!r}: {self.n_samples} samples x {self.n_features} features,"
            f" {self.task}, {end}{groups}"
        )


def _checked_features(X: Any, where: str) -> Any:
    if is_table(X):
        return checked_table(X, where)
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if kind not in "fiubO":
        raise InputError(f"{where}: X must hold numbers, it holds {X.dtype}")
    try:
        return (
            sparse.csr_array(X, dtype=np.float64)
            if sparse.issparse(X)
            else np.asarray(X, dtype=np.float64)
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: X must hold numbers ({error})") from error


def _checked_target(y: Any, task: Task, where: str) -> Target:
    if task == "topk":
        return _checked_places(y, where)
    if task == "multilabel":
        return check_indicator(y, name=f"{where}: Y")
    array = np.asarray(y)
    if task == "regression":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{where}: a regression target must hold numbers ({error})") from error
        if array.ndim not in (1, 2):
            raise InputError(
                f"{where}: a regression target has one or two dimensions, not {array.ndim}"
            )
        return array
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(
            f"{where}: a classification target is one class per row, y has {array.ndim} dimensions"
        )
    missing = sum(value is None or value != value for value in array.tolist())
    if missing:
        raise InputError(f"{where}: {missing} row(s) have no class; complete or remove them")
    return array


def _checked_places(y: Any, where: str) -> sparse.csr_array:
    """Check that every row numbers its items 1, 2, ... without a gap or a repeat."""
    if not sparse.issparse(y):
        raise InputError(
            f"{where}: a topk target is a sparse matrix of places; make it with"
            " prescription_dataset"
        )
    places = sparse.csr_array(y, dtype=np.int32)
    places.sort_indices()
    rows = np.repeat(np.arange(places.shape[0]), np.diff(places.indptr))
    order = np.lexsort((places.data, rows))
    wanted = np.arange(len(rows)) - places.indptr[:-1][rows] + 1
    repeated = (np.diff(places.indices) == 0) & (np.diff(rows) == 0)
    if (places.data[order] != wanted).any() or repeated.any():
        raise InputError(
            f"{where}: a topk target numbers the items of every row 1, 2, ... without gap or repeat"
        )
    return places


def _sparse_parts(matrix: sparse.csr_array) -> list[Any]:
    return [matrix.data, matrix.indices, matrix.indptr, np.asarray(matrix.shape)]


def _checked_groups(groups: Any, where: str) -> NDArray[Any]:
    array = np.asarray(groups)
    if array.ndim != 1:
        raise InputError(
            f"{where}: groups are one name or number per row, they have {array.ndim} dimensions"
        )
    missing = sum(value is None or value != value for value in array.tolist())
    if missing:
        raise InputError(f"{where}: {missing} row(s) have no group; complete or remove them")
    return array.astype(str) if array.dtype.kind == "O" else array


def _checked_weights(weights: Any, where: str) -> FloatArray:
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: weights are one number per row ({error})") from error
    if array.ndim != 1 or not np.isfinite(array).all() or (array < 0).any() or not array.any():
        raise InputError(
            f"{where}: weights are one number per row, not negative, none missing and not all 0"
        )
    return array


def _checked_time(time: Any, where: str) -> NDArray[Any]:
    array = np.asarray(time)
    if array.dtype.kind == "O":
        try:
            array = array.astype("datetime64[ns]")
        except (TypeError, ValueError) as error:
            raise InputError(f"{where}: times are numbers or dates ({error})") from error
    if array.ndim != 1 or array.dtype.kind not in "iufM":
        raise InputError(f"{where}: times are one number or date per row, they are {array.dtype}")
    missing = (
        int((np.isnat if array.dtype.kind == "M" else np.isnan)(array).sum())
        if array.dtype.kind in "Mf"
        else 0
    )
    if missing:
        raise InputError(f"{where}: {missing} row(s) have no time; complete or remove them")
    return array.astype("datetime64[ns]") if array.dtype.kind == "M" else array.astype(np.float64)


def _checked_splits(splits: Any, where: str) -> tuple[tuple[IntArray, IntArray], ...]:
    checked = tuple(
        (np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64))
        for train, test in splits
    )
    if not checked:
        raise InputError(f"{where}: stored_splits is empty; give None where there are none")
    return checked


def _update(digest: Any, array: NDArray[Any] | None) -> None:
    if array is None:
        digest.update(b"none")
        return
    if array.dtype.kind in "OUST":
        # Python strings hash by value; an object array's buffer would hold addresses.
        digest.update(repr([str(value) for value in array.ravel()]).encode())
        digest.update(repr(array.shape).encode())
        return
    if array.dtype.kind in "iubM":
        array = array.astype(np.int64)
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array).data)


def with_replicates(dataset: Dataset, n: int) -> Dataset:
    """Group every ``n`` consecutive rows: they are replicates of one physical sample and move together.

    Parameters
    ----------
    dataset : Dataset
        Without groups.
    n : int
        Rows per sample, at least 2.

    Returns
    -------
    Dataset
        The same with groups 0, 1, ...

    Examples
    --------
    >>> from paragone.data import load
    >>> with_replicates(load("iris"), 3)
    Dataset 'iris': 150 samples x 4 features, classification, 3 classes, 50 groups
    """
    if dataset.groups is not None:
        raise InputError(f"dataset {dataset.name!r} has groups already: leave replicates out")
    if n < 2 or dataset.n_samples % n:
        raise InputError(
            f"dataset {dataset.name!r}: its {dataset.n_samples} rows are not {n} replicates of each"
            " sample"
        )
    return replace(dataset, groups=np.arange(dataset.n_samples) // n)


@dataclass(frozen=True)
class LabelSummary:
    """The label matrix of a multi-label dataset.

    Parameters
    ----------
    cardinality : float
        Mean number of labels per row.
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
    storage : {"dense", "sparse", "table"}
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
    X: Any = dataset.numbers
    stored = X.data if sparse.issparse(X) else X
    part = dataset.train_part
    return DatasetDescription(
        name=dataset.name,
        task=dataset.task,
        n_samples=dataset.n_samples,
        n_features=dataset.n_features,
        n_targets=dataset.n_targets,
        target_names=dataset.target_names,
        storage="table" if dataset.is_table else "sparse" if sparse.issparse(X) else "dense",
        feature_density=float(np.count_nonzero(stored) / (dataset.n_samples * dataset.n_features)),
        labels=_labels(dataset) if dataset.task == "multilabel" else None,
        class_counts=_class_counts(dataset) if dataset.task == "classification" else {},
        target_ranges=_ranges(dataset) if dataset.task == "regression" else {},
        n_groups=None if dataset.groups is None else len(np.unique(dataset.groups)),
        duplicated_rows=_duplicates(X),
        constant_features=_constants(X),
        missing_features=(
            missing_values(dataset.X) if dataset.is_table else int(np.isnan(stored).sum())
        ),
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
        # A column of gaps alone holds a single value too; gaps beside values are told elsewhere.
        low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    return int(np.sum(low == high))
