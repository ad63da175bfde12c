"""Beyond accuracy: how much of the catalogue is shown, how evenly, how novel, and what the tail gets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.metrics.topk.conventions import RECALL
from paragone.metrics.topk.measure import measure
from paragone.metrics.topk.ranking import Ranking
from paragone.metrics.topk.result import TopKResult
from paragone.validation import FloatArray, IntArray

HEAD_SHARE = 0.2


def head_items(counts: IntArray, share: float = HEAD_SHARE) -> NDArray[np.bool_]:
    """Mark the most frequent ``share`` of the items (rounded up, ties to the lower id); the rest is the tail.

    Examples
    --------
    >>> import numpy as np
    >>> head_items(np.array([1, 9, 3, 3, 0]), 0.4)
    array([False,  True,  True, False, False])
    """
    if not 0 < share < 1:
        raise InputError(f"the share of head items must lie between 0 and 1, it is {share}")
    head = np.zeros(len(counts), dtype=np.bool_)
    head[np.argsort(-np.asarray(counts), kind="stable")[: int(np.ceil(share * len(counts)))]] = True
    return head


def beyond_accuracy(
    result: TopKResult, train_counts: IntArray | None = None, n_train: int | None = None, *, share: float = HEAD_SHARE
) -> dict[str, FloatArray]:
    """Return coverage and Gini of exposure, and with train counts also novelty and tail recall, at every cut-off.

    Parameters
    ----------
    result : TopKResult
        The evaluation.
    train_counts : ndarray of shape (n_items,), optional
        Training rows that hold each item.
    n_train : int, optional
        Number of training rows; needed with ``train_counts``.
    share : float, default=0.2
        The most frequent share of items that makes the head.

    Returns
    -------
    dict of str to ndarray
        ``coverage``: share of items shown at all. ``gini``: of the exposures of all items, 0 when all are shown
        equally often. ``novelty``: mean of -log2 of the share of training rows with a shown item (an item train never
        saw counts as seen once). ``tail_recall``: recall of tail items, mean over the samples that have any.

    Examples
    --------
    >>> from paragone.metrics.topk import topk_scores
    >>> beyond_accuracy(topk_scores([[0.9, 0.1], [0.8, 0.2]], [[0], [1]], k=1))
    {'coverage': array([0.5]), 'gini': array([0.5])}
    """
    n_items = result.ranking.n_items
    shown = [_shown(result, k) for k in result.ks]
    exposures = [np.bincount(items, minlength=n_items) for items in shown]
    values = {
        "coverage": np.asarray([float((exposure > 0).mean()) for exposure in exposures]),
        "gini": np.asarray([gini(exposure) for exposure in exposures]),
    }
    if train_counts is None:
        return values
    if len(train_counts) != n_items:
        raise InputError(f"{len(train_counts)} item counts given, there are {n_items} items")
    if n_train is None or n_train < 1:
        raise InputError("item counts need n_train, the number of training rows they were counted in")
    surprise = -np.log2(np.maximum(train_counts, 1) / n_train)
    values["novelty"] = np.asarray([surprise[items].mean() if len(items) else 0.0 for items in shown])
    values["tail_recall"] = _tail_recall(result, result.ranking, head_items(train_counts, share))
    return values


def _shown(result: TopKResult, k: int) -> IntArray:
    items = result.ranking.items[result.evaluated][:, :k]
    return np.asarray(items[items >= 0], dtype=np.int64)


def gini(amounts: IntArray) -> float:
    """Return the Gini coefficient: the mean absolute difference over twice the mean.

    Examples
    --------
    >>> import numpy as np
    >>> gini(np.array([1, 1, 1])), gini(np.array([0, 0, 4]))
    (0.0, 0.6666666666666666)
    """
    ordered = np.sort(np.asarray(amounts, dtype=np.float64))
    total, n = ordered.sum(), len(ordered)
    if total == 0:
        return 0.0
    return float((2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * total))


def _tail_recall(result: TopKResult, ranking: Ranking, head: NDArray[np.bool_]) -> FloatArray:
    tail = result.truth.restricted_to(~head)
    counted = result.evaluated & (tail.sizes > 0)
    if not counted.any():
        return np.full(len(result.ks), np.nan)
    values = measure(ranking, tail, np.asarray(result.ks, dtype=np.int64), [RECALL], "id")[0]
    return np.asarray(values[counted].mean(axis=0))
