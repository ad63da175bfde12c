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
        if "tables" in self._arrays:
            return self._looked_up(self._arrays["tables"][point] >= 0.5, point)
        return np.asarray(self._arrays["labels"][point] == 1)

    def order_codes(self, point: int) -> NDArray[Any] | None:
        """Return whole numbers in the order of the scores, 0 the highest; None where there are no scores."""
        if "tables" in self._arrays:
            table = self._arrays["tables"][point]
            levels = np.unique(table)
            places = len(levels) - 1 - np.searchsorted(levels, table)
            # Half the bytes sort quicker, and four are enough for the places of any table that fits into memory.
            return self._looked_up(places.astype(np.int32), point)
        if "scores" not in self._arrays:
            return None
        scores = self._arrays["scores"][point]
        levels, codes = np.unique(scores, return_inverse=True)
        return np.asarray(len(levels) - 1 - codes.reshape(scores.shape))

    def _looked_up(self, table: NDArray[Any], point: int) -> NDArray[Any]:
        """Look a value up for every row and label by its count of neighbours; tables are labels x counts."""
        counts = self._arrays["counts"][point]
        return np.asarray(table[np.arange(len(table))[None, :], counts])


def features_at(score_grid: str, at: float, n_features: int, shares: Sequence[float] = ()) -> int:
    """Return the number of features at a point of a grid.

    Parameters
    ----------
    score_grid : {"k", "p"}
        Which grid.
    at : float
        The point: k itself, or the share p.
    n_features : int
        All there are.
    shares : sequence of float
        The shares as they were declared, unrounded: ``round(p d)`` goes by the float nearest to ``at``, halves to even.

    Returns
    -------
    int
        At least 1 and at most all.

    Examples
    --------
    >>> features_at("k", 10.0, 50), features_at("p", 0.25, 50), features_at("p", 0.001, 50)
    (10, 12, 1)
    >>> features_at("p", 0.15, 550), features_at("p", 0.15, 550, np.arange(0.05, 0.5, 0.05))
    (82, 83)
    """
    if score_grid == "k":
        return int(at)
    share = min(shares, key=lambda p: abs(p - at), default=at) if len(shares) else at
    return min(n_features, max(1, round(float(share) * n_features)))


def declared_shares(protocol: dict[str, Any]) -> list[float]:
    """Return the floats of a declared p-grid, as counting up with its step gives them; none without such a grid."""
    grid = protocol.get("p")
    return [] if grid is None else np.arange(grid["min"], grid["max"] + 1e-12, grid["step"]).tolist()


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
