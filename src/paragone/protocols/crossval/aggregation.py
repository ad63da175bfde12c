"""Aggregate replicates: one prediction a physical sample out of those of its spectra."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError, unknown_name
from paragone.protocols.crossval.ledger import Predictions
from paragone.protocols.crossval.votes import most_likely
from paragone.validation import FloatArray, IntArray

Aggregate: TypeAlias = Literal["mean", "median", "vote"]
LIMIT = 3.5
NORMAL_QUARTILE = 0.6745
SMALLEST_GROUP = 3


@dataclass(frozen=True, eq=False)
class Aggregated:
    """Predictions a group: ids, sizes after exclusion, how many were excluded, truth and prediction."""

    groups: NDArray[Any]
    sizes: IntArray
    excluded: IntArray
    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    probabilities: FloatArray | None = None


def aggregate_by_group(
    predictions: Predictions,
    groups: Any,
    *,
    task: str,
    how: Aggregate | None = None,
    exclude_outliers: bool = False,
    classes: NDArray[Any] | None = None,
) -> Aggregated:
    """Aggregate predictions of rows that belong to one physical sample.

    Parameters
    ----------
    predictions : Predictions
        One a spectrum.
    groups : array-like of shape (n,)
        The physical sample of every row of ``predictions``.
    task : {"regression", "classification"}
        Declared; whole-numbered regression targets are averaged like any others.
    how : {"mean", "median", "vote"}, optional
        ``mean`` for regression and ``vote`` for classification where not given. Where a classifier gives
        probabilities they are averaged and the largest decides.
    exclude_outliers : bool, default=False
        Leave out predictions whose modified z-score, ``0.6745 (x - median) / MAD``, is above 3.5 in groups of three
        or more. Where the MAD is 0 the rule cannot judge and leaves nothing out.
    classes : ndarray, optional
        The labels of the probability columns.

    Returns
    -------
    Aggregated
        In sorted order of the groups.

    Examples
    --------
    >>> rows = Predictions(np.arange(3), np.ones(3), np.array([1.0, 1.2, 5.0]))
    >>> aggregate_by_group(rows, ["a", "a", "b"], task="regression").y_pred.tolist()
    [1.1, 5.0]
    """
    how = how or ("mean" if task == "regression" else "vote")
    if how not in get_args(Aggregate):
        raise unknown_name("aggregation", how, get_args(Aggregate))
    if task == "classification" and how != "vote":
        raise InputError(f"class labels cannot be aggregated by {how}: use vote")
    ids = np.asarray(groups)
    if len(ids) != len(predictions):
        raise InputError(f"{len(ids)} groups do not go with {len(predictions)} predictions")
    names, codes = np.unique(ids, return_inverse=True)
    members = [np.flatnonzero(codes == code) for code in range(len(names))]
    kept = [_inliers(predictions.y_pred, m) if exclude_outliers and task == "regression" else m for m in members]
    probabilities = None
    if predictions.probabilities is not None and classes is not None:
        probabilities = np.stack([predictions.probabilities[rows].mean(axis=0) for rows in kept])
        y_pred = classes[most_likely(probabilities)]
    else:
        y_pred = np.array([_combined(predictions.y_pred[rows], how) for rows in kept])
    return Aggregated(
        names,
        np.array([len(rows) for rows in kept], dtype=np.int64),
        np.array([len(m) - len(k) for m, k in zip(members, kept, strict=True)], dtype=np.int64),
        np.array([_combined(predictions.y_true[rows], "mean" if task == "regression" else "vote") for rows in members]),
        y_pred,
        probabilities,
    )


def _inliers(values: NDArray[Any], rows: IntArray) -> IntArray:
    if len(rows) < SMALLEST_GROUP:
        return rows
    away = np.abs(values[rows] - np.median(values[rows]))
    spread = float(np.median(away))
    if spread == 0:
        return rows
    return np.asarray(rows[NORMAL_QUARTILE * away / spread <= LIMIT])


def _combined(values: NDArray[Any], how: Aggregate) -> Any:
    if how == "mean":
        return values.mean()
    if how == "median":
        return np.median(values)
    labels, counts = np.unique(values, return_counts=True)
    return labels[counts.argmax()]
