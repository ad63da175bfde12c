"""`paragone data`: what it prints for people and for programs, and how it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paragone.cli import app
from paragone.data import bundled_names

RUN = CliRunner()


def test_list_names_every_bundled_set() -> None:
    plain = RUN.invoke(app, ["data", "list"])
    assert plain.exit_code == 0
    assert [line.split("\t")[0] for line in plain.output.splitlines()] == list(bundled_names())
    entries = json.loads(RUN.invoke(app, ["data", "list", "--json"]).output)
    assert [entry["name"] for entry in entries] == list(bundled_names())


def test_describe_prints_what_the_description_says() -> None:
    output = RUN.invoke(app, ["data", "describe", "digits-traits"]).output
    lines = dict(line.split("\t", 1) for line in output.splitlines())
    assert lines["samples"] == "1797"
    assert lines["labels"] == "7"
    assert lines["constant features"] == "3"
    content = json.loads(RUN.invoke(app, ["data", "describe", "digits-traits", "--json"]).output)
    assert content["n_samples"] == 1797
    assert content["labels"]["distinct_sets"] == 10


def test_describe_takes_the_options_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "houses.csv"
    path.write_text("size,town,when,price\n1,a,x,5\n2,b,x,\n3,a,y,7\n")
    how = [
        "--target",
        "price",
        "--task",
        "regression",
        "--nominal",
        "ordinal",
        "--drop",
        "when",
        "--json",
    ]
    content = json.loads(RUN.invoke(app, ["data", "describe", str(path), *how]).output)
    assert (content["n_features"], content["missing_targets"]) == (2, 1)
    assert content["target_ranges"] == {"price": [5.0, 7.0]}


def test_a_target_without_values_is_null_in_json(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,\n2,\n")
    how = ["--target", "y", "--task", "regression", "--json"]
    output = RUN.invoke(app, ["data", "describe", str(path), *how]).output
    assert json.loads(output, parse_constant=pytest.fail)["target_ranges"] == {"y": [None, None]}


def test_labels_are_names_or_a_number(tmp_path: Path) -> None:
    path = tmp_path / "t.arff"
    path.write_text(
        "@relation t\n@attribute x real\n@attribute a {0,1}\n@attribute b"
        " {0,1}\n@data\n1,0,1\n2,1,1\n"
    )
    for given, names in (("-2", ["a", "b"]), ("b", ["b"]), ("b, a", ["b", "a"])):
        output = RUN.invoke(
            app, ["data", "describe", str(path), "--labels", given, "--json"]
        ).output
        assert json.loads(output)["target_names"] == names


@pytest.mark.parametrize("verb", [["data"], ["data", "list"], ["data", "describe"]])
def test_help_has_an_example_or_the_verbs(verb: list[str]) -> None:
    output = RUN.invoke(app, [*verb, "--help"]).output
    assert "Example: paragone data" in output or "describe" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["digits-trait"], "did you mean 'digits-traits'"), (["nowhere.csv"], "no file or folder at")],
)
def test_a_mistake_is_one_sentence_and_exit_code_two(arguments: list[str], message: str) -> None:
    command = [
        sys.executable,
        "-c",
        "from paragone.cli import main; main()",
        "data",
        "describe",
        *arguments,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ.copy(), check=False
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
