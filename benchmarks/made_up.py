"""Stores of any size with made-up results, written through the store itself: every commit is a real one.

Run: python benchmarks/made_up.py FILE [--kind predict|curve] [--datasets 1000] [--methods 100] [--folds 2]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from paragone.hashing import digest
from paragone.lab.cells import Cell, Fitted, Outcome, Parts, Score
from paragone.lab.store import Plan, Store, truth_key
from paragone.lab.store.queries import pack

CELLS_A_TRANSACTION = 1000
N_TEST = 24
METRICS = {"predict": ("accuracy", "log_loss"), "curve": ("micro_f1",)}


def write_made_up(
    path: Path,
    kind: str,
    n_datasets: int,
    n_methods: int,
    n_folds: int,
    *,
    part: range | None = None,
) -> int:
    """Write a finished store of a protocol and return its number of cells.

    Cells of ``predict`` keep their answers for the test rows, as a classifier's do, and the scores
    that follow from them; cells of ``curve`` keep a ranking and the score of one point. With
    ``part`` the store holds the cells of some of the datasets only, with the results that the whole
    one holds.
    """
    methods = [f"Method{number:03d}" for number in range(n_methods)]
    datasets = [f"dataset-{number:04d}" for number in range(n_datasets)]
    mine = datasets if part is None else [datasets[number] for number in part]
    cells = list(_cells(kind, mine, methods, n_folds))
    skill = dict(zip(methods, np.random.default_rng(0).normal(0.0, 0.35, n_methods), strict=True))
    # Of its own for every dataset, so that a part of them has what the whole has.
    chance = {name: np.random.default_rng([1, datasets.index(name)]) for name in mine}
    ease = {name: rng.normal(1.0, 0.5) for name, rng in chance.items()}
    truths = {
        cell.parts.split: chance[cell.dataset].integers(0, 2, N_TEST)
        for cell in cells
        if cell.method == methods[0]
    }
    rows = np.arange(N_TEST * n_folds)
    splits = {
        cell.parts.split: (rows[rows % n_folds != cell.fold], rows[rows % n_folds == cell.fold])
        for cell in cells
    }
    packed = {truth_key(cell.parts): cell.parts.split for cell in cells}
    plan = Plan(
        "size",
        "{}",
        _described(kind, datasets, methods, n_folds),
        cells,
        splits,
        {key: pack({"y": truths[split]}) for key, split in packed.items()},
        {_part("data", name): _dataset(name, n_folds, kind) for name in mine},
    )
    with Store(path, create=True) as store:
        store.write_plan(plan)
        for start in range(0, len(cells), CELLS_A_TRANSACTION):
            with store.together():
                for cell in cells[start : start + CELLS_A_TRANSACTION]:
                    level, rng = ease[cell.dataset] + skill[cell.method], chance[cell.dataset]
                    made = (
                        _answered(rng, level, truths[cell.parts.split])
                        if kind == "predict"
                        else _ranked(rng, level)
                    )
                    store.commit(cell.key, cell.fit_key, made)
    return len(cells)


def _cells(
    kind: str, datasets: Sequence[str], methods: Sequence[str], n_folds: int
) -> Iterator[Cell]:
    for dataset, fold, method in product(datasets, range(n_folds), methods):
        split = _part("split", dataset, fold)
        parts = Parts(
            _part("data", dataset), split, _part("method", method), _part("p"), _part("v"), "0"
        )
        yield Cell(dataset, fold, method, kind, parts, parts.fit_key(""))


def _part(*words: object) -> str:
    return digest([str(word) for word in words])[:32]


def _answered(rng: np.random.Generator, level: float, truth: np.ndarray) -> Outcome:
    """Return the answers of a classifier for the test rows, and their scores."""
    margin = np.where(truth == 1, 1.0, -1.0) * level + rng.standard_normal(N_TEST)
    positive = 1 / (1 + np.exp(-2 * margin))
    predicted = (margin > 0).astype(np.int64)
    answers = {
        "predicted": predicted,
        "classes": np.array([0, 1]),
        "probabilities": np.stack([1 - positive, positive], axis=1),
    }
    right = np.where(truth == 1, positive, 1 - positive)
    scores = (
        Score("accuracy", float((predicted == truth).mean())),
        Score("log_loss", float(-np.log(right).mean())),
    )
    fitted = Fitted(answers, {}, 0.02, 0.02, predict_cpu_seconds=0.001, model_bytes=4096)
    return Outcome("done", scores, fitted, seconds=0.03, cpu_seconds=0.03, peak_memory=1 << 20)


def _ranked(rng: np.random.Generator, level: float) -> Outcome:
    """Return the ranking of a feature selection, and its score at one point."""
    value = 1 / (1 + np.exp(-(level + 0.2 * rng.standard_normal())))
    fitted = Fitted({"ranking": np.arange(30)}, {}, 0.02, 0.02)
    return Outcome(
        "done",
        (Score("micro_f1", float(value), "k", 10.0),),
        fitted,
        seconds=0.03,
        cpu_seconds=0.03,
    )


def _described(
    kind: str, datasets: Sequence[str], methods: Sequence[str], n_folds: int
) -> dict[str, Any]:
    split = {
        "kind": "kfold",
        "folds": n_folds,
        "test_size": 0.2,
        "scale": "none",
        "order": 1,
        "shuffle": True,
    }
    protocol: dict[str, Any] = {"kind": kind, "metrics": list(METRICS[kind])}
    if kind == "predict":
        protocol |= {"task": None, "prepare_tables": True}
    else:
        evaluator = {"use": "paragone.methods.mlknn:MLkNN", "params": {}}
        protocol |= {
            "k": {"min": 10, "max": 10, "step": 10},
            "p": None,
            "evaluator": evaluator,
            "zero_division": 0,
        }
    return {
        "name": "size",
        "seed": 0,
        "data": list(datasets),
        "split": {**split, "stratify": True, "params": {}, "splitter": None},
        "protocol": protocol,
        "methods": {
            name: {"use": "sklearn.naive_bayes:GaussianNB", "params": {"name": name}}
            for name in methods
        },
        "repeats": {},
        "settings": {},
        "later_cells": 0,
        "designs": {
            name: {"folds": n_folds, "repeats": 1, "ratio": 1 / max(1, n_folds - 1)}
            for name in datasets
        },
    }


def _dataset(name: str, n_folds: int, kind: str) -> dict[str, Any]:
    return {
        "name": name,
        "task": "classification" if kind == "predict" else "multilabel",
        "n_samples": N_TEST * n_folds,
        "n_features": 30,
        "feature_names": [f"f{number}" for number in range(30)],
        "target_names": ["class"],
        "notes": [],
    }


def main() -> None:
    """Write the store that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--kind", choices=sorted(METRICS), default="predict")
    parser.add_argument("--datasets", type=int, default=1000)
    parser.add_argument("--methods", type=int, default=100)
    parser.add_argument("--folds", type=int, default=2)
    asked = parser.parse_args()
    n_cells = write_made_up(asked.file, asked.kind, asked.datasets, asked.methods, asked.folds)
    print(f"{n_cells:,} cells, {asked.file.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
