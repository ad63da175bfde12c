"""Results: what a store holds, read back as tidy tables, part by part."""

from paragone.results.means import mean_table
from paragone.results.places import STATUSES
from paragone.results.results import Results
from paragone.results.score_frame import SCORE_COLUMNS
from paragone.results.topk import SAMPLE_COLUMNS, mean_samples

__all__ = ["SAMPLE_COLUMNS", "SCORE_COLUMNS", "STATUSES", "Results", "mean_samples", "mean_table"]
