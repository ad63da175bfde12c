"""One truth in every form gives one number; a form that could mean two things is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from paragone.errors import InputError
from paragone.metrics.topk import as_truth, topk_scores

METRICS = ("precision", "recall", "f1", "ndcg", "map", "mrr", "hit_rate")
SCORES = np.array([[0.3, 0.2, 0.1], [0.1, 0.2, 0.3]])


def complaint(truth, scores=SCORES, **options):
    with pytest.raises(InputError) as caught:
        topk_scores(scores, truth, **({"k": 1} | options))
    return str(caught.value)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n_items=st.integers(3, 9), as_lists=st.booleans())
def test_ids_sets_and_matrices_of_marks_are_the_same_truth(naive, seed, n_items, as_lists):
    rng = np.random.default_rng(seed)
    marks = rng.random((5, n_items)) < 0.4
    marks[np.arange(5), rng.integers(0, n_items, 5)] = True
    ids = [np.flatnonzero(row).tolist() for row in marks]
    scores = rng.permutation(5 * n_items).reshape(5, n_items) / 7
    given_scores = np.argsort(-scores, axis=1) if as_lists else scores
    forms = {
        "ids": ids,
        "sets": [set(row) for row in ids],
        "bool": marks,
        "0 and 1": marks.astype(np.int64),
        "0.0 and 1.0": marks.astype(float),
        "lists of 0 and 1": marks.astype(int).tolist(),
        "lists of bool": marks.tolist(),
        "sparse": sparse.csr_array(marks.astype(int)),
        "columns": sparse.csc_matrix(marks),
        "triples": sparse.coo_array(marks.astype(float)),
        "frame": pd.DataFrame(marks.astype(int)),
    }
    found = {
        name: (
            topk_scores(given_scores, truth, k=(1, 3), metrics=METRICS, n_items=n_items).per_sample
        )
        for name, truth in forms.items()
    }
    for row in range(5):
        for cut, k in enumerate((1, 3)):
            expected = naive(
                sorted(range(n_items), key=lambda item: -scores[row, item]), ids[row], k, 3
            )
            for name, values in found.items():
                for metric in ("precision", "recall", "ndcg[idcg=min]", "map[over=n]"):
                    assert values[metric][row, cut] == pytest.approx(expected[metric], abs=1e-12), (
                        name,
                        metric,
                    )


def test_a_dense_matrix_of_0_and_1_is_not_a_list_of_the_items_0_and_1():
    # As ids every row would name the items 0 and 1 only; item 2 is what the first row marks.
    truth = np.array([[0, 0, 1], [0, 1, 0]])
    assert as_truth(truth, n_items=3).items.tolist() == [2, 1]
    assert as_truth(truth.tolist(), n_items=3).items.tolist() == [2, 1]
    assert topk_scores(SCORES, truth, k=3, metrics=("precision",)).value(
        "precision", 3
    ) == pytest.approx(1 / 3)


def test_rows_of_ids_stay_rows_of_ids():
    # Other numbers than 0 and 1, other lengths, or two places of more than two items: a person
    # means ids.
    for rows in ([[0, 2, 1], [1, 0, 2]], [[0, 1], [1]], [[0], [1]], [[0, 1], [1, 0]]):
        expected = [item for row in rows for item in row]
        assert as_truth(rows, n_items=4).items.tolist() == expected
        if len({len(row) for row in rows}) == 1:
            assert as_truth(np.array(rows), n_items=4).items.tolist() == expected


def test_two_columns_of_0_and_1_for_two_items_are_refused_where_they_could_be_either():
    scores = np.array([[0.3, 0.2], [0.1, 0.2]])
    assert "may be item ids or marks" in complaint(np.array([[0, 1], [1, 0]]), scores)
    assert "may be item ids or marks" in complaint([[1, 1], [0, 1]], scores)
    assert as_truth([[0, 1], [1, 0]], n_items=2).items.tolist() == [0, 1, 1, 0]
    assert as_truth(np.array([[False, True], [True, False]]), n_items=2).items.tolist() == [1, 0]


@pytest.mark.parametrize("grade", [2, 5, 0.5, -1, np.nan])
def test_grades_are_refused_with_what_to_do(grade):
    graded = np.array([[1.0, 0.0, 0.0], [0.0, grade, 1.0]])
    for truth in (sparse.csr_array(graded), graded, pd.DataFrame(graded)):
        assert "truth >= the lowest grade that counts as relevant" in complaint(truth)


def test_a_threshold_of_the_callers_own_makes_grades_a_truth():
    graded = sparse.csr_array(np.array([[5, 0, 1], [0, 2, 4]]))
    assert as_truth(graded >= 4, n_items=3).items.tolist() == [0, 2]


def test_explicit_zeros_are_not_relevant_and_the_callers_matrix_stays_as_it_was():
    truth = sparse.csr_array(
        (np.array([1, 0, 1]), np.array([2, 1, 0]), np.array([0, 2, 3])), shape=(2, 3)
    )
    assert as_truth(truth, n_items=3).items.tolist() == [2, 0]
    assert truth.nnz == 3
    assert truth.indices.tolist() == [2, 1, 0]


def test_a_matrix_needs_a_column_for_every_item():
    wide = np.eye(2, 5, dtype=int)
    for truth in (wide, wide.tolist(), sparse.csr_array(wide)):
        assert "5 columns, but there are 3 items" in complaint(truth)
    # Lists say nothing of how many items there are; the matrix does.
    assert topk_scores([[0], [1]], sparse.csr_array(wide), k=1).ranking.n_items == 5


def test_a_matrix_has_no_order_so_rmrr_is_not_made_up():
    truth = sparse.csr_array(np.array([[1, 0, 1], [0, 1, 0]]))
    assert "rmrr" not in topk_scores(SCORES, truth, k=1).means
    assert "rmrr looks at the order" in complaint(truth, metrics=["rmrr"])


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    which=st.sampled_from(["exclude", "sampled"]),
    as_lists=st.booleans(),
)
def test_relevant_items_that_no_list_can_hold_are_counted_and_still_count_as_relevant(
    naive, seed, which, as_lists
):
    rng = np.random.default_rng(seed)
    scores = rng.permutation(4 * 8).reshape(4, 8) / 3
    truth = [rng.permutation(8)[: rng.integers(1, 5)].tolist() for _ in range(4)]
    mask = rng.random((4, 8)) < 0.5
    allowed = ~mask if which == "exclude" else mask
    given_scores = np.argsort(-scores, axis=1) if as_lists else scores
    result = topk_scores(given_scores, truth, k=3, metrics=("recall", "f1"), **{which: mask})
    pairs = [(row, item) for row, relevant in enumerate(truth) for item in relevant]
    lost = [pair for pair in pairs if not allowed[pair]]
    said = [note for note in result.notes if "no list can hold them" in note]
    if lost:
        samples = len({row for row, _ in lost})
        assert said[0].startswith(
            f"{len(lost)} of {len(pairs)} relevant items, in {samples} sample(s), are not candid"
        )
    else:
        assert said == []
    for row, relevant in enumerate(truth):
        listed = [item for item in np.argsort(-scores[row]).tolist() if allowed[row, item]]
        expected = naive(listed, relevant, 3, 3)
        assert result.per_sample["recall"][row, 0] == pytest.approx(expected["recall"], abs=1e-12)
        assert result.per_sample["f1"][row, 0] == pytest.approx(expected["f1"], abs=1e-12)


def test_an_empty_last_row_that_is_one_too_many_is_pointed_at():
    assert "the last row of the truth is empty" in complaint([[0], [1], []])
    assert "the last row" not in complaint([[0], [1], [2]])
