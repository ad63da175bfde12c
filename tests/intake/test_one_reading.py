"""One reading: the same table is read alike by every verb and door, whatever its form."""

from __future__ import annotations

import io
import json
import sys
from types import SimpleNamespace

import pytest

import paragone as package
from answers import json_of, pairs_told
from intake.random_tables import KINDS, RandomTable, as_written, random_table
from intake.shape_changes import WRITERS
from intake.test_laws import same

SEEDS = {kind: place + 3 for place, kind in enumerate(KINDS)}


def check_same(answer: dict, known: dict) -> None:
    mine, theirs = pairs_told(answer), pairs_told(known)
    assert mine.keys() == theirs.keys()
    for pair, told in mine.items():
        assert same(told, theirs[pair]), pair


@pytest.fixture(params=KINDS)
def table(request) -> RandomTable:
    return random_table(SEEDS[request.param], request.param)


@pytest.fixture
def known(table, paragone, tmp_path) -> dict:
    """The answer to the table as a file."""
    (path,) = as_written(table).write(tmp_path / "given")
    return json_of(paragone("compare", path, "--json"))


def test_standard_input_is_read_as_the_file(table, known, paragone, monkeypatch):
    text = table.frame.to_csv(index=False).encode()
    monkeypatch.setattr(
        sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text), isatty=lambda: False)
    )
    check_same(json_of(paragone("compare", "-", "--json")), known)


def test_a_data_frame_is_read_as_the_file(table, known):
    answer = package.compare(table.frame)
    check_same(json.loads(json.dumps(answer.to_dict())), known)


def test_a_path_in_python_is_read_as_on_the_command_line(table, known, tmp_path):
    answer = package.compare(tmp_path / "given" / "table.csv")
    check_same(json.loads(json.dumps(answer.to_dict())), known)


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".md"])
def test_another_form_is_read_as_the_file(table, known, suffix, paragone, tmp_path):
    path = tmp_path / f"table{suffix}"
    WRITERS[suffix](table.frame, path)
    check_same(json_of(paragone("compare", path, "--json")), known)


def test_a_folder_is_read_as_the_file_in_it(known, paragone, tmp_path):
    check_same(json_of(paragone("compare", tmp_path / "given", "--json")), known)


def test_a_store_that_took_the_file_in_says_the_same(known, paragone, tmp_path):
    ended = paragone(
        "import", tmp_path / "given" / "table.csv", "--store", tmp_path / "taken.sqlite"
    )
    assert ended.code == 0, ended.err
    check_same(json_of(paragone("compare", tmp_path / "taken.sqlite", "--json")), known)


@pytest.mark.parametrize("kind", KINDS)
def test_two_methods_are_compared_alike_by_both_verbs(kind, paragone, tmp_path):
    table = random_table(SEEDS[kind], kind)
    first, second = table.methods[:2]
    paths = []
    for name in (first, second):
        paths.append(tmp_path / f"{name}.csv")
        mine = table.frame[table.frame["method"] == name].drop(columns="method")
        mine.to_csv(paths[-1], index=False)
    compared = json_of(paragone("compare", *paths, "--json"))
    check_same(json_of(paragone("pairwise", *paths, "--json")), compared)
    check_same(json_of(paragone("compare", *reversed(paths), "--json")), compared)


@pytest.mark.parametrize("heading", ["system", "algo", "classifier_name", "ML Model Name"])
def test_a_heading_of_methods_is_known_to_every_verb(heading, paragone, tmp_path):
    table = random_table(5, "datasets")
    path = tmp_path / "table.csv"
    table.frame.rename(columns={"method": heading}).to_csv(path, index=False)
    answer = json_of(paragone("compare", path, "--json"))
    assert sorted(answer["methods"]) == sorted(table.methods)
    ended = paragone("import", path, "--store", tmp_path / "taken.sqlite")
    assert ended.code == 0, ended.err
    check_same(json_of(paragone("compare", tmp_path / "taken.sqlite", "--json")), answer)
    audited = paragone("audit", path)
    assert audited.code in (0, 1), audited.err
    for name in table.methods:
        assert name in audited.out
