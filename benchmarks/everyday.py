"""The everyday comparison beside its peers: the same fits on the same splits, in one run, one thread per process.

The job: four methods on three tables, five folds, and the question which is better. Every side is
the shortest program that its documentation teaches for it, run in a process of its own, in turns;
CPU seconds are those of the process and its children, memory is the largest of any of them. Peers
that are not installed are named and left out.

The law is that of a fit: Paragone with one worker against the bare ``cross_validate`` loop, for
fits of 50 ms and more. Both are run with few folds and with many; what the further folds take is
what fits take, and what is left is the start. Then the wall-clock time of one worker against two,
with many folds.

Run: python benchmarks/everyday.py [--repeat 3] [--rows 2000] [--folds 5 25]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

TABLES, METHODS = 3, 4
THREADS = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"
)

JOB = """
import warnings; warnings.simplefilter("ignore")
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
data = {f"table {i}": make_classification(ROWS, 20, n_informative=6, random_state=i) for i in range(3)}
methods = {
    "forest": RandomForestClassifier(random_state=0),
    "boosting": HistGradientBoostingClassifier(random_state=0),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "vectors": make_pipeline(StandardScaler(), SVC(random_state=0)),
}
folds = StratifiedKFold(FOLDS)
"""
PROGRAMS = {
    "bare cross_validate": (
        """
from sklearn.model_selection import cross_validate
for X, y in data.values():
    for method in methods.values():
        cross_validate(method, X, y, cv=folds, scoring=["accuracy", "roc_auc"])
"""
    ),
    "paragone": (
        """
import paragone
if __name__ == "__main__":
    answer = paragone.evaluate(methods, data, split=folds, metrics=["roc_auc"], workers=WORKERS, store=STORE)
    print(answer)
"""
    ),
    "scikit-learn and autorank": (
        """
import pandas as pd
from autorank import autorank, create_report
from sklearn.model_selection import cross_val_score
scores = pd.DataFrame({
    name: [cross_val_score(method, X, y, cv=folds, scoring="roc_auc").mean() for X, y in data.values()]
    for name, method in methods.items()
})
create_report(autorank(scores, alpha=0.05))
"""
    ),
    "skore": (
        """
from skore import ComparisonReport, CrossValidationReport
for X, y in data.values():
    reports = {name: CrossValidationReport(method, X, y, splitter=folds) for name, method in methods.items()}
    print(ComparisonReport(reports).metrics.summarize().frame())
"""
    ),
    "mlflow autolog": (
        """
import mlflow
from sklearn.model_selection import cross_validate
mlflow.set_tracking_uri("sqlite:///" + STORE)
mlflow.sklearn.autolog(silent=True, log_models=False)
for table, (X, y) in data.items():
    for name, method in methods.items():
        with mlflow.start_run(run_name=f"{name} on {table}"):
            found = cross_validate(method, X, y, cv=folds, scoring=["accuracy", "roc_auc"])
            mlflow.log_metric("roc_auc", found["test_roc_auc"].mean())
"""
    ),
}
NEEDS = {"scikit-learn and autorank": "autorank", "skore": "skore", "mlflow autolog": "mlflow"}
ANSWERS = {
    "bare cross_validate": "none: scores only",
    "paragone": "which is better on these tables, with intervals; every prediction kept",
    "scikit-learn and autorank": "ranks over tables; refuses fewer than five",
    "skore": "a table of metrics per table, no test",
    "mlflow autolog": "none: scores and runs kept",
}


@dataclass(frozen=True)
class Taken:
    """What a program cost: wall-clock and CPU seconds, the largest resident size in MiB; and why it failed."""

    wall: float
    cpu: float
    memory: float
    why: str = ""


def run(program: str, rows: int, folds: int, workers: int = 1) -> Taken:
    """Run a program in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file, errors = Path(folder) / "job.py", Path(folder) / "errors"
        store = os.path.join(folder, "kept.sqlite")
        constants = f"ROWS, FOLDS, WORKERS, STORE = {rows}, {folds}, {workers}, {store!r}\n"
        file.write_text(constants + JOB + program)
        begun = time.perf_counter()
        with errors.open("wb") as stream:
            process = subprocess.Popen(
                [sys.executable, str(file)],
                env={**os.environ, **THREADS},
                cwd=folder,
                stdout=subprocess.DEVNULL,
                stderr=stream,
            )
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - begun
        told = errors.read_text(errors="replace").strip().splitlines() if process.returncode else []
    return Taken(
        wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, told[-1] if told else ""
    )


def lines_of(program: str) -> int:
    """Count the lines a person writes for the question, methods and data apart."""
    return sum(bool(line.strip()) for line in program.splitlines())


def main() -> None:
    """Measure in turns and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--folds", type=int, nargs=2, default=(5, 25))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    few, many = options.folds
    known = [name for name in PROGRAMS if name not in NEEDS or find_spec(NEEDS[name]) is not None]
    for name in PROGRAMS:
        if name not in known:
            print(f"left out, not installed: {name}", file=sys.stderr)
    bare, ours, two = "bare cross_validate", "paragone", "paragone, two workers"
    sides = [(name, name, few, 1) for name in known]
    sides += [(f"{name}, {many} folds", name, many, 1) for name in (bare, ours)]
    sides += [(f"{two}, {many} folds", ours, many, 2)]
    taken: dict[str, list[Taken]] = {side[0]: [] for side in sides}
    for _ in range(options.repeat):
        for side, name, folds, workers in sides:
            taken[side].append(run(PROGRAMS[name], options.rows, folds, workers))
    rows = {
        side: {
            "lines": lines_of(PROGRAMS[name]),
            **{
                key: median(getattr(one, key) for one in taken[side])
                for key in ("wall", "cpu", "memory")
            },
            "failed": next((one.why for one in taken[side] if one.why), ""),
        }
        for side, name, _, _ in sides
    }
    if options.json:
        print(json.dumps(rows, indent=1))
    for side, row in rows.items():
        said = row["failed"] or ANSWERS.get(side, "")
        cost = f"{row['cpu']:7.1f} CPU s  {row['wall']:7.1f} s  {row['memory']:6.0f} MiB"
        print(f"{side:32} {row['lines']:3} lines  {cost}  {said}")
    fits = TABLES * METHODS * (many - few)
    further = {
        name: rows[f"{name}, {many} folds"]["cpu"] - rows[name]["cpu"] for name in (bare, ours)
    }
    start = (
        rows[ours]["cpu"] - rows[bare]["cpu"] - few / (many - few) * (further[ours] - further[bare])
    )
    each = {name: 1000 * spent / fits for name, spent in further.items()}
    print(f"a fit and its scores, CPU: {each[bare]:.0f} ms bare, {each[ours]:.0f} ms here")
    print(
        f"paragone / bare loop, CPU of fits: {further[ours] / further[bare]:.2f} (law: at most"
        " 1.15)"
    )
    print(
        f"paragone / bare loop, CPU of all: {rows[ours]['cpu'] / rows[bare]['cpu']:.2f}, of it the"
        f" start {start:.1f} s"
    )
    ratio = rows[f"{ours}, {many} folds"]["wall"] / rows[f"{two}, {many} folds"]["wall"]
    print(f"one worker / two workers, wall clock: {ratio:.2f} (law: at least 1.8)")


if __name__ == "__main__":
    main()
