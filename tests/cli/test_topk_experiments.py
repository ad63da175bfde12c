"""`paragone run`, `compare --unit item` and `report` on a topk experiment, and bad input."""

from __future__ import annotations

import json
import re
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from paragone import Results, compare
from paragone.stats import compare_samples
from paragone.testing.recommenders import example_prescriptions

LAB = """name = "herbs"
[data]
sets = ["rows"]
[protocol]
kind = "topk"
k = [2, 5]
metrics = ["precision", "ndcg"]
{more}
[methods.EASE]
use = "ease"
"""


@pytest.fixture
def lab(tmp_path):
    rows = example_prescriptions(120, 9, 20, seed=17)
    (tmp_path / "rows").mkdir()
    lines = [
        f"{' '.join(map(str, np.flatnonzero(rows.queries[[i]].toarray()[0])))}\t"
        f"{' '.join(map(str, rows.items[rows.indptr[i] : rows.indptr[i + 1]]))}\n"
        for i in range(120)
    ]
    (tmp_path / "rows" / "train.txt").write_text("".join(lines[:90]))
    (tmp_path / "rows" / "test.txt").write_text("".join(lines[90:]))
    (tmp_path / "rows" / "valid_row_indices.txt").write_text("0\n7\n9\n")
    (tmp_path / "lab.toml").write_text(LAB.format(more=""))
    return tmp_path


def test_one_command_runs_reports_and_compares(paragone, lab):
    ended = paragone("run", lab / "lab.toml", "--workers", 0, "--report", lab / "out")
    assert ended.code == 0
    assert "3 validation rows taken out of train" in ended.err
    for words in (
        "Precision@5",
        "NDCG@5[idcg=min]",
        "Ties on rows",
        "EASE is better than popularity",
        "Shown: precision at 2 on rows.",
        "worse and better than EASE on the same samples",
        "5 done",
    ):
        assert words in ended.out
    # Marks are about the leader: popularity is worse than it by everything, and nobody is better.
    marked = {line.split()[0] for line in ended.out.splitlines() if re.search(r"\] [−+]", line)}
    assert marked == {"popularity"}
    assert not re.search(r"\] \+", ended.out)
    heads = ["metric", "at", "method", "rival"]
    assert any(line.split()[:4] == heads for line in ended.out.splitlines())
    assert (lab / "out" / "report.html").is_file()
    assert "set-knn" in paragone("status", lab / "lab.sqlite").out
    shown = paragone("scores", lab / "lab.sqlite").out
    assert "NDCG[idcg=min] on rows" in shown
    assert "K = 5" in shown


def test_compare_per_sample_is_the_function_on_the_stored_values(paragone, lab):
    paragone("run", lab / "lab.toml", "--workers", 0)
    ended = paragone(
        "compare", lab / "lab.sqlite", "--unit", "item", "--reference", "ridge", "--json"
    )
    with Results.open(lab / "lab.sqlite") as results:
        direct = compare_samples(results.reader().sample_scores(), reference="ridge")
        assert json.loads(ended.out) == json.loads(json.dumps(direct.to_dict()))
        assert compare(results, metric="precision", at=5, bayes=False).scores.methods
    one = paragone(
        "compare",
        lab / "lab.sqlite",
        "--unit",
        "item",
        "--metric",
        "precision",
        "--at",
        5,
        "--out",
        lab / "c",
    )
    assert one.code == 0
    rows = pd.read_csv(lab / "c" / "pairs.csv")
    names = ["EASE", "popularity", "conditional", "set-knn", "ridge"]
    pairs = {frozenset(pair) for pair in zip(rows["method"], rows["rival"], strict=True)}
    assert len(rows) == len(pairs) == 10
    assert pairs == {frozenset(pair) for pair in combinations(names, 2)}
    assert rows["detectable"].notna().any()
    assert set(zip(rows["metric"], rows["at"], strict=True)) == {("precision", 5)}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--unit", "item", "--metric", "precison"), "did you mean 'precision'"),
        (("--unit", "item", "--reference", "EASY"), "did you mean 'EASE'"),
        (("--unit", "item", "--at", 3), "unknown cut-off"),
    ],
)
def test_a_wrong_comparison_is_explained(paragone, lab, args, words):
    paragone("run", lab / "lab.toml", "--workers", 0)
    ended = paragone("compare", lab / "lab.sqlite", *args)
    assert ended.code == 2
    assert words in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("k = [0, 5]", "is not valid TOML"),
        ("tie = 'id'", "unknown key 'protocol.tie': did you mean 'ties'"),
        ("ties = 'ids'", "did you mean 'id'"),
        ("validation = 2.0", "between 0 and 1"),
        ("preset = 'smgcm'", "did you mean 'smgcn'"),
        ("floors = 3", "line 8: 'protocol.floors'"),
    ],
)
def test_a_wrong_file_is_explained(paragone, lab, more, words):
    (lab / "lab.toml").write_text(LAB.format(more=more))
    ended = paragone("run", lab / "lab.toml")
    assert ended.code == 2
    assert words in ended.err
    assert not (lab / "lab.sqlite").exists()


def test_cut_offs_that_make_no_sense_are_explained(paragone, lab):
    for wrong, words in (
        ("[0, 5]", "at least 1"),
        ("[5, 2]", "k must rise"),
        ("[2.5]", "valid integer"),
    ):
        (lab / "lab.toml").write_text(LAB.format(more="").replace("[2, 5]", wrong))
        ended = paragone("run", lab / "lab.toml")
        assert ended.code == 2
        assert words in ended.err


def test_a_malformed_herb_file_is_named_with_its_line(paragone, lab):
    with (lab / "rows" / "test.txt").open("a") as stream:
        stream.write("3 4 5\n")
    ended = paragone("run", lab / "lab.toml")
    assert ended.code == 2
    assert "test.txt, line 31: expected 'tokens<TAB>items'" in ended.err


def test_without_torch_the_run_says_how_to_get_it(paragone, lab, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    (lab / "lab.toml").write_text(
        LAB.format(more="") + '[methods.SMGCN]\nuse = "smgcn"\nseeds = 3\n'
    )
    ended = paragone("run", lab / "lab.toml", "--workers", 0)
    assert ended.code == 2
    assert (
        "method 'SMGCN' needs torch, which is not installed: pip install 'paragone[recsys]'"
        in ended.err
    )
    assert not (lab / "lab.sqlite").exists()


def test_data_describe_knows_prescriptions(paragone, lab):
    ended = paragone("data", "describe", lab / "rows")
    assert ended.code == 0
    assert "items\t20" in ended.out
    assert "parts\t90 train, 30 test" in ended.out
