"""Iterative stratification of 100 000 rows x 100 labels against a plain NumPy loop, CPU seconds in one run."""

from __future__ import annotations

import time

import numpy as np

from paragone.data import iterative_stratification

N_SAMPLES, N_LABELS, DENSITY, FOLDS = 100_000, 100, 0.03, 5


def plain_numpy(Y: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """The first-order algorithm with one NumPy step a row."""
    n = len(Y)
    permutation, draws = rng.permutation(n), rng.random(n)
    rows_of = [np.flatnonzero(column) for column in Y[permutation].T]
    labels_of = [np.flatnonzero(row) for row in Y[permutation]]
    left = np.array([len(rows) for rows in rows_of], dtype=float)
    wanted, wanted_rows = (
        left[:, None] * np.full(n_folds, 1 / n_folds),
        np.full(n_folds, n / n_folds),
    )
    folds = np.full(n, -1)

    def assign(row: int, preference: np.ndarray) -> None:
        best = np.flatnonzero(preference == preference.max())
        best = best[wanted_rows[best] == wanted_rows[best].max()]
        fold = best[int(draws[row] * len(best))]
        folds[row] = fold
        wanted_rows[fold] -= 1
        wanted[labels_of[row], fold] -= 1
        left[labels_of[row]] -= 1

    while left.any():
        label = int(np.argmin(np.where(left > 0, left, np.inf)))
        for row in rows_of[label]:
            if folds[row] < 0:
                assign(int(row), wanted[label])
    for row in np.flatnonzero(folds < 0):
        assign(int(row), np.zeros(n_folds))
    result = np.empty(n, dtype=np.int64)
    result[permutation] = folds
    return result


def main() -> None:
    Y = (np.random.default_rng(0).random((N_SAMPLES, N_LABELS)) < DENSITY).astype(np.uint8)
    shares = [1.0] * FOLDS
    for order in (1, 2):
        iterative_stratification(Y[:100], shares, np.random.default_rng(0), order=order)
    rows = []
    started = time.process_time()
    oracle = plain_numpy(Y, FOLDS, np.random.default_rng(1))
    rows.append(("plain NumPy, order 1", time.process_time() - started))
    for order in (1, 2):
        started = time.process_time()
        folds = iterative_stratification(Y, shares, np.random.default_rng(1), order=order)
        rows.append((f"paragone, order {order}", time.process_time() - started))
        if order == 1 and not np.array_equal(folds, oracle):
            raise SystemExit("the folds differ from the plain loop's")
    print(
        f"{N_SAMPLES} rows x {N_LABELS} labels, density {DENSITY}, {FOLDS} folds; CPU seconds, warm"
    )
    for name, seconds in rows:
        print(f"{name:<24}{seconds:>8.3f} s{rows[0][1] / seconds:>10.1f} x")


if __name__ == "__main__":
    main()
