"""Guards, segments, beyond accuracy, and reconciliation of published numbers."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.data.prescriptions import Prescriptions, read_prescriptions, read_row_numbers
from paragone.errors import InputError
from paragone.metrics.topk import topk_scores
from paragone.metrics.topk.segments import (
    beyond_accuracy,
    ceilings,
    check_rows,
    chosen_on_evaluated,
    gini,
    head_items,
    leaked_rows,
    look_around,
    segment_results,
    segment_table,
    unseen_items,
)


@pytest.fixture(scope="module")
def herbs(data_folder):
    train = read_prescriptions(data_folder / "herb" / "train.txt")
    test = read_prescriptions(
        data_folder / "herb" / "test.txt", n_tokens=train.n_tokens, n_items=train.n_items
    )
    rows = read_row_numbers(data_folder / "herb" / "valid_row_indices.txt", n_rows=train.n_rows)
    return train, test, rows


@pytest.mark.known_answer
def test_the_leak_guard_counts_the_validation_rows_inside_train(herbs):
    train, test, rows = herbs
    finding = leaked_rows(train, train.take(rows))
    assert (finding.count, finding.total) == (1162, 1162)
    assert leaked_rows(train.without(rows), train.take(rows)) is None
    assert check_rows(train, test) == ()


def small():
    train = Prescriptions.from_rows([([0, 1], [0, 1]), ([2], [1]), ([1], [1, 2])], n_items=5)
    test = Prescriptions.from_rows(
        [([1, 0], [1]), ([0], [4, 1]), ([2], [0])], n_tokens=3, n_items=5
    )
    return train, test


def test_a_leaked_row_is_found_whatever_the_order_inside_it():
    train, _ = small()
    assert (
        leaked_rows(train, Prescriptions.from_rows([([1, 0], [1, 0])], n_tokens=3, n_items=5)).count
        == 1
    )


def test_items_never_seen_in_train_are_counted():
    train, test = small()
    finding = unseen_items(train, test)
    assert (finding.count, finding.total) == (1, 4)
    assert unseen_items(train, train) is None


def test_choosing_on_what_is_evaluated_is_found():
    _, test = small()
    assert chosen_on_evaluated(test, test).count == 3
    assert chosen_on_evaluated(None, test) is None
    assert chosen_on_evaluated(test.take([0]), test.take([1, 2])) is None


def small_result(**options):
    _, test = small()
    scores = np.array(
        [[0.1, 0.9, 0.3, 0.2, 0.0], [0.5, 0.4, 0.3, 0.2, 0.1], [0.9, 0.1, 0.2, 0.3, 0.4]]
    )
    return topk_scores(scores, test.truth, k=(1, 2), **options)


def test_segments_split_the_samples_and_their_means_add_up():
    train, test = small()
    result = small_result()
    parts = segment_results(result, train, test)
    assert list(parts) == [
        "all",
        "seen query",
        "unseen query",
        "fewer than 5 items",
        "head items",
        "tail items",
    ]
    seen, unseen = parts["seen query"], parts["unseen query"]
    assert (seen.evaluated.tolist(), unseen.evaluated.tolist()) == (
        [True, False, True],
        [False, True, False],
    )
    joined = (2 * seen.means["precision"] + unseen.means["precision"]) / 3
    np.testing.assert_allclose(joined, result.means["precision"])


def test_item_segments_count_only_their_items():
    train, test = small()
    parts = segment_results(small_result(), train, test, share=0.2)
    # Item 1 is the head: relevant in samples 0 and 1, listed first and second there.
    assert parts["head items"].means["recall"].tolist() == [0.5, 1.0]
    # Tail: item 4 of sample 1 (not listed) and item 0 of sample 2 (listed first).
    assert parts["tail items"].means["recall"].tolist() == [0.5, 0.5]


def test_the_ceiling_is_the_best_any_list_could_do():
    result = small_result(metrics=("precision", "recall", "f1", "rmrr", "ndcg"))
    best = ceilings(result)
    sizes = np.array([1, 2, 1])
    np.testing.assert_allclose(best["precision"], [np.minimum(sizes, k).mean() / k for k in (1, 2)])
    np.testing.assert_allclose(
        best["recall"], [(np.minimum(sizes, k) / sizes).mean() for k in (1, 2)]
    )
    np.testing.assert_allclose(best["ndcg[idcg=min]"], [1.0, 1.0])
    for name, values in result.means.items():
        assert (values <= best[name] + 1e-12).all()


def test_the_segment_table_has_interval_size_and_ceiling():
    train, test = small()
    table = segment_table(small_result(metrics=("precision", "f1_of_means")), train, test)
    assert {"segment", "metric", "value", "low", "high", "n", "ceiling"} <= set(table.columns)
    known = table["high"].notna()
    assert (table["value"] <= table["high"] + 1e-12)[known].all()
    assert known.any()
    assert (table["n"] == 1)[~known].all(), "one sample says nothing of its spread"


def test_gini_is_the_mean_absolute_difference_over_twice_the_mean():
    amounts = np.random.default_rng(0).integers(0, 20, 30)
    direct = np.abs(amounts[:, None] - amounts[None, :]).mean() / (2 * amounts.mean())
    assert gini(amounts) == pytest.approx(direct, abs=1e-12)
    assert gini(np.zeros(4, dtype=int)) == 0.0


def test_beyond_accuracy_by_hand():
    train, _ = small()
    counts = np.bincount(train.items, minlength=5)
    found = beyond_accuracy(small_result(), counts, train.n_rows)
    # Listed first: items 1, 0, 0; second: 2, 1, 4.
    assert found["coverage"].tolist() == [2 / 5, 4 / 5]
    surprise = -np.log2(np.array([1, 3, 1, 1, 1]) / 3)
    np.testing.assert_allclose(
        found["novelty"], [surprise[[1, 0, 0]].mean(), surprise[[1, 0, 0, 2, 1, 4]].mean()]
    )
    np.testing.assert_allclose(found["tail_recall"], [0.5, 0.5])
    assert list(beyond_accuracy(small_result())) == ["coverage", "gini"]
    with pytest.raises(InputError, match="3 item counts"):
        beyond_accuracy(small_result(), counts[:3], 3)
    with pytest.raises(InputError, match="n_train"):
        beyond_accuracy(small_result(), counts)


def test_a_head_of_everything_or_nothing_is_refused():
    with pytest.raises(InputError, match="between 0 and 1"):
        head_items(np.arange(4), 1.0)


def test_all_that_belongs_around_comes_in_one_call():
    train, test = small()
    around = look_around(small_result(), train, test, validation=test.take([0]))
    assert len(around["findings"]) == 2
    assert len(around["beyond"]["gini"]) == 2
    assert len(around["segments"]) == 6 * 4 * 2
