"""Faults of the store's file and its disk: full, read-only, deleted, truncated, zeroed."""

from __future__ import annotations

import csv
import signal
import time
from pathlib import Path

from faults.disks import LoopDisk, fill, memory_disk
from faults.lab import contents
from faults.trial import N_CELLS, Outcome, Trial, assert_speaks_clearly, count_lines, reported_by

DISK_MEGABYTES = 8
INTERRUPTED = 130
SLOW_NAP_SECONDS = 0.1
SAFE_AFTER_SECONDS = 2.5


READ_ONLY_CODES = {0, 2, INTERRUPTED, -signal.SIGKILL}


def fill_disk(trial: Trial) -> Outcome:
    """Fill the disk of the store, and now and then that of the temporary files too."""
    with memory_disk(trial.folder / "disk", DISK_MEGABYTES) as disk:
        trial.store = disk / "a.sqlite"
        trial.variant = trial.random.choice(["the store's", "also that of temporary files"])
        run = trial.start(**({} if trial.variant == "the store's" else {"TMPDIR": str(disk)}))
        trial.await_instant(run)
        filler = fill(disk)
        code = run.wait()
        assert code in {0, 2}, run.errors
        if code == 2:
            assert "full" in run.errors, run.errors
            assert "free" in run.errors, run.errors
        if trial.store.exists() and trial.store.stat().st_size:
            looked = trial.command("status")
            assert_speaks_clearly(looked, looked.wait())
        filler.unlink()
        return trial.judge({0, 2})


def read_only_disk(trial: Trial) -> Outcome:
    """Make the disk read-only: under a run, as after an error of the hardware, or before it, as on an archive."""
    disk = LoopDisk(trial.folder)
    disk.mount()
    trial.store = disk.path / "a.sqlite"
    try:
        trial.variant = trial.random.choice(
            ["during the run", "before the run, after a kill", "before the run"]
        )
        run = trial.start()
        trial.await_instant(run)
        if trial.variant == "during the run":
            run.signal(signal.SIGSTOP)
            disk.flush()
            disk.turn_read_only()
            run.signal(signal.SIGCONT)
        else:
            run.signal(signal.SIGINT if trial.variant == "before the run" else signal.SIGKILL)
        code = run.wait()
        assert code in READ_ONLY_CODES, run.errors
        if code == 2:
            assert "read-only" in run.errors or "readonly" in run.errors, run.errors
        disk.unmount()
        if trial.variant != "during the run":
            look_at_read_only(trial, disk)
        disk.mount()
        return trial.judge(READ_ONLY_CODES)
    finally:
        disk.unmount()


def cut_power(trial: Trial) -> Outcome:
    """Stop the disk at an instant: whatever the system had not brought to it yet is gone, as when the power fails.

    The store brings its commits to the disk every second; so does this check, with some patience
    for a slow disk.
    """
    disk = LoopDisk(trial.folder)
    disk.mount()
    trial.store = disk.path / "a.sqlite"
    try:
        run = trial.start(nap=SLOW_NAP_SECONDS)
        trial.await_instant(run)
        disk.turn_read_only()
        cut_at = time.monotonic()
        run.signal(signal.SIGKILL)
        run.wait()
        disk.unmount()
        disk.mount()
        assert_no_wrong_score(trial)
        outcome = trial.judge({0, 2, -signal.SIGKILL}, deleted=True)
        safe = max(
            (count for when, count in trial.history if when < cut_at - SAFE_AFTER_SECONDS),
            default=0,
        )
        # The last fit that was noted may not have been committed yet.
        assert outcome.kept >= safe - 1, (trial, outcome, safe)
        return outcome
    finally:
        disk.unmount()


def look_at_read_only(trial: Trial, disk: LoopDisk) -> None:
    """Readers read a store on a read-only disk, a run says why it cannot go on."""
    disk.mount("ro")
    empty = not trial.store.exists() or trial.store.stat().st_size == 0
    for verb in ("status", "scores"):
        looked = trial.command(verb)
        code = looked.wait()
        assert_speaks_clearly(looked, code)
        assert code == 0 or empty, looked.errors
    refused = trial.start(nap=0.0)
    assert refused.wait() == 2, refused.errors
    disk.unmount()


def delete_store(trial: Trial) -> Outcome:
    """Delete the store, its log, or move its folder away, under the run."""
    (trial.folder / "place").mkdir()
    trial.store = trial.folder / "place" / "a.sqlite"
    run = trial.start()
    trial.await_instant(run)
    trial.variant = trial.random.choice(
        ["the file and its log", "the file", "the log", "folder moved away"]
    )
    if trial.variant == "folder moved away":
        trial.store.parent.rename(trial.folder / "elsewhere")
        trial.store.parent.mkdir()
    else:
        suffixes = {
            "the file and its log": ("", "-wal", "-shm"),
            "the file": ("",),
            "the log": ("-wal", "-shm"),
        }
        for suffix in suffixes[trial.variant]:
            trial.store.with_name(trial.store.name + suffix).unlink(missing_ok=True)
    code = run.wait()
    if code == 2:
        assert "deleted, moved or replaced" in run.errors, run.errors
    else:
        assert reported_by(run) == N_CELLS
    return trial.judge({0, 2}, deleted=True)


def damage(trial: Trial) -> Outcome:
    """Cut the store or its log short at a random byte, or zero random bytes at the end of one of them."""
    run = trial.start()
    trial.await_instant(run)
    # Interrupted, a run leaves all in the file; killed, it leaves most in the log.
    run.signal(trial.random.choice([signal.SIGINT, signal.SIGKILL]))
    code = run.wait()
    log = trial.store.with_name(trial.store.name + "-wal")
    which = [path for path in (trial.store, log) if path.exists() and path.stat().st_size]
    if which:
        _damage_one(trial, trial.random.choice(which))
    assert_no_wrong_score(trial)
    again = trial.bench.start(trial.folder, trial.store, nap=0.0, fits="later")
    trial.runs.append(again)
    refused = again.wait() == 2
    assert_speaks_clearly(again, again.wait())
    # A run does not read every artifact that it keeps; whoever reads one is told that it is
    # damaged, and what to do.
    sound = not refused and contents(trial.store) == trial.bench.reference
    mended = sound or repair(trial)
    if mended:
        last = trial.bench.start(trial.folder, trial.store, nap=0.0, fits="later")
        assert last.wait() == 0, last.errors
        assert contents(trial.store) == trial.bench.reference, trial
    kept = N_CELLS - count_lines(trial.folder / "later") if mended else 0
    codes = (code, again.wait())
    return trial.outcome(
        codes, reported_by(run), kept, 0, refused=refused, repaired=not sound, mended=mended
    )


def repair(trial: Trial) -> bool:
    """Have `paragone store check` save what is left; False where it says that nothing is."""
    checked = trial.command("store check", "--repair")
    assert_speaks_clearly(checked, checked.wait())
    return checked.wait() != 2


def _damage_one(trial: Trial, path: Path) -> None:
    size = path.stat().st_size
    name = "the log" if path.name.endswith("-wal") else "the file"
    with path.open("r+b") as file:
        if trial.random.random() < 0.5:
            trial.variant = f"{name} cut short"
            file.truncate(trial.random.randrange(size))
            return
        trial.variant = f"bytes of {name} zeroed"
        tail = trial.random.randrange(1, size)
        for _ in range(trial.random.choice([1, 10, 1000])):
            file.seek(size - 1 - trial.random.randrange(tail))
            file.write(b"\0")


def assert_no_wrong_score(trial: Trial) -> None:
    """Whatever a reader gives out of a damaged store is right; or it says why it gives nothing."""
    table = trial.folder / "scores.csv"
    looked = trial.command("scores", "--out", table)
    code = looked.wait()
    assert code in {0, 2}, looked.errors
    assert_speaks_clearly(looked, code)
    told = trial.command("status")
    assert_speaks_clearly(told, told.wait())
    if code == 0:
        with table.open() as file:
            found = {tuple(row.items()) for row in csv.DictReader(file)}
        assert found <= true_rows(trial), trial


def true_rows(trial: Trial) -> set[tuple[tuple[str, str], ...]]:
    """Return the rows of the undisturbed store, as the command writes them."""
    table = trial.bench.folder / "reference.csv"
    if not table.exists():
        store = trial.bench.folder / "reference.sqlite"
        trial.bench.server.start(("scores", store, "--out", table), trial.folder).wait()
    with table.open() as file:
        return {tuple(row.items()) for row in csv.DictReader(file)}
