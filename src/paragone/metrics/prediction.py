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
from paragone.metrics.confusion import (
    F1,
    JACCARD,
    PRECISION,
    RECALL,
    Confusion,
    accuracy_table,
    balanced_table,
    by_cell,
    error_table,
    kappa_table,
    matthews_table,
    quadratic_kappa_table,
    specificity_table,
)
from paragone.metrics.contributions import (
    Contributions,
    area_slopes,
    average_precision_slopes,
    mean_slopes,
    ratio_slopes,
    rest_slopes,
)
from paragone.metrics.metric import Metric, declare_metric, metrics
from paragone.validation import FloatArray, IntArray

EPSILON = float(np.finfo(np.float64).eps)
DEFAULT_METRIC: dict[str, str] = {"regression": "rmse", "classification": "balanced_accuracy"}


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


def class_codes(y_true: Any, classes: Any) -> IntArray:
    """Return the column of every row's class.

    Examples
    --------
    >>> class_codes(["b", "a"], ["a", "b"]).tolist()
    [1, 0]
    """
    return np.searchsorted(np.asarray(classes), np.asarray(y_true)).astype(np.int64)


def log_losses(y_true: Any, probabilities: FloatArray, classes: Any) -> FloatArray:
    """Return -log p(truth) of every row.

    Examples
    --------
    >>> log_losses(["a"], np.array([[0.5, 0.5]]), ["a", "b"]).round(3).tolist()
    [0.693]
    """
    codes = class_codes(y_true, classes)
    clipped = np.clip(probabilities, EPSILON, 1 - EPSILON)
    clipped = clipped / clipped.sum(axis=1, keepdims=True)
    return np.asarray(-np.log(clipped[np.arange(len(codes)), codes]))


def _area_slopes(y_true: Any, probabilities: FloatArray, classes: Any) -> FloatArray:
    return rest_slopes(area_slopes, class_codes(y_true, classes), probabilities)


def _precision_slopes(y_true: Any, probabilities: FloatArray, classes: Any) -> FloatArray:
    return rest_slopes(average_precision_slopes, class_codes(y_true, classes), probabilities)


def _log_loss_slopes(y_true: Any, probabilities: FloatArray, classes: Any) -> FloatArray:
    return mean_slopes(log_losses(y_true, probabilities, classes))


def _half(n_classes: int) -> float:
    return 0.5


def _one_of_all(n_classes: int) -> float:
    return 1 / n_classes


def _chance(n_classes: int) -> float:
    return 0.0


@_of_labels(
    title="Balanced accuracy",
    short="BalAcc",
    reference="mean recall of the classes in the truth",
    contributions=by_cell(balanced_table, by_class=True, constant=_one_of_all),
)
def _balanced_accuracy(c: Confusion) -> float:
    present = c.true > 0
    return float((c.right[present] / c.true[present]).mean())


@_of_labels(
    title="Accuracy",
    short="Accuracy",
    reference="share of right labels",
    contributions=by_cell(accuracy_table, is_share=True),
)
def _accuracy(c: Confusion) -> float:
    return float(c.right.sum() / c.n)


@_of_labels(
    title="F1",
    short="F1",
    reference="F1 of each class, weighted by its share in the truth",
    contributions=by_cell(F1.weighted_table),
)
def _f1(c: Confusion) -> float:
    return F1.weighted(c)


@_of_labels(
    title="Precision",
    short="Precision",
    reference="precision of each class, weighted by its share",
    contributions=by_cell(PRECISION.weighted_table),
)
def _precision(c: Confusion) -> float:
    return PRECISION.weighted(c)


@_of_labels(
    title="Recall",
    short="Recall",
    reference="recall of each class, weighted by its share",
    contributions=by_cell(RECALL.weighted_table),
)
def _recall(c: Confusion) -> float:
    return RECALL.weighted(c)


@_of_labels(
    title="Cohen's kappa",
    short="Kappa",
    lowest=-1,
    reference="Cohen 1960",
    contributions=by_cell(kappa_table, constant=_chance),
)
def _cohen_kappa(c: Confusion) -> float:
    expected = float(c.true @ c.predicted) / c.n**2
    return np.nan if expected == 1 else (_accuracy(c) - expected) / (1 - expected)


@_of_labels(
    title="Quadratic weighted kappa",
    short="QWK",
    lowest=-1,
    reference="Cohen 1968, squared distances of ranks",
    contributions=by_cell(quadratic_kappa_table, constant=_chance),
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
    contributions=by_cell(matthews_table, constant=_chance),
)
def _matthews_corrcoef(c: Confusion) -> float:
    covariance = float(c.right.sum() * c.n - c.true @ c.predicted)
    spread = float(c.n**2 - c.true @ c.true) * float(c.n**2 - c.predicted @ c.predicted)
    return 0.0 if spread == 0 else covariance / float(np.sqrt(spread))


@_of_labels(
    title="Jaccard index",
    short="Jaccard",
    reference="Jaccard index of each class, weighted by its share",
    contributions=by_cell(JACCARD.weighted_table),
)
def _jaccard(c: Confusion) -> float:
    return JACCARD.weighted(c)


@_of_labels(
    title="Specificity",
    short="Specificity",
    reference="mean over classes of TN / (TN + FP)",
    contributions=by_cell(specificity_table, by_class=True),
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


@_of_labels(
    title="Error rate",
    higher_is_better=False,
    reference="share of wrong labels",
    contributions=by_cell(error_table, is_share=True),
)
def _error_rate(c: Confusion) -> float:
    return 1.0 - _accuracy(c)


@_of_labels(
    title="Micro precision",
    reference="precision of all decisions pooled, which is the accuracy",
    contributions=by_cell(accuracy_table, is_share=True),
)
def _precision_micro(c: Confusion) -> float:
    return _accuracy(c)


@_of_labels(
    title="Macro precision",
    reference="mean precision of the classes",
    contributions=by_cell(PRECISION.macro_table, by_class=True),
)
def _precision_macro(c: Confusion) -> float:
    return float(PRECISION.values(c).mean())


@_of_labels(
    title="Macro recall",
    reference="mean recall of the classes",
    contributions=by_cell(RECALL.macro_table, by_class=True),
)
def _recall_macro(c: Confusion) -> float:
    return float(RECALL.values(c).mean())


@_of_labels(
    title="Macro F1",
    reference="mean F1 of the classes",
    contributions=by_cell(F1.macro_table, by_class=True),
)
def _f1_macro(c: Confusion) -> float:
    return float(F1.values(c).mean())


@_of_probabilities(
    title="AUROC",
    short="ROC_AUC",
    higher_is_better=True,
    highest=1,
    aliases=("auc", "auroc"),
    reference=(
        "one class against the rest, mean over the classes in the truth that are not all of it"
    ),
    contributions=Contributions(_area_slopes, by_class=True, unseen="pair", constant=_half),
)
def _roc_auc(y_true: Any, probabilities: FloatArray, classes: Any) -> float:
    return _one_against_rest(_area, y_true, probabilities, classes)


@_of_probabilities(
    title="AUPRC",
    higher_is_better=True,
    highest=1,
    reference="average precision, equal scores together; one class against the rest as for AUROC",
    contributions=Contributions(_precision_slopes, by_class=True, unseen="pair"),
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
    contributions=Contributions(_log_loss_slopes),
)
def _log_loss(y_true: Any, probabilities: FloatArray, classes: Any) -> float:
    return float(log_losses(y_true, probabilities, classes).mean())


def _one_against_rest(
    value: Callable[[NDArray[np.bool_], FloatArray], float],
    y_true: Any,
    probabilities: FloatArray,
    classes: Any,
) -> float:
    """Return the mean over classes of a value of one class against the rest; with two classes that of the larger."""
    codes = class_codes(y_true, classes)
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
    def centred(self) -> FloatArray:
        """The truth around its mean."""
        return self.y_true - self.mean_true

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


def _shares(s: RegressionStatistics) -> FloatArray:
    return np.asarray(np.abs(s.error) / np.maximum(np.abs(s.y_true), EPSILON))


def _error_slopes(s: RegressionStatistics) -> FloatArray:
    return mean_slopes(s.error)


def _absolute_slopes(s: RegressionStatistics) -> FloatArray:
    return mean_slopes(np.abs(s.error))


def _share_slopes(s: RegressionStatistics) -> FloatArray:
    return mean_slopes(_shares(s))


def _square_slopes(s: RegressionStatistics) -> FloatArray:
    return mean_slopes(s.error**2)


def _unexplained_slopes(s: RegressionStatistics) -> FloatArray:
    return ratio_slopes(s.error**2, s.centred**2)


def _explained_slopes(s: RegressionStatistics) -> FloatArray:
    return -_unexplained_slopes(s)


def _evenly_explained_slopes(s: RegressionStatistics) -> FloatArray:
    return -ratio_slopes((s.error - s.mean_error) ** 2, s.centred**2)


def _root_slopes(s: RegressionStatistics) -> FloatArray:
    slopes = mean_slopes(s.error**2)
    return slopes / (2 * np.sqrt(s.mse)) if s.mse > 0 else slopes


def _consistency_slopes(s: RegressionStatistics) -> FloatArray:
    if s.std_true == 0 or s.mse == 0:
        return np.zeros(s.n)
    relative = mean_slopes(s.error**2) / s.mse - mean_slopes(s.centred**2) * s.n / s.squares_true
    return np.asarray(-np.sqrt(s.mse) / s.std_true / 2 * relative)


def _pearson_slopes(s: RegressionStatistics) -> FloatArray:
    predicted = s.y_pred - s.y_pred.mean()
    if np.ptp(s.y_true) == 0 or np.ptp(s.y_pred) == 0:
        return np.full(s.n, np.nan)
    left, right = (one / np.sqrt(one @ one) for one in (s.centred, predicted))
    return np.asarray(left * right - (left @ right) * (left**2 + right**2) / 2)


def _over_range(value: float, s: RegressionStatistics) -> float:
    extent = float(np.ptp(s.y_true))
    return np.nan if extent == 0 else value / extent


def _unexplained(squares: float, s: RegressionStatistics) -> float:
    return np.nan if np.ptp(s.y_true) == 0 else 1.0 - squares / s.squares_true


@_error(
    title="RMSE",
    aliases=("root_mean_squared_error",),
    reference="root of the mean squared error",
    contributions=Contributions(_root_slopes),
)
def _rmse(s: RegressionStatistics) -> float:
    return float(np.sqrt(s.mse))


@_error(
    title="MSE",
    unit=2,
    aliases=("mean_squared_error",),
    reference="mean squared error",
    contributions=Contributions(_square_slopes),
)
def _mse(s: RegressionStatistics) -> float:
    return s.mse


@_error(
    title="MAE",
    aliases=("mean_absolute_error",),
    reference="mean absolute error",
    contributions=Contributions(_absolute_slopes),
)
def _mae(s: RegressionStatistics) -> float:
    return float(np.abs(s.error).mean())


@_relative_error(
    title="MAPE",
    aliases=("mean_absolute_percentage_error",),
    reference="mean of |error| / |truth|, divided by at least the machine epsilon",
    contributions=Contributions(_share_slopes),
)
def _mape(s: RegressionStatistics) -> float:
    return float(_shares(s).mean())


@_agreement(
    title="R2",
    short="R2",
    reference="1 - squared errors / squared deviations of the truth from its mean",
    contributions=Contributions(_explained_slopes),
)
def _r2(s: RegressionStatistics) -> float:
    return _unexplained(s.squares_error, s)


@_agreement(
    title="Explained variance",
    short="ExpVar",
    reference="R2 of the errors without their mean",
    contributions=Contributions(_evenly_explained_slopes),
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


@_of_errors(
    title="Bias",
    short="Bias",
    unit=1,
    best=0.0,
    reference="mean of prediction - truth",
    contributions=Contributions(_error_slopes),
)
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


@_agreement(
    title="Consistency",
    short="Consistency",
    reference="1 - RMSE / std(truth)",
    contributions=Contributions(_consistency_slopes),
)
def _consistency(s: RegressionStatistics) -> float:
    return 0.0 if s.std_true == 0 else 1.0 - _rmse(s) / s.std_true


@_relative_error(title="NRMSE", reference="RMSE / range of the truth")
def _nrmse(s: RegressionStatistics) -> float:
    return _over_range(_rmse(s), s)


@_relative_error(
    title="NMSE",
    reference="squared errors / squared deviations of the truth from its mean",
    contributions=Contributions(_unexplained_slopes),
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
    contributions=Contributions(_pearson_slopes),
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
