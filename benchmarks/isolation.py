"""What it costs that every cell is a process of its own: milliseconds per cell, and memory per process.

Two laws are checked, side by side in one run:

1. An empty cell costs at most 8 ms more than a bare ``os.fork()`` and ``waitpid`` of the same
warmed process. 2. The coordinator and each worker (a seat with its cell) hold at most 1.3 times the
bytes of the data and 300 MB,
   counted as proportional set size, while a method that allocates nothing reads its rows: of an
   array, and of a table of 100,000 rows and 50 columns, half of them categories and text.

Run: python benchmarks/isolation.py [--cells 200] [--rows 20000] [--columns 2000]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin

from paragone.cores import THREAD_VARIABLES
from paragone.data import Dataset
from paragone.lab.cells import Fitted, Score
from paragone.lab.engine.processes import child_processes
from paragone.lab.experiment import Experiment
from paragone.protocols import Predict, Protocol

MOST_MILLISECONDS = 8.0
MOST_SHARE, MOST_BYTES = 1.3, 300e6
LOOK_SECONDS = 0.02


class Reads:
    """A method that reads its rows and keeps nothing."""

    def __init__(self, number: int = 0, seconds: float = 0.0) -> None:
        self.number = number
        self.seconds = seconds

    def fit(self, X, Y):
        """Read every value once, in slices, so that nothing is allocated."""
        for row in X:
            row.max()
        time.sleep(self.seconds)
        return self


class OneScore(Protocol):
    """A protocol that fits and scores nothing but one constant."""

    kind = "one score"

    def identity(self) -> str:
        """Return a constant."""
        return "one score"

    def described(self) -> dict[str, str]:
        """Say what it is called."""
        return {"kind": self.kind}

    def fit(self, estimator, data) -> Fitted:
        """Fit, and keep an empty ranking."""
        if estimator.seconds:
            estimator.fit(data.X_train, data.y_train)
            estimator.fit(data.X_test, data.y_test)
        return Fitted({"ranking": np.arange(3)})

    def scores(self, fitted, data):
        """Return one constant."""
        return [Score("nothing", 0.0)]


def experiment_of(rows: int, columns: int, methods: int, seconds: float) -> Experiment:
    """Return an experiment of random numbers."""
    rng = np.random.default_rng(0)
    dataset = Dataset(
        "numbers", rng.random((rows, columns)), rng.integers(0, 2, (rows, 2)), "multilabel"
    )
    named = {f"M{i:04d}": Reads(i, seconds) for i in range(methods)}
    return Experiment(
        [dataset], named, {"folds": 4, "scale": "minmax"}, OneScore(), name="isolation"
    )


def measure_cost(cells: int) -> None:
    """Become a warmed process, and fork bare children and cells in turns; print the medians as JSON."""
    from paragone.lab.engine import Limits, Spool
    from paragone.lab.engine.hermetic import surroundings
    from paragone.lab.engine.packing import CellOrder, PackedTask
    from paragone.lab.engine.processes import Channel, read_all
    from paragone.lab.engine.seat_process import _Seat
    from paragone.lab.engine.zygote import _settle, _warm_up
    from paragone.lab.running import cell_task
    from paragone.protocols.curve.protocol import load_curve_kernels

    _warm_up()
    load_curve_kernels()
    experiment = experiment_of(40, 3, 1, 0.0)
    cell = experiment.cells()[0]
    with Spool() as spool:
        folder = spool.add(experiment.layout.arrangements["numbers"].dataset)
        order = CellOrder(PackedTask.of(cell_task(experiment, cell, folder), ()), Limits())
        here, there = Channel.pair()
        seat = _Seat(there, surroundings(spool.folder))
        _settle()
        times: dict[str, list[float]] = {"bare": [], "cell": []}
        for _ in range(cells):
            begun = time.perf_counter()
            process = os.fork()
            if process == 0:
                os._exit(0)
            os.waitpid(process, 0)
            between = time.perf_counter()
            seat._work(order)
            _, (descriptor,) = here.receive()
            read_all(descriptor)
            times["bare"].append(between - begun)
            times["cell"].append(time.perf_counter() - between)
    print(json.dumps({name: float(np.median(values)) * 1000 for name, values in times.items()}))


def measure_memory(rows: int, columns: int) -> None:
    """Run cells over a large table while a thread of another process looks on; print nothing."""
    experiment = experiment_of(rows, columns, 2, 0.2)
    with tempfile.TemporaryDirectory() as folder:
        experiment.run(Path(folder) / "a.sqlite", workers=2).close()


class ReadsTable(ClassifierMixin, BaseEstimator):
    """A classifier that looks at every column of a table and keeps nothing of it."""

    def __init__(self, number: int = 0) -> None:
        self.number = number

    def fit(self, X, y):
        """Look at the columns one by one."""
        self.classes_ = np.unique(y)
        for name in X.columns:
            X[name].iloc[-1]
        time.sleep(0.2)
        return self

    def predict(self, X):
        """Return the first class."""
        return np.repeat(self.classes_[:1], len(X))


def people() -> pd.DataFrame:
    """Return a table of 100,000 rows and 50 columns: numbers with gaps, categories and text."""
    rng = np.random.default_rng(0)
    n = 100_000
    numbers = {
        f"n{i}": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)) for i in range(25)
    }
    levels = np.array([f"level {i}" for i in range(40)])
    kinds = {f"c{i}": pd.Categorical.from_codes(rng.integers(0, 40, n), levels) for i in range(20)}
    texts = {f"t{i}": rng.choice(levels, n) for i in range(5)}
    return pd.DataFrame({**numbers, **kinds, **texts})


def measure_table() -> None:
    """Run five methods on five folds of a large table; print its bytes."""
    table = people()
    dataset = Dataset("people", table, np.arange(len(table)) % 2, "classification")
    methods = {f"M{i}": ReadsTable(i) for i in range(5)}
    experiment = Experiment(
        [dataset], methods, 5, Predict(metrics=("accuracy",), prepare_tables=False)
    )
    with tempfile.TemporaryDirectory() as folder:
        experiment.run(Path(folder) / "a.sqlite", workers=2).close()
    print(int(table.memory_usage(deep=True).sum()))


class Onlooker(threading.Thread):
    """Notes the most that a process, and each worker below it, held at a time."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self._coordinator = process
        self.coordinator = self.worker = 0
        self.ended = threading.Event()

    def run(self) -> None:
        """Look until the process is gone."""
        while not self.ended.wait(LOOK_SECONDS):
            self.coordinator = max(self.coordinator, proportional(self._coordinator))
            for zygote in child_processes(self._coordinator):
                for seat in child_processes(zygote):
                    held = proportional(seat) + sum(map(proportional, child_processes(seat)))
                    self.worker = max(self.worker, held)


def proportional(process: int) -> int:
    """Return the proportional set size of a process; 0 where it is gone."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def watched(command: list[str], environment: dict[str, str]) -> tuple[Onlooker, str]:
    """Run a command with an onlooker; return him and what it printed."""
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        onlooker = Onlooker(process.pid)
        onlooker.start()
        told, _ = process.communicate()
        onlooker.ended.set()
    if process.returncode:
        sys.exit(f"the measured run ended with {process.returncode}")
    return onlooker, told


def main() -> None:
    """Measure both, print them with their laws, and exit with 1 where one is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=2_000)
    parser.add_argument("--part", choices=["cost", "memory", "table"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part == "cost":
        return measure_cost(options.cells)
    if options.part == "memory":
        return measure_memory(options.rows, options.columns)
    if options.part == "table":
        return measure_table()
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
    command = [
        sys.executable,
        __file__,
        "--rows",
        str(options.rows),
        "--columns",
        str(options.columns),
    ]
    cost = [*command, "--cells", str(options.cells), "--part", "cost"]
    told = subprocess.run(cost, env=environment, check=True, capture_output=True, text=True).stdout
    bare, cell = (json.loads(told)[name] for name in ("bare", "cell"))
    array, _ = watched([*command, "--part", "memory"], environment)
    table, told = watched([*command, "--part", "table"], environment)
    size = options.rows * options.columns * 8
    print(f"a bare fork       {bare:8.2f} ms")
    print(
        f"an empty cell     {cell:8.2f} ms, {cell - bare:.2f} more (at most {MOST_MILLISECONDS:g})"
    )
    kept = cell - bare <= MOST_MILLISECONDS
    for name, onlooker, held in (("array", array, size), ("table", table, int(told))):
        allowed = MOST_SHARE * held + MOST_BYTES
        print(f"the {name}         {held / 1e6:8.0f} MB")
        print(
            f"  the coordinator {onlooker.coordinator / 1e6:8.0f} MB (at most {allowed / 1e6:.0f})"
        )
        print(f"  a worker        {onlooker.worker / 1e6:8.0f} MB (at most {allowed / 1e6:.0f})")
        kept = kept and max(onlooker.coordinator, onlooker.worker) <= allowed
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
