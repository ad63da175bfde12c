"""What the engine and the store cost a cell, with a method and a protocol that do nothing.

Run: python benchmarks/engine.py [--cells 2000] [--workers 1]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from paragone.data import Dataset
from paragone.lab.cells import Fitted, Score
from paragone.lab.experiment import Experiment
from paragone.protocols import Protocol

FOLDS = 10


class Nothing:
    """A ranker that does nothing; ``number`` makes one method differ from the next."""

    def __init__(self, number: int = 0) -> None:
        self.number = number

    def fit(self, X, Y):
        """Do nothing."""
        return self


class NoProtocol(Protocol):
    """A protocol that scores nothing but one constant."""

    kind = "none"

    def identity(self) -> str:
        """Return a constant."""
        return "none"

    def described(self) -> dict[str, str]:
        """Say nothing."""
        return {"kind": self.kind}

    def fit(self, estimator, data) -> Fitted:
        """Keep an empty ranking."""
        return Fitted({"ranking": np.arange(3)})

    def scores(self, fitted, data):
        """Return one constant."""
        return [Score("nothing", 0.0)]


class Clock:
    """Notes when cells end."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def began(self, tally) -> None:
        """Nothing to note."""

    def finished(self, cell, outcome, tally) -> None:
        """Note the time."""
        self.times.append(time.perf_counter())


def main() -> None:
    """Run many empty cells and print the milliseconds a cell, over the whole run and along it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    dataset = Dataset("empty", rng.random((40, 3)), rng.integers(0, 2, (40, 2)), "multilabel")
    methods = {f"M{i:05d}": Nothing(i) for i in range(options.cells // FOLDS)}
    experiment = Experiment([dataset], methods, {"folds": FOLDS}, NoProtocol(), name="empty")
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "a.sqlite"
        begun = time.perf_counter()
        experiment.cells()
        planned = time.perf_counter() - begun
        experiment.run(store, workers=options.workers, observer=clock).close()
        size = store.stat().st_size
        begun = time.perf_counter()
        experiment.run(store, workers=options.workers).close()
        resumed = time.perf_counter() - begun
    steps = np.diff(clock.times) * 1000
    print(f"{len(clock.times)} empty cells, {options.workers} worker(s)")
    print(f"planning          {planned:8.3f} s")
    print(f"a cell, mean      {steps.mean():8.3f} ms")
    print(f"first hundred     {steps[:99].mean():8.3f} ms")
    print(f"last hundred      {steps[-99:].mean():8.3f} ms")
    print(f"resumed, all done {resumed:8.3f} s")
    print(f"store             {size / len(clock.times):8.0f} bytes a cell")


if __name__ == "__main__":
    main()
