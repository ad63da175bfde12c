"""Stores of any shape, written through the store itself with made-up scores, in a moment instead of an hour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from paragone.hashing import digest
from paragone.lab.cells import Cell, Fitted, Outcome, Parts, Score, WarningCount
from paragone.lab.store import Plan, Store, truth_key
from paragone.lab.store.queries import pack
from paragone.lab.store.runs import RunIdentity

NASTY_NAMES = (
    "<script>alert(1)</script>",
    "a & b",
    "{{7*7}}",
    "%s",
    r"$\alpha_1$",
    "\N{TEST TUBE} emoji",
    "long name " * 19 + "with an end",
)
ENVIRONMENT = {"paragone": "0.1.0", "python": "3.11.7", "system": "Linux x86_64", "numpy": "2.4.6"}
N_FEATURES, N_TEST, N_LABELS = 40, 6, 3


def described(
    name: str, methods: Sequence[str], datasets: Sequence[str], metrics: Sequence[str], n_folds: int
) -> dict:
    split = {
        "kind": "kfold",
        "folds": n_folds,
        "test_size": 0.2,
        "scale": "minmax",
        "order": 1,
        "shuffle": True,
        "stratify": True,
        "params": {},
    }
    protocol = {
        "kind": "curve",
        "k": {"min": 2, "max": 20, "step": 2},
        "p": None,
        "evaluator": {"use": "paragone.methods.mlknn:MLkNN", "params": {}},
        "metrics": list(metrics),
        "zero_division": 0,
    }
    return {
        "name": name,
        "seed": 1,
        "data": list(datasets),
        "split": split,
        "protocol": protocol,
        "methods": {
            m: {"use": "paragone.methods.rankers.floors:Variance", "params": {"name": m}}
            for m in methods
        },
        "repeats": {},
    }


class SyntheticStore:
    """A store in the making: cells can be committed one by one, as a run does."""

    def __init__(
        self,
        path: Path,
        methods: Sequence[str],
        datasets: Sequence[str],
        *,
        metrics: Sequence[str] = ("micro_f1", "hamming_loss"),
        n_folds: int = 5,
        points: Iterable[int] = range(2, 21, 2),
        name: str = "lab",
    ) -> None:
        self.methods, self.datasets, self.metrics = list(methods), list(datasets), list(metrics)
        self.points, self.n_folds = list(points), n_folds
        self.store = Store(path, create=True)
        self.cells = [
            self._cell(d, f, m) for d in datasets for f in range(n_folds) for m in methods
        ]
        rows = np.arange(N_TEST), np.arange(N_TEST, 3 * N_TEST)
        truth = pack(
            {"y": (np.arange(N_TEST * N_LABELS) % 2).reshape(N_TEST, N_LABELS).astype(np.uint8)}
        )
        self.store.write_plan(
            Plan(
                name,
                "[methods]\n" + "\n".join(methods),
                described(name, methods, datasets, metrics, n_folds),
                self.cells,
                {cell.parts.split: (rows[1], rows[0]) for cell in self.cells},
                {truth_key(cell.parts): truth for cell in self.cells},
                {digest(["data", d])[:32]: _dataset(d) for d in datasets},
            )
        )
        self.run = self.store.begin_run(RunIdentity.of_this_process(), 2, ENVIRONMENT)

    def _cell(self, dataset: str, fold: int, method: str) -> Cell:
        parts = Parts(
            digest(["data", dataset])[:32],
            digest(["split", dataset, fold])[:32],
            digest(["method", method])[:32],
            "protocol",
            "version",
            "1",
        )
        return Cell(dataset, fold, method, "curve", parts, parts.fit_key("v"))

    def commit(self, cell: Cell, warnings: tuple[WarningCount, ...] = ()) -> None:
        """Commit a cell with scores that depend on its names only, and with what it warned of."""
        rng = np.random.default_rng(int(cell.key[:12], 16))
        strength = self.methods.index(cell.method) / max(1, len(self.methods))
        level = 0.5 + 0.3 * np.sin(self.datasets.index(cell.dataset)) * 0.5 - 0.15 * strength
        scores = []
        for metric in self.metrics:
            curve = (
                level
                + 0.1 * np.log(self.points) / np.log(20)
                + rng.normal(0, 0.015, len(self.points))
            )
            values = 1 - curve if metric in ("hamming_loss", "one_error") else curve
            scores += [
                Score(metric, float(v), "k", float(k))
                for k, v in zip(self.points, values, strict=True)
            ]
        fitted = Fitted(
            {"ranking": rng.permutation(N_FEATURES)}, {"iterations": 3}, float(rng.random())
        )
        outcome = Outcome(
            "done", tuple(scores), fitted, seconds=float(rng.random()), warnings=warnings
        )
        self.store.commit(cell.key, cell.fit_key, outcome)

    def fail(self, cell: Cell, error: str = "ArithmeticError: the matrix is singular") -> None:
        """Commit a cell as failed."""
        traceback = f'Traceback (most recent call last):\n  File "<b>.py", line 1\n{error}\n'
        self.store.commit(
            cell.key, cell.fit_key, Outcome("failed", seconds=0.1, error=error, traceback=traceback)
        )

    def fill(self) -> None:
        """Commit every cell and close."""
        for cell in self.cells:
            self.commit(cell)
        self.store.release(self.run)
        self.store.close()


def _dataset(name: str) -> dict:
    return {
        "name": name,
        "task": "multilabel",
        "n_samples": 3 * N_TEST,
        "n_features": N_FEATURES,
        "feature_names": [f"f{i}" for i in range(N_FEATURES)],
        "target_names": [f"l{i}" for i in range(N_LABELS)],
        "notes": [],
    }


def write_store(
    path: Path, methods: Sequence[str], datasets: Sequence[str], **options: object
) -> Path:
    """Write a finished store."""
    SyntheticStore(path, methods, datasets, **options).fill()
    return path
