"""The everyday comparison: your tables, your methods, one call, one answer."""

from __future__ import annotations

from paragone.everyday.evaluation import Evaluation, evaluate

__all__ = ["Evaluation", "evaluate"]
