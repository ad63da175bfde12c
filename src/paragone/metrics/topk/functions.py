"""Metrics of the user's own: called a sample at a time; one that fails does not stop the others."""

from __future__ import annotations

import numpy as np

from paragone.metrics.topk.options import UserMetric
from paragone.metrics.topk.ranking import Ranking
from paragone.metrics.topk.truth import GroundTruth
from paragone.validation import FloatArray, IntArray


def call_functions(
    functions: dict[str, UserMetric], ranking: Ranking, truth: GroundTruth, ks: IntArray
) -> tuple[dict[str, FloatArray], dict[str, str]]:
    """Return the per-sample values of the functions that worked, and the errors of those that did not."""
    values: dict[str, FloatArray] = {}
    errors: dict[str, str] = {}
    for name, function in functions.items():
        try:
            values[name] = _call(function, ranking, truth, ks)
        except Exception as error:  # noqa: BLE001  (a user's function may raise anything; the others go on)
            errors[name] = f"{type(error).__name__}: {error}"
    return values, errors


def _call(function: UserMetric, ranking: Ranking, truth: GroundTruth, ks: IntArray) -> FloatArray:
    out = np.full((truth.n_samples, len(ks)), np.nan)
    for row in np.flatnonzero(truth.sizes > 0).tolist():
        listed = ranking.items[row][ranking.items[row] >= 0]
        for cut, k in enumerate(ks):
            out[row, cut] = float(function(listed[:k].copy(), truth.row(row).copy(), int(k)))
            if not np.isfinite(out[row, cut]):
                raise ValueError(f"returned {out[row, cut]} for sample {row} at {k}")
    return out
