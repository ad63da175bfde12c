"""Metrics of plain predictions: classification from a confusion matrix and probabilities, regression from errors.

Labels are the user's own values. ``precision``, ``recall``, ``f1`` and ``jaccard`` are weighted by
the classes' share in the truth. Standard deviations are those of the population (``ddof=0``) unless
``ddof=1`` is asked for; that concerns ``sep``, ``rpd`` and ``consistency``. A metric that does not
exist for the values given (an empty set, a constant truth under ``r2``) is NaN, never 0; two
published conventions are kept: ``rpd`` of a perfect prediction is infinite, and ``consistency`` on
a constant truth is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paragone.errors import InputError
from paragone.metrics.metric import Metric, declare_metric, metrics
from paragone.validation import FloatArray

EPSILON = float(np.finfo(np.float64).eps)
DEFAULT_METRIC: dict[str, str] = {"regression": "rmse", "classification": "balanced_accuracy"}


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
            raise InputError(
                f"a prediction of shape {predicted.shape} does not go with a truth of {true.shape}"
            )
        known = (
            np.unique(np.concatenate([true, predicted])) if labels is None else np.asarray(labels)
        )
        size = len(known)
        codes = np.searchsorted(known, true) * size + np.searchsorted(known, predicted)
        return cls(
            known, np.bincount(codes, minlength=size * size).reshape(size, size).astype(np.int64)
        )

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


_of_labels = partial(
    declare_metric,
    task="classification",
    needs="labels",
    summary=Confusion.of,
    higher_is_better=True,
    lowest=0,
    highest=1,
)
_of_probabilities = partial(declare_metric, task="classification", needs="probabilities", lowest=0)


def _divided(above: NDArray[Any], below: NDArray[Any]) -> FloatArray:
    """Divide class by class; 0 where a class has nothing to divide by, as F1 and its kin define it."""
    return np.asarray(np.divide(above, below, out=np.zeros(len(above)), where=below > 0))


def _weighted(values: FloatArray, c: Confusion) -> float:
    return float(values @ c.true / c.n)


def _precisions(c: Confusion) -> FloatArray:
    return _divided(c.right, c.predicted)


def _recalls(c: Confusion) -> FloatArray:
    return _divided(c.right, c.true)


def _f1s(c: Confusion) -> FloatArray:
    return _divided(2 * c.right, c.true + c.predicted)


@_of_labels(
    title="Balanced accuracy", short="BalAcc", reference="mean recall of the classes in the truth"
)
def _balanced_accuracy(c: Confusion) -> float:
    present = c.true > 0
    return float((c.right[present] / c.true[present]).mean())


@_of_labels(title="Accuracy", short="Accuracy", reference="share of right labels")
def _accuracy(c: Confusion) -> float:
    return float(c.right.sum() / c.n)


@_of_labels(
    title="F1", short="F1", reference="F1 of each class, weighted by its share in the truth"
)
def _f1(c: Confusion) -> float:
    return _weighted(_f1s(c), c)


@_of_labels(
    title="Precision", short="Precision", reference="precision of each class, weighted by its share"
)
def _precision(c: Confusion) -> float:
    return _weighted(_precisions(c), c)


@_of_labels(title="Recall", short="Recall", reference="recall of each class, weighted by its share")
def _recall(c: Confusion) -> float:
    return _weighted(_recalls(c), c)


@_of_labels(title="Cohen's kappa", short="Kappa", lowest=-1, reference="Cohen 1960")
def _cohen_kappa(c: Confusion) -> float:
    expected = float(c.true @ c.predicted) / c.n**2
    return np.nan if expected == 1 else (_accuracy(c) - expected) / (1 - expected)


@_of_labels(
    title="Quadratic weighted kappa",
    short="QWK",
    lowest=-1,
    reference="Cohen 1968, squared distances of ranks",
)
def _quadratic_weighted_kappa(c: Confusion) -> float:
    ranks = np.arange(len(c.labels))
    weights = (ranks[:, None] - ranks[None, :]) ** 2
    expected = float((weights * np.outer(c.true, c.predicted)).sum()) / c.n
    return np.nan if expected == 0 else 1 - float((weights * c.counts).sum()) / expected


@_of_labels(
    title="Matthews correlation",
    short="MCC",
    lowest=-1,
    reference="Gorodkin 2004; 0 where either is constant",
)
def _matthews_corrcoef(c: Confusion) -> float:
    covariance = float(c.right.sum() * c.n - c.true @ c.predicted)
    spread = float(c.n**2 - c.true @ c.true) * float(c.n**2 - c.predicted @ c.predicted)
    return 0.0 if spread == 0 else covariance / float(np.sqrt(spread))


@_of_labels(
    title="Jaccard index",
    short="Jaccard",
    reference="Jaccard index of each class, weighted by its share",
)
def _jaccard(c: Confusion) -> float:
    return _weighted(_divided(c.right, c.true + c.predicted - c.right), c)


@_of_labels(
    title="Specificity", short="Specificity", reference="mean over classes of TN / (TN + FP)"
)
def _specificity(c: Confusion) -> float:
    negatives = c.n - c.true
    false_positives = c.predicted - c.right
    there = negatives > 0
    values = 1 - false_positives[there] / negatives[there]
    if not there.any():
        return np.nan
    # With two classes the larger label is the positive one, and its negatives are asked about.
    return float(values[-1] if len(c.labels) == 2 and there.all() else values.mean())


@_of_labels(title="Error rate", higher_is_better=False, reference="share of wrong labels")
def _error_rate(c: Confusion) -> float:
    return 1.0 - _accuracy(c)


@_of_labels(
    title="Micro precision", reference="precision of all decisions pooled, which is the accuracy"
)
def _precision_micro(c: Confusion) -> float:
    return _accuracy(c)


@_of_labels(title="Macro precision", reference="mean precision of the classes")
def _precision_macro(c: Confusion) -> float:
    return float(_precisions(c).mean())


@_of_labels(title="Macro recall", reference="mean recall of the classes")
def _recall_macro(c: Confusion) -> float:
    return float(_recalls(c).mean())


@_of_labels(title="Macro F1", reference="mean F1 of the classes")
def _f1_macro(c: Confusion) -> float:
    return float(_f1s(c).mean())


@_of_probabilities(
    title="AUROC",
    short="ROC_AUC",
    higher_is_better=True,
    highest=1,
    aliases=("auc", "auroc"),
    reference=(
        "one class against the rest, mean over the classes in the truth that are not all of it"
    ),
)
def _roc_auc(y_true: Any, probabilities: FloatArray, classes: Any) -> float:
    return _one_against_rest(_area, y_true, probabilities, classes)


@_of_probabilities(
    title="AUPRC",
    higher_is_better=True,
    highest=1,
    reference="average precision, equal scores together; one class against the rest as for AUROC",
)
def _auprc(y_true: Any, probabilities: FloatArray, classes: Any) -> float:
    return _one_against_rest(_average_precision, y_true, probabilities, classes)


@_of_probabilities(
    title="Log loss",
    short="LogLoss",
    higher_is_better=False,
    unit=0,
    aliases=("logloss",),
    reference="mean of -log p(truth)",
)
def _log_loss(y_true: Any, probabilities: FloatArray, classes: Any) -> float:
    codes = np.searchsorted(np.asarray(classes), np.asarray(y_true))
    clipped = np.clip(probabilities, EPSILON, 1 - EPSILON)
    clipped = clipped / clipped.sum(axis=1, keepdims=True)
    return float(-np.log(clipped[np.arange(len(codes)), codes]).mean())


def _one_against_rest(
    value: Callable[[NDArray[np.bool_], FloatArray], float],
    y_true: Any,
    probabilities: FloatArray,
    classes: Any,
) -> float:
    """Return the mean over classes of a value of one class against the rest; with two classes that of the larger."""
    codes = np.searchsorted(np.asarray(classes), np.asarray(y_true))
    n_classes = probabilities.shape[1]
    values = [
        value(codes == c, probabilities[:, c])
        for c in ([1] if n_classes == 2 else range(n_classes))
    ]
    there = [one for one in values if not np.isnan(one)]
    return float(np.mean(there)) if there else np.nan


def _area(positive: NDArray[np.bool_], score: FloatArray) -> float:
    """Return the share of (positive, negative) pairs in the right order, ties counted half."""
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if not n_positive or not n_negative:
        return np.nan
    from scipy.stats import rankdata

    return float(
        (rankdata(score)[positive].sum() - n_positive * (n_positive + 1) / 2)
        / (n_positive * n_negative)
    )


def _average_precision(positive: NDArray[np.bool_], score: FloatArray) -> float:
    """Return the mean over positives of the precision among all that score at least as much."""
    n_positive = int(positive.sum())
    if not n_positive or n_positive == len(positive):
        return np.nan
    from scipy.stats import rankdata

    at_least = len(score) + 1 - rankdata(score, method="min")
    hits = n_positive + 1 - rankdata(score[positive], method="min")
    return float((hits / at_least[positive]).mean())


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
            raise InputError(
                f"a prediction of shape {predicted.shape} does not go with a truth of {true.shape}"
            )
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


_of_errors = partial(
    declare_metric, task="regression", needs="values", summary=RegressionStatistics.of
)
_error = partial(_of_errors, higher_is_better=False, lowest=0, unit=1)
_relative_error = partial(_of_errors, higher_is_better=False, lowest=0, unit=0)
_agreement = partial(_of_errors, higher_is_better=True, highest=1, unit=0)
_precision_ratio = partial(_of_errors, higher_is_better=True, lowest=0, unit=0)

# What chemometricians call the RMSE of calibration, cross-validation and prediction; scores from
# elsewhere have them.
for _name in ("rmsec", "rmsecv", "rmsep"):
    metrics.add(
        Metric(
            _name, title=_name.upper(), task="regression", higher_is_better=False, lowest=0, unit=1
        )
    )


def _ratio(above: float, below: float) -> float:
    """Divide; infinite over 0, and NaN for 0 over 0."""
    if below == 0:
        return np.nan if above == 0 or np.isnan(above) else np.inf
    return above / below


def _over_range(value: float, s: RegressionStatistics) -> float:
    extent = float(np.ptp(s.y_true))
    return np.nan if extent == 0 else value / extent


def _unexplained(squares: float, s: RegressionStatistics) -> float:
    return np.nan if np.ptp(s.y_true) == 0 else 1.0 - squares / s.squares_true


@_error(
    title="RMSE", aliases=("root_mean_squared_error",), reference="root of the mean squared error"
)
def _rmse(s: RegressionStatistics) -> float:
    return float(np.sqrt(s.mse))


@_error(title="MSE", unit=2, aliases=("mean_squared_error",), reference="mean squared error")
def _mse(s: RegressionStatistics) -> float:
    return s.mse


@_error(title="MAE", aliases=("mean_absolute_error",), reference="mean absolute error")
def _mae(s: RegressionStatistics) -> float:
    return float(np.abs(s.error).mean())


@_relative_error(
    title="MAPE",
    aliases=("mean_absolute_percentage_error",),
    reference="mean of |error| / |truth|, divided by at least the machine epsilon",
)
def _mape(s: RegressionStatistics) -> float:
    return float((np.abs(s.error) / np.maximum(np.abs(s.y_true), EPSILON)).mean())


@_agreement(
    title="R2",
    short="R2",
    reference="1 - squared errors / squared deviations of the truth from its mean",
)
def _r2(s: RegressionStatistics) -> float:
    return _unexplained(s.squares_error, s)


@_agreement(
    title="Explained variance", short="ExpVar", reference="R2 of the errors without their mean"
)
def _explained_variance(s: RegressionStatistics) -> float:
    centred = s.error - s.mean_error
    return _unexplained(float(centred @ centred), s)


@_error(title="Largest error", short="MaxError", reference="largest absolute error")
def _max_error(s: RegressionStatistics) -> float:
    return float(np.abs(s.error).max())


@_error(
    title="Median absolute error",
    short="MedAE",
    aliases=("median_absolute_error",),
    reference="median of the absolute errors",
)
def _median_ae(s: RegressionStatistics) -> float:
    return float(np.median(np.abs(s.error)))


@_of_errors(title="Bias", short="Bias", unit=1, best=0.0, reference="mean of prediction - truth")
def _bias(s: RegressionStatistics) -> float:
    return s.mean_error


@_error(title="SEP", reference="standard deviation of prediction - truth")
def _sep(s: RegressionStatistics) -> float:
    return s.sep


@_precision_ratio(title="RPD", reference="std(truth) / SEP")
def _rpd(s: RegressionStatistics) -> float:
    return _ratio(s.std_true, s.sep)


@_precision_ratio(title="RPIQ", reference="IQR(truth) / RMSE, linear percentiles")
def _rpiq(s: RegressionStatistics) -> float:
    low, high = np.percentile(s.y_true, [25, 75])
    return _ratio(float(high - low), _rmse(s))


@_agreement(title="Consistency", short="Consistency", reference="1 - RMSE / std(truth)")
def _consistency(s: RegressionStatistics) -> float:
    return 0.0 if s.std_true == 0 else 1.0 - _rmse(s) / s.std_true


@_relative_error(title="NRMSE", reference="RMSE / range of the truth")
def _nrmse(s: RegressionStatistics) -> float:
    return _over_range(_rmse(s), s)


@_relative_error(
    title="NMSE", reference="squared errors / squared deviations of the truth from its mean"
)
def _nmse(s: RegressionStatistics) -> float:
    return np.nan if np.ptp(s.y_true) == 0 else s.squares_error / s.squares_true


@_relative_error(title="NMAE", reference="MAE / range of the truth")
def _nmae(s: RegressionStatistics) -> float:
    return _over_range(_mae(s), s)


@_agreement(
    title="Pearson's r",
    short="r",
    lowest=-1,
    reference="linear correlation of truth and prediction",
)
def _pearson_r(s: RegressionStatistics) -> float:
    return _pearson(s.y_true, s.y_pred)


@_agreement(
    title="Spearman's rho", short="rho", lowest=-1, reference="linear correlation of the ranks"
)
def _spearman_r(s: RegressionStatistics) -> float:
    from scipy.stats import rankdata

    return _pearson(rankdata(s.y_true), rankdata(s.y_pred))


def _pearson(a: FloatArray, b: FloatArray) -> float:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return np.nan
    left, right = a - a.mean(), b - b.mean()
    r = float(left @ right / np.sqrt((left @ left) * (right @ right)))
    return max(-1.0, min(1.0, r))
