"""The pages of generation, made from real but small searches: what the tests in a browser look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from known_leads import InProcess
from paragone.generate import (
    Collection,
    Contender,
    Evidence,
    GeneratedSet,
    GeneratorSpec,
    benchmark_method,
    write_benchmark,
)
from paragone.generate.duel_map import map_duel
from paragone.generate.duels import STORE, DuelPlan, duel, proven_sets
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.evolving import evolve
from paragone.generate.pages import write_duel, write_map

LINEAR = Contender("Linear", "sklearn.linear_model:LogisticRegression")
TREE = Contender("Tree", "sklearn.tree:DecisionTreeClassifier", {"max_depth": 4})
NAIVE = Contender("Naive Bayes", "sklearn.naive_bayes:GaussianNB")
PLAN = DuelPlan(
    minutes=0.02,
    seed=3,
    rows=80,
    features=3,
    trials=1,
    folds=2,
    finalists=1,
    looks=(12,),
    fresh=200,
    batch=6,
)
SEARCH = EvolveSpec(
    "small", generations=2, batch=10, chunk=4, n_train=200, n_test=300, n_features=4, looks=(3, 12), claims=3,
    race_seeds=2, evidence_rows=400, finalists=2, trials=2, methods={
        "LogisticRegression": {"use": "paragone.generate.classifiers:PlainLogisticRegression"},
        "KNeighborsClassifier": {"use": "sklearn.neighbors:KNeighborsClassifier", "portfolio": [{"n_neighbors": 9}]},
        "Tree": {"use": "sklearn.tree:DecisionTreeClassifier", "portfolio": [{"max_depth": 4}]},
    },
)  # fmt: skip
REFERENCES = ("LogisticRegression", "KNeighborsClassifier", "GradientBoostingClassifier")
KNOWN = {
    "product": ("mul(X0, X1)", (0.5, 0.85, 0.95)),
    "ring": ("add(mul(X0, X0), mul(X1, X1))", (0.5, 0.9, 0.97)),
    "sum": ("add(X0, X1)", (0.99, 0.95, 0.97)),
}
"""Datasets with the AUROCs that the references have on them."""


def duel_page(folder: Path) -> Path:
    """Return the page of a duel with a proven direction and an open one."""
    out = folder / "linear-tree"
    with pytest.MonkeyPatch.context() as patched:
        # The minutes are over after the first generation; races and proofs go on as if there were
        # time.
        patched.setattr("paragone.generate.duels.PROOF_SHARE", 1e9)
        result = duel(LINEAR, TREE, out, PLAN)
    with InProcess(out / STORE) as laboratory:
        return write_duel(result, proven_sets(result, laboratory, "duel"), out, "duel")


def open_duel_page(folder: Path) -> Path:
    """Return the page of a duel whose time was over before anything could be proven."""
    out = folder / "hasty"
    return write_duel(duel(LINEAR, TREE, out, replace(PLAN, minutes=0.0001)), (), out, "hasty")


def map_of_a_duel(folder: Path) -> Path:
    """Return the page of a map: two planes of one formula."""
    axes = {"noise": (0.0, 0.9), "irrelevant": (0, 20)}
    formulas, out = ["mul(X0, X1)"], folder / "map"
    shares = {"row_shares": (0.5, 2.0), "samples": 3}
    return write_map(map_duel(LINEAR, TREE, formulas, out, PLAN, axes=axes, **shares), out / "page")


def evolved_page(folder: Path) -> Path:
    """Return the page of an evolved collection."""
    evolve(SEARCH, folder / "small.sqlite").write(folder / "small")
    return folder / "small" / "report.html"


def known_collection() -> Collection:
    """Return a collection of three formulas on which the references have known scores."""
    spread = np.linspace(-0.01, 0.01, 4)[:, None]
    sets = [
        GeneratedSet.of(
            name,
            GeneratorSpec(formula, n_features=4),
            place,
            7,
            150,
            Evidence(REFERENCES, np.array([means]) + spread),
        )
        for place, (name, (formula, means)) in enumerate(KNOWN.items(), start=1)
    ]
    return Collection("own", 0.05, 300, tuple(sets))


def method_page(folder: Path) -> Path:
    """Return the page of a method on a collection of one's own and on two datasets of the shipped one."""
    shipped = Collection.named("paragone-v1")
    with InProcess(folder / "report.sqlite") as laboratory:
        own = benchmark_method(NAIVE, laboratory, known_collection())
        first = benchmark_method(
            NAIVE, laboratory, shipped, sets=["paragone-v1-1", "paragone-v1-3"]
        )
    return write_benchmark([own, first], folder / "report")


PAGES: dict[str, Callable[[Path], Path]] = {
    "duel": duel_page,
    "open duel": open_duel_page,
    "map": map_of_a_duel,
    "collection": evolved_page,
    "method": method_page,
}


def make_pages(folder: Path) -> dict[str, Path]:
    """Make all pages in a folder, cells in this process: their fits take milliseconds."""
    with pytest.MonkeyPatch.context() as patched:
        for module in ("duels", "duel_map", "evolving"):
            patched.setattr(f"paragone.generate.{module}.Laboratory", InProcess)
        return {name: make(folder) for name, make in PAGES.items()}
