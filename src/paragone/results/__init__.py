"""Results: what a store holds, read back as tidy tables, part by part."""

from paragone.results.places import SCORE_COLUMNS, STATUSES
from paragone.results.results import Results
from paragone.results.summaries import mean_table
from paragone.results.topk import SAMPLE_COLUMNS, mean_samples

__all__ = ["SAMPLE_COLUMNS", "SCORE_COLUMNS", "STATUSES", "Results", "mean_samples", "mean_table"]
