"""The curve of a DAGFS ranking on Arts: ours against a straight NumPy evaluator, in one run.

Both take the same arrays and the same 30-point k-grid and must give the same scores. The floor is
what no exact evaluator can avoid: the products behind the distances, and one pass over the
distances a point.

Run: python benchmarks/curve.py [--data FOLDER]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
)

import numpy as np

DEFAULT_DATA = Path(
    os.environ.get("PARAGONE_TEST_DATA", Path(__file__).parents[2] / "shared" / "data")
)
GRID = list(range(10, 301, 10))
METRICS = ["micro_f1", "macro_f1", "hamming_loss"]
N_NEIGHBORS = 10


def arts(data: Path):
    """Return the official split of Arts, min-max scaled, with a DAGFS ranking."""
    from paragone.data import SplitPlan, load, make_splits, scale_split
    from paragone.methods.rankers import DAGFS

    dataset = load(data / "multilabel" / "arts" / "official_split")
    split = make_splits(dataset, SplitPlan(kind="official"), seed=0)[0]
    X_train, X_test = scale_split(dataset.X[split.train], dataset.X[split.test], "minmax")
    ranking = DAGFS().fit(X_train, dataset.y[split.train]).ranking_
    return ranking, X_train, dataset.y[split.train], X_test, dataset.y[split.test]


def numpy_curve(ranking, X_train, Y_train, X_test, Y_test):
    """Grow the distance matrices block by block and sort every row, stably, at every point."""
    train = np.zeros((len(X_train), len(X_train)))
    test = np.zeros((len(X_test), len(X_train)))
    np.fill_diagonal(train, np.inf)
    curve, begin = [], 0
    for k in GRID:
        block = ranking[begin:k]
        begin = k
        a, b = X_train[:, block], X_test[:, block]
        squares = (a * a).sum(1)
        train += np.maximum(squares[:, None] + squares - 2 * a @ a.T, 0)
        test += np.maximum((b * b).sum(1)[:, None] + squares - 2 * b @ a.T, 0)
        near_train = np.argsort(train, axis=1, kind="stable")[:, :N_NEIGHBORS]
        near_test = np.argsort(test, axis=1, kind="stable")[:, :N_NEIGHBORS]
        curve.append(
            numpy_point(Y_train[near_train].sum(1), Y_train[near_test].sum(1), Y_train, Y_test)
        )
    return np.array(curve)


def numpy_point(train_counts, test_counts, Y_train, Y_test):
    """Turn neighbour counts into predictions and scores."""
    eps = np.finfo(float).eps
    n, n_labels = Y_train.shape
    prior = (1 + Y_train.sum(0)) / (2 + n)
    predicted = np.zeros_like(Y_test)
    for label in range(n_labels):
        positive = Y_train[:, label] == 1
        yes = np.bincount(train_counts[positive, label], minlength=N_NEIGHBORS + 1)
        no = np.bincount(train_counts[~positive, label], minlength=N_NEIGHBORS + 1)
        p_yes = prior[label] * (1 + yes) / (N_NEIGHBORS + 1 + yes.sum() + eps)
        p_no = (1 - prior[label]) * (1 + no) / (N_NEIGHBORS + 1 + no.sum() + eps)
        predicted[:, label] = (p_yes / (p_yes + p_no))[test_counts[:, label]] >= 0.5
    both = (Y_test & predicted).sum(0)
    total = Y_test.sum(0) + predicted.sum(0)
    return [
        2 * both.sum() / total.sum(),
        np.mean(np.where(total, 2 * both / np.maximum(total, 1), 0)),
        np.mean(Y_test != predicted),
    ]


def our_curve(ranking, X_train, Y_train, X_test, Y_test):
    """Run the curve as users do."""
    from paragone import ranking_curve

    return ranking_curve(
        ranking, X_train, Y_train, X_test, Y_test, k=GRID, metrics=METRICS
    ).to_numpy()


def floor(ranking, X_train, Y_train, X_test, Y_test):
    """Do the matrix products of all blocks and one pass over the distances a point, and nothing else."""
    distances = np.empty((len(X_train) + len(X_test), len(X_train)))
    both = np.vstack([X_train, X_test])
    begin = 0
    for k in GRID:
        block = ranking[begin:k]
        begin = k
        np.matmul(both[:, block], X_train[:, block].T, out=distances)
        distances.min(axis=1)


def warm_up() -> None:
    """Load the compiled kernels before anything is timed."""
    rng = np.random.default_rng(0)
    X, Y = rng.random((40, 300)), rng.integers(0, 2, (40, 2)).astype(np.uint8)
    our_curve(np.arange(300), X, Y, X, Y)


def peak_mib() -> float:
    """Return the peak resident memory of this process."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


CONTESTANTS = {"numpy": numpy_curve, "paragone": our_curve, "floor": floor}


def measure(name: str, data: Path) -> None:
    """Run one contestant and print its CPU seconds, the memory it added, and its scores."""
    arrays = arts(data)
    warm_up()
    before = peak_mib()
    begun = time.process_time()
    scores = CONTESTANTS[name](*arrays)
    seconds = time.process_time() - begun
    digest = (
        "" if scores is None else " ".join(f"{value:.12f}" for value in np.asarray(scores).ravel())
    )
    print(f"{seconds}|{peak_mib() - before}|{digest}")


def main() -> None:
    """Measure every contestant in a process of its own and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--measure", choices=CONTESTANTS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.data)
        return
    found = {}
    for name in CONTESTANTS:
        command = [sys.executable, __file__, "--data", str(options.data), "--measure", name]
        line = (
            subprocess.run(command, capture_output=True, text=True, check=True)
            .stdout.strip()
            .splitlines()[-1]
        )
        seconds, memory, scores = line.split("|")
        found[name] = (float(seconds), float(memory), scores)
    ours = np.array([float(x) for x in found["paragone"][2].split()])
    theirs = np.array([float(x) for x in found["numpy"][2].split()])
    print(f"Arts, official split, min-max, {len(GRID)} points, one thread")
    print(f"{'':10s} {'CPU s':>8s} {'ratio':>8s} {'added peak MiB':>15s}")
    for name, (seconds, memory, _) in found.items():
        print(f"{name:10s} {seconds:8.2f} {seconds / found['paragone'][0]:8.1f} {memory:15.0f}")
    print(f"largest difference of a score: {np.abs(ours - theirs).max():.2e}")


if __name__ == "__main__":
    main()
