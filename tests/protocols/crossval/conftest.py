"""Small cross-validations that run in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paragone import Dataset, Experiment, Results
from paragone.protocols import Crossval

PLS = "sklearn.cross_decomposition:PLSRegression"
RIDGE = "sklearn.linear_model:Ridge"
LOGISTIC = "sklearn.linear_model:LogisticRegression"


@pytest.fixture
def regression() -> Dataset:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 8))
    return Dataset("lake", X, X[:, :3] @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=40), "regression")


@pytest.fixture
def classes() -> Dataset:
    rng = np.random.default_rng(6)
    y = np.repeat(["ash", "elm", "oak"], 14)
    X = rng.normal(size=(42, 5)) + 1.3 * np.repeat(np.eye(3, 5), 14, axis=0)
    return Dataset("trees", X, y, "classification")


@pytest.fixture
def crossvalidate(tmp_path) -> Callable[..., Results]:
    """Run a cross-validation on datasets and return its results."""

    def run(
        data: Any, methods: dict[str, Any], split: Any = None, *, store: str = "a", **protocol: Any
    ) -> Results:
        sets = data if isinstance(data, list) else [data]
        seed = protocol.pop("seed", 3)
        experiment = Experiment(
            sets, methods, split or {"folds": 4}, Crossval(**protocol), name="cv", seed=seed
        )
        return experiment.run(tmp_path / f"{store}.sqlite", workers=0)

    return run
