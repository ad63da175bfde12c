"""CPU time of the published rankers on medical and Arts, beside two yardsticks in one run.

The yardsticks: the straight transcription of the formulas in the tests, run here, and the figures
of an earlier naive implementation (one thread, one fold of 335 x 1449 x 45 and of 2000 x 462 x 26).
Without the guard the formulas see every column, as in both yardsticks; the guard sets constant
columns aside first.

    OMP_NUM_THREADS=1 python benchmarks/rankers.py [DATA_FOLDER]
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "methods" / "rankers"))

from transcriptions import modes, sets  # noqa: E402

from paragone.methods import rankers  # noqa: E402

NAIVE = {
    "medical": {
        "dagfs": 3.1,
        "srfs": 0.7,
        "rfsfs": 1.1,
        "grro": 1.4,
        "lrmfs": 2.5,
        "lsmfs": 3.5,
        "lrdg": 1.2,
        "scnmf": 2.7,
    },
    "arts": {
        "dagfs": 0.28,
        "srfs": 0.06,
        "rfsfs": 0.07,
        "grro": 0.09,
        "lrmfs": 0.44,
        "scnmf": 0.32,
    },
}
HEADER = (
    "set",
    "ranker",
    "guarded",
    "unguarded",
    "transcription",
    "naive",
    "x transcription",
    "x naive",
)


def cpu_seconds(work: Callable[[], Any], repeats: int) -> float:
    """Return the least CPU time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        before = time.process_time()
        work()
        times.append(time.process_time() - before)
    return min(times)


def measure(problem: sets.Problem, name: str, naive: float | None) -> tuple[str, ...]:
    X, Y = problem.X.copy(order="C"), problem.Y
    method = getattr(rankers, name.upper())
    method().fit(X[:, :50], Y)
    guarded = cpu_seconds(lambda: method().fit(X, Y), 3)
    unguarded = cpu_seconds(lambda: method(guard=False).fit(X, Y), 3)
    plain = cpu_seconds(lambda: modes.scores(name, X, Y.astype(float), guard=False), 1)
    figures = [f"{value:.3f}" for value in (guarded, unguarded, plain)]
    if naive is None:
        return (name, *figures, "-", f"{plain / unguarded:.1f}", "-")
    return (
        name,
        *figures,
        f"{naive:.2f}",
        f"{plain / unguarded:.1f}",
        f"{naive / max(guarded, unguarded):.1f}",
    )


def main() -> None:
    default = os.environ.get("PARAGONE_TEST_DATA", str(ROOT.parent / "shared" / "data"))
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else default) / "multilabel"
    print("CPU seconds, one thread; 'x' is how many times faster (naive: against the slower mode)")
    print("{:8} {:7} {:>9} {:>10} {:>14} {:>7} {:>16} {:>8}".format(*HEADER))
    with threadpool_limits(1):
        for set_name, figures in NAIVE.items():
            problem = sets.load(folder, set_name)
            for name in modes.RUNS:
                row = measure(problem, name, figures.get(name))
                print(
                    "{:8} {:7} {:>9} {:>10} {:>14} {:>7} {:>16} {:>8}".format(set_name, *row),
                    flush=True,
                )


if __name__ == "__main__":
    main()
