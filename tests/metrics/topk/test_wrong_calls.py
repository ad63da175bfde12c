"""A call either does what a person expects, or ends in one sentence that says what to do: never in a raw error.

Law: no argument is passed over in silence. What is given acts, or is refused.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from paragone.errors import InputError
from paragone.metrics.topk import Factors, topk_scores
from paragone.protocols import TopK

SCORES = np.array([[0.3, 0.2, 0.1], [0.1, 0.2, 0.3]])
TRUTH = [[0], [1]]
LISTS = [[0, 1, 2], [2, 1, 0]]
MARKS = np.array([[1, 0, 0], [0, 0, 0]])


def constant(recommended, relevant, k):
    return 1.0


def named(value):
    def function(recommended, relevant, k):
        return value

    return function


WRONG = {
    "a negative block size": (
        SCORES,
        TRUTH,
        {"block_rows": -1},
        "block_rows must be a whole number of at least 1",
    ),
    "an empty block": (SCORES, TRUTH, {"block_rows": 0}, "block_rows must be"),
    "half a block": (SCORES, TRUTH, {"block_rows": 1.5}, "block_rows must be"),
    "a true block": (SCORES, TRUTH, {"block_rows": True}, "block_rows must be"),
    "no thread": (
        SCORES,
        TRUTH,
        {"n_threads": 0},
        "n_threads must be a whole number of at least 1",
    ),
    "fewer than no threads": (SCORES, TRUTH, {"n_threads": -2}, "n_threads must be"),
    "no draw": (SCORES, TRUTH, {"n_boot": 0}, "n_boot must be a whole number of at least 1"),
    "fewer than no draws": (SCORES, TRUTH, {"n_boot": -5}, "n_boot must be"),
    "a negative seed": (SCORES, TRUTH, {"seed": -1}, "seed must be a whole number of at least 0"),
    "a seed that is text": (SCORES, TRUTH, {"seed": "one"}, "seed must be"),
    "confidence in percent": (SCORES, TRUTH, {"confidence": 95}, "for 95 % write 0.95"),
    "all confidence": (SCORES, TRUTH, {"confidence": 1.0}, "between 0 and 1"),
    "no items": (SCORES, TRUTH, {"n_items": 0}, "n_items must be"),
    "negative items for lists": (LISTS, TRUTH, {"n_items": -1}, "n_items must be"),
    "a fraction of items": (lambda rows: SCORES[rows], TRUTH, {"n_items": 3.0}, "n_items must be"),
    "sparse scores": (sparse.csr_array(SCORES), TRUTH, {}, "give scores.toarray()"),
    "a sparse matrix of the old kind": (
        sparse.csr_matrix(SCORES),
        TRUTH,
        {},
        "give scores.toarray()",
    ),
    "masked scores": (np.ma.masked_less(SCORES, 0.25), TRUTH, {}, "name such items in `exclude`"),
    "a frame numbered from 1": (
        pd.DataFrame(SCORES, columns=[1, 2, 3]),
        TRUTH,
        {},
        "numbered 1..3",
    ),
    "a frame in another order": (
        pd.DataFrame(SCORES, columns=[2, 1, 0]),
        TRUTH,
        {},
        "numbered 2..0",
    ),
    "rows labelled otherwise": (
        pd.DataFrame(SCORES, index=["a", "b"]),
        pd.Series(TRUTH, index=["b", "a"]),
        {},
        "row 0 is labelled 'a' in the scores or lists and 'b' in the truth",
    ),
    "a frame of text": (pd.DataFrame([["x", "y"], ["z", "w"]]), TRUTH, {}, "real numbers"),
    "scores by user": ({"a": [0.1], "b": [0.2]}, TRUTH, {}, "a dict has no order of rows"),
    "truth by user": (SCORES, {"a": [0], "b": [1]}, {}, "a dict has no order of rows"),
    "rows of truth in a set": (SCORES, {(0,), (1,)}, {}, "a set has no order of rows"),
    "lists that are sets": ([{0, 1}, {1, 2}], TRUTH, {}, "row 0 of the scores or lists is a set"),
    "a file name for scores": ("scores.npy", TRUTH, {}, "read the file first"),
    "a file name for truth": (SCORES, "truth.txt", {}, "read the file first"),
    "nothing for scores": (None, TRUTH, {}, "one row per sample is needed, None was given"),
    "nothing for truth": (SCORES, None, {}, "one row per sample is needed, None was given"),
    "a number for scores": (3, TRUTH, {}, "one row per sample is needed, 3 was given"),
    "one flat list": ([1, 2], TRUTH, {}, "row 0 of the scores or lists is 1"),
    "three dimensions": (np.ones((2, 3, 1)), TRUTH, {}, "3 dimension(s)"),
    "rows of different lengths": ([[0.1, 0.2], [0.3]], TRUTH, {}, "their rows have [1, 2] items"),
    "complex scores": (SCORES + 1j, TRUTH, {}, "real numbers"),
    "lists from a function": (
        lambda rows: SCORES[rows],
        TRUTH,
        {"kind": "lists"},
        "kind='lists' needs lists",
    ),
    "nested truth": (SCORES, [[[0]], [[1]]], {}, "truth of sample 0 is [[0]]"),
    "a truth without a row": (SCORES, [[0], None], {}, "truth of sample 1 is None"),
    "a set of text": (SCORES, [{"a", 1}, {1}], {}, "whole item ids"),
    "ids far beyond all items": (
        [[0], [2_000_000_000]],
        TRUTH,
        {},
        "number them from 0 without gaps",
    ),
    "ids to exclude instead of marks": (
        SCORES,
        TRUTH,
        {"exclude": [[0, 1], [2]]},
        "its rows have different lengths",
    ),
    "unknown marks": (SCORES, TRUTH, {"exclude": np.full((2, 3), np.nan)}, "it holds NaN"),
    "marks that are text": (
        SCORES,
        TRUTH,
        {"sampled": [["x", "y", "z"]] * 2},
        "sampled must be a matrix",
    ),
    "marks in a file": (SCORES, TRUTH, {"exclude": "known.npz"}, "read the file first"),
    "a mask of another shape for lists": (
        LISTS,
        TRUTH,
        {"exclude": MARKS, "n_items": 4},
        "exclude has the shape",
    ),
    "lists too short for a mask": (
        [[0, 1], [2, 1]],
        TRUTH,
        {"exclude": MARKS, "k": 2},
        "does not say what would come",
    ),
    "a sample without a group": (SCORES, TRUTH, {"cluster": ["a", None]}, "no label for sample 1"),
    "groups that cannot be compared": (
        SCORES,
        TRUTH,
        {"cluster": pd.Series([("a",), 1])},
        "cannot be compared",
    ),
    "a gigantic cut-off": (SCORES, TRUTH, {"k": 10**11}, "k must be at most 10,000,000"),
    "no metric": (SCORES, TRUTH, {"metrics": []}, "metrics is empty"),
    "a number for metrics": (SCORES, TRUTH, {"metrics": 5}, "metrics must be names or functions"),
    "two functions of one name": (
        SCORES,
        TRUTH,
        {"metrics": [named(0.0), named(1.0)]},
        "called 'function'",
    ),
    "ties that are a number": (SCORES, TRUTH, {"ties": 5}, "ties must be one of id, expected"),
    "ties that are nothing": (SCORES, TRUTH, {"ties": ""}, "unknown ties ''"),
    "a list of presets": (SCORES, TRUTH, {"preset": ["smgcn"]}, "preset must be one of smgcn"),
    "an unknown ideal": (SCORES, TRUTH, {"idcg": "max"}, "unknown idcg 'max'"),
    "a kind that is a number": (
        SCORES,
        TRUTH,
        {"kind": 3},
        "kind must be one of auto, scores, lists",
    ),
    "rmrr of sets": (
        SCORES,
        [{0, 1}, {1}],
        {"metrics": ["rmrr"]},
        "rmrr looks at the order of the truth",
    ),
    "the smgcn preset of sets": (
        SCORES,
        [{0, 1}, {1}],
        {"preset": "smgcn"},
        "rmrr looks at the order of the truth",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_ends_in_one_sentence(name):
    scores, truth, options, words = WRONG[name]
    with pytest.raises(InputError) as caught:
        topk_scores(scores, truth, **({"k": 1} | options))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_function_with_the_name_of_a_metric_does_not_take_its_place():
    def precision(recommended, relevant, k):
        return 1.0

    with pytest.raises(
        InputError, match="'precision' is asked for by name and given as a function"
    ):
        topk_scores(SCORES, TRUTH, k=1, metrics=["precision", precision])


def test_factors_that_are_no_matrices_of_numbers_are_refused_and_lists_are_taken():
    for users, words in (
        ([["a"]], "real numbers"),
        ([[1.0], [1.0, 2.0]], "matrix"),
        (None, "one row per sample"),
    ):
        with pytest.raises(InputError, match=words):
            Factors(users, [[1.0]])
    assert Factors([[2.0]], [[1.0], [3.0]]).block(slice(0, 1)).tolist() == [[2.0, 6.0]]


def test_scores_of_a_function_that_grow_finer_are_refused():
    def block(rows):
        return SCORES[rows].astype(np.float32 if rows.start == 0 else np.float64)

    with pytest.raises(InputError, match="are float64, those before are float32"):
        topk_scores(block, TRUTH, k=1, n_items=3, block_rows=1)


def means(scores, truth=TRUTH, **options):
    result = topk_scores(scores, truth, **({"k": (1, 2)} | options))
    return {name: values.tolist() for name, values in result.means.items()}


def test_whatever_holds_the_same_scores_gives_the_same_numbers():
    expected = means(SCORES)
    torch = pytest.importorskip("torch")
    for same in (
        SCORES.tolist(),
        iter(SCORES.tolist()),
        tuple(map(tuple, SCORES)),
        pd.DataFrame(SCORES),
        pd.DataFrame(SCORES, columns=["licorice", "ginger", "mint"], index=["p", "q"]),
        np.ma.masked_array(SCORES),
        torch.tensor(SCORES),
    ):
        assert means(same) == expected
    with pytest.raises(InputError, match="cannot be read as an array"):
        topk_scores(torch.tensor(SCORES, requires_grad=True), TRUTH, k=1)


def test_whatever_holds_the_same_lists_or_truth_gives_the_same_numbers():
    expected = means(LISTS)
    for same in (np.array(LISTS), pd.DataFrame(LISTS), iter(LISTS), pd.Series(LISTS)):
        assert means(same) == expected
    for same in (
        iter(TRUTH),
        pd.Series(TRUTH),
        tuple(TRUTH),
        np.array(TRUTH),
        [{0}, frozenset({1})],
    ):
        assert means(LISTS, same) == expected


def test_one_metric_need_not_stand_in_a_list():
    assert list(means(SCORES, metrics="recall")) == ["recall"]
    assert means(SCORES, metrics=constant) == {"constant": [1.0, 1.0]}


def test_sets_have_no_order_so_rmrr_is_left_out_and_a_note_says_so():
    lists, sets = topk_scores(SCORES, [[2, 0], [1]], k=1), topk_scores(SCORES, [{0, 2}, {1}], k=1)
    assert list(lists.means) == ["precision", "recall", "f1", "rmrr"]
    assert list(sets.means) == ["precision", "recall", "f1"]
    assert any(note.startswith("rmrr is left out") for note in sets.notes)
    for name in sets.means:
        np.testing.assert_array_equal(sets.means[name], lists.means[name])


def masked_problem(seed, n_rows=6, n_items=12):
    rng = np.random.default_rng(seed)
    scores = rng.permutation(n_rows * n_items).reshape(n_rows, n_items) / 100
    truth = [rng.permutation(n_items)[: rng.integers(1, 6)].tolist() for _ in range(n_rows)]
    exclude, sampled = rng.random((n_rows, n_items)) < 0.3, rng.random((n_rows, n_items)) < 0.6
    return scores, truth, exclude, sampled


def naive_order(scores, candidates):
    """Sort the candidates of one row by falling score."""
    return sorted(
        (item for item in range(len(scores)) if candidates[item]), key=lambda item: -scores[item]
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), which=st.sampled_from(["exclude", "sampled", "both"]))
def test_masks_act_on_lists_as_they_act_on_the_scores_that_the_lists_come_from(naive, seed, which):
    scores, truth, exclude, sampled = masked_problem(seed)
    masks = {"exclude": exclude, "sampled": sampled}
    options = {"k": (1, 3, 5), "metrics": ("precision", "recall", "rmrr", "ndcg")}
    options |= masks if which == "both" else {which: masks[which]}
    whole = np.argsort(-scores, axis=1)
    by_lists, by_scores = (
        topk_scores(whole, truth, **options),
        topk_scores(scores, truth, **options),
    )
    np.testing.assert_array_equal(by_lists.ranking.items[:, :5], by_scores.ranking.items)
    allowed = (~exclude if which != "sampled" else True) & (sampled if which != "exclude" else True)
    for row, relevant in enumerate(truth):
        listed = naive_order(scores[row], np.broadcast_to(allowed, scores.shape)[row])
        for cut, k in enumerate((1, 3, 5)):
            expected = naive(listed, relevant, k, 5)
            for result in (by_lists, by_scores):
                for name in ("precision", "recall", "rmrr", "ndcg[idcg=min]"):
                    assert result.per_sample[name][row, cut] == pytest.approx(
                        expected[name], abs=1e-12
                    )
    assert ("sampled=" in by_lists.table()["metric"][0]) == (which != "exclude")
    assert by_lists.n_sampled == by_scores.n_sampled


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), length=st.integers(1, 12))
def test_a_cut_list_gives_the_numbers_of_the_scores_or_none(seed, length):
    scores, truth, exclude, _ = masked_problem(seed)
    lists = np.argsort(-scores, axis=1)[:, :length]
    expected = topk_scores(scores, truth, k=3, exclude=exclude)
    left = [int((~exclude[row, lists[row]]).sum()) for row in range(len(lists))]
    if any(count < min(3, int((~exclude[row]).sum())) for row, count in enumerate(left)):
        with pytest.raises(InputError, match="does not say what would come next"):
            topk_scores(lists, truth, k=3, exclude=exclude)
        return
    found = topk_scores(lists, truth, k=3, exclude=exclude)
    np.testing.assert_array_equal(found.per_sample["recall"], expected.per_sample["recall"])


def test_counts_and_frames_mark_what_true_marks_and_the_callers_matrix_stays_as_it_was():
    masks = (
        MARKS.astype(bool),
        MARKS * 7,
        pd.DataFrame(MARKS),
        sparse.csr_array(MARKS),
        MARKS.tolist(),
    )
    marked = [
        topk_scores(SCORES, TRUTH, k=1, exclude=mask).ranking.items.tolist() for mask in masks
    ]
    assert marked == [[[1], [2]]] * len(masks)
    held = sparse.csr_array((np.array([1, 0]), np.array([0, 2]), np.array([0, 1, 2])), shape=(2, 3))
    topk_scores(SCORES, TRUTH, k=1, exclude=held)
    assert held.nnz == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metrics": ()}, "metrics is empty"),
        ({"ties": ""}, "unknown ties"),
        ({"ties": 3}, "ties must be one of"),
        ({"preset": ["smgcn"]}, "preset must be one of"),
        ({"idcg": "max"}, "unknown idcg"),
    ],
)
def test_the_protocol_refuses_what_the_function_refuses(options, words):
    with pytest.raises(InputError, match=words):
        TopK(**options)
