"""How a run scales: two workers beside one on the paper protocol, and what a cell costs on local workers and on Dask.

Run: python benchmarks/scale.py [--data FOLDER] [--datasets 2] [--cells 1000] [--repeats 3]

Two tables, all of one run, the contestants of each taking turns:

1. The paper protocol (examples/mlfs-paper.toml: its rankers, folds, grids and metrics) on the
smallest datasets of
   ``--data``, or on the bundled multi-label sets where it is not given, with one worker and with
   two. The speed-up in wall time is what the promise of 1.8 is about. On a machine that others use
   too, the worker seconds tell more: they are what the cells took, added up, and their sum over the
   wall time is how many workers were busy on average.
2. Empty cells on one and two local workers, which are loky's, and on a Dask cluster of two:
milliseconds a cell, the
   coordinator's CPU time in them, and cells a second.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine import NoProtocol, Nothing
from paragone.data import Dataset, load
from paragone.lab.engine import Silent, dask_executor
from paragone.lab.experiment import Experiment
from paragone.protocols import Curve, KGrid, PGrid

PAPER = Path(__file__).resolve().parents[1] / "examples" / "mlfs-paper.toml"
BUNDLED = ["digits-traits", "wine-traits"]
FOLDS = 10


@dataclass(frozen=True)
class Measured:
    """One run: from its first cell's end to its last's, so that starting workers does not count."""

    wall: float
    cpu: float
    cells: int
    cell_seconds: float


class Clock(Silent):
    """Notes the times at which cells end."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self.seconds: list[float] = []

    def finished(self, cell: Any, outcome: Any, tally: Any) -> None:
        """Note the time."""
        self.wall.append(time.perf_counter())
        self.cpu.append(time.process_time())
        self.seconds.append(outcome.seconds)


def measure(experiment: Experiment, **where: Any) -> Measured:
    """Run an experiment into a new store."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        experiment.run(Path(folder) / "a.sqlite", observer=clock, **where).close()
    wall, cpu = clock.wall[-1] - clock.wall[0], clock.cpu[-1] - clock.cpu[0]
    return Measured(wall, cpu, len(clock.wall) - 1, sum(clock.seconds[1:]))


def paper(data: list[Any], folds: int | None) -> Experiment:
    """Return the paper's experiment on some datasets."""
    declared = tomllib.loads(PAPER.read_text())
    protocol = declared["protocol"]
    curve = Curve(
        KGrid(**protocol["k"]), PGrid(**protocol["p"]), metrics=tuple(protocol["metrics"])
    )
    methods = {name: method["use"] for name, method in declared["methods"].items()}
    split = {**declared["split"], **({"folds": folds} if folds else {})}
    return Experiment(data, methods, split, curve, name="scale", seed=declared["seed"])


def empty(cells: int) -> Experiment:
    """Return an experiment of cells that do nothing."""
    rng = np.random.default_rng(0)
    dataset = Dataset("empty", rng.random((40, 3)), rng.integers(0, 2, (40, 2)), "multilabel")
    methods = {f"M{i:05d}": Nothing(i) for i in range(cells // FOLDS)}
    return Experiment([dataset], methods, {"folds": FOLDS}, NoProtocol(), name="empty")


def smallest(folder: Path, count: int) -> list[Dataset]:
    """Load the smallest datasets of a folder."""
    loaded = [
        load(path)
        for path in sorted(folder.iterdir())
        if path.is_dir() or path.suffix in (".arff", ".mat")
    ]
    return sorted(loaded, key=lambda dataset: dataset.n_samples * dataset.n_features)[:count]


def in_turns(
    contestants: dict[str, Callable[[], Measured]], repeats: int
) -> dict[str, list[Measured]]:
    """Let contestants take turns, so that a change in the machine's load meets all of them."""
    found: dict[str, list[Measured]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, run in contestants.items():
            found[name].append(run())
    return found


def median(values: list[float]) -> float:
    return statistics.median(values)


def show_speed_up(found: dict[str, list[Measured]]) -> None:
    print(f"{'':24}{'wall s':>10}{'worker s':>10}{'busy':>8}{'coordinator s':>16}")
    for name, runs in found.items():
        wall, seconds, cpu = (
            median([getattr(r, key) for r in runs]) for key in ("wall", "cell_seconds", "cpu")
        )
        print(f"{name:24}{wall:10.2f}{seconds:10.2f}{seconds / wall:8.2f}{cpu:16.2f}")
    one, two = found["1 worker"], found["2 workers"]
    walls = [a.wall / b.wall for a, b in zip(one, two, strict=True)]
    busy = [
        (b.cell_seconds / b.wall) / (a.cell_seconds / a.wall) for a, b in zip(one, two, strict=True)
    ]
    print(
        f"speed-up of 2 workers   {median(walls):10.2f}   (turns:"
        f" {', '.join(f'{w:.2f}' for w in walls)}; at least 1.8)"
    )
    print(
        f"workers busy, 2 beside 1{median(busy):10.2f}   (does not fall when others slow both cores"
        " down alike)"
    )
    print(f"load of the machine     {os.getloadavg()[0]:10.2f}   on {os.cpu_count()} cores")


def show_overhead(found: dict[str, list[Measured]]) -> None:
    print(f"{'':24}{'ms a cell':>10}{'CPU ms':>10}{'cells/s':>10}")
    for name, runs in found.items():
        wall = median([1000 * run.wall / run.cells for run in runs])
        cpu = median([1000 * run.cpu / run.cells for run in runs])
        print(f"{name:24}{wall:10.2f}{cpu:10.2f}{1000 / wall:10.0f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--datasets", type=int, default=2)
    parser.add_argument(
        "--folds", type=int, help="folds of the paper protocol; those of the file by default"
    )
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--parts", default="speed-up,overhead")
    options = parser.parse_args()
    if "speed-up" in options.parts:
        data = BUNDLED if options.data is None else smallest(options.data, options.datasets)
        experiment = paper(data, options.folds)
        print(
            f"\nThe paper protocol, {len(experiment.cells())} cells on"
            f" {', '.join(experiment.layout.datasets)}"
        )
        print(
            "worker seconds: what the cells took, added up; from the first cell's end to the"
            " last's\n"
        )
        show_speed_up(
            in_turns(
                {
                    f"{n} worker{'s' * (n > 1)}": lambda n=n: measure(experiment, workers=n)
                    for n in (1, 2)
                },
                options.repeats,
            )
        )
    if "overhead" in options.parts:
        cells = empty(options.cells)
        print(f"\nEmpty cells, {options.cells} of them\n")
        with dask_executor(workers=2) as executor:
            contestants: dict[str, Callable[[], Measured]] = {
                "loky, 1 worker": lambda: measure(cells, workers=1),
                "loky, 2 workers": lambda: measure(cells, workers=2),
                "Dask, 2 workers": lambda: measure(cells, executor=executor),
            }
            show_overhead(in_turns(contestants, options.repeats))


if __name__ == "__main__":
    main()
