"""The DIGEN sets: formulas by their hashes, datasets as published, and the sort that decided their ties."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from paragone.data import load
from paragone.data.loading import expand
from paragone.errors import InputError
from paragone.generate.sets import (
    cut_in_half,
    digen_entries,
    find_digen,
    hash_features,
    hash_labels,
    legacy_argsort,
    make_digen,
)

GIVEN = (1, 5, 8, 10, 13, 15, 20, 29, 32, 36, 39, 40)


@pytest.mark.known_answer
def test_formulas_seeds_hashes_and_scores_are_the_published_ones(data_folder):
    published = pd.read_csv(data_folder / "digen" / "stats.csv").set_index("dataset")
    assert sorted(published.index) == sorted(entry.name for entry in digen_entries())
    for entry in digen_entries():
        row = published.loc[entry.name]
        assert (entry.formula, entry.md5, entry.seed) == (
            row["indiv"],
            row["hash"],
            row["data_seed"],
        )
        assert str(entry.expression()) == row["indiv"]
        assert all(abs(entry.auroc[method] - row[method]) < 1e-9 for method in entry.auroc)


@pytest.mark.known_answer
@pytest.mark.parametrize("number", GIVEN)
def test_a_published_dataset_is_made_again_exactly(data_folder, number):
    entry = find_digen(str(number))
    made = make_digen(entry)
    table = pd.read_csv(
        data_folder / "digen" / "datasets" / f"{entry.name}.tsv", sep="\t", compression="gzip"
    )
    np.testing.assert_array_equal(made.y, table["target"])
    np.testing.assert_allclose(made.X, table.drop(columns="target"), rtol=0, atol=1e-15)
    # The shipped hashes are those of the published files, not only of what is made here.
    assert hash_features(table.drop(columns="target").to_numpy()) == entry.x_hash
    assert hash_labels(table["target"].to_numpy()) == entry.y_hash


def test_all_40_sets_pass_their_hashes_and_are_balanced():
    for entry in digen_entries():
        dataset = make_digen(entry)
        assert dataset.X.shape == (1000, 10)
        assert dataset.y.sum() == 500


def test_making_a_set_leaves_the_global_generator_alone():
    np.random.seed(3)  # noqa: NPY002
    expected = np.random.random(2)  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    make_digen(find_digen("8"))
    np.testing.assert_array_equal(np.random.random(2), expected)  # noqa: NPY002


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"formula": "safeDiv(X0, mul(X5, X3))"}, "the formula was altered: its md5 is"),
        ({"seed": 4427}, "the features made here have the hash"),
        ({"y_hash": "0" * 16}, "the labels made here have the hash"),
    ],
)
def test_an_altered_entry_is_refused_with_the_hash_that_fails(change, said):
    with pytest.raises(InputError, match=said):
        make_digen(replace(find_digen("digen8"), **change))


def test_a_set_loads_by_number_or_name_and_all_stands_for_forty():
    assert (
        load("digen:8").name
        == load("digen:digen8").name
        == load("digen:digen8_4426").name
        == "digen8_4426"
    )
    assert load("digen:8", name="mine").name == "mine"
    assert expand("digen:all") == tuple(f"digen:{number}" for number in range(1, 41))
    with pytest.raises(InputError, match="unknown DIGEN set '41'"):
        load("digen:41")
    with pytest.raises(InputError, match="stands for 40 datasets"):
        load("digen:all")
    with pytest.raises(InputError, match="takes no options"):
        load("digen:8", task="classification")


values = st.one_of(
    st.lists(st.integers(0, 3).map(float), max_size=200),
    st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=200),
)


@given(values)
def test_the_old_sort_sorts_with_nan_last(items):
    array = np.array(items, dtype=np.float64)
    order = legacy_argsort(array)
    assert sorted(order.tolist()) == list(range(len(items)))
    np.testing.assert_array_equal(array[order], np.sort(array))


def test_up_to_seventeen_rows_the_old_sort_keeps_the_order_of_ties():
    assert legacy_argsort(np.zeros(17)).tolist() == list(range(17))
    assert legacy_argsort(np.zeros(18)).tolist() != list(range(18))


@given(st.lists(st.integers(0, 4).map(float), min_size=2, max_size=120))
def test_noise_and_ceiling_are_what_counting_gives(items):
    array = np.array(items)
    cut = cut_in_half(array)
    assert cut.labels.sum() == len(items) - len(items) // 2
    majority = {v: round(float(np.mean(cut.labels[array == v])) + 1e-9) for v in set(items)}
    assert cut.noise == pytest.approx(
        np.mean([majority[v] != y for v, y in zip(items, cut.labels, strict=True)])
    )
    assert cut.ceiling == pytest.approx(roc_auc_score(cut.labels, array))


def test_one_row_has_no_half():
    with pytest.raises(InputError, match="at least two rows"):
        cut_in_half(np.array([1.0]))
