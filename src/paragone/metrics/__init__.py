"""Metrics, one module a family; names in the registry, directions in `directions`."""

from paragone.metrics.registry import MULTILABEL, check_multilabel_metrics, multilabel_values
from paragone.metrics.topk.f1 import f1_at_k

__all__ = ["MULTILABEL", "check_multilabel_metrics", "f1_at_k", "multilabel_values"]
