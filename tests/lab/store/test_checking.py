"""Checking a store: what is damaged is found, costs its own cell only, and comes back with the next run."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from paragone.errors import InputError
from paragone.lab.experiment import Experiment
from paragone.lab.results import Results
from paragone.lab.store import Store
from paragone.lab.store.checking import Repair, check, repair
from paragone.lab.store.queries import arrays_of, pack
from paragone.lab.store.runs import RunIdentity
from paragone.lab.store.schema import SCHEMA_VERSION, table_shapes
from paragone.protocols import Curve, KGrid

VERSION_1 = Path(__file__).with_name("version1.sqlite")


def experiment(*metrics: str) -> Experiment:
    return Experiment(
        ["wine-traits"],
        {"V": "variance", "C": "chi2"},
        {"folds": 2},
        Curve(k=KGrid(2, 8, 2), metrics=metrics or ("micro_f1", "hamming_loss")),
        name="lab",
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("lab") / "lab.sqlite"
    experiment().run(path, 0).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture
def store(finished, tmp_path) -> Path:
    return Path(shutil.copy(finished, tmp_path / "lab.sqlite"))


def scores(path: Path) -> pd.DataFrame:
    with Results.open(path) as results:
        return results.scores().sort_values(
            ["dataset", "fold", "method", "metric", "at"], ignore_index=True
        )


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def content(path: Path) -> dict[str, list[tuple]]:
    with closing(sqlite3.connect(path)) as database:
        return {shape.name: database.execute(shape.select()).fetchall() for shape in table_shapes()}


def repaired_or_told(path: Path) -> Repair | None:
    """Repair a file; where its very schema is gone, one sentence says so and nothing is touched."""
    before = path.read_bytes()
    try:
        return repair(path)
    except InputError as error:
        told = str(error)
    assert "restore a copy" in told
    assert path.read_bytes() == before
    return None


ONE = "(SELECT id FROM cells ORDER BY id LIMIT 1)"
KEY = f"(SELECT key FROM cells WHERE id = {ONE})"
FIT = f"(SELECT fit_key FROM cells WHERE id = {ONE})"
FLIPPED = "CAST(substr({0}, 1, 99) || X'FF' || substr({0}, 101) AS BLOB)"
PLANTED = {
    "a score": ("cell", f"UPDATE scores SET value = value + 1e-9 WHERE cell_id = {ONE} AND position = 0", 1),
    "a lost score": ("cell", f"DELETE FROM scores WHERE cell_id = {ONE} AND position = 3", 1),
    "a status": ("cell", f"UPDATE cells SET status = 'failed' WHERE id = {ONE}", 1),
    "predictions": ("cell", f"UPDATE predictions SET payload = {FLIPPED.format('payload')} WHERE cell_id = {ONE}", 1),
    "lost predictions": ("cell", f"DELETE FROM predictions WHERE cell_id = {ONE}", 1),
    "a lost cell": ("cell", f"DELETE FROM cells WHERE id = {ONE}", 1),
    "a checksum of scores": ("cell", f"UPDATE checksums SET sha256 = X'00' WHERE kind = 'scores' AND key = {KEY}", 1),
    "notes": ("cell", f"UPDATE cells SET notes = '[' WHERE id = {ONE}", 1),
    "a fit": ("fit", f"UPDATE fits SET arrays = {FLIPPED.format('arrays')} WHERE fit_key = {FIT}", 1),
    "a fit cut off": ("fit", f"UPDATE fits SET arrays = substr(arrays, 1, 40) WHERE fit_key = {FIT}", 1),
    "a lost fit": ("cell", f"DELETE FROM fits WHERE fit_key = {FIT}", 1),
    "a truth": ("truth", f"UPDATE truths SET payload = {FLIPPED.format('payload')}", 0),
    "a split": ("split", "UPDATE splits SET test = substr(test, 1, 8)", 0),
    "a dataset": ("dataset", "UPDATE datasets SET described = '{'", 0),
    "an experiment": ("experiment", "UPDATE experiments SET described = 'null'", 0),
    "a run": ("run", "UPDATE runs SET environment = '?'", 0),
    "a reference": ("reference", "DELETE FROM measures WHERE id = (SELECT min(id) FROM measures)", 4),
}  # fmt: skip


@pytest.mark.parametrize("what", PLANTED)
def test_planted_damage_is_found_costs_its_cells_only_and_comes_back(finished, store, what):
    kind, statement, cells = PLANTED[what]
    wanted = scores(finished)
    change(store, statement)
    before = store.read_bytes()
    found = check(store)
    assert not found.is_healthy
    assert kind in {fault.kind for fault in found.damage}
    assert store.read_bytes() == before, "an examination changes nothing"
    repaired = repair(store)
    assert repaired.after.is_healthy, repaired.after
    assert repaired.cells_to_run in (
        cells,
        0,
    ), "a cell that was gone already is not lost by the repair"
    with Results.open(store) as results:
        done = (
            results.places()["status"].value_counts().get("done", 0)
            if what != "an experiment"
            else 4
        )
    assert done == 4 - cells
    experiment().run(store, 0).close()
    pd.testing.assert_frame_equal(scores(store), wanted, check_exact=True)
    assert check(store).is_healthy


def test_a_whole_store_is_healthy_and_left_alone(store):
    before = store.read_bytes()
    found = check(store)
    assert found.is_healthy
    assert (found.damage, found.notes) == ((), ())
    assert dict(found.checked) == {"cells": 4, "fits": 4, "splits": 2, "truths": 2}
    assert store.read_bytes() == before
    assert str(repair(store)) == "there was nothing to repair"
    assert [path.name for path in store.parent.iterdir()] == ["lab.sqlite"]


def test_what_is_damaged_is_named_counted_and_deleted(store):
    change(store, PLANTED["predictions"][1])
    repaired = repair(store)
    ((kind, message),) = {(fault.kind, fault.message) for fault in repaired.dropped}
    assert kind == "cell"
    assert "V on wine-traits, fold 0" in message
    assert repaired.cells_to_run == 1
    assert "dropped: cell" in str(repaired)
    assert "1 cells have no result any more" in str(repaired)
    assert check(store).is_healthy
    assert (
        sum(
            len(rows) for table, rows in content(store).items() if table in ("cells", "predictions")
        )
        == 6
    )


def test_a_store_of_version_1_is_read_run_into_and_sealed(tmp_path):
    path = Path(shutil.copy(VERSION_1, tmp_path / "lab.sqlite"))
    told = scores(path)
    assert len(told) == 32
    assert len(check(path).notes) == 2
    assert check(path).is_healthy
    repaired = repair(path)
    assert (repaired.sealed, repaired.after.schema) == (12, SCHEMA_VERSION)
    assert (repaired.after.damage, repaired.after.notes) == ((), ())
    pd.testing.assert_frame_equal(scores(path), told, check_exact=True)


def test_a_run_into_a_store_of_version_1_brings_it_up_to_date(tmp_path):
    path = Path(shutil.copy(VERSION_1, tmp_path / "lab.sqlite"))
    experiment("one_error").run(path, 0).close()
    found = check(path)
    assert (found.schema, found.is_healthy) == (SCHEMA_VERSION, True)
    assert any("no checksum" in note for note in found.notes), (
        "what was there before has no checksum"
    )


@pytest.mark.parametrize("seed", range(12))
def test_a_file_with_scribbled_pages_gives_the_right_scores_back(finished, store, seed):
    wanted = scores(finished)
    rng = random.Random(seed)
    scribbled = bytearray(store.read_bytes())
    place = rng.randrange(4096, len(scribbled) - 200)
    scribbled[place : place + 200] = rng.randbytes(200)
    store.write_bytes(scribbled)
    repaired = repaired_or_told(store)
    if repaired is None:
        return
    assert repaired.after.is_healthy, repaired.after
    experiment().run(store, 0).close()
    pd.testing.assert_frame_equal(scores(store), wanted, check_exact=True)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.8, 0.95])
def test_a_file_that_is_cut_off_is_refused_and_left_as_it_is(store, share):
    content = store.read_bytes()[: int(store.stat().st_size * share)]
    store.write_bytes(content)
    for act in (Results.open, repair):
        with pytest.raises(InputError, match=r"is truncated .*restore a copy, or run"):
            act(store)
    assert not check(store).is_healthy
    assert store.read_bytes() == content


def test_an_index_that_is_damaged_is_made_anew(finished, store):
    with closing(sqlite3.connect(store)) as database:
        (root,) = database.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'plan_by_key'"
        ).fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    content = bytearray(store.read_bytes())
    place = root * size - 20
    content[place : place + 4] = b"zzzz"
    store.write_bytes(content)
    assert not check(store).is_healthy
    assert repair(store).after.is_healthy
    pd.testing.assert_frame_equal(scores(store), scores(finished), check_exact=True)


def test_a_file_that_is_no_store_is_refused(tmp_path, store):
    (tmp_path / "text.sqlite").write_text("nothing of the kind" * 100)
    with pytest.raises(InputError, match="it is no SQLite file"):
        check(tmp_path / "text.sqlite")
    with pytest.raises(InputError, match="does not exist"):
        check(tmp_path / "none.sqlite")
    damaged = bytearray(store.read_bytes())
    damaged[16:100] = bytes(84)
    store.write_bytes(damaged)
    with pytest.raises(InputError, match=r"cannot be opened|is truncated|not a Paragone store"):
        check(store)
    with pytest.raises(InputError):
        repair(store)
    assert store.read_bytes() == bytes(damaged)


def test_nothing_is_done_while_a_run_is_at_work(store):
    with Store(store, create=True) as opened:
        run = opened.begin_run(RunIdentity.of_this_process(), 1, {})
        opened.claim("some cell", run)
        with pytest.raises(InputError, match="a run is at work"):
            repair(store)


def no_labels() -> bytes:
    return pack({"ks": np.array([2])})


RENAME = "UPDATE experiments SET described = replace(described, '\"lab\"', '\"lob\"')"
WRONG = {
    "a score of no measure": (
        "UPDATE scores SET measure_id = 99 WHERE position = 0",
        (),
        "the measure of a score",
    ),
    "another name": (RENAME, (), "the declaration"),
    "predictions without labels": (
        "UPDATE predictions SET payload = ?",
        (no_labels(),),
        "the array 'labels'",
    ),
}


def read_all(results: Results) -> None:
    results.declared()
    results.scores()
    results.reader().predictions("wine-traits", 0, "V")


@pytest.mark.parametrize("name", WRONG)
def test_a_store_without_checksums_that_was_changed_gives_a_sentence(tmp_path, name):
    statement, values, sentence = WRONG[name]
    path = Path(shutil.copy(VERSION_1, tmp_path / "lab.sqlite"))
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement, values)
        database.commit()
    with Results.open(path) as results, pytest.raises(InputError, match=sentence):
        read_all(results)


def test_numbers_that_are_none_and_artifacts_that_are_gone_give_a_sentence(store):
    with Store(store) as opened, pytest.raises(InputError, match="a number is not one"):
        opened.read_records("SELECT 1e300", [("position", "i8")])
    with Store(store) as opened:
        for value in ("1", "NULL", "X'00'"):
            with pytest.raises(InputError, match="a value of 'error' is not a text"):
                opened.read(f"SELECT {value} AS error FROM cells")
        with pytest.raises(InputError, match="a value of 'fold' is not a whole number"):
            opened.read("SELECT name, 'a' AS fold FROM experiments")
        assert opened.read("SELECT NULL AS value, 0.5 AS at, 'anything' AS other") == [
            (None, 0.5, "anything")
        ]
        # An outer join may leave a column empty, but makes no other type of it.
        outer = "SELECT e.id, {} AS key FROM experiments e LEFT JOIN cells c ON c.id = -1"
        assert opened.read(outer.format("c.key")) == [(1, None)]
        with pytest.raises(InputError, match="a value of 'key' is not a text"):
            opened.read(outer.format("7"))
    with pytest.raises(InputError, match="an artifact is missing or damaged"):
        arrays_of(None, store)
