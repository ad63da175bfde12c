"""`paragone generate`: what it writes and prints, and how it refuses."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from paragone import Experiment
from paragone.data import load


def test_digen_writes_forty_sets_that_read_back(paragone, tmp_path):
    ended = paragone("generate", "digen", "--out", tmp_path / "digen")
    assert ended.code == 0, ended.err
    assert "40 datasets" in ended.out
    manifest = json.loads((tmp_path / "digen" / "manifest.json").read_text())
    assert len(manifest["sets"]) == 40
    frame = pd.read_csv(tmp_path / "digen" / manifest["sets"][7]["file"])
    np.testing.assert_array_equal(frame.drop(columns="target").to_numpy(), load("digen:8").X)
    np.testing.assert_array_equal(frame["target"], load("digen:8").y)


def test_digen_into_a_file_is_refused(paragone, tmp_path):
    (tmp_path / "taken").write_text("")
    ended = paragone("generate", "digen", "--out", tmp_path / "taken")
    assert (ended.code, "no folder to write to" in ended.err) == (2, True)


def test_inspect_says_what_is_wrong_with_digen(paragone):
    ended = paragone("generate", "inspect", "digen")
    assert ended.code == 0
    for said in ("20 concepts", "digen29_8322 19.1%", "39 of 56", "open: LogisticRegression over SVC"):
        assert said in ended.out
    content = json.loads(paragone("generate", "inspect", "digen", "--json").out)
    assert (content["n_concepts"], len(content["open_pairs"])) == (20, 17)


def test_an_unknown_collection_is_refused(paragone):
    ended = paragone("generate", "inspect", "dijen")
    assert (ended.code, "did you mean 'digen'" in ended.err) == (2, True)


def test_an_experiment_takes_digen_sets_by_number_and_all_at_once(tmp_path):
    text = 'name = "d"\n[data]\nsets = ["{sets}"]\n[methods.V]\nuse = "variance"\n'
    counts = {}
    for sets in ("digen:8", "digen:all"):
        file = tmp_path / "d.toml"
        file.write_text(text.format(sets=sets))
        counts[sets] = [dataset.fingerprint for dataset in Experiment.from_toml(file)._data]
    assert counts["digen:8"] == [load("digen:8").fingerprint]
    assert len(set(counts["digen:all"])) == 40
