"""Stores and tables that show other than what was measured."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from planted_leaks import plant
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import paragone
from paragone import Experiment
from paragone.data import Dataset
from paragone.protocols import Predict

VARIANTS = [f"k{k}" for k in range(1, 25, 2)]
Means = dict[tuple[str, str], float]


def of_store(seed: int, spoil: Callable[[Path, Means], dict]) -> set[str]:
    """Run twelve nearest neighbours and a tree on three datasets of noise, and audit what somebody makes of it."""
    random = np.random.default_rng(seed + 48)
    data = [
        Dataset(
            f"d{k}",
            random.normal(size=(97, 3)),
            random.permutation(np.arange(97) % 2),
            "classification",
        )
        for k in range(3)
    ]
    methods = {name: KNeighborsClassifier(int(name[1:])) for name in VARIANTS}
    methods["tree"] = DecisionTreeClassifier(random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "lab.sqlite"
        lab = Experiment(data, methods, {"folds": 3}, Predict(metrics=("accuracy",)), name="lab")
        lab.run(store, workers=0).close()
        with paragone.Results.open(store) as results:
            means = results.scores().groupby(["method", "dataset"])["value"].mean().to_dict()
        given = spoil(Path(folder), means)
        return {one.code for one in paragone.audit(store, **given).findings}


def table(folder: Path, methods: list[str], cell: Callable[[str, str], str]) -> dict:
    lines = [",".join(["dataset", *methods])]
    lines += [",".join([f"d{k}", *(cell(method, f"d{k}") for method in methods)]) for k in range(3)]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    return {"against": [folder / "table.csv"]}


@plant("reports", "settings of one method", "PG145", size="12 variants, 3 datasets of noise")
def _(seed):
    """Twelve settings of one method were scored on the test rows."""
    return of_store(seed, lambda folder, means: {})


@plant("reports", "one digit", "PG303", size="1 of 9 numbers, by 0.01")
def _(seed):
    """One number of a table is higher than the store has it."""

    def spoil(folder: Path, means: Means) -> dict:
        raised = (VARIANTS[0], "d1")
        methods = [*VARIANTS, "tree"]
        return table(folder, methods, lambda m, d: f"{means[m, d] + 0.01 * ((m, d) == raised):.4f}")

    return of_store(seed, spoil)


def of_table(text: str, **given) -> set[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "printed.csv"
        path.write_text(text)
        return {one.code for one in paragone.audit(path, **given).findings}


def printed(seed: int, n: int = 8) -> np.ndarray:
    return np.random.default_rng(seed).integers(60, 99, (n, 3)) / 100


@plant(
    "reports",
    "a mean that no number of right answers gives",
    "PG321",
    size="1 of 16 means of 36 items",
)
def _(seed):
    """An accuracy of 36 items is printed that is no k/36."""
    rows = ["dataset,n_items,method,accuracy"]
    right = np.random.default_rng(seed).integers(20, 36, (8, 2))
    rows += [f"d{k},36,{'AB'[j]},{right[k, j] / 36:.3f}" for k in range(8) for j in range(2)]
    rows[3] = "d1,36,A,0.954"
    return of_table("\n".join(rows) + "\n")


@plant("reports", "a deviation that shares cannot have", "PG322", size="1 of 8 deviations")
def _(seed):
    """A mean of 0.97 is printed with a deviation of 0.41."""
    rows = ["dataset,method,accuracy"]
    rows += [
        f"d{k},{'AB'[j]},{one[j]} ± 0.02"
        for k, one in enumerate(printed(seed, 4))
        for j in range(2)
    ]
    rows[3] = "d1,A,0.97 ± 0.41"
    return of_table("\n".join(rows) + "\n")


@plant("reports", "a copied column", "PG324", size="8 datasets")
def _(seed):
    """Two of three methods have the same number on every dataset."""
    rows = ["dataset,A,B,C"] + [f"d{k},{a},{b},{a}" for k, (a, b, _) in enumerate(printed(seed))]
    return of_table("\n".join(rows) + "\n", metric="accuracy")
