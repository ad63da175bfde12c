"""What a cell costs the engine, and how much memory it takes, in stores of ten thousand to a million cells.

Run: python benchmarks/growth.py [--sizes 10000,100000,1000000] [--real 1000] [--workers 2]
[--folder FOLDER]

A store is filled with made-up results; a fixed number of cells, spread over the whole plan, is then
taken out and really runs: what the coordinator takes for each of them, how much of that for claims
and commits, how long it takes until the first has ended, and its memory from the first to the last.
Then the same command runs again with nothing left to do, and `paragone status` is asked. Every step
is a process of its own. With ``--folder`` the stores are kept, and filled once only.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from engine import NoProtocol, Nothing
from paragone.data import Dataset
from paragone.lab.cells import Cell, Fitted, Outcome, Score
from paragone.lab.engine import Tally
from paragone.lab.experiment import Experiment
from paragone.lab.store import Store

FOLDS, METHODS = 10, 20
CELLS_A_TRANSACTION = 1000
MEBIBYTE = 2**20


def main() -> None:
    """Measure every size asked for and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--real", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--step", choices=sorted(STEPS))
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    if options.step is not None:
        print(
            json.dumps(
                STEPS[options.step](options.folder / f"{sizes[0]}.sqlite", sizes[0], options)
            )
        )
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        show([measured(folder, size, options) for size in sizes])


def measured(folder: Path, size: int, options: argparse.Namespace) -> dict[str, float]:
    """Take every step of one size, each in a process of its own, and return the figures."""
    found: dict[str, float] = {"cells": size}
    steps = ["fill"] * (not (folder / f"{size}.sqlite").exists()) + ["run", "resume", "status"]
    for step in steps:
        arguments = [
            "--sizes",
            str(size),
            "--real",
            str(options.real),
            "--workers",
            str(options.workers),
        ]
        done = subprocess.run(
            [sys.executable, __file__, *arguments, "--folder", str(folder), "--step", step],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        found |= json.loads(done.stdout.splitlines()[-1])
        print(f"{size}: {step}: {done.stdout.splitlines()[-1]}", file=sys.stderr, flush=True)
    return found


def show(rows: list[dict[str, float]]) -> None:
    """Print the figures, a column per size."""
    for name in rows[0]:
        print(f"{name:52s}" + "".join(f"{row.get(name, float('nan')):>14,.3f}" for row in rows))


# The steps


def fill(store: Path, size: int, options: argparse.Namespace) -> dict[str, float]:
    """Plan the experiment and write results of all cells, those that are to run included.

    The first is committed as every result is; the others get copies of its rows, since a million
    commits take five minutes and leave tables of the same shape.
    """
    experiment = empty_experiment(size)
    cpu = time.process_time()
    with Store(store, create=True) as opened:
        opened.write_plan(experiment.plan(experiment.layout))
        first = experiment.cells()[0]
        opened.commit(first.key, first.fit_key, made_up())
        with opened.writing() as database:
            for statement in COPIES:
                database.execute(statement, {"key": first.key, "fit_key": first.fit_key})
    return {
        "fill: CPU s": time.process_time() - cpu,
        "file, bytes per cell": store.stat().st_size / size,
    }


# In the order of the plan, as a run leaves them.
COPIES = (
    """INSERT INTO fits SELECT p.fit_key, f.arrays, f.info, f.seconds FROM plan p, fits f
       WHERE f.fit_key = :fit_key AND p.key <> :key ORDER BY p.fit_key""",
    """INSERT INTO cells (key, fit_key, status, seconds, notes, error, traceback, finished_at)
       SELECT p.key, p.fit_key, c.status, c.seconds, c.notes, c.error, c.traceback, c.finished_at
       FROM plan p, cells c WHERE c.key = :key AND p.key <> :key ORDER BY p.position""",
    """INSERT INTO scores SELECT c.id, s.measure_id, s.position, s.at, s.value FROM cells c, scores s
       WHERE s.cell_id = 1 AND c.id > 1 AND :key <> :fit_key""",
    """INSERT INTO costs SELECT c.id, k.cpu_seconds, k.peak_memory FROM cells c, costs k
       WHERE k.cell_id = 1 AND c.id > 1 AND :key <> :fit_key""",
    """INSERT INTO fit_costs SELECT p.fit_key, f.cpu_seconds FROM plan p, fit_costs f
       WHERE f.fit_key = :fit_key AND p.key <> :key ORDER BY p.fit_key""",
    """INSERT INTO checksums SELECT s.kind, p.key, s.sha256 FROM plan p, checksums s
       WHERE s.kind IN ('cell', 'scores') AND s.key = :key AND p.key <> :key AND :fit_key <> ''
       ORDER BY s.kind, p.key""",
    """INSERT INTO checksums SELECT s.kind, p.fit_key, s.sha256 FROM plan p, checksums s
       WHERE s.kind = 'fit' AND s.key = :fit_key AND p.key <> :key ORDER BY p.fit_key""",
)


def made_up() -> Outcome:
    """Return what an empty cell gives, by the protocol of `engine.py`."""
    fitted = Fitted({"ranking": np.arange(3)}, {}, 0.001, 0.001)
    return Outcome(
        "done",
        (Score("nothing", 0.0),),
        fitted,
        seconds=0.002,
        cpu_seconds=0.002,
        peak_memory=1 << 16,
    )


def run(store: Path, size: int, options: argparse.Namespace) -> dict[str, float]:
    """Take some results out of the store, and have a run compute them again."""
    follower = Follower()
    cpu = time.process_time()
    experiment = empty_experiment(size)
    take_out(store, spread(experiment.cells(), options.real))
    planned = time.process_time() - cpu
    claims, commits = timed("claim"), timed("commit")
    follower.expected = options.real
    experiment.run(store, workers=options.workers, observer=follower).close()
    first, last = follower.marks[0], follower.marks[-1]
    n_between = len(follower.marks) - 1
    return {
        "plan: CPU s": planned,
        "run: CPU s until the first cell has ended": first.cpu - follower.begun_cpu,
        "run: coordinator CPU ms per cell": 1000 * (last.cpu - first.cpu) / n_between,
        "run: of it for a claim, ms": 1000 * claims.mean,
        "run: of it for a commit, ms": 1000 * commits.mean,
        "run: wall ms per cell": 1000 * (last.wall - first.wall) / n_between,
        "run: coordinator MiB at the first cell": first.memory,
        "run: coordinator MiB at the last cell": last.memory,
        "run: coordinator MiB at the most": peak_mebibytes(),
    }


def resume(store: Path, size: int, options: argparse.Namespace) -> dict[str, float]:
    """Run again where nothing is left to do."""
    cpu = time.process_time()
    experiment = empty_experiment(size)
    experiment.cells()
    planned = time.process_time()
    experiment.run(store, workers=options.workers).close()
    return {
        "resume, all done: CPU s beside the plan": time.process_time() - planned,
        "resume, all done: CPU s with the plan": time.process_time() - cpu,
        "resume, all done: MiB at the most": peak_mebibytes(),
    }


def status(store: Path, size: int, options: argparse.Namespace) -> dict[str, float]:
    """Ask for the status from the command line."""
    from load import time_command

    _, cpu, peak = time_command(("status", store))
    return {"status: CPU s": cpu, "status: MiB at the most": peak}


STEPS: dict[str, Callable[[Path, int, argparse.Namespace], dict[str, float]]] = {
    "fill": fill,
    "run": run,
    "resume": resume,
    "status": status,
}


# What the steps need


def empty_experiment(size: int) -> Experiment:
    """Declare an experiment of so many cells that cost nothing."""
    rng = np.random.default_rng(0)
    datasets = [
        Dataset(f"D{i:04d}", rng.random((40, 3)), rng.integers(0, 2, (40, 2)), "multilabel")
        for i in range(size // (FOLDS * METHODS))
    ]
    methods = {f"M{i:02d}": Nothing(i) for i in range(METHODS)}
    return Experiment(datasets, methods, {"folds": FOLDS}, NoProtocol(), name="grown")


def spread(cells: tuple[Cell, ...], count: int) -> list[str]:
    """Return the keys of so many cells of the whole plan, the same ones whenever it is asked."""
    chosen = np.random.default_rng(1).permutation(len(cells))[:count]
    return [cells[number].key for number in sorted(chosen.tolist())]


def take_out(store: Path, keys: list[str]) -> None:
    """Delete the results of some cells with their fits, as if they had not run."""
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA foreign_keys = ON")
    with connection:
        for key in keys:
            connection.execute(
                "DELETE FROM fits WHERE fit_key = (SELECT fit_key FROM cells WHERE key = ?)", (key,)
            )
            connection.execute("DELETE FROM cells WHERE key = ?", (key,))
    connection.close()


class timed:  # noqa: N801  reads as what it does
    """Adds up the processor time that a method of `Store` takes."""

    def __init__(self, method: str) -> None:
        self.seconds, self.calls = 0.0, 0
        inner: Any = getattr(Store, method)

        @wraps(inner)
        def outer(*given: Any, **named: Any) -> Any:
            begun = time.process_time()
            try:
                return inner(*given, **named)
            finally:
                self.seconds += time.process_time() - begun
                self.calls += 1

        setattr(Store, method, outer)

    @property
    def mean(self) -> float:
        """The seconds of a call."""
        return self.seconds / max(1, self.calls)


class Mark:
    """The state of this process at a moment: time, processor time and memory."""

    def __init__(self) -> None:
        self.wall, self.cpu, self.memory = (
            time.perf_counter(),
            time.process_time(),
            resident_mebibytes(),
        )


class Follower:
    """Notes the state of the coordinator at every cell that ends."""

    def __init__(self) -> None:
        self.begun_cpu = time.process_time()
        self.expected = 0
        self.marks: list[Mark] = []

    def began(self, tally: Tally) -> None:
        """See that the cells which were taken out run, and no others."""
        if tally.total - tally.skipped != self.expected:
            sys.exit(
                f"{tally.total - tally.skipped} cells would run: the code changed since the store"
                " was filled"
            )

    def said(self, sentence: str, tally: object) -> None:
        """Nothing to note."""

    def finished(self, cell: object, outcome: object, tally: object) -> None:
        """Note how things stand."""
        self.marks.append(Mark())


def resident_mebibytes() -> float:
    """Return the memory of this process that is in use now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEBIBYTE


def peak_mebibytes() -> float:
    """Return the most memory that this process had in use."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
