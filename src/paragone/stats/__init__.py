"""Statistics of comparisons: which method is better, where, and how sure; pure functions of frames and arrays."""

from __future__ import annotations

from paragone.stats.compare import compare
from paragone.stats.paired_comparison import PairedComparison
from paragone.stats.pairwise import pairwise
from paragone.stats.result import Comparison
from paragone.stats.samples import SampleComparison, compare_samples

__all__ = ["Comparison", "PairedComparison", "SampleComparison", "compare", "compare_samples", "pairwise"]
