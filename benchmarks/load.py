"""How Paragone bears a large store: a million scores, a hundred thousand cells, a thousand datasets, a hundred stores.

Run: python benchmarks/load.py [--parts queries,plan,run,paper,merge] [--cells 100000] [--workers 2]
[--page FOLDER]

Every command is started from the command line, as a user would, and its wall time, CPU time and
peak memory are taken; where the machine is shared, the CPU time is the one to trust.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from engine import NoProtocol, Nothing
from made_up import write_made_up
from paragone.data import Dataset
from paragone.lab.cells import Cell, Fitted, Outcome, Parts, Score
from paragone.lab.experiment import Experiment
from paragone.lab.store import Plan, Store
from paragone.methods.method import digest

DATASETS, FOLDS, METHODS = 500, 10, 20
METRICS = ("micro_f1", "macro_f1", "hamming_loss", "ranking_loss", "one_error")
POINTS = (10.0, 20.0)
PAPER = (1000, 100, 2)
"""Datasets, methods and folds."""
MERGED_STORES, MERGED_METHODS, MERGED_FOLDS = 100, 100, 2
CELLS_A_TRANSACTION = 1000
STOPWATCH = """
import os, subprocess, sys, time
begun = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def main() -> None:
    """Measure the parts asked for and print a table each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default="queries,plan,run,paper,merge")
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--page", type=Path, help="where the report of a thousand datasets is kept")
    options = parser.parse_args()
    parts = {
        "queries": measure_queries,
        "plan": measure_planning,
        "run": measure_running,
        "paper": measure_paper,
        "merge": measure_merging,
    }
    for name in options.parts.split(","):
        with tempfile.TemporaryDirectory() as folder:
            parts[name](Path(folder), options)


# A million scores


def measure_queries(folder: Path, options: argparse.Namespace) -> None:
    """Fill a store with a million scores, then ask it from the command line."""
    store = folder / "large.sqlite"
    begun = time.perf_counter()
    n_cells, n_scores = fill_store(store)
    print(
        f"{n_scores:,} scores of {n_cells:,} cells, filled in {time.perf_counter() - begun:.1f} s"
    )
    print(
        f"file: {store.stat().st_size / 1e6:.0f} MB, {store.stat().st_size / n_scores:.0f} bytes a"
        " score\n"
    )
    print(f"{'command':46s} {'wall s':>8s} {'CPU s':>8s} {'peak MiB':>9s}")
    for arguments in (
        ("--version",),
        ("status", store),
        ("scores", store, "--metric", "micro_f1"),
        ("scores", store),
        ("scores", store, "--metric", "micro_f1", "--out", folder / "one.csv"),
        ("scores", store, "--out", folder / "all.csv"),
        ("compare", store, "--metric", "micro_f1"),
    ):
        wall, cpu, peak = time_command(arguments)
        shown = " ".join(Path(a).name if isinstance(a, Path) else a for a in arguments)
        print(f"{shown:46s} {wall:8.2f} {cpu:8.2f} {peak:9.0f}", flush=True)
    rows = sum(1 for _ in (folder / "all.csv").open()) - 1
    print(f"\nall.csv: {rows:,} rows, {(folder / 'all.csv').stat().st_size / 1e6:.0f} MB\n")


def fill_store(path: Path) -> tuple[int, int]:
    """Write a plan and its results through the store, many cells a transaction."""
    cells = list(made_up_cells())
    rng = np.random.default_rng(0)
    level = rng.random(METHODS)
    described = {"name": "large", "seed": 0, "methods": {}, "protocol": {"kind": "curve"}}
    datasets = {
        part_of("data", d): {"name": f"D{d:03d}", "n_features": 30} for d in range(DATASETS)
    }
    with Store(path, create=True) as store:
        store.write_plan(Plan("large", "{}", described, cells, {}, {}, datasets))
        for start in range(0, len(cells), CELLS_A_TRANSACTION):
            batch = cells[start : start + CELLS_A_TRANSACTION]
            with store.together():
                for cell in batch:
                    store.commit(
                        cell.key, cell.fit_key, made_up_outcome(rng, level[int(cell.method[1:])])
                    )
    return len(cells), len(cells) * len(METRICS) * len(POINTS)


def made_up_cells() -> Iterator[Cell]:
    """Yield the cells of the large experiment, in the order of work."""
    for dataset, fold, method in product(range(DATASETS), range(FOLDS), range(METHODS)):
        split = part_of("split", dataset, fold)
        parts = Parts(
            part_of("data", dataset),
            split,
            part_of("method", method),
            part_of("p"),
            part_of("v"),
            "0",
        )
        yield Cell(f"D{dataset:03d}", fold, f"M{method:02d}", "curve", parts, parts.fit_key(""))


def part_of(*words: object) -> str:
    """Make up the hash of a part."""
    return digest([str(word) for word in words])[:32]


def made_up_outcome(rng: np.random.Generator, level: float) -> Outcome:
    """Make up the scores of a cell."""
    values = 0.5 + 0.1 * level + 0.05 * rng.standard_normal((len(METRICS), len(POINTS)))
    scores = tuple(
        Score(metric, float(values[i, j]), "k", at)
        for i, metric in enumerate(METRICS)
        for j, at in enumerate(POINTS)
    )
    return Outcome("done", scores, Fitted({"ranking": np.arange(30)}), seconds=0.1)


def time_command(arguments: tuple[object, ...]) -> tuple[float, float, float]:
    """Run a `paragone` command; return its wall seconds, CPU seconds and peak memory in MiB."""
    # A small process in between: the peak of a child begins with the size of the process that forks
    # it.
    finished = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            STOPWATCH,
            sys.executable,
            "-m",
            "paragone",
            *map(str, arguments),
        ],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    wall, cpu, kibibytes = map(float, finished.stdout.split()[-3:])
    return wall, cpu, kibibytes / 1024


# A hundred thousand cells


def measure_planning(folder: Path, options: argparse.Namespace) -> None:
    """Plan many cells in two shapes, commit made-up results, and resume."""
    print(f"{'shape':34s} {'step':26s} {'wall s':>8s} {'CPU s':>8s}")
    per_dataset = FOLDS * METHODS
    shapes = {
        f"{options.cells // per_dataset} datasets x {METHODS} methods": (
            options.cells // per_dataset,
            METHODS,
        ),
        f"1 dataset x {options.cells // FOLDS} methods": (1, options.cells // FOLDS),
    }
    for shape, (n_datasets, n_methods) in shapes.items():
        store = folder / f"{n_datasets}.sqlite"
        with Clock(shape, "plan: cells and keys"):
            experiment = empty_experiment(n_datasets, n_methods)
            experiment.cells()
        with Clock(shape, "plan: into the store"):
            plan_into(store, experiment)
        with Store(store) as opened, opened.together():
            for cell in experiment.cells():
                opened.commit(cell.key, cell.fit_key, Outcome("done", (Score("nothing", 0.0),)))
        with Clock(shape, "resume, all done"):
            experiment = empty_experiment(n_datasets, n_methods)
            experiment.run(store, workers=options.workers).close()
    print()


def plan_into(path: Path, experiment: Experiment) -> None:
    """Do what a run does before its first cell."""
    with Store(path, create=True) as store:
        experiment.forecast(path)
        store.write_plan(experiment.plan(experiment.layout))


def empty_experiment(n_datasets: int, n_methods: int) -> Experiment:
    """Declare an experiment whose cells cost nothing."""
    rng = np.random.default_rng(0)
    datasets = [
        Dataset(f"D{i:03d}", rng.random((40, 3)), rng.integers(0, 2, (40, 2)), "multilabel")
        for i in range(n_datasets)
    ]
    methods = {f"M{i:05d}": Nothing(i) for i in range(n_methods)}
    return Experiment(datasets, methods, {"folds": FOLDS}, NoProtocol(), name="empty")


class Clock:
    """Prints how long a step took."""

    def __init__(self, shape: str, step: str) -> None:
        self._shown = f"{shape:34s} {step:26s}"

    def __enter__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        print(f"{self._shown} {wall:8.2f} {cpu:8.2f}", flush=True)


# The coordinator over many cells


def measure_running(folder: Path, options: argparse.Namespace) -> None:
    """Run many empty cells; print the throughput and the coordinator's memory along the way."""
    experiment = empty_experiment(options.cells // (FOLDS * METHODS), METHODS)
    experiment.cells()
    follower = Follower(max(1, options.cells // 10))
    begun = time.perf_counter()
    cpu = time.process_time()
    experiment.run(folder / "run.sqlite", workers=options.workers, observer=follower).close()
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    print(
        f"{options.cells:,} empty cells, {options.workers} workers: {options.cells / wall:.0f}"
        " cells a second"
    )
    print(f"coordinator: {1000 * cpu / options.cells:.3f} ms CPU a cell")
    print(f"\n{'cells':>9s} {'coordinator MiB':>16s} {'cells/s since':>14s}")
    for (cells, memory, when), (_, _, since) in zip(
        follower.marks[1:], follower.marks, strict=False
    ):
        print(f"{cells:9,d} {memory:16.1f} {follower.step / (when - since):14.0f}")
    print()


# A thousand datasets and a hundred methods


def measure_paper(folder: Path, options: argparse.Namespace) -> None:
    """Ask a store of 1,000 datasets x 100 methods x 2 folds all that a user would, its page included."""
    store, page = folder / "paper.sqlite", options.page or folder / "page"
    n_cells = write_made_up(store, "predict", *PAPER)
    print(
        f"{' x '.join(f'{size:,}' for size in PAPER)}: {n_cells:,} cells,"
        f" {store.stat().st_size / 1e6:.0f} MB\n"
    )
    print(f"{'command':46s} {'wall s':>8s} {'CPU s':>8s} {'peak MiB':>9s} {'law CPU s':>10s}")
    for shown, arguments, law in (
        ("status", ("status", store), 2),
        ("scores", ("scores", store), 4),
        ("compare --metric accuracy", ("compare", store, "--metric", "accuracy"), 20),
        ("report --no-charts", ("report", store, "--no-charts", "--out", page), 60),
        ("report, nothing changed", ("report", store, "--no-charts", "--out", page), 60),
        ("store check", ("store", "check", store), 10),
    ):
        wall, cpu, peak = time_command(arguments)
        print(f"{shown:46s} {wall:8.2f} {cpu:8.2f} {peak:9.0f} {law:10d}", flush=True)
    print()


# A hundred stores


def measure_merging(folder: Path, options: argparse.Namespace) -> None:
    """Merge a hundred stores, each with its part of the datasets, and see that one store of all holds the same."""
    n_datasets = options.cells // (MERGED_METHODS * MERGED_FOLDS)
    shape = ("predict", n_datasets, MERGED_METHODS, MERGED_FOLDS)
    step = n_datasets // MERGED_STORES
    parts = [folder / f"part{number:03d}.sqlite" for number in range(MERGED_STORES)]
    for number, path in enumerate(parts):
        write_made_up(path, *shape, part=range(number * step, (number + 1) * step))
    write_made_up(folder / "one.sqlite", *shape)
    print(
        f"{MERGED_STORES} stores of {options.cells // MERGED_STORES:,} cells each,"
        f" {options.cells:,} cells in all\n"
    )
    print(f"{'command':46s} {'wall s':>8s} {'CPU s':>8s} {'peak MiB':>9s}")
    for shown, arguments in (
        (
            f"merge {MERGED_STORES} stores",
            ("store", "merge", *parts, "--out", folder / "all.sqlite"),
        ),
    ):
        wall, cpu, peak = time_command(arguments)
        print(f"{shown:46s} {wall:8.2f} {cpu:8.2f} {peak:9.0f}", flush=True)
    same = content_digest(folder / "all.sqlite") == content_digest(folder / "one.sqlite")
    print(f"\nscores, predictions and fits are {'those' if same else 'NOT those'} of one store\n")


def content_digest(store: Path) -> str:
    """Hash what the cells of a store gave, in the order of their keys; times are no results."""
    found = hashlib.sha256()
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    for sql in (
        (
            "SELECT key, status, metric, grid, position, at, value FROM cells JOIN scores ON"
            " cells.id = cell_id JOIN measures ON measures.id = measure_id ORDER BY key, position"
        ),
        "SELECT fit_key, arrays, info FROM fits ORDER BY fit_key",
        "SELECT dataset, fold, method, repeat, key FROM plan WHERE current = 1 ORDER BY 1, 2, 3, 4",
    ):
        for row in connection.execute(sql):
            found.update(repr(row).encode())
    connection.close()
    return found.hexdigest()


class Follower:
    """Notes the memory of this process every so many cells."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.marks: list[tuple[int, float, float]] = []

    def began(self, tally: object) -> None:
        """Note where the run begins."""
        self.marks.append((0, resident_mebibytes(), time.perf_counter()))

    def finished(self, cell: object, outcome: object, tally: object) -> None:
        """Note every so many cells."""
        finished = getattr(tally, "finished", 0)
        if finished % self.step == 0:
            self.marks.append((finished, resident_mebibytes(), time.perf_counter()))


def resident_mebibytes() -> float:
    """Return the memory of this process that is in use now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
