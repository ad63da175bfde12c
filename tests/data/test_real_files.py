"""Real files: shapes as published, and every value against a second, simple-minded parser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import loadmat

from paragone.data import SplitPlan, describe, load, make_splits

pytestmark = pytest.mark.known_answer

MULAN = {
    "emotions": (391, 202, 72, 6),
    "scene": (1211, 1196, 294, 6),
    "yeast": (1500, 917, 103, 14),
    "enron": (1123, 579, 1001, 53),
    "medical": (333, 645, 1449, 45),
    "flags": (129, 65, 19, 7),
}
YAHOO = {
    "arts": (462, 26),
    "business": (438, 30),
    "education": (550, 33),
    "health": (612, 32),
    "science": (743, 40),
}
NIRS = {"corn": 4, "diesel_swri": 7, "gasoline": 1, "mayonnaise": 1, "tecator": 3, "yarn": 1}


def simple_arff(path: Path) -> tuple[list[str], np.ndarray]:
    """Names and numbers of a file that holds numbers only, by splitting lines at commas."""
    head, _, body = path.read_text(encoding="utf-8").partition("@data")
    names = re.findall(r"^@attribute\s+('[^']*'|\S+)", head, flags=re.MULTILINE | re.IGNORECASE)
    names = [name.strip("'").replace("\\", "") for name in names]
    rows = []
    for line in filter(None, map(str.strip, body.splitlines())):
        if line.startswith("{"):
            row = np.zeros(len(names))
            for pair in filter(None, line.strip("{}").split(",")):
                index, value = pair.split()
                row[int(index)] = float(value)
            rows.append(row)
        else:
            rows.append(np.array([float(value) for value in line.split(",")]))
    return names, np.vstack(rows)


@pytest.mark.parametrize("name", MULAN)
def test_mulan_sets_have_the_published_shape_and_every_value(data_folder: Path, name: str) -> None:
    folder = data_folder / "multilabel" / name
    n_train, n_test, n_features, n_labels = MULAN[name]
    dataset = load(folder, nominal="ordinal")
    assert dataset.name == name
    assert (dataset.n_samples, dataset.n_features, dataset.n_targets) == (
        n_train + n_test,
        n_features,
        n_labels,
    )
    assert sparse.issparse(dataset.X) == (name in ("enron", "medical"))
    (split,) = make_splits(dataset, SplitPlan(kind="official"), seed=0)
    assert (split.train.tolist(), len(split.test)) == (list(range(n_train)), n_test)
    names, first = simple_arff(folder / f"{name}-train.arff")
    _, second = simple_arff(folder / f"{name}-test.arff")
    values = np.vstack([first, second])
    labels = re.findall(r'<label name="([^"]*)"', (folder / f"{name}.xml").read_text())
    assert list(dataset.target_names) == labels
    np.testing.assert_array_equal(dataset.y, values[:, [names.index(label) for label in labels]])
    kept = [j for j, attribute in enumerate(names) if attribute not in labels]
    wanted = values[:, kept]
    if name == "flags":
        # These nominals start at 1; a position starts at 0.
        wanted[:, [0, 1, 4]] -= 1
    X = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X
    np.testing.assert_array_equal(X, wanted)


def test_flags_nominals_become_one_column_a_value(data_folder: Path) -> None:
    folder = data_folder / "multilabel" / "flags"
    onehot, ordinal = load(folder, nominal="onehot"), load(folder)
    assert ordinal.n_features == 19
    assert onehot.n_features == 19 - 4 + 6 + 4 + 10 + 8
    landmass = [onehot.feature_names.index(f"landmass={v}") for v in range(1, 7)]
    np.testing.assert_array_equal(onehot.X[:, landmass].argmax(axis=1), ordinal.X[:, 0])
    assert (onehot.X[:, landmass].sum(axis=1) == 1).all()


@pytest.mark.parametrize("name", YAHOO)
def test_yahoo_sets_have_the_published_shape_and_every_value(data_folder: Path, name: str) -> None:
    folder = data_folder / "multilabel" / name
    dataset = load(folder)
    assert (dataset.n_features, dataset.n_targets) == YAHOO[name]
    assert int(dataset.train_part.sum()) == 3000
    assert load(folder / f"{name.capitalize()}.mat").fingerprint == dataset.fingerprint
    content = loadmat(folder / f"{name.capitalize()}.mat")
    np.testing.assert_array_equal(dataset.X[:3000], content["train"][0, 0].T)
    np.testing.assert_array_equal(dataset.X[3000:], content["test"][0, 0].T)
    np.testing.assert_array_equal(dataset.y[3000:], content["test"][0, 1].T == 1)
    norms = np.linalg.norm(dataset.X, axis=1)
    np.testing.assert_allclose(norms[norms > 0], 1, rtol=1e-5)
    never = describe(dataset).labels.without_positives
    counts = (np.hstack([content["train"][0, 1], content["test"][0, 1]]) == 1).sum(axis=1)
    assert never == tuple(f"y{j}" for j in np.flatnonzero(counts == 0))
    assert bool(never) == (name in ("business", "health"))


def test_the_official_split_of_arts_has_the_rows_of_both_files(data_folder: Path) -> None:
    folder = data_folder / "multilabel" / "arts" / "official_split"
    dataset = load(folder)
    train, test = loadmat(folder / "art_train.mat"), loadmat(folder / "art_test.mat")
    np.testing.assert_array_equal(dataset.X, np.vstack([train["train_data"], test["test_data"]]))
    np.testing.assert_array_equal(
        dataset.y, np.hstack([train["train_target"], test["test_target"]]).T == 1
    )
    assert int(dataset.train_part.sum()) == 2000


@pytest.mark.parametrize("name", NIRS)
def test_spectra_load_with_the_shape_their_meta_file_says(data_folder: Path, name: str) -> None:
    folder = data_folder / "nirs" / name
    meta = json.loads((folder / "META.json").read_text())
    dataset = load(folder)
    assert (dataset.n_samples, dataset.n_features) == (meta["n_samples"], meta["n_features"])
    assert (dataset.task, dataset.n_targets) == (meta["task"], NIRS[name])
    np.testing.assert_array_equal(
        dataset.X, np.loadtxt(folder / "X.csv", delimiter=",", skiprows=1)
    )


def test_the_traps_of_the_spectra_are_seen(data_folder: Path) -> None:
    nirs = data_folder / "nirs"
    diesel = load(nirs / "diesel_swri")
    raw = (nirs / "diesel_swri" / "y.csv").read_text().splitlines()[1:]
    empty = sum(field == "" for line in raw for field in line.split(","))
    assert describe(diesel).missing_targets == empty
    assert any(f"{empty} missing target value(s)" in note for note in diesel.notes)
    spectra = (nirs / "tecator" / "X.csv").read_text().splitlines()[1:]
    assert describe(load(nirs / "tecator")).duplicated_rows == len(spectra) - len(set(spectra))
    assert int(load(nirs / "yarn").train_part.sum()) == 21
    assert int(load(nirs / "mayonnaise").train_part.sum()) == 120


def test_a_gzipped_table_with_a_plain_name_is_read(data_folder: Path) -> None:
    path = next(iter(sorted((data_folder / "digen" / "datasets").glob("*.tsv"))))
    dataset = load(path, target="target", task="classification")
    assert dataset.feature_names == tuple(f"X{j}" for j in range(10))
    assert set(dataset.y.tolist()) == {0, 1}
