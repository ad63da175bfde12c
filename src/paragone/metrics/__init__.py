"""Metrics: one module a family; names in the registries, directions in `directions`."""

from paragone.metrics.classification import CLASSIFICATION, classification_values
from paragone.metrics.prediction import PREDICTION_METRICS, check_prediction_metric, prediction_values
from paragone.metrics.registry import MULTILABEL, check_multilabel_metrics, multilabel_values
from paragone.metrics.regression import REGRESSION, regression_values
from paragone.metrics.topk.f1 import f1_at_k

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
