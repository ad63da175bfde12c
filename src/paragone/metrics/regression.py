"""Regression metrics, computed together from one pass of sufficient statistics.

Standard deviations are those of the population (``ddof=0``) unless ``ddof=1`` is asked for; that concerns
``sep``, ``rpd`` and ``consistency``. A metric that does not exist for the values given (an empty set, a constant
truth under ``r2``) is NaN, never 0; two published conventions are kept: ``rpd`` of a perfect prediction is
infinite, and ``consistency`` on a constant truth is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import InputError, unknown_name
from paragone.validation import FloatArray

EPSILON = float(np.finfo(np.float64).eps)


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
    return float((np.abs(s.error) / np.maximum(np.abs(s.y_true), EPSILON)).mean())


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
