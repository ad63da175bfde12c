"""Every reader of ours keeps the contract of readers, and readers that break a law are told which."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from paragone.data import Dataset, load
from paragone.errors import InputError
from paragone.testing import check_reader

N = 12
X = np.arange(3.0 * N).reshape(N, 3) % 7
LABELS = (np.arange(2 * N).reshape(N, 2) % 3 == 0).astype(int)
TABLE = pd.DataFrame(
    {"a": X[:, 0], "b": X[:, 1], "kind": ["x", "y"] * (N // 2), "price": np.arange(N) * 1.5}
)
HOUSES = {"target": "price", "task": "regression"}


def arff(path: Path) -> None:
    rows = [f"{a:g},{b:g},{'x' if n % 2 else 'y'},{n % 2}" for n, (a, b, _) in enumerate(X)]
    head = [
        "@relation r",
        "@attribute a numeric",
        "@attribute b numeric",
        "@attribute c {x,y}",
        "@attribute l {0,1}",
    ]
    path.write_text("\n".join([*head, "@data", *rows]) + "\n")


EXAMPLES = {
    "houses.csv": (lambda path: TABLE.to_csv(path, index=False), HOUSES),
    "houses.tsv": (lambda path: TABLE.to_csv(path, index=False, sep="\t"), HOUSES),
    "houses.csv.gz": (lambda path: TABLE.to_csv(path, index=False), HOUSES),
    "houses.parquet": (lambda path: TABLE.to_parquet(path, index=False), HOUSES),
    "labels.arff": (arff, {"labels": -1}),
    "five.mat": (lambda path: savemat(path, {"data": X, "target": LABELS}, format="5"), {}),
    "four.mat": (lambda path: savemat(path, {"data": X, "target": LABELS}, format="4"), {}),
    "arrays.npz": (lambda path: np.savez(path, X=X, y=LABELS), {"task": "multilabel"}),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_reader_of_ours_keeps_the_contract(name, tmp_path):
    write, options = EXAMPLES[name]
    write(tmp_path / name)
    assert len(check_reader(lambda path: load(path, **options), tmp_path / name, name=name)) == 7


def read_right(path: Path) -> Dataset:
    return load(path, **HOUSES)


def read_with_any_error(path: Path) -> Dataset:
    return Dataset("d", pd.read_csv(path)[["a", "b"]].to_numpy(), np.arange(N) * 1.0, "regression")


def read_by_chance(path: Path) -> Dataset:
    random.random()
    return read_right(path)


def read_by_the_clock(path: Path) -> Dataset:
    found = read_right(path)
    return Dataset(found.name, found.X + np.random.default_rng().random(), found.y, found.task)


def read_and_write(path: Path) -> Dataset:
    found = read_right(path)
    path.with_suffix(".cache").write_text("")
    return found


def read_without_names(path: Path) -> Dataset:
    try:
        return read_right(path)
    except InputError:
        raise InputError("this cannot be read") from None


BROKEN = {
    read_with_any_error: "a file that is not there is refused",
    read_by_chance: "the global random state",
    read_by_the_clock: "the same bytes give the same",
    read_and_write: "the file and its folder are left",
    read_without_names: "a file that is not there is refused with a sentence that names it",
    lambda path: None: "a file is read into something",
}


@pytest.mark.parametrize("read", BROKEN)
def test_a_reader_that_breaks_a_law_is_told_which(read, tmp_path):
    TABLE.to_csv(tmp_path / "houses.csv", index=False)
    with pytest.raises(AssertionError, match=BROKEN[read]):
        check_reader(read, tmp_path / "houses.csv")
