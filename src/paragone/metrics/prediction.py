"""One entry for the metrics of plain predictions: by task, with a known direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from paragone.directions import higher_is_better
from paragone.errors import InputError, unknown_name
from paragone.metrics.classification import CLASSIFICATION, classification_values
from paragone.metrics.regression import REGRESSION, regression_values
from paragone.validation import FloatArray

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
