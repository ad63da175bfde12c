"""What the store does when its file is short, gone, replaced or changed, and when others are quicker."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone import Results
from paragone.errors import InputError
from paragone.lab.cells import Cell, Fitted, Outcome, Parts, Score
from paragone.lab.store import Plan, Store
from paragone.lab.store.outcomes import scores_checksum
from paragone.lab.store.runs import RunIdentity

OUTCOME = Outcome(
    "done",
    scores=(
        Score("micro_f1", 0.5, "k", 10),
        Score("micro_f1", float("nan"), "k", 20),
        Score("rmse", -0.0),
    ),
    fitted=Fitted({"ranking": np.arange(3)}),
)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "a.sqlite", create=True) as opened:
        yield opened


def begin(store: Store) -> int:
    return store.begin_run(RunIdentity.of_this_process(), 1, {})


def test_a_file_that_disk_space_ended_for_is_whole_as_long_as_its_log_is(tmp_path):
    path, copy = tmp_path / "a.sqlite", tmp_path / "copy.sqlite"
    with Store(path, create=True) as store:
        store.commit("key", "fit", OUTCOME)
        store.read("PRAGMA wal_checkpoint(PASSIVE)")
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    os.truncate(copy, 4096)
    with Store(copy) as store:
        assert store.statuses(["key"]) == {"key": "done"}
        assert store.read("PRAGMA integrity_check") == [("ok",)]
    copy.with_name("copy.sqlite-wal").unlink(missing_ok=True)
    os.truncate(copy, 4096)
    with pytest.raises(InputError, match=r"is truncated \(4096 of \d+ bytes\)"):
        Store(copy)


@pytest.mark.parametrize("taken", [("",), ("-wal",), ("", "-wal", "-shm")])
def test_nothing_is_written_into_files_that_were_taken_away(tmp_path, taken):
    path = tmp_path / "a.sqlite"
    with Store(path, create=True) as store:
        store.commit("one", "fit", OUTCOME)
        for suffix in taken:
            path.with_name(path.name + suffix).unlink()
        with pytest.raises(InputError, match="deleted, moved or replaced"):
            store.commit("two", "fit", OUTCOME)


def test_a_store_in_the_place_of_another_is_not_taken_for_it(tmp_path):
    path = tmp_path / "a.sqlite"
    with Store(path, create=True) as store:
        store.commit("one", "fit", OUTCOME)
        path.rename(tmp_path / "b.sqlite")
        Store(path, create=True).close()
        with pytest.raises(InputError, match="deleted, moved or replaced"):
            store.commit("two", "fit", OUTCOME)


def test_many_commits_together_are_all_or_nothing(store):
    with store.together():
        store.commit("one", "fit", OUTCOME)
        store.commit("two", "fit", OUTCOME)
    assert store.statuses(["one", "two"]) == {"one": "done", "two": "done"}

    def commit_a_good_and_a_bad_one() -> None:
        with store.together():
            store.commit("three", "fit", OUTCOME)
            store.commit("four", "fit", Outcome("done", (Score("rmse", "text"),)))

    with pytest.raises(TypeError):
        commit_a_good_and_a_bad_one()
    assert store.statuses(["three", "four"]) == {}


def test_a_failure_that_comes_late_does_not_replace_what_another_run_did(store):
    slow, other = begin(store), begin(store)
    assert store.claim("key", slow) == "claimed"
    store._connection.execute("UPDATE claims SET run_id = ?", (other,))
    store.commit("key", "fit", OUTCOME)
    store.commit("key", "fit", Outcome("timeout", error="stopped for an hour"))
    assert store.statuses(["key"]) == {"key": "done"}
    assert store.claim("key", slow, again=True) == "claimed"
    store.commit("key", "fit", Outcome("failed", error="singular"))
    assert store.statuses(["key"]) == {"key": "failed"}


def test_commits_wait_for_the_disk_once_a_second(store, monkeypatch):
    now = iter([100.0, 100.5, 100.9, 101.1, 101.2])
    monkeypatch.setattr("paragone.lab.store.store.time.monotonic", lambda: next(now))
    store._synced = 99.0
    levels = []
    for number in range(5):
        store.commit(f"key {number}", "fit", OUTCOME)
        levels.append(store.read("PRAGMA synchronous")[0][0])
    normal, full = 1, 2
    assert levels == [full, normal, normal, full, normal]


def planned(path: Path) -> None:
    cells = [
        Cell("d", fold, "M", "curve", Parts("d", str(fold), "m", "p", "v", "0"), "fit")
        for fold in range(3)
    ]
    with Store(path, create=True) as store:
        store.write_plan(Plan("lab", "{}", {"name": "lab"}, cells, {}, {}, {}))
        for cell in cells:
            store.commit(cell.key, cell.fit_key, OUTCOME)


def test_scores_are_those_that_were_written_in_the_order_of_the_plan(tmp_path):
    planned(tmp_path / "a.sqlite")
    with Results.open(tmp_path / "a.sqlite") as results:
        scores = results.scores()
        assert scores["fold"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
        assert scores["metric"].tolist() == ["micro_f1", "micro_f1", "rmse"] * 3
        np.testing.assert_array_equal(scores["value"], [0.5, np.nan, 0.0] * 3)
        np.testing.assert_array_equal(scores["at"], [10, 20, np.nan] * 3)
        assert results.scores("rmse")["fold"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE scores SET value = value + 1e-15 WHERE cell_id = 2 AND position = 0",
        "UPDATE scores SET value = NULL WHERE cell_id = 2 AND position = 0",
        "UPDATE scores SET value = 0.0 WHERE cell_id = 2 AND position = 1",
        "UPDATE scores SET at = 11 WHERE cell_id = 2 AND position = 0",
        "UPDATE scores SET position = 9 WHERE cell_id = 2 AND position = 0",
        "DELETE FROM scores WHERE cell_id = 2 AND position = 1",
        "UPDATE measures SET metric = 'micro_f2' WHERE metric = 'micro_f1'",
    ],
)
def test_a_changed_score_is_never_given_out(tmp_path, change):
    planned(tmp_path / "a.sqlite")
    with Store(tmp_path / "a.sqlite") as store:
        store.read(change)
    with (
        Results.open(tmp_path / "a.sqlite") as results,
        pytest.raises(InputError, match=r"fold \d, are not those"),
    ):
        results.scores()


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b"]), st.floats(), st.one_of(st.none(), st.integers(0, 9)))
    )
)
def test_the_checksum_of_scores_depends_on_every_part_of_them(rows):
    scores = [Score(metric, value, "k", at) for metric, value, at in rows]
    checksum = scores_checksum(scores)
    assert checksum == scores_checksum([Score(s.metric, s.value, s.grid, s.at) for s in scores])
    for place, score in enumerate(scores):
        others = [
            Score(score.metric + "x", score.value, score.grid, score.at),
            Score(
                score.metric, 1.0 if np.isnan(score.value) else float("nan"), score.grid, score.at
            ),
            Score(score.metric, score.value, "p", score.at),
            Score(score.metric, score.value, score.grid, 10.0),
        ]
        for other in others:
            assert scores_checksum([*scores[:place], other, *scores[place + 1 :]]) != checksum


@pytest.mark.skipif(
    os.geteuid() == 0, reason="root may write everywhere; fault runs try it on a read-only disk"
)
def test_a_store_in_a_folder_that_may_not_be_written_is_read(tmp_path):
    folder = tmp_path / "archive"
    folder.mkdir()
    planned(folder / "a.sqlite")
    folder.chmod(0o555)
    try:
        with Results.open(folder / "a.sqlite") as results:
            assert len(results.scores()) == 9
    finally:
        folder.chmod(0o755)
