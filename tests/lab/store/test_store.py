"""The store: whole commits, claims, and two who create it at once."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from paragone import machine
from paragone.errors import InputError
from paragone.lab.cells import Cell, Fitted, Outcome, Parts, Score
from paragone.lab.store import Plan, Store, runs
from paragone.lab.store.runs import RunIdentity, Watch
from paragone.machine import FileSystem

DONE = Outcome(
    "done",
    scores=(
        Score("micro_f1", 0.5, "k", 10),
        Score("micro_f1", float("nan"), "k", 20),
        Score("rmse", 1.0),
    ),
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
    assert store.read(
        "SELECT metric, grid, at, value FROM scores JOIN measures ON measures.id = measure_id"
    ) == [
        ("micro_f1", "k", 10.0, 0.5),
        ("micro_f1", "k", 20.0, None),
        ("rmse", "", None, 1.0),
    ]
    fitted = store.fitted("fit")
    assert fitted.arrays["ranking"].tolist() == [0, 1, 2]
    assert (fitted.info, fitted.seconds) == ({"iterations": 2}, 0.1)
    assert store.fitted("other") is None


def test_a_commit_that_fails_half_way_leaves_nothing(store):
    bad = Outcome(
        "done", scores=(Score("micro_f1", 0.5), Score("micro_f1", "text")), fitted=DONE.fitted
    )
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


ME = RunIdentity.of_this_process()
BEGAN, _, TABLE = ME.process_start.partition(" ")
BEFORE_THE_RESTART = TABLE.replace(machine.boot(), "00000000-0000-0000-0000-000000000000")


@pytest.mark.parametrize(
    "dead",
    [replace(ME, pid=2**22 + 7), replace(ME, process_start=f"1 {TABLE}")],
    ids=["no such process", "the id is another process's now"],
)
def test_the_claim_of_a_dead_run_is_void(store, dead):
    gone, alive = begin(store, dead), begin(store)
    assert store.claim("key", gone) == "claimed"
    assert store.running() == []
    assert store.claim("key", alive) == "claimed"


@pytest.mark.parametrize(
    "elsewhere",
    [
        replace(ME, host="another-host"),
        replace(ME, process_start=f"{BEGAN} {machine.boot()} pid:[1]"),
        replace(ME, process_start=f"{BEGAN} {BEFORE_THE_RESTART}"),
        replace(ME, process_start=""),
        replace(ME, process_start=BEGAN),
    ],
    ids=["host", "container", "restart", "a system that does not tell", "an older version"],
)
def test_an_id_of_another_process_table_is_judged_by_its_heartbeat_alone(store, elsewhere):
    """Its process id is this very process's: alive by the table, which says nothing about it."""
    run, here = begin(store, elsewhere), begin(store)
    seconds = iter(range(0, 1000, 10))
    store._watch = Watch(now=lambda: float(next(seconds)))
    store.claim("key", run)
    assert [store.claim("key", here) for _ in range(7)] == ["taken"] * 6 + ["claimed"]


def test_a_living_container_of_the_same_name_keeps_its_claim(tmp_path, store):
    """The reviewer's case: the same host name, a process id that is nobody's here, and a run that lives."""
    script = (
        "import sys, time\nfrom paragone.lab.store import Store\nfrom paragone.lab.store.runs"
        " import RunIdentity\nwith Store(sys.argv[1], create=True) as store:\n   "
        " print(store.claim('key', store.begin_run(RunIdentity.of_this_process(), 1, {})),"
        " flush=True)\n    time.sleep(60)\n"
    )
    command = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip(
            "NOT TRIED: process namespaces cannot be made here; run as root to have it tried"
        )
    run = subprocess.Popen(
        [*command, sys.executable, "-c", script, store.path], stdout=subprocess.PIPE, text=True
    )
    try:
        assert run.stdout.readline().strip() == "claimed"
        assert store.claim("key", begin(store)) == "taken"
        assert store.running() == ["key"]
    finally:
        run.kill()
        run.wait()


def test_a_run_on_another_machine_lives_while_its_heartbeat_moves_whatever_the_clocks_say(store):
    elsewhere = begin(store, RunIdentity("another-host", 1, "1"))
    here = begin(store)
    seconds = [0.0]
    store._watch = Watch(now=lambda: seconds[0])
    store.claim("key", elsewhere)
    for set_back in (0, 3600, -7200, 86400):
        store._connection.execute(
            "UPDATE runs SET beat = beat - ? WHERE id = ?", (set_back + 5, elsewhere)
        )
        for _ in range(6):
            assert store.claim("key", here) == "taken"
            seconds[0] += 10.0
    assert store.claim("key", here) == "claimed"


def test_after_a_sleep_of_this_machine_the_others_are_given_their_minute_anew(store):
    """A laptop that slept for a night, or a virtual machine that was paused beside the other one."""
    elsewhere, here = begin(store, RunIdentity("another-host", 1, "1")), begin(store)
    seconds = iter([0.0, 5.0, 30000.0, 30005.0])
    store._watch = Watch(now=lambda: next(seconds))
    store.claim("key", elsewhere)
    assert [store.claim("key", here) for _ in range(4)] == ["taken"] * 4


def test_a_run_whose_clock_was_set_is_heard_before_it_counts_as_dead(tmp_path, store, monkeypatch):
    monkeypatch.setattr(runs, "LISTEN_SECONDS", 0.01)
    monkeypatch.setattr(runs, "MOST_BETWEEN_LOOKS", 0.5)
    elsewhere = begin(store, RunIdentity("another-host", 1, "1"))
    store.claim("key", elsewhere)
    store._connection.execute("UPDATE runs SET beat = beat - 9000 WHERE id = ?", (elsewhere,))
    runs.refuse_while_running(store._connection, store.path)
    beating = threading.Timer(
        0.1,
        lambda: store._connection.execute(
            "UPDATE runs SET beat = beat + 5 WHERE id = ?", (elsewhere,)
        ),
    )
    beating.start()
    with pytest.raises(InputError, match=r"a run is at work in store .* on another-host"):
        runs.refuse_while_running(store._connection, store.path)
    beating.join()


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
    with pytest.raises(
        InputError, match="cannot be used: database or disk is full; free some space"
    ):
        store.commit("key", "fit", big)
    assert store.statuses(["key"]) == {}


def planned(version: str, methods: str) -> list[Cell]:
    return [
        Cell(
            "d",
            fold,
            method,
            "curve",
            Parts("d", "s", method, "p", version, str(fold)),
            f"fit of {method} {fold}",
        )
        for method in methods
        for fold in range(3)
    ]


@pytest.mark.parametrize("rows_passed", [0, 10**6], ids=["looked up one by one", "passed over"])
def test_what_is_known_of_some_cells_is_the_same_whichever_way_it_is_found(
    store, monkeypatch, rows_passed
):
    """In a large store few cells are looked up, and for many all are read: the answers are equal."""
    monkeypatch.setattr("paragone.lab.store.store.ROWS_PASSED_PER_LOOKUP", rows_passed)
    old, new = planned("v1", "ABC"), planned("v2", "BCD")
    for cells in (old, new):
        store.write_plan(Plan("lab", "{}", {}, cells, {}, {}, {}))
        for number, cell in enumerate(cells[:5]):
            store.commit(cell.key, cell.fit_key, replace(DONE, seconds=float(number)))
    asked = [cell.key for cell in new] + ["no such key"]
    assert store.statuses(asked) == {cell.key: "done" for cell in new[:5]}
    assert dict(store.seconds_taken(asked)) == {
        cell.key: float(n) for n, cell in enumerate(new[:5]) if n
    }
    assert store.fits_among({"fit of A 0", "fit of C 1", "fit of D 0"}) == {
        "fit of A 0",
        "fit of C 1",
    }
    places = [cell.place for cell in planned("", "ABD")]
    # Of B, the newest that has a result: of this plan where there is one, else of the one before.
    wanted = {cell.place: cell.parts for cell in old[:5]} | {
        cell.place: cell.parts for cell in new[:5]
    }
    assert store.earlier_parts("lab", places) == {
        place: wanted[place] for place in places if place in wanted
    }
    assert store.earlier_parts("another", places) == {}


def test_a_plan_that_is_planned_again_is_not_written_and_one_cell_more_is(store):
    cells = planned("v1", "AB")
    store.write_plan(Plan("lab", "{}", {}, cells, {}, {}, {}))
    changes = store.read("SELECT total_changes()")[0][0]
    store.write_plan(Plan("lab", "{}", {}, planned("v1", "AB"), {}, {}, {}))
    assert store.read("SELECT total_changes()")[0][0] == changes + 1, "the time of planning alone"
    for others in (cells[:-1], planned("v1", "ABC"), cells[::-1]):
        store.write_plan(Plan("lab", "{}", {}, others, {}, {}, {}))
        current = "SELECT key FROM plan WHERE current = 1 ORDER BY position"
        assert [key for (key,) in store.read(current)] == [cell.key for cell in others]


def test_on_a_disk_that_hosts_share_nobody_writes_and_everybody_reads(tmp_path, monkeypatch):
    here, there = tmp_path / "here.sqlite", tmp_path / "there.sqlite"
    with Store(here, create=True) as store:
        store.commit("k", "f", Outcome("done", scores=(Score("micro_f1", 0.5),)))
    shutil.copy(here, there)
    monkeypatch.setattr(
        "paragone.lab.store.opening.file_system",
        lambda path: FileSystem("nfs4", "/home", is_shared=True),
    )
    with pytest.raises(InputError, match=r"nfs4 at /home.*give a store on a local disk"):
        Store(there, create=True)
    with pytest.raises(InputError, match="give a store on a local disk"):
        Store(tmp_path / "new.sqlite", create=True)
    with Store(there) as store:
        assert store.statuses(["k"]) == {"k": "done"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here.sqlite", "there.sqlite"]
