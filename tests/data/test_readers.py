"""Readers: every one of ours keeps the contract, and anybody's works from one file, named or installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

from paragone import Experiment
from paragone.data import Dataset, ReadOptions, SplitPlan, export_folds, load, save_npz
from paragone.data.reader import readers
from paragone.errors import InputError
from paragone.generate.sets import collection_names
from paragone.lab.declaration import parse_declaration
from paragone.lab.named_code import code_named_by
from paragone.testing import check_reader


def arff(folder: Path) -> Path:
    path = folder / "tiny.arff"
    path.write_text(
        "@relation 't: -C 1'\n@attribute l {0,1}\n@attribute x real\n@data\n1,2\n0,3\n1,5\n"
    )
    return path


def table(folder: Path) -> Path:
    path = folder / "houses.csv"
    path.write_text("size,price\n1,5\n2,6\n3,7\n")
    return path


def mat(folder: Path) -> Path:
    savemat(folder / "tiny.mat", {"X": np.arange(12.0).reshape(4, 3), "Y": np.eye(4, 2)})
    return folder / "tiny.mat"


def npz(folder: Path) -> Path:
    return save_npz(load("iris"), folder / "flowers.npz")


def folds(folder: Path) -> Path:
    return export_folds(load("wine-traits"), folder, SplitPlan(folds=2), seed=1) / "fold0.mat"


def prescriptions(folder: Path) -> Path:
    for name in ("train.txt", "test.txt"):
        (folder / name).write_text("0 1\t2 0\n1\t1\n0\t2\n")
    return folder / "train.txt"


FILES: dict[str, tuple[Callable[[Path], Path], dict[str, Any]]] = {
    "arff": (arff, {}),
    "folds": (folds, {}),
    "mat": (mat, {}),
    "npz": (npz, {}),
    "prescriptions": (prescriptions, {}),
    "table": (table, {"target": "price", "task": "regression"}),
}
MADE = ("collection", "digen", "openml", *collection_names())


def test_every_reader_is_tried_here() -> None:
    assert set(readers.names()) == {*FILES, *MADE}
    assert {reader.name for reader in readers if not reader.is_of_paths} == set(MADE)


@pytest.mark.parametrize("name", FILES)
def test_every_reader_of_files_keeps_the_contract(name: str, tmp_path: Path) -> None:
    make, options = FILES[name]
    of_folders = name in ("folds", "prescriptions")

    def read(path: Path) -> Dataset:
        return readers.get(name).dataset(
            path.parent if of_folders else path, Path(), ReadOptions(**options)
        )

    file = make(tmp_path)
    check_reader(read, file, name=name)
    assert (
        load(file.parent if of_folders else file, **options).fingerprint == read(file).fingerprint
    )


def test_a_name_before_the_path_says_the_reader(tmp_path: Path) -> None:
    renamed = table(tmp_path).rename(tmp_path / "houses.dat")
    with pytest.raises(InputError, match="files of this kind are not read"):
        load(renamed)
    options = {"target": "price", "task": "regression"}
    assert load("table:houses.dat", base=tmp_path, **options).n_samples == 3
    assert load(renamed, reader="table", **options).n_samples == 3
    with pytest.raises(InputError, match="unknown reader 'tabel': did you mean 'table'"):
        load(renamed, reader="tabel")
    with pytest.raises(InputError, match="No such file"):
        load("table:gone.dat", base=tmp_path)


def test_a_folder_with_one_arff_file_may_have_any_xml(tmp_path: Path) -> None:
    arff(tmp_path)
    (tmp_path / "names.xml").write_text('<labels><label name="x"/></labels>')
    with pytest.raises(
        InputError, match=r"it holds 2\.0"
    ):  # the XML counts, and names x as a label
        load(tmp_path)
    (tmp_path / "more.xml").write_text('<labels><label name="l"/></labels>')
    with pytest.raises(InputError, match="several XML files"):
        load(tmp_path)
    assert load(tmp_path / "tiny.arff").target_names == ("l",)
    (tmp_path / "names.xml").unlink()
    assert load(tmp_path).target_names == ("l",)


DOTS = dedent('''
    """Files of an invented format: a line per sample, a dot per feature, a letter for the class."""

    import numpy as np

    from paragone.data import Dataset, Reader


    def read(path):
        lines = path.read_text().split()
        return Dataset(path.stem, [[len(w) for w in line[:-1].split("|")] for line in lines],
                       [line[-1] for line in lines], "classification")


    def with_options(path, options):
        return Dataset(options.name or "unnamed", np.eye(4), [0, 1, 0, 1], options.task)


    def wrong(path):
        return [1, 2]


    dots = Reader("dots", lambda path, options: read(path), suffixes=(".dots",))
    ''')


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "dots_format.py").write_text(DOTS)
    (tmp_path / "a.dots").write_text("\n".join([".|..|...a", "..|.|.b"] * 6))
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_reader_of_a_user_is_named_by_its_module(theirs: Path) -> None:
    for use in ("dots_format:read", "dots_format:dots"):
        dataset = load(theirs / "a.dots", reader=use)
        assert (dataset.n_samples, dataset.n_features, dataset.name) == (12, 3, "a")
        assert load(theirs / "a.dots", reader=use, name="mine").name == "mine"
    given = load(
        theirs / "a.dots", reader="dots_format:with_options", task="classification", name="named"
    )
    assert (given.name, given.task) == ("named", "classification")
    with pytest.raises(InputError, match="takes no options but name="):
        load(theirs / "a.dots", reader="dots_format:read", task="regression")
    with pytest.raises(InputError, match=r"returned list for .*, not a Dataset"):
        load(theirs / "a.dots", reader="dots_format:wrong")
    with pytest.raises(InputError, match="a function of a path, or a Reader"):
        load(theirs / "a.dots", reader="paragone.data:Dataset")


def test_a_reader_of_a_user_works_from_an_experiment_file_and_is_named_as_code(
    theirs: Path,
) -> None:
    text = (
        'name = "e"\n[data]\nsets = [{ path = "a.dots", reader = "dots_format:read", name = "dots"'
        ' }]\n[methods.V]\nuse = "sklearn.dummy:DummyClassifier"\n[protocol]\nkind = "crossval"\n'
    )
    (theirs / "e.toml").write_text(text)
    assert [dataset.name for dataset in Experiment.from_toml(theirs / "e.toml")._data] == ["dots"]
    assert "dots_format:read" in [
        found.use for found in code_named_by(parse_declaration(text), theirs)
    ]


def test_an_installed_reader_recognises_its_files(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "dots" not in readers
    monkeypatch.setattr(readers, "_installed", {"dots": "dots_format:dots"})
    monkeypatch.setattr(readers, "_known", dict(readers._known))
    assert load(theirs / "a.dots").n_samples == 12
    assert load("dots:a.dots", base=theirs).n_samples == 12
    (theirs / "alone").mkdir()
    check_reader(load, (theirs / "a.dots").rename(theirs / "alone" / "a.dots"), name="dots")
