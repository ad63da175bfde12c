"""Metrics of plain predictions: classification from a confusion matrix and probabilities, regression from errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paragone.directions import higher_is_better
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


_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class RegressionStatistics:
    """What all regression metrics follow from; the errors are kept for those that need their order.

    Parameters
    ----------
    y_true, y_pred, error : ndarray
        The truth, the prediction and ``prediction - truth``.
    mean_true, mean_error : float
        Their means.
    squares_true, squares_error : float
        Sums of squared deviations of the truth from its mean, and of the squared errors.
    ddof : {0, 1}
        What is taken off n in a standard deviation.
    """

    y_true: FloatArray
    y_pred: FloatArray
    error: FloatArray
    mean_true: float
    mean_error: float
    squares_true: float
    squares_error: float
    ddof: int = 0

    @classmethod
    def of(cls, y_true: ArrayLike, y_pred: ArrayLike, ddof: int = 0) -> RegressionStatistics:
        """Take the statistics of a prediction.

        Examples
        --------
        >>> RegressionStatistics.of([1.0, 2.0], [1.0, 3.0]).squares_error
        1.0
        """
        true, predicted = np.asarray(y_true, dtype=np.float64), np.asarray(y_pred, dtype=np.float64)
        if true.shape != predicted.shape or true.ndim != 1:
            raise InputError(f"a prediction of shape {predicted.shape} does not go with a truth of {true.shape}")
        if ddof not in (0, 1):
            raise InputError(f"ddof must be 0 or 1, it is {ddof!r}")
        error = predicted - true
        if not len(true):
            return cls(true, predicted, error, np.nan, np.nan, np.nan, np.nan, ddof)
        mean = float(true.mean())
        centred = true - mean
        squares = float(centred @ centred), float(error @ error)
        return cls(true, predicted, error, mean, float(error.mean()), *squares, ddof)

    @property
    def n(self) -> int:
        """Number of predictions."""
        return len(self.y_true)

    @property
    def mse(self) -> float:
        """Mean squared error."""
        return self.squares_error / self.n if self.n else np.nan

    @property
    def std_true(self) -> float:
        """Standard deviation of the truth; exactly 0 where the truth is constant."""
        return self._std(self.y_true, self.squares_true)

    @property
    def sep(self) -> float:
        """Standard deviation of the errors."""
        centred = self.error - self.mean_error
        return self._std(self.error, float(centred @ centred))

    def _std(self, values: FloatArray, squares: float) -> float:
        if self.n <= self.ddof:
            return np.nan
        return 0.0 if np.ptp(values) == 0 else float(np.sqrt(squares / (self.n - self.ddof)))


def _ratio(above: float, below: float) -> float:
    """Divide; infinite over 0, and NaN for 0 over 0."""
    if below == 0:
        return np.nan if above == 0 or np.isnan(above) else np.inf
    return above / below


def _rmse(s: RegressionStatistics) -> float:
    return float(np.sqrt(s.mse))


def _range(s: RegressionStatistics) -> float:
    return float(np.ptp(s.y_true))


def _mae(s: RegressionStatistics) -> float:
    return float(np.abs(s.error).mean())


def _mape(s: RegressionStatistics) -> float:
    return float((np.abs(s.error) / np.maximum(np.abs(s.y_true), _EPSILON)).mean())


def _unexplained(squares: float, s: RegressionStatistics) -> float:
    return np.nan if np.ptp(s.y_true) == 0 else 1.0 - squares / s.squares_true


def _explained_variance(s: RegressionStatistics) -> float:
    centred = s.error - s.mean_error
    return _unexplained(float(centred @ centred), s)


def _consistency(s: RegressionStatistics) -> float:
    return 0.0 if s.std_true == 0 else 1.0 - _rmse(s) / s.std_true


def _nmse(s: RegressionStatistics) -> float:
    return np.nan if np.ptp(s.y_true) == 0 else s.squares_error / s.squares_true


def _rpiq(s: RegressionStatistics) -> float:
    low, high = np.percentile(s.y_true, [25, 75])
    return _ratio(float(high - low), _rmse(s))


def _pearson(a: FloatArray, b: FloatArray) -> float:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return np.nan
    left, right = a - a.mean(), b - b.mean()
    r = float(left @ right / np.sqrt((left @ left) * (right @ right)))
    return max(-1.0, min(1.0, r))


def _spearman(s: RegressionStatistics) -> float:
    # Importing scipy.stats takes a second, which whoever asks for another metric need not wait for.
    from scipy.stats import rankdata

    return _pearson(rankdata(s.y_true), rankdata(s.y_pred))


REGRESSION: dict[str, Callable[[RegressionStatistics], float]] = {
    "rmse": _rmse,
    "mse": lambda s: s.mse,
    "mae": _mae,
    "mape": _mape,
    "r2": lambda s: _unexplained(s.squares_error, s),
    "explained_variance": _explained_variance,
    "max_error": lambda s: float(np.abs(s.error).max()),
    "median_ae": lambda s: float(np.median(np.abs(s.error))),
    "bias": lambda s: s.mean_error,
    "sep": lambda s: s.sep,
    "rpd": lambda s: _ratio(s.std_true, s.sep),
    "rpiq": _rpiq,
    "consistency": _consistency,
    "nrmse": lambda s: np.nan if _range(s) == 0 else _rmse(s) / _range(s),
    "nmse": _nmse,
    "nmae": lambda s: np.nan if _range(s) == 0 else _mae(s) / _range(s),
    "pearson_r": lambda s: _pearson(s.y_true, s.y_pred),
    "spearman_r": _spearman,
}
"""Every regression metric by name: a function of the statistics of a prediction.

``bias`` is ``mean(prediction - truth)``, ``sep`` the standard deviation of ``prediction - truth``, ``rpd`` is
``std(truth) / sep``, ``rpiq`` is ``IQR(truth) / rmse`` (linear percentiles), ``consistency`` is
``1 - rmse / std(truth)``; ``nrmse`` and ``nmae`` are divided by the range of the truth, ``nmse`` by its variance.
``mape`` divides by at least the machine epsilon, as scikit-learn does.
"""


def regression_values(
    names: list[str] | tuple[str, ...], y_true: Any, y_pred: Any, *, ddof: int = 0
) -> dict[str, float]:
    """Compute several regression metrics on one prediction.

    Parameters
    ----------
    names : sequence of str
        Names out of `REGRESSION`.
    y_true, y_pred : array-like of shape (n,)
        Truth and prediction.
    ddof : {0, 1}, default=0
        What is taken off n in the standard deviations of ``sep``, ``rpd`` and ``consistency``.

    Returns
    -------
    dict of str to float
        NaN where a metric does not exist, as for an empty prediction.

    Examples
    --------
    >>> values = regression_values(["rmse", "bias", "sep"], [1.0, 2.0, 3.0], [1.5, 2.0, 3.5])
    >>> {name: round(value, 4) for name, value in values.items()}
    {'rmse': 0.4082, 'bias': 0.3333, 'sep': 0.2357}
    """
    for name in names:
        if name not in REGRESSION:
            raise unknown_name("regression metric", name, REGRESSION)
    statistics = RegressionStatistics.of(y_true, y_pred, ddof)
    if not statistics.n:
        return dict.fromkeys(names, np.nan)
    return {name: float(REGRESSION[name](statistics)) for name in names}


PredictionTask: TypeAlias = Literal["regression", "classification"]

PREDICTION_METRICS: dict[str, tuple[str, ...]] = {
    "regression": tuple(REGRESSION),
    "classification": CLASSIFICATION,
}
DEFAULT_METRIC: dict[str, str] = {"regression": "rmse", "classification": "balanced_accuracy"}


def check_prediction_metric(name: str, task: str, *, rank: bool = False) -> str:
    """Return the name if it is a metric of the task, and one that can rank where that is asked.

    Examples
    --------
    >>> check_prediction_metric("rmse", "regression", rank=True)
    'rmse'
    >>> check_prediction_metric("bias", "regression", rank=True)
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: metric 'bias' has no better direction, so nothing can be ranked by it
    """
    if name not in PREDICTION_METRICS[task]:
        raise unknown_name(f"{task} metric", name, PREDICTION_METRICS[task])
    if rank and higher_is_better(name) is None:
        raise InputError(f"metric {name!r} has no better direction, so nothing can be ranked by it")
    return name


def prediction_values(
    names: Sequence[str],
    task: str,
    y_true: Any,
    y_pred: Any,
    *,
    probabilities: FloatArray | None = None,
    classes: Any = None,
    ddof: int = 0,
) -> dict[str, float]:
    """Compute metrics of a regression or a classification.

    Parameters
    ----------
    names : sequence of str
        Names of metrics of the task.
    task : {"regression", "classification"}
        What the prediction is.
    y_true, y_pred : array-like of shape (n,)
        Truth and prediction.
    probabilities, classes : optional
        Probabilities and the sorted labels of their columns.
    ddof : {0, 1}, default=0
        For the standard deviations of regression metrics.

    Returns
    -------
    dict of str to float
        NaN where a metric does not exist.

    Examples
    --------
    >>> prediction_values(["mae"], "regression", [1.0, 2.0], [2.0, 2.0])
    {'mae': 0.5}
    """
    if task == "classification":
        return classification_values(names, y_true, y_pred, probabilities, classes)
    return regression_values(tuple(names), y_true, y_pred, ddof=ddof)
