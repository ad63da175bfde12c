"""The lists that are kept of a recommender: evaluated at any cut-off, and compared with popularity."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError
from paragone.metrics.topk import Ranking, TopKMetric, TopKResult, as_truth
from paragone.metrics.topk.evaluate import score_ranking
from paragone.metrics.topk.inputs import UserMetric
from paragone.metrics.topk.metrics import F1_OF_MEANS
from paragone.metrics.topk.ranking import cut_ranking
from paragone.ties import slack_of
from paragone.validation import FloatArray

# What is kept of a ranking; the truth is kept once for all methods, with the dataset.
LISTED = ("items", "scores", "tied", "tied_truth", "n_items")


def ranking_of(arrays: Mapping[str, NDArray[Any]]) -> Ranking:
    """Return kept lists as a ranking."""
    return Ranking(
        arrays["items"],
        arrays["scores"],
        arrays["tied"],
        arrays["tied_truth"],
        int(arrays["n_items"]),
    )


def evaluate_lists(
    arrays: Mapping[str, NDArray[Any]],
    test: Prescriptions,
    ks: Sequence[int],
    metrics: Sequence[TopKMetric],
    functions: Mapping[str, UserMetric] | None = None,
    *,
    ties: str = "id",
    empty: str = "error",
) -> TopKResult:
    """Score kept lists at cut-offs up to their length; equal queries are one cluster of the intervals.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        What the protocol kept.
    test : Prescriptions
        The rows that the lists are for.
    ks : sequence of int
        The cut-offs.
    metrics : sequence of Metric
        Our own metrics.
    functions : mapping of str to callable, optional
        A user's.
    ties, empty : str
        As in `topk_scores`.

    Returns
    -------
    TopKResult
        The evaluation.
    """
    ranking = ranking_of(arrays)
    if ks[-1] > ranking.items.shape[1] and ranking.items.shape[1] < ranking.n_items:
        raise InputError(
            f"lists of {ranking.items.shape[1]} places were kept, K = {ks[-1]} was asked for"
        )
    truth = as_truth(test.truth, n_items=test.n_items)
    return score_ranking(
        cut_ranking(ranking, truth, int(ks[-1])),
        truth,
        np.asarray(ks, dtype=np.int64),
        metrics,
        functions=dict(functions or {}),
        ties=ties,
        empty=empty,
        clusters=test.query_codes,
    )


def popularity_note(result: TopKResult, train: Prescriptions) -> str | None:
    """Say where a method is below recommending to everybody what is most frequent in train; None where nowhere."""
    floor = popularity_result(result, train)
    below = [
        f"{result.label(name, cut)} {result.means[name][place]:.4f} against"
        f" {floor.means[name][place]:.4f}"
        for name in floor.names
        for place, cut in enumerate(result.ks)
        if result.means[name][place]
        < floor.means[name][place] - slack_of(floor.means[name][place], 1.0)
    ]
    return f"below popularity: {', '.join(below)}" if below else None


def popularity_result(result: TopKResult, train: Prescriptions) -> TopKResult:
    """Evaluate the most frequent items of train, equal counts by id, on the samples of another result."""
    counts = np.bincount(train.items, minlength=train.n_items)
    top = np.argsort(-counts, kind="stable")[: result.ks[-1]].astype(np.int32)
    lists = np.tile(top, (result.truth.n_samples, 1))
    ranking = Ranking(lists, None, None, None, train.n_items)
    empty = "zero" if (result.evaluated & (result.truth.sizes == 0)).any() else "skip"
    ks = np.asarray(result.ks, dtype=np.int64)
    return score_ranking(ranking, result.truth, ks, result.metrics, empty=empty)


def pack_samples(result: TopKResult) -> bytes:
    """Pack the values of every sample, samples x cut-offs a metric, as compressed npz; equal values, equal bytes."""
    buffer = io.BytesIO()
    named: dict[str, Any] = {
        f"m{place}": values for place, values in enumerate(_shown(result).values())
    }
    names = np.asarray(list(_shown(result)), dtype=np.str_)
    np.savez_compressed(
        buffer, names=names, ks=np.asarray(result.ks), evaluated=result.evaluated, **named
    )
    return buffer.getvalue()


def sample_values(arrays: Mapping[str, NDArray[Any]]) -> dict[str, FloatArray]:
    """Return the values of all samples by metric, of what `pack_samples` packed."""
    return {str(name): arrays[f"m{place}"] for place, name in enumerate(arrays["names"])}


def _shown(result: TopKResult) -> dict[str, FloatArray]:
    """Leave out helpers of values that only a whole run has."""
    return {name: result.per_sample[name] for name in result.names if name != F1_OF_MEANS}
