"""Predictions along a ranking: the labels and scores of every test row at every number of features."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from paragone.models.mlknn import look_up
from paragone.validation import FloatArray, IntArray, LabelArray


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
        kind: type[TablePredictions | PlainPredictions] = TablePredictions if "tables" in arrays else PlainPredictions
        return kind.from_arrays(arrays)


@dataclass(frozen=True, eq=False)
class TablePredictions(CurvePredictions):
    """Scores that are looked up by a small count: the exact, compact form of ML-kNN's output.

    ``counts`` is (points, rows, labels) in uint8; ``tables`` is (points, labels, counts) in float64.
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
        # The smallest type that holds every code: sorting two bytes is several times quicker than sorting four.
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
