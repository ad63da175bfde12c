"""The folders of living runs are left alone, whatever their process ids say; those of dead ones go."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from paragone import folders
from paragone.lab.engine.spool import LOCK, PREFIX, LockedFolder, remove_orphans
from paragone.machine import FileSystem, boot

HOLDS = """
import sys, tempfile, time
tempfile.tempdir = sys.argv[1]
from paragone import folders
from paragone.lab.engine.spool import LockedFolder
folder = LockedFolder()
(folder.path / "data.npy").write_bytes(b"live")
print(folder.path, flush=True)
time.sleep(600)
"""


@pytest.fixture
def shared(tmp_path, monkeypatch) -> Path:
    """A folder for temporary files that several programs share."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def owner(shared):
    """Another program that holds a folder, in a process namespace of its own where that can be had."""
    command = [sys.executable, "-c", HOLDS, str(shared)]
    unshare = ["unshare", "--pid", "--fork", "--kill-child"]
    alone = subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0
    process = subprocess.Popen(
        [*(unshare if alone else []), *command], stdout=subprocess.PIPE, text=True
    )
    folder = Path(process.stdout.readline().strip())
    yield process, folder
    process.kill()
    process.wait()


def test_the_folder_of_a_living_run_stays_whoever_looks(shared, owner):
    _, folder = owner
    remove_orphans()
    LockedFolder().remove()
    assert (folder / "data.npy").read_bytes() == b"live"


def test_the_folder_of_a_killed_run_goes(shared, owner):
    process, folder = owner
    for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        os.kill(int(child), signal.SIGKILL)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10.0
    while folder.exists() and time.monotonic() < deadline:
        remove_orphans()
        time.sleep(0.05)
    assert not folder.exists()


def on_a_shared_disk(monkeypatch) -> None:
    """Let every folder be one that hosts share, whose locks each host keeps to itself."""
    monkeypatch.setattr(
        folders, "file_system", lambda path: FileSystem("lustre", "/", is_shared=True)
    )


def test_what_another_host_left_on_a_shared_disk_is_not_judged_by_a_lock_that_only_this_one_sees(
    shared, monkeypatch
):
    on_a_shared_disk(monkeypatch)
    left = shared / f"{PREFIX}abc"
    left.mkdir()
    (left / LOCK).write_text("the boot id of another host")
    remove_orphans()
    assert left.is_dir()
    (left / LOCK).write_text(boot())
    remove_orphans()
    assert not left.exists()


def test_after_a_restart_what_was_left_on_a_disk_of_this_machine_goes(shared):
    left = shared / f"{PREFIX}abc"
    left.mkdir()
    (left / LOCK).write_text("the boot id before the restart")
    remove_orphans()
    assert not left.exists()


def test_where_there_are_no_locks_nothing_counts_as_left(shared, monkeypatch):
    """Lustre mounted without flock answers every lock with ENOSYS, an NFS server without lockd with ENOLCK."""
    folder = LockedFolder()

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(folders.fcntl, "flock", refuse)
    remove_orphans()
    assert folder.path.is_dir()
    LockedFolder().remove()
    folder.remove()
    assert list(shared.iterdir()) == []


def test_a_folder_without_a_lock_is_not_ours_to_judge(shared):
    old = shared / f"{PREFIX}999999-abc"
    old.mkdir()
    remove_orphans()
    assert old.is_dir()


def test_it_has_its_lock_as_soon_as_it_can_be_found(shared):
    folder = LockedFolder()
    assert (folder.path / LOCK).is_file()
    remove_orphans()
    assert folder.path.is_dir()
    folder.remove()
    assert list(shared.iterdir()) == []
