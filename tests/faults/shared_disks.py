"""A folder mounted twice through FUSE, as two hosts have one of a server: neither sees the other's locks."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.trial import Outcome, Trial, assert_speaks_clearly

SILENCE = "3"
"""Seconds after which a host that is not heard of counts as dead in these trials."""
LACKING = [
    what
    for what, there in {
        "root": os.geteuid() == 0,
        "/dev/fuse": os.path.exists("/dev/fuse"),
        "bindfs (scripts/install-fuse)": shutil.which("bindfs") is not None,
    }.items()
    if not there
]
CANNOT_MOUNT = f"NOT TRIED: a shared disk needs {', '.join(LACKING)}"


@contextmanager
def mounted_twice(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Give a folder as two hosts see it: each asks its server when a file is opened, and keeps its locks to itself."""
    real, *mounts = (folder / name for name in ("server", "one", "other"))
    mounted = []
    try:
        for place in (real, *mounts):
            place.mkdir()
        for place in mounts:
            subprocess.run(
                ["bindfs", "-o", "attr_timeout=0,entry_timeout=0", real, place], check=True
            )
            mounted.append(place)
        yield mounts[0], mounts[1]
    finally:
        for place in mounted:
            unmount(place)


def unmount(place: Path) -> None:
    """Take a mount away, once the processes that have files there have ended."""
    deadline = time.monotonic() + 10
    while subprocess.run(["umount", place], capture_output=True, check=False).returncode != 0:
        assert time.monotonic() < deadline, f"{place} is still in use"
        time.sleep(0.05)


def two_hosts(trial: Trial) -> Outcome:
    """Kill a run on a shared disk, or let its host sleep, at an instant; go on here or on another host."""
    with mounted_twice(trial.folder) as (one, other):
        here, there = {"LAB_SILENCE": SILENCE}, {"LAB_SILENCE": SILENCE, "LAB_HOST": "elsewhere"}
        trial.variant = trial.random.choice(
            ["goes on here", "goes on elsewhere", "sleeps, another host goes on"]
        )
        trial.store = one / "a.sqlite"
        first = trial.start(**here)
        trial.await_instant(first)
        first.signal(signal.SIGSTOP if trial.variant.startswith("sleeps") else signal.SIGKILL)
        if trial.variant != "goes on here":
            trial.store = other / "a.sqlite"
            second = trial.start(nap=0.0, **there)
            assert second.wait() == 0, (trial, second.errors)
            first.signal(signal.SIGCONT)
            code = first.wait()
            assert_speaks_clearly(first, code)
            if code == 2:
                assert "was taken over by another run" in first.errors, (trial, first.errors)
        outcome = trial.judge({0, 2, -signal.SIGKILL})
        assert not list(trial.store.parent.glob("*-lease-*")) or trial.variant == "goes on here", (
            trial
        )
        return outcome
