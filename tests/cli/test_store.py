"""`paragone store check` on the command line: exit codes, JSON, and nothing changed unless asked."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

VERSION_1 = Path(__file__).parents[1] / "lab" / "store" / "version1.sqlite"


@pytest.fixture
def store(tmp_path) -> Path:
    return Path(shutil.copy(VERSION_1, tmp_path / "lab.sqlite"))


def spoil(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE scores SET value = 0.5 WHERE cell_id = 1 AND position = 0")
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_a_healthy_store_ends_in_code_0_and_is_not_changed(paragone, store):
    before = store.read_bytes()
    ended = paragone("store", "check", store)
    assert ended.code == 0
    assert "healthy: every artifact can be read" in ended.out
    assert store.read_bytes() == before


def test_damage_ends_in_code_1_until_it_is_repaired(paragone, store):
    assert "12 artifacts got a checksum" in paragone("store", "check", store, "--repair").out
    spoil(store)
    ended = paragone("store", "check", store, "--json")
    told = json.loads(ended.out)["diagnosis"]
    assert (ended.code, told["healthy"], told["damage"][0]["kind"]) == (1, False, "cell")
    assert "--repair" in ended.err
    ended = paragone("store", "check", store, "--repair", "--json")
    told = json.loads(ended.out)
    assert (ended.code, told["repair"]["cells_to_run"], told["diagnosis"]["healthy"]) == (
        0,
        1,
        True,
    )
    assert told["repair"]["dropped"][0]["kind"] == "cell"
    assert (
        "healthy: every artifact can be read and agrees with its checksum"
        in paragone("store", "check", store).out
    )


def test_what_is_no_store_ends_in_code_2_and_one_sentence(paragone, tmp_path, store):
    (tmp_path / "a.txt").write_text("no store")
    content = bytearray(store.read_bytes())
    content[:100] = bytes(100)
    (tmp_path / "b.sqlite").write_bytes(content)
    for path in (tmp_path / "a.txt", tmp_path / "b.sqlite", tmp_path / "none", tmp_path):
        for option in ("--json", "--repair"):
            ended = paragone("store", "check", path, option)
            assert ended.code == 2
            assert len(ended.err.strip().splitlines()) == 1
