"""Recompute top-K metrics from kept lists and the truth, from their definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from paragone.data.prescriptions import Prescriptions
from paragone.validation import FloatArray

PATTERN = re.compile(r"^(?P<name>\w+)(?:\[\w+=(?P<choice>\w+)\])?$")
NAMES = ("precision", "recall", "f1", "rmrr", "ndcg", "hit_rate", "mrr", "map")
IN_LIST_ORDER = ("id", "reverse_id")
"""Rules for ties under which a list counts as it was kept."""


def sample_values(
    items: NDArray[np.int32], test: Prescriptions, ks: Sequence[int], metrics: Sequence[str]
) -> dict[str, FloatArray]:
    """Return the value of every sample, samples x cut-offs a metric; NaN for a sample without relevant items.

    Parameters
    ----------
    items : ndarray of shape (n_samples, n_places)
        Lists, the best first, -1 after their end.
    test : Prescriptions
        The relevant items in their order.
    ks : sequence of int
        Cut-offs.
    metrics : sequence of str
        Full names, such as ``ndcg[idcg=min]``.

    Returns
    -------
    dict of str to ndarray
        By metric.
    """
    values = {metric: np.full((len(items), len(ks)), np.nan) for metric in metrics}
    # Lists count up to the largest cut-off: that is where the hits of idcg=hits are counted too.
    for row, (listed, truth) in enumerate(_rows(items[:, : max(ks)], test)):
        if not truth:
            continue
        place_of = {item: place for place, item in enumerate(truth)}
        places = [(rank, place_of[item]) for rank, item in enumerate(listed) if item in place_of]
        for metric in metrics:
            for column, k in enumerate(ks):
                hits = [(rank, place) for rank, place in places if rank < k]
                values[metric][row, column] = _value(metric, k, len(truth), len(listed), hits, places)
    return values


def _rows(items: NDArray[np.int32], test: Prescriptions) -> Iterator[tuple[list[int], list[int]]]:
    for row, listed in enumerate(items.tolist()):
        truth = test.items[test.indptr[row] : test.indptr[row + 1]].tolist()
        yield [item for item in listed if item >= 0], list(dict.fromkeys(truth))


def _gain(ranks: Sequence[int]) -> float:
    return float(sum(1.0 / np.log2(rank + 2.0) for rank in ranks))


def _value(
    metric: str, k: int, n: int, length: int, hits: list[tuple[int, int]], everywhere: list[tuple[int, int]]
) -> float:
    found = PATTERN.match(metric)
    name, choice = (found["name"], found["choice"]) if found else (metric, None)
    count = len(hits)
    if name == "precision":
        return count / k if choice != "list" else (count / min(k, length) if length else 0.0)
    if name == "recall":
        return count / (min(k, n) if choice == "min" else n)
    if name == "f1":
        precision, recall = count / k, count / n
        return 0.0 if count == 0 else 2 * precision * recall / (precision + recall)
    if name == "rmrr":
        return sum(1.0 / (1 + abs(rank - place)) for rank, place in hits) / n
    if name == "hit_rate":
        return float(count > 0)
    if name == "mrr":
        return 1.0 / (1 + hits[0][0]) if hits else 0.0
    if name == "ndcg":
        ideal = {"min": min(k, n), "k": k, "hits": min(k, len(everywhere))}[choice or "min"]
        return _gain([rank for rank, _ in hits]) / _gain(range(ideal)) if ideal else 0.0
    precisions = sum((place + 1) / (rank + 1) for place, (rank, _) in enumerate(hits))
    return precisions / {"n": n, "min": min(k, n), "k": k}[choice or "n"]


def is_known(metric: str) -> bool:
    """Say whether a metric is one of those that can be recomputed here.

    Examples
    --------
    >>> is_known("ndcg[idcg=min]"), is_known("my_metric")
    (True, False)
    """
    found = PATTERN.match(metric)
    return bool(found and found["name"] in NAMES)
