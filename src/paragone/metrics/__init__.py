"""Metrics: multi-label today, one module a family; names in the registry, directions in `directions`."""

from paragone.metrics.registry import MULTILABEL, check_multilabel_metrics, multilabel_values

__all__ = ["MULTILABEL", "check_multilabel_metrics", "multilabel_values"]
