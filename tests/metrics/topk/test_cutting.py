"""Shortened lists are the lists that would have been asked for in the first place."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.metrics.topk import topk_scores
from paragone.metrics.topk.ranking import cut_ranking

METRICS = ("precision", "recall", "rmrr", "ndcg[idcg=hits]", "precision[over=list]", "map")


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 12), st.booleans())
def test_cutting_long_lists_is_ranking_short_ones(seed, places, longer, masked):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (6, 11)).astype(float)
    truth = [rng.permutation(11)[: rng.integers(1, 6)].tolist() for _ in range(6)]
    exclude = rng.random((6, 11)) < 0.6 if masked else None
    if masked:
        exclude[:, 0] = False
    short = topk_scores(scores, truth, k=places, exclude=exclude).ranking
    long = topk_scores(scores, truth, k=places + longer, exclude=exclude)
    cut = cut_ranking(long.ranking, long.truth, places)
    for name in ("items", "scores", "tied", "tied_truth"):
        np.testing.assert_array_equal(getattr(cut, name), getattr(short, name), err_msg=name)


def test_lists_without_scores_are_cut_too():
    run = topk_scores([[2, 1, 0]], [[1]], k=3, kind="lists")
    assert cut_ranking(run.ranking, run.truth, 2).items.tolist() == [[2, 1]]
