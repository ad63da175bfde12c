"""Laws every evaluation obeys, whatever the scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.metrics.topk import Factors, topk_scores

KS = (1, 3, 7)


def problem(
    seed: int, *, levels: int | None = None, n_rows: int = 9, n_items: int = 23, dtype=np.float64
):
    """Random scores (with heavy ties where ``levels`` is small) and truths of 1 to 12 items."""
    rng = np.random.default_rng(seed)
    scores = (
        rng.random((n_rows, n_items))
        if levels is None
        else rng.integers(0, levels, (n_rows, n_items)) / 8
    )
    truth = [rng.permutation(n_items)[: rng.integers(1, 13)].tolist() for _ in range(n_rows)]
    return scores.astype(dtype), truth


seeds = st.integers(0, 10_000)


@settings(max_examples=60, deadline=None)
@given(
    seed=seeds,
    levels=st.sampled_from([None, 2, 5]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_the_kernels_agree_with_the_plain_definitions(naive, all_metrics, seed, levels, dtype):
    scores, truth = problem(seed, levels=levels, dtype=dtype)
    result = topk_scores(scores, truth, k=KS, metrics=all_metrics)
    order = np.argsort(-scores, axis=1, kind="stable")
    for row, relevant in enumerate(truth):
        for cut, k in enumerate(KS):
            for name, expected in naive(order[row].tolist(), relevant, k, KS[-1]).items():
                assert result.per_sample[name][row, cut] == pytest.approx(expected, abs=1e-12), (
                    name,
                    k,
                )


@settings(max_examples=40, deadline=None)
@given(
    seed=seeds,
    n_items=st.integers(1, 400),
    places=st.integers(1, 40),
    levels=st.sampled_from([None, 1, 3, 40]),
)
def test_the_selection_is_the_stable_sort(seed, n_items, places, levels):
    rng = np.random.default_rng(seed)
    scores = (
        rng.normal(size=(4, n_items))
        if levels is None
        else rng.integers(0, levels, (4, n_items)) - 1.0
    )
    result = topk_scores(scores, [[0]] * 4, k=places, metrics=("recall",), kind="scores")
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :places]
    np.testing.assert_array_equal(result.ranking.items, expected)
    last = np.take_along_axis(scores, expected[:, -1:], axis=1)
    np.testing.assert_array_equal(result.ranking.tied, (scores == last).sum(axis=1))


def test_negative_zero_ties_with_zero():
    result = topk_scores(np.array([[-0.0, 0.0, -1.0]]), [[1]], k=1, metrics=("recall",))
    assert result.ranking.items.tolist() == [[0]]
    assert result.tie_share.tolist() == [1.0]


@settings(max_examples=25, deadline=None)
@given(seed=seeds, ties=st.sampled_from(["id", "expected", "optimistic", "pessimistic"]))
def test_shuffling_rows_shuffles_the_values(all_metrics, seed, ties):
    scores, truth = problem(seed, levels=4)
    order = np.random.default_rng(seed).permutation(len(truth))
    before = topk_scores(scores, truth, k=KS, metrics=all_metrics, ties=ties)
    after = topk_scores(
        scores[order], [truth[row] for row in order], k=KS, metrics=all_metrics, ties=ties
    )
    for name in all_metrics:
        np.testing.assert_array_equal(after.per_sample[name], before.per_sample[name][order])


@settings(max_examples=25, deadline=None)
@given(seed=seeds, ties=st.sampled_from(["id", "expected", "optimistic", "pessimistic"]))
def test_a_monotone_map_of_the_scores_changes_nothing(all_metrics, seed, ties):
    scores, truth = problem(seed, levels=4)
    before = topk_scores(scores, truth, k=KS, metrics=all_metrics, ties=ties)
    after = topk_scores(np.exp(3 * scores) - 7, truth, k=KS, metrics=all_metrics, ties=ties)
    for name in all_metrics:
        np.testing.assert_array_equal(after.per_sample[name], before.per_sample[name])


@settings(max_examples=25, deadline=None)
@given(seed=seeds, ties=st.sampled_from(["id", "expected", "optimistic", "pessimistic"]))
def test_recall_hits_and_reciprocal_rank_never_fall_with_k(seed, ties):
    scores, truth = problem(seed, levels=5)
    metrics = ("recall", "hit_rate", "mrr", "rmrr", "map[over=n]")
    result = topk_scores(scores, truth, k=tuple(range(1, 24)), metrics=metrics, ties=ties)
    for name in metrics:
        assert (np.diff(result.per_sample[name], axis=1) >= -1e-12).all(), name


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_f1_is_twice_the_hits_over_k_plus_n(seed):
    scores, truth = problem(seed)
    result = topk_scores(scores, truth, k=KS)
    sizes = np.array([len(relevant) for relevant in truth])[:, None]
    hits = np.rint(result.per_sample["precision"] * np.array(KS))
    np.testing.assert_allclose(
        result.per_sample["f1"], 2 * hits / (np.array(KS) + sizes), rtol=1e-15
    )


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_the_order_of_the_truth_changes_only_rmrr(all_metrics, seed):
    scores, truth = problem(seed)
    rng = np.random.default_rng(seed)
    before = topk_scores(scores, truth, k=KS, metrics=all_metrics)
    after = topk_scores(
        scores, [rng.permutation(row).tolist() for row in truth], k=KS, metrics=all_metrics
    )
    for name in all_metrics:
        if name != "rmrr":
            np.testing.assert_array_equal(after.per_sample[name], before.per_sample[name])


def test_the_order_of_the_truth_does_change_rmrr():
    scores = [[0.9, 0.8, 0.1]]
    first, second = (
        topk_scores(scores, [order], k=2, metrics=("rmrr",)) for order in ([0, 1], [1, 0])
    )
    assert first.value("rmrr", 2) == 1.0
    assert second.value("rmrr", 2) == 0.5


@pytest.mark.parametrize("ties", ["id", "expected", "optimistic", "pessimistic", "reverse_id"])
@pytest.mark.parametrize(("block_rows", "n_threads"), [(1, 1), (7, 2), (100, 3), (10_000, 2)])
def test_any_block_size_and_thread_count_gives_the_same_bits(
    all_metrics, ties, block_rows, n_threads
):
    scores, truth = problem(5, levels=6, n_rows=150, n_items=61, dtype=np.float32)
    once = topk_scores(scores, truth, k=KS, metrics=all_metrics, ties=ties)
    again = topk_scores(
        scores,
        truth,
        k=KS,
        metrics=all_metrics,
        ties=ties,
        block_rows=block_rows,
        n_threads=n_threads,
    )
    for name in all_metrics:
        assert once.per_sample[name].tobytes() == again.per_sample[name].tobytes()
        assert once.means[name].tobytes() == again.means[name].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_factor_model_gives_the_same_bits_for_any_block_size_and_thread_count(dtype):
    rng = np.random.default_rng(3)
    users, items = rng.normal(size=(700, 16)).astype(dtype), rng.normal(size=(90, 16)).astype(dtype)
    truth = [[int(rng.integers(90))] for _ in range(700)]
    results = [
        topk_scores(Factors(users, items), truth, k=KS, block_rows=rows, n_threads=threads)
        for rows, threads in ((None, 1), (1, 2), (333, 3))
    ]
    for other in results[1:]:
        assert results[0].ranking.scores.tobytes() == other.ranking.scores.tobytes()
        assert results[0].ranking.items.tobytes() == other.ranking.items.tobytes()


def test_a_function_a_matrix_and_a_factor_model_are_one_and_the_same():
    rng = np.random.default_rng(4)
    users, items = (
        rng.integers(-4, 5, (300, 8)).astype(float),
        rng.integers(-4, 5, (40, 8)).astype(float),
    )
    truth = [[int(rng.integers(40))] for _ in range(300)]
    matrix = users @ items.T
    expected = topk_scores(matrix, truth, k=KS)
    for source, n_items in ((Factors(users, items), None), (lambda rows: matrix[rows], 40)):
        found = topk_scores(source, truth, k=KS, n_items=n_items)
        for name in expected.means:
            np.testing.assert_array_equal(found.per_sample[name], expected.per_sample[name])


def test_lists_are_worth_what_the_scores_that_made_them_are(all_metrics):
    scores, truth = problem(11)
    expected = topk_scores(scores, truth, k=KS, metrics=all_metrics)
    found = topk_scores(expected.ranking.items, truth, k=KS, metrics=all_metrics, n_items=23)
    for name in all_metrics:
        np.testing.assert_array_equal(found.per_sample[name], expected.per_sample[name])
    assert np.isnan(found.tie_share).all()
