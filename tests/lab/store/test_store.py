"""The store: whole commits, claims, and two who create it at once."""

from __future__ import annotations

import sqlite3
import threading

import numpy as np
import pytest

from paragone.errors import InputError
from paragone.lab.cells import Fitted, Outcome, Score
from paragone.lab.store import Store
from paragone.lab.store.runs import RunIdentity, Watch

DONE = Outcome(
    "done",
    scores=(Score("micro_f1", 0.5, "k", 10), Score("micro_f1", float("nan"), "k", 20), Score("rmse", 1.0)),
    fitted=Fitted({"ranking": np.arange(3)}, {"iterations": 2}, 0.1),
    predictions=b"bytes",
)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "a.sqlite", create=True) as opened:
        yield opened


def begin(store: Store, identity: RunIdentity | None = None) -> int:
    return store.begin_run(identity or RunIdentity.of_this_process(), 1, {})


def test_a_commit_holds_scores_fit_and_predictions(store):
    store.commit("key", "fit", DONE)
    assert store.statuses(["key", "other"]) == {"key": "done"}
    assert store.read("SELECT metric, grid, at, value FROM scores JOIN measures ON measures.id = measure_id") == [
        ("micro_f1", "k", 10.0, 0.5),
        ("micro_f1", "k", 20.0, None),
        ("rmse", "", None, 1.0),
    ]
    fitted = store.fitted("fit")
    assert fitted.arrays["ranking"].tolist() == [0, 1, 2]
    assert (fitted.info, fitted.seconds) == ({"iterations": 2}, 0.1)
    assert store.fitted("other") is None


def test_a_commit_that_fails_half_way_leaves_nothing(store):
    bad = Outcome("done", scores=(Score("micro_f1", 0.5), Score("micro_f1", "text")), fitted=DONE.fitted)
    with pytest.raises(TypeError):
        store.commit("key", "fit", bad)
    for table in ("cells", "scores", "fits", "measures"):
        assert store.read(f"SELECT count(*) FROM {table}") == [(0,)]
    store.commit("key", "fit", DONE)


def test_committing_again_replaces_the_cell_and_its_scores(store):
    store.commit("key", "fit", DONE)
    assert store.claim("key", begin(store), again=True) == "claimed"
    store.commit("key", "fit", Outcome("failed", error="no"))
    assert store.statuses(["key"]) == {"key": "failed"}
    assert store.read("SELECT count(*) FROM scores") == [(0,)]
    assert store.read("SELECT count(*) FROM predictions") == [(0,)]


def test_a_claim_keeps_others_away_until_it_is_given_up(tmp_path, store):
    run, other = begin(store), begin(store)
    assert store.claim("key", run) == "claimed"
    assert store.claim("key", other) == "taken"
    assert store.running() == ["key"]
    store.release(run)
    assert store.claim("key", other) == "claimed"
    store.commit("key", "fit", DONE)
    assert store.claim("key", run) == "finished"
    assert store.claim("key", run, again=True) == "claimed"


@pytest.mark.parametrize(
    "dead",
    [
        RunIdentity(RunIdentity.of_this_process().host, 2**22 + 7, "1"),
        RunIdentity(RunIdentity.of_this_process().host, RunIdentity.of_this_process().pid, "another start"),
    ],
)
def test_the_claim_of_a_dead_run_is_void(store, dead):
    gone, alive = begin(store, dead), begin(store)
    assert store.claim("key", gone) == "claimed"
    assert store.running() == []
    assert store.claim("key", alive) == "claimed"


def test_a_run_on_another_machine_lives_while_its_heartbeat_moves_whatever_the_clocks_say(store):
    elsewhere = begin(store, RunIdentity("another-host", 1, "1"))
    here = begin(store)
    minutes = iter([0.0, 0.9, 1.8, 2.7, 3.8])
    store._watch = Watch(now=lambda: 60.0 * next(minutes))
    store.claim("key", elsewhere)
    for set_back in (0, 3600, -7200, 86400):
        store._connection.execute("UPDATE runs SET beat = beat - ? WHERE id = ?", (set_back + 5, elsewhere))
        assert store.claim("key", here) == "taken"
    assert store.claim("key", here) == "claimed"


def test_many_who_create_a_store_at_once_make_one(tmp_path):
    path, errors = tmp_path / "a.sqlite", []
    barrier = threading.Barrier(8)

    def create() -> None:
        barrier.wait()
        try:
            Store(path, create=True).close()
        except (InputError, sqlite3.Error) as error:
            errors.append(error)

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with Store(path) as opened:
        assert opened.read("PRAGMA integrity_check") == [("ok",)]
        assert opened.read("PRAGMA journal_mode") == [("wal",)]


def test_a_full_disk_is_said_in_one_sentence(tmp_path, store):
    store._connection.execute("PRAGMA max_page_count = 10")
    big = Outcome("done", predictions=b"x" * 10**6)
    with pytest.raises(InputError, match="cannot be used: database or disk is full; free some space"):
        store.commit("key", "fit", big)
    assert store.statuses(["key"]) == {}
