"""SMGCN on the herb data: seeds, chosen epochs, test values and CPU seconds, beside the floors.

Run as ``python benchmarks/smgcn.py FOLDER [--seeds N] [--loss bce|weighted_mse] [--epochs N]``. The folder holds
train.txt, test.txt and valid_row_indices.txt. A seed takes about 190 CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from paragone.data.prescriptions import Prescriptions, read_prescriptions, read_row_numbers
from paragone.methods.recommenders import FLOORS, evaluate_recommender, make_recommender


def read(folder: Path) -> tuple[Prescriptions, Prescriptions, Prescriptions]:
    rows = read_prescriptions(folder / "train.txt")
    chosen = read_row_numbers(folder / "valid_row_indices.txt", n_rows=rows.n_rows)
    test = read_prescriptions(folder / "test.txt", n_tokens=rows.n_tokens, n_items=rows.n_items)
    return rows.without(chosen, name="train"), rows.take(chosen, name="validation"), test


def measure(
    recommender: Any, parts: tuple[Prescriptions, Prescriptions, Prescriptions]
) -> tuple[float, float, float]:
    train, validation, test = parts
    began = time.process_time()
    recommender.fit(train, validation)
    seconds = time.process_time() - began
    result = evaluate_recommender(recommender, test)
    return result.value("precision", 5), result.value("recall", 20), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--loss", default="bce")
    parser.add_argument("--epochs", type=int, default=150)
    options = parser.parse_args()
    parts = read(options.folder)
    print(f"{'method':<18}{'epoch':>6}{'P@5':>9}{'R@20':>9}{'CPU s':>9}")
    for name in FLOORS:
        values = measure(make_recommender(name), parts)
        print(f"{name:<18}{'':>6}{values[0]:9.4f}{values[1]:9.4f}{values[2]:9.1f}", flush=True)
    found = []
    for seed in range(options.seeds):
        smgcn: Any = make_recommender(
            "smgcn", seed=seed, loss=options.loss, max_epochs=options.epochs
        )
        found.append(measure(smgcn, parts))
        label = f"smgcn, seed {seed}"
        print(
            f"{label:<18}{smgcn.epoch_:>6}{found[-1][0]:9.4f}{found[-1][1]:9.4f}{found[-1][2]:9.1f}",
            flush=True,
        )
    mean = np.mean(found, axis=0)
    print(f"{'mean':<18}{'':>6}{mean[0]:9.4f}{mean[1]:9.4f}{mean[2]:9.1f}")


if __name__ == "__main__":
    main()
