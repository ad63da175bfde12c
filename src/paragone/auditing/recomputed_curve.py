"""Recompute the scores of a curve from its stored predictions, by formulas of our own.

Nothing here goes through `paragone.metrics` or the curve protocol: the packed arrays are read and the metrics are
counted anew, so that a mistake there does not repeat itself.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.validation import FloatArray


class StoredCurve:
    """Predictions of a cell at every number of features, out of their bytes."""

    def __init__(self, payload: bytes) -> None:
        with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
            self._arrays = {name: archive[name] for name in archive.files}
        self.ks: list[int] = self._arrays["ks"].tolist()

    def labels(self, point: int) -> NDArray[np.bool_]:
        """Return the predicted labels: those whose probability is at least one half, or as predicted."""
        scores = self.scores(point)
        if "tables" in self._arrays and scores is not None:
            return np.asarray(scores >= 0.5)
        return np.asarray(self._arrays["labels"][point] == 1)

    def scores(self, point: int) -> FloatArray | None:
        """Return the score of every row and label, or None where there are none."""
        if "tables" in self._arrays:
            table, counts = self._arrays["tables"][point], self._arrays["counts"][point].astype(np.int64)
            return np.asarray(np.take_along_axis(table.T, counts, axis=0))
        return self._arrays["scores"][point] if "scores" in self._arrays else None

    def order_codes(self, point: int) -> NDArray[Any] | None:
        """Return whole numbers in the order of the scores, 0 the highest; quick to sort where there are few."""
        scores = self.scores(point)
        if scores is None:
            return None
        if "tables" in self._arrays:
            levels = np.unique(self._arrays["tables"][point])
            return np.asarray(len(levels) - 1 - np.searchsorted(levels, scores), dtype=np.uint16)
        levels, codes = np.unique(scores, return_inverse=True)
        return np.asarray(len(levels) - 1 - codes.reshape(scores.shape))


def features_at(grid: str, at: float, n_features: int) -> int:
    """Return the number of features at a point of a grid: k itself, or the share p rounded, halves to even.

    Examples
    --------
    >>> features_at("k", 10.0, 50), features_at("p", 0.25, 50), features_at("p", 0.001, 50)
    (10, 12, 1)
    """
    return int(at) if grid == "k" else min(n_features, max(1, round(at * n_features)))


def curve_scores(
    curve: StoredCurve, truth: NDArray[Any], metrics: Sequence[str], zero_division: Any
) -> dict[tuple[int, str], float]:
    """Return every metric at every number of features."""
    Y = np.asarray(truth) == 1
    found = {}
    for point, k in enumerate(curve.ks):
        predicted = curve.labels(point)
        codes = curve.order_codes(point) if any(name in OF_ORDER for name in metrics) else None
        for name in metrics:
            if name == "macro_f1":
                found[k, name] = macro_f1(Y, predicted, zero_division)
            elif name in OF_LABELS:
                found[k, name] = OF_LABELS[name](Y, predicted)
            else:
                found[k, name] = np.nan if codes is None else OF_ORDER[name](Y, codes)
    return found


def micro_f1(Y: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> float:
    """Twice the hits over the hits, the false alarms and the hits and misses together."""
    hits, alarms, misses = int((Y & predicted).sum()), int((~Y & predicted).sum()), int((Y & ~predicted).sum())
    return 2 * hits / (2 * hits + alarms + misses) if hits + alarms + misses else 0.0


def macro_f1(Y: NDArray[np.bool_], predicted: NDArray[np.bool_], zero_division: Any = 0) -> float:
    """Mean of the labels' F1; what a label counts that is neither there nor predicted is declared."""
    values = []
    for hits, alarms, misses in zip(
        (Y & predicted).sum(axis=0).tolist(),
        (~Y & predicted).sum(axis=0).tolist(),
        (Y & ~predicted).sum(axis=0).tolist(),
        strict=True,
    ):
        if hits + alarms + misses:
            values.append(2 * hits / (2 * hits + alarms + misses))
        elif zero_division != "skip":
            values.append(float(zero_division))
    return sum(values) / len(values) if values else 0.0


def _hamming_loss(Y: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> float:
    return float(np.logical_xor(Y, predicted).sum()) / Y.size


def _subset_accuracy(Y: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> float:
    right = np.asarray(~np.logical_xor(Y, predicted).any(axis=1))
    return float(right.sum()) / len(Y)


def _precisions(sorted_truth: NDArray[np.bool_]) -> FloatArray:
    """Return, row by row, the mean precision at the places of the relevant entries; NaN without any."""
    hits = sorted_truth.cumsum(axis=1)
    places = np.arange(1, sorted_truth.shape[1] + 1)
    sums = np.where(sorted_truth, hits / places, 0.0).sum(axis=1)
    return np.asarray(np.divide(sums, hits[:, -1], out=np.full(len(hits), np.nan), where=hits[:, -1] > 0))


def _micro_pr_auc(Y: NDArray[np.bool_], codes: NDArray[Any]) -> float:
    order = np.argsort(codes.T.ravel(), kind="stable")
    value = float(_precisions(Y.T.ravel()[order][None, :])[0])
    return 0.0 if np.isnan(value) else value


def _macro_pr_auc(Y: NDArray[np.bool_], codes: NDArray[Any]) -> float:
    mixed = Y.any(axis=0) & ~Y.all(axis=0)
    if not mixed.any():
        return 0.0
    order = np.argsort(np.ascontiguousarray(codes[:, mixed].T), axis=1, kind="stable")
    return float(_precisions(np.take_along_axis(np.ascontiguousarray(Y[:, mixed].T), order, axis=1)).mean())


def _avg_precision(Y: NDArray[np.bool_], codes: NDArray[Any]) -> float:
    order = np.argsort(codes, axis=1, kind="stable")
    return float(np.nan_to_num(_precisions(np.take_along_axis(Y, order, axis=1))).mean())


def _one_error(Y: NDArray[np.bool_], codes: NDArray[Any]) -> float:
    return 1.0 - float(Y[np.arange(len(Y)), codes.argmin(axis=1)].sum()) / len(Y)


def _ranking_loss(Y: NDArray[np.bool_], codes: NDArray[Any]) -> float:
    total = 0.0
    for relevant, row in zip(Y, codes.astype(np.int64), strict=True):
        inside, outside = row[relevant], row[~relevant]
        if len(inside) and len(outside):
            total += float((outside[None, :] <= inside[:, None]).mean())
    return total / len(Y)


def _coverage(Y: NDArray[np.bool_], codes: NDArray[Any]) -> float:
    last = np.where(Y, codes.astype(np.int64), -1).max(axis=1, keepdims=True)
    return float((codes <= last).sum(axis=1).mean())


OF_LABELS: dict[str, Callable[[NDArray[np.bool_], NDArray[np.bool_]], float]] = {
    "micro_f1": micro_f1,
    "macro_f1": macro_f1,
    "hamming_loss": _hamming_loss,
    "subset_accuracy": _subset_accuracy,
}
OF_ORDER: dict[str, Callable[[NDArray[np.bool_], NDArray[Any]], float]] = {
    "micro_pr_auc": _micro_pr_auc,
    "macro_pr_auc": _macro_pr_auc,
    "avg_precision": _avg_precision,
    "one_error": _one_error,
    "ranking_loss": _ranking_loss,
    "coverage": _coverage,
}
