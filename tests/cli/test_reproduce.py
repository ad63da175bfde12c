"""`paragone store reproduce` on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

VERSION_1 = Path(__file__).parents[1] / "lab" / "store" / "version1.sqlite"


def test_file_and_environment_are_written(paragone, tmp_path):
    store = shutil.copy(VERSION_1, tmp_path / "lab.sqlite")
    ended = paragone("store", "reproduce", store, "--out", tmp_path / "again", "--json")
    assert (ended.code, json.loads(ended.out)["experiment"]) == (0, "lab.toml")
    assert (tmp_path / "again" / "lab.toml").read_text().startswith('name = "lab"')
    ended = paragone("store", "reproduce", store, "--out", tmp_path / "again")
    assert (ended.code, "exists already" in ended.err) == (2, True)
    ended = paragone("store", "reproduce", store, "--out", tmp_path / "b", "--experiment", "lba")
    assert (ended.code, "did you mean 'lab'?" in ended.err) == (2, True)
    ended = paragone("store", "reproduce", __file__, "--out", tmp_path / "b")
    assert (ended.code, len(ended.err.strip().splitlines())) == (2, 1)
