"""Metrics of plain predictions by scikit-learn, SciPy and formulas written out, beside `paragone.metrics`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.validation import FloatArray

EPSILON = float(np.finfo(np.float64).eps)


def prediction_score(
    metric: str,
    task: str,
    y_true: NDArray[Any],
    y_pred: NDArray[Any],
    *,
    probabilities: FloatArray | None = None,
    classes: NDArray[Any] | None = None,
    ddof: int = 0,
) -> float:
    """Return one metric of one prediction; NaN where it does not exist.

    Examples
    --------
    >>> prediction_score("rmse", "regression", np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    1.4142135623730951
    """
    if not len(y_true):
        return float("nan")
    if task == "regression":
        return float(REGRESSION[metric](np.asarray(y_true, float), np.asarray(y_pred, float), ddof))
    if metric in ("roc_auc", "log_loss"):
        if probabilities is None or classes is None:
            return float("nan")
        return (
            _roc_auc(y_true, probabilities, classes)
            if metric == "roc_auc"
            else _log_loss(y_true, probabilities, classes)
        )
    return float(CLASSIFICATION[metric](np.asarray(y_true), np.asarray(y_pred)))


def _constant(values: FloatArray) -> bool:
    return bool(values.max() == values.min())


def _std(values: FloatArray, ddof: int) -> float:
    if len(values) <= ddof:
        return float("nan")
    return 0.0 if _constant(values) else float(np.std(values, ddof=ddof))


def _rmse(y: FloatArray, p: FloatArray, ddof: int) -> float:
    return float(np.sqrt(np.mean((p - y) ** 2)))


def _over(above: float, below: float) -> float:
    if below == 0:
        return float("nan") if above == 0 or np.isnan(above) else float("inf")
    return above / below


def _r2(y: FloatArray, p: FloatArray, ddof: int) -> float:
    from sklearn.metrics import r2_score

    return float("nan") if _constant(y) else float(r2_score(y, p))


def _explained_variance(y: FloatArray, p: FloatArray, ddof: int) -> float:
    from sklearn.metrics import explained_variance_score

    return float("nan") if _constant(y) else float(explained_variance_score(y, p))


def _correlation(y: FloatArray, p: FloatArray, kind: str) -> float:
    from scipy import stats

    if _constant(y) or _constant(p):
        return float("nan")
    found = stats.pearsonr(y, p) if kind == "pearson" else stats.spearmanr(y, p)
    return float(found.statistic)


def _rpiq(y: FloatArray, p: FloatArray, ddof: int) -> float:
    quarters = np.quantile(y, [0.25, 0.75])
    return _over(float(quarters[1] - quarters[0]), _rmse(y, p, ddof))


REGRESSION: dict[str, Callable[[FloatArray, FloatArray, int], float]] = {
    "rmse": _rmse,
    "mse": lambda y, p, ddof: float(np.mean((p - y) ** 2)),
    "mae": lambda y, p, ddof: float(np.mean(np.abs(p - y))),
    "mape": lambda y, p, ddof: float(np.mean(np.abs(p - y) / np.maximum(np.abs(y), EPSILON))),
    "r2": _r2,
    "explained_variance": _explained_variance,
    "max_error": lambda y, p, ddof: float(np.max(np.abs(p - y))),
    "median_ae": lambda y, p, ddof: float(np.median(np.abs(p - y))),
    "bias": lambda y, p, ddof: float(np.mean(p - y)),
    "sep": lambda y, p, ddof: _std(p - y, ddof),
    "rpd": lambda y, p, ddof: _over(_std(y, ddof), _std(p - y, ddof)),
    "rpiq": _rpiq,
    "consistency": lambda y, p, ddof: 0.0 if _std(y, ddof) == 0 else 1.0 - _rmse(y, p, ddof) / _std(y, ddof),
    "nrmse": lambda y, p, ddof: float("nan") if _constant(y) else _rmse(y, p, ddof) / float(np.ptp(y)),
    "nmse": lambda y, p, ddof: float("nan") if _constant(y) else float(np.mean((p - y) ** 2) / np.var(y)),
    "nmae": lambda y, p, ddof: float("nan") if _constant(y) else float(np.mean(np.abs(p - y)) / np.ptp(y)),
    "pearson_r": lambda y, p, ddof: _correlation(y, p, "pearson"),
    "spearman_r": lambda y, p, ddof: _correlation(y, p, "spearman"),
}


def _labels(y: NDArray[Any], p: NDArray[Any]) -> NDArray[Any]:
    return np.unique(np.concatenate([y, p]))


def _averaged(name: str, average: str) -> Callable[[NDArray[Any], NDArray[Any]], float]:
    def score(y: NDArray[Any], p: NDArray[Any]) -> float:
        from sklearn import metrics

        return float(getattr(metrics, name)(y, p, average=average, zero_division=0.0, labels=_labels(y, p)))

    return score


def _accuracy(y: NDArray[Any], p: NDArray[Any]) -> float:
    return float(np.mean(y == p))


def _balanced(y: NDArray[Any], p: NDArray[Any]) -> float:
    return float(np.mean([np.mean(p[y == one] == one) for one in np.unique(y)]))


def _kappa(y: NDArray[Any], p: NDArray[Any]) -> float:
    labels = _labels(y, p)
    expected = float(sum(np.mean(y == one) * np.mean(p == one) for one in labels))
    return float("nan") if len(labels) == 1 else (_accuracy(y, p) - expected) / (1.0 - expected)


def _matthews(y: NDArray[Any], p: NDArray[Any]) -> float:
    from sklearn.metrics import matthews_corrcoef

    return float(matthews_corrcoef(y, p))


def _specificity(y: NDArray[Any], p: NDArray[Any]) -> float:
    labels = _labels(y, p)
    values = [float(np.mean(p[y != one] != one)) if (y != one).any() else float("nan") for one in labels]
    there = [value for value in values if not np.isnan(value)]
    if not there:
        return float("nan")
    return values[-1] if len(labels) == 2 and len(there) == 2 else float(np.mean(there))


CLASSIFICATION: dict[str, Callable[[NDArray[Any], NDArray[Any]], float]] = {
    "balanced_accuracy": _balanced,
    "accuracy": _accuracy,
    "error_rate": lambda y, p: float(np.mean(y != p)),
    "f1": _averaged("f1_score", "weighted"),
    "precision": _averaged("precision_score", "weighted"),
    "recall": _averaged("recall_score", "weighted"),
    "jaccard": _averaged("jaccard_score", "weighted"),
    "precision_micro": _averaged("precision_score", "micro"),
    "precision_macro": _averaged("precision_score", "macro"),
    "recall_macro": _averaged("recall_score", "macro"),
    "f1_macro": _averaged("f1_score", "macro"),
    "cohen_kappa": _kappa,
    "matthews_corrcoef": _matthews,
    "specificity": _specificity,
}


def _roc_auc(y: NDArray[Any], probabilities: FloatArray, classes: NDArray[Any]) -> float:
    from sklearn.metrics import roc_auc_score

    columns = [1] if len(classes) == 2 else range(len(classes))
    areas = [
        roc_auc_score(y == classes[c], probabilities[:, c])
        for c in columns
        if (y == classes[c]).any() and (y != classes[c]).any()
    ]
    return float(np.mean(areas)) if areas else float("nan")


def _log_loss(y: NDArray[Any], probabilities: FloatArray, classes: NDArray[Any]) -> float:
    kept = np.clip(probabilities, EPSILON, 1 - EPSILON)
    own = [row[classes.tolist().index(label)] / row.sum() for row, label in zip(kept, y.tolist(), strict=True)]
    return float(-np.mean(np.log(own)))
