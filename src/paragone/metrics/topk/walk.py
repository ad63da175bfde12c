"""The walking kernel: one walk down each list emits every metric at every cut-off."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from paragone.metrics.topk.conventions import (
    F1,
    HIT_RATE,
    MAP_K,
    MAP_MIN,
    MAP_N,
    MRR,
    NDCG_HITS,
    NDCG_K,
    NDCG_MIN,
    PRECISION,
    PRECISION_LIST,
    RECALL,
    RECALL_MIN,
    RMRR,
)
from paragone.validation import FloatArray


def discounts(length: int) -> tuple[FloatArray, FloatArray]:
    """Return the discounts 1/log2(rank + 1) and the sums of the first 0, 1, 2 ... of them."""
    single = 1.0 / np.log2(np.arange(length) + 2.0)
    return single, np.concatenate(([0.0], np.cumsum(single)))


@numba.njit(cache=True, nogil=True)
def emit(code: int, k: int, n: int, length: int, hits: int, sums: Any, ideal: Any) -> Any:
    """Turn the sums gathered up to a cut-off into the value of one metric.

    ``sums`` holds the discounted gain, the precision sum of AP, the reciprocal rank of the first hit and
    the sum of rmrr; ``ideal`` holds the ideal gains of the conventions min, k and hits.
    """
    if code == PRECISION:
        return hits / k
    if code == PRECISION_LIST:
        return hits / min(k, length) if length > 0 else 0.0
    if code == RECALL:
        return hits / n
    if code == RECALL_MIN:
        return hits / min(k, n)
    if code == F1:
        return 2.0 * hits / (k + n)
    if code == RMRR:
        return sums[3] / n
    if code == NDCG_MIN:
        return sums[0] / ideal[0]
    if code == NDCG_K:
        return sums[0] / ideal[1]
    if code == NDCG_HITS:
        return sums[0] / ideal[2] if ideal[2] > 0 else 0.0
    if code == HIT_RATE:
        return 1.0 if hits > 0 else 0.0
    if code == MRR:
        return sums[2]
    if code == MAP_N:
        return sums[1] / n
    if code == MAP_MIN:
        return sums[1] / min(k, n)
    if code == MAP_K:
        return sums[1] / k
    return np.nan


@numba.njit(cache=True, nogil=True)
def walk_rows(
    items: Any, indptr: Any, truth: Any, ks: Any, codes: Any, weights: Any, n_items: int, out: Any, rows: Any
) -> None:
    """Walk down the lists of the samples ``rows`` and write ``out[metric, sample, cut-off]``.

    A sample without truth is left as it is: the caller has decided what it is worth.
    """
    discount, gains = weights
    places = items.shape[1]
    position = np.full(n_items, -1, np.int32)
    sums = np.zeros(4)
    ideal = np.zeros(3)
    for row in rows:
        start, stop = indptr[row], indptr[row + 1]
        n = stop - start
        if n == 0:
            continue
        for entry in range(start, stop):
            position[truth[entry]] = entry - start
        length = 0
        total = 0
        while length < places and items[row, length] >= 0:
            total += position[items[row, length]] >= 0
            length += 1
        sums[:] = 0.0
        hits = 0
        rank = 0
        for cut in range(len(ks)):
            k = ks[cut]
            while rank < min(k, length):
                place = position[items[row, rank]]
                if place >= 0:
                    hits += 1
                    sums[0] += discount[rank]
                    sums[1] += hits / (rank + 1)
                    sums[3] += 1.0 / (abs(rank - place) + 1)
                    if hits == 1:
                        sums[2] = 1.0 / (rank + 1)
                rank += 1
            ideal[0] = gains[min(n, k)]
            ideal[1] = gains[k]
            ideal[2] = gains[min(total, k)]
            for metric in range(len(codes)):
                out[metric, row, cut] = emit(codes[metric], k, n, length, hits, sums, ideal)
        for entry in range(start, stop):
            position[truth[entry]] = -1
