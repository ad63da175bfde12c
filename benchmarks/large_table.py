"""A table of gigabytes: as many workers as fit, and how much memory the coordinator and each worker hold.

Run: python benchmarks/large_table.py FOLDER [--rows 100000] [--columns 10000]

A table of random numbers is written to the folder piece by piece (and removed at the end), and two
cheap classifiers of scikit-learn are evaluated on it in two folds, with the number of workers that
the run chooses for itself. The laws:

1. The coordinator and each worker (a seat with its cell) hold at most 1.3 times the bytes of the
data and 300 MB,
   counted as proportional set size.
2. Every cell ends done.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import SGDClassifier

from isolation import MOST_BYTES, MOST_SHARE, watched
from paragone.cores import THREAD_VARIABLES
from paragone.lab.engine import Silent
from paragone.lab.experiment import Experiment
from paragone.protocols import Predict

PIECE_ROWS = 1000


def write_table(path: Path, rows: int, columns: int) -> None:
    """Write a table of two classes that its first column tells apart a little; never more than a piece in memory."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, rows)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        with archive.open("X.npy", "w", force_zip64=True) as member:
            header = {"descr": "<f8", "fortran_order": False, "shape": (rows, columns)}
            np.lib.format.write_array_header_1_0(member, header)
            for first in range(0, rows, PIECE_ROWS):
                piece = rng.random((min(PIECE_ROWS, rows - first), columns))
                piece[:, 0] += labels[first : first + PIECE_ROWS]
                member.write(piece.tobytes())
        for name, array in {
            "y": labels,
            "task": np.array("classification"),
            "name": np.array("large"),
        }.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


class Told(Silent):
    """Prints what a run says, and how long each cell took."""

    def said(self, sentence: str, tally: Any) -> None:
        """Print it."""
        print(f"  {sentence}")

    def finished(self, cell: Any, outcome: Any, tally: Any) -> None:
        """Print the cell."""
        own = outcome.peak_memory / 1e9
        print(
            f"  {cell.method}, fold {cell.fold}: {outcome.status}, {outcome.seconds:.0f} s,"
            f" {own:.2f} GB of its own"
        )


def measure(path: Path) -> None:
    """Run the experiment."""
    begun = time.perf_counter()
    methods = {"Majority": DummyClassifier(), "Linear": SGDClassifier(max_iter=1, tol=None)}
    experiment = Experiment(
        [str(path)], methods, {"folds": 2}, Predict(metrics=("accuracy",)), name="large"
    )
    experiment.cells()
    print(f"  read and split in {time.perf_counter() - begun:.0f} s")
    with experiment.run(path.with_suffix(".sqlite"), observer=Told()) as results:
        print(
            f"  {results}, workers: {results.runs()['workers'].iloc[-1]},"
            f" {time.perf_counter() - begun:.0f} s in all"
        )
        if set(results.places()["status"]) != {"done"}:
            sys.exit(1)


def main() -> None:
    """Write, run, print, remove; exit with 1 where a law is broken."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=10_000)
    parser.add_argument("--part", choices=["run"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    path = options.folder / "large.npz"
    if options.part == "run":
        return measure(path)
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        write_table(path, options.rows, options.columns)
        environment = {
            **os.environ,
            **dict.fromkeys(THREAD_VARIABLES, "1"),
            "PYTHONUNBUFFERED": "1",
        }
        # Nothing of the run may lie in memory that only looks like a disk.
        environment["TMPDIR"] = str(options.folder)
        least = LeastFree()
        least.start()
        onlooker, told = watched(
            [sys.executable, __file__, str(options.folder), "--part", "run"], environment
        )
        least.ended.set()
    finally:
        for left in options.folder.glob("large.*"):
            left.unlink()
    print(told, end="")
    size = options.rows * options.columns * 8
    allowed = MOST_SHARE * size + MOST_BYTES
    print(f"the table         {size / 2**30:8.2f} GiB")
    print(
        f"  the coordinator {onlooker.coordinator / 2**30:8.2f} GiB (at most {allowed / 2**30:.2f})"
    )
    print(f"  a worker        {onlooker.worker / 2**30:8.2f} GiB (at most {allowed / 2**30:.2f})")
    print(f"  of the machine  {least.most / 2**30:8.2f} GiB more than before, at the most")
    sys.exit(0 if max(onlooker.coordinator, onlooker.worker) <= allowed else 1)


class LeastFree(threading.Thread):
    """Notes how much less memory was free at a time than in the beginning."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.ended = threading.Event()
        self._before = free_memory()
        self.most = 0

    def run(self) -> None:
        """Look until told to end."""
        while not self.ended.wait(0.2):
            self.most = max(self.most, self._before - free_memory())


def free_memory() -> int:
    """Return what the machine could still give."""
    line = next(
        line
        for line in Path("/proc/meminfo").read_text().splitlines()
        if line.startswith("MemAvailable")
    )
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main()
