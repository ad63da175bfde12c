"""Statistics of comparisons: which method is better, where, and how sure; pure functions of frames and arrays.

One engine whatever the unit: datasets (`compare`), subjects or folds (`pairwise`), samples
(`compare_samples`). Tests and corrections are registered functions, ours and anybody's.
"""

from __future__ import annotations

from paragone.intervals import Interval

# The charts give themselves to the comparisons they draw.
from paragone.stats import charts, corrections  # noqa: F401
from paragone.stats.compare import compare
from paragone.stats.datasets import DatasetComparison
from paragone.stats.items import compare_items
from paragone.stats.pairs import Pair
from paragone.stats.pairwise import pairwise
from paragone.stats.registries import Correction, Test, TestResult
from paragone.stats.result import Comparison
from paragone.stats.samples import SampleComparison, compare_losses, compare_samples
from paragone.stats.several import SeveralComparisons, compare_metrics
from paragone.stats.t_tests import paired_t, tested_mean
from paragone.stats.untested import untested

__all__ = [
    "Comparison",
    "Correction",
    "DatasetComparison",
    "Interval",
    "Pair",
    "SampleComparison",
    "SeveralComparisons",
    "Test",
    "TestResult",
    "compare",
    "compare_items",
    "compare_losses",
    "compare_metrics",
    "compare_samples",
    "paired_t",
    "pairwise",
    "tested_mean",
    "untested",
]
