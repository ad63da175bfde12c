"""Bad input ends in one clear sentence; unusual input is decided, counted and said."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from paragone.errors import InputError
from paragone.metrics.topk import Factors, f1_at_k, parse_metric, topk_scores

GOOD = np.array([[0.3, 0.2, 0.1], [0.1, 0.2, 0.3]])
TRUTH = [[0], [1]]


def complaint(*arguments, **options) -> str:
    with pytest.raises(InputError) as caught:
        topk_scores(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_named(bad):
    scores = GOOD.copy()
    scores[1, 2] = bad
    assert "sample 1, item 2" in complaint(scores, TRUTH, k=1)
    assert "sample 1, item 2" in complaint(scores.astype(np.float32), TRUTH, k=1)


@pytest.mark.parametrize("item", [-1, 3])
def test_an_id_out_of_range_is_named_with_its_sample(item):
    assert f"sample 1 names item {item}" in complaint(GOOD, [[0], [item]], k=1)
    assert "item" in complaint([[0, 1], [9, 2]], TRUTH, k=1, n_items=3)


def test_a_sample_without_truth_is_an_error_unless_asked_otherwise():
    assert "sample 1" in complaint(GOOD, [[0], []], k=1)
    skipped = topk_scores(GOOD, [[0], []], k=1, empty="skip")
    assert skipped.value("precision", 1) == 1.0
    assert np.isnan(skipped.per_sample["precision"][1, 0])
    assert "left out" in skipped.notes[0]
    assert topk_scores(GOOD, [[0], []], k=1, empty="zero").value("precision", 1) == 0.5
    assert "no sample" in complaint(GOOD, [[], []], k=1, empty="skip")


def test_unequal_lengths_are_counted():
    assert "2 rows of scores or lists, but 1 rows of truth" in complaint(GOOD, [[0]], k=1)
    assert "1 rows of scores or lists, but 2" in complaint([[0, 1]], TRUTH, k=1)


@pytest.mark.parametrize("k", [0, (0, 5), (5, 1), (1, 1), (), 1.5, "5"])
def test_cut_offs_must_be_positive_and_rising(k):
    assert complaint(GOOD, TRUTH, k=k).startswith("k must")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metrics": ("precison",)}, "did you mean 'precision'"),
        ({"metrics": ("ndcg[idcg=max]",)}, "idcg"),
        ({"metrics": ("ndcg[over=k]",)}, "'idcg'"),
        ({"metrics": ("f1[over=k]",)}, "no conventions"),
        ({"metrics": (3,)}, "neither a name nor a function"),
        ({"ties": "random"}, "ties"),
        ({"empty": "drop"}, "empty"),
        ({"preset": "recbol"}, "did you mean 'recbole'"),
        ({"kind": "matrix"}, "kind"),
        ({"n_items": 9}, "3 columns"),
        ({"exclude": np.zeros((1, 3))}, "exclude has the shape"),
        ({"cluster": [1]}, "one label a sample"),
    ],
)
def test_a_wrong_option_is_explained(options, words):
    assert words in complaint(GOOD, TRUTH, k=1, **options)


def test_shapes_and_types_are_explained():
    assert "matrix" in complaint(np.ones(3), TRUTH, k=1)
    assert "no columns" in complaint(np.ones((2, 0)), TRUTH, k=1)
    assert "real numbers" in complaint(
        np.array([["a", "b"], ["c", "d"]]), TRUTH, k=1, kind="scores"
    )
    assert "n_items" in complaint(lambda rows: GOOD[rows], TRUTH, k=1)
    assert "was expected" in complaint(lambda rows: GOOD, TRUTH, k=1, n_items=3, block_rows=1)
    assert "whole item ids" in complaint(GOOD, [[0.5], [1.0]], k=1)
    assert "list of item ids" in complaint(GOOD, [0, 1], k=1)
    with pytest.raises(InputError, match="users x f"):
        Factors(np.ones((2, 3)), np.ones((2, 4)))
    assert "names an item twice" in complaint(np.array([[1, 1, 0], [0, 1, 2]]), TRUTH, k=1)
    assert "2^53" in complaint(np.array([[2**60, 1], [0, 1]]), TRUTH, k=1, kind="scores")
    assert "needs scores" in complaint([[0], [1]], TRUTH, k=1, ties="expected")


@pytest.mark.parametrize(
    ("lists", "words"),
    [
        ([[0, -2], [1, 2]], "sample 0 names a negative item"),
        ([[0, 1, 2], [1, -1, 2]], "sample 1 goes on after its end"),
        ([[0, 3], [1]], "sample 0 names an item out of range"),
        ([[0], [2, 1, 2]], "sample 1 names an item twice"),
        ([[0.5], [1.5]], "whole item ids"),
    ],
)
def test_lists_that_are_no_lists_are_explained(lists, words):
    assert words in complaint(lists, TRUTH, k=1, n_items=3, kind="lists")


def test_lists_may_have_any_length_and_even_be_empty():
    result = topk_scores([[0, 1, 2], []], TRUTH, k=(1, 3))
    assert result.ranking.items.tolist() == [[0, 1, 2], [-1, -1, -1]]
    assert result.value("recall", 1) == 0.5
    assert topk_scores([[], []], TRUTH, k=1, kind="lists").value("recall", 1) == 0.0


def test_repeated_ids_in_the_truth_count_once_and_are_said():
    with pytest.warns(UserWarning, match="2 repeated item"):
        result = topk_scores(GOOD, [[0, 2, 0, 2], [1]], k=1)
    assert result.per_sample["recall"][0, 0] == 0.5
    assert "2 repeated" in result.notes[0]


def test_a_cut_off_above_the_number_of_items_still_divides_by_k():
    result = topk_scores(GOOD, TRUTH, k=(3, 10))
    assert result.value("precision", 10) == pytest.approx(0.1)
    assert result.value("recall", 10) == 1.0
    assert any("still divided by K" in note for note in result.notes)


def test_truth_may_be_a_sparse_matrix_or_a_pair_of_arrays():
    matrix = sparse.csr_array(np.array([[1, 0, 0], [0, 1, 0]]))
    pair = (np.array([0, 1, 2]), np.array([0, 1]))
    for truth in (matrix, pair):
        assert topk_scores(GOOD, truth, k=1).value("recall", 1) == 0.5
    assert "indptr" in complaint(GOOD, (np.array([0, 5]), np.array([0, 1])), k=1)


def test_integers_are_scores_on_request():
    counts = np.array([[5, 5, 1], [0, 2, 9]])
    result = topk_scores(counts, TRUTH, k=1, kind="scores")
    assert result.ranking.items.ravel().tolist() == [0, 2]


def test_sampled_candidates_stand_in_the_name_of_every_metric():
    candidates = np.array([[True, True, False], [False, True, True]])
    result = topk_scores(GOOD, TRUTH, k=1, metrics=("recall", "ndcg"), sampled=candidates)
    assert result.table()["metric"].tolist() == [
        "recall@1[sampled=2]",
        "ndcg@1[idcg=min,sampled=2]",
    ]
    assert result.ranking.items.ravel().tolist() == [0, 2]


def test_excluded_items_are_never_listed():
    exclude = sparse.csr_array(np.array([[1, 0, 0], [0, 0, 0]]))
    result = topk_scores(GOOD, TRUTH, k=3, exclude=exclude)
    assert result.ranking.items.tolist() == [[1, 2, -1], [2, 1, 0]]
    assert any("shorter than 3" in note for note in result.notes)


def test_a_metric_that_fails_is_reported_and_the_others_are_given():
    def broken(recommended, relevant, k):
        raise KeyError("no such thing")

    def no_number(recommended, relevant, k):
        return float("nan")

    def first_is_right(recommended, relevant, k):
        return float(recommended[0] in relevant)

    result = topk_scores(
        GOOD, TRUTH, k=(1, 2), metrics=("precision", broken, first_is_right, no_number)
    )
    assert result.value("precision", 1) == 0.5
    assert result.means["first_is_right"].tolist() == [0.5, 0.5]
    assert "KeyError" in result.errors["broken"]
    assert "nan" in result.errors["no_number"]
    assert "failed: broken: KeyError" in repr(result)
    assert set(result.names) == {"precision", "first_is_right"}


def test_where_every_metric_fails_the_result_still_says_why():
    def broken(recommended, relevant, k):
        raise RuntimeError("out of order")

    result = topk_scores(GOOD, TRUTH, k=1, metrics=(broken,))
    assert "failed: broken: RuntimeError: out of order" in repr(result)
    assert result.means == {}
    assert len(result.table()) == len(result.samples()) == 0


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -0.1, 1.1])
def test_f1_of_a_value_outside_the_unit_interval_is_a_value_error(bad):
    for pair in ((bad, 0.5), (0.5, bad)):
        with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
            f1_at_k(*pair)


def test_f1_known_values():
    assert f1_at_k(0.8, 0.6) == pytest.approx(0.6857142857, abs=1e-10)
    assert f1_at_k(0.0, 0.0) == 0.0
    assert f1_at_k(1.0, 0.0) == 0.0
    assert f1_at_k(5e-324, 5e-324) >= 0.0


def test_short_names_are_understood():
    assert [parse_metric(name).key for name in ("p", "R", "hr", "MAP", "NDCG[idcg=k]")] == [
        "precision",
        "recall",
        "hit_rate",
        "map[over=n]",
        "ndcg[idcg=k]",
    ]
