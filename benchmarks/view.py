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

METRICS = ["micro_f1", "macro_f1", "hamming_loss", "micro_pr_auc", "macro_pr_auc", "avg_precision", "one_error"]
METHODS = [f"Method{i}" for i in range(8)]
DATASETS = [f"dataset-{i}" for i in range(12)]
POINTS = range(10, 301, 10)
WORK_SECONDS = 12.0


def report_seconds(store: Path, out: Path) -> tuple[float, float]:
    """Return the CPU seconds of all processes, and the wall seconds, of `paragone report`."""
    before, begun = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "paragone", "report", str(store), "--out", str(out)], check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
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


def run_seconds(lab: SyntheticStore) -> float:
    """Return the wall seconds of a run of equal work: compute, commit, compute, commit."""
    begun = time.perf_counter()
    for cell in lab.cells[:60]:
        spin(WORK_SECONDS / 60)
        lab.commit(cell)
    return time.perf_counter() - begun


def cpu_seconds(server: subprocess.Popen[str]) -> float:
    """Return the CPU seconds of the view and of the process that builds its pages."""
    view = psutil.Process(server.pid)
    return sum(sum(process.cpu_times()[:2]) for process in (view, *view.children(recursive=True)))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "paper.sqlite"
        write_store(path, METHODS, DATASETS, metrics=METRICS, points=POINTS)
        n_scores = len(METHODS) * len(DATASETS) * 5 * len(METRICS) * len(POINTS)
        cpu, wall = report_seconds(path, Path(folder) / "out")
        size = (Path(folder) / "out" / "report.html").stat().st_size
        print(f"{'report of ' + str(n_scores) + ' scores':<40}{cpu:8.1f} CPU s {wall:8.1f} s wall")
        print(f"{'its page':<40}{size / 1e6:8.2f} MB")
        lab = SyntheticStore(path, METHODS, DATASETS, metrics=METRICS, points=POINTS)
        alone = [run_seconds(lab) for _ in range(2)]
        command = [sys.executable, "-m", "paragone", "view", str(path), "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            address = re.search(r"http://[\d.:]+", server.stdout.readline())[0]
            stop = threading.Event()
            writer = threading.Thread(target=write_cells, args=(lab, stop))
            writer.start()
            for path_asked in ("/", "/progress", "/report", "/folds?dataset=dataset-1&method=Method1"):
                taken = sorted(answer_milliseconds(address, path_asked, 25))
                middle, late = statistics.median(taken), taken[int(0.95 * len(taken))]
                print(f"{'answer to ' + path_asked:<60}{middle:8.1f} ms median {late:8.1f} ms at 95 %")
            stop.set()
            writer.join()
            watching = threading.Event()

            def watch() -> None:
                has = ""
                while not watching.is_set():
                    answer_milliseconds(address, "/progress", 1)
                    with urllib.request.urlopen(f"{address}/report?has={has}") as answer:  # noqa: S310
                        has = json.load(answer)["version"]
                    time.sleep(1.8)

            reader = threading.Thread(target=watch)
            reader.start()
            before, begun = cpu_seconds(server), time.perf_counter()
            watched = [run_seconds(lab) for _ in range(2)]
            used, span = cpu_seconds(server) - before, time.perf_counter() - begun
            watching.set()
            reader.join()
            server.terminate()
        print(f"{'the view while watched (builds at nice 15)':<40}{used:8.2f} CPU s in {span:.1f} s: {used / span:.1%}")
        ratio = min(watched) / min(alone)
        print(f"{'run alone / watched':<40}{min(alone):8.2f} s {min(watched):8.2f} s: ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
