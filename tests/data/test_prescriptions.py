"""Prescription files: what they hold, and the line number of what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.data.prescriptions import (
    Prescriptions,
    cooccurring_pairs,
    read_mapping,
    read_pairs,
    read_prescriptions,
    read_row_numbers,
)
from paragone.errors import InputError


@pytest.mark.known_answer
def test_the_herb_files_have_their_known_sizes(data_folder):
    herb = data_folder / "herb"
    train = read_prescriptions(herb / "train.txt")
    assert (train.n_rows, train.n_tokens, train.n_items) == (22917, 360, 753)
    test = read_prescriptions(herb / "test.txt", n_tokens=360, n_items=753)
    assert test.n_rows == 3443
    assert test.items[:7].tolist() == [15, 100, 80, 38, 102, 37, 45]
    assert len(read_row_numbers(herb / "valid_row_indices.txt", n_rows=train.n_rows)) == 1162
    assert len(read_mapping(herb / "herb_mapping.txt")) == 753
    assert read_mapping(herb / "herb_mapping.txt")[191] == "三棱"


@pytest.mark.known_answer
def test_the_pair_files_are_the_pairs_made_from_train(data_folder):
    herb = data_folder / "herb"
    train = read_prescriptions(herb / "train.txt")
    np.testing.assert_array_equal(
        cooccurring_pairs(train.queries, 5), read_pairs(herb / "symPair-5.txt")
    )
    np.testing.assert_array_equal(
        cooccurring_pairs(train.multi_hot(), 40), read_pairs(herb / "herbPair-40.txt")
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 1\t2\n3 4 5\n", "line 2: expected 'tokens<TAB>items'"),
        ("0\t1\t2\n", "line 1"),
        ("0\t1\n0\t\n", "line 2: no items"),
        ("\t1\n", "line 1: no tokens"),
        ("0\tx\n", "line 1: 'x' is not an id"),
        ("0\t-1\n", "line 1: '-1' is not an id"),
        ("0\t1.5\n", "line 1: '1.5' is not an id"),
        ("0\t1\n\n0\t1\n", "line 2"),
        ("", "is empty"),
    ],
)
def test_a_malformed_line_is_named_by_its_number(tmp_path, text, words):
    path = tmp_path / "rows.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_prescriptions(path)


def test_an_id_beyond_the_declared_size_is_named(tmp_path):
    path = tmp_path / "rows.txt"
    path.write_text("0\t1\n7\t1\n")
    with pytest.raises(InputError, match="line 2: id 7 is out of range"):
        read_prescriptions(path, n_tokens=7)


def test_missing_and_binary_files_are_explained(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_prescriptions(tmp_path / "none.txt")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_prescriptions(tmp_path / "binary.txt")
    with pytest.raises(InputError, match="cannot be read"):
        read_prescriptions(tmp_path)


def test_line_endings_do_not_matter(tmp_path):
    for name, text in (
        ("unix", "0 1\t2\n1\t0\n"),
        ("windows", "0 1\t2\r\n1\t0\r\n"),
        ("open", "0 1\t2\n1\t0"),
    ):
        (tmp_path / name).write_bytes(text.encode())
    prints = {
        read_prescriptions(tmp_path / name).fingerprint for name in ("unix", "windows", "open")
    }
    assert len(prints) == 1


@pytest.mark.parametrize(
    ("reader", "text", "words"),
    [
        (read_mapping, "a 1\nb 1\n", "line 2: id 1 was given"),
        (read_mapping, "a\n", "line 1"),
        (read_pairs, "1 2\n3 3\n", "line 2: expected two different ids"),
        (read_pairs, "1 2 3\n", "line 1"),
        (lambda path: read_row_numbers(path, n_rows=3), "1\n3\n", "line 2: id 3 is out of range"),
        (lambda path: read_row_numbers(path, n_rows=3), "1\n1\n", "twice"),
        (lambda path: read_row_numbers(path, n_rows=3), "1 2\n", "one row number"),
    ],
)
def test_the_other_files_name_their_lines_too(tmp_path, reader, text, words):
    path = tmp_path / "file.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        reader(path)


def test_taking_rows_keeps_the_order_of_the_items():
    rows = Prescriptions.from_rows([([0], [3, 1]), ([1], [2]), ([0, 1], [0, 2, 1])])
    taken = rows.take([2, 0])
    assert taken.items.tolist() == [0, 2, 1, 3, 1]
    assert taken.indptr.tolist() == [0, 3, 5]
    assert rows.without([1]).items.tolist() == [3, 1, 0, 2, 1]
    np.testing.assert_array_equal(taken.queries.toarray(), [[1, 1], [1, 0]])


def test_equal_queries_have_one_number_whatever_their_order():
    rows = Prescriptions.from_rows([([0, 1], [0]), ([1, 0], [1]), ([1], [0])])
    codes = rows.query_codes
    assert codes[0] == codes[1] != codes[2]


def test_a_repeated_token_counts_once_and_is_said():
    rows = Prescriptions.from_rows([([0, 0, 1], [0])])
    assert rows.queries.toarray().tolist() == [[1.0, 1.0]]
    assert "1 repeated token" in rows.notes[0]


def test_the_fingerprint_sees_the_order_of_the_items():
    first, second = (Prescriptions.from_rows([([0], items)]) for items in ([0, 1], [1, 0]))
    assert first.fingerprint != second.fingerprint


def test_pairs_are_those_of_a_plain_count():
    rng = np.random.default_rng(0)
    rows = Prescriptions.from_rows([(rng.permutation(9)[:4].tolist(), [0]) for _ in range(40)])
    dense = rows.queries.toarray()
    expected = [
        [a, b] for a in range(9) for b in range(a + 1, 9) if (dense[:, a] * dense[:, b]).sum() >= 6
    ]
    assert cooccurring_pairs(rows.queries, 6).tolist() == expected
    with pytest.raises(InputError, match="at least once"):
        cooccurring_pairs(rows.queries, 0)


def test_negative_ids_and_ids_beyond_the_size_are_refused():
    with pytest.raises(InputError, match="negative"):
        Prescriptions.from_rows([([-1], [0])])
    with pytest.raises(InputError, match="out of range"):
        Prescriptions.from_rows([([0], [5])], n_items=5)
