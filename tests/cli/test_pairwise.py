"""`paragone pairwise` as a user types it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from command_ends import refused
from paragone.cli import app


def sides(n=32, seed=0):
    generator = np.random.default_rng(seed)
    subjects = [f"S{i:02d}" for i in range(n)]
    a = pd.DataFrame({"subject": subjects, "accuracy": generator.uniform(0.15, 0.5, n).round(4)})
    b = a.assign(accuracy=(a.accuracy + generator.normal(0.03, 0.08, n)).round(4))
    return a, b


@pytest.fixture
def files(tmp_path):
    a, b = sides()
    a.to_csv(tmp_path / "AU.csv", index=False)
    b.sample(frac=1, random_state=3).to_csv(tmp_path / "MMA.csv", index=False)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["pairwise", *map(str, arguments)])


def test_two_files_are_paired_by_subject_whatever_their_order(files):
    result = run(files / "MMA.csv", files / "AU.csv", "--threshold", "0.25")
    assert result.exit_code == 0, result.output
    assert "double fails (both no better than 0.25)" in result.output
    _, b = sides()
    b.to_csv(files / "MMA.csv", index=False)
    assert run(files / "MMA.csv", files / "AU.csv", "--threshold", "0.25").output == result.output


def test_names_keys_and_metric_columns_can_be_chosen(files):
    a, _ = sides()
    a.assign(kappa=0.3).rename(columns={"subject": "person"}).to_csv(files / "x.csv", index=False)
    a.assign(kappa=0.4).rename(columns={"subject": "person"}).to_csv(files / "y.csv", index=False)
    options = [
        "--unit",
        "person",
        "--metric",
        "kappa",
        "--direction",
        "higher",
    ]
    output = run(f"old={files / 'x.csv'}", f"new={files / 'y.csv'}", *options).output
    assert "0.400 against 0.300" in output


def test_folders_with_one_file_are_read_and_named(files):
    for name in ("one", "two"):
        (files / name).mkdir()
        sides(seed=len(name) + (name == "two"))[0].to_csv(files / name / "scores.csv", index=False)
    assert "  one " in run(files / "one", files / "two").output
    assert "  one " in run(files / "one" / "scores.csv", files / "two" / "scores.csv").output


def test_two_columns_of_one_file_and_two_methods_of_a_tidy_one_agree(files):
    a, b = sides()
    wide = a.rename(columns={"accuracy": "AU"}).assign(MMA=b.accuracy)
    wide.to_csv(files / "wide.csv", index=False)
    tidy = wide.melt(id_vars="subject", var_name="method", value_name="value").assign(
        metric="accuracy"
    )
    tidy.sample(frac=1, random_state=1).to_csv(files / "tidy.csv", index=False)
    outputs = [
        run(f"{files / name}::AU", f"{files / name}::MMA", "--metric", "accuracy").output.replace(
            "datasets", "subjects"
        )
        for name in ("wide.csv", "tidy.csv")
    ]
    assert outputs[0] == outputs[1]
    assert "  AU " in outputs[0]


def test_folds_are_tested_with_the_corrected_t(files):
    a, b = sides(10)
    for frame, name in ((a, "a"), (b, "b")):
        frame.rename(columns={"subject": "fold"}).to_csv(files / f"{name}.csv", index=False)
    both = files / "a.csv", files / "b.csv"
    folds, subjects = (
        json.loads(run(*both, *options, "--json").output) for options in ((), ("--unit", "subject"))
    )
    assert folds["choices"]["test"].startswith("corrected resampled t")
    assert subjects["choices"]["test"].startswith("Wilcoxon")


def test_out_writes_differences_and_both_charts(files):
    result = run(
        files / "AU.csv", files / "MMA.csv", "--threshold", "0.25", "--out", files / "answer"
    )
    assert result.exit_code == 0, result.output
    names = {file.name for file in (files / "answer").iterdir()}
    assert {
        "differences.csv",
        "scatter.svg",
        "scatter.pdf",
        "differences.svg",
        "verdict.txt",
        "pairs.tex",
    } <= names
    table = pd.read_csv(files / "answer" / "differences.csv")
    assert set(table.columns) == {"key", "AU", "MMA", "difference", "winner", "double_fail"}


def test_json_is_json(files):
    answer = json.loads(
        run(files / "AU.csv", files / "MMA.csv", "--threshold", "0.0", "--json").output
    )
    assert (answer["threshold"], answer["double_fails"]) == (0.0, 0)
    assert answer["pairs"][0]["n"] == answer["unfiltered"][0]["n"] == 32


def test_bad_input_ends_in_one_sentence_and_exit_code_two(files, paragone):
    a, _ = sides()
    a.assign(subject=a.subject + "x").to_csv(files / "other.csv", index=False)
    a.assign(accuracy="good").to_csv(files / "text.csv", index=False)
    a.assign(subject="S1").to_csv(files / "twice.csv", index=False)
    a.rename(columns={"accuracy": "zest"}).to_csv(files / "zest.csv", index=False)
    a.assign(f1=0.5).to_csv(files / "two.csv", index=False)
    a.assign(subject=range(32)).rename(columns={"subject": "n"}).to_csv(
        files / "nokey.csv", index=False
    )
    for arguments, message in [
        (("AU.csv", "other.csv"), "no subject with a score in common"),
        (("AU.csv", "text.csv"), "the text 'good'"),
        (("AU.csv", "twice.csv"), "subject 'S1' stands twice"),
        (("zest.csv", "zest.csv"), "given twice"),
        (("AU.csv", "zest.csv"), "no metric is there for every method"),
        (("two.csv", "AU.csv::accuracy"), "hold 2 metrics"),
        (("nokey.csv", "AU.csv"), "no column names what its rows are"),
        (("AU.csv::f2", "AU.csv"), "unknown method 'f2'"),
        (("none.csv", "AU.csv"), "no file or folder"),
        (("AU.csv", "AU.csv"), "given twice"),
    ]:
        refused(paragone("pairwise", *(files / name for name in arguments)), message)


def test_help_has_an_example():
    assert "Example" in run("--help").output
