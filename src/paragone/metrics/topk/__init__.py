"""Top-K recommendation metrics: one pass over scores or lists, conventions in the names, ties counted."""

from paragone.metrics.topk.evaluate import PRESETS, Preset, topk_scores
from paragone.metrics.topk.metrics import TopKMetric, f1_at_k, parse_metric
from paragone.metrics.topk.ranking import Factors, Ranking
from paragone.metrics.topk.result import TopKResult
from paragone.metrics.topk.truth import GroundTruth, as_truth

__all__ = [
    "PRESETS",
    "Factors",
    "GroundTruth",
    "Preset",
    "Ranking",
    "TopKMetric",
    "TopKResult",
    "as_truth",
    "f1_at_k",
    "parse_metric",
    "topk_scores",
]
