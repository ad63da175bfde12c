"""Evaluate a ranking: predict the test rows from its first k features, for every k of a grid."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from typing_extensions import override

from paragone.errors import InputError
from paragone.methods.mlknn import MLkNN, check_neighbors, look_up, posterior_tables
from paragone.methods.neighbors import neighbor_label_counts
from paragone.validation import FloatArray, IntArray, LabelArray, check_features


class CurvePredictions(ABC):
    """Predictions at the points ``ks``; knows how to become bytes and come back."""

    ks: IntArray

    @abstractmethod
    def labels(self, point: int) -> LabelArray:
        """Return the predicted labels at a point, 0/1."""

    @abstractmethod
    def scores(self, point: int) -> FloatArray | None:
        """Return the label scores at a point, or None where the evaluator has none."""

    @abstractmethod
    def ordering(self, point: int) -> NDArray[Any] | None:
        """Return numbers in the order of the scores: cheaper to sort, equal in every ranking metric."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is to be stored."""

    def to_bytes(self) -> bytes:
        """Pack as compressed npz, never pickle."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **self.arrays())
        return buffer.getvalue()

    @staticmethod
    def of_arrays(arrays: Mapping[str, NDArray[Any]]) -> CurvePredictions:
        """Make predictions of the arrays that `to_bytes` packed."""
        kind: type[TablePredictions | PlainPredictions] = (
            TablePredictions if "tables" in arrays else PlainPredictions
        )
        return kind.from_arrays(arrays)


@dataclass(frozen=True, eq=False)
class TablePredictions(CurvePredictions):
    """Scores that are looked up by a small count: the exact, compact form of ML-kNN's output.

    ``counts`` is (points, rows, labels) in uint8; ``tables`` is (points, labels, counts) in
    float64.
    """

    ks: IntArray
    counts: NDArray[np.uint8]
    tables: FloatArray

    @override
    def labels(self, point: int) -> LabelArray:
        decided = (self.tables[point] >= 0.5).astype(np.uint8)
        return np.asarray(decided[np.arange(len(decided)), self.counts[point]])

    @override
    def scores(self, point: int) -> FloatArray:
        return look_up(self.tables[point], self.counts[point])

    @override
    def ordering(self, point: int) -> NDArray[np.unsignedinteger[Any]]:
        levels, codes = np.unique(self.tables[point], return_inverse=True)
        # The smallest type that holds every code: sorting two bytes is several times quicker than
        # sorting four.
        codes = codes.reshape(self.tables[point].shape).astype(np.min_scalar_type(len(levels) - 1))
        return np.asarray(codes[np.arange(len(codes)), self.counts[point]])

    @override
    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"ks": self.ks, "counts": self.counts, "tables": self.tables}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Make it of stored arrays."""
        return cls(arrays["ks"], arrays["counts"], arrays["tables"])


@dataclass(frozen=True, eq=False)
class PlainPredictions(CurvePredictions):
    """Labels and scores of any evaluator, (points, rows, labels); no scores where it has none."""

    ks: IntArray
    all_labels: LabelArray
    all_scores: FloatArray | None

    @override
    def labels(self, point: int) -> LabelArray:
        return np.asarray(self.all_labels[point])

    @override
    def scores(self, point: int) -> FloatArray | None:
        return None if self.all_scores is None else np.asarray(self.all_scores[point])

    @override
    def ordering(self, point: int) -> NDArray[Any] | None:
        return self.scores(point)

    @override
    def arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {"ks": self.ks, "labels": self.all_labels}
        return arrays if self.all_scores is None else {**arrays, "scores": self.all_scores}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Make it of stored arrays."""
        return cls(arrays["ks"], arrays["labels"], arrays.get("scores"))


def predict_along(
    evaluator: Any,
    ranking: IntArray,
    ks: Sequence[int],
    X_train: FloatArray,
    Y_train: LabelArray,
    X_test: FloatArray,
) -> CurvePredictions:
    """Predict the test rows from the first k ranked features, for every k in ``ks``.

    Parameters
    ----------
    evaluator : MLkNN or any multi-label classifier in scikit-learn's interface
        It is cloned and fitted afresh at every point; ML-kNN takes the incremental path.
    ranking : ndarray of int64
        Features, best first.
    ks : sequence of int
        Numbers of features, in any order; each is worked on once.
    X_train, Y_train, X_test : ndarray
        Training rows, their labels, and the rows to predict.

    Returns
    -------
    CurvePredictions
        At the distinct ``ks``, rising.
    """
    grid = np.unique(np.asarray(ks, dtype=np.int64))
    if type(evaluator) is MLkNN:
        return _grow_mlknn(evaluator, ranking, grid, X_train, Y_train, X_test)
    return _refit(evaluator, ranking, grid, X_train, Y_train, X_test)


def _grow_mlknn(
    evaluator: MLkNN,
    ranking: IntArray,
    grid: IntArray,
    X_train: FloatArray,
    Y_train: LabelArray,
    X_test: FloatArray,
) -> TablePredictions:
    check_neighbors(evaluator.n_neighbors, len(X_train))
    # Scaling can make infinite what was finite: a test value divided by a very small range of
    # train.
    for rows, name in ((X_train, "X_train"), (X_test, "X_test")):
        check_features(rows, name=f"ML-kNN: {name}")
    used = ranking[: grid[-1]]
    queries = np.ascontiguousarray(X_train[:, used])
    base = np.ascontiguousarray(queries.T)
    n_neighbors = evaluator.n_neighbors
    train_counts = neighbor_label_counts(queries, base, Y_train, grid, n_neighbors, True)
    tables = posterior_tables(train_counts, Y_train, n_neighbors, evaluator.smooth)
    del train_counts
    queries = np.ascontiguousarray(X_test[:, used])
    return TablePredictions(
        grid, neighbor_label_counts(queries, base, Y_train, grid, n_neighbors, False), tables
    )


def _refit(
    evaluator: Any,
    ranking: IntArray,
    grid: IntArray,
    X_train: FloatArray,
    Y_train: LabelArray,
    X_test: FloatArray,
) -> PlainPredictions:
    labels: list[LabelArray] = []
    scores: list[FloatArray | None] = []
    for k in grid:
        used = ranking[:k]
        model = clone(evaluator).fit(X_train[:, used], Y_train)
        labels.append(
            _as_labels(model.predict(X_test[:, used]), (len(X_test), Y_train.shape[1]), model)
        )
        scores.append(label_scores(model, X_test[:, used], Y_train))
    found = [score for score in scores if score is not None]
    return PlainPredictions(grid, np.stack(labels), np.stack(found) if found else None)


def _as_labels(predicted: Any, shape: tuple[int, int], model: Any) -> LabelArray:
    array = predicted.toarray() if hasattr(predicted, "toarray") else np.asarray(predicted)
    if array.shape != shape:
        raise InputError(
            f"evaluator {type(model).__name__} predicts shape {array.shape}, multi-label needs"
            f" {shape}: wrap it in sklearn.multiclass:OneVsRestClassifier"
        )
    return np.ascontiguousarray(array == 1, dtype=np.uint8)


def label_scores(model: Any, X: FloatArray, Y_train: LabelArray) -> FloatArray | None:
    """Return a score a label from ``predict_proba`` or ``decision_function``, or None where there is neither.

    A model that lists one array a label (as scikit-learn's forests do) may have seen only one class
    of a label; its probability is then 0 or 1 by what it saw.
    """
    if hasattr(model, "predict_proba"):
        raw = model.predict_proba(X)
        if isinstance(raw, list):
            return np.column_stack([_positive_column(p, Y_train[:, j]) for j, p in enumerate(raw)])
        return np.asarray(raw, dtype=np.float64)
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64).reshape(len(X), -1)
    return None


def _positive_column(probabilities: NDArray[Any], labels: NDArray[np.uint8]) -> FloatArray:
    if probabilities.shape[1] == 2:
        return np.asarray(probabilities[:, 1], dtype=np.float64)
    return np.full(len(probabilities), float(labels[0]))
