"""Metrics: one module a family; names in the registries, directions in `directions`."""

from paragone.metrics.prediction import (
    CLASSIFICATION,
    PREDICTION_METRICS,
    REGRESSION,
    check_prediction_metric,
    classification_values,
    prediction_values,
    regression_values,
)
from paragone.metrics.registry import MULTILABEL, check_multilabel_metrics, multilabel_values
from paragone.metrics.topk.metrics import f1_at_k

__all__ = [
    "CLASSIFICATION",
    "MULTILABEL",
    "PREDICTION_METRICS",
    "REGRESSION",
    "check_multilabel_metrics",
    "check_prediction_metric",
    "classification_values",
    "f1_at_k",
    "multilabel_values",
    "prediction_values",
    "regression_values",
]
