"""Values of metrics from lists and truth: the walk, and the three ways to count ties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paragone.errors import InputError
from paragone.metrics.topk.bounds import bound_rows
from paragone.metrics.topk.expected import expected_rows
from paragone.metrics.topk.ranking import Ranking
from paragone.metrics.topk.truth import GroundTruth
from paragone.metrics.topk.walk import discounts, walk_rows
from paragone.validation import FloatArray, IntArray


def measure(ranking: Ranking, truth: GroundTruth, ks: IntArray, codes: Sequence[int], ties: str) -> FloatArray:
    """Return the values as an array of shape (metrics, samples, cut-offs); NaN for a sample without truth."""
    n_samples = truth.n_samples
    out = np.full((len(codes), n_samples, len(ks)), np.nan)
    kernel_codes = np.asarray(codes, dtype=np.int64)
    weights = discounts(int(ks[-1]))
    rows = np.arange(n_samples, dtype=np.int64)
    walk_rows(ranking.items, truth.indptr, truth.items, ks, kernel_codes, weights, ranking.n_items, out, rows)
    if ties in ("id", "reverse_id"):
        return out
    if ranking.scores is None or ranking.tied is None or ranking.tied_truth is None:
        raise InputError(f"ties={ties!r} needs scores, only lists were given: choose ties='id'")
    tied_rows = np.flatnonzero(ranking.any_tie())
    lists = (ranking.items, ranking.scores, ranking.tied)
    truths = (truth.indptr, truth.items, ranking.tied_truth)
    if ties == "expected":
        expected_rows(lists, truths, ks, kernel_codes, weights, out, tied_rows)
    else:
        bound_rows(lists, truths, ks, kernel_codes, weights, out, tied_rows, ties == "optimistic")
    return out
