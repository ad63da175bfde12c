"""The protocol's files one by one: rankings, times and documents, good and bad."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import InputError
from paragone.protocols import PGrid
from paragone.protocols.curve.files import (
    RANKING,
    FilePlace,
    find_rankings,
    kgrid_document,
    pgrid_document,
    read_ranking,
    read_seconds,
    write_document,
    write_ranking,
    write_seconds,
)


def file(folder, text):
    path = folder / "Arts_fold0_ranking.csv"
    path.write_text(text)
    return path


@given(st.permutations(range(12)))
def test_a_ranking_comes_back(tmp_path_factory, ranking):
    path = tmp_path_factory.mktemp("ranking") / "a.csv"
    write_ranking(path, np.array(ranking))
    assert read_ranking(path, 12).tolist() == list(ranking)


def test_a_ranking_is_written_from_one_and_one_a_line(tmp_path):
    write_ranking(tmp_path / "a.csv", np.array([2, 0, 1]))
    assert (tmp_path / "a.csv").read_bytes() == b"3\n1\n2\n"


@pytest.mark.parametrize(
    "text",
    [
        "3\n1\n2\n",
        "3\n1\n2",
        "3,1,2",
        "3, 1, 2\n",
        "3\r\n1\r\n2\r\n",
        "3.0\n1.0\n2.0",
        "3.00e+00 1e0 2",
        "\ufeff3\n1\n2",
        "3,\n1,\n2,\n",
    ],
)
def test_every_common_way_to_write_a_ranking_is_read(tmp_path, text):
    assert read_ranking(file(tmp_path, text), 3).tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "1\n2\n4\n",
            "no permutation of 1..4: index 3 is missing (it holds 3 numbers, there are 4 features)",
        ),
        ("1\n2\n2\n4\n", "index 3 is missing and index 2 is there more than once"),
        ("1\n2\n3\n4\n1\n", "no permutation of 1..4: index 1 is there more than once"),
        ("0\n1\n2\n3\n", "index 0 is out of range 1..4; rankings in files are counted from 1"),
        ("1\n2\n3\n5\n", "index 5 is out of range 1..4"),
        (
            "1\n2\n3\n4\n5\n",
            "index 5 is out of range 1..4 (it holds 5 numbers, there are 4 features)",
        ),
        ("-1\n2\n3\n4\n", "index -1 is out of range"),
        ("1\n", "indices 2, 3, 4 are missing"),
        ("feature\n1\n2\n", "'feature' is no whole number"),
        ("1.5\n2\n3\n4", "'1.5' is no whole number"),
        ("nan\n2\n3\n4", "'nan' is no whole number"),
        ("1e400\n2\n3\n4", "'1e400' is no whole number"),
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
    ],
)
def test_a_ranking_that_is_no_permutation_says_which_index(tmp_path, text, sentence):
    with pytest.raises(InputError) as refusal:
        read_ranking(file(tmp_path, text), 4)
    assert sentence in str(refusal.value)
    assert "Arts_fold0_ranking.csv" in str(refusal.value)


def test_a_long_list_of_missing_indices_is_counted(tmp_path):
    with pytest.raises(InputError, match="indices 2, 3, 4 and 95 more are missing"):
        read_ranking(file(tmp_path, "1"), 99)


@given(st.floats(0, allow_nan=False, allow_infinity=False))
def test_seconds_come_back_to_the_last_bit(tmp_path_factory, seconds):
    path = tmp_path_factory.mktemp("time") / "a.txt"
    write_seconds(path, seconds)
    assert read_seconds(path) == seconds


@pytest.mark.parametrize("text", ["soon", "", "-1", "nan", "inf", "1 2"])
def test_what_is_no_time_is_refused(tmp_path, text):
    (tmp_path / "a_fold0_time.txt").write_text(text)
    with pytest.raises(InputError, match="no number of seconds"):
        read_seconds(tmp_path / "a_fold0_time.txt")


def test_a_p_document_has_every_key_of_the_protocol():
    grid = PGrid()
    points = grid.points(1186)
    curve = np.linspace(0.1, 0.5, 10).tolist()
    document = pgrid_document(points.at, {"micro_f1": curve, "one_error": curve[::-1]}, grid, 1186)
    assert list(document)[:3] == ["p_values", "k_values", "p_target"]
    assert document["p_values"] == [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5]
    assert document["k_values"][4] == 296
    assert document["p_target"] == 0.2
    assert document["micro_f1"] == curve
    assert document["micro_f1_at_p_target"] == curve[3]
    assert document["one_error_at_p_target"] == curve[6]
    assert document["micro_f1_mean"] == pytest.approx(math.fsum(curve) / 10, abs=1e-15)


def test_an_undefined_value_is_null_and_so_is_a_mean_over_it(tmp_path):
    grid = PGrid(0.1, 0.2, 0.1)
    document = pgrid_document([0.1, 0.2], {"micro_f1": [math.nan, 0.5]}, grid, 20)
    write_document(tmp_path / "a.json", document)
    read = json.loads((tmp_path / "a.json").read_text())
    assert read["micro_f1"] == [None, 0.5]
    assert read["micro_f1_at_p_target"] == 0.5
    assert read["micro_f1_mean"] is None
    assert kgrid_document([5.0], {"micro_f1": [math.nan]}) == {"k_values": [5], "micro_f1": [None]}


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(NAMES, NAMES, st.integers(0, 20))
def test_a_place_is_found_again_whatever_the_names(tmp_path_factory, method, dataset, fold):
    run = tmp_path_factory.mktemp("run")
    place = FilePlace(method, dataset, fold)
    path = place.file(run, RANKING)
    assert path.parent.parent == run
    path.parent.mkdir()
    path.write_text("1")
    assert find_rankings(run) == ({place: path}, 0)


def test_a_dataset_called_like_a_fold_is_not_mistaken(tmp_path):
    (tmp_path / "A").mkdir()
    (tmp_path / "A" / "x_fold1_fold0_ranking.csv").write_text("1")
    assert list(find_rankings(tmp_path)[0]) == [FilePlace("A", "x_fold1", 0)]


def test_two_folders_of_one_method_are_refused(tmp_path):
    for name in ("A B", "A%20B"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x_fold0_ranking.csv").write_text("1")
    with pytest.raises(InputError, match="both are the ranking of A B on x, fold 0"):
        find_rankings(tmp_path)


def test_a_link_that_leads_out_of_the_run_is_refused(tmp_path):
    run = tmp_path / "run" / "A"
    run.mkdir(parents=True)
    (tmp_path / "secret.csv").write_text("1")
    (run / "x_fold0_ranking.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(InputError, match="leads out of"):
        find_rankings(tmp_path / "run")


def test_a_run_without_rankings_is_refused(tmp_path):
    with pytest.raises(InputError, match="no folder at"):
        find_rankings(tmp_path / "nowhere")
    (tmp_path / "A").mkdir()
    (tmp_path / "A" / "x_fold0_time.txt").write_text("1")
    with pytest.raises(InputError, match="no ranking files"):
        find_rankings(tmp_path)
