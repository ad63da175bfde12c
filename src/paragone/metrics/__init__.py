"""Metrics: each a value declared beside its function, all in one registry; see `metric`."""

from paragone.metrics.metric import (
    FUNCTIONS,
    Metric,
    adopt,
    asked_name,
    base_name,
    declare_metric,
    described_functions,
    find_metric,
    find_metrics,
    metric_names,
    metric_values,
    metrics,
    named_metric,
    ranking_metric,
    remember,
)
from paragone.metrics.scorers import Responses, find_scorers, is_at_hand
from paragone.metrics.topk.metrics import f1_at_k

__all__ = [
    "FUNCTIONS",
    "Metric",
    "Responses",
    "adopt",
    "asked_name",
    "base_name",
    "declare_metric",
    "described_functions",
    "f1_at_k",
    "find_metric",
    "find_metrics",
    "find_scorers",
    "is_at_hand",
    "metric_names",
    "metric_values",
    "metrics",
    "named_metric",
    "ranking_metric",
    "remember",
]
