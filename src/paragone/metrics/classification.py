"""Classification metrics from a confusion matrix, and from probabilities where they need them.

Labels are the user's own values. ``precision``, ``recall``, ``f1`` and ``jaccard`` are weighted by the classes' share
in the truth; ``balanced_accuracy`` averages the recall of the classes that occur in the truth; ``specificity`` is the
mean over classes of TN / (TN + FP), and with two classes that of the smaller label. ``roc_auc`` is one class
against the rest, averaged over the classes that occur in the truth and are not all of it. A metric that does not
exist is NaN, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError, unknown_name
from paragone.validation import FloatArray

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Confusion:
    """Counts of truth against prediction over the classes that occur in either.

    Parameters
    ----------
    labels : ndarray
        The classes, sorted.
    counts : ndarray of int64 of shape (n_classes, n_classes)
        Rows are the truth, columns the prediction.
    """

    labels: NDArray[Any]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, y_true: Any, y_pred: Any, labels: Any = None) -> Confusion:
        """Count truth against prediction.

        Examples
        --------
        >>> Confusion.of(["a", "b", "b"], ["a", "a", "b"]).counts.tolist()
        [[1, 0], [1, 1]]
        """
        true, predicted = np.asarray(y_true), np.asarray(y_pred)
        if true.shape != predicted.shape or true.ndim != 1:
            raise InputError(f"a prediction of shape {predicted.shape} does not go with a truth of {true.shape}")
        known = np.unique(np.concatenate([true, predicted])) if labels is None else np.asarray(labels)
        size = len(known)
        codes = np.searchsorted(known, true) * size + np.searchsorted(known, predicted)
        return cls(known, np.bincount(codes, minlength=size * size).reshape(size, size).astype(np.int64))

    @property
    def n(self) -> int:
        """Number of predictions."""
        return int(self.counts.sum())

    @property
    def right(self) -> NDArray[np.int64]:
        """Right predictions a class."""
        return np.asarray(np.diag(self.counts))

    @property
    def true(self) -> NDArray[np.int64]:
        """Occurrences of each class in the truth."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def predicted(self) -> NDArray[np.int64]:
        """Occurrences of each class in the prediction."""
        return np.asarray(self.counts.sum(axis=0))


def _divided(above: NDArray[Any], below: NDArray[Any]) -> FloatArray:
    """Divide class by class; 0 where a class has nothing to divide by, as F1 and its kin define it."""
    return np.asarray(np.divide(above, below, out=np.zeros(len(above)), where=below > 0))


def _weighted(values: FloatArray, c: Confusion) -> float:
    return float(values @ c.true / c.n)


def _balanced_accuracy(c: Confusion) -> float:
    present = c.true > 0
    return float((c.right[present] / c.true[present]).mean())


def _accuracy(c: Confusion) -> float:
    return float(c.right.sum() / c.n)


def _precisions(c: Confusion) -> FloatArray:
    return _divided(c.right, c.predicted)


def _recalls(c: Confusion) -> FloatArray:
    return _divided(c.right, c.true)


def _f1s(c: Confusion) -> FloatArray:
    return _divided(2 * c.right, c.true + c.predicted)


def _jaccards(c: Confusion) -> FloatArray:
    return _divided(c.right, c.true + c.predicted - c.right)


def _cohen_kappa(c: Confusion) -> float:
    expected = float(c.true @ c.predicted) / c.n**2
    return np.nan if expected == 1 else (_accuracy(c) - expected) / (1 - expected)


def _matthews(c: Confusion) -> float:
    covariance = float(c.right.sum() * c.n - c.true @ c.predicted)
    spread = float(c.n**2 - c.true @ c.true) * float(c.n**2 - c.predicted @ c.predicted)
    return 0.0 if spread == 0 else covariance / float(np.sqrt(spread))


def _specificity(c: Confusion) -> float:
    negatives = c.n - c.true
    false_positives = c.predicted - c.right
    there = negatives > 0
    values = 1 - false_positives[there] / negatives[there]
    if not there.any():
        return np.nan
    # With two classes the larger label is the positive one, and its negatives are asked about.
    return float(values[-1] if len(c.labels) == 2 and there.all() else values.mean())


_OF_LABELS: dict[str, Callable[[Confusion], float]] = {
    "balanced_accuracy": _balanced_accuracy,
    "accuracy": _accuracy,
    "f1": lambda c: _weighted(_f1s(c), c),
    "precision": lambda c: _weighted(_precisions(c), c),
    "recall": lambda c: _weighted(_recalls(c), c),
    "cohen_kappa": _cohen_kappa,
    "matthews_corrcoef": _matthews,
    "jaccard": lambda c: _weighted(_jaccards(c), c),
    "specificity": _specificity,
    "error_rate": lambda c: 1.0 - _accuracy(c),
    "precision_micro": _accuracy,
    "precision_macro": lambda c: float(_precisions(c).mean()),
    "recall_macro": lambda c: float(_recalls(c).mean()),
    "f1_macro": lambda c: float(_f1s(c).mean()),
}


def _roc_auc(codes: NDArray[np.int64], probabilities: FloatArray) -> float:
    n_classes = probabilities.shape[1]
    areas = [_area(codes == c, probabilities[:, c]) for c in ([1] if n_classes == 2 else range(n_classes))]
    there = [area for area in areas if not np.isnan(area)]
    return float(np.mean(there)) if there else np.nan


def _area(positive: NDArray[np.bool_], score: FloatArray) -> float:
    """Return the share of (positive, negative) pairs in the right order, ties counted half."""
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if not n_positive or not n_negative:
        return np.nan
    # Importing scipy.stats takes a second, which whoever asks for another metric need not wait for.
    from scipy.stats import rankdata

    return float((rankdata(score)[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def _log_loss(codes: NDArray[np.int64], probabilities: FloatArray) -> float:
    clipped = np.clip(probabilities, EPSILON, 1 - EPSILON)
    clipped = clipped / clipped.sum(axis=1, keepdims=True)
    return float(-np.log(clipped[np.arange(len(codes)), codes]).mean())


_OF_PROBABILITIES: dict[str, Callable[[NDArray[np.int64], FloatArray], float]] = {
    "roc_auc": _roc_auc,
    "log_loss": _log_loss,
}

CLASSIFICATION: tuple[str, ...] = (*_OF_LABELS, *_OF_PROBABILITIES)
"""The names of all classification metrics."""

NEED_PROBABILITIES: frozenset[str] = frozenset(_OF_PROBABILITIES)
"""Those that look at probabilities; they do not exist (NaN) for a model that has none."""


def classification_values(
    names: Sequence[str],
    y_true: Any,
    y_pred: Any,
    probabilities: FloatArray | None = None,
    classes: Any = None,
) -> dict[str, float]:
    """Compute several classification metrics on one prediction.

    Parameters
    ----------
    names : sequence of str
        Names out of `CLASSIFICATION`.
    y_true, y_pred : array-like of shape (n,)
        Labels, the user's own values.
    probabilities : ndarray of shape (n, n_classes), optional
        One column a class, in the order of ``classes``.
    classes : array-like, optional
        The sorted labels of the columns; needed with probabilities.

    Returns
    -------
    dict of str to float
        NaN where a metric does not exist: an empty prediction, no probabilities, a truth of one class.

    Examples
    --------
    >>> classification_values(["accuracy", "balanced_accuracy"], ["a", "a", "a", "b"], ["a", "a", "a", "a"])
    {'accuracy': 0.75, 'balanced_accuracy': 0.5}
    """
    for name in names:
        if name not in CLASSIFICATION:
            raise unknown_name("classification metric", name, CLASSIFICATION)
    confusion = Confusion.of(y_true, y_pred)
    if not confusion.n:
        return dict.fromkeys(names, np.nan)
    values: dict[str, float] = {}
    for name in names:
        if name in _OF_LABELS:
            values[name] = float(_OF_LABELS[name](confusion))
        elif probabilities is None:
            values[name] = np.nan
        else:
            codes = np.searchsorted(np.asarray(classes), np.asarray(y_true))
            values[name] = _OF_PROBABILITIES[name](codes, probabilities)
    return values
