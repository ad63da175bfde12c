"""Prescriptions as datasets: order kept, sizes shared, validation rows marked, mistakes explained."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from paragone.data import (
    Dataset,
    describe,
    load,
    make_splits,
    prescription_dataset,
    prescriptions_of,
    save_npz,
)
from paragone.data.prescriptions import Prescriptions, read_prescriptions
from paragone.data.splits import SplitPlan
from paragone.errors import InputError

ROWS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 6), min_size=1, max_size=4),
        st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True),
    ),
    min_size=1,
    max_size=12,
)


def write(folder, train="0 1\t2 0\n1\t1\n", test="0\t3 1\n", validation=None, **files):
    folder.mkdir(exist_ok=True)
    (folder / "train.txt").write_text(train)
    (folder / "test.txt").write_text(test)
    if validation is not None:
        (folder / "valid_row_indices.txt").write_text(validation)
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


@settings(deadline=None)
@given(ROWS)
def test_rows_come_back_with_their_items_in_order(rows):
    given_rows = Prescriptions.from_rows(rows, n_tokens=7, n_items=10)
    data = prescription_dataset("x", given_rows)
    back = prescriptions_of(data.X, data.y)
    assert back.fingerprint == given_rows.fingerprint


@settings(deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_some_rows_of_the_dataset_are_the_rows_taken(rows, random):
    given_rows = Prescriptions.from_rows(rows, n_tokens=7, n_items=10)
    data = prescription_dataset("x", given_rows)
    chosen = np.array(sorted(random.sample(range(len(rows)), random.randint(1, len(rows)))))
    assert (
        prescriptions_of(data.X[chosen], data.y[chosen]).fingerprint
        == given_rows.take(chosen).fingerprint
    )


def test_a_folder_is_read_with_its_parts_names_and_sizes(tmp_path):
    folder = write(
        tmp_path / "herbs",
        validation="1\n",
        sym_mapping="cold 0\nfever 1\n",
        herb_mapping="ginger 4\n",
    )
    data = load(folder)
    assert (data.name, data.task, data.n_features, data.n_targets) == ("herbs", "topk", 2, 5)
    assert data.feature_names == ("cold", "fever")
    assert data.target_names == ("item 0", "item 1", "item 2", "item 3", "ginger")
    assert data.train_part.tolist() == [True, True, False]
    assert data.validation_part.tolist() == [False, True, False]
    assert describe(data).n_test_part == 1


def test_the_order_of_items_and_the_validation_rows_are_part_of_the_fingerprint(tmp_path):
    plain = load(write(tmp_path / "a"))
    turned = load(write(tmp_path / "b", train="0 1\t0 2\n1\t1\n"))
    marked = load(write(tmp_path / "c", validation="0\n"))
    wider = load(write(tmp_path / "d", herb_mapping="last 8\n"))
    assert len({data.fingerprint for data in (plain, turned, marked, wider)}) == 4


def test_a_repeated_item_counts_once_and_is_told():
    data = prescription_dataset("x", Prescriptions.from_rows([([0], [3, 1, 3, 2])]))
    assert prescriptions_of(data.X, data.y).items.tolist() == [3, 1, 2]
    assert "1 repeated item(s)" in data.notes[0]


def test_making_a_matrix_of_rows_with_repeats_leaves_them_alone():
    rows = Prescriptions.from_rows([([0], [2, 0, 2]), ([0], [1])])
    before = rows.fingerprint
    rows.multi_hot()
    assert rows.items.tolist() == [2, 0, 2, 1]
    assert rows.indptr.tolist() == [0, 3, 4]
    assert rows.fingerprint == before


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"train": "0 1 2\n"}, "train.txt, line 1: expected 'tokens<TAB>items'"),
        ({"test": "0\t1\n0\tx\n"}, "test.txt, line 2: 'x' is not an id"),
        ({"validation": "7\n"}, "id 7 is out of range"),
        ({"herb_mapping": "ginger\n"}, "herb_mapping.txt, line 1: 'ginger' is not an id"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, files, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        load(write(tmp_path / "x", **files))


def test_options_of_tables_are_refused(tmp_path):
    with pytest.raises(InputError, match="take no options but name="):
        load(write(tmp_path / "x"), target="y")
    assert load(write(tmp_path / "x"), name="other").name == "other"


@pytest.mark.parametrize(
    "y", [np.ones((2, 3)), sparse.csr_array([[1, 1], [0, 1]]), sparse.csr_array([[0, 2], [1, 0]])]
)
def test_a_target_that_does_not_number_its_items_is_refused(y):
    with pytest.raises(InputError, match="topk target"):
        Dataset("x", np.eye(2), y, "topk")


def test_validation_rows_outside_train_are_refused():
    rows = Prescriptions.from_rows([([0], [0]), ([1], [1])])
    with pytest.raises(InputError, match="validation row 2 is not a row of train"):
        prescription_dataset("x", rows, validation=[2])


def test_other_ways_to_split_and_to_save():
    data = prescription_dataset("x", Prescriptions.from_rows([([0], [i % 3]) for i in range(10)]))
    assert [len(split.test) for split in make_splits(data, SplitPlan(folds=5), 0)] == [2] * 5
    with pytest.raises(InputError, match="keep its text files"):
        save_npz(data, "never-written.npz")


@pytest.mark.known_answer
def test_the_herb_folder_is_its_files(data_folder):
    data = load(data_folder / "herb")
    assert (data.n_samples, data.n_features, data.n_targets) == (26360, 360, 753)
    assert int(data.validation_part.sum()) == 1162
    test = read_prescriptions(data_folder / "herb" / "test.txt", n_tokens=360, n_items=753)
    assert (
        prescriptions_of(data.X[~data.train_part], data.y[~data.train_part]).fingerprint
        == test.fingerprint
    )
