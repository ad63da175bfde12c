"""Shorten lists, ties included, as if no more had been asked for in the first place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.metrics.topk.ranking import Ranking
from paragone.metrics.topk.truth import GroundTruth
from paragone.validation import IntArray

_ENTRIES = 100_000


def cut_ranking(ranking: Ranking, truth: GroundTruth, places: int) -> Ranking:
    """Return the first places of every list, with what is needed to judge their ties.

    Parameters
    ----------
    ranking : Ranking
        Lists of that length or longer.
    truth : GroundTruth
        The relevant items of the same samples.
    places : int
        The length wanted; lists that are no longer stay as they are.

    Returns
    -------
    Ranking
        The same as ranking for so many places from the start.

    Examples
    --------
    >>> from paragone.metrics.topk import topk_scores
    >>> run = topk_scores([[0.9, 0.5, 0.5, 0.1]], [[2]], k=(1, 4))
    >>> short = cut_ranking(run.ranking, run.truth, 2)
    >>> short.items.tolist(), short.tied.tolist(), short.tied_truth.tolist()
    ([[0, 1]], [2], [True])
    """
    width = ranking.items.shape[1]
    if places >= width:
        return ranking
    items = np.ascontiguousarray(ranking.items[:, :places])
    if ranking.scores is None or ranking.tied is None or ranking.tied_truth is None:
        return Ranking(items, None, None, None, ranking.n_items)
    lengths, rows = ranking.lengths, np.arange(len(items))
    end = ranking.scores[rows, np.maximum(np.minimum(lengths, places) - 1, 0)]
    # The group at the new end reaches to the old end, of which the whole row was counted, or it is all in the list.
    open_end = end == ranking.scores[rows, np.maximum(lengths - 1, 0)]
    listed = ((ranking.scores == end[:, None]) & (ranking.items >= 0)).sum(axis=1)
    tied = np.where(open_end, ranking.tied, listed).astype(np.int32)
    sample = np.repeat(rows, truth.sizes)
    below = _cut_off(ranking, truth, sample, end, places)
    tied_truth = below | (ranking.tied_truth & open_end[sample])
    return Ranking(items, np.ascontiguousarray(ranking.scores[:, :places]), tied, tied_truth, ranking.n_items)


def _cut_off(
    ranking: Ranking, truth: GroundTruth, sample: IntArray, end: NDArray[Any], places: int
) -> NDArray[np.bool_]:
    """Mark the relevant items that stand after the new end with the score of its last place."""
    assert ranking.scores is not None
    marks = np.zeros(len(truth.items), dtype=np.bool_)
    for start in range(0, len(marks), _ENTRIES):
        part = slice(start, start + _ENTRIES)
        rows = sample[part]
        there = ranking.items[rows, places:] == truth.items[part, None]
        marks[part] = (there & (ranking.scores[rows, places:] == end[rows, None])).any(axis=1)
    return marks
