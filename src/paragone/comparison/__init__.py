"""Comparison: which method is better, where, and how sure; pure statistics on frames and arrays."""

from paragone.comparison.compare import compare
from paragone.comparison.comparison import Comparison
from paragone.comparison.paired_comparison import PairedComparison
from paragone.comparison.pairwise import pairwise

__all__ = ["Comparison", "PairedComparison", "compare", "pairwise"]
