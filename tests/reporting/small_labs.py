"""Small real experiments of the protocols that keep predictions and lists, run in a second or two."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import Ridge

from paragone import Dataset, Experiment
from paragone.data import prescription_dataset
from paragone.protocols import Crossval, TopK
from paragone.testing.recommenders import example_prescriptions

PLS = "sklearn.cross_decomposition:PLSRegression"


def crossval_lab(
    path: Path, methods: Sequence[str] = ("PLS",), datasets: Sequence[str] = ("lake", "pond")
) -> Path:
    """Cross-validate PLS with some components and ridge under the names given, on made-up spectra."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(50, 6))
    y = X @ [1.0, 2.0, 0, 0, 0, -1.0] + 0.2 * rng.normal(size=50)
    data = [
        Dataset(name, X, y + place * X[:, 3] ** 2, "regression")
        for place, name in enumerate(datasets)
    ]
    grids = [{"use": PLS, "grid": {"n_components": [1, 2, 3]}, "steps": [["raw", "snv"]]}]
    declared = {
        name: grids[0] if place == 0 else Ridge(10.0**place) for place, name in enumerate(methods)
    }
    protocol = Crossval(test=0.2, select=[{"ranking": "one_se"}, {"ranking": "rmsecv"}])
    Experiment(data, declared, {"folds": 4}, protocol, name="lab", seed=2).run(
        path, workers=0
    ).close()
    return path


def topk_lab(
    path: Path, methods: Sequence[str] = ("EASE",), datasets: Sequence[str] = ("herbs",)
) -> Path:
    """Recommend with EASE under the names given beside the floors, on made-up prescriptions."""
    rows = example_prescriptions(240, 10, 24, seed=6)
    train, test = rows.take(np.arange(180)), rows.take(np.arange(180, 240))
    data = [prescription_dataset(name, train, test, np.arange(0, 180, 9)) for name in datasets]
    declared = {
        name: {"use": "ease", "params": {"penalty": 10.0 ** (1 + p)}}
        for p, name in enumerate(methods)
    }
    protocol = TopK(k=(2, 5), metrics=("precision", "recall", "ndcg"))
    Experiment(data, declared, protocol=protocol, name="lab").run(path, workers=0).close()
    return path
