"""The one entry: names before files, relative paths, options, errors that name what is near."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from paragone.data import Dataset, ReadOptions, bundled_names, load, save_npz
from paragone.data.loading import GivenOptions
from paragone.errors import InputError


def test_relative_paths_are_relative_to_the_base(tmp_path: Path) -> None:
    save_npz(load("iris"), tmp_path / "flowers.npz")
    assert load("flowers.npz", base=tmp_path).name == "flowers"


def test_a_bundled_name_wins_and_a_dot_asks_for_the_folder(tmp_path: Path) -> None:
    (tmp_path / "iris").mkdir()
    save_npz(load("wine"), tmp_path / "iris" / "w.npz")
    assert load("iris", base=tmp_path).n_features == 4
    assert load("./iris", base=tmp_path).n_features == 13


def test_a_folder_with_one_file_has_the_name_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "flowers"
    folder.mkdir()
    save_npz(load("iris"), folder / "x.npz")
    assert load(folder).name == "flowers"
    assert load(folder, name="mine").name == "mine"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("digits-trait", "did you mean 'digits-traits'"),
        ("nowhere/data.csv", "no file or folder at"),
        ("data.arff", "no file or folder at"),
    ],
)
def test_what_is_not_there_is_named(tmp_path: Path, reference: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(reference, base=tmp_path)


def test_folders_without_one_clear_dataset_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no data file"):
        load(tmp_path)
    for name in ("a.npz", "b.npz"):
        save_npz(load("iris"), tmp_path / name)
    with pytest.raises(InputError, match=r"several data files: a\.npz, b\.npz"):
        load(tmp_path)


def test_unknown_endings_and_options_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.docx").write_text("")
    with pytest.raises(InputError, match="files of this kind are not read"):
        load(tmp_path / "t.docx")
    with pytest.raises(InputError, match="takes no options"):
        load("iris", target="x")
    with pytest.raises(InputError, match="not both"):
        load("iris", options=ReadOptions(), name="x")
    for wrong in ({"target": 3}, {"drop": [1]}, {"labels": 2.5}):
        with pytest.raises(InputError, match="by their names"):
            ReadOptions(**wrong)
    with pytest.raises(InputError, match="other than 0"):
        ReadOptions(labels=0)
    with pytest.raises(InputError, match="did you mean 'onehot'"):
        ReadOptions(nominal="one-hot")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="did you mean 'regression'"):
        ReadOptions(task="regresion")  # type: ignore[arg-type]


def test_every_bundled_set_loads_under_its_name_and_twice_the_same() -> None:
    for name in bundled_names():
        dataset = load(name)
        assert isinstance(dataset, Dataset)
        assert dataset.name == name
        assert load(name).fingerprint == dataset.fingerprint


def test_load_names_every_option_of_the_readers_with_a_type() -> None:
    assert set(GivenOptions.__annotations__) == {
        field.name for field in dataclasses.fields(ReadOptions)
    }
