"""The lease on a store that hosts share, and copies of it: who may write, who is dead, and what a reader gets."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from paragone.errors import InputError
from paragone.lab.cells import Outcome, Score
from paragone.lab.store import Store, shared_disk
from paragone.lab.store.copying import reading
from paragone.lab.store.doctor import compact, examine, repair
from paragone.lab.store.runs import RunIdentity
from paragone.lab.store.shared_disk import Lease, copy_as_it_is
from paragone.machine import FileSystem

DONE = Outcome("done", scores=(Score("micro_f1", 0.5),), predictions=b"x" * 5000)


@pytest.fixture(autouse=True)
def shared(monkeypatch):
    """Every disk is shared, and a minute of silence takes a moment."""
    monkeypatch.setattr(
        shared_disk, "file_system", lambda path: FileSystem("nfs4", "/home", is_shared=True)
    )
    monkeypatch.setattr(shared_disk, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(shared_disk, "DEAD_AFTER_SECONDS", 0.4)
    monkeypatch.setattr(shared_disk, "BEAT_SECONDS", 0.05)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "lab.sqlite"


def held_elsewhere(path: Path, monkeypatch, **identity: object) -> Lease:
    """Return a lease that a process on another host holds; its heart beats in this process."""
    there = replace(RunIdentity.of_this_process(), **{"host": "node7", "pid": 12, **identity})
    with monkeypatch.context() as other:
        other.setattr(RunIdentity, "of_this_process", classmethod(lambda cls: there))
        return Lease(path)


def die(lease: Lease) -> None:
    """Let the holder of a lease be silent for good."""
    lease._ended.set()
    time.sleep(0.1)


def leases(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.glob("*-lease-*"))


def test_a_living_holder_elsewhere_keeps_others_away_with_one_sentence(path, monkeypatch):
    lease = held_elsewhere(path, monkeypatch)
    with pytest.raises(
        InputError,
        match=r"process 12 on node7 is at work in store .*lab.sqlite.* \(nfs4 at /home\)",
    ):
        Store(path, create=True)
    lease.check()
    lease.release()
    Store(path, create=True).close()
    assert leases(path) == []


def test_this_very_process_is_not_given_the_lease_twice(path):
    with Store(path, create=True), pytest.raises(InputError, match="is at work in store"):
        Store(path, create=True)
    Store(path, create=True).close()


def test_the_lease_of_a_silent_holder_is_taken_over_and_the_sleeper_stops(path, monkeypatch):
    sleeper = Store(path, create=True)
    sleeper.commit("a", "fit", DONE)
    make_elsewhere(sleeper)
    with Store(path, create=True) as store:
        with pytest.raises(InputError, match="was taken over by another run"):
            sleeper.commit("b", "fit", DONE)
        store.commit("c", "fit", DONE)
        sleeper.close()
        store.commit("d", "fit", DONE)
        assert set(store.statuses("abcd")) == {"a", "c", "d"}
        assert store.read("PRAGMA integrity_check") == [("ok",)]
    with Store(path) as opened:
        assert set(opened.statuses("abcd")) == {"a", "c", "d"}


def make_elsewhere(store: Store) -> None:
    """Let a store that this process has open be one that a sleeping host has open."""
    lease = store._connection.lease
    lease._ended.set()
    time.sleep(0.1)
    lease._content = lease._content.replace(os.uname().nodename.encode(), b"laptop")
    lease._file.write_bytes(lease._content)


def test_what_a_sleeper_writes_on_its_awakening_does_not_reach_the_store(path):
    """It fell asleep after the look at its lease and before the commit, so no look helps."""
    sleeper = Store(path, create=True)
    sleeper.commit("a", "fit", DONE)
    make_elsewhere(sleeper)
    with sleeper.writing() as asleep:
        asleep.execute("INSERT INTO measures (metric, grid) VALUES ('awake', '')")
        with Store(path, create=True) as store:
            store.commit("b", "fit", DONE)
            asleep.execute("COMMIT")
            asleep.execute("BEGIN")
            store.commit("c", "fit", DONE)
            assert store.read("PRAGMA integrity_check") == [("ok",)]
    sleeper.close()
    with Store(path) as opened:
        assert set(opened.statuses("abc")) == {"a", "b", "c"}
        assert opened.read("SELECT metric FROM measures") == [("micro_f1",)]


@pytest.mark.parametrize("count", [2, 8])
def test_of_many_who_follow_a_dead_holder_one_has_the_lease_at_any_time(path, monkeypatch, count):
    die(held_elsewhere(path, monkeypatch))
    inside, most, wins, refused = [0], [0], [0], [0]
    lock = threading.Lock()

    def follow() -> None:
        try:
            lease = Lease(path)
        except InputError:
            with lock:
                refused[0] += 1
            return
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            wins[0] += 1
        time.sleep(0.02)
        lease.check()
        with lock:
            inside[0] -= 1
        lease.release()

    threads = [threading.Thread(target=follow) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 1
    assert wins[0] >= 1
    assert wins[0] + refused[0] == count
    assert leases(path) == []


def test_a_slow_follower_does_not_follow_whoever_has_the_number_by_now(path, monkeypatch):
    """It judged one holder dead; before it acts, another one came, worked and went, and a third is at work."""
    die(held_elsewhere(path, monkeypatch))
    third: list[Lease] = []
    judged = shared_disk._await_silence

    def slowly(store: Path, lease: object) -> bool:
        dead = judged(store, lease)
        if not third:
            monkeypatch.setattr(shared_disk, "_await_silence", judged)
            Lease(path).release()
            third.append(held_elsewhere(path, monkeypatch, host="node9"))
        return dead

    monkeypatch.setattr(shared_disk, "_await_silence", slowly)
    with pytest.raises(InputError, match="on node9 is at work"):
        Lease(path)
    third[0].check()


def test_a_holder_that_was_killed_here_is_followed_at_once(path, monkeypatch):
    monkeypatch.setattr(shared_disk, "LOOK_SECONDS", 1000.0)
    script = (
        "import sys, os, pathlib\n"
        "from paragone.lab.store import Store, shared_disk\n"
        "from paragone.machine import FileSystem\n"
        "from paragone.lab.cells import Outcome\n"
        "shared_disk.file_system = lambda path: FileSystem('nfs4', '/home', True)\n"
        "store = Store(sys.argv[1], create=True)\n"
        "store.commit('a', 'fit', Outcome('failed', error='no'))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", script, path], check=False).returncode == -9
    assert leases(path) == ["lab.sqlite-lease-1"]
    with Store(path) as reader:
        assert reader.statuses("a") == {"a": "failed"}
    with Store(path, create=True) as store:
        assert store.statuses("a") == {"a": "failed"}
        assert leases(path) == ["lab.sqlite-lease-2"]


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS], ids=["ENOLCK", "ENOSYS"])
def test_a_file_system_without_locks_will_do(path, tmp_path, code):
    """SQLite itself meets the refusal: fcntl is replaced in a process of its own."""
    if shutil.which("cc") is None:
        pytest.skip("NOT TRIED: there is no C compiler to replace fcntl with")
    source, library = tmp_path / "nolock.c", tmp_path / "nolock.so"
    source.write_text(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n#include <fcntl.h>\n#include"
        " <stdarg.h>\nstatic int refused(int command) { return command == F_SETLK || command =="
        " F_SETLKW || command == F_GETLK; }\n#define SHIM(name) int name(int file, int command,"
        " ...) { va_list more; va_start(more, command);\\\n  void *value = va_arg(more, void *);"
        f" va_end(more);\\\n  if (refused(command)) {{ errno = {code}; return -1; }}\\\n  int"
        " (*real)(int, int, ...) = dlsym(RTLD_NEXT, #name); return real(file, command, value);"
        " }\nSHIM(fcntl)\nSHIM(fcntl64)\n"
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    script = (
        "import sys\n"
        "from paragone.lab.store import Store, shared_disk\n"
        "from paragone.machine import FileSystem\n"
        "from paragone.lab.cells import Outcome\n"
        "shared_disk.file_system = lambda path: FileSystem('lustre', '/scratch', True)\n"
        "with Store(sys.argv[1], create=True) as store:\n"
        "    assert not store._connection.lease.locks_work\n"
        "    store.commit('a', 'fit', Outcome('failed', error='no'))\n"
    )
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(
        [sys.executable, "-c", script, path],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    with Store(path) as reader:
        assert reader.statuses("a") == {"a": "failed"}


def test_a_stale_handle_ends_a_run_with_a_sentence(path, monkeypatch):
    with Store(path, create=True) as store:
        store.commit("a", "fit", DONE)

        def stale(self: Path) -> bytes:
            raise OSError(errno.ESTALE, "Stale file handle")

        with monkeypatch.context() as gone:
            gone.setattr(Path, "read_bytes", stale)
            with pytest.raises(
                InputError,
                match="cannot be used: Stale file handle; see that its file system is there",
            ):
                store.commit("b", "fit", DONE)
        store.commit("c", "fit", DONE)
        assert set(store.statuses("abc")) == {"a", "c"}


def test_readers_get_the_last_commit_and_write_nothing(path):
    with Store(path, create=True) as store:
        for number in range(5):
            store.commit(f"k{number}", "fit", DONE)
            before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
            with Store(path) as reader:
                assert len(reader.read("SELECT key FROM cells")) == number + 1
                with pytest.raises(
                    InputError, match="cannot be used: attempt to write a readonly database"
                ):
                    reader.commit("x", "fit", DONE)
            with reading(path) as rows:
                assert rows.database.execute("SELECT count(*) FROM cells").fetchone() == (
                    number + 1,
                )
            assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_the_doctor_looks_repairs_and_compacts_there(path):
    with Store(path, create=True) as store:
        store.commit("a", "fit", Outcome("failed", error="no"))
        assert examine(path).damage == ()
        with pytest.raises(InputError, match="is at work in store"):
            compact(path)
        with pytest.raises(InputError, match="is at work in store"):
            repair(path)
    assert compact(path).size_after > 0
    assert str(repair(path)) == "there was nothing to repair"
    assert [file.name for file in path.parent.iterdir()] == [path.name]


class TwoTables:
    """A database whose two tables, far from each other in the file, say the same number at any moment."""

    def __init__(self, path: Path) -> None:
        self._writer = sqlite3.connect(path, isolation_level=None)
        for statement in (
            "locking_mode = EXCLUSIVE",
            "journal_mode = WAL",
            "wal_autocheckpoint = 0",
        ):
            self._writer.execute(f"PRAGMA {statement}")
        for table in ("one", "space", "two"):
            self._writer.execute(f"CREATE TABLE {table} (round INTEGER, filling BLOB)")
            self._writer.execute(f"INSERT INTO {table} VALUES (0, zeroblob(100000))")
        self._round = 0
        self.checkpoint()

    def commit(self) -> None:
        """Count both tables up in one transaction."""
        self._round += 1
        self._writer.execute("BEGIN")
        for table in ("one", "two"):
            self._writer.execute(f"UPDATE {table} SET round = ?", (self._round,))
        self._writer.execute("COMMIT")

    def checkpoint(self) -> None:
        """Move the log into the file; the next commit begins it anew."""
        assert self._writer.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()[0] == 0

    def close(self) -> None:
        """Move the log into the file, and remove it."""
        self._writer.close()


ACTS = {
    "commit": ("commit",),
    "move the log": ("checkpoint",),
    "begin the log anew": ("checkpoint", "commit"),
    "begin it anew twice": ("checkpoint", "commit", "checkpoint", "commit"),
    "close": ("commit", "close"),
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    "when", ["before the file", "within the file", "before the log", "after both"]
)
def test_a_copy_is_of_one_moment_whatever_the_writer_does_meanwhile(
    path, tmp_path, monkeypatch, act, when
):
    tables = TwoTables(path)
    for _ in range(3):
        tables.commit()
    copyfile, acts = shutil.copyfile, list(ACTS[act])

    def act_now() -> None:
        while acts:
            getattr(tables, acts.pop(0))()

    def copying(source: Path, target: Path) -> None:
        """Copy a file, and let the writer act at the moment of the trial, once."""
        is_log = source.name.endswith("-wal")
        if when == ("before the log" if is_log else "before the file"):
            act_now()
        if when == "within the file" and not is_log:
            # Table one is copied before the act, and table two after it.
            half = source.stat().st_size // 2
            with source.open("rb", buffering=0) as read, target.open("wb") as written:
                written.write(read.read(half))
                act_now()
                written.write(read.read())
            return
        copyfile(source, target)
        if when == "after both" and is_log:
            act_now()

    monkeypatch.setattr(shutil, "copyfile", copying)
    monkeypatch.setattr(shared_disk, "AGAIN_SECONDS", 0.0)
    (tmp_path / "copy").mkdir()
    copy = sqlite3.connect(copy_as_it_is(path, tmp_path / "copy"))
    assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    one, two = (
        copy.execute(f"SELECT round FROM {table}").fetchone()[0] for table in ("one", "two")
    )
    assert one == two >= 3
    copy.close()
    tables.close()
