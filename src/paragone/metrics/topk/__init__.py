"""Top-K recommendation metrics: one pass over scores or lists, conventions in the names, ties counted."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paragone.metrics.topk.metrics import TopKMetric, f1_at_k, parse_metric

if TYPE_CHECKING:
    from paragone.metrics.topk.evaluate import PRESETS, Preset, topk_scores
    from paragone.metrics.topk.ranking import Factors, Ranking
    from paragone.metrics.topk.result import TopKResult
    from paragone.metrics.topk.truth import GroundTruth, as_truth

_HOMES = {
    "PRESETS": "evaluate",
    "Factors": "ranking",
    "GroundTruth": "truth",
    "Preset": "evaluate",
    "Ranking": "ranking",
    "TopKResult": "result",
    "as_truth": "truth",
    "topk_scores": "evaluate",
}

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


def __getattr__(name: str) -> Any:
    """Import what needs Numba when it is first used: whoever asks for a metric's direction need not wait for it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
