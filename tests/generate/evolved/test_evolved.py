"""Collections that come with the package: every dataset from formula and seed, checked by hash, loaded by name."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from paragone import Experiment
from paragone.data import load
from paragone.data.loading import expand
from paragone.errors import InputError
from paragone.generate.sets import collection_names, evolved_entries, find_entry, make_evolved

ALL = [(name, entry) for name in collection_names() for entry in evolved_entries(name)]


def test_the_first_collection_is_there():
    assert "paragone-v1" in collection_names()


@pytest.mark.parametrize(("collection", "entry"), ALL, ids=[entry.name for _, entry in ALL])
def test_every_dataset_is_made_from_its_formula_with_its_hashes(collection, entry):
    dataset = make_evolved(entry)
    assert dataset.name == entry.name
    assert dataset.X.shape == (entry.n_rows, entry.n_features)
    assert 0.3 < dataset.y.mean() < 0.7
    assert load(f"{collection}:{entry.name}").fingerprint == dataset.fingerprint


def test_a_dataset_is_known_by_number_and_by_name():
    entries = evolved_entries("paragone-v1")
    assert find_entry(entries, "1", "here") is find_entry(entries, "paragone-v1-1", "here")
    assert load("paragone-v1:1", name="mine").name == "mine"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"formula": "add(X0, X1)"}, "the formula was altered: its md5 is"),
        ({"seed": 99}, "the features made here have the hash"),
        ({"cut": 1e6}, "the labels made here have the hash"),
    ],
)
def test_an_altered_entry_is_refused_with_the_hash(change, said):
    with pytest.raises(InputError, match=said):
        make_evolved(replace(evolved_entries("paragone-v1")[0], **change))


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("paragone-v1:all", "stands for"),
        ("paragone-v1:9999", "unknown dataset in paragone-v1 '9999'"),
        ("paragone-v0:1", "unknown dataset"),
    ],
)
def test_a_wrong_reference_is_refused_in_a_sentence(reference, said):
    with pytest.raises(InputError, match=said):
        load(reference)


def test_options_of_files_are_refused():
    with pytest.raises(InputError, match="takes no options but name="):
        load("paragone-v1:1", drop="X0")


def test_all_stands_for_every_dataset_in_an_experiment(tmp_path):
    n_sets = len(evolved_entries("paragone-v1"))
    assert len(expand("paragone-v1:all")) == len(set(expand("paragone-v1:all"))) == n_sets
    assert expand("digen:3") == ("digen:3",)
    file = tmp_path / "e.toml"
    file.write_text(
        'name = "e"\n[data]\nsets = ["paragone-v1:all"]\n[methods.V]\nuse = "variance"\n'
    )
    assert len({dataset.fingerprint for dataset in Experiment.from_toml(file)._data}) == n_sets


def test_seeds_draw_standard_normal_rows():
    X = np.asarray(make_evolved(evolved_entries("paragone-v1")[0]).X)
    assert abs(X.mean()) < 0.05
    assert abs(X.std() - 1) < 0.05


@pytest.fixture
def own(tmp_path):
    """A collection of one's own, as a duel or a search leaves it: two datasets of the shipped one under other names."""
    folder = tmp_path / "mine"
    folder.mkdir()
    sets = [
        {**asdict(entry), "name": f"mine-{place}"}
        for place, entry in enumerate(evolved_entries("paragone-v1")[4:6], 1)
    ]
    (folder / "collection.json").write_text(json.dumps({"format": 1, "name": "mine", "sets": sets}))
    return folder


def test_a_collection_of_ones_own_is_loaded_by_path_and_number_or_name(own, monkeypatch):
    monkeypatch.chdir(own.parent)
    shipped = load("paragone-v1:5")
    for reference in ("mine/collection.json:1", "mine:1", "mine:mine-1", f"{own}:1"):
        found = load(reference)
        assert found.name == "mine-1"
        np.testing.assert_array_equal(found.X, shipped.X)
        np.testing.assert_array_equal(found.y, shipped.y)
    assert load("mine:2", name="other").name == "other"
    with pytest.raises(
        InputError, match=r"unknown dataset in .*collection\.json 'mine-3': did you mean 'mine-"
    ):
        load("mine:mine-3")
    (own / "collection.json").write_text('{"sets": [{"name": "x"}]}')
    with pytest.raises(InputError, match="is not a collection file"):
        load("mine:1")


def test_a_collection_of_ones_own_goes_into_an_experiment_file_by_its_path(own):
    text = 'name = "d"\n[data]\nsets = ["{sets}"]\n[methods.V]\nuse = "variance"\n'
    for sets, numbers in (("mine:2", [6]), ("mine/collection.json:all", [5, 6])):
        (own.parent / "d.toml").write_text(text.format(sets=sets))
        found = Experiment.from_toml(own.parent / "d.toml")._data
        expected = [load(f"paragone-v1:{number}") for number in numbers]
        assert [
            np.array_equal(one.X, other.X) for one, other in zip(found, expected, strict=True)
        ] == [True] * len(numbers)
