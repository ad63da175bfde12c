"""Metrics: each a value declared beside its function, all in one registry; see `metric`."""

from paragone.metrics.contributions import Contributions, mean_slopes
from paragone.metrics.display import (
    error_name,
    in_target_unit,
    is_negated,
    metric_in_words,
    metric_title,
    with_errors,
)
from paragone.metrics.finding import (
    FUNCTIONS,
    adopt,
    asked_name,
    declared_by_name,
    described_functions,
    find_metric,
    find_metrics,
    metric_names,
    metric_slopes,
    metric_values,
    ranking_metric,
    usual_name,
)
from paragone.metrics.metric import Metric, declare_metric, metrics
from paragone.metrics.names import (
    ReadName,
    base_name,
    called_metrics,
    choose_metric,
    named_metric,
    read_name,
    remember,
    same_metric,
    unknown_metric,
)
from paragone.metrics.scorers import Responses, find_scorers, is_at_hand
from paragone.metrics.topk.metrics import f1_at_k

__all__ = [
    "FUNCTIONS",
    "Contributions",
    "Metric",
    "ReadName",
    "Responses",
    "adopt",
    "asked_name",
    "base_name",
    "called_metrics",
    "choose_metric",
    "declare_metric",
    "declared_by_name",
    "described_functions",
    "error_name",
    "f1_at_k",
    "find_metric",
    "find_metrics",
    "find_scorers",
    "in_target_unit",
    "is_at_hand",
    "is_negated",
    "mean_slopes",
    "metric_in_words",
    "metric_names",
    "metric_slopes",
    "metric_title",
    "metric_values",
    "metrics",
    "named_metric",
    "ranking_metric",
    "read_name",
    "remember",
    "same_metric",
    "unknown_metric",
    "usual_name",
    "with_errors",
]
