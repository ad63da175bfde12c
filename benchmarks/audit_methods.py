"""How often the inverted canary blames an honest method: scikit-learn's models on small data of many kinds.

Run: python benchmarks/audit_methods.py --seconds 300
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
from sklearn import dummy, ensemble, linear_model, naive_bayes, neighbors, neural_network, svm, tree
from sklearn.base import clone

from paragone.checks.changed_data import TargetNames, exchanged
from paragone.checks.foreknowledge import FIRST_PAIRS, LEAST, LEVEL, KnownTruth, PermutedPair, pairs_needed
from paragone.data import Dataset
from paragone.lab.protocol import RowAnswers

CLASSIFIERS = (
    neighbors.KNeighborsClassifier(1),
    neighbors.KNeighborsClassifier(4),
    neighbors.NearestCentroid(),
    tree.DecisionTreeClassifier(max_depth=3),
    ensemble.RandomForestClassifier(20),
    linear_model.LogisticRegression(),
    linear_model.LogisticRegression(class_weight={0: 1, 1: 4}),
    linear_model.Perceptron(),
    naive_bayes.GaussianNB(),
    neural_network.MLPClassifier(8, max_iter=50),
    svm.SVC(),
    dummy.DummyClassifier(strategy="stratified"),
)
REGRESSORS = (
    linear_model.LinearRegression(),
    linear_model.LinearRegression(positive=True),
    linear_model.PoissonRegressor(),
    linear_model.GammaRegressor(),
    neighbors.KNeighborsRegressor(3),
    tree.DecisionTreeRegressor(),
    ensemble.GradientBoostingRegressor(loss="quantile", alpha=0.9, n_estimators=20),
    svm.SVR(),
)


def classes(random: np.random.Generator, n: int) -> Dataset:
    """Clusters, rare outliers, counts, answers of yes and no, and rows of zeros; even and uneven classes."""
    k, d = int(random.choice([2, 3, 5])), int(random.choice([1, 2, 8]))
    shares = np.full(k, 1 / k) if random.random() < 0.5 else np.r_[0.85, np.full(k - 1, 0.15 / (k - 1))]
    y = random.choice(k, size=n, p=shares)
    y[:k] = np.arange(k)
    kinds = (
        6 * random.normal(size=(k, d))[y] + random.normal(size=(n, d)),
        random.normal(size=(n, d)) * np.where(y == k - 1, 6, 1)[:, None],
        random.poisson(np.exp(random.normal(size=(k, d)))[y] / 2),
        random.random((n, d)) < random.random((k, d))[y],
        np.where((y == 0)[:, None], 0, random.poisson(0.7, size=(n, d))),
    )
    return Dataset("classes", np.asarray(kinds[random.integers(len(kinds))], dtype=float), y, "classification")


def numbers(random: np.random.Generator, n: int) -> Dataset:
    """Lines, skewed sizes, and two levels; features with and without long tails."""
    d = int(random.choice([1, 3, 8]))
    X = random.normal(size=(n, d)) * (np.exp(random.normal(size=(n, 1))) if random.random() < 0.5 else 1)
    kinds = (X @ random.normal(size=d), np.exp(np.clip(np.abs(X).mean(axis=1), 0, 4)), 10.0 * (X[:, 0] > 0))
    y = kinds[random.integers(len(kinds))] + 0.1 * random.random(n)
    return Dataset("numbers", X, y - y.min() + 0.1, "regression")


def is_blamed(model: Any, data: Dataset, random: np.random.Generator) -> bool:
    """Train a model on permuted labels as an audit of one cell does."""
    order = random.permutation(data.n_samples)
    test, train = np.array_split(order, [data.n_samples // 3])
    names = TargetNames.of(data)
    truth = KnownTruth.of(names, data.y[test])
    shares: list[Any] = []
    while truth is not None and len(shares) < pairs_needed(1):
        mixed = data.y[exchanged(data.n_samples, [train, test], random)]
        namings = names.draw(random)
        said = [answers(model, data, names.renamed(mixed, one), train, test, random) for one in namings]
        shares.append(truth.shares(PermutedPair(*namings, (said[0], said[1]))))
        if len(shares) >= FIRST_PAIRS and truth.known(np.array(shares)) < LEAST:
            return False
    return truth is not None and truth.p_value(np.array(shares)) <= LEVEL


def answers(model: Any, data: Dataset, y: Any, train: Any, test: Any, random: np.random.Generator) -> RowAnswers:
    """Fit a copy of a model with a seed of its own."""
    fresh = clone(model)
    if "random_state" in fresh.get_params():
        fresh.set_params(random_state=int(random.integers(1 << 30)))
    fresh.fit(data.X[train], y[train])
    has_scores = data.task == "classification" and hasattr(fresh, "predict_proba")
    scores = fresh.predict_proba(data.X[test]) if has_scores else None
    return RowAnswers(fresh.predict(data.X[test]), scores, getattr(fresh, "classes_", None))


def main() -> None:
    """Simulate for a while and print how often each model was tried and blamed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    random = np.random.default_rng(given.seed)
    tried, blamed, refused = Counter[str](), Counter[str](), Counter[str]()
    end = time.monotonic() + given.seconds
    while time.monotonic() < end:
        make, models = ((classes, CLASSIFIERS), (numbers, REGRESSORS))[random.integers(2)]
        model = models[random.integers(len(models))]
        try:
            found = is_blamed(model, make(random, int(random.choice([30, 80, 200]))), random)
        except ValueError:
            # A train part that lost a class, or features that a model cannot take.
            refused[str(model)] += 1
            continue
        tried[str(model)] += 1
        blamed[str(model)] += found
    for name in sorted(tried):
        print(f"{name}: {blamed[name]} of {tried[name]} blamed, {refused[name]} could not be fitted")
    print(f"all: {blamed.total()} of {tried.total()}")


if __name__ == "__main__":
    main()
