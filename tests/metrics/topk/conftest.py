"""A second implementation of every metric, straight from the definitions, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest


def _dcg(flags: Sequence[bool]) -> float:
    return sum(1 / math.log2(rank + 2) for rank, flag in enumerate(flags) if flag)


def naive_metrics(
    listed: Sequence[int], truth: Sequence[int], k: int, largest: int
) -> dict[str, float]:
    top, n = list(listed)[:k], len(truth)
    flags = [item in truth for item in top]
    hits = sum(flags)
    retrieved = sum(item in truth for item in list(listed)[:largest])
    rmrr = (
        sum(1 / (abs(top.index(item) - j) + 1) for j, item in enumerate(truth) if item in top) / n
    )
    precisions = sum(sum(flags[: rank + 1]) / (rank + 1) for rank, flag in enumerate(flags) if flag)
    p, r = hits / k, hits / n
    ideal_hits = _dcg([True] * min(retrieved, k))
    return {
        "precision": p,
        "precision[over=list]": hits / len(top) if top else 0.0,
        "recall": r,
        "recall[over=min]": hits / min(n, k),
        "f1": 2 * p * r / (p + r) if p + r else 0.0,
        "rmrr": rmrr,
        "ndcg[idcg=min]": _dcg(flags) / _dcg([True] * min(n, k)),
        "ndcg[idcg=k]": _dcg(flags) / _dcg([True] * k),
        "ndcg[idcg=hits]": _dcg(flags) / ideal_hits if ideal_hits else 0.0,
        "hit_rate": float(hits > 0),
        "mrr": 1 / (flags.index(True) + 1) if hits else 0.0,
        "map[over=n]": precisions / n,
        "map[over=min]": precisions / min(n, k),
        "map[over=k]": precisions / k,
    }


ALL_METRICS = tuple(naive_metrics([0], [0], 1, 1))


@pytest.fixture(scope="session")
def naive() -> Callable[[Sequence[int], Sequence[int], int, int], dict[str, float]]:
    return naive_metrics


@pytest.fixture(scope="session")
def all_metrics() -> tuple[str, ...]:
    return ALL_METRICS
