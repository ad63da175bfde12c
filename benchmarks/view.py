"""The page at the size of a paper: how long a report takes, how fast the live view answers, what it costs a run.

python benchmarks/view.py
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "reporting"))
from synthetic_stores import SyntheticStore, write_store

METRICS = [
    "micro_f1",
    "macro_f1",
    "hamming_loss",
    "micro_pr_auc",
    "macro_pr_auc",
    "avg_precision",
    "one_error",
]
METHODS = [f"Method{i}" for i in range(8)]
DATASETS = [f"dataset-{i}" for i in range(12)]
POINTS = range(10, 301, 10)
WORK_SECONDS = 4.0
CELLS_A_RUN = 40
PAIRS = 6


def bare_seconds(store: Path) -> float:
    """Return the CPU seconds of the least that a report must do: read the scores and average them with pandas."""
    code = (
        "import sys, pandas as pd; from paragone import Results; "
        "s = Results.open(sys.argv[1]).scores(); "
        "f = s.groupby(['metric', 'dataset', 'method', 'fold'])['value'].mean(); "
        "f.groupby(level=[0, 1, 2]).agg(['mean', 'std'])"
    )
    before = os.times()
    subprocess.run([sys.executable, "-c", code, str(store)], check=True)
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def report_seconds(store: Path, out: Path, *more: str) -> tuple[float, float]:
    """Return the CPU seconds of all processes, and the wall seconds, of `paragone report`."""
    before, begun = os.times(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "paragone", "report", str(store), "--out", str(out), *more],
        check=True,
    )
    after = os.times()
    cpu = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return cpu, time.perf_counter() - begun


def spin(seconds: float) -> None:
    """Work for so many CPU seconds, as a cell does."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def write_cells(lab: SyntheticStore, stop: threading.Event) -> None:
    """Commit cells for as long as it is wanted, again and again."""
    while not stop.is_set():
        for cell in lab.cells:
            if stop.is_set():
                return
            lab.commit(cell)
            time.sleep(0.05)


def answer_milliseconds(address: str, path: str, count: int) -> list[float]:
    """Return how long each of so many requests took."""
    taken = []
    for _ in range(count):
        begun = time.perf_counter()
        with urllib.request.urlopen(address + path) as answer:  # noqa: S310
            answer.read()
        taken.append(1000 * (time.perf_counter() - begun))
        time.sleep(0.2)
    return taken


def run_once(lab: SyntheticStore) -> tuple[float, float]:
    """Return the CPU seconds of a run of equal work (compute, commit, ...) and the wall ones of its commits."""
    waited, begun = 0.0, time.process_time()
    for cell in lab.cells[:CELLS_A_RUN]:
        spin(WORK_SECONDS / CELLS_A_RUN)
        before = time.perf_counter()
        lab.commit(cell)
        waited += time.perf_counter() - before
    return time.process_time() - begun, waited


def cpu_seconds(server: subprocess.Popen[str]) -> float:
    """Return the CPU seconds of the view and of the process that builds its pages."""
    view = psutil.Process(server.pid)
    return sum(sum(process.cpu_times()[:2]) for process in (view, *view.children(recursive=True)))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "paper.sqlite"
        write_store(path, METHODS, DATASETS, metrics=METRICS, points=POINTS)
        n_scores = len(METHODS) * len(DATASETS) * 5 * len(METRICS) * len(POINTS)
        print(f"{'reading and averaging the scores alone':<40}{bare_seconds(path):8.1f} CPU s")
        tables, _ = report_seconds(path, Path(folder) / "tables", "--no-charts")
        print(f"{'page and tables, no chart files':<40}{tables:8.1f} CPU s")
        cpu, wall = report_seconds(path, Path(folder) / "out")
        size = (Path(folder) / "out" / "report.html").stat().st_size
        print(f"{'report of ' + str(n_scores) + ' scores':<40}{cpu:8.1f} CPU s {wall:8.1f} s wall")
        drawn = len(list((Path(folder) / "out" / "figures").glob("*.pdf")))
        print(f"{'its page':<40}{size / 1e6:8.2f} MB, {drawn} charts as SVG and PDF beside it")
        lab = SyntheticStore(path, METHODS, DATASETS, metrics=METRICS, points=POINTS)
        command = [sys.executable, "-m", "paragone", "view", str(path), "--port", "0", "--no-token"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            address = re.search(r"http://[\d.:]+", server.stdout.readline())[0]
            stop = threading.Event()
            writer = threading.Thread(target=write_cells, args=(lab, stop))
            writer.start()
            for path_asked in (
                "/",
                "/progress",
                "/report",
                "/folds?dataset=dataset-1&method=Method1",
            ):
                taken = sorted(answer_milliseconds(address, path_asked, 25))
                middle, late = statistics.median(taken), taken[int(0.95 * len(taken))]
                print(
                    f"{'answer to ' + path_asked:<60}{middle:8.1f} ms median {late:8.1f} ms at 95 %"
                )
            stop.set()
            writer.join()
            watched, asking = threading.Event(), threading.Event()
            asking.set()

            def watch() -> None:
                has = ""
                while asking.is_set():
                    if watched.is_set():
                        answer_milliseconds(address, "/progress", 1)
                        with urllib.request.urlopen(f"{address}/report?has={has}") as answer:  # noqa: S310
                            has = json.load(answer)["version"]
                        time.sleep(1.8)
                    else:
                        time.sleep(0.05)

            reader = threading.Thread(target=watch)
            reader.start()
            pairs, used, span = [], 0.0, 0.0
            for _ in range(PAIRS):
                alone = run_once(lab)
                watched.set()
                before, begun = cpu_seconds(server), time.perf_counter()
                pairs.append((alone, run_once(lab)))
                used, span = used + cpu_seconds(server) - before, span + time.perf_counter() - begun
                watched.clear()
                time.sleep(2.0)
            asking.clear()
            reader.join()
            server.terminate()
        told = f"{used:8.2f} CPU s in {span:.1f} s: {used / span:.1%}"
        print(f"{'the view while watched (builds at nice 15)':<60}{told}")
        for place, what in enumerate(("CPU s of a run", "s waited for its commits")):
            alone = statistics.median(pair[0][place] for pair in pairs)
            beside = statistics.median(pair[1][place] for pair in pairs)
            ratio = statistics.median(pair[1][place] / pair[0][place] for pair in pairs)
            told = f"{alone:8.3f} {beside:8.3f}: ratio {ratio:.3f} in {PAIRS} pairs"
            print(f"{what + ', alone and watched':<60}{told}")


if __name__ == "__main__":
    main()
