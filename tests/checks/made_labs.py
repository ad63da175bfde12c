"""What audits look at: experiments, datasets and materials made for the purpose."""

from __future__ import annotations

import numpy as np

from paragone import Experiment
from paragone.checks.finding import Ledger
from paragone.checks.material import Material, Side
from paragone.data import Dataset, prescription_dataset
from paragone.data.prescriptions import Prescriptions
from paragone.protocols import Crossval, Curve, KGrid, PGrid, TopK

CURVE = """
name = "curves"
seed = 3
[data]
sets = ["wine-traits", "breast-cancer-traits", "synthetic-multilabel"]
[split]
folds = 2
[protocol]
k = { min = 2, max = 8, step = 3 }
p = { min = 0.2, max = 0.6, step = 0.2, target = 0.4 }
metrics = ["micro_f1", "hamming_loss", "macro_pr_auc"]
[methods.Variance]
use = "variance"
[methods.Random]
use = "random"
seeds = 2
[methods.Tuned]
use = "dagfs"
[methods.Tuned.tune]
grid = { alpha = [0.1, 10.0] }
folds = 2
"""


def crossval_experiments() -> dict[str, Experiment]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 6))
    Y = np.column_stack([X[:, 0] + 0.1 * rng.normal(size=60), X[:, 1] - X[:, 2]])
    two = Dataset("two", X, Y, "regression", target_names=("oil", "starch"))
    paired = Dataset("paired", X, Y[:, 0], "regression", groups=np.arange(60) // 2)
    pls = {"use": "sklearn.cross_decomposition:PLSRegression", "grid": {"n_components": [1, 2, 3]}}
    ridge = {"use": "sklearn.linear_model:Ridge", "steps": ["autoscale"]}
    select = [{"ranking": "rmsecv", "top_k": 2}, {"ranking": "one_se"}]
    knn = {"use": "sklearn.neighbors:KNeighborsClassifier", "grid": {"n_neighbors": [1, 5]}}
    return {
        "numbers": Experiment(
            [two],
            {"PLS": pls, "Ridge": ridge},
            {"folds": 4},
            Crossval(test=0.25, select=select, repeats=2),
            name="numbers",
        ),
        "groups": Experiment(
            [paired], {"Ridge": ridge}, {"folds": 3}, Crossval(test=0.25), name="groups"
        ),
        "classes": Experiment(
            ["iris"],
            {"kNN": knn, "Perceptron": {"use": "sklearn.linear_model:Perceptron"}},
            {"folds": 3},
            Crossval(test=0.3, weighting="softmax", naming="ml"),
            name="classes",
        ),
    }


def herb_garden(n_rows: int = 120, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    rows = []
    while len(rows) < n_rows:
        tokens = rng.choice(12, size=rng.integers(2, 5), replace=False)
        items = rng.permutation([(3 * t + s) % 20 for t in tokens for s in range(2)])[
            : rng.integers(2, 6)
        ]
        row = sorted(tokens.tolist()), list(dict.fromkeys(items.tolist()))
        if not any((row[0], set(row[1])) == (other[0], set(other[1])) for other in rows):
            rows.append(row)
    everything = Prescriptions.from_rows(rows, n_tokens=12, n_items=20)
    part = round(0.75 * n_rows)
    train, test = everything.take(np.arange(part)), everything.take(np.arange(part, n_rows))
    return prescription_dataset("garden", train, test, validation=np.arange(0, part, 9))


def topk_experiment() -> Experiment:
    metrics = ("precision", "recall", "f1", "rmrr", "ndcg", "map", "mrr", "hit_rate", "f1_of_means")
    return Experiment(
        [herb_garden()],
        {"EASE": "ease"},
        protocol=TopK(k=(1, 3, 5), metrics=metrics),
        name="garden",
    )


def small_curve(name: str = "lab") -> Experiment:
    return Experiment(
        ["wine-traits"],
        {"Variance": "variance"},
        {"folds": 2},
        Curve(k=KGrid(2, 6, 2), p=PGrid(0.2, 0.4, 0.2, target=0.2)),
        name=name,
    )


def material(dataset: Dataset, *sides: tuple[object, object], role: str = "test") -> Material:
    found = tuple(
        Side(fold, role, np.asarray(train, dtype=np.int64), np.asarray(held, dtype=np.int64))
        for fold, (train, held) in enumerate(sides)
    )
    return Material(dataset.name, dataset, found, (dataset,))


def halves(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A random half for train and the rest."""
    order = np.random.default_rng(seed).permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])


def found_by(check, made: Material, *, looks: bool = True) -> Ledger:
    ledger = Ledger("lab")
    check(made, ledger)
    assert bool(ledger.checked or ledger.unchecked) == looks, "a check must say what it looked at"
    return ledger
