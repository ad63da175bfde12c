"""The answers as people read them: twenty comparisons, reviewed as text in the golden files.

`PARAGONE_GOLDEN=write` writes the files anew; read what changed before it is kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from paragone.stats import compare, compare_metrics, compare_samples, pairwise, untested

GOLDEN = Path(__file__).with_name("golden")


def table(levels: dict[str, float], n_datasets: int, folds: int = 1, spread: float = 0.01):
    rng = np.random.default_rng(0)
    rows = [
        (f"set {d}", fold, name, round(level + 0.03 * np.sin(d) + rng.normal(0, spread), 4))
        for d in range(n_datasets)
        for fold in range(folds)
        for name, level in levels.items()
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "fold", "method", "value"])
    return frame if folds > 1 else frame.drop(columns="fold")


def items(shares: dict[str, float], n: int, tasks: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    hard = rng.random((tasks, n))
    parts = [
        pd.DataFrame(
            {
                "method": name,
                "dataset": np.repeat([f"task {t}" for t in range(tasks)], n),
                "sample": range(tasks * n),
                "metric": "accuracy",
                "value": (0.6 * hard + 0.4 * rng.random((tasks, n)) < share).ravel().astype(float),
            }
        )
        for name, share in shares.items()
    ]
    return pd.concat(parts, ignore_index=True)


def over(levels: dict[str, float], *size: Any, **options: Any) -> Any:
    return compare(table(levels, *size), **{"metric": "accuracy", "bayes": False, **options})


AB, ABC = {"A": 0.9, "B": 0.88}, {"A": 0.9, "B": 0.896, "C": 0.7}
LONG = {
    f"a-model-with-a-name-that-nobody-shortens-before-publishing-v{n}": 0.9 - n / 50
    for n in range(4)
}


def of_datasets() -> dict[str, Callable[[], Any]]:
    gone = table(ABC, 8)
    gone.loc[4, "value"] = np.nan
    won = pd.DataFrame({"dataset": range(12), "often": np.linspace(0.6, 0.7, 12)})
    won["huge"] = [0.999, *(won["often"][1:] - 0.02)]
    sizes = {"euros": 1000.0, "grams": 1.0, "miles": 0.01}
    errors = table({"A": 1.0, "B": 1.5}, 3, 5)
    errors["value"] *= errors["dataset"].map(
        dict(zip(errors["dataset"].unique(), sizes.values(), strict=True))
    )
    return {
        "two methods": lambda: over(AB, 12),
        "two methods on too few datasets": lambda: over(AB, 4),
        "three methods": lambda: over(ABC, 12),
        "nine methods": lambda: over({f"m{n}": 0.9 - 0.001 * n for n in range(9)}, 9),
        "sixty methods": lambda: over({f"m{n}": 0.9 - 0.002 * n for n in range(60)}, 15),
        "a reference": lambda: over(ABC, 12, reference="B"),
        "a margin": lambda: over(ABC, 12, 1, 0.002, margin=0.02),
        "a leader that loses more often": lambda: compare(won, metric="accuracy", bayes=False),
        "failed scores": lambda: compare(gone, metric="accuracy", missing="worst", bayes=False),
        "lower is better": lambda: over(ABC, 9, metric="rmse"),
        "errors in several units": lambda: compare(errors, metric="rmse", bayes=False),
        "long names": lambda: over(LONG, 12),
    }


def of_folds() -> dict[str, Callable[[], Any]]:
    fold = pd.Index(range(5), name="fold")
    left = pd.Series([0.7, 0.72, 0.69, 0.74, 0.7], index=fold, name="old")
    return {
        "folds of three datasets": lambda: over(ABC, 3, 5),
        "folds of nine datasets": lambda: over(ABC, 9, 5),
        "folds of one dataset": lambda: over(ABC, 1, 10),
        "one score of each": lambda: over(AB, 1),
        "nothing is decided": lambda: over({"A": 0.9, "B": 0.899}, 3, 5),
        "two sides by fold": lambda: pairwise(
            left, (left + 0.02 * np.arange(5)).rename("new"), metric="accuracy"
        ),
        "a threshold": lambda: pairwise(
            pd.Series(np.linspace(0.1, 0.6, 20), name="old"),
            pd.Series(np.linspace(0.1, 0.7, 20), name="new"),
            metric="accuracy",
            threshold=0.25,
        ),
        "two metrics": lambda: compare_metrics(
            pd.concat([table(ABC, 9).assign(metric=name) for name in ("accuracy", "roc_auc")]),
            ["accuracy", "roc_auc"],
            bayes=False,
        ),
    }


def of_items() -> dict[str, Callable[[], Any]]:
    graded = items(AB, 60)
    graded["value"] = np.random.default_rng(2).normal(0.5, 0.1, len(graded)).round(3)
    bare = pd.DataFrame({"method": ["A", "B"], "value": [0.8, 0.9]})
    two, six = {"v1": 0.5, "v2": 0.62}, {f"v{n}": 0.5 + n / 50 for n in range(6)}
    return {
        "two models": lambda: compare_samples(items(two, 200), test="mcnemar"),
        "two models in five tasks": lambda: compare_samples(items(two, 60, 5), strata="dataset"),
        "two models in forty tasks": lambda: compare_samples(items(two, 12, 40), strata="dataset"),
        "six models in three tasks": lambda: compare_samples(items(six, 80, 3), strata="dataset"),
        "graded answers": lambda: compare_samples(graded),
        "a margin": lambda: compare_samples(graded, margin=0.1),
        "several cut-offs": lambda: compare_samples(
            pd.concat([graded.assign(metric="recall", at=at) for at in (5, 10)])
        ),
        "nothing to test": lambda: untested(
            bare, "One value of each method: there is nothing to pair."
        ),
    }


@pytest.mark.parametrize("kind", ["datasets", "folds", "items"])
def test_answers_read_as_they_were_reviewed(kind):
    cases = {"datasets": of_datasets, "folds": of_folds, "items": of_items}[kind]()
    parts = []
    for name, make in cases.items():
        found = make()
        parts.append("\n".join([f"== {name}", *found.answer, "", found.verdict]))
    text = "\n\n".join(parts) + "\n"
    path = GOLDEN / f"{kind}.txt"
    if os.environ.get("PARAGONE_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_a_comparison_without_pairs_writes_a_table_with_headings_and_no_rows(tmp_path):
    frame = pd.DataFrame({"dataset": ["d"], "fold": [0], "A": [0.9], "B": [0.8]})
    found = compare(frame, metric="accuracy")
    assert found.pairs == ()
    found.save(tmp_path / "answer", formats=())
    rows = pd.read_csv(tmp_path / "answer" / "pairs.csv")
    assert len(rows) == 0
    assert {"method", "rival", "word", "p", "difference"} <= set(rows)
