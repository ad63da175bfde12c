"""Comparison: which method is better, where, and how sure; pure statistics on frames and arrays."""

from paragone.comparison.compare import compare
from paragone.comparison.comparison import Comparison
from paragone.comparison.paired_comparison import PairedComparison
from paragone.comparison.pairwise import pairwise
from paragone.comparison.per_sample import SampleComparison, compare_samples

__all__ = ["Comparison", "PairedComparison", "SampleComparison", "compare", "compare_samples", "pairwise"]
