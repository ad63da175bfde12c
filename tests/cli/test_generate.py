"""`paragone generate`: what it writes and prints, and how it refuses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import paragone as paragone_package
from paragone import Experiment
from paragone.data import load
from paragone.generate import EvolveSpec, evolve
from paragone.generate.expressions import Expression


def test_digen_writes_forty_sets_that_read_back(paragone, tmp_path):
    ended = paragone("generate", "write", "digen", "--out", tmp_path / "digen")
    assert ended.code == 0, ended.err
    assert "40 datasets" in ended.out
    manifest = json.loads((tmp_path / "digen" / "manifest.json").read_text())
    assert len(manifest["sets"]) == 40
    frame = pd.read_csv(tmp_path / "digen" / manifest["sets"][7]["file"])
    np.testing.assert_array_equal(frame.drop(columns="target").to_numpy(), load("digen:8").X)
    np.testing.assert_array_equal(frame["target"], load("digen:8").y)


def test_digen_into_a_file_is_refused(paragone, tmp_path):
    (tmp_path / "taken").write_text("")
    ended = paragone("generate", "write", "digen", "--out", tmp_path / "taken")
    assert (ended.code, "not a folder to write to" in ended.err) == (2, True)


def test_inspect_says_what_is_wrong_with_digen(paragone):
    ended = paragone("generate", "inspect", "digen")
    assert ended.code == 0
    for said in (
        "20 concepts",
        "digen29_8322 19.1%",
        "39 of 56",
        "open: LogisticRegression over SVC",
    ):
        assert said in ended.out
    content = json.loads(paragone("generate", "inspect", "digen", "--json").out)
    assert (content["n_concepts"], len(content["open_pairs"])) == (20, 17)


def test_an_unknown_collection_is_refused(paragone):
    ended = paragone("generate", "inspect", "digenn")
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


SPEC = """
generations = 1
batch = 8
chunk = 4
n_train = 300
n_test = 300
n_features = 4
looks = [3, 12]
claims = 3
evidence_rows = 300
[methods.LR]
use = "paragone.generate.classifiers:PlainLogisticRegression"
[methods.Tree]
use = "sklearn.tree:DecisionTreeClassifier"
portfolio = [{ max_depth = 4 }]
"""


@pytest.fixture(scope="module")
def evolved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evolved")
    (folder / "spec.toml").write_text(SPEC)
    spec = EvolveSpec.read(folder / "spec.toml")
    evolve(spec, folder / "spec.sqlite").write(folder / "out")
    return folder


def test_evolve_writes_a_collection_that_inspect_reads(paragone, evolved, tmp_path):
    store, out = evolved / "spec.sqlite", tmp_path / "out"
    ended = paragone("generate", "evolve", evolved / "spec.toml", "--out", out, "--store", store)
    assert ended.code == 0, ended.err
    assert "ordered pairs proven by 0.05" in ended.out
    assert "generation 1: " in ended.err
    assert (out / "collection.json").read_text() == (
        evolved / "out" / "collection.json"
    ).read_text()
    n_sets = len(json.loads((out / "collection.json").read_text())["sets"])
    # A collection is named by its file or its folder; the folder knows how the search went.
    for place, searched in ((out / "collection.json", False), (out, True)):
        shown = paragone("generate", "inspect", place, "--out", tmp_path / "charts")
        assert shown.code == 0, shown.err
        page = (tmp_path / "charts" / "report.html").read_text()
        assert ("How it came about" in page) == searched
        assert "The best lead of every ordered pair" in page
    assert (out / "report.html").exists()
    assert (tmp_path / "charts" / "duels.svg").exists()
    assert len(list((tmp_path / "charts" / "formulas").glob("*.svg"))) == n_sets
    manifest = json.loads((out / "data" / "manifest.json").read_text())
    assert [(out / "data" / entry["file"]).is_file() for entry in manifest["sets"]] == [
        True
    ] * n_sets


def test_a_search_that_proves_nothing_names_a_page_that_is_there_and_lists_the_open_pairs(
    paragone, tmp_path
):
    same = SPEC.replace("[methods.LR]", '[methods.Copy]\nuse = "sklearn.tree:DecisionTreeClassifier"\n'
                        "portfolio = [{ max_depth = 4 }]\n[methods.LR]").partition("[methods.LR]")[0]  # fmt: skip
    tree = (
        '[methods.Tree]\nuse = "sklearn.tree:DecisionTreeClassifier"\nportfolio = [{ max_depth = 4'
        " }]\n"
    )
    (tmp_path / "same.toml").write_text(same + tree)
    ended = paragone("generate", "evolve", tmp_path / "same.toml", "--out", tmp_path / "none")
    assert ended.code == 0, ended.err
    assert "0 of 2 ordered pairs proven" in ended.out
    page = (tmp_path / "none" / "report.html").read_text()
    assert "No dataset was found on which one of the methods beats another" in page
    opened = pd.read_csv(tmp_path / "none" / "open_pairs.csv")
    assert opened[["up", "down"]].to_numpy().tolist() == [["Copy", "Tree"], ["Tree", "Copy"]]


def test_a_collection_is_written_as_parquet_with_a_manifest(paragone, evolved, tmp_path):
    ended = paragone(
        "generate", "write", evolved / "out", "--out", tmp_path / "sets", "--format", "parquet"
    )
    assert ended.code == 0, ended.err
    manifest = json.loads((tmp_path / "sets" / "manifest.json").read_text())
    for entry in manifest["sets"]:
        frame = pd.read_parquet(tmp_path / "sets" / entry["file"])
        values = Expression.parse(entry["formula"]).evaluate(
            frame.drop(columns="target").to_numpy()
        )
        np.testing.assert_array_equal(frame["target"], values >= entry["cut"])
    wrong = paragone("generate", "write", "digen", "--out", tmp_path / "s", "--format", "xlsx")
    assert (wrong.code, "unknown file format 'xlsx'" in wrong.err) == (2, True)


def test_variants_are_written_and_put_to_proof(paragone, evolved, tmp_path):
    ended = paragone(
        "generate", "write", evolved / "out", "--out", tmp_path / "sets", "--variant", "noisy"
    )
    assert ended.code == 0, ended.err
    assert "nothing is claimed of a variant unless it was put to proof" in ended.out
    manifest = json.loads((tmp_path / "sets" / "manifest.json").read_text())
    assert {entry["variant"] for entry in manifest["sets"]} == {"noisy"}
    prove = [
        "generate",
        "prove",
        evolved / "out",
        "--variant",
        "small",
        "--out",
        tmp_path / "small.json",
    ]
    ended = paragone(*prove, "--spec", evolved / "spec.toml")
    assert ended.code == 0, ended.err
    content = json.loads((tmp_path / "small.json").read_text())
    assert {of["variant"] for of in content["variants"]} == {"small"}
    n_claims = sum(claim["holds"] for item in content["sets"] for claim in item["claims"])
    n_held = sum(claim["holds"] for of in content["variants"] for claim in of["claims"])
    assert f"small: {n_held} of {n_claims} claims hold, 0 were not put to proof" in ended.out
    for command, said in (
        (prove, "unknown method in a claim"),
        (
            ["generate", "prove", "digen", "--variant", "small", "--out", tmp_path / "x.json"],
            "DIGEN claims nothing",
        ),
        (
            ["generate", "write", "digen", "--variant", "small", "--out", tmp_path / "x"],
            "as they were published",
        ),
        (
            ["generate", "write", evolved / "out", "--variant", "tiny", "--out", tmp_path / "x"],
            "unknown variant 'tiny'",
        ),
    ):
        ended = paragone(*command)
        assert (ended.code, said in " ".join(ended.err.split())) == (2, True)


def test_concluding_writes_the_folder_again(paragone, evolved, tmp_path):
    store = evolved / "spec.sqlite"
    ended = paragone(
        "generate",
        "evolve",
        evolved / "spec.toml",
        "--out",
        tmp_path,
        "--store",
        store,
        "--conclude",
    )
    assert ended.code == 0, ended.err
    assert (tmp_path / "collection.json").read_text() == (
        evolved / "out" / "collection.json"
    ).read_text()


def test_inspect_tells_how_hard_open_pairs_were_tried(paragone, evolved, tmp_path):
    content = json.loads((evolved / "out" / "collection.json").read_text())
    tried = {
        "up": "LR",
        "down": "Tree",
        "raced": 5,
        "raced_tuned": 2,
        "race_mean": 0.04,
        "race_won": 0.5,
    }
    for item in content["sets"]:
        item["claims"] = [claim for claim in item["claims"] if claim["up"] == "Tree"]
    content |= {"open": [tried], "sets": [item for item in content["sets"] if item["claims"]]}
    (tmp_path / "c.json").write_text(json.dumps(content))
    shown = paragone("generate", "inspect", tmp_path / "c.json")
    said = (
        "LR over Tree: raced 5 times, 2 of them tuned (best lead 0.040, ahead on 50% of samples);"
        " never put to proof"
    )
    assert f"open: {said}" in " ".join(shown.out.split())
    assert (
        json.loads(paragone("generate", "inspect", tmp_path / "c.json", "--json").out)["tried"][0][
            "raced"
        ]
        == 5
    )


@pytest.mark.slow
def test_a_collection_is_shipped_by_its_files_lying_in_the_folder(evolved, tmp_path):
    """In a copy of the package: nothing but files is added, and every door knows the new name."""
    package = tmp_path / "paragone"
    shutil.copytree(
        Path(paragone_package.__file__).parent,
        package,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    out, beside = evolved / "out", package / "generate" / "evidence_files"
    shutil.copy(out / "collection.json", package / "generate" / "collections" / "spec.json")

    def ask(*command):
        again = [sys.executable, *map(str, command)]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NO_COLOR": "1"}
        return subprocess.run(
            again, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
        )

    # How the search went and its fits need not be there.
    bare = ask("-m", "paragone", "generate", "inspect", "spec")
    assert bare.returncode == 0, bare.stderr
    shutil.copy(out / "coverage_curve.csv", beside / "spec-curve.csv")
    shutil.copy(out / "fits.csv.xz", beside / "spec-fits.csv.xz")
    code = (
        "import paragone as p, paragone.generate as g; from paragone.generate.sets import"
        " collection_names\nprint(collection_names(), p.load('spec:1').name, p.load('spec:1:noisy').name,"
        " g.load('spec-1').name)\nprint(len(g.read_fits('spec')),"
        " len(g.Collection.named('spec').sets))"
    )
    loaded = ask("-c", code)
    assert loaded.returncode == 0, loaded.stderr
    assert "'spec') spec-1 spec-1-noisy spec-1" in loaded.stdout
    shown = ask("-m", "paragone", "generate", "inspect", "spec", "--out", tmp_path / "page")
    assert shown.returncode == 0, shown.stderr
    assert "How it came about" in (tmp_path / "page" / "report.html").read_text()
    report = ask(
        "-m",
        "paragone",
        "generate",
        "report",
        "sklearn.naive_bayes:GaussianNB",
        "--sets",
        "spec-1",
        "--out",
        "r",
    )
    assert report.returncode == 0, report.stderr
    unknown = ask("-m", "paragone", "generate", "write", "spek", "--out", "x")
    assert "did you mean 'spec'" in unknown.stderr


def test_a_sample_has_the_options_it_was_asked_for(paragone, tmp_path):
    options = [
        "--rows",
        400,
        "--features",
        3,
        "--irrelevant",
        2,
        "--missing",
        0.1,
        "--categorical",
        "1",
        "--name",
        "s",
    ]
    for target, more in (
        ("binary", ["--positive", 0.2]),
        ("multiclass", ["--classes", 4]),
        ("regression", []),
    ):
        out = tmp_path / target
        command = [
            "generate",
            "sample",
            "add(X0, X1)",
            "--out",
            out,
            "--target",
            target,
            *options,
            *more,
        ]
        assert paragone(*command).code == 0
        frame = pd.read_csv(out / "s.csv")
        assert frame.shape == (400, 6)
        assert frame["X1"].dropna().isin([0, 1, 2, 3]).all()
        assert 0.05 < frame.drop(columns="target").isna().to_numpy().mean() < 0.15
        assert (
            frame["target"].nunique() == {"binary": 2, "multiclass": 4, "regression": 400}[target]
        )
    entry = json.loads((tmp_path / "binary" / "manifest.json").read_text())["sets"][0]
    assert (entry["formula"], entry["positive"], entry["missing"]) == ("add(X0, X1)", 0.2, 0.1)
    assert 0.1 < pd.read_csv(tmp_path / "binary" / "s.csv")["target"].mean() < 0.3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("mul(X0 X1)",), "',' expected at position 8"),
        (("X0", "--categorical", "one"), "numbers of columns"),
        (("X0", "--name", "../x"), "leave out folders"),
        (("X11",), "the formula uses X11"),
        (("X0", "--noise", "2"), "noise must be from 0 to 1"),
        (("X0", "--format", "xls"), "unknown file format"),
    ],
)
def test_a_sample_that_cannot_be_drawn_is_refused(paragone, tmp_path, options, said):
    ended = paragone("generate", "sample", *options, "--out", tmp_path / "o")
    assert (ended.code, said in " ".join(ended.err.split())) == (2, True)


def test_a_method_of_the_users_is_evolved_against(paragone, evolved, tmp_path):
    ended = paragone(
        "generate", "evolve", evolved / "spec.toml", "--out", tmp_path / "o", "--store", tmp_path / "s.sqlite",
        "--against", "sklearn.naive_bayes:GaussianNB",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert "of 4 ordered pairs" in ended.out
    for item in json.loads((tmp_path / "o" / "collection.json").read_text())["sets"]:
        assert "GaussianNB" in item["aurocs"]


@pytest.mark.slow
def test_on_dask_the_same_collection_comes_out(paragone, evolved, tmp_path):
    ended = paragone(
        "generate", "evolve", evolved / "spec.toml", "--out", tmp_path / "o", "--store", tmp_path / "s.sqlite",
        "--engine", "dask", "--workers", 1,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert (tmp_path / "o" / "collection.json").read_text() == (
        evolved / "out" / "collection.json"
    ).read_text()


def test_an_address_without_dask_is_refused(paragone, evolved, tmp_path):
    ended = paragone(
        "generate",
        "evolve",
        evolved / "spec.toml",
        "--out",
        tmp_path / "o",
        "--address",
        "tcp://here:1",
    )
    assert (ended.code, "--address is for --engine dask" in ended.err) == (2, True)


def test_data_where_a_method_loses_holds_no_set_made_for_its_wins(paragone, evolved, tmp_path):
    ended = paragone(
        "generate", "evolve", evolved / "spec.toml", "--out", tmp_path / "o", "--store", tmp_path / "s.sqlite",
        "--against", "sklearn.naive_bayes:GaussianNB", "--goal", "loses",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert "of 2 ordered pairs" in " ".join(ended.out.split())
    wrong = paragone(
        "generate", "evolve", evolved / "spec.toml", "--out", tmp_path / "o", "--goal", "looses"
    )
    assert (wrong.code, "did you mean 'loses'" in wrong.err) == (2, True)


HARD = """
import numpy as np
from sklearn.base import BaseEstimator
class Hard(BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self
    def predict(self, X):
        return (X[:, 0] > 0).astype(int)
"""


def test_a_method_is_diagnosed_on_digen_with_a_page_and_charts(paragone, tmp_path):
    command = ["generate", "report", "sklearn.naive_bayes:BernoulliNB", "--out", tmp_path / "nb"]
    options = ["--sets", "digen1,digen8,digen20"]
    ended = paragone(*command, *options)
    assert ended.code == 0, ended.err
    scores = pd.read_csv(tmp_path / "nb" / "scores.csv")
    assert scores.groupby("dataset").size().to_dict() == {
        "digen1_6265": 9,
        "digen20_5191": 9,
        "digen8_4426": 9,
    }
    lookup = scores.set_index(["dataset", "method"])["value"]
    assert lookup["digen8_4426", "XGBClassifier"] == 0.9909
    page = (tmp_path / "nb" / "report.html").read_text()
    assert page.count("<figure") == len(list((tmp_path / "nb").glob("*.svg"))) == 8
    assert "BernoulliNB on digen" in page
    # A method that was not tuned beside methods that were: the reader is told, on the page and
    # here.
    assert "has no search space and was not tuned" in page
    assert "not tuned" in " ".join(ended.err.split())
    assert "it falls behind on parity" in ended.out
    # Again: nothing is fitted, the page is the same.
    assert paragone(*command, *options).code == 0
    assert (tmp_path / "nb" / "report.html").read_text() == page


def test_hard_labels_are_scored_and_said(paragone, tmp_path, monkeypatch):
    (tmp_path / "my_hard.py").write_text(HARD)
    monkeypatch.chdir(tmp_path)
    ended = paragone(
        "generate",
        "report",
        "my_hard:Hard",
        "--out",
        "hard",
        "--collection",
        "digen",
        "--sets",
        "digen1,digen8",
    )
    assert ended.code == 0, ended.err
    assert "scored by its hard labels" in " ".join(ended.err.split())
    assert "hard labels" in (tmp_path / "hard" / "report.html").read_text()


def test_a_method_is_put_on_an_evolved_collection(paragone, evolved, tmp_path):
    collection = evolved / "out" / "collection.json"
    command = [
        "generate",
        "report",
        "sklearn.naive_bayes:GaussianNB",
        "--collection",
        collection,
    ]
    ended = paragone(*command, "--out", tmp_path / "nb")
    assert ended.code == 0, ended.err
    scores = pd.read_csv(tmp_path / "nb" / "scores.csv")
    assert scores.groupby(["dataset", "method"]).size().unique().tolist() == [3]
    assert (tmp_path / "nb" / "boxes_over_seeds.svg").exists()
    clash = paragone(*command, "--out", tmp_path / "nb2", "--name", "Tree")
    assert (clash.code, "two methods are called 'Tree'" in clash.err) == (2, True)


def test_an_altered_collection_is_refused_with_the_hash(paragone, evolved, tmp_path):
    content = json.loads((evolved / "out" / "collection.json").read_text())
    content["sets"][0]["x_hash"] = "0" * 16
    (tmp_path / "c.json").write_text(json.dumps(content))
    ended = paragone("generate", "inspect", tmp_path / "c.json")
    assert (ended.code, "not 0000000000000000" in ended.err) == (2, True)


def test_the_published_stages_run_at_small_sizes(paragone, tmp_path):
    out = tmp_path / "survivors.csv"
    duel = paragone(
        "generate", "stage1", "K", "R", "--seed", 5, "--population", 4, "--generations", 1, "--trials", 1,
        "--methods", "RK", "--store", tmp_path / "d.sqlite", "--out", out, "--preset", "digen_v1",
    )  # fmt: skip
    assert duel.code == 0, duel.err
    assert "4 seen" in duel.out
    (tmp_path / "best.csv").write_text('formula,seed\n"mul(X0, X1)",3\n')
    for stage, more in (("stage2", []), ("stage3", ["--seeds", 2])):
        ended = paragone(
            "generate", stage, tmp_path / "best.csv", "--out", tmp_path / f"{stage}.csv", "--trials", 1, "--methods",
            "RK", "--store", tmp_path / f"{stage}.sqlite", "--preset", "digen_v1", *more,
        )  # fmt: skip
        assert ended.code == 0, ended.err
        assert len(pd.read_csv(tmp_path / f"{stage}.csv")) == (2 if stage == "stage2" else 4)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("stage1", "K", "K", "--seed", "1"), "a duel needs two methods"),
        (("stage1", "K", "Q", "--seed", "1"), "unknown method 'Q'"),
        (("stage1", "K", "R", "--seed", "1", "--preset", "digen_v2"), "did you mean 'digen_v1'"),
        (("evolve", "none.toml", "--out", "o"), "cannot be read"),
        (("stage2", "none.csv", "--out", "o.csv"), "cannot be read as CSV"),
        (("inspect", "none.json"), "cannot be read"),
        (("report", "nowhere:Thing", "--out", "o"), "cannot import 'nowhere'"),
        (
            ("report", "sklearn.svm:SVC", "--out", "o", "--sets", "digen8"),
            "two methods are called 'SVC'",
        ),
        (
            (
                "report",
                "sklearn.svm:NuSVC",
                "--out",
                "o",
                "--collection",
                "digen",
                "--sets",
                "digen99",
            ),
            "unknown DIGEN set 'digen99'",
        ),
    ],
)
def test_a_mistake_ends_in_a_sentence_and_exit_code_2(
    paragone, tmp_path, monkeypatch, command, said
):
    monkeypatch.chdir(tmp_path)
    ended = paragone("generate", *command)
    assert ended.code == 2
    assert said in ended.err
    assert "Traceback" not in ended.err


def test_a_space_with_an_unknown_parameter_is_refused(paragone, tmp_path):
    (tmp_path / "space.toml").write_text("var_smothing = { low = 1e-9, high = 1e-3 }\n")
    use = "sklearn.naive_bayes:GaussianNB"
    ended = paragone(
        "generate",
        "report",
        use,
        "--out",
        tmp_path / "o",
        "--space",
        tmp_path / "space.toml",
    )
    assert (ended.code, "did you mean 'var_smoothing'" in ended.err) == (2, True)


def test_an_unparsable_formula_is_refused_with_its_position(paragone, tmp_path):
    (tmp_path / "best.csv").write_text('formula,seed\n"mul(X0 X1)",3\n')
    store = tmp_path / "s.sqlite"
    ended = paragone(
        "generate", "stage2", tmp_path / "best.csv", "--out", tmp_path / "o.csv", "--store", store
    )
    assert (ended.code, "',' expected at position 8" in ended.err) == (2, True)
