"""Segments: where a method is good. Seen and unseen queries, sizes of the truth, head and tail items."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paragone.metrics.topk.beyond import HEAD_SHARE, head_items
from paragone.metrics.topk.conventions import F1_OF_MEANS
from paragone.metrics.topk.guards import Rows, seen_queries
from paragone.metrics.topk.measure import measure
from paragone.metrics.topk.ranking import Ranking
from paragone.metrics.topk.result import TopKResult
from paragone.metrics.topk.truth import GroundTruth
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

SIZES = (("fewer than 5 items", 0, 5), ("5 to 9 items", 5, 10), ("10 items and more", 10, np.inf))


def ceilings(result: TopKResult) -> dict[str, FloatArray]:
    """Return the best value of each metric that any list could have, given the sizes of the truth.

    Only our own per-sample metrics have one. For precision it is the mean of min(n, K) / K.

    Examples
    --------
    >>> from paragone.metrics.topk import topk_scores
    >>> ceilings(topk_scores([[0.3, 0.2, 0.1]], [[2]], k=(1, 2), metrics=("precision",)))
    {'precision': array([1. , 0.5])}
    """
    own = [metric for metric in result.metrics if metric.name != F1_OF_MEANS]
    perfect = _perfect_lists(result.truth, result.ks[-1], result.ranking.n_items)
    ks = np.asarray(result.ks, dtype=np.int64)
    values = np.nan_to_num(measure(perfect, result.truth, ks, [metric.code for metric in own], "id"))
    return {metric.key: values[index][result.evaluated].mean(axis=0) for index, metric in enumerate(own)}


def _perfect_lists(truth: GroundTruth, places: int, n_items: int) -> Ranking:
    columns = np.arange(min(places, max(1, int(truth.sizes.max(initial=1)))))
    inside = columns[None, :] < truth.sizes[:, None]
    entries = np.minimum(truth.indptr[:-1, None] + columns[None, :], max(len(truth.items) - 1, 0))
    items = np.where(inside, truth.items[entries], -1).astype(np.int32)
    return Ranking(items, None, None, None, n_items)


def row_segments(result: TopKResult, train: Rows, evaluated: Rows) -> dict[str, NDArray[np.bool_]]:
    """Mark the samples of every segment that is made of whole samples."""
    seen = seen_queries(train, evaluated)
    sizes = result.truth.sizes
    marks = {"all": np.ones(len(seen), dtype=np.bool_), "seen query": seen, "unseen query": ~seen}
    return marks | {name: (sizes >= low) & (sizes < high) for name, low, high in SIZES}


def segment_results(
    result: TopKResult, train: Rows, evaluated: Rows, *, share: float = HEAD_SHARE
) -> dict[str, TopKResult]:
    """Return the result of every segment that has a sample.

    A segment of items keeps the lists and counts only the relevant items inside it; samples that have none are
    left out of it.

    Parameters
    ----------
    result : TopKResult
        The evaluation.
    train, evaluated : Prescriptions
        The training rows, and the rows that were evaluated, in the order of the result.
    share : float, default=0.2
        The most frequent share of items that makes the head.

    Returns
    -------
    dict of str to TopKResult
        Segments by name, ``"all"`` first.
    """
    parts = {
        name: replace(result, evaluated=result.evaluated & marked)
        for name, marked in row_segments(result, train, evaluated).items()
    }
    head = head_items(np.bincount(train.items, minlength=result.ranking.n_items), share)
    for name, kept in (("head items", head), ("tail items", ~head)):
        parts[name] = _restricted(result, kept)
    return {name: part for name, part in parts.items() if part.evaluated.any()}


def _restricted(result: TopKResult, kept: NDArray[np.bool_]) -> TopKResult:
    truth = result.truth.restricted_to(kept)
    inside = kept[result.truth.items]
    ranking = result.ranking
    if ranking.tied_truth is not None:
        ranking = replace(ranking, tied_truth=ranking.tied_truth[inside])
    own = [metric for metric in result.metrics if metric.name != F1_OF_MEANS]
    ks = np.asarray(result.ks, dtype=np.int64)
    values = measure(ranking, truth, ks, [metric.code for metric in own], result.ties)
    return replace(
        result,
        metrics=tuple(own),
        per_sample={metric.key: values[index] for index, metric in enumerate(own)},
        evaluated=result.evaluated & (truth.sizes > 0),
        ranking=ranking,
        truth=truth,
    )


def segment_table(result: TopKResult, train: Rows, evaluated: Rows, *, share: float = HEAD_SHARE) -> pd.DataFrame:
    """Return one row a segment, metric and cut-off: value, interval, number of samples and ceiling."""
    import pandas as pd

    frames: list[Any] = []
    for name, part in segment_results(result, train, evaluated, share=share).items():
        table = part.table()[["metric", "name", "at", "value", "low", "high", "n"]]
        best = ceilings(part)
        table["ceiling"] = [
            best[key][part.ks.index(at)] if key in best else np.nan
            for key, at in zip(table["name"], table["at"], strict=True)
        ]
        table.insert(0, "segment", name)
        frames.append(table)
    return pd.concat(frames, ignore_index=True)
