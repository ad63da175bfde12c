"""`paragone compare` and `pairwise` on a store: the same answer as on its scores."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import paragone as package

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_files import write_lab

METHODS = {
    "DAGFS": 'use = "dagfs"\nparams = { max_iter = 4 }',
    "Random": 'use = "random"',
    "Chi2": 'use = "chi2"',
}


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    sets = (
        'sets = ["wine-traits", "breast-cancer-traits", { path = "wine-traits", name = "again" }]'
    )
    file = write_lab(folder, METHODS, data=sets, split="folds = 2")
    package.Experiment.from_toml(file).run(folder / "a.sqlite", workers=0).close()
    return folder / "a.sqlite"


def test_a_store_a_csv_and_a_frame_give_one_verdict(paragone, store, tmp_path):
    paragone("scores", store, "--out", tmp_path / "scores.csv")
    words = ["--metric", "micro_f1", "--reference", "DAGFS", "--json"]
    from_store = paragone("compare", store, *words)
    from_csv = paragone("compare", tmp_path / "scores.csv", *words)
    assert from_store.code == from_csv.code == 0
    assert json.loads(from_store.out) == json.loads(from_csv.out)
    with package.Results.open(store) as results:
        direct = package.compare(results, metric="micro_f1", reference="DAGFS")
    found = json.loads(from_store.out)
    ways = {"answer", "warnings"}
    assert {name: value for name, value in found.items() if name not in ways} == {
        name: value
        for name, value in json.loads(json.dumps(direct.to_dict())).items()
        if name not in ways
    }
    # The one difference: how what is left out is said in a shell and in Python.
    said = " ".join(repr(direct).split())
    assert "ignore=['wine-traits']" in said
    said = said.replace("ignore=['wine-traits']", "--set ignore=wine-traits")
    shown = " ".join(paragone("compare", store, *words[:-1]).out.split())
    assert shown.startswith(said)


def test_two_methods_of_a_store_are_paired_by_dataset(paragone, store):
    ended = paragone("pairwise", f"{store}::DAGFS", f"{store}::Random", "--metric", "micro_f1")
    assert ended.code == 0
    assert "3 datasets" in ended.out


def test_a_wrong_store_or_method_is_refused(paragone, store, tmp_path):
    assert paragone("compare", tmp_path / "none.sqlite", "--metric", "micro_f1").code == 2
    assert (
        paragone("pairwise", f"{store}::DAGF", f"{store}::Random", "--metric", "micro_f1").code == 2
    )
