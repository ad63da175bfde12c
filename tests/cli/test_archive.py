"""Archives and merges on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command_ends import refused

VERSION_1 = Path(__file__).parents[1] / "lab" / "store" / "version1.sqlite"


@pytest.fixture
def lab(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(VERSION_1, "lab.sqlite")
    return tmp_path


def test_an_archive_goes_out_and_comes_back(lab, paragone):
    ended = paragone("store", "archive", "lab.sqlite", "--out", "archive")
    assert (ended.code, ended.out.startswith("4 cells, ")) == (0, True)
    ended = paragone("import", "archive", "--store", "again.sqlite", "--json")
    assert (ended.code, json.loads(ended.out)["rows"]["cells"]) == (0, 4)
    first, again = (
        paragone("scores", store, "--json").out for store in ("lab.sqlite", "again.sqlite")
    )
    assert first == again
    assert first != "[]\n"


def test_what_cannot_be_is_refused_in_one_sentence(lab, paragone):
    paragone("store", "archive", "lab.sqlite", "--out", "archive")
    refused(
        paragone("store", "archive", "lab.sqlite", "--out", "archive"),
        "exists already",
    )
    refused(paragone("import", "archive", "--store", "lab.sqlite"), "exists already")
    refused(
        paragone("import", "archive", "--store", "b.sqlite", "--data", "iris"), "leave --data out"
    )
    refused(paragone("import", "lab.sqlite", "--store", "b.sqlite"), "paragone store merge")
    (lab / "archive" / "tables" / "fits.parquet").unlink()
    refused(paragone("import", "archive", "--store", "b.sqlite"), "is missing")
    assert not (lab / "b.sqlite").exists()


def test_two_stores_become_one(lab, paragone):
    shutil.copy(VERSION_1, "other.sqlite")
    ended = paragone("store", "merge", "lab.sqlite", "other.sqlite", "--out", "c.sqlite")
    assert (ended.code, "4 cells in c.sqlite: 4 of A, 4 of B, 4 in both" in ended.out) == (0, True)
    ended = paragone("store", "merge", "lab.sqlite", "other.sqlite", "--out", "d.sqlite", "--json")
    assert json.loads(ended.out)["shared"] == 4
    refused(
        paragone("store", "merge", "lab.sqlite", "other.sqlite", "--out", "c.sqlite"),
        "exists already",
    )
