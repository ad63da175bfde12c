"""Top-K recommendation metrics: one pass over scores or lists, conventions in the names, ties counted."""

from paragone.metrics.topk.conventions import Metric, parse_metric
from paragone.metrics.topk.evaluate import topk_scores
from paragone.metrics.topk.f1 import f1_at_k
from paragone.metrics.topk.presets import PRESETS, Preset
from paragone.metrics.topk.ranking import Factors, Ranking
from paragone.metrics.topk.result import TopKResult
from paragone.metrics.topk.truth import GroundTruth, as_truth

__all__ = [
    "PRESETS",
    "Factors",
    "GroundTruth",
    "Metric",
    "Preset",
    "Ranking",
    "TopKResult",
    "as_truth",
    "f1_at_k",
    "parse_metric",
    "topk_scores",
]
